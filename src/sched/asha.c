/*
 * Asynchronous successive halving, promotion type (Li et al., "A System for
 * Massively Parallel Hyperparameter Tuning", MLSys 2020, algorithm 2).  Rungs
 * are looked at from the top down; in a rung the best floor(n/eta) of its n
 * results may be promoted, promoted ones counted, with no minimum of one.
 * Results that are counted only (diverged) rank last and are never promoted.
 *
 * Where the paper leaves it open.  Equal scores: the lower trial number is
 * better.  Several brackets: a new configuration goes to the one on which the
 * least resource was spent so far (promotions included, the lower bracket
 * where equal), so that each has the same share for ever; promotions of a
 * rung are those of the lower bracket first.  Without an upper bound a trial
 * that reaches the top opens the rung above.
 */
#include "src/sched/brackets.h"

static tri_status create(const tri_sched_settings *settings,
                         const tri_ladder *ladder, void **state)
{
    return tri_brackets_create(sizeof(tri_brackets), ladder,
                               tri_share_of_results, settings->bracket,
                               settings->brackets, state);
}

static void peek(void *state, int may_create, tri_job *out)
{
    tri_brackets *b = state;

    if (!tri_brackets_scan(b, b->share, may_create, out)) {
        *out = tri_brackets_new_by_share(b, may_create);
    }
}

const tri_sched_ops tri_sched_asha = {
        .kind = TRI_SCHED_ASHA,
        .asks = TRI_TAKES_BRACKET | TRI_TAKES_BRACKETS,
        .create = create,
        .destroy = tri_brackets_destroy,
        .peek = peek,
        .take = tri_brackets_take,
        .result = tri_brackets_result,
        .drop = tri_brackets_drop,
        .park = tri_brackets_park,
        .is_idle = tri_brackets_is_idle,
        .rungs = tri_brackets_rungs,
        .ranking = tri_brackets_ranking,
        .was_promoted = tri_brackets_was_promoted};
