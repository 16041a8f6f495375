/*
 * What all schedulers are made of: trials that stand, run or pause at rungs of
 * brackets.  A bracket is a ladder of rungs with its own standings; asha has
 * one or a few for ever, sha and hyperband open one after another.
 *
 * Knows which trial is where and how it stands; who goes on, and where a new
 * configuration begins, each scheduler decides in a file of its own.
 *
 * The state of every scheduler begins with a tri_brackets, so that the
 * operations below that take a `void *state` serve all of them.  Brackets are
 * named by their place in the list; the `bracket` of a job or a view is the
 * number of the base rung, which several may share.
 */
#ifndef TRI_SRC_SCHED_BRACKETS_H
#define TRI_SRC_SCHED_BRACKETS_H

#include "src/sched/ops.h"
#include "src/sched/standings.h"

#include <stddef.h>

typedef enum tri_entry_state {
    TRI_ENTRY_UNKNOWN,
    TRI_ENTRY_RUNNING, /* at `rung` */
    TRI_ENTRY_PAUSED,  /* has its result at `rung`, may be promoted */
    TRI_ENTRY_OUT      /* dropped, or never to be promoted */
} tri_entry_state;

/* What is known of a trial. */
typedef struct tri_entry {
    uint32_t node;   /* its last result */
    int32_t bracket; /* place in the list */
    int16_t rung;
    uint8_t state;
    uint8_t parked;
} tri_entry;

typedef struct tri_rung {
    uint32_t root;
    uint32_t best; /* of the best `share`; valid unless stale */
    int64_t share;
    int64_t members; /* trials that ever ran here */
    int64_t results, promoted, running;
    int64_t active; /* running and not parked */
    uint8_t stale;
} tri_rung;

typedef struct tri_bracket {
    tri_rung *rungs; /* by number; those below the base are not used */
    int base;
    int top;        /* highest rung ever run at, or base - 1 */
    int64_t active; /* running and not parked */
    double spent;   /* resource of the runs given out */
} tri_bracket;

typedef struct tri_brackets tri_brackets;

/* How many of the best results of rung k may be promoted now. */
typedef int64_t (*tri_share)(const tri_brackets *b, const tri_bracket *bracket,
                             int k, int may_create);

struct tri_brackets {
    const tri_ladder *ladder;
    tri_share share; /* of scans and of the views' cut */
    tri_bracket *list;
    int n, room;
    int last; /* out of this rung and those above none is promoted */
    tri_nodes nodes;
    tri_entry *entries; /* by trial */
    int64_t n_entries, entry_room;
    int64_t active;     /* running and not parked */
    int64_t unresolved; /* running: each will need a node */
};

/* The state of a scheduler, `bytes` large and zero but for the brackets that it
 * begins with: `n` of them that start at rungs `base`, `base` + 1, ...
 * TRI_EINVAL where the ladder has not as many.  [out] *state: freed with
 * tri_brackets_destroy. */
tri_status tri_brackets_create(size_t bytes, const tri_ladder *ladder,
                               tri_share share, int base, int n, void **state);
void tri_brackets_destroy(void *state);
/* Append an empty bracket.  TRI_ENOMEM: nothing has changed. */
tri_status tri_brackets_add(tri_brackets *b, int base);
/* Room for all that a take of `trial` needs.  TRI_ENOMEM. */
tri_status tri_brackets_reserve(tri_brackets *b, int64_t trial);
/* Commit to a job in the bracket at `place`; room must have been reserved. */
void tri_brackets_enter(tri_brackets *b, int place, const tri_job *job,
                        int64_t trial);
/* The bracket at which a trial is. */
static inline int tri_brackets_of(const tri_brackets *b, int64_t trial)
{
    return b->entries[trial].bracket;
}

/* floor(n/eta) of the n results, promoted ones counted: the paper's share. */
int64_t tri_share_of_results(const tri_brackets *b, const tri_bracket *bracket,
                             int k, int may_create);
/* The best of the `share` best results of rung k that is not promoted or
 * parked, TRI_NODE_NONE if there is none. */
uint32_t tri_brackets_best(tri_brackets *b, tri_bracket *bracket, int k,
                           int64_t share);
/* The promotion of what stands at `node`, out of rung k. */
tri_job tri_brackets_promotion(const tri_brackets *b,
                               const tri_bracket *bracket, int k,
                               uint32_t node);
/* The first promotion of all brackets, rungs from the top down, in a rung the
 * brackets in order; returns whether there is one. */
int tri_brackets_scan(tri_brackets *b, tri_share share, int may_create,
                      tri_job *out);
/* A new configuration in `bracket`; nothing to do. */
tri_job tri_brackets_new(const tri_brackets *b, const tri_bracket *bracket);
tri_job tri_brackets_nothing(void);
/* A new configuration in the bracket on which the least was spent so far, the
 * first of equals; nothing to do where none may be created. */
tri_job tri_brackets_new_by_share(const tri_brackets *b, int may_create);

/* ---- operations, see ops.h --------------------------------------------- */

/* Brackets are listed by their base: for those with one of each. */
tri_status tri_brackets_take(void *state, const tri_job *job, int64_t trial);
tri_status tri_brackets_result(void *state, int64_t trial, int k,
                               tri_result_kind kind, double score);
tri_status tri_brackets_drop(void *state, int64_t trial, int k);
void tri_brackets_park(void *state, int64_t trial, int parked);
int tri_brackets_is_idle(const void *state);
int tri_brackets_rungs(const void *state, tri_rung_view *out, int max);
int64_t tri_brackets_ranking(const void *state, int base, int k,
                             int64_t *trials, int64_t max);
int tri_brackets_was_promoted(const void *state, int64_t trial, int k);

#endif
