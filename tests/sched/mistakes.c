/*
 * Wrong promotions: with n results in the base rung asha has promoted about
 * sqrt(n) that the whole rung does not confirm (Li et al., MLSys 2020, section
 * 3.3), so that their share vanishes with 1 / sqrt(n); delayed asha promotes
 * fewer, and none beyond the share.
 */
#include "trireme/rng.h"
#include "trireme/sched.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>

#define ETA 4

typedef struct mistakes {
    int64_t promoted, wrong;
} mistakes;

static double score(int64_t trial)
{
    tri_rng rng = tri_rng_stream(11, (uint64_t)trial, TRI_RNG_TEST);

    return tri_rng_unit(&rng);
}

/* Search until `n` configurations were tried, one run after the other; the
 * ranking is the same at every rung. */
static mistakes search(tri_sched_kind kind, int64_t n)
{
    tri_sched_settings set = {
            .kind = kind, .min = 1, .max = 256, .eta = ETA, .brackets = 1};
    int64_t *order = calloc((size_t)n, sizeof *order);
    tri_sched *s = NULL;
    mistakes m = {0, 0};
    tri_job job;

    assert_non_null(order);
    assert_int_equal(tri_sched_create(&set, &s), TRI_OK);
    for (int64_t created = 0; created < n;) {
        int64_t trial;

        tri_sched_peek(s, 1, &job);
        trial = job.kind == TRI_JOB_NEW ? created++ : job.trial;
        assert_int_equal(tri_sched_take(s, &job, trial), TRI_OK);
        assert_int_equal(tri_sched_result(s, trial, job.rung, TRI_RESULT_OK,
                                          score(trial)),
                         TRI_OK);
    }
    assert_int_equal(tri_sched_ranking(s, 0, 0, order, n), n);
    for (int64_t i = 0; i < n; i++) {
        int went = tri_sched_was_promoted(s, order[i], 0);

        m.promoted += went;
        m.wrong += went && i >= n / ETA;
    }
    tri_sched_destroy(s);
    free(order);
    return m;
}

static void wrong_ones_grow_with_the_root(void **state)
{
    double share = 1;

    (void)state;
    for (int64_t n = 100; n <= 100000; n *= 10) {
        mistakes asha = search(TRI_SCHED_ASHA, n);
        mistakes delayed = search(TRI_SCHED_ASHA_DELAYED, n);
        double now = (double)asha.wrong / (double)asha.promoted;

        print_message("n %lld: asha %lld of %lld wrong, delayed %lld of %lld\n",
                      (long long)n, (long long)asha.wrong,
                      (long long)asha.promoted, (long long)delayed.wrong,
                      (long long)delayed.promoted);
        assert_true((double)asha.wrong <= 1.5 * sqrt((double)n));
        assert_true(now < share);
        assert_true(delayed.wrong <= asha.wrong);
        assert_true(delayed.promoted <= n / ETA);
        share = now;
    }
    assert_true(share < 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(wrong_ones_grow_with_the_root)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
