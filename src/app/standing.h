/*
 * How a study stands, as status shows it: a controller that was fed with what
 * is journalled, and what the files themselves tell.  Pure but for the file
 * that find_fault reads.
 */
#ifndef TRI_APP_STANDING_H
#define TRI_APP_STANDING_H

#include "src/app/app.h"
#include "src/app/tally.h"

/* A study whose journal has not grown for so long is not being run. */
#define TRI_APP_STALE_S 120.0
#define TRI_APP_RUNGS   256

typedef struct tri_app_standing {
    const tri_ctl *ctl;
    const tri_tally *tally;
    const tri_app_searched *searched;
    tri_progress progress;
    int epoch, is_live; /* as tri_history_epoch, tri_history_is_live */
    double age_s;       /* since it was written last */
    char fault[320];    /* that its last opening ended with; "" */
} tri_app_standing;

/* search, finals, draining, done, interrupted, broken. */
const char *tri_app_standing_state(const tri_app_standing *s);
/* Whether somebody seems to be running it. */
int tri_app_standing_is_run(const tri_app_standing *s);
/* Study time now: that of the last event and what has passed since, where it
 * is being run. */
double tri_app_standing_now(const tri_app_standing *s);
/* Until the search ends, or the job, where a limit is known; else NaN. */
double tri_app_standing_left(const tri_app_standing *s);
/* [out] the finals' winner once they are over, else the best result of the
 * search (trial -1: none); returns whether it comes from finals. */
int tri_app_standing_best(const tri_app_standing *s, tri_standing *out);
/* [out] rungs[max], where running are runs in flight: to the scheduler those
 * that wait for ranks, or for the next opening, are running too. */
int tri_app_standing_rungs(const tri_app_standing *s, tri_rung_view *rungs,
                           int max);
/* status's object.  Owned. */
json_t *tri_app_standing_json(const tri_app_standing *s);
/* The same for people: what changes while nothing is written, the rest, and
 * failures with what they said. */
typedef struct tri_app_head {
    const char *study, *state;
    int epoch;
    const char *why, *fault; /* NULL or "": none */
    double time_s, age_s;
} tri_app_head;
void tri_app_standing_head(const tri_app_head *h, FILE *out);
void tri_app_standing_rest(const tri_app_standing *s, FILE *out);
void tri_app_standing_print(const tri_app_standing *s, FILE *out);
/* An opening may end by a fault after its search did, where its tables found
 * no room: that is in FILE.h5.exit alone.  Sets s->fault. */
void tri_app_standing_find_fault(tri_app_standing *s, const char *file);

#endif
