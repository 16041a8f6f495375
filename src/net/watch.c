/*
 * What no message tells: signals, and ranks that have fallen silent.
 */
#include "src/net/driver.h"

#include "mpi_workers/worker.h"
#include "trireme/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A rank beats every second, unless it trains. */
#define SILENT_S 15.0
/* How long the end may take after TERM or INT, before the record is closed. */
#define HURRY_S 0.2

static tri_status drain(tri_driver *d, tri_drain_why why)
{
    tri_event event;

    if (d->drained > (int)why) {
        return TRI_OK;
    }
    d->drained = (int)why + 1;
    memset(&event, 0, sizeof event);
    event.kind = TRI_EV_DRAIN;
    event.u.drain.why = (int32_t)why;
    return tri_driver_feed(d, &event);
}

tri_status tri_driver_signals(tri_driver *d)
{
    int end;
    int n_drain = tri_worker_signals(&end);

    if (d->ended) {
        return TRI_OK;
    }
    if (end > 0 && d->end_by_s <= 0) {
        d->end_by_s = tri_now() + HURRY_S;
        TRI_LOG_JOB(TRI_LOG_INFO, "a signal: ending now; --resume goes on");
        return drain(d, TRI_DRAIN_NOW);
    }
    if ((n_drain > d->n_drain_seen || d->asked_to_drain) && d->end_by_s <= 0) {
        d->n_drain_seen = n_drain;
        d->asked_to_drain = 0;
        if (!d->drained) {
            TRI_LOG_JOB(TRI_LOG_INFO, "a signal: draining; --resume goes on");
        }
        return drain(d, TRI_DRAIN_SIGNAL);
    }
    return TRI_OK;
}

/* How long this rank may be silent: one that trains may be in a long step, and
 * is judged by its progress; one that has a process beats while it waits for
 * that, but what starts and ends one may take a while. */
static double silence_of(const tri_driver *d, const tri_rank_view *r)
{
    const tri_study *study = tri_ctl_study(d->ctl);
    tri_run_view run;

    if (r->run < 0) {
        return SILENT_S;
    }
    tri_ctl_run(d->ctl, r->run, &run);
    if (run.state == TRI_RUN_FORMING) {
        return SILENT_S;
    }
    return run.state == TRI_RUN_RUNNING &&
                           study->model.kind == TRI_MODEL_PROCESS
                   ? 2 * SILENT_S
                   : INFINITY;
}

static tri_status lose_run(tri_driver *d, int64_t run, int rank)
{
    tri_event event;
    tri_ev_outcome *o = &event.u.outcome;
    tri_run_view v;
    char sentence[160];

    tri_ctl_run(d->ctl, run, &v);
    if (v.state == TRI_RUN_ENDED) {
        return TRI_OK;
    }
    snprintf(sentence, sizeof sentence, "rank %d on %s was silent for %.0f s",
             rank, d->peers[rank].host, tri_now() - d->peers[rank].heard_s);
    memset(&event, 0, sizeof event);
    event.kind = TRI_EV_LOST;
    o->run = run;
    o->attempt = v.attempt;
    o->reason = TRI_REASON_RANK_LOST;
    o->sentence = sentence;
    o->lost_rank = rank;
    o->objective = o->lo = o->hi = o->loss = o->tokens_per_s =
            o->samples_per_s = o->step_s = o->checkpoint_s = NAN;
    o->peak_bytes = o->rss_bytes = o->checkpoint_bytes = -1;
    o->checkpoint = "";
    o->checkpoint_step = -1;
    return tri_driver_feed(d, &event);
}

static tri_status lose(tri_driver *d, const tri_rank_view *r)
{
    tri_peer *p = &d->peers[r->rank];
    int64_t run = r->run;
    int rank = r->rank;
    tri_event event;

    TRI_LOG_JOB(TRI_LOG_WARN, "rank %d on %s was silent for %.0f s: lost", rank,
                p->host, tri_now() - p->heard_s);
    p->gone = 1;
    p->is_up = 0;
    d->has_lost = 1;
    memset(&event, 0, sizeof event);
    event.kind = TRI_EV_POOL;
    event.u.pool = (tri_ev_pool){.rank = rank,
                                 .state = TRI_RANK_DOWN,
                                 .host = p->host,
                                 .cores = p->cores,
                                 .device = p->device};
    TRI_TRY(tri_driver_feed(d, &event));
    return run >= 0 && !d->ended ? lose_run(d, run, rank) : TRI_OK;
}

tri_status tri_driver_find_lost(tri_driver *d)
{
    double now = tri_now();
    int n = tri_ctl_n_ranks(d->ctl);

    for (int i = 0; i < n && !d->ended; i++) {
        tri_rank_view r;

        tri_ctl_rank(d->ctl, i, &r);
        if (r.rank >= 1 && r.rank < d->world->size && d->peers[r.rank].is_up &&
            now - d->peers[r.rank].heard_s > silence_of(d, &r)) {
            TRI_TRY(lose(d, &r));
        }
    }
    return TRI_OK;
}
