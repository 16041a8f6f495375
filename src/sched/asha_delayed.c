/*
 * Delayed asha (D-ASHA of Hyper-Tune: Li et al., VLDB 2022, section 4.2): as
 * asha, but out of a rung with n results a further one is promoted only while
 * the promoted, itself counted, are at most floor(n/eta).  Where asha promotes
 * whoever enters the top share, so that late arrivals push the promoted to
 * more than 1/eta of the rung, here the share is never exceeded after any
 * event: fewer wrong promotions, and about a quarter fewer configurations at
 * the top in the same time.
 *
 * As there, a rung promotes none before it holds as many results as
 * synchronous halving would give it: eta^(t-k) at rung k of a ladder with top
 * t.  Without an upper bound there is no such start, and where no new
 * configuration may be created any more it is waived: what is there is all
 * there will be, and a study smaller than eta^t is to reach the upper rungs
 * too.  Results that are counted only stand in n, as failures do there.
 */
#include "src/sched/brackets.h"

/* eta^(t-k), at most `enough`. */
static int64_t start_of(const tri_ladder *ladder, int k, int64_t enough)
{
    int64_t n = 1;

    for (int i = k; i < ladder->n - 1 && n < enough; i++) {
        n *= ladder->eta;
    }
    return n;
}

static int64_t delayed_share(const tri_brackets *b, const tri_bracket *bracket,
                             int k, int may_create)
{
    const tri_rung *r = &bracket->rungs[k];
    int64_t share = tri_share_of_results(b, bracket, k, may_create);

    if (r->promoted >= share) {
        return 0;
    }
    if (may_create && b->ladder->bounded &&
        r->results < start_of(b->ladder, k, r->results + 1)) {
        return 0;
    }
    return share;
}

static tri_status create(const tri_sched_settings *settings,
                         const tri_ladder *ladder, void **state)
{
    return tri_brackets_create(sizeof(tri_brackets), ladder, delayed_share,
                               settings->bracket, settings->brackets, state);
}

static void peek(void *state, int may_create, tri_job *out)
{
    tri_brackets *b = state;

    if (!tri_brackets_scan(b, b->share, may_create, out)) {
        *out = tri_brackets_new_by_share(b, may_create);
    }
}

const tri_sched_ops tri_sched_asha_delayed = {
        .kind = TRI_SCHED_ASHA_DELAYED,
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
