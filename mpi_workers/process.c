/*
 * Trials that are the user's own program: each rank of the group starts one
 * process, hears its JSON lines, and shares what happened with the group.  The
 * lowest rank whose process reports steps is the one that is measured.  What is
 * told of a run does not depend on when its lines are read: lines come before
 * a bad end, and none after the leader's last word.
 *
 * The time between two lines with a step is the step time.  Knows nothing of
 * what the program trains.
 */
#include "mpi_workers/process.h"

#include "mpi_workers/child.h"
#include "mpi_workers/group.h"
#include "mpi_workers/metrics.h"
#include "mpi_workers/news.h"
#include "mpi_workers/p2p.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/process_env.h"
#include "mpi_workers/process_result.h"
#include "mpi_workers/process_template.h"
#include "mpi_workers/rendezvous.h"
#include "mpi_workers/trial_kind.h"
#include "trireme/log.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLICE_S 0.02
/* How often the resident size is looked at. */
#define RSS_S      0.25
#define PATIENCE_S 60.0

extern char **environ;

struct tri_trial {
    tri_trial_setup setup;
    tri_facts facts;
    tri_rendezvous place;
    char study_dir[PATH_MAX];
    tri_child *child;
    tri_metrics *metrics;
    tri_news news;
    int64_t last_step; /* told to the group */
    int reporter;      /* the rank that is measured; -1: none yet */
    tri_heard heard;
    int64_t step_limit;       /* lines with a step beyond it are ignored */
    int64_t n_beyond, beyond; /* how many were; the step of the last */
    double rss_s;             /* when the resident size is next read */
    uint64_t bytes, rss;
    int measured;       /* the group has seen a step */
    tri_status pending; /* of a restart */
    tri_reason reason;
    char *tail; /* of the failing rank (leader) */
    size_t tail_bytes;
};

/* ---- starting ---------------------------------------------------------- */

static tri_status spawn(tri_trial *t)
{
    const tri_study *study = t->setup.study;
    const char *cwd = study->model.u.process.cwd;
    char resolved[PATH_MAX];
    tri_child_spec spec = {0};
    char **argv = NULL;
    char **env = NULL;
    tri_status st;

    if (cwd) {
        tri_study_resolve(study, cwd, resolved, sizeof resolved);
        spec.cwd = resolved;
    }
    TRI_TRY(tri_template_argv(study, t->setup.config, &t->facts, &argv));
    st = tri_env_build(environ, study, t->setup.config, &t->facts, &env);
    if (st == TRI_OK) {
        spec.argv = argv;
        spec.env = env;
        st = tri_child_spawn(&spec, &t->child);
    }
    tri_env_free(env);
    tri_template_argv_free(argv);
    return st;
}

static tri_status start(tri_trial *t)
{
    const char *own = NULL;

    if (t->setup.study->objective.metric == TRI_METRIC_OWN) {
        own = t->setup.study->objective.name;
    }
    TRI_TRY(tri_metrics_create(own, &t->metrics));
    tri_news_init(&t->news, tri_now());
    t->last_step = 0;
    t->reporter = -1;
    memset(&t->heard, 0, sizeof t->heard);
    t->step_limit = tri_heard_step_limit(t->setup.study, t->setup.target_step,
                                         t->setup.resource);
    t->n_beyond = 0;
    t->measured = 0;
    t->reason = TRI_REASON_NONE;
    return spawn(t);
}

static void stop(tri_trial *t)
{
    tri_child_destroy(t->child, t->setup.study->timeouts.grace_s);
    tri_metrics_destroy(t->metrics);
    t->child = NULL;
    t->metrics = NULL;
}

static void find_study_dir(tri_trial *t)
{
    char relative[PATH_MAX];
    char *slash;

    snprintf(relative, sizeof relative, "%s",
             t->setup.study->path ? t->setup.study->path : "");
    slash = strrchr(relative, '/');
    snprintf(slash ? slash + (slash == relative) : relative,
             slash ? sizeof relative - (size_t)(slash - relative) - 1
                   : sizeof relative,
             "%s", slash ? "" : ".");
    if (!realpath(relative, t->study_dir)) {
        snprintf(t->study_dir, sizeof t->study_dir, "%s", relative);
    }
}

static void fill_facts(tri_trial *t)
{
    const tri_trial_setup *s = &t->setup;

    find_study_dir(t);
    t->facts = (tri_facts){.rank = t->place.rank,
                           .world_size = t->place.size,
                           .local_rank = t->place.local_rank,
                           .local_world_size = t->place.local_size,
                           .run = s->run,
                           .trial = s->trial,
                           .rung = s->rung,
                           .attempt = s->attempt,
                           .epoch = s->epoch,
                           .resource = s->target_step > 0 ? s->target_step
                                                          : s->resource,
                           .seed = s->study->seed,
                           .master_addr = t->place.address,
                           .master_port = t->place.port,
                           .study_dir = t->study_dir};
}

static void process_close(tri_trial *t)
{
    if (t) {
        stop(t);
        free(t->tail);
        free(t);
    }
}

static tri_status process_open(const tri_trial_setup *setup, tri_trial **out)
{
    tri_trial *t = calloc(1, sizeof *t);
    tri_status st;

    if (t) {
        t->setup = *setup;
        st = tri_rendezvous_meet(setup->comm, (uint64_t)setup->run, PATIENCE_S,
                                 &t->place);
    } else {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for a trial");
    }
    if (tri_status_scope(st) == TRI_SCOPE_GROUP) {
        free(t);
        return st;
    }
    if (st == TRI_OK) {
        fill_facts(t);
        st = start(t);
    }
    st = tri_group_agree(setup->comm, st, PATIENCE_S);
    if (st != TRI_OK) {
        process_close(t);
        return st;
    }
    *out = t;
    return TRI_OK;
}

/* A process cannot be told of a new target: it starts afresh. */
static void process_retarget(tri_trial *t, int64_t run, int64_t resource,
                             int64_t target_step)
{
    stop(t);
    t->setup.run = run;
    t->setup.resource = resource;
    t->setup.target_step = target_step;
    t->pending = tri_rendezvous_meet(t->setup.comm, (uint64_t)run, PATIENCE_S,
                                     &t->place);
    if (t->pending == TRI_OK) {
        fill_facts(t);
        t->pending = start(t);
    }
}

/* ---- hearing ----------------------------------------------------------- */

static void on_line(void *ctx, const tri_metric_line *line)
{
    tri_trial *t = ctx;

    if (line->step > t->step_limit) {
        t->n_beyond++;
        t->beyond = line->step;
        return;
    }
    if (line->bytes > 0 && line->bytes < 9e15 &&
        (uint64_t)line->bytes > t->bytes) {
        t->bytes = (uint64_t)line->bytes;
    }
    tri_news_hear(&t->news, line);
}

static void on_output(void *ctx, tri_stream stream, const char *bytes, size_t n)
{
    tri_trial *t = ctx;

    (void)stream;
    tri_metrics_feed(t->metrics, bytes, n, on_line, t);
}

/* The last line of standard error that is not empty, for sentences. */
static void last_line(const char *tail, size_t n, char *buf, size_t bytes)
{
    size_t end = n;
    size_t from;

    while (end > 0 && (tail[end - 1] == '\n' || tail[end - 1] == ' ')) {
        end--;
    }
    from = end;
    while (from > 0 && tail[from - 1] != '\n') {
        from--;
    }
    if (end - from >= bytes) {
        end = from + bytes - 1;
    }
    for (size_t i = from; i < end; i++) {
        unsigned char c = (unsigned char)tail[i];

        buf[i - from] = c < 32 || c == 127 ? ' ' : (char)c;
    }
    buf[end - from] = 0;
}

/* A process that ended badly is this rank's status. */
static void judge_end(tri_trial *t, const tri_child_end *end, tri_vote *vote)
{
    char what[128];
    char said[120];
    size_t n;
    const char *tail = tri_child_stderr(t->child, &n);
    tri_reason reason = tri_process_class(end->wait_status, what, sizeof what);

    if (reason == TRI_REASON_NONE) {
        return;
    }
    last_line(tail, n, said, sizeof said);
    vote->status = TRI_FAIL(TRI_ETRIAL, "the process of rank %d %s%s%s",
                            t->place.rank, what, said[0] ? ": " : "", said);
    vote->reason = (int32_t)reason;
}

/* A metric of the trial's own may come after its step's line.  Where that line
 * may be the run's last one, it is told only once a line beyond it, or the
 * end, says that nothing more belongs to it. */
static int is_held(const tri_trial *t, int ended)
{
    const tri_study *study = t->setup.study;
    int may_be_last = t->setup.target_step >= 0
                              ? tri_news_peek(&t->news) >= t->setup.target_step
                              : study->resource.unit != TRI_UNIT_SECONDS;

    return study->objective.metric == TRI_METRIC_OWN && t->news.n == 1 &&
           !ended && may_be_last;
}

/* A metric that came after its step was told, or the next line. */
static void put_news(tri_trial *t, int ended, tri_vote *vote)
{
    tri_news_line line;

    if (t->reporter >= 0 && t->reporter < t->place.rank) {
        tri_news_drop(&t->news);
        return;
    }
    vote->x[7] = t->place.rank;
    if (!isnan(t->news.own)) {
        vote->x[6] = t->news.own;
        vote->has = 1;
        t->news.own = NAN;
    } else if (!is_held(t, ended) && tri_news_next(&t->news, &line)) {
        vote->x[0] = (double)line.step;
        vote->x[1] = (double)line.steps;
        vote->x[2] = line.step_s;
        vote->x[3] = line.tokens;
        vote->x[4] = line.samples;
        vote->x[5] = line.loss;
        vote->x[6] = line.own;
        vote->has = 1;
    }
}

/* What was bad is judged when all before it has been told. */
static void judge(tri_trial *t, const tri_child_end *end, tri_vote *vote)
{
    if (vote->has || !tri_news_is_empty(&t->news)) {
        return;
    }
    if (t->news.is_bad) {
        vote->status =
                TRI_FAIL(TRI_ENAN, "the loss is not a number after step %lld",
                         (long long)t->news.step);
    } else if (end) {
        judge_end(t, end, vote);
    }
}

static void hear_child(tri_trial *t, tri_vote *vote)
{
    tri_child_end end;
    int ended;
    double now;

    ended = tri_child_ended(t->child, &end);
    if (tri_news_is_empty(&t->news) || is_held(t, ended)) {
        tri_child_hear(t->child, SLICE_S, on_output, t);
        ended = tri_child_ended(t->child, &end);
        if (ended) { /* its last line may have no end */
            tri_metrics_feed(t->metrics, "\n", 1, on_line, t);
        }
    }
    now = tri_now();
    tri_news_time(&t->news, now);
    if (now >= t->rss_s) {
        t->rss = tri_child_rss(t->child);
        t->rss_s = now + RSS_S;
    }
    put_news(t, ended, vote);
    judge(t, ended ? &end : NULL, vote);
    vote->all = ended && tri_news_is_empty(&t->news);
}

static void hear(tri_trial *t, tri_vote *vote)
{
    if (t->pending != TRI_OK) {
        vote->status = (int32_t)t->pending;
        t->pending = TRI_OK;
    } else if (t->child) {
        hear_child(t, vote);
    }
    if (vote->status != TRI_OK) {
        memccpy(vote->sentence, tri_error_last()->sentence, 0,
                sizeof vote->sentence - 1);
    } else if (vote->has) {
        tri_metrics_names(t->metrics, vote->sentence, sizeof vote->sentence);
    }
    vote->max[0] = t->bytes;
    vote->max[1] = t->rss;
}

/* The failing rank's standard error goes to the leader. */
static tri_status send_tail(tri_trial *t, int failing)
{
    struct {
        uint64_t n;
        char bytes[TRI_STDERR_BYTES];
    } tail = {0};
    size_t n = 0;

    if (t->place.rank != 0 && t->place.rank != failing) {
        return TRI_OK;
    }
    if (t->place.rank == failing && t->child) {
        const char *bytes = tri_child_stderr(t->child, &n);

        memcpy(tail.bytes, bytes, n);
        tail.n = n;
    }
    if (failing != 0 && t->place.rank == failing) {
        return tri_p2p_send(t->setup.comm, 0, TRI_TAG_WORD, &tail,
                            (int)sizeof tail, PATIENCE_S);
    }
    if (failing != 0) {
        TRI_TRY(tri_p2p_receive(t->setup.comm, failing, TRI_TAG_WORD, &tail,
                                (int)sizeof tail, PATIENCE_S));
    }
    t->tail = malloc(sizeof tail.bytes);
    t->tail_bytes = t->tail ? tail.n : 0;
    if (t->tail) {
        memcpy(t->tail, tail.bytes, sizeof tail.bytes);
    }
    return TRI_OK;
}

static tri_status pass_failure(tri_trial *t, const tri_vote *vote)
{
    t->reason = (tri_reason)vote->reason;
    TRI_TRY(send_tail(t, vote->rank));
    return TRI_FAIL((tri_status)vote->status, "%s", vote->sentence);
}

static tri_news_line line_of(const tri_vote *vote)
{
    return (tri_news_line){.step = (int64_t)vote->x[0],
                           .steps = (int64_t)vote->x[1],
                           .step_s = vote->x[2],
                           .tokens = vote->x[3],
                           .samples = vote->x[4],
                           .loss = vote->x[5],
                           .own = vote->x[6]};
}

/* Whoever reports, all count alike: the lowest rank that ever did.  A lower
 * one than so far starts the count again. */
static void heed(tri_trial *t, tri_vote *vote)
{
    int from = (int)vote->x[7];
    tri_news_line line;

    if (vote->word != TRI_WORD_ON || (t->reporter >= 0 && from > t->reporter)) {
        vote->has = 0;
    }
    if (vote->has && from != t->reporter) {
        memset(&t->heard, 0, sizeof t->heard);
    }
    if (vote->has) {
        line = line_of(vote);
        tri_heard_add(&t->heard, &line);
        memcpy(t->heard.names, vote->sentence, sizeof t->heard.names);
        t->reporter = from;
        t->last_step = vote->x[1] > 0 ? (int64_t)vote->x[0] : t->last_step;
    }
}

static void fill_step(const tri_vote *vote, const tri_trial *t, tri_step *out)
{
    memset(out, 0, sizeof *out);
    out->word = vote->word;
    out->loss = out->own = NAN;
    out->ended = vote->all;
    out->rss_bytes = vote->max[1];
    out->bytes = vote->max[0] ? vote->max[0] : vote->max[1];
    out->step = t->last_step;
    out->own = vote->has ? vote->x[6] : NAN;
    if (vote->has && vote->x[1] > 0) {
        out->completed = 1;
        out->step = (int64_t)vote->x[0];
        out->step_s = vote->x[2];
        out->tokens = (int64_t)vote->x[3];
        out->samples = (int64_t)vote->x[4];
        out->loss = vote->x[5];
    }
}

/* ---- whether it is a result -------------------------------------------- */

static int is_over(const tri_trial *t, const tri_vote *vote)
{
    if (vote->word == TRI_WORD_ON) {
        return vote->all || (t->setup.target_step >= 0 &&
                             t->last_step >= t->setup.target_step);
    }
    return vote->word == TRI_WORD_DONE;
}

/* Whether what was heard is a result, or can become one: the same on every
 * rank. */
static tri_status judge_heard(tri_trial *t, const tri_vote *vote)
{
    const tri_study *study = t->setup.study;
    int ended = vote->all && vote->word == TRI_WORD_ON;
    char why[400];
    int good;

    if (is_over(t, vote)) {
        good = tri_heard_is_result(&t->heard, study, t->setup.resource,
                                   ended ? t->reporter : -1, why, sizeof why);
    } else {
        good = tri_heard_is_counted(&t->heard, study, why, sizeof why);
    }
    if (good) {
        return TRI_OK;
    }
    t->reason = TRI_REASON_BAD_EXIT;
    TRI_TRY(send_tail(t, t->reporter > 0 ? t->reporter : 0));
    return TRI_FAIL(TRI_ETRIAL, "%s", why);
}

/* What is wrong with the lines of this rank's process, of which none was of
 * use. */
static void say_lines(const tri_trial *t, char *buf, size_t bytes)
{
    static const char example[] = "{\"step\": 1, \"loss\": 2.5}";
    int64_t garbled = t->metrics ? tri_metrics_garbled(t->metrics) : 0;
    char names[160] = "";

    if (t->metrics) {
        tri_metrics_names(t->metrics, names, sizeof names);
    }
    if (t->n_beyond > 0) {
        snprintf(buf, bytes,
                 "step %lld is far beyond the last one to do (such lines are "
                 "ignored, %lld of them)",
                 (long long)t->beyond, (long long)t->n_beyond);
    } else if (garbled > 0) {
        snprintf(buf, bytes,
                 "%lld of its lines were ignored: no JSON object, or the step "
                 "is no whole number; expected %s",
                 (long long)garbled, example);
    } else if (names[0]) {
        snprintf(buf, bytes, "its lines had %s; expected %s", names, example);
    } else {
        snprintf(buf, bytes, "it should print JSON lines such as %s", example);
    }
}

/* All have ended, and nothing was measured. */
static tri_status judge_nothing(tri_trial *t)
{
    char lines[400];

    say_lines(t, lines, sizeof lines);
    t->reason = TRI_REASON_BAD_EXIT;
    TRI_TRY(send_tail(t, 0));
    return TRI_FAIL(TRI_ETRIAL, "the process ended without a metric: %s",
                    lines);
}

static tri_status process_step(tri_trial *t, int word, tri_step *out)
{
    tri_vote vote;

    memset(&vote, 0, sizeof vote);
    vote.word = word;
    hear(t, &vote);
    TRI_TRY(tri_group_vote(t->setup.comm, &vote, PATIENCE_S));
    if (vote.status != TRI_OK) {
        return pass_failure(t, &vote);
    }
    t->measured = t->measured || vote.has;
    heed(t, &vote);
    if (vote.all && !t->measured) {
        return judge_nothing(t);
    }
    TRI_TRY(judge_heard(t, &vote));
    fill_step(&vote, t, out);
    return TRI_OK;
}

static const char *process_stderr(tri_trial *t, size_t *bytes)
{
    *bytes = t->tail_bytes;
    return t->tail ? t->tail : "";
}

static tri_reason process_reason(tri_trial *t)
{
    return t->reason;
}

const tri_trial_ops tri_trial_process = {
        .name = "process",
        .open = process_open,
        .step = process_step,
        .stderr_tail = process_stderr,
        .retarget = process_retarget,
        .reason = process_reason,
        .close = process_close,
};
