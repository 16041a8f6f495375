/*
 * The beginning of an opening: record, checks against what is stored, the
 * announcement to all ranks, the first events.
 */
#include "src/net/driver.h"

#include "mpi_workers/announced.h"
#include "mpi_workers/wait.h"
#include "mpi_workers/worker.h"
#include "trireme/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_FILES TRI_STUDY_MAX_FILES
/* What --max-time leaves at least, once all have answered. */
#define LEAST_S 1e-3

#ifndef TRI_VERSION
#define TRI_VERSION "0.1.0"
#endif

typedef struct facts { /* texts that the record and the open event share */
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    char pml[64];
    char machine_class[160];
    char machine[240];
    char *hostnames;
    char *topology;
} facts;

/* ---- facts ------------------------------------------------------------- */

/* Each host once, with commas. */
static char *join_hosts(const tri_world *w)
{
    char *all = calloc((size_t)w->size, sizeof w->seats[0].host + 1);

    for (int i = 0; all && i < w->size; i++) {
        int seen = !w->seats[i].host[0]; /* it did not come */

        for (int j = 0; j < i && !seen; j++) {
            seen = strcmp(w->seats[i].host, w->seats[j].host) == 0;
        }
        if (!seen) {
            strcat(strcat(all, i > 0 ? "," : ""), w->seats[i].host);
        }
    }
    return all;
}

static void gather_facts(const tri_driver *d, facts *f)
{
    int n;

    memset(f, 0, sizeof *f);
    MPI_Get_library_version(f->library, &n);
    f->library[strcspn(f->library, ",\n")] = 0;
    tri_launcher_pml(f->pml, sizeof f->pml);
    tri_launcher_class(&d->world->place, f->machine_class,
                       sizeof f->machine_class);
    tri_place_describe(&d->world->place, f->machine, sizeof f->machine);
    f->hostnames = join_hosts(d->world);
    f->topology = tri_place_topology();
}

static void free_facts(facts *f)
{
    free(f->hostnames);
    free(f->topology);
}

/* ---- what is stored ---------------------------------------------------- */

/* Whether the study given is the one stored, and [out] what changed. */
static tri_status check_stored(const tri_driver *d, const tri_study *stored,
                               int *changed)
{
    const char *key = tri_study_frozen_difference(stored, d->study, changed);

    if (strcmp(stored->name, d->study->name) != 0 ||
        stored->model.kind != d->study->model.kind) {
        return TRI_FAIL(TRI_EOTHER,
                        "%s was made by another study: '%s' (%s), not '%s' "
                        "(%s)",
                        d->settings->output, stored->name,
                        tri_model_name(stored->model.kind), d->study->name,
                        tri_model_name(d->study->model.kind));
    }
    if (key) {
        return TRI_FAIL(TRI_EINVAL,
                        "%s: %s differs from what %s was begun with; at a "
                        "resume only ranges, budget and finals may change",
                        d->study->path, key, d->settings->output);
    }
    return TRI_OK;
}

/* The first event of a history, the open, as a study. */
static tri_status first_study(const tri_history *history, tri_arena *arena,
                              tri_study **out)
{
    tri_entry entry;
    tri_event event;

    if (tri_history_n(history) == 0) {
        return TRI_OK;
    }
    tri_history_entry(history, 0, &entry);
    TRI_TRY(tri_event_unpack(entry.packed, entry.bytes, arena, &event));
    if (event.kind != TRI_EV_OPEN) {
        return TRI_FAIL(TRI_EMALFORMED, "the record does not begin with the "
                                        "opening of a study");
    }
    return tri_announced_study(&event.u.open, out);
}

static tri_status compare_first(const tri_driver *d, const tri_history *history,
                                tri_arena *arena)
{
    tri_study *stored = NULL;
    int changed;
    tri_status st;

    TRI_TRY(first_study(history, arena, &stored));
    if (!stored) {
        return TRI_OK;
    }
    st = check_stored(d, stored, &changed);
    if (st == TRI_OK && stored->seed != d->study->seed) {
        st = TRI_FAIL(TRI_EINVAL, "%s was begun with the seed %llu, not %llu",
                      d->settings->output, (unsigned long long)stored->seed,
                      (unsigned long long)d->study->seed);
    }
    tri_study_destroy(stored);
    return st;
}

/* Look before anything is opened for writing, so that a mistaken --resume
 * touches nothing. */
static tri_status check_first(const tri_driver *d)
{
    tri_history *history;
    tri_arena *arena;
    tri_status st;

    if (!d->settings->resume || !tri_record_exists(d->settings->output)) {
        return TRI_OK;
    }
    TRI_TRY(tri_history_read(d->settings->output, &history));
    st = tri_arena_create(&arena);
    if (st == TRI_OK) {
        st = compare_first(d, history, arena);
        tri_arena_destroy(arena);
    }
    tri_history_destroy(history);
    return st;
}

static tri_status open_record(tri_driver *d, const facts *f)
{
    const tri_record_facts given = {
            .build = TRI_VERSION,
            .mpi_library = f->library,
            .pml = f->pml,
            .level = tri_launcher_level(),
            .hostnames = f->hostnames ? f->hostnames : "",
            .topology_xml = f->topology ? f->topology : "",
            .machine_class = f->machine_class,
            .command_line =
                    d->settings->command_line ? d->settings->command_line : "",
            .summary = d->settings->summary};

    return tri_record_open(d->settings->output, d->settings->resume, &given,
                           &d->record, &d->ctl, &d->epoch);
}

/* And these ranks, should all come, have nothing to add to it. */
static int is_done(const tri_driver *d, const facts *f)
{
    tri_progress p;

    tri_ctl_progress(d->ctl, &p);
    return p.state == TRI_CTL_ENDED && p.end_status == 0 &&
           !p.ended_resumable &&
           !tri_ctl_may_go_on(d->ctl, d->world->size - 1, f->machine_class);
}

static void say_resumed(const tri_driver *d)
{
    tri_progress p;

    tri_ctl_progress(d->ctl, &p);
    TRI_LOG_JOB(TRI_LOG_INFO,
                "resumed %s at epoch %d: %lld trials, %lld runs so far",
                d->settings->output, d->epoch, (long long)p.trials,
                (long long)p.runs);
}

/* ---- the first events -------------------------------------------------- */

static double wall_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int attach(const tri_study *study, tri_attachment *list)
{
    int n = tri_study_n_files(study);

    n = n < MOST_FILES ? n : MOST_FILES;
    for (int i = 0; i < n; i++) {
        size_t bytes;

        list[i].text.data = tri_study_file(study, i, &list[i].path, &bytes);
        list[i].text.bytes = bytes;
    }
    return n;
}

static double max_time_s(const tri_driver *d)
{
    double s = d->settings->max_time_s;

    return isnan(s) ? s : fmax(s - d->waited_s, LEAST_S);
}

static void fill_open(const tri_driver *d, const tri_study *study,
                      const facts *f, tri_attachment *files, tri_event *out)
{
    tri_ev_open *o = &out->u.open;
    double end_s;

    memset(out, 0, sizeof *out);
    out->kind = TRI_EV_OPEN;
    o->study_text.data = study->text;
    o->study_text.bytes = strlen(study->text);
    o->study_path = d->study->path;
    o->attachments = files;
    o->n_attachments = attach(study, files);
    o->seed = d->study->seed;
    o->build = TRI_VERSION;
    o->epoch = d->epoch;
    o->started_s = wall_clock();
    o->max_time_s = max_time_s(d);
    end_s = tri_launcher_deadline(&o->deadline_source);
    o->deadline_s = tri_driver_now(d) + end_s - o->started_s;
    o->level = tri_launcher_level();
    o->pml = f->pml;
    o->machine_class = f->machine_class;
    o->mpi_library = f->library;
    o->machine = f->machine;
    o->memory_bytes = tri_startup_quota(d);
    o->command_line =
            d->settings->command_line ? d->settings->command_line : "";
}

/* A signal came to end the job or to drain it: nothing will be run. */
static int is_to_end(const tri_driver *d)
{
    int end;
    int n_drain = tri_worker_signals(&end);

    return end > 0 || n_drain > d->n_drain_seen || d->asked_to_drain;
}

static tri_status feed_pool(tri_driver *d)
{
    int n = 0;

    for (int i = 1; i < d->world->size && !d->ended; i++) {
        tri_peer *p = &d->peers[i];
        tri_event event;

        if (p->gone || !p->said_hello) {
            continue;
        }
        p->is_up = 1;
        n++;
        memset(&event, 0, sizeof event);
        event.kind = TRI_EV_POOL;
        event.u.pool = (tri_ev_pool){
                .rank = i,
                .state = TRI_RANK_UP,
                .host = p->host,
                .cores = p->cores,
                .device = p->device,
                .oversubscribed = (uint8_t)tri_startup_is_over(d->world, i),
                .package = p->at.package,
                .numa = p->at.numa,
                .cache = p->at.cache,
                .core = p->at.core,
                .binding = p->binding,
                .cpus = p->cpus};
        TRI_TRY(tri_driver_feed(d, &event));
    }
    if (n == 0 && !is_to_end(d)) {
        return TRI_FAIL(TRI_EPEER,
                        "no rank of the pool said hello within "
                        "%.0f s",
                        tri_greeting_limit_s(d->study));
    }
    return TRI_OK;
}

/* Say what becomes of results of another class than this opening's. */
static void say_class(const tri_driver *d, const char *before, const facts *f)
{
    tri_progress p;

    tri_ctl_progress(d->ctl, &p);
    if (p.again > 0 && strcmp(before, f->machine_class) == 0) {
        TRI_LOG_JOB(TRI_LOG_INFO,
                    "the last opening gave up: its %lld trials are measured "
                    "again",
                    (long long)p.again);
    } else if (p.again > 0) {
        TRI_LOG_JOB(TRI_LOG_WARN,
                    "machine class changed from '%s' to '%s': %lld trials are "
                    "measured again",
                    before, f->machine_class, (long long)p.again);
    }
}

static tri_status feed_first(tri_driver *d, const tri_study *stored,
                             int changed, const facts *f, const tri_warm *warm)
{
    tri_attachment files[MOST_FILES];
    tri_event event;
    char before[sizeof f->machine_class];

    snprintf(before, sizeof before, "%s", tri_ctl_machine_class(d->ctl));
    fill_open(d, stored ? stored : d->study, f, files, &event);
    event.u.open.may_think = (uint8_t)tri_driver_may_think(d);
    event.u.open.rules = TRI_RULES;
    event.u.open.warm = warm->rows;
    event.u.open.n_warm = warm->n;
    TRI_TRY(tri_driver_feed(d, &event));
    if (changed && !d->ended) {
        memset(&event, 0, sizeof event);
        event.kind = TRI_EV_EDITED;
        event.u.edited.study_text.data = d->study->text;
        event.u.edited.study_text.bytes = strlen(d->study->text);
        TRI_TRY(tri_driver_feed(d, &event));
    }
    say_class(d, before, f);
    tri_driver_start_thinking(d);
    TRI_TRY(feed_pool(d));
    TRI_TRY(tri_driver_signals(d));
    memset(&event, 0, sizeof event); /* the pool is complete: begin */
    event.kind = TRI_EV_CLOCK;
    return d->ended ? TRI_OK : tri_driver_feed(d, &event);
}

/* ---- ranks ------------------------------------------------------------- */

/* Between two beats, and two looks at processes, as in the loop. */
#define BEAT_S 1.0
#define LOOK_S 0.25

static int is_awaited(const tri_driver *d, int rank)
{
    return !d->peers[rank].said_hello && !d->peers[rank].gone;
}

static int n_awaited(const tri_driver *d)
{
    int n = 0;

    for (int i = 1; i < d->world->size; i++) {
        n += is_awaited(d, i);
    }
    return n;
}

static void leave_out(tri_driver *d, int rank, const char *why)
{
    const char *host = d->world->seats[rank].host;

    TRI_LOG_JOB(TRI_LOG_WARN, "rank %d%s%s %s: the others go on without it",
                rank, host[0] ? " on " : "", host, why);
    tri_driver_give_up(d, rank);
}

/* Those that never came, at level heartbeat. */
static void leave_out_absent(tri_driver *d)
{
    for (int i = 1; i < d->world->size; i++) {
        if (!d->world->seats[i].host[0]) {
            leave_out(d, i, "has not come");
        }
    }
}

/* Those of this host that have died meanwhile. */
static void leave_out_dead(tri_driver *d)
{
    if (tri_now() < d->look_s) {
        return;
    }
    d->look_s = tri_now() + LOOK_S;
    for (int i = 1; i < d->world->size; i++) {
        pid_t pid = d->world->pids[i];

        if (is_awaited(d, i) && pid > 0 && tri_wait_has_ended(pid)) {
            leave_out(d, i, "has ended before it answered");
        }
    }
}

/* Those that have answered hear beats while others still set up. */
static void await_hellos(tri_driver *d)
{
    double limit_s = tri_greeting_limit_s(d->study);
    double end = tri_now() + limit_s;
    tri_pause pause = {0};
    char why[64];

    leave_out_absent(d);
    while (n_awaited(d) > 0 && tri_now() < end && !is_to_end(d)) {
        if (tri_now() >= d->beat_s) {
            tri_driver_beat(d);
            d->beat_s = tri_now() + BEAT_S;
        }
        tri_channel_reap(d->channel);
        if (tri_driver_receive(d, 64) > 0) {
            tri_pause_reset(&pause);
        } else {
            leave_out_dead(d);
            tri_pause_sleep(&pause);
        }
    }
    snprintf(why, sizeof why, "did not answer within %.0f s", limit_s);
    for (int i = 1; i < d->world->size && !is_to_end(d); i++) {
        if (is_awaited(d, i)) {
            leave_out(d, i, why);
        }
    }
    d->waited_s = tri_now() - d->start_s;
    d->start_s = tri_now(); /* what ranks set up is no study time */
}

static tri_status announce(tri_driver *d, const facts *f)
{
    tri_attachment files[MOST_FILES];
    tri_event event;

    fill_open(d, d->study, f, files, &event);
    event.u.open.started_s = d->opened_s;
    TRI_TRY(tri_channel_create(d->world->control, &d->channel));
    tri_channel_set_epoch(d->channel, (uint32_t)d->epoch);
    tri_channel_set_bell(d->channel, d->world->bell);
    TRI_TRY(tri_world_announce(d->world, &event, NULL, NULL));
    await_hellos(d);
    if (is_to_end(d)) {
        return TRI_OK; /* those that have not come are not to blame */
    }
    TRI_TRY(tri_greeting_judge(d));
    return tri_driver_judge_checkpoints(d);
}

/* ---- opening ------------------------------------------------------------ */

/* The others hear of it, and the search begins; *said: they were told. */
static tri_status set_out(tri_driver *d, const tri_study *stored, int changed,
                          const facts *f, int *said)
{
    tri_warm warm = {0};
    tri_status st;

    TRI_TRY_GOTO(st, tri_driver_read_warm(d, f->machine_class, &warm), fini);
    TRI_TRY_GOTO(st, tri_driver_claim_checkpoints(d), fini);
    *said = 1; /* should it fail half way, the others are past waiting */
    TRI_TRY_GOTO(st, announce(d, f), fini);
    tri_startup_say(d, f->library, f->pml, f->hostnames);
    st = feed_first(d, stored, changed, f, &warm);
fini:
    tri_warm_fini(&warm);
    return st;
}

/* The record is open: tell the others and feed the first events; *said: they
 * were told. */
static tri_status begin(tri_driver *d, const facts *f, int *said)
{
    const tri_study *stored = tri_ctl_study(d->ctl);
    tri_progress p;
    int changed = 0;

    tri_ctl_progress(d->ctl, &p);
    d->base_s = d->last_s = stored ? p.time_s : 0;
    d->start_s = tri_now();
    if (stored) {
        TRI_TRY(check_stored(d, stored, &changed));
        if (!changed && is_done(d, f)) {
            d->ended = 1;
            snprintf(d->why, sizeof d->why, "the study is done already");
            return TRI_OK;
        }
        say_resumed(d);
    }
    d->opened_s = wall_clock();
    return set_out(d, stored, changed, f, said);
}

static void give_up(tri_driver *d)
{
    tri_error error = *tri_error_last();
    tri_record_end end = {tri_status_exit(error.code), error.sentence, 1};

    tri_driver_sweep_checkpoints(d);
    if (d->record) {
        tri_record_abandon(d->record, d->ctl, &end);
        d->record = NULL;
    }
    tri_driver_close_checkpoints(d);
    tri_error_set(error.code, error.src_file, error.src_line, "%s",
                  error.sentence);
    tri_error_place(error.file, error.line, error.column);
}

tri_status tri_driver_open(tri_driver *d)
{
    facts f;
    int said = 0;
    tri_status st = tri_net_preflight(d->study);

    memset(&f, 0, sizeof f);
    if (st == TRI_OK) {
        gather_facts(d, &f);
        st = check_first(d);
    }
    if (st == TRI_OK) {
        st = open_record(d, &f);
    }
    if (st == TRI_OK) {
        st = begin(d, &f, &said);
    }
    if (st != TRI_OK) {
        give_up(d);
    }
    if (!said) {
        tri_world_announce(d->world, NULL, NULL, NULL);
        d->left = 1;
    }
    free_facts(&f);
    return st;
}
