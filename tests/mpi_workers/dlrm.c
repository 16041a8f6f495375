/*
 * Every placement computes what one rank computes.
 *
 * Combinations of placements, planners, ranks and models are drawn by a seed
 * that is printed, so that every option comes at least ten times in a hundred.
 * Of each the losses, the norms, the gradients of the dense part and, element
 * by element through the shards, the tables after each step are those of one
 * rank, and the memory is what was predicted.
 *
 *     mpirun -n 8 engine_dlrm [COMBINATIONS [SEED]]
 */
#include "mpi_workers/trainer.h"
#include "trireme/rng.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS  3
#define BATCH  24
#define RANKS  8
#define TABLES 5
#define MODELS 3
#define TIMES  10
#define BOUND  1e-10
#define MOST   1000

typedef struct combination {
    tri_layout l;
    int model;
} combination;

/* One id, bags of three, and ragged columns. */
static tri_model_spec model_of(int which)
{
    return (tri_model_spec){.kind = TRI_MODEL_DLRM,
                            .u.dlrm = {.tables = TABLES,
                                       .dim = which == 2 ? 40 : 64,
                                       .rows = {50, 7, 300, 1, 90},
                                       .pooling = which == 1 ? 3 : 1,
                                       .dense = 6,
                                       .bottom = {17},
                                       .n_bottom = 1,
                                       .top = {20, 9},
                                       .n_top = which == 2 ? 0 : 2,
                                       .zipf = which == 1 ? 0 : 1.2,
                                       .lr = 0.05,
                                       .data = "synthetic"}};
}

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
                               .clip = 0.3};
}

/* ---- what is drawn ------------------------------------------------------- */

static int has_placing(const combination *c, int how)
{
    int t, has = 0;

    for (t = 0; t < TABLES; t++) {
        has |= c->l.placing[t] == how;
    }
    return has;
}

#define OPTIONS 21

static const char *option(const combination *c, int k, int *has)
{
    static const char *const names[OPTIONS] = {
            "ranks 1",      "ranks 2",      "ranks 3", "ranks 4",
            "ranks 6",      "ranks 8",      "planned", "table-wise",
            "row-wise",     "column-wise",  "copies",  "planner greedy",
            "planner size", "planner cost", "one id",  "bags",
            "ragged",       "sample 1",     "samples", "accumulated",
            "zero > 0"};
    static const int ranks[] = {1, 2, 3, 4, 6, 8};
    int m = c->l.global_batch / c->l.dp / c->l.micro_batch;

    *has = k < 6    ? c->l.dp == ranks[k]
           : k < 11 ? has_placing(c, k - 6)
           : k < 14 ? has_placing(c, 0) && c->l.planner == k - 11
           : k < 17 ? c->model == k - 14
           : k < 19 ? (c->l.micro_batch > 1) == (k == 18)
           : k < 20 ? m > 1
                    : c->l.zero > 0;
    return names[k];
}

static combination draw(tri_rng *rng)
{
    static const int ranks[] = {1, 2, 3, 4, 6, 8};
    combination c = {.l = {.tp = 1,
                           .pp = 1,
                           .virtual_stages = 1,
                           .global_batch = BATCH,
                           .schedule = 1,
                           .threads = 1}};
    int each = (int)tri_rng_below(rng, 2), all = (int)tri_rng_below(rng, 5), t;

    c.l.dp = ranks[tri_rng_below(rng, 6)];
    do {
        c.l.micro_batch = 1 + (int)tri_rng_below(rng, BATCH);
    } while (BATCH % (c.l.dp * c.l.micro_batch) != 0);
    c.l.planner = (int)tri_rng_below(rng, 3);
    c.l.zero = c.l.dp > 1 ? (int)tri_rng_below(rng, 3) : 0;
    for (t = 0; t < TABLES; t++) {
        c.l.placing[t] = each ? (int)tri_rng_below(rng, 5) : all;
    }
    c.model = (int)tri_rng_below(rng, MODELS);
    return c;
}

/* Of several the one whose options are most wanting. */
static combination pick(tri_rng *rng, int *seen)
{
    combination best = {.model = 0};
    double most = -1;
    int try, k, has;

    for (try = 0; try < 20; try++) {
        combination c = draw(rng);
        double score = 0;

        for (k = 0; k < OPTIONS; k++) {
            (void)option(&c, k, &has);
            score += has && seen[k] < TIMES + 2 ? pow(TIMES + 2 - seen[k], 3)
                                                : 0;
        }
        if (score > most) {
            most = score;
            best = c;
        }
    }
    for (k = 0; k < OPTIONS; k++) {
        (void)option(&best, k, &has);
        seen[k] += has;
    }
    return best;
}

/* ---- runs ---------------------------------------------------------------- */

typedef struct result {
    double loss, norm;
    tri_real *grads, *rows; /* whole; of the tables as this rank has them */
} result;

static struct reference {
    tri_trainer *trainer;
    result at[STEPS];
} references[MODELS];

static tri_status one_step(tri_trainer *t, result *r)
{
    const tri_embed *e = tri_trainer_embed(t);
    size_t dense = (size_t)tri_trainer_tensors(t)->count;
    size_t sparse = (size_t)e->ops->sparse(e->model)->count;
    tri_step step;

    TRI_TRY(tri_trainer_step(t, 0, &step));
    r->grads = malloc((dense + sparse) * sizeof *r->grads);
    assert_non_null(r->grads);
    r->rows = r->grads + dense;
    if (sparse) {
        memcpy(r->rows, e->params, sparse * sizeof *r->rows);
    }
    r->loss = step.loss;
    r->norm = tri_trainer_norm(t);
    return tri_trainer_whole_grads(t, r->grads);
}

static struct reference *need_reference(int model)
{
    tri_model_spec spec = model_of(model);
    tri_trainer_setup s = setup_of(&spec, (tri_layout){.dp = 1,
                                                       .tp = 1,
                                                       .pp = 1,
                                                       .virtual_stages = 1,
                                                       .micro_batch = BATCH,
                                                       .global_batch = BATCH,
                                                       .schedule = 1,
                                                       .threads = 1});
    struct reference *r = &references[model];
    int i;

    if (!r->trainer) {
        assert_int_equal(tri_trainer_create(&s, MPI_COMM_SELF, &r->trainer),
                         TRI_OK);
        for (i = 0; i < STEPS; i++) {
            assert_int_equal(one_step(r->trainer, &r->at[i]), TRI_OK);
        }
    }
    return r;
}

static double worse(double a, double x, double ref, double top)
{
    double d = fabs(x - ref) / top;

    return isfinite(d) ? fmax(a, d) : INFINITY;
}

static double tables_error(const tri_tensors *mine, const tri_tensors *whole,
                           const result *r, const result *ref)
{
    double error = 0;
    int64_t i;
    int k;

    for (k = 0; k < mine->n; k++) {
        const tri_tensor *t = &mine->at[k];
        const tri_tensor *w = &whole->at[t->id - whole->at[0].id];
        double top = 0;

        assert_int_equal(w->id, t->id);
        for (i = 0; i < w->count; i++) {
            top = fmax(top, fabs((double)ref->rows[w->offset + i]));
        }
        for (i = 0; i < t->count; i++) {
            int64_t at = w->offset + tri_tensor_global(t, i);

            error = worse(error, (double)r->rows[t->offset + i],
                          (double)ref->rows[at], top);
        }
    }
    return error;
}

static double dense_error(const tri_tensors *table, const result *r,
                          const result *ref)
{
    double error = 0;
    int64_t i;
    int k;

    for (k = 0; k < table->n; k++) {
        const tri_tensor *t = &table->at[k];
        double top = 0;

        for (i = 0; i < t->count; i++) {
            top = fmax(top, fabs((double)ref->grads[t->offset + i]));
        }
        for (i = 0; i < t->count; i++) {
            error = worse(error, (double)r->grads[t->offset + i],
                          (double)ref->grads[t->offset + i], top);
        }
    }
    return error;
}

static double train(MPI_Comm comm, const combination *c)
{
    const struct reference *ref = need_reference(c->model);
    const tri_embed *w = tri_trainer_embed(ref->trainer);
    tri_model_spec spec = model_of(c->model);
    tri_trainer_setup s = setup_of(&spec, c->l);
    tri_trainer *t = NULL;
    uint64_t need = 0;
    double error = 0;
    int i, rank;

    MPI_Comm_rank(comm, &rank);
    if (tri_trainer_predict(&s, rank, &need) != TRI_OK ||
        tri_trainer_create(&s, comm, &t) != TRI_OK) {
        print_error("%s\n", tri_error_last()->sentence);
        return INFINITY;
    }
    for (i = 0; i < STEPS; i++) {
        const result *r = &ref->at[i];
        const tri_embed *e = tri_trainer_embed(t);
        result mine = {0};

        if (one_step(t, &mine) != TRI_OK) {
            print_error("%s\n", tri_error_last()->sentence);
            error = INFINITY;
        } else {
            error = worse(error, mine.loss, r->loss, r->loss);
            error = worse(error, mine.norm, r->norm, r->norm);
            error = fmax(error, dense_error(tri_trainer_tensors(t), &mine, r));
            error = fmax(error,
                         tables_error(e->ops->sparse(e->model),
                                      w->ops->sparse(w->model), &mine, r));
        }
        free(mine.grads);
    }
    error = need == tri_trainer_high_water(t) ? error : INFINITY;
    tri_trainer_destroy(t);
    return error;
}

/* ---- the matrix ---------------------------------------------------------- */

static int n_combinations;
static uint64_t the_seed;

static void complain(const combination *c, double error)
{
    print_error("dp %d micro_batch %d planner %d zero %d model %d placing "
                "%d%d%d%d%d: error %.3g\n",
                c->l.dp, c->l.micro_batch, c->l.planner, c->l.zero, c->model,
                c->l.placing[0], c->l.placing[1], c->l.placing[2],
                c->l.placing[3], c->l.placing[4], error);
}

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
static int run_ranks(int ranks, const combination *all, double *worst)
{
    int rank, size, i, ran = 0, bad = 0;
    MPI_Comm comm;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank / ranks, rank, &comm);
    for (i = 0; i < n_combinations; i++) {
        double mine, error;

        if (all[i].l.dp != ranks || ran++ % (size / ranks) != rank / ranks) {
            continue;
        }
        mine = train(comm, &all[i]);
        MPI_Allreduce(&mine, &error, 1, MPI_DOUBLE, MPI_MAX, comm);
        *worst = fmax(*worst, error);
        if (!(error <= BOUND)) {
            bad++;
            complain(&all[i], error);
        }
    }
    MPI_Comm_free(&comm);
    wait_for_all();
    return bad;
}

static void every_placement_is_serial(void **state)
{
    static combination all[MOST];
    tri_rng rng = tri_rng_stream(the_seed, 0, TRI_RNG_TEST);
    int seen[OPTIONS] = {0}, bad = 0, all_bad = 0, i, k, s;
    double worst = 0, top = 0;

    (void)state;
    print_message("%d combinations, seed %llu\n", n_combinations,
                  (unsigned long long)the_seed);
    for (i = 0; i < n_combinations; i++) {
        all[i] = pick(&rng, seen);
    }
    for (k = 0; k < OPTIONS; k++) {
        combination none = {.l = {.dp = 1, .micro_batch = 1}};
        int has;

        print_message("%s: %d\n", option(&none, k, &has), seen[k]);
        assert_true(n_combinations < 100 || seen[k] >= TIMES);
    }
    for (i = 1; i <= RANKS; i++) {
        bad += run_ranks(i, all, &worst);
    }
    MPI_Allreduce(&bad, &all_bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&worst, &top, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    print_message("largest error %.3g\n", top);
    for (k = 0; k < MODELS; k++) {
        for (s = 0; s < STEPS; s++) {
            free(references[k].at[s].grads);
        }
        tri_trainer_destroy(references[k].trainer);
    }
    assert_int_equal(all_bad, 0);
    assert_int_equal(tri_trainers_alive() + tri_models_alive(), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(every_placement_is_serial)};
    int rank, failed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    n_combinations = argc > 1 ? atoi(argv[1]) : 100;
    the_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
    n_combinations = n_combinations < MOST ? n_combinations : MOST;
    MPI_Bcast(&the_seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank > 0 && !freopen("/dev/null", "w", stdout)) {
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed != 0;
}
