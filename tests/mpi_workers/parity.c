/*
 * Every layout computes what one rank computes.
 *
 * A matrix of combinations of layout and model is drawn at random, by a seed
 * that is printed, so that every option comes at least ten times in a hundred.
 * Of each the losses, the norms and, element by element through the shards,
 * the gradients of several steps are those of one rank; the memory is what was
 * predicted; and where the order of sums is the same, so are the bits.
 *
 *     mpirun -n 8 engine_parity [COMBINATIONS [SEED]]
 *
 * All run inside one job, as many groups at a time as there is room for.  In
 * the double build the bound is 1e-10 relative to the largest gradient of the
 * tensor, in the float build 1e-3.
 */
#include "mpi_workers/trainer.h"
#include "tests/mpi_workers/parity_draw.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS 2
#define MOST  1000 /* combinations */

static const double bound = sizeof(tri_real) == 8 ? 1e-10 : 1e-3;
static unsigned char text[3000];

/* ---- runs -------------------------------------------------------- */

/* What a run gave: its losses and the gradients of each step. */
typedef struct result {
    double loss[STEPS], norm[STEPS];
    tri_real *grads[STEPS];
    int64_t count;
    int predicted; /* its memory */
} result;

static result serial[PARITY_MODELS];
static tri_trainer
        *references[PARITY_MODELS]; /* keep the tables of whole tensors */

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

static void result_fini(result *r)
{
    int s;

    for (s = 0; s < STEPS; s++) {
        free(r->grads[s]);
        r->grads[s] = NULL;
    }
}

/* Train STEPS steps; the trainer is left open. */
static tri_status train(MPI_Comm comm, const tri_trainer_setup *setup,
                        result *r, tri_trainer **out)
{
    tri_trainer *t = NULL;
    uint64_t need = 0;
    tri_step step;
    int s, rank;

    MPI_Comm_rank(comm, &rank);
    TRI_TRY(tri_trainer_predict(setup, rank, &need));
    TRI_TRY(tri_trainer_create(setup, comm, &t));
    r->count = tri_trainer_tensors(t)->count;
    for (s = 0; s < STEPS; s++) {
        size_t bytes = (size_t)r->count * sizeof(tri_real);
        tri_status st = tri_trainer_step(t, 0, &step);

        r->grads[s] = malloc(bytes);
        assert_non_null(r->grads[s]);
        if (st == TRI_OK) {
            st = tri_trainer_whole_grads(t, r->grads[s]);
        }
        if (st != TRI_OK) {
            tri_trainer_destroy(t);
            return st;
        }
        r->loss[s] = step.loss;
        r->norm[s] = tri_trainer_norm(t);
    }
    r->predicted = need == tri_trainer_high_water(t);
    *out = t;
    return TRI_OK;
}

/* The serial run that all of a model are held against. */
static void need_reference(int which)
{
    tri_layout one = {.dp = 1,
                      .tp = 1,
                      .pp = 1,
                      .virtual_stages = 1,
                      .micro_batch = PARITY_BATCH,
                      .global_batch = PARITY_BATCH,
                      .schedule = 1,
                      .threads = 1};
    tri_model_spec model = parity_model(which);
    tri_trainer_setup setup = setup_of(&model, one);

    if (!references[which]) {
        assert_int_equal(train(MPI_COMM_SELF, &setup, &serial[which],
                               &references[which]),
                         TRI_OK);
        assert_true(serial[which].predicted);
    }
}

static void drop_references(void)
{
    int i;

    for (i = 0; i < PARITY_MODELS; i++) {
        tri_trainer_destroy(references[i]);
        result_fini(&serial[i]);
    }
}

/* ---- judgement --------------------------------------------------- */

static const tri_tensor *whole(int model, uint32_t id)
{
    const tri_tensors *all = tri_trainer_tensors(references[model]);
    int k;

    for (k = 0; k < all->n; k++) {
        if (all->at[k].id == id) {
            return &all->at[k];
        }
    }
    return NULL;
}

/* Largest error of this rank's shard of `t`, relative to the largest gradient
 * of the whole tensor. */
static double shard_error(int model, const tri_tensor *t, const tri_real *grads,
                          int s)
{
    const tri_tensor *w = whole(model, t->id);
    const tri_real *ref = serial[model].grads[s] + w->offset;
    double top = 0, error = 0;
    int64_t i;

    for (i = 0; i < w->count; i++) {
        top = fmax(top, fabs((double)ref[i]));
    }
    for (i = 0; i < t->count; i++) {
        double d = (double)grads[t->offset + i] -
                   (double)ref[tri_tensor_global(t, i)];

        error = isfinite(d) ? fmax(error, fabs(d)) : INFINITY;
    }
    for (i = t->count; i < t->count + t->spare; i++) {
        error = grads[t->offset + i] == 0 ? error : INFINITY;
    }
    return error / top;
}

/* This rank's largest error, and the elements that it owns into *owned. */
static double rank_error(int model, const tri_trainer *t, const result *r,
                         double *owned)
{
    const tri_tensors *table = tri_trainer_tensors(t);
    const result *ref = &serial[model];
    tri_coord at = tri_trainer_mesh(t)->at;
    double error = 0;
    int k, s;

    *owned = 0;
    for (k = 0; k < table->n; k++) {
        const tri_tensor *p = &table->at[k];
        int copy = (p->flags & TRI_TENSOR_TIED_COPY) || at.dp ||
                   (at.tp && (p->flags & TRI_TENSOR_TP_COPY));

        *owned += copy ? 0 : (double)p->count;
        for (s = 0; s < STEPS; s++) {
            error = fmax(error, shard_error(model, p, r->grads[s], s));
        }
    }
    for (s = 0; s < STEPS; s++) {
        error = fmax(error, fabs(r->loss[s] - ref->loss[s]) / ref->loss[s]);
        error = fmax(error, fabs(r->norm[s] - ref->norm[s]) / ref->norm[s]);
    }
    return error;
}

static int same_bits(const result *a, const result *b)
{
    int s, same = a->count == b->count;

    for (s = 0; same && s < STEPS; s++) {
        same = a->grads[s] && b->grads[s] && a->loss[s] == b->loss[s] &&
               memcmp(a->grads[s], b->grads[s],
                      (size_t)a->count * sizeof(tri_real)) == 0;
    }
    return same;
}

/* Elements of the model, each tensor once. */
static double whole_count(int model)
{
    const tri_tensors *all = tri_trainer_tensors(references[model]);
    double n = 0;
    int k;

    for (k = 0; k < all->n; k++) {
        n += (double)all->at[k].count;
    }
    return n;
}

/* Run one combination on `comm` and judge it.  The same number of failures on
 * all its ranks. */
static int judge(MPI_Comm comm, const parity_combination *c, result *r,
                 double *worst)
{
    tri_model_spec model = parity_model(c->model);
    tri_trainer_setup setup = setup_of(&model, c->l);
    tri_trainer *t = NULL;
    tri_status st = train(comm, &setup, r, &t);
    double mine[2] = {st == TRI_OK ? 0 : INFINITY, 0}, top, sum;
    int rank, predicted;

    if (st == TRI_OK) {
        mine[0] = rank_error(c->model, t, r, &mine[1]);
    }
    MPI_Allreduce(&mine[0], &top, 1, MPI_DOUBLE, MPI_MAX, comm);
    MPI_Allreduce(&mine[1], &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allreduce(&r->predicted, &predicted, 1, MPI_INT, MPI_MIN, comm);
    tri_trainer_destroy(t);
    MPI_Comm_rank(comm, &rank);
    *worst = fmax(*worst, top);
    if (top <= bound && sum == whole_count(c->model) && predicted) {
        return 0;
    }
    if (rank == 0) {
        parity_complain(c,
                        st != TRI_OK ? tri_error_last()->sentence
                        : !predicted ? "memory is not as predicted"
                        : !(top <= bound)
                                ? "not the serial run"
                                : "elements are owned twice or by nobody",
                        top);
    }
    return 1;
}

/* Of those that differ at most in what twin_of changes. */
static int is_other(const tri_layout *a, const tri_layout *b)
{
    return a->recompute != b->recompute || a->overlap != b->overlap ||
           a->zero != b->zero || a->bucket_bytes != b->bucket_bytes ||
           a->schedule != b->schedule;
}

/* What computes the same bits: another schedule, nothing made again, another
 * stage of ZeRO that sums in the same order (with the buckets of stage 3 where
 * it is that).  Returns 0 where that is the same combination. */
static int twin_of(const parity_combination *c, parity_combination *out)
{
    *out = *c;
    out->l.recompute = 0;
    if (c->l.overlap == 2 || c->l.zero > 1) {
        out->l.overlap = 0; /* sums of MPI are of another order */
    }
    if (out->l.overlap == 1) { /* the same sums of MPI */
        return is_other(&out->l, &c->l);
    }
    if (c->l.zero == 1 || tri_shard_micro_batches(&c->l) == 1) {
        out->l.zero = 0;
    } else if (c->l.zero == 3) {
        out->l.zero = 2;
    }
    if (c->l.zero == 3) {
        out->l.bucket_bytes = 1;
    }
    if (c->l.pp > 1 && c->l.virtual_stages == 1) {
        out->l.schedule = (c->l.schedule + 1) % 2;
    }
    return is_other(&out->l, &c->l);
}

/* One combination, and its twin. */
static int judge_all(MPI_Comm comm, const parity_combination *c, double *worst)
{
    parity_combination other;
    result a = {0}, b = {0};
    int bad = judge(comm, c, &a, worst), same = 1, all_same = 1, rank;

    if (!bad && twin_of(c, &other)) {
        bad += judge(comm, &other, &b, worst);
        same = same_bits(&a, &b);
    }
    MPI_Allreduce(&same, &all_same, 1, MPI_INT, MPI_MIN, comm);
    MPI_Comm_rank(comm, &rank);
    if (!bad && !all_same) {
        bad++;
        if (rank == 0) {
            parity_complain(c, "its twin has other bits", 0);
        }
    }
    result_fini(&a);
    result_fini(&b);
    return bad;
}

/* ---- the matrix -------------------------------------------------- */

static int n_combinations;
static uint64_t the_seed;

/* Leave the cores to those that work. */
static void wait_for_all(void)
{
    MPI_Request r;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    while (!done) {
        struct timespec pause = {.tv_nsec = 500000};

        MPI_Test(&r, &done, MPI_STATUS_IGNORE);
        if (!done) {
            nanosleep(&pause, NULL);
        }
    }
}

/* Those of `ranks` ranks, dealt out to the groups that there is room for. */
static int run_ranks(int ranks, const parity_combination *all, double *worst,
                     int *ran)
{
    int rank, size, i, bad = 0;
    MPI_Comm comm;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank / ranks, rank, &comm);
    *ran = 0;
    for (i = 0; i < n_combinations; i++) {
        if (tri_shard_ranks(&all[i].l) != ranks) {
            continue;
        }
        if ((*ran)++ % (size / ranks) == rank / ranks) {
            need_reference(all[i].model);
            bad += judge_all(comm, &all[i], worst);
        }
    }
    MPI_Comm_free(&comm);
    wait_for_all();
    return bad;
}

static void every_layout_is_serial(void **state)
{
    parity_combination *all = calloc(MOST, sizeof *all);
    int seen[PARITY_OPTIONS] = {0}, bad = 0, all_bad = 0, ranks, ran, k;

    (void)state;
    assert_non_null(all);
    print_message("%d combinations, seed %llu\n", n_combinations,
                  (unsigned long long)the_seed);
    parity_draw(the_seed, n_combinations, all, seen);
    for (k = 0; parity_option(k); k++) {
        print_message("%s: %d\n", parity_option(k), seen[k]);
        assert_true(n_combinations < 100 || seen[k] >= PARITY_TIMES);
    }
    for (ranks = 1; ranks <= PARITY_RANKS; ranks++) {
        double worst = 0, top = 0;

        bad += run_ranks(ranks, all, &worst, &ran);
        MPI_Allreduce(&worst, &top, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        print_message("%d ranks: %d combinations, largest error %.2g\n", ranks,
                      ran, top);
    }
    MPI_Allreduce(&bad, &all_bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    drop_references();
    free(all);
    assert_int_equal(all_bad, 0);
}

/* ---- bits -------------------------------------------------------- */

/* Whether what this rank has of the gradients has the serial run's bits. */
static int serial_bits(const tri_trainer *t, const result *r,
                       const tri_trainer *one, const result *ref)
{
    const tri_tensors *table = tri_trainer_tensors(t);
    const tri_tensors *all = tri_trainer_tensors(one);
    int k, j, s;

    for (k = 0; k < table->n; k++) {
        const tri_tensor *p = &table->at[k];

        for (j = 0; all->at[j].id != p->id; j++) {
        }
        for (s = 0; s < STEPS; s++) {
            if (!r->grads[s] || !ref->grads[s] ||
                memcmp(r->grads[s] + p->offset,
                       ref->grads[s] + all->at[j].offset,
                       (size_t)p->count * sizeof(tri_real)) != 0) {
                return 0;
            }
        }
    }
    return 1;
}

/* Without clipping (whose norm is summed in another order) and tied heads,
 * a pipeline computes the serial run's bits, whatever its schedule. */
static void pipelines_have_serial_bits(void **state)
{
    static const int shapes[][4] = {/* pp, virtual, schedule, micro_batch */
                                    {2, 1, 0, 3},
                                    {4, 1, 1, 3},
                                    {6, 1, 2, 4},
                                    {2, 3, 2, 6},
                                    {3, 2, 2, 2}};
    tri_model_spec model = parity_model(PARITY_UNTIED);
    int rank, size, bad = 0, all_bad = 0;
    size_t i;

    (void)state;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const int *z = shapes[i];
        tri_layout l = {.dp = 1,
                        .tp = 1,
                        .pp = z[0],
                        .virtual_stages = z[1],
                        .micro_batch = z[3],
                        .global_batch = PARITY_BATCH,
                        .schedule = z[2],
                        .threads = 1};
        tri_trainer_setup setup = setup_of(&model, l);
        tri_trainer *t = NULL, *one = NULL;
        result r = {0}, ref = {0};
        MPI_Comm comm;

        setup.clip = 0;
        MPI_Comm_split(MPI_COMM_WORLD, rank < z[0] ? 0 : MPI_UNDEFINED, rank,
                       &comm);
        if (comm != MPI_COMM_NULL) {
            assert_int_equal(train(comm, &setup, &r, &t), TRI_OK);
            setup.layout.pp = setup.layout.virtual_stages = 1;
            assert_int_equal(train(MPI_COMM_SELF, &setup, &ref, &one), TRI_OK);
            bad += !serial_bits(t, &r, one, &ref);
            tri_trainer_destroy(t);
            tri_trainer_destroy(one);
            result_fini(&r);
            result_fini(&ref);
            MPI_Comm_free(&comm);
        }
        wait_for_all();
    }
    MPI_Allreduce(&bad, &all_bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    assert_int_equal(all_bad, 0);
}

/* Rank 0's, where none is given. */
static void choose_seed(int argc, char **argv)
{
    the_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
    MPI_Bcast(&the_seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    n_combinations = argc > 1                ? atoi(argv[1])
                     : sizeof(tri_real) == 8 ? 100
                                             : 12;
    n_combinations = n_combinations > MOST ? MOST : n_combinations;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(every_layout_is_serial),
            cmocka_unit_test(pipelines_have_serial_bits),
    };
    size_t i;
    int failed, rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 0 && !freopen("/dev/null", "w", stdout)) {
        return 1;
    }
    for (i = 0; i < sizeof text; i++) {
        text[i] = (unsigned char)(i * i / 7 % 61 + i % 3);
    }
    choose_seed(argc, argv);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed != 0;
}
