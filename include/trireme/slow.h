/*
 * Slow ranks: found by measuring the same configuration elsewhere.
 *
 * Judged are runs that finished with a speed as the objective (tokens_per_s,
 * samples_per_s, step_s; never what is learned, nor a trial's own metric), with
 * an interval, and not oversubscribed or flaky by themselves.  Of two such runs
 * of one trial, X is slower than Y if their intervals do not meet and X is
 * slower by a tenth or more (TRI_SLOW_SHARE): intervals are of the steps of one
 * run, and runs differ by a little more than that on sound machines.
 *
 * Suspicion.  A run of the search is suspected where it is slower than the run
 * that gave its trial's last result, and the two have no rank in common.  That
 * one was at a lower rung, so it proves nothing: the trial is measured again at
 * the same rung, elsewhere, before the scheduler hears of it; what comes out
 * then is its result.  A trial's first run has nothing to be compared with, and
 * a slow host could hide behind configurations that look bad: so the first such
 * run of each host of which no run has been compared is measured again too, on
 * other hosts, where there are such, and one more after each flag.  Runs of the
 * finals are compared with that run and with the first of the trial's in the
 * finals, and are repeated elsewhere in the same way; the suspect's value
 * stands unless it is flagged, as taking the better one would favour it.  Where
 * ranks are benched in the finals these begin again, once, so that all that is
 * compared was measured on sound ranks.
 *
 * Elsewhere is on hosts of which the suspect had none, where these have ranks
 * enough; else on ranks of which it had none; where there are too few of those
 * nothing is suspected.
 *
 * Judgement.  The suspect is flagged (`flaky` in /runs) if it is slower than
 * what was measured elsewhere, at the same rung; else it is acquitted, and
 * stays as one more measurement.  Where the repeat is the slower one it is
 * flagged, and what was suspected is the result.  A flag is one against each
 * rank that the run had, or, where that explains it, against some of them:
 * those on hosts that have benched ranks, else those that were flagged before.
 * What stands against ranks is taken back by an acquittal, and wherever a run
 * of theirs is compared and is not slower, so that of ranks that were slow only
 * through another's fault little stands for long.  A rank with two flags
 * (TRI_SLOW_FLAGS) is benched until the end of the opening: it is used by
 * groups that are larger than all other ranks together.
 *
 * A trial that cannot be measured again has the suspect's result, where the
 * search is at its end or the pool has become too small for it, or runs again
 * like one that was interrupted, where the opening ends before.
 *
 * Cost.  Measuring again counts neither in the budget of runs nor among a
 * trial's attempts; a trial is measured again once a rung, all together no more
 * than one run in sixteen (and one), in the finals once a contender.
 *
 * Openings by rules 0 (event.h) look for nothing.
 */
#ifndef TRIREME_SLOW_H
#define TRIREME_SLOW_H

#include "trireme/study.h"

#define TRI_SLOW_SHARE 0.1
#define TRI_SLOW_FLAGS 2
#define TRI_SLOW_RUNS  16 /* runs of the search for each that is repeated */

/* What a run measured: the objective, and its interval or NaN. */
typedef struct tri_speed {
    double value, lo, hi;
} tri_speed;

/* Whether the objective is a speed.  In src/ctl/slow.c, as the next. */
TRI_API int tri_slow_applies(const tri_study *study);
/* Whether x is slower than y; `more`: more is faster. */
TRI_API int tri_slow_than(tri_speed x, tri_speed y, int more);

#endif
