/*
 * Hyperband (Li et al., JMLR 2018): synchronous halving in all brackets of the
 * ladder in turn, from that which starts at the lowest rung with the most
 * configurations to that which runs a few to the top at once, and again.
 * There one bracket is done before the next begins; here, as with BOHB, the
 * next is opened where ranks would be idle, unless `brackets` forbids it.
 */
#include "src/sched/hyperband.h"

#include "src/sched/sync.h"

#define MOST_CONFIGURATIONS ((int64_t)1 << 40)

int64_t tri_least_configurations(const tri_ladder *ladder, int base)
{
    int64_t n = 1;

    for (int k = base; k < ladder->n - 1; k++) {
        n = n > MOST_CONFIGURATIONS / ladder->eta ? MOST_CONFIGURATIONS
                                                  : n * ladder->eta;
    }
    return n;
}

int64_t tri_hyperband_configurations(const tri_ladder *ladder, int base)
{
    int64_t rungs = ladder->n - base;

    return (ladder->n * tri_least_configurations(ladder, base) + rungs - 1) /
           rungs;
}

double tri_hyperband_budget(const tri_ladder *ladder, int base)
{
    int64_t n = tri_hyperband_configurations(ladder, base);
    double sum = 0;

    for (int k = base; k < ladder->n; k++, n /= ladder->eta) {
        sum += (double)n * (double)ladder->resource[k];
    }
    return sum;
}

static tri_status create(const tri_sched_settings *settings,
                         const tri_ladder *ladder, void **state)
{
    tri_sync *s;

    TRI_TRY(tri_sync_create(settings, ladder, &s));
    for (int base = 0; base < ladder->n; base++) {
        tri_sync_add_plan(s, base, tri_hyperband_configurations(ladder, base));
    }
    *state = s;
    return TRI_OK;
}

const tri_sched_ops tri_sched_hyperband = {
        .kind = TRI_SCHED_HYPERBAND,
        .asks = TRI_NEEDS_MAX | TRI_LIMITS_OPEN,
        .create = create,
        .destroy = tri_sync_destroy,
        .peek = tri_sync_peek,
        .take = tri_sync_take,
        .result = tri_sync_result,
        .drop = tri_sync_drop,
        .park = tri_sync_park,
        .is_idle = tri_brackets_is_idle,
        .rungs = tri_brackets_rungs,
        .ranking = tri_brackets_ranking,
        .was_promoted = tri_brackets_was_promoted,
        .is_over = tri_sync_is_over,
        .planned = tri_sync_planned};
