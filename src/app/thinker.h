/*
 * A thinker for commands that drive a controller in one thread: sim asks it in
 * virtual time, replay --refit asks it again what it was asked.  Where the
 * program was built without the libraries of linear algebra there is none.
 */
#ifndef TRI_SRC_APP_THINKER_H
#define TRI_SRC_APP_THINKER_H

#include "trireme/ctl.h"
#include "trireme/store.h"
#include "trireme/think.h"

#include "src/app/searched.h"

typedef struct tri_app_thinker { /* zeroed but for study and seed */
    const tri_study *study;
    uint64_t seed;
    const tri_warm_records *warm; /* of earlier studies; NULL */
    int n_warm;
    tri_thinker *thinker;      /* NULL until it is asked */
    int quiet;                 /* its news are not told */
    tri_app_searched searched; /* [out] its answers */
} tri_app_thinker;

/* Whether there is anything that could think of this study. */
int tri_app_may_think(const tri_study *study);
/* As `think` of tri_sim_settings, saying what is new of how it thinks, with a
 * tri_app_thinker as its context: the first question of a study is put to a
 * fresh one. */
tri_status tri_app_think(void *ctx, const struct tri_snapshot *snapshot,
                         tri_ev_proposals *out);
void tri_app_thinker_fini(tri_app_thinker *t);

/* How a second thinking compares with what is recorded. */
typedef struct tri_app_refit {
    int64_t questions; /* with an answer on record */
    int64_t proposals; /* recorded */
    int64_t same;      /* of them that are proposed again */
    double tau;        /* Kendall's, of all predictions that both made; NaN of
                        * fewer than two */
} tri_app_refit;

/* Replay `h`, thinking again at each question.  [out] as
 * tri_history_replay.  TRI_EUNBUILT where nothing can think. */
tri_status tri_app_refit_history(const tri_history *h, tri_replay *replay,
                                 tri_app_refit *out);

#endif
