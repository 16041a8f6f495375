/*
 * Random stories of every scheduler: runs end in any order, with a score,
 * diverged or dropped for good; trials are parked and brought back at any
 * moment, also while they run; new configurations are allowed or not.  After
 * every event the rules hold that are the same for all, and those of each
 * kind's own; the story ends; told again it is the same.
 */
#include "trireme/rng.h"
#include "trireme/sched.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIALS     300
#define RUNGS      8
#define SLOTS      12
#define STEPS_MOST 100000

typedef struct what {
    tri_sched_settings set;
    int limit; /* of trials */
} what;

static const what kinds[] = {
        {{.kind = TRI_SCHED_ASHA, .min = 1, .max = 27, .eta = 3, 0, 1, 0}, 200},
        {{.kind = TRI_SCHED_ASHA, .min = 1, .max = 0, .eta = 3, 0, 1, 0}, 150},
        {{.kind = TRI_SCHED_ASHA, .min = 2, .max = 50, .eta = 2, 1, 3, 0}, 250},
        {{.kind = TRI_SCHED_ASHA_STOP, .min = 1, .max = 27, .eta = 3, 0, 1, 0},
         200},
        {{.kind = TRI_SCHED_ASHA_STOP, .min = 1, .max = 20, .eta = 2, 1, 2, 0},
         100},
        {{.kind = TRI_SCHED_ASHA_DELAYED,
          .min = 1,
          .max = 27,
          .eta = 3,
          0,
          1,
          0},
         300},
        {{.kind = TRI_SCHED_ASHA_DELAYED,
          .min = 1,
          .max = 0,
          .eta = 4,
          0,
          2,
          0},
         200},
        {{.kind = TRI_SCHED_SHA, .min = 1, .max = 9, .eta = 3, 0, 0, 0}, 200},
        {{.kind = TRI_SCHED_SHA, .min = 1, .max = 27, .eta = 3, 1, 1, 20}, 200},
        {{.kind = TRI_SCHED_SHA, .min = 1, .max = 0, .eta = 2, 0, 2, 13}, 120},
        {{.kind = TRI_SCHED_SHA, .min = 1, .max = 243, .eta = 3, 0, 0, 0}, 200},
        {{.kind = TRI_SCHED_HYPERBAND, .min = 1, .max = 27, .eta = 3, 0, 0, 0},
         300},
        {{.kind = TRI_SCHED_HYPERBAND, .min = 1, .max = 10, .eta = 2, 0, 1, 0},
         200},
        {{.kind = TRI_SCHED_ASYNC_HYPERBAND,
          .min = 1,
          .max = 27,
          .eta = 3,
          0,
          1,
          0},
         300},
        {{.kind = TRI_SCHED_PASHA, .min = 1, .max = 81, .eta = 3, 0, 1, 0},
         300},
        {{.kind = TRI_SCHED_PASHA, .min = 1, .max = 0, .eta = 3, 1, 1, 0}, 200},
        {{.kind = TRI_SCHED_NONE, .min = 1, .max = 27, .eta = 3, 0, 1, 0}, 100},
};

#define N_KINDS (sizeof kinds / sizeof kinds[0])

/* What the story knows of a trial. */
typedef struct known {
    double score[RUNGS * 4];
    uint8_t scored[RUNGS * 4], counted[RUNGS * 4], ran[RUNGS * 4];
    int bracket, rung; /* where it runs or was last */
    uint8_t running, parked, over, stopped;
} known;

typedef struct story {
    const what *w;
    tri_sched *s;
    tri_rng rng;
    known t[TRIALS];
    int64_t slot[SLOTS];
    int busy;
    int64_t created, promoted, over;
    uint64_t digest;
} story;

static int below(story *s, int n)
{
    return (int)tri_rng_below(&s->rng, (uint64_t)n);
}

static void mix(story *s, uint64_t x)
{
    s->digest = (s->digest ^ x) * 0x100000001b3u;
}

static int is_sync(const story *s)
{
    return s->w->set.kind == TRI_SCHED_SHA ||
           s->w->set.kind == TRI_SCHED_HYPERBAND;
}

static int better(const story *s, int k, int64_t a, int64_t b)
{
    if (s->t[a].score[k] < s->t[b].score[k] ||
        s->t[a].score[k] > s->t[b].score[k]) {
        return s->t[a].score[k] < s->t[b].score[k];
    }
    return a < b;
}

/* Place among the finished of its bracket; [out] *n results of it. */
static int64_t place_of(const story *s, int64_t trial, int k, int64_t *n)
{
    int64_t place = 0;

    *n = 0;
    for (int64_t i = 0; i < s->created; i++) {
        const known *t = &s->t[i];

        if (t->bracket != s->t[trial].bracket) {
            continue;
        }
        *n += t->scored[k] || t->counted[k];
        place += t->scored[k] && better(s, k, i, trial);
    }
    return place;
}

/* How many went on out of rung k. */
static int64_t went_on(const story *s, int bracket, int k)
{
    int64_t n = 0;

    for (int64_t i = 0; i < s->created; i++) {
        n += s->t[i].bracket == bracket && s->t[i].ran[k] && s->t[i].ran[k + 1];
    }
    return n;
}

static void check_promotion(const story *s, const tri_job *job)
{
    int64_t n, place = place_of(s, job->trial, job->rung - 1, &n);
    int64_t share = n / s->w->set.eta;

    switch (s->w->set.kind) {
    case TRI_SCHED_ASHA:
    case TRI_SCHED_ASYNC_HYPERBAND:
    case TRI_SCHED_PASHA:
        assert_true(place < share);
        break;
    case TRI_SCHED_ASHA_DELAYED:
        assert_true(place < share);
        assert_true(went_on(s, job->bracket, job->rung - 1) < share);
        break;
    case TRI_SCHED_ASHA_STOP:
        assert_false(s->t[job->trial].stopped);
        break;
    case TRI_SCHED_NONE:
        fail();
        break;
    default:
        break; /* several brackets: see check_sync */
    }
}

static void check_job(const story *s, const tri_job *job)
{
    assert_int_equal(job->resource, tri_sched_resource(s->s, job->rung));
    if (job->kind == TRI_JOB_NEW) {
        if (s->w->set.kind != TRI_SCHED_NONE) {
            assert_int_equal(job->rung, job->bracket);
        }
        return;
    }
    assert_in_range(job->trial, 0, s->created - 1);
    assert_false(s->t[job->trial].running);
    assert_false(s->t[job->trial].parked);
    assert_false(s->t[job->trial].over);
    assert_int_equal(s->t[job->trial].rung, job->rung - 1);
    assert_int_equal(s->t[job->trial].bracket, job->bracket);
    assert_true(s->t[job->trial].scored[job->rung - 1]);
    check_promotion(s, job);
}

static void take(story *s, const tri_job *job)
{
    int64_t trial = job->kind == TRI_JOB_NEW ? s->created++ : job->trial;
    known *t = &s->t[trial];

    assert_int_equal(tri_sched_take(s->s, job, trial), TRI_OK);
    s->promoted += job->kind == TRI_JOB_PROMOTE;
    t->bracket = job->bracket;
    t->rung = job->rung;
    assert_false(t->ran[job->rung]); /* never twice */
    t->ran[job->rung] = t->running = 1;
    s->slot[s->busy++] = trial;
    mix(s, (uint64_t)trial << 8 | (uint64_t)job->rung);
}

/* What asha-stop decides, by its definition. */
static void check_stop(story *s, int64_t trial, int k)
{
    int64_t n, place = place_of(s, trial, k, &n);
    int64_t share = n / s->w->set.eta;
    int top = tri_sched_n_rungs(s->s) - 1;
    tri_job job;
    int goes = s->t[trial].scored[k] && k < top && place < (share ? share : 1);

    s->t[trial].stopped = !goes;
    assert_int_equal(tri_sched_is_over(s->s, trial, k), !goes);
    assert_int_equal(tri_sched_goes_on(s->s, trial, 1, &job),
                     goes && !s->t[trial].parked ? TRI_GOES_ON : TRI_GOES_NOT);
    if (goes && !s->t[trial].parked && below(s, 4)) { /* most do at once */
        check_job(s, &job);
        take(s, &job);
    }
}

static void end_run(story *s)
{
    int at = below(s, s->busy);
    int64_t trial = s->slot[at];
    known *t = &s->t[trial];
    int dice = below(s, 20), k = t->rung;

    s->slot[at] = s->slot[--s->busy];
    t->running = 0;
    if (dice == 0) {
        assert_int_equal(tri_sched_drop(s->s, trial, k), TRI_OK);
        t->over = 1;
        return;
    }
    t->over = t->counted[k] = dice == 1;
    t->scored[k] = dice > 1;
    t->score[k] =
            (double)(trial * 7919 % 97) + (double)below(s, 5) * 20 / (1 + k);
    assert_int_equal(
            tri_sched_result(s->s, trial, k,
                             dice == 1 ? TRI_RESULT_COUNTED : TRI_RESULT_OK,
                             t->score[k]),
            TRI_OK);
    if (s->w->set.kind == TRI_SCHED_ASHA_STOP) {
        check_stop(s, trial, k);
    }
    if (is_sync(s)) { /* whoever is said to be through never goes on */
        t->over |= tri_sched_is_over(s->s, trial, k) != 0;
        s->over += t->over;
    }
}

static void park(story *s)
{
    int64_t trial = below(s, (int)s->created);

    s->t[trial].parked = !s->t[trial].parked;
    tri_sched_park(s->s, trial, s->t[trial].parked);
}

/* All that the views say is what the story knows. */
static void check_views(const story *s)
{
    tri_rung_view v[RUNGS * RUNGS];
    int n = tri_sched_rungs(s->s, v, RUNGS * RUNGS);
    int64_t running = 0, promoted = 0;

    assert_in_range(n, 0, RUNGS * RUNGS);
    for (int i = 0; i < n; i++) {
        int64_t results = 0, members = 0, on;

        for (int64_t t = 0; t < s->created; t++) {
            const known *k = &s->t[t];

            if (k->bracket == v[i].bracket) {
                results += k->scored[v[i].rung] || k->counted[v[i].rung];
                members += k->ran[v[i].rung];
            }
        }
        on = went_on(s, v[i].bracket, v[i].rung);
        assert_int_equal(v[i].results, results);
        assert_int_equal(v[i].promoted, on);
        running += v[i].running;
        promoted += v[i].promoted;
        if (s->w->set.kind == TRI_SCHED_ASHA_DELAYED) {
            assert_true(on <= results / s->w->set.eta);
        }
        if (is_sync(s)) {
            assert_true(on <= members / s->w->set.eta);
        }
    }
    assert_int_equal(running, s->busy);
    assert_int_equal(promoted, s->promoted);
}

static void check_rankings(const story *s)
{
    int64_t order[TRIALS];

    for (int b = 0; b < RUNGS; b++) {
        for (int k = b; k < RUNGS; k++) {
            int64_t n = tri_sched_ranking(s->s, b, k, order, TRIALS);

            for (int64_t i = 0; i < n; i++) {
                assert_int_equal(s->t[order[i]].bracket, b);
                assert_true(s->t[order[i]].scored[k]);
                assert_true(i == 0 || better(s, k, order[i - 1], order[i]));
                assert_int_equal(tri_sched_was_promoted(s->s, order[i], k),
                                 s->t[order[i]].rung > k);
            }
        }
    }
}

/* One event; returns 0 where the story is at its end. */
static int step(story *s)
{
    int may = s->created < s->w->limit && below(s, 50) != 0;
    tri_job job, again;

    if (s->created && below(s, 25) == 0) {
        park(s);
    }
    tri_sched_peek(s->s, may, &job);
    tri_sched_peek(s->s, may, &again);
    assert_memory_equal(&job, &again, sizeof job);
    if (job.kind != TRI_JOB_NONE) {
        assert_true(may || job.kind == TRI_JOB_PROMOTE);
        check_job(s, &job);
        if (s->busy < SLOTS && below(s, 3)) {
            take(s, &job);
            return 1;
        }
    }
    if (s->busy) {
        end_run(s);
        return 1;
    }
    return job.kind != TRI_JOB_NONE || s->created < s->w->limit;
}

static void tell(const what *w, uint64_t seed, story *s)
{
    int64_t was = 0;

    memset(s, 0, sizeof *s);
    s->w = w;
    s->rng = tri_rng_stream(seed, 0, TRI_RNG_TEST);
    assert_int_equal(tri_sched_create(&w->set, &s->s), TRI_OK);
    for (int i = 0; step(s); i++) {
        assert_true(i < STEPS_MOST);
        if (i % 16 == 0) {
            check_views(s);
        }
    }
    check_views(s);
    check_rankings(s);
    assert_true(tri_sched_is_closed(s->s));
    for (int64_t t = 0; t < s->created; t++) { /* all come back, and end too */
        tri_sched_park(s->s, t, 0);
        s->t[t].parked = 0;
    }
    while (!tri_sched_is_closed(s->s)) {
        tri_job job;

        tri_sched_peek(s->s, 0, &job);
        assert_true(job.kind != TRI_JOB_NONE || s->busy > 0);
        if (job.kind != TRI_JOB_NONE && s->busy < SLOTS) {
            check_job(s, &job);
            take(s, &job);
        }
        end_run(s);
        assert_true(++was < STEPS_MOST);
    }
    check_views(s);
    tri_sched_destroy(s->s);
}

static void every_story_ends(void **state)
{
    static story once, again;
    int64_t promoted = 0;

    (void)state;
    for (size_t k = 0; k < N_KINDS; k++) {
        for (uint64_t seed = 0; seed < 12; seed++) {
            print_message("%s, case %u, seed %u\n",
                          tri_sched_name(kinds[k].set.kind), (unsigned)k,
                          (unsigned)seed);
            tell(&kinds[k], seed, &once);
            tell(&kinds[k], seed, &again);
            assert_int_equal(once.digest, again.digest);
            promoted += once.promoted;
            assert_true(!is_sync(&once) || once.over > 0);
        }
        assert_true(promoted > 0 || kinds[k].set.kind == TRI_SCHED_NONE);
        promoted = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_story_ends)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
