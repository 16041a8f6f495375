/*
 * What `explain` says: of one trial, of a study.  Each reads a story and
 * prints; neither changes anything.
 */
#ifndef TRI_SRC_APP_EXPLAIN_H
#define TRI_SRC_APP_EXPLAIN_H

#include "src/app/app.h"
#include "src/app/story.h"

/* Why the story's trial was proposed, what its rungs decided, what it cost and
 * why it stopped. */
void tri_explain_trial(const tri_story *story, int json);

/* What a study would run next and why, and what it has learned.  `top`:
 * proposals to show. */
tri_status tri_explain_study(const tri_story *story, int top, int json);

/* What the failed have in common: sentences, one a class. */
void tri_explain_failures(const tri_ctl *ctl, FILE *out);
/* The same as [{class, trials, ran, alike, conditions}].  Owned. */
json_t *tri_explain_failures_json(const tri_ctl *ctl);

/* How far each parameter moves what is predicted, over the valid space. */
tri_status tri_explain_effects(const tri_story *story, tri_believer *b,
                               FILE *out);
/* The same: [out] owned [{parameter, share, best, worst, ...}]. */
tri_status tri_explain_effects_json(const tri_story *story, tri_believer *b,
                                    json_t **out);

/* How many of n results of a rung go on where the scheduler takes the best
 * floor(n/eta); -1 where it goes by another count. */
int64_t tri_explain_cut(const tri_study *study, int64_t n);
/* A rule of the thinker, and a class of failure, in words. */
const char *tri_explain_rule(const char *rule);
const char *tri_explain_reason(tri_reason reason);

#endif
