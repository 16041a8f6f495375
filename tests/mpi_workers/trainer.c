/*
 * A trainer on four ranks: all leave a step together with one status and one
 * sentence, nothing is left behind, memory is what was predicted.
 */
#include "mpi_workers/trainer.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int rank, size;
static unsigned char text[2000];
static const tri_model_spec gpt = {.kind = TRI_MODEL_GPT,
                                   .u.gpt = {.layers = 3,
                                             .hidden = 32,
                                             .heads = 4,
                                             .sequence = 16,
                                             .vocab = 64,
                                             .ffn = 64,
                                             .tied = 1}};
static const tri_model_spec mlp = {
        .kind = TRI_MODEL_MLP,
        .u.mlp = {.inputs = 6, .hidden = 24, .layers = 2, .outputs = 2}};

static tri_trainer_setup setup_of(int dp, int tp, int pp, int mb, int schedule)
{
    return (tri_trainer_setup){.model = &gpt,
                               .layout = {.dp = dp,
                                          .tp = tp,
                                          .pp = pp,
                                          .virtual_stages = 1,
                                          .micro_batch = mb,
                                          .global_batch = 16,
                                          .schedule = schedule,
                                          .threads = 1},
                               .seed = 3,
                               .optimizer = {.lr = 3e-3,
                                             .beta1 = 0.9,
                                             .beta2 = 0.95,
                                             .eps = 1e-8,
                                             .weight_decay = 0.01},
                               .clip = 1,
                               .text = text,
                               .text_bytes = sizeof text};
}

static tri_trainer *open_trainer(const tri_trainer_setup *s)
{
    tri_trainer *t = NULL;

    assert_int_equal(tri_trainer_create(s, MPI_COMM_WORLD, &t), TRI_OK);
    return t;
}

static void nothing_left(void)
{
    assert_int_equal(tri_trainers_alive(), 0);
    assert_int_equal(tri_models_alive(), 0);
    assert_int_equal(tri_mesh_alive(), 0);
}

/* The same number on every rank. */
static void same_everywhere(double x)
{
    double low = 0, high = 0;

    MPI_Allreduce(&x, &low, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&x, &high, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    assert_true(low == high);
}

static void steps_and_learns(void **state)
{
    tri_trainer_setup s = setup_of(2, 1, 2, 2, 1);
    tri_trainer *t = open_trainer(&s);
    double first = 0;
    tri_step step;
    int i;

    (void)state;
    for (i = 0; i < 30; i++) {
        assert_int_equal(tri_trainer_step(t, rank ? -1 : 100 + i, &step),
                         TRI_OK);
        assert_int_equal(step.completed, 1);
        assert_int_equal(step.word, 100 + i);
        assert_int_equal(step.step, i + 1);
        assert_int_equal(step.samples, 16);
        assert_int_equal(step.tokens, 256);
        assert_true(step.rss_bytes > 0 && step.step_s > 0);
        same_everywhere(step.loss);
        same_everywhere((double)step.bytes);
        first = i ? first : step.loss;
    }
    assert_true(fabs(first - log(64)) < 0.3);
    assert_true(step.loss < 0.9 * first);
    tri_trainer_destroy(t);
    nothing_left();
}

static void mlp_learns(void **state)
{
    tri_trainer_setup s = setup_of(4, 1, 1, 2, 1);
    double first = 0;
    tri_trainer *t;
    tri_step step;
    int i;

    (void)state;
    s.model = &mlp;
    t = open_trainer(&s);
    for (i = 0; i < 60; i++) {
        assert_int_equal(tri_trainer_step(t, 0, &step), TRI_OK);
        assert_int_equal(step.tokens, 0);
        same_everywhere(step.loss);
        first = i ? first : step.loss;
    }
    assert_true(step.loss < 0.5 * first);
    tri_trainer_destroy(t);
    nothing_left();
}

/* A gain, which every sample meets. */
static tri_real *some_gain(tri_trainer *t)
{
    const tri_tensors *table = tri_trainer_tensors(t);
    int k;

    for (k = 0; !strstr(table->at[k].name, "norm1.g"); k++) {
    }
    return tri_trainer_params(t) + table->at[k].offset;
}

/* One rank's not-a-number ends the step on all, before any update. */
static void nan_is_everyones(void **state)
{
    tri_trainer_setup s = setup_of(1, 2, 2, 4, 1);
    int bad;

    (void)state;
    for (bad = 0; bad < size; bad++) {
        tri_trainer *t = open_trainer(&s);
        tri_step step;
        tri_real keep;

        assert_int_equal(tri_trainer_step(t, 0, &step), TRI_OK);
        if (rank == bad) {
            some_gain(t)[3] = (tri_real)NAN;
        }
        keep = some_gain(t)[20];
        assert_int_equal(tri_trainer_step(t, 0, &step), TRI_ENAN);
        assert_non_null(strstr(tri_error_last()->sentence, "step 2"));
        assert_true(some_gain(t)[20] == keep);
        tri_trainer_destroy(t);
    }
    nothing_left();
    steps_and_learns(state); /* the group is usable at once */
}

static void divergence_is_found(void **state)
{
    tri_trainer_setup s = setup_of(2, 1, 2, 4, 1);
    tri_status st = TRI_OK;
    tri_trainer *t;
    tri_step step;
    int i;

    (void)state;
    s.optimizer.lr = 300;
    t = open_trainer(&s);
    for (i = 0; i < 50 && st == TRI_OK; i++) {
        st = tri_trainer_step(t, 0, &step);
    }
    assert_int_equal(st, TRI_EDIVERGED);
    same_everywhere(i);
    tri_trainer_destroy(t);
    nothing_left();
}

static void complaint_is_everyones(void **state)
{
    tri_trainer_setup s = setup_of(2, 2, 1, 4, 0);
    tri_trainer *t = open_trainer(&s);
    tri_step step;

    (void)state;
    assert_int_equal(tri_trainer_step(t, 0, &step), TRI_OK);
    if (rank == 2) {
        tri_trainer_complain(t, TRI_FAIL(TRI_EDATA, "the text ended on two"));
    }
    assert_int_equal(tri_trainer_step(t, 0, &step), TRI_EDATA);
    assert_string_equal(tri_error_last()->sentence, "the text ended on two");
    tri_trainer_destroy(t);
    nothing_left();
}

/* By kind, too: which is all that there is. */
static void by_kind(const tri_trainer_setup *s, const tri_trainer *t)
{
    tri_memory predicted = {0}, actual = {0};
    uint64_t sum = 0;
    int i;

    assert_int_equal(tri_trainer_predict_kinds(s, rank, &predicted), TRI_OK);
    tri_trainer_kinds(t, &actual);
    assert_int_equal(predicted.n, actual.n);
    for (i = 0; i < actual.n; i++) {
        assert_string_equal(predicted.kinds[i].what, actual.kinds[i].what);
        assert_true(predicted.kinds[i].bytes == actual.kinds[i].bytes);
        sum += actual.kinds[i].bytes;
    }
    assert_true(sum == tri_trainer_high_water(t));
}

/* With parts of the data axis, made again, and started early. */
static void memory_of_parts_is_predicted(void **state)
{
    int zero, overlap;

    (void)state;
    for (zero = 0; zero <= 3; zero++) {
        for (overlap = 0; overlap <= 2; overlap++) {
            tri_trainer_setup s = setup_of(2, 2, 1, 2, 1);
            tri_trainer *t;
            tri_step step;

            if (overlap && (zero == 2 || (zero == 3 && overlap == 2))) {
                continue;
            }
            s.layout.zero = zero;
            s.layout.overlap = overlap;
            s.layout.recompute = zero % 3;
            s.layout.sequence_parallel = zero & 1;
            s.layout.bucket_bytes = 4096;
            t = open_trainer(&s);
            assert_int_equal(tri_trainer_step(t, 0, &step), TRI_OK);
            by_kind(&s, t);
            tri_trainer_destroy(t);
        }
    }
    nothing_left();
}

/* Predicted without a group, used with one: equal, on every rank. */
static void memory_is_predicted(void **state)
{
    static const int axes[][3] = {
            {4, 1, 1}, {1, 4, 1}, {2, 2, 1}, {2, 1, 2}, {1, 2, 2}};
    size_t i;
    int mb, schedule;

    (void)state;
    for (i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        for (mb = 1; mb <= 4; mb *= 2) {
            for (schedule = 0; schedule < 2; schedule++) {
                tri_trainer_setup s = setup_of(axes[i][0], axes[i][1],
                                               axes[i][2], mb, schedule);
                uint64_t bytes = 0;
                tri_trainer *t;
                tri_step step;

                assert_int_equal(tri_trainer_predict(&s, rank, &bytes), TRI_OK);
                t = open_trainer(&s);
                assert_int_equal(tri_trainer_step(t, 0, &step), TRI_OK);
                assert_true(bytes == tri_trainer_high_water(t));
                assert_true(step.bytes >= bytes);
                by_kind(&s, t);
                tri_trainer_destroy(t);
            }
        }
    }
    nothing_left();
}

/* Ranks differ in need: the first one over the quota refuses for all. */
static void quota_is_everyones(void **state)
{
    tri_trainer_setup s = setup_of(2, 1, 2, 1, 1);
    uint64_t need[2] = {0, 0}, most;
    tri_trainer *t = NULL;
    tri_step step;

    (void)state;
    assert_int_equal(tri_trainer_predict(&s, 0, &need[0]), TRI_OK);
    assert_int_equal(tri_trainer_predict(&s, 2, &need[1]), TRI_OK);
    assert_true(need[0] != need[1]);
    most = need[0] > need[1] ? need[0] : need[1];
    s.quota_bytes = most - 1;
    assert_int_equal(tri_trainer_create(&s, MPI_COMM_WORLD, &t), TRI_EOOM);
    assert_non_null(strstr(tri_error_last()->sentence, "quota"));
    assert_null(t);
    nothing_left();
    s.quota_bytes = most;
    t = open_trainer(&s);
    assert_int_equal(tri_trainer_step(t, 0, &step), TRI_OK);
    assert_true(step.bytes == most);
    tri_trainer_destroy(t);
    nothing_left();
}

static void refusals(void **state)
{
    tri_trainer_setup s = setup_of(2, 1, 1, 1, 1);
    tri_trainer *t = NULL;

    (void)state;
    assert_int_equal(tri_trainer_create(&s, MPI_COMM_WORLD, &t),
                     TRI_EINFEASIBLE);
    assert_non_null(strstr(tri_error_last()->sentence, "4 ranks"));
    s = setup_of(4, 1, 1, 1, 1);
    s.text_bytes = 16;
    assert_int_equal(tri_trainer_create(&s, MPI_COMM_WORLD, &t), TRI_EDATA);
    assert_null(t);
    nothing_left();
}

static void two_hundred_leave_nothing(void **state)
{
    static const int axes[][3] = {{2, 1, 2}, {1, 2, 2}, {4, 1, 1}, {1, 4, 1}};
    int i;

    (void)state;
    for (i = 0; i < 200; i++) {
        const int *a = axes[i % 4];
        tri_trainer_setup s = setup_of(a[0], a[1], a[2], 2, i / 4 % 2);
        tri_trainer *t = open_trainer(&s);
        tri_step step;

        if (i % 10 == 0) {
            assert_int_equal(tri_trainer_step(t, 0, &step), TRI_OK);
        }
        tri_trainer_destroy(t);
        nothing_left();
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(steps_and_learns),
            cmocka_unit_test(mlp_learns),
            cmocka_unit_test(nan_is_everyones),
            cmocka_unit_test(divergence_is_found),
            cmocka_unit_test(complaint_is_everyones),
            cmocka_unit_test(memory_is_predicted),
            cmocka_unit_test(memory_of_parts_is_predicted),
            cmocka_unit_test(quota_is_everyones),
            cmocka_unit_test(refusals),
            cmocka_unit_test(two_hundred_leave_nothing),
    };
    size_t i;
    int failed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (i = 0; i < sizeof text; i++) {
        text[i] = (unsigned char)(i * i / 5 % 31 + i % 3);
    }
    if (rank > 0 && !freopen("/dev/null", "w", stdout)) {
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed != 0;
}
