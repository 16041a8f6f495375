/*
 * How a search went: the predictor of the thinker's last answer, and what rules
 * its trials come from.  Pure; fed with the answers of a record or a
 * simulation.
 */
#ifndef TRI_SRC_APP_SEARCHED_H
#define TRI_SRC_APP_SEARCHED_H

#include "trireme/ctl.h"

#include <jansson.h>

typedef struct tri_app_searched { /* zeroed: no answer yet */
    int64_t answers;
    double think_s;     /* what they took, all together */
    char predictor[64]; /* of the last one; "none" where there was no model, */
    char reason[200];   /* and why */
    double tau;         /* how well it orders results it was not given; NaN */
    int64_t n_records;  /* that it learned from */
} tri_app_searched;

void tri_app_searched_note(tri_app_searched *s, const tri_ev_proposals *p);

/*
 * For people, into buf: "auto: gp (tau 0.83, of 119 results); 40 quasi, 11 ei,
 * 1 baseline", and where most trials were drawn although there is a thinker,
 * that.  Returns buf.
 */
char *tri_app_searched_text(const tri_app_searched *s, const tri_ctl *ctl,
                            char *buf, size_t bytes);
/* {proposer, predictor, tau, records, answers, rules: {rule: trials}};
 * predictor and tau null without an answer.  Owned. */
json_t *tri_app_searched_json(const tri_app_searched *s, const tri_ctl *ctl);

/* What ended a search, and the finals behind it. */
typedef struct tri_app_ending {
    const char *by;  /* "trials", "runs", "time": that part of the budget;
                      * "space": every configuration was tried; "" where it
                      * did not come to its end */
    int64_t finals;  /* runs of theirs */
    double finals_s; /* from the first one's start to the last one's end */
} tri_app_ending;
tri_app_ending tri_app_ending_of(const tri_ctl *ctl);

#endif
