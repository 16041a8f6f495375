/*
 * Every layout computes what one rank computes: for 1, 2, 3, 4, 6 and 8 ranks
 * and every valid (dp, tp, pp, micro_batch, schedule) of the parity model,
 * the gradients of several steps, element by element through the shards, and
 * the losses are those of the serial run; gpipe and 1f1b give the same bits.
 *
 * All layouts run inside one job, as many groups at a time as there is room
 * for.  In the double build the bound is 1e-10 relative to the largest
 * gradient of the tensor, in the float build 1e-3.
 */
#include "mpi_workers/trainer.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS      3
#define LAYERS     6
#define BATCH      24
#define MAX_LAYOUT 256

static const double bound = sizeof(tri_real) == 8 ? 1e-10 : 1e-3;
static unsigned char text[3000];
static tri_model_spec model = {.kind = TRI_MODEL_GPT,
                               .u.gpt = {.layers = LAYERS,
                                         .hidden = 96,
                                         .heads = 6,
                                         .sequence = 16,
                                         .vocab = 40,
                                         .ffn = 96,
                                         .tied = 1}};

/* What a run gave: its losses and the gradients of each step. */
typedef struct result {
    double loss[STEPS], norm[STEPS];
    tri_real *grads[STEPS];
    int64_t count;
} result;

static result serial;
static tri_trainer *reference; /* keeps the table of whole tensors */

static tri_layout layout_of(int dp, int tp, int pp, int mb, int schedule)
{
    return (tri_layout){.dp = dp,
                        .tp = tp,
                        .pp = pp,
                        .virtual_stages = 1,
                        .micro_batch = mb,
                        .global_batch = BATCH,
                        .schedule = schedule,
                        .threads = 1};
}

static tri_trainer_setup setup_of(tri_layout l)
{
    return (tri_trainer_setup){.model = &model,
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
static tri_status train(MPI_Comm comm, tri_layout l, result *r,
                        tri_trainer **out)
{
    tri_trainer_setup setup = setup_of(l);
    tri_trainer *t = NULL;
    tri_step step;
    int s;

    TRI_TRY(tri_trainer_create(&setup, comm, &t));
    r->count = tri_trainer_tensors(t)->count;
    for (s = 0; s < STEPS; s++) {
        size_t bytes = (size_t)r->count * sizeof(tri_real);
        tri_status st = tri_trainer_step(t, 0, &step);

        r->grads[s] = malloc(bytes);
        if (st != TRI_OK || !r->grads[s]) {
            tri_trainer_destroy(t);
            return st ? st : TRI_ENOMEM;
        }
        memcpy(r->grads[s], tri_trainer_grads(t), bytes);
        r->loss[s] = step.loss;
        r->norm[s] = tri_trainer_norm(t);
    }
    *out = t;
    return TRI_OK;
}

static const tri_tensor *whole(uint32_t id)
{
    const tri_tensors *all = tri_trainer_tensors(reference);
    int k;

    for (k = 0; k < all->n; k++) {
        if (all->at[k].id == id) {
            return &all->at[k];
        }
    }
    return NULL;
}

/* Largest error of this rank's shard of `t`, relative to the largest
 * gradient of the whole tensor. */
static double shard_error(const tri_tensor *t, const tri_real *grads, int s)
{
    const tri_tensor *w = whole(t->id);
    const tri_real *ref = serial.grads[s] + w->offset;
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
    return error / top;
}

/* This rank's largest error, and the elements that it owns into *owned. */
static double rank_error(const tri_trainer *t, const result *r, double *owned)
{
    const tri_tensors *table = tri_trainer_tensors(t);
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
            error = fmax(error, shard_error(p, r->grads[s], s));
        }
    }
    for (s = 0; s < STEPS; s++) {
        error = fmax(error, fabs(r->loss[s] - serial.loss[s]) / serial.loss[s]);
        error = fmax(error, fabs(r->norm[s] - serial.norm[s]) / serial.norm[s]);
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
static double whole_count(void)
{
    const tri_tensors *all = tri_trainer_tensors(reference);
    double n = 0;
    int k;

    for (k = 0; k < all->n; k++) {
        n += (double)all->at[k].count;
    }
    return n;
}

/* Run one layout on `comm` and judge it.  The same number of failures on all
 * its ranks. */
static int judge(MPI_Comm comm, tri_layout l, result *r, double *worst)
{
    tri_trainer *t = NULL;
    tri_status st = train(comm, l, r, &t);
    double error = st == TRI_OK ? 0 : INFINITY, owned = 0, top, sum;
    int rank, bad;

    if (st == TRI_OK) {
        error = rank_error(t, r, &owned);
    }
    MPI_Allreduce(&error, &top, 1, MPI_DOUBLE, MPI_MAX, comm);
    MPI_Allreduce(&owned, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    tri_trainer_destroy(t);
    bad = !(top <= bound) || sum != whole_count();
    MPI_Comm_rank(comm, &rank);
    if (bad && rank == 0) {
        print_error("dp %d tp %d pp %d micro_batch %d schedule %d: error "
                    "%.3g, %s; owned %g of %g\n",
                    l.dp, l.tp, l.pp, l.micro_batch, l.schedule, top,
                    st == TRI_OK ? "ok" : tri_error_last()->sentence, sum,
                    whole_count());
    }
    *worst = fmax(*worst, top);
    return bad;
}

/* Both schedules of a layout. */
static int judge_both(MPI_Comm comm, tri_layout l, double *worst)
{
    result gpipe = {0}, alternate = {0};
    int bad = 0, same, all_same = 0, rank;

    MPI_Comm_rank(comm, &rank);
    l.schedule = 0;
    bad += judge(comm, l, &gpipe, worst);
    l.schedule = 1;
    bad += judge(comm, l, &alternate, worst);
    same = !bad && same_bits(&gpipe, &alternate);
    MPI_Allreduce(&same, &all_same, 1, MPI_INT, MPI_MIN, comm);
    if (!bad && !all_same) {
        bad++;
        if (rank == 0) {
            print_error("dp %d tp %d pp %d micro_batch %d: gpipe and 1f1b "
                        "differ\n",
                        l.dp, l.tp, l.pp, l.micro_batch);
        }
    }
    result_fini(&gpipe);
    result_fini(&alternate);
    return bad;
}

/* All valid layouts of `ranks` ranks, with either schedule. */
static int list_layouts(int ranks, tri_layout *out)
{
    int dp, tp, pp, mb, n = 0;

    for (dp = 1; dp <= ranks; dp++) {
        for (tp = 1; tp <= ranks; tp++) {
            for (pp = 1; pp <= ranks; pp++) {
                for (mb = 1; mb <= BATCH; mb++) {
                    tri_layout l = layout_of(dp, tp, pp, mb, 1);

                    if (tri_shard_check(&model, &l, ranks) == TRI_OK) {
                        assert_true(n < MAX_LAYOUT);
                        out[n++] = l;
                    }
                }
            }
        }
    }
    return n;
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

/* One layout in `stride` of those for `ranks` ranks. */
static int run_ranks(int ranks, int stride)
{
    tri_layout layouts[MAX_LAYOUT];
    int n = list_layouts(ranks, layouts), rank, size, i, bad = 0, all_bad = 0;
    double worst = 0, top = 0;
    MPI_Comm comm;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank / ranks, rank, &comm);
    if (rank / ranks < size / ranks) {
        for (i = rank / ranks * stride; i < n; i += size / ranks * stride) {
            bad += judge_both(comm, layouts[i], &worst);
        }
    }
    MPI_Comm_free(&comm);
    wait_for_all();
    MPI_Allreduce(&bad, &all_bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&worst, &top, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) {
        print_message("%d ranks: %d layouts, largest error %.2g\n", ranks,
                      2 * ((n + stride - 1) / stride), top);
    }
    assert_true(n >= 3);
    return all_bad;
}

static void every_layout_is_serial(void **state)
{
    static const int ranks[] = {1, 2, 3, 4, 6, 8};
    int stride = sizeof(tri_real) == 8 ? 1 : 8;
    size_t i;
    int bad = 0;

    (void)state;
    for (i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        bad += run_ranks(ranks[i], stride);
    }
    assert_int_equal(bad, 0);
}

static void untied_uneven(void **state)
{
    int bad, rank;
    double worst = 0;

    (void)state;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bad = judge_both(MPI_COMM_WORLD, layout_of(1, 2, 4, 3, 1), &worst);
    assert_int_equal(bad, 0);
}

/* The serial run that all are held against. */
static int make_reference(void **state)
{
    tri_status st;

    (void)state;
    st = train(MPI_COMM_SELF, layout_of(1, 1, 1, BATCH, 1), &serial,
               &reference);
    return st == TRI_OK && serial.loss[0] > serial.loss[2] ? 0 : -1;
}

static int drop_reference(void **state)
{
    (void)state;
    tri_trainer_destroy(reference);
    result_fini(&serial);
    return 0;
}

static int make_untied(void **state)
{
    model.u.gpt.tied = 0;
    return make_reference(state);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tied[] = {cmocka_unit_test(every_layout_is_serial)};
    const struct CMUnitTest untied[] = {cmocka_unit_test(untied_uneven)};
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
    failed = cmocka_run_group_tests(tied, make_reference, drop_reference);
    failed += cmocka_run_group_tests(untied, make_untied, drop_reference);
    MPI_Finalize();
    return failed != 0;
}
