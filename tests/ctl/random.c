/*
 * Random stories: thousands of studies with losses, failures, hung groups,
 * parked trials, drains and killed jobs at random moments, resumed on other
 * numbers of ranks and on other classes of machines, with thinkers that answer
 * at once, late or never.  The world checks its
 * rules after every event; here: every study ends, and the same events cause
 * the same commands.
 */
#include "tests/ctl/world.h"

#include "trireme/rng.h"
#include "trireme/think.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MOST 40000

#define SPACE                                                                  \
    "space: {x: {int: [0, 40]}, g: {choice: [1, 2, 4]}}\n"                     \
    "constraints: [x + g > 0]\nranks: g\n"

static const char *const studies[] = {
        "study: a\nmodel: {kind: synthetic}\n" SPACE
        "objective: {minimize: loss}\n"
        "resource: {min: 1, max: 9, eta: 3}\n"
        "budget: {trials: 30, runs: 60}\nfinals: {top: 2, repeats: 3}\n"
        "baseline: {x: 3, g: 2}\n",
        "study: b\nmodel: {kind: process, command: [train]}\n" SPACE
        "objective: {maximize: tokens_per_s, compare: per_rank}\n"
        "resource: {min: 4, max: 64, eta: 4}\n"
        "budget: {trials: 25, time: 100 s}\nfinals: {top: 3, repeats: 5}\n"
        "baseline: {x: 0, g: 4}\nexclusive: numa\n",
        "study: c\nmodel: {kind: synthetic}\n" SPACE
        "objective: {minimize: loss}\nscheduler: none\n"
        "resource: {min: 1, max: 9, eta: 3}\n"
        "budget: {trials: 20}\nfinals: none\n",
        "study: d\nmodel: {kind: synthetic}\n"
        "space: {x: {int: [0, 20]}}\n"
        "objective: {minimize: loss}\n"
        "resource: {min: 1, eta: 2}\nscheduler: {kind: asha, bracket: 1}\n"
        "checkpoints: {policy: never}\nfinals: {top: 1, repeats: 2}\n",
        "study: e\nmodel: {kind: process, command: [train]}\n" SPACE
        "objective: {maximize: tokens_per_s, compare: total}\n"
        "resource: {min: 1, max: 8, eta: 2}\nsearch: random\n"
        "checkpoints: {policy: always}\nstart: [{x: 7, g: 4}, {x: 9, g: 1}]\n"
        "budget: {runs: 80}\nfinals: {top: 2, repeats: 2}\n"
        "exclusive: node\n",
        "study: f\nmodel: {kind: synthetic}\n" SPACE
        "objective: {minimize: loss}\nscheduler: asha-stop\n"
        "resource: {min: 1, max: 9, eta: 3}\n"
        "budget: {trials: 30}\nfinals: {top: 2, repeats: 2}\n",
        "study: g\nmodel: {kind: process, command: [train]}\n" SPACE
        "objective: {maximize: tokens_per_s, compare: total}\n"
        "scheduler: {kind: asha-stop, brackets: 2}\n"
        "resource: {min: 2, max: 16, eta: 2}\n"
        "budget: {trials: 25, runs: 60, time: 100 s}\nfinals: none\n"
        "baseline: {x: 0, g: 4}\n",
        "study: h\nmodel: {kind: synthetic}\n" SPACE
        "objective: {minimize: loss}\nscheduler: asha-delayed\n"
        "resource: {min: 1, max: 9, eta: 3}\n"
        "budget: {trials: 30}\nfinals: {top: 2, repeats: 2}\n",
        "study: i\nmodel: {kind: synthetic}\n" SPACE
        "objective: {minimize: loss}\nscheduler: sha\n"
        "resource: {min: 1, max: 9, eta: 3}\n"
        "budget: {trials: 30}\nfinals: {top: 2, repeats: 2}\n"
        "baseline: {x: 0, g: 4}\n",
        "study: j\nmodel: {kind: process, command: [train]}\n" SPACE
        "objective: {maximize: tokens_per_s, compare: per_rank}\n"
        "scheduler: {kind: sha, n: 10, brackets: 1}\n"
        "resource: {min: 1, max: 8, eta: 2}\n"
        "budget: {runs: 90, time: 100 s}\nfinals: {top: 2, repeats: 2}\n",
        "study: k\nmodel: {kind: synthetic}\n" SPACE
        "objective: {minimize: loss}\nscheduler: hyperband\n"
        "resource: {min: 1, max: 9, eta: 3}\n"
        "budget: {trials: 40}\nfinals: {top: 2, repeats: 2}\n"
        "baseline: {x: 0, g: 4}\n",
        "study: l\nmodel: {kind: synthetic}\n" SPACE
        "objective: {minimize: loss}\nscheduler: async-hyperband\n"
        "resource: {min: 1, max: 9, eta: 3}\n"
        "checkpoints: {policy: always}\n"
        "budget: {runs: 70}\nfinals: {top: 2, repeats: 2}\n",
        "study: m\nmodel: {kind: synthetic}\n"
        "space: {x: {int: [0, 40]}, g: {choice: [1, 2, 4]}}\nranks: g\n"
        "objective: {minimize: loss}\nscheduler: pasha\n"
        "resource: {min: 1, max: 27, eta: 3}\n"
        "budget: {trials: 40}\nfinals: {top: 2, repeats: 2}\n"};

#define N_STUDIES (sizeof studies / sizeof studies[0])

typedef struct dice {
    tri_rng rng;
    int trouble; /* per mille of each kind of trouble */
    int quick;   /* per mille that a question is answered next */
    int slow;    /* host, -1: none */
} dice;

static int chance(dice *d, int per_mille)
{
    return (int)tri_rng_below(&d->rng, 1000) < per_mille;
}

static int64_t pick_run(world *w, dice *d)
{
    int n = 0;

    for (int i = 0; i < w->n_runs; i++) {
        n += !w->runs[i].hung;
    }
    if (!n) {
        return -1;
    }
    n = (int)tri_rng_below(&d->rng, (uint64_t)n);
    for (int i = 0;; i++) {
        if (!w->runs[i].hung && n-- == 0) {
            return w->runs[i].run;
        }
    }
}

static double value_of(dice *d, const wrun *r)
{
    double pace = 1;

    for (int i = 0; i < r->n_ranks; i++) {
        pace = (r->ranks[i] - 1) / 4 == d->slow ? 0.5 : pace;
    }
    if (chance(d, 20)) {
        return NAN;
    }
    return pace * (1 + (double)(r->trial * 37 % 50) +
                   (double)tri_rng_below(&d->rng, 5) + 10.0 / (1 + r->rung));
}

static void lose(world *w, dice *d, int64_t run)
{
    wrun r = *world_find(w, run);
    int kind = (int)tri_rng_below(&d->rng, 3);
    int rank = r.ranks[tri_rng_below(&d->rng, (uint64_t)r.n_ranks)];

    if (kind == 0) {
        world_lost(w, run, TRI_REASON_RANK_LOST, rank, 0);
        world_rank(w, rank, TRI_RANK_DOWN);
    } else if (kind == 1) {
        world_lost(w, run, TRI_REASON_NODE_LOST, -1, 1);
    } else {
        world_lost(w, run, TRI_REASON_LATE_VERDICT, -1, 0);
    }
}

static void trouble(world *w, dice *d, int64_t run)
{
    static const tri_reason reasons[] = {
            TRI_REASON_DIVERGED, TRI_REASON_NAN,         TRI_REASON_OOM,
            TRI_REASON_BAD_EXIT, TRI_REASON_OOM_HOST,    TRI_REASON_RENDEZVOUS,
            TRI_REASON_HUNG,     TRI_REASON_IMPORT_ERROR};

    switch (tri_rng_below(&d->rng, 4)) {
    case 0:
        lose(w, d, run);
        break;
    case 1:
        world_find(w, run)->hung = 1;
        break;
    default:
        world_failed(w, run, reasons[tri_rng_below(&d->rng, 8)]);
        break;
    }
}

static void move_on(world *w, dice *d, int64_t run)
{
    wrun *r = world_find(w, run);

    if (chance(d, d->trouble)) {
        trouble(w, d, run);
        return;
    }
    switch (r->state) {
    case WRUN_FORMING:
        world_formed(w, run);
        break;
    case WRUN_RUNNING:
        if (chance(d, 400)) {
            world_report(w, run, 0.1);
        } else {
            world_finished(w, run, value_of(d, r));
        }
        break;
    case WRUN_SAVING:
        world_paused(w, run, "ck");
        break;
    default:
        if (chance(d, 200) && !r->drain) {
            world_finished(w, run, value_of(d, r));
        } else {
            world_interrupted(w, run, chance(d, 500) ? "ck" : "");
        }
        break;
    }
}

/* Some openings have a limit of time, some a deadline. */
static void set_times(world *w, dice *d)
{
    w->max_time_s =
            chance(d, 200) ? 1 + (double)tri_rng_below(&d->rng, 40) : NAN;
    w->deadline_s = chance(d, 200)
                            ? w->now + 1 + (double)tri_rng_below(&d->rng, 60)
                            : NAN;
}

static const char *const classes[] = {"a", "b", ""};

static void reopen(world *w, dice *d)
{
    int n = 1 + (int)tri_rng_below(&d->rng, 8);

    w->now += 1;
    set_times(w, d);
    if (chance(d, 150)) {
        w->machine_class = classes[tri_rng_below(&d->rng, 3)];
    }
    world_begin(w, n, 4);
}

static void disturb(world *w, dice *d)
{
    int rank = 1 + (int)tri_rng_below(&d->rng, 8);

    switch (tri_rng_below(&d->rng, 4)) {
    case 0: /* the job is killed */
        reopen(w, d);
        break;
    case 1:
        world_drain(w, chance(d, 500) ? TRI_DRAIN_SIGNAL : TRI_DRAIN_NOW);
        break;
    case 2: /* an idle rank dies */
        if (w->holder[rank] < 0 && w->up[rank]) {
            world_rank(w, rank, TRI_RANK_DOWN);
        }
        break;
    default: /* and may come back */
        if (!w->up[rank] && w->holder[rank] < 0 && chance(d, 500)) {
            int struck = 0;

            for (int i = 0; i < tri_ctl_n_ranks(w->ctl); i++) {
                tri_rank_view v;

                tri_ctl_rank(w->ctl, i, &v);
                struck |= v.rank == rank && v.state == TRI_RANK_BENCHED;
            }
            if (!struck && rank <= tri_ctl_n_ranks(w->ctl)) {
                world_rank(w, rank, TRI_RANK_UP);
            }
        }
        break;
    }
}

/* What it is told is in order at any moment. */
static void check_snapshot(const world *w)
{
    tri_snapshot *s;

    assert_int_equal(tri_ctl_snapshot(w->ctl, w->question, w->wanted, &s),
                     TRI_OK);
    assert_int_equal(s->n_tried, tri_ctl_n_trials(w->ctl));
    assert_true(s->resource >= s->base && s->base >= 1);
    for (int i = 0; i < s->n_records; i++) {
        const tri_record *r = &s->records[i];

        assert_int_equal(r->failed != 0, isnan(r->objective));
        assert_in_range(r->trial, 0, s->n_tried - 1);
        assert_true(r->resource >= s->base && r->ranks >= 1);
    }
    assert_true(s->n_pending <= s->n_tried);
    tri_snapshot_destroy(s);
}

/* A thinker of some sort: it answers what was asked, or what was asked before,
 * with anything; most of it can be tried. */
static void think(world *w, dice *d)
{
    tri_proposal list[8];
    char texts[8][32];
    int64_t of = chance(d, 900) ? w->question : 1;
    int n = chance(d, 100) ? 0 : 1 + (int)tri_rng_below(&d->rng, 8);
    int has_g = tri_space_n_params(tri_ctl_study(w->ctl)->space) > 1;

    check_snapshot(w);
    for (int i = 0; i < n; i++) {
        snprintf(texts[i], sizeof texts[i], has_g ? "x=%d g=%d" : "x=%d",
                 (int)tri_rng_below(&d->rng, 45),
                 1 << tri_rng_below(&d->rng, 3));
        list[i] = (tri_proposal){texts[i], 1, 0, 2, NAN, 0.9, "ei"};
    }
    world_proposals(w, of, list, n);
}

static void wait_for_limit(world *w)
{
    double t = tri_ctl_next_deadline(w->ctl);

    assert_true(t < INFINITY); /* else nothing would ever happen again */
    w->now = t > w->now ? t : w->now;
    world_clock(w, 0);
}

static int step(world *w, dice *d)
{
    int64_t run;

    if (w->ended) {
        if (w->status != 3 && !w->resumable) {
            return 0;
        }
        reopen(w, d);
        return 1;
    }
    w->now += 0.05 * (double)tri_rng_below(&d->rng, 4);
    if (w->now >= tri_ctl_next_deadline(w->ctl)) {
        world_clock(w, 0);
        return 1;
    }
    if (chance(d, d->trouble / 4)) {
        disturb(w, d);
        return 1;
    }
    if (w->question && chance(d, d->quick)) {
        think(w, d);
        return 1;
    }
    run = pick_run(w, d);
    if (run < 0) {
        wait_for_limit(w);
    } else {
        move_on(w, d, run);
    }
    return 1;
}

static void check_end(const world *w)
{
    tri_progress p;
    tri_answer answer;
    tri_standing top[5];

    tri_ctl_progress(w->ctl, &p);
    assert_int_equal(p.running, 0);
    assert_int_equal(p.ranks_busy, 0);
    assert_true(w->status == 0 || w->status == 2);
    assert_int_equal(w->status == 2, p.results == 0);
    tri_ctl_answer(w->ctl, &answer);
    assert_int_equal(answer.winner.trial >= 0, tri_ctl_top(w->ctl, top, 5) > 0);
    for (int64_t i = 0; i < p.runs; i++) {
        tri_run_view v;

        tri_ctl_run(w->ctl, i, &v);
        assert_int_equal(v.state, TRI_RUN_ENDED);
        assert_false(isnan(v.end_s));
        assert_true(v.end_s >= v.start_s);
    }
}

static void one_story(uint64_t seed, int trouble_per_mille)
{
    dice d = {.rng = tri_rng_stream(seed, 0, TRI_RNG_TEST),
              .trouble = trouble_per_mille};
    world w;
    int steps = 0;

    world_init(&w, studies[seed % N_STUDIES]);
    w.seed = seed;
    w.machine_class = "a";
    w.thinks = chance(&d, 700);
    w.interval = chance(&d, 500) ? 0.01 : 0;
    d.slow = (int)tri_rng_below(&d.rng, 3) - 1;
    d.quick = chance(&d, 300) ? 1000 : (int)tri_rng_below(&d.rng, 600);
    set_times(&w, &d);
    world_begin(&w, 1 + (int)tri_rng_below(&d.rng, 8), 4);
    while (step(&w, &d)) {
        assert_true(++steps < STEPS_MOST);
    }
    check_end(&w);
    world_retell(&w);
    world_fini(&w);
}

static uint64_t told; /* the story being told */

static void stories(uint64_t from, uint64_t n, int trouble_per_mille)
{
    const char *only = getenv("SEED");

    for (uint64_t seed = from; seed < from + n; seed++) {
        if (only && seed != strtoull(only, NULL, 10)) {
            continue;
        }
        told = seed;
        one_story(seed, trouble_per_mille);
    }
}

static void calm(void **state)
{
    (void)state;
    stories(0, 300, 0);
}

static void troubled(void **state)
{
    (void)state;
    stories(1000, 1500, 60);
}

static void disastrous(void **state)
{
    (void)state;
    stories(5000, 500, 400);
}

/* Where a story failed, this is its number: run again with SEED=it. */
static int say_seed(void **state)
{
    (void)state;
    print_message("last seed %llu\n", (unsigned long long)told);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test_teardown(calm, say_seed),
            cmocka_unit_test_teardown(troubled, say_seed),
            cmocka_unit_test_teardown(disastrous, say_seed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
