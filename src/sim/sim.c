/*
 * The driver of the controller on a virtual cluster: obtain the next event in
 * virtual time, feed it, carry the commands out.  Knows nothing of how the
 * controller decides; treats it as the MPI driver does, but for timeouts,
 * which virtual time has none of.
 */
#include "trireme/sim.h"

#include "src/sim/cluster.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Clock events in a row at one time that mean a controller going in circles. */
#define CLOCKS_MAX 1000
#define MAX_FILES  TRI_STUDY_MAX_FILES

void tri_sim_defaults(tri_sim_settings *settings)
{
    *settings = (tri_sim_settings){.workers = 8,
                                   .host_ranks = 8,
                                   .slow_host = -1,
                                   .slow = 1,
                                   .cost_s = 1,
                                   .optimum = NAN,
                                   .node_down_s = INFINITY,
                                   .max_virtual_s = INFINITY,
                                   .walltime_s = INFINITY,
                                   .drain_after = -1,
                                   .crash_after = -1};
}

static tri_status check_amount(const char *name, double x)
{
    if (!(x >= 0) || isinf(x)) {
        return TRI_FAIL(TRI_EINVAL, "%s is %g: a number from 0 on", name, x);
    }
    return TRI_OK;
}

static tri_status check_probability(const char *name, double x)
{
    if (!(x >= 0 && x < 1)) {
        return TRI_FAIL(TRI_EINVAL, "%s is %g: a probability from 0 to below 1",
                        name, x);
    }
    return TRI_OK;
}

static tri_status check_settings(const tri_sim_settings *s)
{
    if (s->workers < 1) {
        return TRI_FAIL(TRI_EINVAL, "a simulation with %d workers: at least 1",
                        s->workers);
    }
    if (s->host_ranks < 1) {
        return TRI_FAIL(TRI_EINVAL, "hosts of %d ranks: at least 1",
                        s->host_ranks);
    }
    if (s->slow_host > (s->workers - 1) / s->host_ranks) {
        return TRI_FAIL(TRI_EINVAL, "no host %d: %d workers are on %d",
                        s->slow_host, s->workers,
                        (s->workers - 1) / s->host_ranks + 1);
    }
    if (!(s->slow >= 1 && s->slow < INFINITY)) {
        return TRI_FAIL(TRI_EINVAL, "slow is %g: a factor from 1 on", s->slow);
    }
    if (!(s->node_down_s > 0)) {
        return TRI_FAIL(TRI_EINVAL, "node_down is %g: a time above 0",
                        s->node_down_s);
    }
    if (!(s->walltime_s > 0)) {
        return TRI_FAIL(TRI_EINVAL, "walltime is %g: a time above 0",
                        s->walltime_s);
    }
    if (s->resume_workers < 0) {
        return TRI_FAIL(TRI_EINVAL, "a study resumed on %d workers: at least 1",
                        s->resume_workers);
    }
    TRI_TRY(check_amount("straggle", s->straggle));
    TRI_TRY(check_amount("spread", s->spread));
    TRI_TRY(check_amount("latency", s->latency_s));
    TRI_TRY(check_amount("start", s->start_s));
    TRI_TRY(check_amount("think", s->think_s));
    TRI_TRY(check_probability("drop", s->drop));
    return check_probability("node_loss", s->node_loss);
}

/* ---- what goes in ---------------------------------------------------- */

static tri_status feed_clock(tri_cluster *m)
{
    tri_event e = {.kind = TRI_EV_CLOCK};

    return tri_cluster_feed(m, &e);
}

static int attach(const tri_cluster *m, tri_attachment *list)
{
    int n = tri_study_n_files(m->study);

    assert(n <= MAX_FILES);
    for (int i = 0; i < n; i++) {
        size_t bytes;

        list[i].text.data = tri_study_file(m->study, i, &list[i].path, &bytes);
        list[i].text.bytes = bytes;
    }
    return n;
}

static tri_status feed_open(tri_cluster *m)
{
    tri_attachment files[MAX_FILES];
    tri_event e = {.kind = TRI_EV_OPEN};
    tri_ev_open *o = &e.u.open;

    o->study_text.data = m->study->text;
    o->study_text.bytes = strlen(m->study->text);
    o->study_path = m->study->path;
    o->attachments = files;
    o->n_attachments = attach(m, files);
    o->seed = m->study->seed;
    o->build = "sim";
    o->epoch = ++m->epoch;
    o->max_time_s = NAN;
    o->deadline_s =
            m->set->walltime_s < INFINITY ? m->now_s + m->set->walltime_s : NAN;
    o->deadline_source = o->pml = o->command_line = "";
    o->level = "virtual";
    o->machine_class = "virtual";
    o->no_timeouts = 1;
    o->rules = TRI_RULES;
    o->may_think = m->set->think != NULL;
    if (o->epoch == 1) {
        o->warm = (tri_warm_row *)m->set->warm;
        o->n_warm = m->set->n_warm;
    }
    return tri_cluster_feed(m, &e);
}

static tri_status feed_pool(tri_cluster *m)
{
    for (int rank = 1; rank <= m->workers; rank++) {
        tri_event e = {.kind = TRI_EV_POOL};
        char host[32];

        snprintf(host, sizeof host, "v%04d", (rank - 1) / m->set->host_ranks);
        e.u.pool = (tri_ev_pool){.rank = rank,
                                 .state = TRI_RANK_UP,
                                 .host = host,
                                 .cores = m->set->host_ranks,
                                 .device = "",
                                 .binding = "",
                                 .cpus = ""};
        TRI_TRY(tri_cluster_feed(m, &e));
    }
    return feed_clock(m);
}

/* ---- the loop -------------------------------------------------------- */

static void advance(tri_cluster *m, double time_s)
{
    assert(time_s >= m->now_s);
    m->now_s = time_s;
    tri_score_advance(&m->score, time_s);
}

/* What a job that is not in vain adds to. */
static int64_t gain(const tri_cluster *m)
{
    return m->score.result.evaluations + m->kept;
}

static tri_status open_study(tri_cluster *m)
{
    m->ended = 0;
    m->reopen = 0;
    m->opened_s = m->now_s;
    m->gained = gain(m);
    if (m->epoch == 1 && m->set->resume_workers > 0) {
        m->workers = m->set->resume_workers;
    }
    TRI_TRY(feed_open(m));
    TRI_TRY(feed_pool(m));
    return tri_cluster_expect_nodes(m);
}

static tri_status drain(tri_cluster *m)
{
    tri_event e = {.kind = TRI_EV_DRAIN};

    e.u.drain.why = TRI_DRAIN_SIGNAL;
    m->reopen = 1;
    return tri_cluster_feed(m, &e);
}

/* Break the study off where the settings say so. */
static tri_status break_off(tri_cluster *m)
{
    int64_t n = m->score.result.n_events;

    if (m->ended || m->epoch > 1 || m->reopen) {
        return TRI_OK;
    }
    if (m->set->crash_after >= 0 && n >= m->set->crash_after) {
        tri_cluster_clear(m);
        return open_study(m);
    }
    if (m->set->drain_after >= 0 && n >= m->set->drain_after) {
        return drain(m);
    }
    return TRI_OK;
}

static double next_time(const tri_cluster *m, int *clock)
{
    const tri_heap_entry *top = tri_heap_top(&m->heap);
    double due = tri_ctl_next_deadline(m->ctl);
    double next = top != NULL ? top->time_s : INFINITY;

    *clock = due < next;
    if (*clock) {
        next = due;
    }
    return next > m->now_s ? next : m->now_s; /* what was due between jobs */
}

static tri_status check_progress(const tri_cluster *m, double next)
{
    if (isinf(next)) {
        return TRI_FAIL(TRI_EINTERNAL,
                        "at %g s the controller neither ends nor waits for "
                        "anything",
                        m->now_s);
    }
    if (m->idle > CLOCKS_MAX) {
        return TRI_FAIL(TRI_EINTERNAL,
                        "at %g s the controller waits for nothing while hosts "
                        "come and go",
                        m->now_s);
    }
    if (m->clocks > CLOCKS_MAX) {
        return TRI_FAIL(TRI_EINTERNAL,
                        "at %g s the controller asks for the clock for ever",
                        m->now_s);
    }
    return TRI_OK;
}

/* Obtain the next event and feed it; *stopped where time is up. */
static tri_status step(tri_cluster *m, int *stopped)
{
    int clock;
    double next = next_time(m, &clock);
    tri_heap_entry e;

    if (next > m->set->max_virtual_s) {
        advance(m, m->set->max_virtual_s);
        *stopped = 1;
        return TRI_OK;
    }
    TRI_TRY(check_progress(m, next));
    advance(m, next);
    if (clock) {
        return feed_clock(m);
    }
    e = tri_heap_pop(&m->heap);
    tri_cluster_look_ahead(m);
    return tri_cluster_fire(m, &e);
}

/* Whether another job goes on with the study, and when. */
static int goes_on(tri_cluster *m)
{
    double next = m->opened_s + m->set->walltime_s;

    if (!m->ended || !m->resumable) {
        return 0;
    }
    if (!m->reopen &&
        (isinf(next) || next > m->set->max_virtual_s || gain(m) == m->gained)) {
        return 0;
    }
    if (!m->reopen && next > m->now_s) {
        advance(m, next);
    }
    return 1;
}

static tri_status run(tri_cluster *m)
{
    tri_progress p;
    int stopped = 0;

    TRI_TRY(open_study(m));
    while (!stopped) {
        TRI_TRY(break_off(m));
        if (goes_on(m)) {
            tri_cluster_clear(m);
            TRI_TRY(open_study(m));
        } else if (m->ended) {
            break;
        } else {
            TRI_TRY(step(m, &stopped));
        }
    }
    tri_ctl_progress(m->ctl, &p);
    m->score.result.end_status = m->ended ? m->end_status : -1;
    m->score.result.jobs = m->epoch;
    m->score.result.repeated_steps = p.repeated_steps;
    return TRI_OK;
}

tri_status tri_sim_run(const tri_study *study, const tri_curve *source,
                       const tri_sim_settings *settings, tri_sim_result *out,
                       tri_ctl **ctl)
{
    tri_cluster m = {.study = study,
                     .source = source,
                     .set = settings,
                     .workers = settings->workers};
    tri_status st;

    TRI_TRY(check_settings(settings));
    tri_heap_init(&m.heap);
    tri_slots_init(&m.slots);
    tri_score_init(&m.score, study->objective.maximize,
                   isnan(settings->optimum) ? tri_curve_optimum(source)
                                            : settings->optimum,
                   tri_curve_top(source));
    TRI_TRY_GOTO(st, tri_cluster_draw_paces(&m), fini);
    TRI_TRY_GOTO(st, tri_ctl_create(&m.ctl), fini);
    if (settings->each == NULL) { /* nobody sees the commands */
        tri_ctl_omit_texts(m.ctl);
    }
    TRI_TRY_GOTO(st, run(&m), destroy);
    tri_score_take(&m.score, out);
    if (ctl != NULL) {
        *ctl = m.ctl;
        m.ctl = NULL;
    }
destroy:
    tri_ctl_destroy(m.ctl);
fini:
    tri_cluster_forget_question(&m);
    free(m.pace);
    tri_score_fini(&m.score);
    tri_slots_fini(&m.slots);
    tri_heap_fini(&m.heap);
    return st;
}

void tri_sim_result_fini(tri_sim_result *result)
{
    free(result->history);
    result->history = NULL;
    result->n_history = 0;
}
