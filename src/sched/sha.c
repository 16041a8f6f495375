/*
 * Synchronous successive halving: brackets of n configurations that all start
 * at the same rung; see sync.h for how a bracket goes.
 *
 * n is the setting's, or eta^(t-b) for a ladder with top t and base b: the
 * least of which one reaches the top, as in the paper's experiments (256 for
 * eta 4, R 256).  A smaller n is refused, as the paper requires.  Without an
 * upper bound n must be given, and a bracket ends with its last one.
 * `brackets` limits how many are in progress; by default another is opened
 * wherever ranks would be idle.
 */
#include "src/sched/hyperband.h"
#include "src/sched/sync.h"

static tri_status choose_n(const tri_sched_settings *settings,
                           const tri_ladder *ladder, int64_t *out)
{
    int64_t least =
            ladder->bounded
                    ? tri_least_configurations(ladder, settings->bracket)
                    : 1;

    if (settings->bracket >= ladder->n) {
        return TRI_FAIL(TRI_EINVAL,
                        "scheduler: bracket %d needs %d rungs, the ladder has "
                        "%d",
                        settings->bracket, settings->bracket + 1, ladder->n);
    }
    if (!ladder->bounded && !settings->n) {
        return TRI_FAIL(TRI_EINVAL,
                        "scheduler sha needs resource.max, or its n");
    }
    if (settings->n && settings->n < least) {
        return TRI_FAIL(TRI_EINVAL,
                        "scheduler: of n = %lld configurations none would "
                        "reach the top rung; it takes %lld",
                        (long long)settings->n, (long long)least);
    }
    *out = settings->n ? settings->n : least;
    return TRI_OK;
}

static tri_status create(const tri_sched_settings *settings,
                         const tri_ladder *ladder, void **state)
{
    tri_sync *s;
    int64_t n;

    TRI_TRY(choose_n(settings, ladder, &n));
    TRI_TRY(tri_sync_create(settings, ladder, &s));
    tri_sync_add_plan(s, settings->bracket, n);
    *state = s;
    return TRI_OK;
}

const tri_sched_ops tri_sched_sha = {.kind = TRI_SCHED_SHA,
                                     .asks = TRI_TAKES_BRACKET |
                                             TRI_LIMITS_OPEN | TRI_TAKES_N,
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
