/*
 * What early stopping is for: asha finds as good a configuration as running
 * all of them in full, with under half the rank-seconds.
 */
#include "tests/sim/fixture.h"

#include <stdio.h>

static void run(const char *scheduler, int seed, tri_sim_result *out)
{
    tri_sim_settings set;
    char yaml[1024];

    snprintf(yaml, sizeof yaml,
             "study: compared\n"
             "seed: %d\n"
             "model: {kind: synthetic}\n"
             "space:\n"
             "  a: {int: [1, 64], log2: true}\n"
             "  b: {int: [0, 20]}\n"
             "  c: {choice: [red, green, blue]}\n"
             "  d: {int: [0, 20]}\n"
             "ranks: 1\n"
             "objective: {minimize: loss}\n"
             "search: random\n"
             "scheduler: %s\n"
             "resource: {unit: steps, min: 1, max: 64, eta: 4}\n"
             "budget: {trials: 128}\n"
             "finals: none\n",
             seed, scheduler);
    tri_sim_defaults(&set);
    set.workers = 8;
    simulate_text(yaml, &set, out);
}

static void half_the_rank_seconds(void **state)
{
    int as_good = 0;

    (void)state;
    for (int seed = 1; seed <= 5; seed++) {
        tri_sim_result asha, none;

        run("asha", seed, &asha);
        run("none", seed, &none);
        print_message("seed %d: asha %.4f in %.0f, none %.4f in %.0f\n", seed,
                      asha.best, asha.rank_seconds, none.best,
                      none.rank_seconds);
        assert_int_equal(asha.distinct, none.distinct);
        assert_true(none.rank_seconds == 128 * 64);
        assert_true(asha.rank_seconds < none.rank_seconds / 2);
        /* the same configurations: none cannot be worse */
        assert_true(asha.best >= none.best);
        as_good += asha.best == none.best;
        tri_sim_result_fini(&asha);
        tri_sim_result_fini(&none);
    }
    assert_true(as_good >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(half_the_rank_seconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
