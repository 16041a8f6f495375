/*
 * What asynchronous halving promises (Li et al., MLSys 2020, sections 3 and 4):
 * configurations grow with the ranks, the first one is at the top as soon on
 * many ranks as on few, and the share of configurations that are promoted by
 * mistake falls with about the inverse square root of their number.
 * bench_sim_scaling has the same up to 100,000 ranks and 262,144
 * configurations.
 */
#include "tests/sim/fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* `most`: configurations; eta 4, no noise. */
static void run(int workers, int max, int most, double straggle, double time_s,
                int seed, tri_sim_result *out)
{
    tri_sim_settings set;
    char yaml[1024];

    snprintf(yaml, sizeof yaml,
             "study: scaling\n"
             "seed: %d\n"
             "model: {kind: synthetic, curve: flat}\n"
             "space: {a: {float: [0, 1]}, b: {float: [0, 1]}}\n"
             "ranks: 1\n"
             "objective: {maximize: tokens_per_s}\n"
             "search: random\n"
             "resource: {unit: steps, min: 1, max: %d, eta: 4}\n"
             "budget: {trials: %d}\n"
             "finals: none\n",
             seed, max, most);
    tri_sim_defaults(&set);
    set.workers = workers;
    set.straggle = straggle;
    set.max_virtual_s = time_s;
    simulate_text(yaml, &set, out);
}

static void linear_and_the_first_as_soon(void **state)
{
    static const int sizes[] = {25, 100, 400, 1600};
    double least = INFINITY, most = 0, first = NAN;

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        tri_sim_result r;
        double each, when;

        run(sizes[i], 16, 1000000, 0.24, 128, 1, &r);
        each = (double)r.distinct / sizes[i];
        when = first_at(&r, 2, NULL) / 16;
        print_message("%d ranks: %.2f configurations a rank, first at the top "
                      "after %.2f R\n",
                      sizes[i], each, when);
        least = each < least ? each : least;
        most = each > most ? each : most;
        first = i ? first : when;
        assert_true(when <= first * 1.02);
        assert_true(r.rank_seconds > 0.99 * r.virtual_s * sizes[i]);
        tri_sim_result_fini(&r);
    }
    assert_true(most < 1.1 * least);
}

/* ---- promotions by mistake ----------------------------------------------- */

typedef struct standing {
    double objective;
    int64_t trial;
    int promoted;
} standing;

/* Higher is better; of equals the one that came first. */
static int by_objective(const void *x, const void *y)
{
    const standing *a = x, *b = y;

    if (a->objective < b->objective || a->objective > b->objective) {
        return a->objective < b->objective ? 1 : -1;
    }
    return (a->trial > b->trial) - (a->trial < b->trial);
}

/* Of n configurations, those that were promoted and are not among the best
 * quarter when all are known. */
static int mistakes(int n, int seed)
{
    standing *list = calloc((size_t)n, sizeof *list);
    tri_sim_result r;
    int count = 0;

    assert_non_null(list);
    run(1, 4, n, 0, INFINITY, seed, &r);
    for (int64_t i = 0; i < r.n_history; i++) {
        standing *s = &list[r.history[i].trial];

        s->trial = r.history[i].trial;
        s->objective = r.history[i].objective;
        s->promoted |= r.history[i].rung == 1;
    }
    tri_sim_result_fini(&r);
    qsort(list, (size_t)n, sizeof *list, by_objective);
    for (int i = n / 4; i < n; i++) {
        count += list[i].promoted;
    }
    free(list);
    return count;
}

static void mistakes_fall(void **state)
{
    static const int sizes[] = {256, 1024, 4096};
    const int n_sizes = sizeof sizes / sizeof sizes[0];
    double share[3], slope;

    (void)state;
    for (int i = 0; i < n_sizes; i++) {
        const int seeds = 30;
        int sum = 0;

        for (int seed = 1; seed <= seeds; seed++) {
            sum += mistakes(sizes[i], seed);
        }
        share[i] = (double)sum / seeds / sizes[i];
        print_message("%d configurations: %.2f %% promoted by mistake, x "
                      "sqrt(n) %.3f\n",
                      sizes[i], 100 * share[i], share[i] * sqrt(sizes[i]));
    }
    slope = log(share[n_sizes - 1] / share[0]) /
            log((double)sizes[n_sizes - 1] / sizes[0]);
    print_message("exponent %.3f\n", slope);
    assert_true(slope > -0.65 && slope < -0.35);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(linear_and_the_first_as_soon),
            cmocka_unit_test(mistakes_fall)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
