/*
 * What no message tells: signals, and ranks that have fallen silent.
 */
#include "src/net/watch.h"

#include "mpi_workers/wait.h"
#include "mpi_workers/worker.h"
#include "src/net/driver.h"
#include "trireme/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A rank beats every second, unless it trains. */
double tri_watch_silent_s = 15;
/* One that waits has spoken since then; and one that has not for so much
 * longer is worse. */
#define LATELY_S 4.0
/* Between two looks at all ranks. */
#define LOOK_S 0.25
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

/* A group forms without work of its own, and an agent beats while it waits for
 * its process. */
double tri_watch_silence(tri_run_state state, int is_process)
{
    return state == TRI_RUN_FORMING || (state == TRI_RUN_RUNNING && is_process)
                   ? tri_watch_silent_s
                   : INFINITY;
}

int tri_watch_most_silent(const int32_t *ranks, const double *silent_s, int n,
                          int named)
{
    double its_s = 0;
    int worst = 0;

    for (int i = 0; i < n; i++) {
        its_s = ranks[i] == named ? silent_s[i] : its_s;
        worst = silent_s[i] > silent_s[worst] ? i : worst;
    }
    return n > 0 && its_s < LATELY_S && silent_s[worst] > its_s + LATELY_S
                   ? ranks[worst]
                   : named;
}

static double silence_of(const tri_driver *d, const tri_rank_view *r)
{
    tri_run_view run;

    if (r->run < 0) {
        return tri_watch_silent_s;
    }
    tri_ctl_run(d->ctl, r->run, &run);
    return tri_watch_silence(run.state, tri_ctl_study(d->ctl)->model.kind ==
                                                TRI_MODEL_PROCESS);
}

static tri_status lose_run(tri_driver *d, int64_t run, int rank,
                           const char *why)
{
    tri_event event;
    tri_ev_outcome *o = &event.u.outcome;
    tri_run_view v;
    char sentence[160];

    tri_ctl_run(d->ctl, run, &v);
    if (v.state == TRI_RUN_ENDED) {
        return TRI_OK;
    }
    snprintf(sentence, sizeof sentence, "rank %d on %s %s", rank,
             d->peers[rank].host, why);
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
    tri_driver_call_off(d, run, rank);
    return tri_driver_feed(d, &event);
}

static tri_status lose(tri_driver *d, const tri_rank_view *r, const char *why)
{
    tri_peer *p = &d->peers[r->rank];
    int64_t run = r->run;
    int rank = r->rank;
    tri_event event;

    TRI_LOG_JOB(TRI_LOG_WARN, "rank %d on %s %s: lost", rank, p->host, why);
    tri_driver_give_up(d, rank);
    if (run >= 0) { /* first: a pool without ranks ends the opening, and the
                     * trial is to be known for it */
        TRI_TRY(lose_run(d, run, rank, why));
    }
    if (d->ended) {
        return TRI_OK;
    }
    memset(&event, 0, sizeof event);
    event.kind = TRI_EV_POOL;
    event.u.pool = (tri_ev_pool){.rank = rank,
                                 .state = TRI_RANK_DOWN,
                                 .host = p->host,
                                 .cores = p->cores,
                                 .device = p->device};
    return tri_driver_feed(d, &event);
}

/* Whether this rank is lost; *why: how it is known. */
static int is_lost(const tri_driver *d, const tri_rank_view *r,
                   char why[static 64])
{
    double silent_s = tri_now() - d->peers[r->rank].heard_s;
    pid_t pid = d->world->pids[r->rank];

    if (pid > 0 && tri_wait_has_ended(pid)) {
        snprintf(why, 64, "has ended, and not by its own will");
        return 1;
    }
    snprintf(why, 64, "was silent for %.0f s", silent_s);
    return silent_s > silence_of(d, r);
}

tri_status tri_driver_find_lost(tri_driver *d)
{
    int n = tri_ctl_n_ranks(d->ctl);
    double now = tri_now();
    char why[64];

    if (now < d->look_s) {
        return TRI_OK;
    }
    d->look_s = now + LOOK_S;
    for (int i = 0; i < n && !d->ended; i++) {
        tri_rank_view r;

        tri_ctl_rank(d->ctl, i, &r);
        if (r.rank >= 1 && r.rank < d->world->size && d->peers[r.rank].is_up &&
            is_lost(d, &r, why)) {
            TRI_TRY(lose(d, &r, why));
        }
    }
    return TRI_OK;
}
