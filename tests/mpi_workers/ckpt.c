/*
 * A training goes on from a checkpoint in any other layout with the curve of
 * the one that was never interrupted.
 *
 * Pairs of layouts are drawn at random, by a seed that is printed: one trains
 * and saves, gathered or through MPI-IO, the other loads and goes on.  Its
 * losses and norms are those of one rank that did all steps to 1e-10; where
 * both layouts have the same order of sums, the bits are those of the
 * uninterrupted training.
 *
 *     mpirun -n 8 engine_ckpt [PAIRS [SEED]]
 *
 * And what is wrong with a file is said by all ranks, which go on.
 */
#include "mpi_workers/mesh.h"
#include "mpi_workers/trainer.h"
#include "tests/mpi_workers/parity_draw.h"

#include "tests/tri_cmocka.h"
#include "trireme/rng.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SAVED 2 /* after so many steps of */
#define STEPS 4
#define MOST  1000

static unsigned char text[3000];
static char folder[] = "/tmp/tri-ckpt-XXXXXX";
static char path[64];
static int rank;
static int n_pairs = 24;
static uint64_t the_seed;

typedef struct curve {
    double loss[STEPS], norm[STEPS];
} curve;

static curve serial[PARITY_MODELS];

static tri_trainer_setup setup_of(const tri_model_spec *model, tri_layout l)
{
    return (tri_trainer_setup){.model = model,
                               .layout = l,
                               .seed = 11,
                               .optimizer = {.lr = 1e-3,
                                             .beta1 = 0.9,
                                             .beta2 = 0.95,
                                             .eps = 1e-8,
                                             .weight_decay = 0.01},
                               .clip = 0.5,
                               .text = text,
                               .text_bytes = sizeof text};
}

static tri_layout one_rank(void)
{
    return (tri_layout){.dp = 1,
                        .tp = 1,
                        .pp = 1,
                        .virtual_stages = 1,
                        .micro_batch = PARITY_BATCH,
                        .global_batch = PARITY_BATCH,
                        .schedule = 1,
                        .threads = 1};
}

/* Steps [from, to) into the curve. */
static void steps(tri_trainer *t, int from, int to, curve *c)
{
    tri_step s;

    for (; from < to; from++) {
        assert_int_equal(tri_trainer_step(t, 0, &s), TRI_OK);
        assert_int_equal(s.step, from + 1);
        c->loss[from] = s.loss;
        c->norm[from] = tri_trainer_norm(t);
    }
}

static tri_trainer *create(MPI_Comm comm, int model, tri_layout l)
{
    tri_model_spec spec = parity_model(model);
    tri_trainer_setup setup = setup_of(&spec, l);
    tri_trainer *t = NULL;

    assert_int_equal(tri_trainer_create(&setup, comm, &t), TRI_OK);
    return t;
}

/* The first `n` ranks, or none. */
static MPI_Comm first_ranks(int n)
{
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, rank, &comm);
    return comm;
}

/* Leave the cores to those that work. */
static void wait_for_all(void)
{
    struct timespec pause = {.tv_nsec = 300000};
    MPI_Request r;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    while (!done) {
        MPI_Test(&r, &done, MPI_STATUS_IGNORE);
        nanosleep(&pause, NULL);
    }
}

/* ---- pairs ------------------------------------------------------------- */

static void save_with(const parity_combination *c, tri_ckpt_way way, curve *out)
{
    int n = tri_shard_ranks(&c->l);
    MPI_Comm comm = first_ranks(n);
    uint64_t bytes = 0;

    if (comm != MPI_COMM_NULL) {
        tri_trainer *t = create(comm, c->model, c->l);

        steps(t, 0, SAVED, out);
        assert_int_equal(tri_trainer_save(t, path, way, "of a test", &bytes),
                         TRI_OK);
        assert_true((bytes > 0) == (rank == 0));
        assert_int_equal(access(path, R_OK), 0);
        steps(t, SAVED, STEPS, out); /* it goes on, too */
        tri_trainer_destroy(t);
        MPI_Comm_free(&comm);
    }
    wait_for_all();
}

static void go_on_with(const parity_combination *c, curve *out)
{
    int n = tri_shard_ranks(&c->l);
    MPI_Comm comm = first_ranks(n);

    if (comm != MPI_COMM_NULL) {
        tri_trainer *t = create(comm, c->model, c->l);

        if (tri_trainer_load(t, path) != TRI_OK) {
            fail_msg("%s", tri_error_last()->sentence);
        }
        steps(t, SAVED, STEPS, out);
        tri_trainer_destroy(t);
        MPI_Comm_free(&comm);
    }
    wait_for_all();
}

static double error_of(const curve *a, const curve *b, int from)
{
    double error = 0;

    for (int i = from; i < STEPS; i++) {
        error = fmax(error, fabs(a->loss[i] - b->loss[i]) / b->loss[i]);
        error = fmax(error, fabs(a->norm[i] - b->norm[i]) / b->norm[i]);
    }
    return error;
}

/* Another layout in which every sum has the same order: another schedule,
 * something computed again, optimizer state in parts. */
static tri_layout same_order(const parity_combination *a, int k)
{
    tri_model_spec model = parity_model(a->model);
    tri_layout l = a->l;

    l.recompute = k / 4 % 3;
    if (l.virtual_stages == 1 && l.schedule < 2) {
        l.schedule = 1 - l.schedule;
    }
    if (l.zero <= 1) {
        l.zero = 1 - l.zero;
    }
    return tri_shard_check(&model, &l, tri_shard_ranks(&l)) == TRI_OK ? l
                                                                      : a->l;
}

static double judge(parity_combination *a, parity_combination *b, int k)
{
    curve before = {0};
    curve after = {0};
    double error;

    b->model = a->model; /* valid in every form */
    if (k % 4 == 0) {
        b->l = same_order(a, k);
    }
    save_with(a, k % 3 ? TRI_CKPT_GATHERED : TRI_CKPT_MPIO, &before);
    go_on_with(b, &after);
    if (rank == 0 && k % 4 == 0) {
        assert_memory_equal(before.loss + SAVED, after.loss + SAVED,
                            (STEPS - SAVED) * sizeof(double));
        assert_memory_equal(before.norm + SAVED, after.norm + SAVED,
                            (STEPS - SAVED) * sizeof(double));
    }
    error = rank ? 0 : error_of(&after, &serial[a->model], SAVED);
    if (!(error <= 1e-10)) {
        parity_complain(a, "it was saved with this", error);
        parity_complain(b, "it went on with this", error);
    }
    if (rank == 0) {
        unlink(path);
    }
    return error;
}

static void pairs(void **state)
{
    static parity_combination a[MOST];
    static parity_combination b[MOST];
    int seen[PARITY_OPTIONS] = {0};
    double worst = 0;

    (void)state;
    parity_draw(the_seed, n_pairs, a, seen);
    parity_draw(the_seed + 1, n_pairs, b, seen);
    for (int m = 0; rank == 0 && m < PARITY_MODELS; m++) {
        tri_trainer *t = create(MPI_COMM_SELF, m, one_rank());

        steps(t, 0, STEPS, &serial[m]);
        tri_trainer_destroy(t);
    }
    for (int k = 0; k < n_pairs; k++) {
        worst = fmax(worst, judge(&a[k], &b[k], k));
    }
    if (rank == 0) {
        print_message("%d pairs of layouts, seed %llu: largest error %.2g\n",
                      n_pairs, (unsigned long long)the_seed, worst);
    }
    assert_true(worst <= 1e-10);
    assert_int_equal(tri_trainers_alive() + tri_mesh_alive(), 0);
}

/* ---- dlrm ---------------------------------------------------------------- */

static tri_model_spec dlrm(void)
{
    return (tri_model_spec){.kind = TRI_MODEL_DLRM,
                            .u.dlrm = {.tables = 5,
                                       .dim = 64,
                                       .rows = {50, 7, 300, 1, 90},
                                       .pooling = 2,
                                       .dense = 6,
                                       .bottom = {17},
                                       .n_bottom = 1,
                                       .top = {20},
                                       .n_top = 1,
                                       .zipf = 1.2,
                                       .lr = 0.05,
                                       .data = "synthetic"}};
}

static tri_layout draw_placed(tri_rng *rng)
{
    static const int ranks[] = {1, 2, 3, 4, 6, 8};
    tri_layout l = one_rank();

    l.dp = ranks[tri_rng_below(rng, 6)];
    l.micro_batch = PARITY_BATCH / l.dp;
    l.zero = l.dp > 1 ? (int)tri_rng_below(rng, 3) : 0;
    l.planner = (int)tri_rng_below(rng, 3);
    for (int i = 0; i < 5; i++) {
        l.placing[i] = (int)tri_rng_below(rng, 5);
    }
    return l;
}

/* Steps of one layout, saved; and the rest of another, loaded. */
static void run_placed(tri_layout l, int loads, curve *c)
{
    MPI_Comm comm = first_ranks(l.dp);
    tri_model_spec model = dlrm();
    tri_trainer_setup setup = setup_of(&model, l);
    tri_trainer *t = NULL;
    uint64_t bytes;

    if (comm != MPI_COMM_NULL) {
        assert_int_equal(tri_trainer_create(&setup, comm, &t), TRI_OK);
        if (loads) {
            assert_int_equal(tri_trainer_load(t, path), TRI_OK);
        } else {
            steps(t, 0, SAVED, c);
            assert_int_equal(
                    tri_trainer_save(t, path, TRI_CKPT_GATHERED, "", &bytes),
                    TRI_OK);
        }
        steps(t, SAVED, STEPS, c);
        tri_trainer_destroy(t);
        MPI_Comm_free(&comm);
    }
    wait_for_all();
}

/* Tables and their optimizer's state, from any placing to any other. */
static void placings(void **state)
{
    tri_rng rng = tri_rng_stream(the_seed, 1, TRI_RNG_TEST);
    double worst = 0;

    (void)state;
    for (int k = 0; k < 12; k++) {
        tri_layout a = draw_placed(&rng);
        tri_layout b = draw_placed(&rng);
        curve before = {0};
        curve after = {0};

        run_placed(a, 0, &before);
        run_placed(b, 1, &after);
        worst = fmax(worst, rank ? 0 : error_of(&after, &before, SAVED));
    }
    if (rank == 0) {
        unlink(path);
        print_message("12 pairs of placings: largest error %.2g\n", worst);
    }
    assert_true(worst <= 1e-10);
}

/* ---- bad files ----------------------------------------------------------- */

static tri_layout two_ranks(void)
{
    tri_layout l = one_rank();

    l.dp = 2;
    l.micro_batch = PARITY_BATCH / 2;
    return l;
}

static void save_two(MPI_Comm comm)
{
    tri_trainer *t = create(comm, PARITY_TIED, two_ranks());
    uint64_t bytes;
    curve c;

    steps(t, 0, 1, &c);
    assert_int_equal(
            tri_trainer_save(t, path, TRI_CKPT_GATHERED, "of a test", &bytes),
            TRI_OK);
    tri_trainer_destroy(t);
}

/* Load with two ranks: this status on both, and a sentence with `what`. */
static void refuse(MPI_Comm comm, int model, tri_status expected,
                   const char *what)
{
    tri_trainer *t = create(comm, model, two_ranks());

    assert_int_equal(tri_trainer_load(t, path), expected);
    if (!strstr(tri_error_last()->sentence, what)) {
        fail_msg("'%s', not '%s'", tri_error_last()->sentence, what);
    }
    tri_trainer_destroy(t);
}

static void change_byte(off_t at)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    unsigned char c;

    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &c, 1, at), 1);
    c ^= 1;
    assert_int_equal(pwrite(fd, &c, 1, at), 1);
    close(fd);
}

static void bad_files_of(MPI_Comm comm)
{
    refuse(comm, PARITY_TIED, TRI_ENOTFOUND, "cannot be read");
    save_two(comm);
    refuse(comm, PARITY_UNTIED, TRI_EMALFORMED, "/parameters/head is not");
    refuse(comm, PARITY_LLAMA, TRI_EMALFORMED, "of another model");
    if (rank == 0) {
        change_byte(400000); /* within some tensor */
    }
    refuse(comm, PARITY_TIED, TRI_EMALFORMED, "the checksum of /");
    MPI_Barrier(comm);
    if (rank == 0) {
        assert_int_equal(truncate(path, 20000), 0);
    }
    MPI_Barrier(comm);
    refuse(comm, PARITY_TIED, TRI_EMALFORMED, "is damaged");
    MPI_Barrier(comm);
    if (rank == 0) {
        assert_int_equal(truncate(path, 0), 0);
    }
    MPI_Barrier(comm);
    refuse(comm, PARITY_TIED, TRI_EMALFORMED, "not an HDF5 file");
}

static void bad_files(void **state)
{
    MPI_Comm comm = first_ranks(2);

    (void)state;
    if (comm != MPI_COMM_NULL) {
        bad_files_of(comm);
        MPI_Comm_free(&comm);
    }
    wait_for_all();
    assert_int_equal(tri_trainers_alive() + tri_mesh_alive(), 0);
}

/* Nothing is left of a save that failed, and the training goes on. */
static void no_room(void **state)
{
    MPI_Comm comm = first_ranks(2);
    curve c;
    uint64_t bytes = 1;

    (void)state;
    if (comm != MPI_COMM_NULL) {
        tri_trainer *t = create(comm, PARITY_TIED, two_ranks());

        steps(t, 0, 1, &c);
        for (int way = 0; way < 2; way++) {
            assert_int_equal(tri_trainer_save(t, "/dev/null/here/x.ckpt",
                                              (tri_ckpt_way)way, "", &bytes),
                             TRI_EIO);
            assert_non_null(
                    strstr(tri_error_last()->sentence, "cannot be written"));
        }
        assert_int_equal(bytes, 1);
        steps(t, 1, 3, &c);
        tri_trainer_destroy(t);
        MPI_Comm_free(&comm);
    }
    wait_for_all();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(pairs), cmocka_unit_test(placings),
            cmocka_unit_test(bad_files), cmocka_unit_test(no_room)};
    int failed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n_pairs = argc > 1 ? atoi(argv[1]) : n_pairs;
    n_pairs = n_pairs < MOST ? n_pairs : MOST;
    the_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
    MPI_Bcast(&the_seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (unsigned char)(i * i * 7 + i / 3);
    }
    if (rank == 0 && !mkdtemp(folder)) {
        return 1;
    }
    MPI_Bcast(folder, (int)sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/x.ckpt", folder);
    if (rank > 0 && !freopen("/dev/null", "w", stdout)) {
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        unlink(path);
        rmdir(folder);
    }
    MPI_Finalize();
    return failed != 0;
}
