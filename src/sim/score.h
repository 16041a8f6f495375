/*
 * What a simulation adds up to: rank-seconds, the history of measured
 * configurations, and how soon one was close to the optimum.  Knows nothing of
 * events or of the controller.
 */
#ifndef TRI_SIM_SCORE_H
#define TRI_SIM_SCORE_H

#include "trireme/sim.h"

typedef struct tri_score {
    tri_sim_result result;
    double sign;         /* 1: lower is better, -1: higher */
    int64_t top;         /* resource from which results are final; 0: none */
    int64_t most;        /* resource that results reached, at most `top` */
    double now_s;        /* up to which rank-seconds are summed */
    int64_t busy;        /* ranks held by runs */
    int64_t capacity;    /* of the history */
    unsigned char *seen; /* trials measured, by number */
    int64_t n_seen;
} tri_score;

/* `optimum`, which may be NaN, is of results from resource `top` on. */
void tri_score_init(tri_score *s, int maximize, double optimum, int64_t top);
/* Frees what tri_score_take did not take. */
void tri_score_fini(tri_score *s);
/* Virtual time goes on to `now_s`. */
void tri_score_advance(tri_score *s, double now_s);
/* A run of `trial` measured `objective` after `resource`, NaN if infeasible.
 * TRI_ENOMEM. */
tri_status tri_score_add(tri_score *s, int64_t trial, int rung,
                         int64_t resource, double objective);
/* Hand the result over; the history is then the caller's. */
void tri_score_take(tri_score *s, tri_sim_result *out);

#endif
