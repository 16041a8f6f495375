/*
 * A failure stays its own: trainings fail at random, a thousand times on the
 * same ranks, and after each of them all ranks have the same status at the same
 * step, nothing is left of it, and the group trains on at once.
 *
 *     mpirun -n 4 engine_contain [FAILURES [SEED]]
 *
 * Nothing: no trainer, model, axis communicator or shared segment; no MPI
 * request; no byte of memory, mapping or descriptor more than before.  Calls
 * into MPI are counted by its profiling interface, memory by wrapping what the
 * engine allocates with.
 */
#include "mpi_workers/mesh.h"
#include "mpi_workers/shared.h"
#include "mpi_workers/trainer.h"
#include "trireme/rng.h"

#include "tests/tri_cmocka.h"

#include <dirent.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define RANKS  4
#define STEPS  3
#define SETTLE 100 /* failures after which nothing grows any more */

static int rank;
static int n_failures = 1000;
static uint64_t the_seed;
static unsigned char text[500];
static char folder[] = "/tmp/tri-contain-XXXXXX";
static char good[64], damaged[64], missing[64];

/* ---- what is alive ------------------------------------------------------- */

typedef struct living {
    int64_t bytes, mapped, requests, communicators;
    int files;
} living;

static living now;

/* the linker's names; NOLINTBEGIN(readability-identifier-naming) */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t each);
void *__real_realloc(void *p, size_t n);
char *__real_strdup(const char *s);
void __real_free(void *p);
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from);
int __real_munmap(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t each);
void *__wrap_realloc(void *p, size_t n);
char *__wrap_strdup(const char *s);
void __wrap_free(void *p);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from);
int __wrap_munmap(void *p, size_t n);

static void *count(void *p)
{
    now.bytes += (int64_t)malloc_usable_size(p);
    return p;
}

void *__wrap_malloc(size_t n)
{
    return count(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t each)
{
    return count(__real_calloc(n, each));
}

void *__wrap_realloc(void *p, size_t n)
{
    now.bytes -= (int64_t)malloc_usable_size(p);
    return count(__real_realloc(p, n));
}

char *__wrap_strdup(const char *s)
{
    return count(__real_strdup(s));
}

void __wrap_free(void *p)
{
    now.bytes -= (int64_t)malloc_usable_size(p);
    __real_free(p);
}

void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
    void *p = __real_mmap(at, n, prot, flags, fd, from);

    now.mapped += p == MAP_FAILED || (flags & MAP_FIXED) ? 0 : (int64_t)n;
    return p;
}

int __wrap_munmap(void *p, size_t n)
{
    now.mapped -= (int64_t)n;
    return __real_munmap(p, n);
}

/* NOLINTEND(readability-identifier-naming) */

static int begun(int rc)
{
    now.requests += rc == MPI_SUCCESS;
    return rc;
}

int MPI_Isend(const void *buf, int n, MPI_Datatype type, int to, int tag,
              MPI_Comm comm, MPI_Request *r)
{
    return begun(PMPI_Isend(buf, n, type, to, tag, comm, r));
}

int MPI_Irecv(void *buf, int n, MPI_Datatype type, int from, int tag,
              MPI_Comm comm, MPI_Request *r)
{
    return begun(PMPI_Irecv(buf, n, type, from, tag, comm, r));
}

int MPI_Ibcast(void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request *r)
{
    return begun(PMPI_Ibcast(buf, n, type, root, comm, r));
}

int MPI_Iallreduce(const void *in, void *out, int n, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm, MPI_Request *r)
{
    return begun(PMPI_Iallreduce(in, out, n, type, op, comm, r));
}

int MPI_Iallgather(const void *in, int n, MPI_Datatype type, void *out, int m,
                   MPI_Datatype out_type, MPI_Comm comm, MPI_Request *r)
{
    return begun(PMPI_Iallgather(in, n, type, out, m, out_type, comm, r));
}

int MPI_Test(MPI_Request *r, int *done, MPI_Status *status)
{
    int was = *r != MPI_REQUEST_NULL;
    int rc = PMPI_Test(r, done, status);

    now.requests -= was && *r == MPI_REQUEST_NULL;
    return rc;
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag,
                          MPI_Comm *out)
{
    int rc = PMPI_Comm_create_group(comm, group, tag, out);

    now.communicators += rc == MPI_SUCCESS;
    return rc;
}

/* HDF5 has its own. */
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *out)
{
    int rc = PMPI_Comm_dup(comm, out);

    now.communicators += rc == MPI_SUCCESS;
    return rc;
}

int MPI_Comm_free(MPI_Comm *comm)
{
    now.communicators--;
    return PMPI_Comm_free(comm);
}

static int count_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    assert_non_null(d);
    while (readdir(d)) {
        n++;
    }
    closedir(d);
    return n;
}

/* Nothing is left of the failure `k`; from SETTLE on to the byte. */
static void see_that_nothing_is_left(int k)
{
    static living before;

    assert_int_equal(tri_trainers_alive(), 0);
    assert_int_equal(tri_models_alive(), 0);
    assert_int_equal(tri_mesh_alive(), 0);
    assert_int_equal(tri_shared_alive(), 0);
    assert_int_equal(now.requests, 0);
    assert_int_equal(now.communicators, 0);
    now.files = count_files();
    if (k > SETTLE) {
        assert_int_equal(now.bytes, before.bytes);
        assert_int_equal(now.mapped, before.mapped);
        assert_int_equal(now.files, before.files);
    }
    before = now;
}

/* ---- trainings ----------------------------------------------------------- */

static tri_model_spec gpt(void)
{
    return (tri_model_spec){.kind = TRI_MODEL_GPT,
                            .u.gpt = {.layers = 4,
                                      .hidden = 16,
                                      .heads = 4,
                                      .sequence = 8,
                                      .vocab = 32,
                                      .ffn = 32,
                                      .tied = 1}};
}

static tri_model_spec mlp(void)
{
    return (tri_model_spec){
            .kind = TRI_MODEL_MLP,
            .u.mlp = {.inputs = 6, .hidden = 8, .layers = 2, .outputs = 3}};
}

static const struct {
    int dp, tp, pp, zero, virtual_stages, schedule, sequence_parallel;
} layouts[] = {{4, 1, 1, 0, 1, 1, 0}, {4, 1, 1, 1, 1, 1, 0},
               {4, 1, 1, 2, 1, 1, 0}, {4, 1, 1, 3, 1, 1, 0},
               {2, 2, 1, 0, 1, 1, 1}, {2, 2, 1, 3, 1, 1, 0},
               {1, 4, 1, 0, 1, 1, 1}, {2, 1, 2, 0, 1, 1, 0},
               {1, 1, 4, 0, 1, 0, 0}, {1, 2, 2, 0, 2, 2, 0}};
#define LAYOUTS ((int)(sizeof layouts / sizeof layouts[0]))

static tri_trainer_setup draw_setup(tri_rng *rng, tri_model_spec *model)
{
    int is_mlp = tri_rng_below(rng, 4) == 0;
    int k = (int)tri_rng_below(rng, is_mlp ? 4 : (uint64_t)LAYOUTS);

    *model = is_mlp ? mlp() : gpt();
    return (tri_trainer_setup){
            .model = model,
            .layout = {.dp = layouts[k].dp,
                       .tp = layouts[k].tp,
                       .pp = layouts[k].pp,
                       .zero = layouts[k].zero,
                       .virtual_stages = layouts[k].virtual_stages,
                       .schedule = layouts[k].schedule,
                       .sequence_parallel = layouts[k].sequence_parallel,
                       .micro_batch = 1,
                       .global_batch = 8,
                       .threads = 1},
            .seed = 3,
            .optimizer = {.lr = 1e-3, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8},
            .clip = 1,
            .text = text,
            .text_bytes = sizeof text};
}

/* ---- failures ------------------------------------------------------------ */

typedef enum fault {
    FAULT_NONE,
    FAULT_NAN,
    FAULT_LARGE, /* parameters: it diverges */
    FAULT_ERROR, /* a rank's own */
    FAULT_QUOTA,
    FAULT_DATA,
    FAULT_LAYOUT,
    FAULT_MISSING, /* checkpoint */
    FAULT_DAMAGED,
    FAULT_UNSAVED,
    FAULTS
} fault;

typedef struct plan {
    fault what;
    int rank, step; /* whose fault, and before which step */
} plan;

/* A fault before anything is stepped, in what this rank is given. */
static void spoil_setup(const plan *p, tri_trainer_setup *s)
{
    if (p->what == FAULT_LAYOUT) { /* known to all */
        s->layout.micro_batch = 3;
    } else if (rank != p->rank) {
        return;
    } else if (p->what == FAULT_QUOTA) {
        s->quota_bytes = 1000;
    } else if (p->what == FAULT_DATA && s->model->kind == TRI_MODEL_GPT) {
        s->text_bytes = 5;
    }
}

static void spoil_params(tri_trainer *t, tri_real with)
{
    tri_real *x = tri_trainer_params(t);
    int64_t n = tri_trainer_tensors(t)->count;

    if (!x) { /* in parts */
        tri_trainer_complain(t, TRI_FAIL(TRI_ENAN, "it has none"));
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        x[i] *= with;
    }
}

static void spoil_step(const plan *p, tri_trainer *t)
{
    if (p->what == FAULT_LARGE) {
        spoil_params(t, (tri_real)1e4);
    } else if (rank != p->rank) {
        return;
    } else if (p->what == FAULT_NAN) {
        spoil_params(t, p->step % 2 ? NAN : INFINITY);
    } else if (p->what == FAULT_ERROR) {
        tri_trainer_complain(t, TRI_FAIL(TRI_EDATA, "of rank %d", rank));
    }
}

static tri_status save_or_load(const plan *p, tri_trainer *t)
{
    uint64_t bytes;

    switch (p->what) {
    case FAULT_MISSING:
        return tri_trainer_load(t, missing);
    case FAULT_DAMAGED:
        return tri_trainer_load(t, damaged);
    case FAULT_UNSAVED:
        return tri_trainer_save(t, "/dev/null/x",
                                p->step % 2 ? TRI_CKPT_MPIO : TRI_CKPT_GATHERED,
                                "", &bytes);
    default:
        return TRI_OK;
    }
}

/* One training; [out] steps done, and the last loss. */
static tri_status train(const tri_trainer_setup *s, const plan *p, int *steps,
                        double *loss)
{
    tri_trainer *t = NULL;
    tri_status st = TRI_OK;
    tri_step step;

    *steps = 0;
    TRI_TRY(tri_trainer_create(s, MPI_COMM_WORLD, &t));
    assert_true(now.bytes + now.mapped > 10000); /* it is counted */
    while (st == TRI_OK && *steps < STEPS) {
        if (*steps == p->step) {
            spoil_step(p, t);
            st = save_or_load(p, t);
        }
        if (st == TRI_OK) {
            st = tri_trainer_step(t, 0, &step);
        }
        if (st == TRI_OK) {
            *loss = step.loss;
            ++*steps;
        }
    }
    tri_trainer_destroy(t);
    return st;
}

static int is_expected(const plan *p, const tri_trainer_setup *s, tri_status st)
{
    static const tri_status expected[FAULTS] = {
            [FAULT_NAN] = TRI_ENAN,          [FAULT_LARGE] = TRI_EDIVERGED,
            [FAULT_ERROR] = TRI_EDATA,       [FAULT_QUOTA] = TRI_EOOM,
            [FAULT_DATA] = TRI_EDATA,        [FAULT_LAYOUT] = TRI_EINFEASIBLE,
            [FAULT_MISSING] = TRI_ENOTFOUND, [FAULT_DAMAGED] = TRI_EMALFORMED,
            [FAULT_UNSAVED] = TRI_EIO};

    if (p->what == FAULT_DATA && s->model->kind == TRI_MODEL_MLP) {
        return st == TRI_OK; /* it reads none */
    }
    if (p->what == FAULT_LARGE) { /* as far as the norms let it */
        return 1;
    }
    return st == expected[p->what];
}

static void same_everywhere(int mine)
{
    int least;
    int most;

    MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    assert_int_equal(least, most);
}

static void fail_once(tri_rng *rng, int k, int *failed)
{
    tri_model_spec model;
    tri_trainer_setup s = draw_setup(rng, &model);
    plan p = {.what = 1 + (fault)tri_rng_below(rng, FAULTS - 1),
              .rank = (int)tri_rng_below(rng, RANKS),
              .step = (int)tri_rng_below(rng, STEPS)};
    double loss = 0;
    int steps;
    tri_status st;

    if (p.what == FAULT_LARGE && p.step == 0) {
        p.step = 1; /* from the first loss on */
    }
    spoil_setup(&p, &s);
    st = train(&s, &p, &steps, &loss);
    if (!is_expected(&p, &s, st)) {
        fail_msg("failure %d (seed %llu), kind %d: status %d after %d steps: "
                 "%s",
                 k, (unsigned long long)the_seed, (int)p.what, (int)st, steps,
                 tri_error_last()->sentence);
    }
    same_everywhere((int)st * 10 + steps);
    see_that_nothing_is_left(k);
    *failed += st != TRI_OK;
}

/* The group is usable: it trains as it always did, to the bit. */
static void train_well(int k)
{
    static double expected;
    tri_model_spec model = gpt();
    tri_rng rng = tri_rng_stream(1, 0, TRI_RNG_TEST);
    tri_trainer_setup s = draw_setup(&rng, &model);
    plan none = {.what = FAULT_NONE};
    double loss = 0;
    int steps;

    model = gpt();
    assert_int_equal(train(&s, &none, &steps, &loss), TRI_OK);
    assert_int_equal(steps, STEPS);
    if (k == 0) {
        expected = loss;
    }
    assert_true(loss == expected && loss > 1);
}

static void make_checkpoints(void)
{
    tri_model_spec model = gpt();
    tri_rng rng = tri_rng_stream(1, 0, TRI_RNG_TEST);
    tri_trainer_setup s = draw_setup(&rng, &model);
    tri_trainer *t = NULL;
    uint64_t bytes;

    assert_int_equal(tri_trainer_create(&s, MPI_COMM_WORLD, &t), TRI_OK);
    assert_int_equal(tri_trainer_save(t, good, TRI_CKPT_GATHERED, "", &bytes),
                     TRI_OK);
    tri_trainer_destroy(t);
    if (rank == 0) { /* half of it */
        assert_int_equal(truncate(good, (off_t)bytes / 2), 0);
        assert_int_equal(rename(good, damaged), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void failures(void **state)
{
    tri_rng rng = tri_rng_stream(the_seed, 0, TRI_RNG_TEST);
    int failed = 0;

    (void)state;
    make_checkpoints();
    for (int k = 0; k < n_failures; k++) {
        if (k % 20 == 0) {
            train_well(k);
        }
        fail_once(&rng, k, &failed);
    }
    train_well(n_failures);
    if (rank == 0) {
        print_message("%d of %d trainings failed, seed %llu\n", failed,
                      n_failures, (unsigned long long)the_seed);
    }
    assert_true(failed > n_failures / 2);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(failures)};
    int failed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n_failures = argc > 1 ? atoi(argv[1]) : n_failures;
    the_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
    MPI_Bcast(&the_seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (unsigned char)(i * i * 7 + i / 3);
    }
    if (rank == 0 && !mkdtemp(folder)) {
        return 1;
    }
    MPI_Bcast(folder, (int)sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(good, sizeof good, "%s/good.ckpt", folder);
    snprintf(damaged, sizeof damaged, "%s/damaged.ckpt", folder);
    snprintf(missing, sizeof missing, "%s/missing.ckpt", folder);
    if (rank > 0 && !freopen("/dev/null", "w", stdout)) {
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        unlink(damaged);
        rmdir(folder);
    }
    MPI_Finalize();
    return failed != 0;
}
