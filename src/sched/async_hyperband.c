/*
 * Asynchronous Hyperband (Li et al., MLSys 2020, section 3.2): asha on every
 * bracket of the ladder, from that which starts at the lowest rung to that
 * which starts at the top, round and round.  A bracket has its turn until it
 * has spent what synchronous halving would have spent on it in Hyperband (see
 * hyperband.h), then the next one has.
 *
 * Where we differ: the turn decides only where new configurations go.
 * Promotions of all brackets are given out as asha does, rungs from the top
 * down, so that none waits for a turn; each is charged to its own bracket, and
 * what a bracket spent beyond its turn is taken off its next ones.  So every
 * bracket has exactly its share in the long run.
 */
#include "src/sched/brackets.h"
#include "src/sched/hyperband.h"

typedef struct async_hyperband {
    tri_brackets brackets;          /* one for each rung */
    double budget[TRI_LADDER_MOST]; /* of a turn */
    double left[TRI_LADDER_MOST];   /* may be in debt */
    int turn;
} async_hyperband;

static tri_status create(const tri_sched_settings *settings,
                         const tri_ladder *ladder, void **state)
{
    async_hyperband *h;
    void *made;

    (void)settings;
    TRI_TRY(tri_brackets_create(sizeof *h, ladder, tri_share_of_results, 0,
                                ladder->n, &made));
    h = made;
    for (int i = 0; i < ladder->n; i++) {
        h->budget[i] = tri_hyperband_budget(ladder, i);
    }
    h->left[0] = h->budget[0];
    *state = h;
    return TRI_OK;
}

static void peek(void *state, int may_create, tri_job *out)
{
    async_hyperband *h = state;
    tri_brackets *b = &h->brackets;

    if (tri_brackets_scan(b, b->share, may_create, out)) {
        return;
    }
    *out = may_create ? tri_brackets_new(b, &b->list[h->turn])
                      : tri_brackets_nothing();
}

static tri_status take(void *state, const tri_job *job, int64_t trial)
{
    async_hyperband *h = state;

    TRI_TRY(tri_brackets_take(state, job, trial));
    h->left[job->bracket] -= (double)job->resource;
    while (!(h->left[h->turn] > 0)) {
        h->turn = (h->turn + 1) % h->brackets.n;
        h->left[h->turn] += h->budget[h->turn];
    }
    return TRI_OK;
}

const tri_sched_ops tri_sched_async_hyperband = {
        .kind = TRI_SCHED_ASYNC_HYPERBAND,
        .asks = TRI_NEEDS_MAX,
        .create = create,
        .destroy = tri_brackets_destroy,
        .peek = peek,
        .take = take,
        .result = tri_brackets_result,
        .drop = tri_brackets_drop,
        .park = tri_brackets_park,
        .is_idle = tri_brackets_is_idle,
        .rungs = tri_brackets_rungs,
        .ranking = tri_brackets_ranking,
        .was_promoted = tri_brackets_was_promoted};
