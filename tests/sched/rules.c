/*
 * What the scripts do not reach: the ladder, settings that make none, the time
 * bounds of the paper in exact numbers, parking, closing, brackets, none, and
 * the decisions against a plain quadratic reference.
 */
#include "trireme/rng.h"
#include "trireme/sched.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tri_sched *make(tri_sched_kind kind, int64_t min, int64_t max, int eta)
{
    tri_sched_settings s = {
            .kind = kind, .min = min, .max = max, .eta = eta, .brackets = 1};
    tri_sched *out = NULL;

    assert_int_equal(tri_sched_create(&s, &out), TRI_OK);
    return out;
}

/* Take the next job and give it `score`; returns its rung. */
static int run(tri_sched *s, int64_t *next, double score)
{
    tri_job job;
    int64_t trial;

    tri_sched_peek(s, 1, &job);
    trial = job.kind == TRI_JOB_NEW ? (*next)++ : job.trial;
    assert_int_equal(tri_sched_take(s, &job, trial), TRI_OK);
    assert_int_equal(tri_sched_result(s, trial, job.rung, TRI_RESULT_OK, score),
                     TRI_OK);
    return job.rung;
}

static void ladders(void **state)
{
    tri_sched *s = make(TRI_SCHED_ASHA, 1, 243, 3);

    (void)state;
    assert_int_equal(tri_sched_n_rungs(s), 6); /* where logarithms give 5 */
    assert_int_equal(tri_sched_resource(s, 5), 243);
    assert_int_equal(tri_sched_resource(s, -1), 0);
    tri_sched_destroy(s);
    s = make(TRI_SCHED_ASHA, 3, 0, 2);
    assert_int_equal(tri_sched_n_rungs(s), 0);
    assert_int_equal(tri_sched_resource(s, 10), 3072);
    assert_int_equal(tri_sched_resource(s, 60), (int64_t)3 << 60);
    assert_int_equal(tri_sched_resource(s, 61), 0);
    tri_sched_destroy(s);
    s = make(TRI_SCHED_ASHA, (int64_t)1 << 61, ((int64_t)1 << 62) - 1, 1000);
    assert_int_equal(tri_sched_n_rungs(s), 2);
    tri_sched_destroy(s);
}

static void refusals(void **state)
{
    const tri_sched_settings bad[] = {
            {.kind = TRI_SCHED_ASHA, .min = 0, .max = 9, .eta = 3, 0, 1},
            {.kind = TRI_SCHED_ASHA, .min = 4, .max = 3, .eta = 3, 0, 1},
            {.kind = TRI_SCHED_ASHA, .min = 1, .max = 9, .eta = 1, 0, 1},
            {.kind = TRI_SCHED_ASHA, .min = 1, .max = 9, .eta = 3, 3, 1},
            {.kind = TRI_SCHED_ASHA, .min = 1, .max = 9, .eta = 3, 1, 3},
            {.kind = TRI_SCHED_ASHA, .min = 1, .max = 9, .eta = 3, -1, 1},
            {.kind = TRI_SCHED_ASHA, .min = 1, .max = 9, .eta = 3, 0, 0},
            {.kind = TRI_SCHED_ASHA, .min = 1, .max = 9, .eta = 3, 0, 1, 9},
            {.kind = TRI_SCHED_ASHA_STOP, .min = 1, .eta = 3, 0, 1},
            {.kind = TRI_SCHED_SHA, .min = 1, .max = 9, .eta = 3, 0, 0, 8},
            {.kind = TRI_SCHED_SHA, .min = 1, .max = 9, .eta = 3, 3, 0},
            {.kind = TRI_SCHED_SHA, .min = 1, .eta = 3, 0, 0},
            {.kind = TRI_SCHED_HYPERBAND, .min = 1, .eta = 3, 0, 0},
            {.kind = TRI_SCHED_HYPERBAND, .min = 1, .max = 9, .eta = 3, 1, 0},
            {.kind = TRI_SCHED_ASYNC_HYPERBAND, .min = 1, .eta = 3, 0, 1},
            {.kind = TRI_SCHED_ASYNC_HYPERBAND,
             .min = 1,
             .max = 9,
             .eta = 3,
             0,
             2},
            {.kind = TRI_SCHED_PASHA, .min = 1, .max = 9, .eta = 3, 0, 2},
            {.kind = TRI_SCHED_NONE, .min = 1, .max = 9, .eta = 3, 1, 1}};
    tri_sched *s = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(tri_sched_create(&bad[i], &s), TRI_EINVAL);
        assert_null(s);
    }
    tri_sched_destroy(NULL);
}

typedef struct worker {
    int64_t busy_until, trial, resource;
    int rung;
} worker;

/* When the first configuration of `n` has run for the whole of `max`, all
 * workers starting at once, a run lasting as long as its resource, or as long
 * as what is added to it where runs go on from checkpoints. */
static int64_t first_at_top(int n, int eta, int64_t max, int go_on)
{
    tri_sched *s = make(TRI_SCHED_ASHA, 1, max, eta);
    worker *w = calloc((size_t)n, sizeof *w);
    int64_t created = 0, now = 0;

    for (;; now++) {
        for (int i = 0; i < n; i++) {
            if (!w[i].resource || w[i].busy_until != now) {
                continue;
            }
            if (w[i].resource == max) {
                goto done;
            }
            assert_int_equal(tri_sched_result(s, w[i].trial, w[i].rung,
                                              TRI_RESULT_OK,
                                              (double)w[i].trial),
                             TRI_OK);
            w[i].resource = 0;
        }
        for (int i = 0; i < n; i++) {
            tri_job job;
            int64_t before;

            if (w[i].resource) {
                continue;
            }
            tri_sched_peek(s, created < n, &job);
            if (job.kind == TRI_JOB_NONE) {
                continue;
            }
            w[i].trial = job.kind == TRI_JOB_NEW ? created++ : job.trial;
            assert_int_equal(tri_sched_take(s, &job, w[i].trial), TRI_OK);
            before = go_on ? tri_sched_resource(s, job.rung - 1) : 0;
            w[i].rung = job.rung;
            w[i].resource = job.resource;
            w[i].busy_until = now + job.resource - before;
        }
    }
done:
    free(w);
    tri_sched_destroy(s);
    return now;
}

static void time_bounds_of_the_paper(void **state)
{
    (void)state;
    assert_int_equal(first_at_top(9, 3, 9, 0), 13);
    assert_int_equal(first_at_top(9, 3, 9, 1), 9);
    assert_int_equal(first_at_top(256, 4, 256, 0), 341);
    assert_int_equal(first_at_top(256, 4, 256, 1), 256);
}

static void parked_are_passed_over(void **state)
{
    tri_sched *s = make(TRI_SCHED_ASHA, 1, 9, 3);
    int64_t next = 0;
    tri_job job;

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(run(s, &next, i), 0);
    }
    tri_sched_park(s, 0, 1);
    tri_sched_peek(s, 0, &job);
    assert_int_equal(job.kind, TRI_JOB_NONE);
    assert_true(tri_sched_is_closed(s));
    for (int i = 3; i < 6; i++) {
        assert_int_equal(run(s, &next, i), 0);
    }
    /* two of six: the parked best keeps its place, the second goes */
    tri_sched_peek(s, 0, &job);
    assert_int_equal(job.trial, 1);
    tri_sched_park(s, 0, 0);
    tri_sched_peek(s, 0, &job);
    assert_int_equal(job.trial, 0);
    assert_int_equal(tri_sched_take(s, &job, 0), TRI_OK);
    assert_false(tri_sched_is_closed(s));
    tri_sched_park(s, 0, 1); /* while it runs */
    tri_sched_park(s, 1, 1);
    assert_true(tri_sched_is_closed(s));
    tri_sched_park(s, 77, 1); /* unknown: nothing */
    tri_sched_destroy(s);
}

static void closes_when_nothing_can_be_promoted(void **state)
{
    tri_sched *s = make(TRI_SCHED_ASHA, 1, 0, 2);
    tri_job job;
    tri_rung_view v[8];
    int64_t next = 0;
    int n;

    (void)state;
    for (int i = 0; i < 16; i++) {
        tri_sched_peek(s, 1, &job);
        if (job.kind == TRI_JOB_PROMOTE) {
            i--;
        }
        run(s, &next, (double)(next * 7 % 16));
    }
    for (;;) {
        tri_sched_peek(s, 0, &job);
        if (job.kind == TRI_JOB_NONE) {
            break;
        }
        assert_false(tri_sched_is_closed(s));
        assert_int_equal(tri_sched_take(s, &job, job.trial), TRI_OK);
        assert_int_equal(tri_sched_result(s, job.trial, job.rung, TRI_RESULT_OK,
                                          (double)job.trial),
                         TRI_OK);
    }
    assert_true(tri_sched_is_closed(s));
    /* 16, 8, 4, 2, 1 and some wrong ones: rungs open as they are used */
    n = tri_sched_rungs(s, v, 8);
    assert_in_range(n, 5, 7);
    for (int k = 0; k < n; k++) {
        assert_true(v[k].promoted >= v[k].results / 2);
    }
    tri_sched_destroy(s);
}

static void none_runs_each_once(void **state)
{
    tri_sched *s = make(TRI_SCHED_NONE, 1, 27, 3);
    int64_t next = 0;
    tri_job job;

    (void)state;
    tri_sched_peek(s, 1, &job);
    assert_int_equal(job.resource, 27);
    assert_int_equal(job.rung, 3);
    for (int i = 0; i < 30; i++) {
        assert_int_equal(run(s, &next, i), 3);
    }
    assert_int_equal(next, 30);
    assert_true(tri_sched_is_closed(s));
    tri_sched_destroy(s);
}

static void brackets_share_the_resource(void **state)
{
    tri_sched_settings set = {.kind = TRI_SCHED_ASHA,
                              .min = 1,
                              .max = 27,
                              .eta = 3,
                              .brackets = 3};
    tri_sched *s = NULL;
    int64_t next = 0, spent[3] = {0, 0, 0};
    tri_job job;

    (void)state;
    assert_int_equal(tri_sched_create(&set, &s), TRI_OK);
    for (int i = 0; i < 3000; i++) {
        tri_sched_peek(s, 1, &job);
        assert_true(job.rung >= job.bracket);
        spent[job.bracket] += job.resource;
        run(s, &next, (double)(i * 7919 % 1000));
    }
    for (int b = 1; b < 3; b++) {
        assert_true(labs(spent[b] - spent[0]) <= 5 * 27);
    }
    tri_sched_destroy(s);
}

#define TRIALS 400
#define RUNGS  4

/* A rung kept as the definition says it, searched from end to end. */
typedef struct plain {
    double score[RUNGS][TRIALS];
    uint8_t done[RUNGS][TRIALS], counted[RUNGS][TRIALS], gone[RUNGS][TRIALS];
    uint8_t parked[TRIALS];
    int64_t created;
} plain;

static int better(const plain *p, int k, int64_t a, int64_t b)
{
    if (p->counted[k][a] != p->counted[k][b]) {
        return p->counted[k][b];
    }
    if (!p->counted[k][a] && p->score[k][a] != p->score[k][b]) {
        return p->score[k][a] < p->score[k][b];
    }
    return a < b;
}

static int64_t plain_best(const plain *p, int k)
{
    int64_t n = 0, best = -1;

    for (int64_t t = 0; t < p->created; t++) {
        n += p->done[k][t];
    }
    for (int64_t t = 0; t < p->created; t++) {
        int64_t place = 0;

        if (!p->done[k][t] || p->counted[k][t] || p->gone[k][t] ||
            p->parked[t]) {
            continue;
        }
        for (int64_t u = 0; u < p->created; u++) {
            place += p->done[k][u] && better(p, k, u, t);
        }
        if (place < n / 3 && (best < 0 || better(p, k, t, best))) {
            best = t;
        }
    }
    return best;
}

static void plain_next(const plain *p, tri_job *out)
{
    for (int k = RUNGS - 2; k >= 0; k--) {
        int64_t t = plain_best(p, k);

        if (t >= 0) {
            out->kind = TRI_JOB_PROMOTE;
            out->trial = t;
            out->rung = k + 1;
            return;
        }
    }
    out->kind = p->created < TRIALS ? TRI_JOB_NEW : TRI_JOB_NONE;
    out->rung = 0;
}

static void end_run(tri_sched *s, plain *p, tri_rng *rng, int64_t trial, int k)
{
    uint64_t what = tri_rng_below(rng, 10);

    if (what == 0) {
        assert_int_equal(tri_sched_drop(s, trial, k), TRI_OK);
        return;
    }
    p->done[k][trial] = 1;
    p->counted[k][trial] = what < 3;
    p->score[k][trial] = (double)tri_rng_below(rng, 50);
    assert_int_equal(
            tri_sched_result(s, trial, k,
                             what < 3 ? TRI_RESULT_COUNTED : TRI_RESULT_OK,
                             p->score[k][trial]),
            TRI_OK);
}

static void against_reference(uint64_t seed)
{
    tri_sched *s = make(TRI_SCHED_ASHA, 1, 27, 3);
    plain *p = calloc(1, sizeof *p);
    tri_rng rng = tri_rng_stream(seed, 0, TRI_RNG_TEST);
    int64_t trial[8];
    int rung[8];
    int busy = 0;

    for (int i = 0; i < 1500; i++) {
        tri_job job, want = {.kind = TRI_JOB_NONE};
        int at;

        if (tri_rng_below(&rng, 20) == 0 && p->created) {
            int64_t t = (int64_t)tri_rng_below(&rng, (uint64_t)p->created);

            p->parked[t] = !p->parked[t];
            tri_sched_park(s, t, p->parked[t]);
        }
        if (busy < 8) {
            tri_sched_peek(s, p->created < TRIALS, &job);
            plain_next(p, &want);
            assert_int_equal(job.kind, want.kind);
            if (job.kind == TRI_JOB_NONE && !busy) {
                break;
            }
            if (job.kind != TRI_JOB_NONE) {
                trial[busy] =
                        job.kind == TRI_JOB_NEW ? p->created++ : job.trial;
                assert_int_equal(job.rung, want.rung);
                if (job.kind == TRI_JOB_PROMOTE) {
                    assert_int_equal(job.trial, want.trial);
                    p->gone[job.rung - 1][job.trial] = 1;
                }
                rung[busy] = job.rung;
                assert_int_equal(tri_sched_take(s, &job, trial[busy]), TRI_OK);
                busy++;
                continue;
            }
        }
        at = (int)tri_rng_below(&rng, (uint64_t)busy);
        end_run(s, p, &rng, trial[at], rung[at]);
        busy--;
        trial[at] = trial[busy];
        rung[at] = rung[busy];
    }
    free(p);
    tri_sched_destroy(s);
}

static void decisions_are_those_of_the_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        print_message("seed %u\n", (unsigned)seed);
        against_reference(seed);
    }
}

static void views(void **state)
{
    tri_sched *s = make(TRI_SCHED_ASHA, 1, 9, 3);
    tri_rung_view v[4];
    int64_t next = 0, order[4];

    (void)state;
    assert_int_equal(tri_sched_rungs(s, v, 4), 0);
    for (int i = 0; i < 4; i++) {
        run(s, &next, i == 1 ? 0.5 : 1 + i);
    }
    /* of three results the best went on before the fourth was made */
    assert_int_equal(tri_sched_rungs(s, v, 4), 2);
    assert_int_equal(v[0].results, 3);
    assert_int_equal(v[0].promoted, 1);
    assert_true(v[0].cut == 0.5);
    assert_int_equal(v[1].results, 1);
    assert_true(isnan(v[1].cut));
    assert_int_equal(tri_sched_ranking(s, 0, 0, order, 4), 3);
    assert_int_equal(order[0], 1);
    assert_int_equal(order[2], 2);
    assert_int_equal(tri_sched_ranking(s, 1, 0, order, 4), 0);
    assert_true(tri_sched_was_promoted(s, 1, 0));
    assert_false(tri_sched_was_promoted(s, 0, 0));
    tri_sched_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(ladders),
            cmocka_unit_test(refusals),
            cmocka_unit_test(time_bounds_of_the_paper),
            cmocka_unit_test(parked_are_passed_over),
            cmocka_unit_test(closes_when_nothing_can_be_promoted),
            cmocka_unit_test(none_runs_each_once),
            cmocka_unit_test(brackets_share_the_resource),
            cmocka_unit_test(decisions_are_those_of_the_definition),
            cmocka_unit_test(views)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
