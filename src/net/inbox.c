/*
 * From messages to events.
 */
#include "src/net/driver.h"

#include "mpi_workers/run.h"
#include "src/base/grain.h"
#include "src/net/watch.h"
#include "trireme/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages that the mean time between them is taken over. */
#define LATELY 64
/* A rank that has said something within this is there. */
#define JUST_S 0.05

/* ---- forming ----------------------------------------------------------- */

static void drop_forming(tri_driver *d, int i)
{
    free(d->forming[i].ranks);
    free(d->forming[i].ready);
    d->forming[i] = d->forming[--d->n_forming];
}

void tri_driver_forget_forming(tri_driver *d)
{
    while (d->n_forming > 0) {
        drop_forming(d, d->n_forming - 1);
    }
    free(d->forming);
    d->forming = NULL;
    d->forming_room = 0;
}

static int member(const tri_forming *f, int rank)
{
    for (int i = 0; i < f->n; i++) {
        if (f->ranks[i] == rank) {
            return i;
        }
    }
    return -1;
}

/* A rank is in one forming at a time: what it was in before came to nothing. */
static void drop_stale(tri_driver *d, const tri_cmd_assign *assign)
{
    for (int i = d->n_forming - 1; i >= 0; i--) {
        for (int j = 0; j < assign->n_ranks; j++) {
            if (member(&d->forming[i], assign->ranks[j]) >= 0) {
                drop_forming(d, i);
                break;
            }
        }
    }
}

/* That all members answer before any goes is for their sake: none is to wait
 * for one that will not come.  A rank alone waits for nobody, and where it has
 * just spoken its answer would tell nothing new; only an agent may still be
 * busy with the end of its last process. */
static int is_sure(const tri_driver *d, const tri_cmd_assign *assign)
{
    return assign->n_ranks == 1 && d->study->model.kind != TRI_MODEL_PROCESS &&
           tri_now() - d->peers[assign->ranks[0]].heard_s < JUST_S;
}

tri_status tri_driver_expect(tri_driver *d, const tri_cmd_assign *assign)
{
    size_t n = (size_t)assign->n_ranks;
    tri_forming f = {.run = assign->run,
                     .attempt = assign->attempt,
                     .is_sure = is_sure(d, assign),
                     .n = assign->n_ranks};

    drop_stale(d, assign);
    if (d->n_forming == d->forming_room) {
        int room = 2 * d->forming_room + 8;
        tri_forming *grown = realloc(d->forming, (size_t)room * sizeof *grown);

        if (!grown) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for a forming group");
        }
        d->forming = grown;
        d->forming_room = room;
    }
    f.ranks = malloc(n * sizeof *f.ranks);
    f.ready = calloc(n, 1);
    if (!f.ranks || !f.ready) {
        free(f.ranks);
        free(f.ready);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a forming group");
    }
    memcpy(f.ranks, assign->ranks, n * sizeof *f.ranks);
    d->forming[d->n_forming++] = f;
    return TRI_OK;
}

/* A member cannot take part in what it was assigned. */
static tri_status fail_run(tri_driver *d, const tri_msg_ready *m)
{
    tri_event event;
    tri_ev_outcome *o = &event.u.outcome;

    memset(&event, 0, sizeof event);
    event.kind = TRI_EV_FAILED;
    o->run = m->run;
    o->attempt = m->attempt;
    o->reason = (int32_t)tri_run_reason((tri_status)m->status);
    o->sentence = m->sentence;
    o->lost_rank = -1;
    o->objective = o->lo = o->hi = o->loss = o->tokens_per_s =
            o->samples_per_s = o->step_s = o->checkpoint_s = NAN;
    o->peak_bytes = o->rss_bytes = o->checkpoint_bytes = -1;
    o->checkpoint = "";
    o->checkpoint_step = -1;
    return tri_driver_feed(d, &event);
}

static tri_status feed_formed(tri_driver *d, int64_t run, int32_t attempt)
{
    tri_event event;

    memset(&event, 0, sizeof event);
    event.kind = TRI_EV_FORMED;
    event.u.formed = (tri_ev_formed){run, attempt};
    return tri_driver_feed(d, &event);
}

tri_status tri_driver_form(tri_driver *d)
{
    int i = 0;

    while (i < d->n_forming && !d->ended) {
        tri_forming f = d->forming[i];

        if (!f.is_sure) {
            i++;
            continue;
        }
        drop_forming(d, i); /* feeding may add others: begin again */
        TRI_TRY(feed_formed(d, f.run, f.attempt));
        i = 0;
    }
    return TRI_OK;
}

/* Whether `from` leads `run`: only leaders report. */
static int leads(const tri_driver *d, int64_t run, int from)
{
    tri_run_view v;

    if (run < 0 || run >= tri_ctl_n_runs(d->ctl)) {
        return 0;
    }
    tri_ctl_run(d->ctl, run, &v);
    return v.n_ranks > 0 && v.ranks[0] == from;
}

static tri_status on_ready(tri_driver *d, const tri_msg_ready *m, int from)
{
    for (int i = 0; i < d->n_forming; i++) {
        tri_forming *f = &d->forming[i];
        int at = f->run == m->run && f->attempt == m->attempt ? member(f, from)
                                                              : -1;

        if (at < 0) {
            continue;
        }
        if (m->status != TRI_OK) {
            drop_forming(d, i);
            return fail_run(d, m);
        }
        f->n_ready += !f->ready[at];
        f->ready[at] = 1;
        if (f->n_ready < f->n) {
            return TRI_OK;
        }
        drop_forming(d, i);
        return feed_formed(d, m->run, m->attempt);
    }
    if (m->status != TRI_OK && leads(d, m->run, from)) {
        return fail_run(d, m); /* it was not waited for */
    }
    TRI_LOG(TRI_LOG_DEBUG, "rank %d is ready for run %lld, which is over", from,
            (long long)m->run);
    return TRI_OK;
}

/* ---- the others -------------------------------------------------------- */

static void on_hello(tri_driver *d, const tri_msg_hello *m, int from)
{
    tri_peer *p = &d->peers[from];
    uint64_t mine = tri_rng_hash(d->study->text, strlen(d->study->text));

    if (p->said_hello || m->rank != from) {
        TRI_LOG(TRI_LOG_WARN, "hello of rank %d from rank %d ignored",
                (int)m->rank, from);
        return;
    }
    if (m->study_hash != mine) {
        TRI_LOG(TRI_LOG_ERROR,
                "rank %d has read another study; it is left "
                "out",
                from);
        p->gone = 1;
    }
    p->said_hello = 1;
    p->blind = m->blind;
    tri_greeting_note(d, m, from);
}

static int is_outcome(int kind)
{
    return kind == TRI_EV_FINISHED || kind == TRI_EV_PAUSED ||
           kind == TRI_EV_FAILED || kind == TRI_EV_LOST ||
           kind == TRI_EV_INTERRUPTED;
}

static int is_among(const tri_run_view *v, int rank)
{
    for (int i = 0; i < v->n_ranks; i++) {
        if (v->ranks[i] == rank) {
            return 1;
        }
    }
    return 0;
}

/* Whether a member of `run` says that it is lost, because of another. */
static int is_members_word(const tri_driver *d, int64_t run, int from,
                           const tri_event *event)
{
    tri_run_view v;

    if (event->kind != TRI_EV_LOST || run < 0 ||
        run >= tri_ctl_n_runs(d->ctl)) {
        return 0;
    }
    tri_ctl_run(d->ctl, run, &v);
    return event->u.outcome.lost_rank != from && is_among(&v, from) &&
           is_among(&v, event->u.outcome.lost_rank);
}

/* Who of a group is to be struck where `named` was waited for in vain. */
static int choose(const tri_driver *d, const tri_run_view *v, int named)
{
    double *silent_s = calloc((size_t)v->n_ranks, sizeof *silent_s);
    int rank = named;

    if (!silent_s) {
        return named;
    }
    for (int i = 0; i < v->n_ranks; i++) {
        silent_s[i] = tri_now() - d->peers[v->ranks[i]].heard_s;
    }
    rank = tri_watch_most_silent(v->ranks, silent_s, v->n_ranks, named);
    free(silent_s);
    return rank;
}

/* A leader names the member that it waited for in vain, or whose process is
 * damaged, be it itself: it alone is struck.  Not so where the rank is none of
 * its group.  Where it knows of a loss and not of whom, and nobody is silent,
 * the group has hung. */
static void strike_silent(tri_driver *d, tri_event *event, int from)
{
    tri_ev_outcome *o = &event->u.outcome;
    tri_run_view v;
    int named = o->lost_rank;

    o->lost_rank = -1;
    tri_ctl_run(d->ctl, o->run, &v);
    if (is_among(&v, named) ||
        (named < 0 && o->reason == TRI_REASON_RANK_LOST)) {
        o->lost_rank = named == from ? named : choose(d, &v, named);
    }
    if (o->lost_rank >= 0) {
        tri_driver_strike(d, o->lost_rank);
        if (v.ranks[0] != from) {
            tri_driver_call_off(d, o->run, o->lost_rank);
        }
    } else if (o->reason == TRI_REASON_RANK_LOST) {
        event->kind = TRI_EV_FAILED;
        o->reason = TRI_REASON_HUNG;
    }
}

/* Whether the run goes on as far as rank 0 knows. */
static int is_under_way(const tri_driver *d, const tri_ev_outcome *o)
{
    tri_run_view v;

    tri_ctl_run(d->ctl, o->run, &v);
    return v.state != TRI_RUN_ENDED && v.attempt == o->attempt;
}

static tri_status on_run(tri_driver *d, const tri_message *m, int from)
{
    tri_event event;
    int64_t run;

    memset(&event, 0, sizeof event);
    if (m->kind == TRI_MSG_REPORT) {
        event.kind = TRI_EV_REPORT;
        event.u.report = m->u.report;
        event.u.report.step_s = tri_grain(m->u.report.step_s, TRI_GRAIN_STEP);
        run = m->u.report.run;
    } else {
        event.kind = (tri_event_kind)m->u.outcome.event;
        event.u.outcome = m->u.outcome.outcome;
        run = event.u.outcome.run;
    }
    if ((m->kind == TRI_MSG_OUTCOME && !is_outcome(event.kind)) ||
        !(leads(d, run, from) || is_members_word(d, run, from, &event))) {
        TRI_LOG(TRI_LOG_WARN, "%s of run %lld from rank %d ignored",
                tri_message_name(m->kind), (long long)run, from);
        return TRI_OK;
    }
    if (event.kind == TRI_EV_LOST && !is_under_way(d, &event.u.outcome)) {
        return TRI_OK; /* another has said so already */
    }
    if (event.kind == TRI_EV_LOST) {
        strike_silent(d, &event, from);
    }
    if (event.kind == TRI_EV_FAILED || event.kind == TRI_EV_LOST) {
        TRI_LOG(TRI_LOG_DEBUG, "run %lld failed: %s: %s", (long long)run,
                tri_reason_name((tri_reason)event.u.outcome.reason),
                event.u.outcome.sentence);
    }
    TRI_TRY(tri_driver_feed(d, &event));
    /* what a run will go on from is not to be forgotten */
    return m->kind == TRI_MSG_OUTCOME && event.u.outcome.checkpoint_bytes > 0
                   ? tri_driver_make_safe(d)
                   : TRI_OK;
}

/* Words that something waits for, not beats. */
static void note_traffic(tri_driver *d, double now)
{
    if (d->word_s > 0) {
        d->between_s += (now - d->word_s - d->between_s) / LATELY;
    }
    d->word_s = now;
}

static tri_status on_message(tri_driver *d, const tri_message *m, int from)
{
    tri_peer *p = &d->peers[from];

    if (from == 0 || p->gone) {
        return TRI_OK;
    }
    p->heard_s = tri_now();
    if (m->kind != TRI_MSG_BEAT) {
        note_traffic(d, p->heard_s);
    }
    switch (m->kind) {
    case TRI_MSG_HELLO:
        on_hello(d, &m->u.hello, from);
        return TRI_OK;
    case TRI_MSG_READY:
        return on_ready(d, &m->u.ready, from);
    case TRI_MSG_REPORT:
    case TRI_MSG_OUTCOME:
        return on_run(d, m, from);
    case TRI_MSG_DRAIN:
        d->asked_to_drain = 1;
        return TRI_OK;
    default: /* a beat */
        return TRI_OK;
    }
}

int tri_driver_receive(tri_driver *d, int most)
{
    tri_message m;
    int from;
    int n = 0;

    while (n < most && !d->ended &&
           tri_channel_receive(d->channel, &m, &from)) {
        n++;
        if (on_message(d, &m, from) != TRI_OK) {
            return -1;
        }
    }
    return n;
}
