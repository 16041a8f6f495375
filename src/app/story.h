/*
 * The story of a record as its controller lived it: events are folded once
 * more, and what tables do not keep is noted on the way: which answer of the
 * thinker a trial comes from, and how it stood among the results of its rungs
 * when each decision fell.  Reads; for `explain` and `predict`.
 */
#ifndef TRI_SRC_APP_STORY_H
#define TRI_SRC_APP_STORY_H

#include "trireme/ctl.h"
#include "trireme/store.h"
#include "trireme/think.h"

#define TRI_STORY_RUNGS 64

/* Where a trial stood in a rung: place 1 is the best. */
typedef struct tri_place_in_rung {
    int64_t place, results; /* place 0: not among them */
} tri_place_in_rung;

typedef struct tri_rung_story {
    int bracket, rung;
    int64_t resource;
    double result_s; /* when its result came, */
    double objective, lo, hi;
    tri_place_in_rung then; /* and where it stood; */
    int promoted;
    double promoted_s;
    tri_place_in_rung at_promotion;
    tri_place_in_rung now;
} tri_rung_story;

/* An answer of the thinker. */
typedef struct tri_answer_story {
    int64_t event, snapshot, n_records; /* event -1: none */
    double time_s, tau;
    char model[64];
    char hyper[1024];
    tri_proposal proposal; /* of the trial; its texts are not kept */
} tri_answer_story;

typedef struct tri_story {
    int64_t trial; /* whose story; -1: the study's alone */
    tri_ctl *ctl;
    uint64_t seed;
    int64_t asked; /* the last question to the thinker; 0: none */
    tri_answer_story last;
    tri_answer_story from; /* what the trial was proposed by */
    tri_rung_story rungs[TRI_STORY_RUNGS];
    int n_rungs;
} tri_story;

/* Fold the record at `path`.  [out] ended with tri_story_fini.  TRI_ENOTFOUND
 * for a trial that there is not; errors of tri_app_history. */
tri_status tri_story_read(const char *path, int64_t trial, tri_story *out);
void tri_story_fini(tri_story *s);

/* A thinker that has been told what the record knows, and its answer. */
typedef struct tri_believer {
    tri_thinker *thinker;
    tri_snapshot *snapshot;
    tri_ev_proposals next; /* borrowed from the thinker */
} tri_believer;

/*
 * Ask for `wanted` proposals, as the next question would.  Where the program
 * was built without the libraries of linear algebra there is a snapshot and no
 * thinker: its model is "none", and nothing is believed.  [out] ended with
 * tri_believer_fini.
 */
tri_status tri_believer_init(tri_believer *b, const tri_story *story,
                             int wanted);
void tri_believer_fini(tri_believer *b);
/* Whether there is a model to be asked. */
int tri_believer_has_model(const tri_believer *b);
/* As tri_thinker_believe and tri_thinker_news. */
tri_status tri_believer_believe(tri_believer *b, const tri_config *c,
                                int64_t resource, tri_belief *out);
const char *tri_believer_news(const tri_believer *b);
/* Whether the study's search is led by a thinker. */
int tri_believer_leads(const tri_study *study);

#endif
