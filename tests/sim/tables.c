/*
 * Studies of recorded tables, simulated to the last row: the optimum is the
 * table's own, every configuration is measured once, and asha over recorded
 * curves finds a configuration close to the best for less than all of them
 * cost.  The tables stand in ../shared; without them the tests are skipped.
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
    const char *ranks, *direction, *metric;
    int min, max, eta, trials, workers;
} table_case;

static tri_study *study_of(const table_case *t, char *path, size_t bytes)
{
    char yaml[2048];

    snprintf(path, bytes, "%s/data/%s", shared_dir(), t->file);
    snprintf(yaml, sizeof yaml,
             "study: recorded\n"
             "seed: 1\n"
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
             "resource: {unit: steps, min: %d, max: %d, eta: %d}\n"
             "budget: {trials: %d}\n"
             "finals: none\n",
             path, t->parameters, t->objective, t->failed ? "  failed: " : "",
             t->failed ? t->failed : "", t->curve ? "  curve: " : "",
             t->curve ? t->curve : "", t->ranks, t->direction, t->metric,
             t->min, t->max, t->eta, t->trials);
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
        /* recorded curves may pass below their end on the way */
        assert_true(t->curve ? r->best <= optimum : r->best == optimum);
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
    set.max_virtual_s = 20; /* each event of it is looked at in full */
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
                    .min = 1,
                    .max = 1,
                    .eta = 4,
                    .trials = 5000,
                    .workers = 32};

    (void)state;
    simulate_case(&t);
}

static const table_case curves = {.file = "curves/taskset_irnn64.csv",
                                  .parameters = taskset,
                                  .objective = "step_50",
                                  .curve = "step_",
                                  .ranks = "1",
                                  .direction = "minimize",
                                  .metric = "loss",
                                  .min = 1,
                                  .max = 51,
                                  .eta = 3,
                                  .trials = 5000,
                                  .workers = 25};

static void recorded_curves(void **state)
{
    (void)state;
    simulate_case(&curves);
}

static void asha_pays_less_than_all(void **state)
{
    char path[512];
    tri_study *study = study_of(&curves, path, sizeof path);
    tri_sim_settings set;
    tri_sim_result r;
    int at_top;

    (void)state;
    tri_sim_defaults(&set);
    set.workers = 25;
    simulate(study, &set, &r, NULL);
    first_at(&r, 4, &at_top);
    print_message("%d of 1000 to the top, %.0f of %d rank-seconds\n", at_top,
                  r.rank_seconds, 51 * 1000);
    assert_true(at_top > 3 && at_top < 100);
    assert_true(r.rank_seconds < 0.2 * 51 * 1000);
    assert_true(r.best < 1.05 * r.optimum);
    tri_sim_result_fini(&r);
    tri_study_destroy(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(layouts_that_fail),
            cmocka_unit_test(a_complete_factorial),
            cmocka_unit_test(kernels),
            cmocka_unit_test(recorded_curves),
            cmocka_unit_test(asha_pays_less_than_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
