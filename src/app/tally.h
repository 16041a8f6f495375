/*
 * What a view of a study that is being followed needs beyond the controller's:
 * the history of the best, what ended last, what is under way, how busy the
 * ranks were.  Noted event by event, in memory that does not grow with the
 * study but by four bytes a run.  Pure.
 */
#ifndef TRI_APP_TALLY_H
#define TRI_APP_TALLY_H

#include "trireme/ctl.h"

/* Points of the history that are kept; later ones replace the last. */
#define TRI_TALLY_POINTS 512
/* Runs that ended last. */
#define TRI_TALLY_RECENT 512

typedef struct tri_tally_point { /* the best changed */
    double time_s, objective;
    int64_t trial, ended; /* runs that had ended by then */
} tri_tally_point;

typedef struct tri_tally {
    tri_tally_point best[TRI_TALLY_POINTS];
    int n_best;
    int64_t recent[TRI_TALLY_RECENT]; /* a ring, by n_ended */
    int64_t n_ended;
    int64_t ended[TRI_RUN_STOPPED + 1]; /* by status */
    int64_t *flying;                    /* runs under way, in no order */
    int n_flying, flying_room;
    int32_t *place; /* of a run in `flying`, -1: not there; -2: it ended */
    int64_t n_runs, place_room;
    double busy_s, up_s; /* rank-seconds so far, until `at_s` */
    double at_s;
    int busy, up; /* ranks, since then */
} tri_tally;

void tri_tally_init(tri_tally *t);
void tri_tally_fini(tri_tally *t);
/* After `ctl` was fed with an event.  TRI_ENOMEM. */
tri_status tri_tally_note(tri_tally *t, const tri_ctl *ctl);

/* The run that ended `back` before the last (0: the last), -1: none such. */
int64_t tri_tally_recent(const tri_tally *t, int back);
/* Runs a minute over those that are kept, at study time `now_s`; NaN. */
double tri_tally_rate(const tri_tally *t, const tri_ctl *ctl, double now_s);
/* The best after each of `n` equal parts of the runs that ended; NaN before
 * the first. */
void tri_tally_history(const tri_tally *t, double *out, int n);
/* Ranks busy of those that were up, 0 to 1, up to study time `now_s`; NaN. */
double tri_tally_busy(const tri_tally *t, double now_s);

#endif
