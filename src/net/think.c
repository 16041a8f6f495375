/*
 * The driver's conversation with the compute thread.
 */
#include "src/net/driver.h"

#include "trireme/log.h"

#include <math.h>
#include <string.h>

/* How long the thread may take to end; its work comes in small pieces. */
#define STOP_S  5.0
#define HURRY_S 0.05

int tri_driver_may_think(const tri_driver *d)
{
    return tri_study_thinks(d->study);
}

void tri_driver_start_thinking(tri_driver *d)
{
    const tri_study *study = tri_ctl_study(d->ctl);
    tri_warm_records *warm = NULL;
    int n = 0;

    if (!tri_driver_may_think(d) || d->ended) {
        return;
    }
    if (tri_ctl_warm_records(d->ctl, &warm, &n) != TRI_OK ||
        tri_thinking_start(study, d->study->seed, warm, n, &d->thinking) !=
                TRI_OK) {
        TRI_LOG_JOB(TRI_LOG_WARN, "the search goes on quasi-random: %s",
                    tri_error_last()->sentence);
    } else {
        tri_thinking_rings(d->thinking, d->world->bell);
    }
}

tri_status tri_driver_think(tri_driver *d, const tri_cmd_think *c)
{
    tri_snapshot *s;

    if (!d->thinking) {
        d->mute = c->snapshot;
        return TRI_OK;
    }
    TRI_TRY(tri_ctl_snapshot(d->ctl, c->snapshot, c->wanted, &s));
    tri_thinking_ask(d->thinking, s);
    return TRI_OK;
}

tri_status tri_driver_hear(tri_driver *d)
{
    tri_event event;

    if (d->ended) {
        return TRI_OK;
    }
    memset(&event, 0, sizeof event);
    event.kind = TRI_EV_PROPOSALS;
    if (d->mute > 0) {
        event.u.proposals = (tri_ev_proposals){.snapshot = d->mute,
                                               .model = "none",
                                               .hyper = "",
                                               .tau = NAN,
                                               .fit_s = NAN};
        d->mute = 0;
        return tri_driver_feed(d, &event);
    }
    return tri_thinking_take(d->thinking, &event.u.proposals)
                   ? tri_driver_feed(d, &event)
                   : TRI_OK;
}

void tri_driver_stop_thinking(tri_driver *d)
{
    if (!tri_thinking_stop(d->thinking, d->end_by_s > 0 ? HURRY_S : STOP_S)) {
        d->thinks_on = 1;
        TRI_LOG_JOB(TRI_LOG_DEBUG, "the thinker is left in the midst of it");
    }
    d->thinking = NULL;
}
