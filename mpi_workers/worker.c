/*
 * Ranks 1..n-1: idle, forming, running.  Takes orders from rank 0, one at a
 * time; the run itself is run.c.
 */
#include "mpi_workers/worker.h"

#include "mpi_workers/announced.h"
#include "mpi_workers/checkpoint_dir.h"
#include "mpi_workers/child.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/process_logs.h"
#include "mpi_workers/run.h"
#include "mpi_workers/wait.h"
#include "mpi_workers/watchdog.h"
#include "trireme/log.h"
#include "trireme/net.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Communicators kept at a time; MPI has some thousands. */
#define MOST_GROUPS 64

double tri_worker_lease_s = 60;

static volatile sig_atomic_t n_drain, n_end;

void tri_worker_note_signal(int signo)
{
    if (signo == SIGUSR1) {
        n_drain++;
    } else {
        n_end++;
        tri_wait_abandoned = 1;
    }
}

void tri_worker_forget_signals(void)
{
    n_drain = n_end = 0;
    tri_wait_abandoned = 0;
}

int tri_worker_signals(int *end)
{
    *end = n_end;
    return n_drain;
}

void tri_worker_send(tri_worker *w, const tri_message *m)
{
    if (tri_channel_send(w->channel, 0, m) != TRI_OK) {
        TRI_LOG(TRI_LOG_WARN, "rank 0 was not told of %s: %s",
                tri_message_name(m->kind), tri_error_last()->sentence);
    }
}

static void send_bare(tri_worker *w, tri_message_kind kind)
{
    tri_message m;

    memset(&m, 0, sizeof m);
    m.kind = kind;
    tri_worker_send(w, &m);
}

/* A rank that leaves without MPI_Finalize makes the launcher kill the others,
 * so after a signal rank 0 is given this time for its record. */
#define LINGER_S 0.15

/* Die: the children first, and no word to anybody. */
static void die(tri_worker *w)
{
    w->dying = 1;
    tri_child_kill_all();
}

void tri_worker_tend(tri_worker *w)
{
    int end;
    double now = tri_now();

    if (tri_worker_signals(&end) > w->drained) {
        w->drained = tri_worker_signals(&end);
        send_bare(w, TRI_MSG_DRAIN);
    }
    if (end > 0) {
        die(w);
    }
    if (now >= w->beat_s) {
        w->beat_s = now + TRI_BEAT_S;
        send_bare(w, TRI_MSG_BEAT);
    }
    tri_channel_reap(w->channel);
}

/* A struck rank is never asked again: it may as well go, where its end ends
 * nobody else. */
static void hear_struck(tri_worker *w, int rank)
{
    w->has_lost = 1;
    if (rank == w->world.rank && w->outlives) {
        TRI_LOG(TRI_LOG_WARN, "this rank was struck from the pool: leaving");
        die(w);
    }
}

/* On rank 0's host its end is seen, whatever the lease; its last words were
 * read before. */
static void look_at_leader(tri_worker *w)
{
    double now = tri_now();

    if (now < w->look_s || w->dying || w->leaving) {
        return;
    }
    w->look_s = now + TRI_BEAT_S;
    if (w->world.pids[0] > 0 && tri_wait_has_ended(w->world.pids[0])) {
        TRI_LOG(TRI_LOG_ERROR, "rank 0's process has ended: leaving");
        die(w);
    }
}

int tri_worker_receive(tri_worker *w, tri_message *out)
{
    int from;

    while (tri_channel_receive(w->channel, out, &from)) {
        if (from != 0) {
            TRI_LOG(TRI_LOG_WARN, "message %s from rank %d ignored",
                    tri_message_name(out->kind), from);
            continue;
        }
        w->heard_s = tri_now();
        if (out->kind != TRI_MSG_COMMAND) {
            continue;
        }
        if (out->u.command.kind == TRI_CMD_LEAVE) {
            w->leaving = 1;
            continue;
        }
        if (out->u.command.kind == TRI_CMD_STRIKE) {
            hear_struck(w, out->u.command.u.strike.rank);
            continue;
        }
        return 1;
    }
    look_at_leader(w);
    if (tri_now() - w->heard_s > tri_worker_lease_s) {
        TRI_LOG(TRI_LOG_ERROR, "rank 0 was silent for %.0f s: leaving",
                tri_worker_lease_s);
        die(w);
    }
    return 0;
}

/* ---- orders ------------------------------------------------------------ */

typedef struct pending { /* an assignment that waits for its go */
    int is;
    int64_t refused; /* else the run that it was refused for, or -1 */
    tri_assignment a;
} pending;

static void drop(pending *p)
{
    if (p->is) {
        tri_assignment_fini(&p->a);
        p->is = 0;
    }
}

static void on_assign(tri_worker *w, pending *p, const tri_cmd_assign *assign)
{
    tri_message m;
    tri_status st;

    drop(p);
    tri_error_clear();
    st = tri_assignment_init(&p->a, w, assign);
    p->is = st == TRI_OK;
    p->refused = p->is ? -1 : assign->run;
    memset(&m, 0, sizeof m);
    m.kind = TRI_MSG_READY;
    m.u.ready = (tri_msg_ready){
            .rank = w->world.rank,
            .run = assign->run,
            .attempt = assign->attempt,
            .status = (int32_t)st,
            .sentence = st == TRI_OK ? "" : tri_error_last()->sentence};
    tri_worker_send(w, &m);
}

static void on_go(tri_worker *w, pending *p, const tri_cmd_go *go)
{
    if (!p->is && p->refused == go->run) {
        return; /* rank 0 had not heard of it yet */
    }
    if (!p->is || p->a.run != go->run || p->a.attempt != go->attempt) {
        TRI_LOG(TRI_LOG_WARN, "go for run %lld, which was not assigned",
                (long long)go->run);
        return;
    }
    tri_run_execute(w, &p->a);
    drop(p);
    tri_channel_replay(w->channel);
}

static void answer_verdict(tri_worker *w, tri_event_kind event,
                           tri_reason reason, int64_t run, int attempt)
{
    tri_message m;
    tri_ev_outcome *o = &m.u.outcome.outcome;

    memset(&m, 0, sizeof m);
    m.kind = TRI_MSG_OUTCOME;
    m.u.outcome.event = (int32_t)event;
    o->run = run;
    o->attempt = attempt;
    o->reason = (int32_t)reason;
    o->sentence = "";
    o->lost_rank = -1;
    o->checkpoint = "";
    o->checkpoint_step = o->checkpoint_bytes = -1;
    o->peak_bytes = o->rss_bytes = -1;
    o->objective = o->lo = o->hi = o->loss = o->tokens_per_s =
            o->samples_per_s = o->step_s = o->checkpoint_s = NAN;
    tri_worker_send(w, &m);
}

/* A verdict on a run that is not under way here: it came too late, or before
 * the run began. */
static void on_verdict(tri_worker *w, pending *p, const tri_cmd_verdict *v)
{
    if (v->verdict == TRI_VERDICT_CONTINUE) {
        answer_verdict(w, TRI_EV_LOST, TRI_REASON_LATE_VERDICT, v->next_run, 0);
    } else if (p->is && p->a.run == v->run && p->a.attempt == v->attempt) {
        drop(p);
        answer_verdict(w, v->drain ? TRI_EV_INTERRUPTED : TRI_EV_PAUSED,
                       v->drain ? TRI_REASON_DRAINED : TRI_REASON_NONE, v->run,
                       v->attempt);
    }
}

static void obey(tri_worker *w, pending *p, const tri_message *m)
{
    const tri_command *c = &m->u.command;

    switch (c->kind) {
    case TRI_CMD_ASSIGN:
        on_assign(w, p, &c->u.assign);
        break;
    case TRI_CMD_GO:
        on_go(w, p, &c->u.go);
        break;
    case TRI_CMD_VERDICT:
        on_verdict(w, p, &c->u.verdict);
        break;
    default:
        TRI_LOG(TRI_LOG_WARN, "command %s ignored", tri_command_name(c->kind));
        break;
    }
}

static void serve(tri_worker *w)
{
    pending p = {.refused = -1};
    tri_pause pause = {0};
    tri_message m;

    w->heard_s = tri_now();
    while (!w->dying) {
        tri_worker_tend(w);
        if (tri_worker_receive(w, &m)) {
            obey(w, &p, &m);
            tri_pause_reset(&pause);
        } else if (w->leaving) {
            break;
        } else {
            tri_bell_pause(w->world.bell, &pause);
        }
    }
    drop(&p);
}

/* ---- start and end ------------------------------------------------------ */

/* `trouble`: why this rank can run nothing, or "". */
static void say_hello(tri_worker *w, const char *trouble)
{
    tri_message m;

    memset(&m, 0, sizeof m);
    m.kind = TRI_MSG_HELLO;
    m.u.hello = (tri_msg_hello){
            .rank = w->world.rank,
            .host = w->world.place.host,
            .cores = w->world.place.cores,
            .host_cores = w->world.place.host_cores,
            .pid = getpid(),
            .device = w->base ? w->base->shown : w->world.place.device,
            .trouble = trouble,
            .remark = w->base ? w->base->remark : "",
            .study_hash = tri_rng_hash(w->study->text, strlen(w->study->text)),
            .memory_bytes = w->quota_bytes,
            .blind = (uint8_t)w->blind,
            .package = w->world.place.at.package,
            .numa = w->world.place.at.numa,
            .cache = w->world.place.at.cache,
            .core = w->world.place.at.core,
            .binding = w->world.place.binding,
            .cpus = w->world.place.cpus};
    tri_worker_send(w, &m);
}

/* Other hosts see a network's file a little later than the one that wrote. */
#define SEEN_S 5.0

/* The first rank of each host but rank 0's looks whether what is saved here
 * would be found by others. */
static int is_blind(const tri_worker *w, double opened_s)
{
    const tri_seat *seats = w->world.seats;
    const char *here = seats[w->world.rank].host;

    for (int i = 0; i < w->world.rank; i++) {
        if (strcmp(seats[i].host, here) == 0) {
            return 0;
        }
    }
    return tri_checkpoint_may_be(w->study) &&
           !tri_checkpoint_sees(w->study, opened_s, SEEN_S);
}

/* What processes need of their rank; without it this rank takes part in no
 * trial, and rank 0 hears why. */
static void prepare(tri_worker *w)
{
    tri_status st = TRI_OK;

    tri_error_clear();
    if (w->study->model.kind == TRI_MODEL_PROCESS) {
        st = tri_process_base_open(&w->world, w->study, &w->base);
    }
    if (tri_wait_abandoned) {
        return; /* its end is no trouble of its own */
    }
    say_hello(w, st == TRI_OK ? "" : tri_error_last()->sentence);
}

static tri_status join(tri_worker *w, const tri_ev_open *open)
{
    TRI_TRY(tri_announced_study(open, &w->study));
    TRI_TRY(tri_groups_create(w->world.peers, MOST_GROUPS, &w->groups));
    TRI_TRY(tri_channel_create(w->world.control, &w->channel));
    tri_channel_set_bell(w->channel, w->world.bell);
    TRI_TRY(tri_remover_create(&w->remover));
    w->epoch = open->epoch;
    w->blind = is_blind(w, open->started_s);
    tri_world_bind(&w->world); /* before there are threads and processes */
    w->outlives = open->level && strcmp(open->level, "heartbeat") == 0;
    tri_channel_set_epoch(w->channel, (uint32_t)open->epoch);
    w->quota_bytes = w->study->memory_bytes
                             ? w->study->memory_bytes
                             : tri_world_quota(&w->world, w->world.rank);
    prepare(w);
    return TRI_OK;
}

/* Freeing communicators is collective: a peer may be gone. */
#define END_S 30.0
/* What is left of a large checkpoint then is found at the next opening. */
#define REMOVE_S 5.0

static void fini(tri_worker *w)
{
    double before = tri_watchdog_begin(END_S);
    int orderly = !w->dying && !(w->has_lost && w->outlives);

    if (w->dying) {
        tri_sleep(LINGER_S);
    }
    if (w->channel) {
        orderly = tri_channel_flush(w->channel, w->dying ? 0 : 1.0) == 0 &&
                  orderly;
    }
    tri_groups_destroy(w->groups, orderly);
    tri_remover_destroy(w->remover, orderly ? REMOVE_S : 0);
    tri_logs_forget();
    tri_channel_destroy(w->channel);
    tri_world_close(&w->world, orderly);
    tri_process_base_close(w->base);
    tri_study_destroy(w->study);
    tri_watchdog_end(before);
}

int tri_worker_main(int *must_exit)
{
    tri_worker w;
    tri_arena *arena = NULL;
    tri_event heard;
    tri_status st;

    memset(&w, 0, sizeof w);
    *must_exit = 1;
    st = tri_world_meet(&w.world);
    if (st != TRI_OK) {
        TRI_LOG(TRI_LOG_ERROR, "this rank cannot take part: %s",
                tri_error_last()->sentence);
        return 0;
    }
    st = tri_arena_create(&arena);
    if (st == TRI_OK) {
        st = tri_world_announce(&w.world, NULL, arena, &heard);
    }
    if (st == TRI_OK && heard.kind == TRI_EV_OPEN) {
        st = join(&w, &heard.u.open);
        if (st == TRI_OK) {
            serve(&w);
        }
    }
    if (st != TRI_OK) {
        TRI_LOG(TRI_LOG_ERROR, "this rank cannot take part: %s",
                tri_error_last()->sentence);
        w.dying = 1;
    }
    *must_exit = w.dying || (w.has_lost && w.outlives);
    fini(&w);
    tri_arena_destroy(arena);
    return 0;
}
