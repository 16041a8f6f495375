/*
 * Studies of recorded tables, simulated to the last row: the optimum is the
 * table's own and every configuration is measured once; over recorded curves
 * early stopping finds better ones for the same cost.  The tables stand in
 * ../shared; without them the tests are skipped.
 */
#include "tests/sim/fixture.h"
#include "tests/sim/invariants.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 16384

static char *column(char *line, int index)
{
    char *at = line;

    for (; index > 0 && at != NULL; index--) {
        at = strchr(at, ',');
        at = at != NULL ? at + 1 : NULL;
    }
    return at;
}

static int column_named(char *header, const char *name)
{
    int i = 0;
    size_t n = strlen(name);

    for (char *at = header; at != NULL; at = column(at, 1), i++) {
        if (strncmp(at, name, n) == 0 && strchr(",\r\n", at[n]) != NULL) {
            return i;
        }
    }
    return -1;
}

/* The best finite value of a column, read here by other means. */
static double best_of(const char *path, const char *name, int maximize)
{
    static char line[MAX_LINE];
    FILE *f = fopen(path, "r");
    double best = NAN;
    int index;

    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    index = column_named(line, name);
    assert_true(index >= 0);
    while (fgets(line, sizeof line, f) != NULL) {
        double v = strtod(column(line, index), NULL);

        if (!isnan(v) && (isnan(best) || (maximize ? v > best : v < best))) {
            best = v;
        }
    }
    fclose(f);
    return best;
}

typedef struct table_case {
    const char *file, *parameters, *objective, *failed, *curve;
    const char *ranks, *direction, *metric, *scheduler;
    int min, max, eta, trials, workers, seed;
} table_case;

static tri_study *study_of(const table_case *t, char *path, size_t bytes)
{
    char yaml[2048];

    snprintf(path, bytes, "%s/data/%s", shared_dir(), t->file);
    snprintf(yaml, sizeof yaml,
             "study: recorded\n"
             "seed: %d\n"
             "model:\n"
             "  kind: table\n"
             "  file: %s\n"
             "  parameters: [%s]\n"
             "  objective: %s\n"
             "%s%s\n%s%s\n"
             "space: table\n"
             "ranks: %s\n"
             "objective: {%s: %s}\n"
             "search: random\n"
             "scheduler: %s\n"
             "resource: {unit: steps, min: %d, max: %d, eta: %d}\n"
             "budget: {trials: %d}\n"
             "finals: none\n",
             t->seed, path, t->parameters, t->objective,
             t->failed ? "  failed: " : "", t->failed ? t->failed : "",
             t->curve ? "  curve: " : "", t->curve ? t->curve : "", t->ranks,
             t->direction, t->metric, t->scheduler, t->min, t->max, t->eta,
             t->trials);
    return read_study(yaml);
}

static void check_result(const table_case *t, const tri_study *study,
                         const char *path, const tri_sim_result *r)
{
    int up = strcmp(t->direction, "maximize") == 0;
    double optimum = best_of(path, t->objective, up);
    int64_t count = tri_space_count(study->space);

    assert_int_equal(r->end_status, 0);
    assert_true(r->optimum == optimum);
    assert_int_equal(r->distinct, t->trials < count ? t->trials : count);
    assert_int_equal(r->evaluations, r->n_history);
    if (t->trials >= count) {
        assert_true(r->best == optimum);
        for (int i = 0; i < 3; i++) {
            assert_in_range(r->evaluations_to[i], 1, count);
            assert_true(r->rank_seconds_to[i] <= r->rank_seconds);
        }
    }
    print_message("%s: %lld configurations, optimum %g, 5 %% after %lld\n",
                  t->file, (long long)count, optimum,
                  (long long)r->evaluations_to[2]);
}

static void simulate_case(const table_case *t)
{
    char path[512];
    tri_study *study = study_of(t, path, sizeof path);
    tri_ctl *ctl = NULL;
    tri_sim_settings set;
    tri_sim_result r;
    tracker seen;

    tri_sim_defaults(&set);
    set.workers = t->workers;
    tracker_init(&seen, study, set.workers);
    simulate(study, &set, &r, NULL);
    check_result(t, study, path, &r);
    tri_sim_result_fini(&r);
    set.each = check_invariants;
    set.ctx = &seen;
    set.max_virtual_s = 6; /* each event of it is looked at in full */
    simulate(study, &set, &r, &ctl);
    tri_sim_result_fini(&r);
    tracker_fini(&seen);
    tri_ctl_destroy(ctl);
    tri_study_destroy(study);
}

static const char nanotron[] = "gpus, dp, tp, pp, zero, mbs, grad_acc, gbs";
static const char vtrain[] =
        "layers, hidden, heads, seq, gpus, tp, pp, dp, mbs, gbs";
static const char pnpoly[] =
        "between_method, block_size_x, tile_size, use_method";
static const char taskset[] = "learning_rate, beta1, beta2, epsilon, l1, l2, "
                              "linear_decay, exponential_decay";

static void layouts_that_fail(void **state)
{
    table_case t = {.file = "throughput/nanotron_3b.csv",
                    .parameters = nanotron,
                    .objective = "tokens_per_s_per_gpu",
                    .failed = "failed",
                    .ranks = "gpus",
                    .direction = "maximize",
                    .metric = "tokens_per_s_per_gpu",
                    .scheduler = "asha",
                    .min = 1,
                    .max = 1,
                    .eta = 4,
                    .trials = 5000,
                    .workers = 512};

    (void)state;
    simulate_case(&t);
}

static void a_complete_factorial(void **state)
{
    table_case t = {.file = "throughput/vtrain_a100.csv",
                    .parameters = vtrain,
                    .objective = "tokens_per_s",
                    .ranks = "gpus",
                    .direction = "maximize",
                    .metric = "tokens_per_s, compare: total",
                    .scheduler = "asha",
                    .min = 1,
                    .max = 1,
                    .eta = 4,
                    .trials = 5000,
                    .workers = 16};

    (void)state;
    simulate_case(&t);
}

static void kernels(void **state)
{
    table_case t = {.file = "kernels/kt_pnpoly_3090.csv",
                    .parameters = pnpoly,
                    .objective = "time_ms",
                    .ranks = "1",
                    .direction = "minimize",
                    .metric = "time_ms",
                    .scheduler = "asha",
                    .min = 1,
                    .max = 1,
                    .eta = 4,
                    .trials = 5000,
                    .workers = 32};

    (void)state;
    simulate_case(&t);
}

static table_case curves_case(const char *scheduler, int seed, int trials)
{
    return (table_case){.file = "curves/taskset_irnn64.csv",
                        .parameters = taskset,
                        .objective = "step_50",
                        .curve = "step_",
                        .ranks = "1",
                        .direction = "minimize",
                        .metric = "loss",
                        .scheduler = scheduler,
                        .min = 1,
                        .max = 51,
                        .eta = 3,
                        .trials = trials,
                        .workers = 25,
                        .seed = seed};
}

static void recorded_curves(void **state)
{
    table_case t = curves_case("none", 1, 5000);

    (void)state;
    simulate_case(&t);
}

static double run_curves(const table_case *t, double *rank_seconds)
{
    char path[512];
    tri_study *study = study_of(t, path, sizeof path);
    tri_sim_settings set;
    tri_sim_result r;
    double best;

    tri_sim_defaults(&set);
    set.workers = t->workers;
    simulate(study, &set, &r, NULL);
    best = r.best;
    *rank_seconds = r.rank_seconds;
    tri_sim_result_fini(&r);
    tri_study_destroy(study);
    return best;
}

/* For the same rank-seconds asha finds better ones than full trainings do, in
 * the mean over five seeds. */
static void early_stopping_pays(void **state)
{
    double asha = 0, none = 0;

    (void)state;
    for (int seed = 1; seed <= 5; seed++) {
        table_case t = curves_case("asha", seed, 300);
        double paid, paid_in_full;

        asha += run_curves(&t, &paid) / 5;
        t = curves_case("none", seed, (int)(paid / 51));
        none += run_curves(&t, &paid_in_full) / 5;
        assert_true(paid < 0.2 * 300 * 51);
        assert_true(paid_in_full <= paid);
    }
    print_message("mean best: asha %.4f, none %.4f\n", asha, none);
    assert_true(asha < none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(layouts_that_fail),
            cmocka_unit_test(a_complete_factorial),
            cmocka_unit_test(kernels),
            cmocka_unit_test(recorded_curves),
            cmocka_unit_test(early_stopping_pays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
