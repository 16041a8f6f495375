/*
 * Trials that are a shared object of the user's own, inside the workers: the
 * ranks of a group call its functions together (trireme/trial.h), and agree
 * after each call on how it went.  Times the calls; knows nothing of what the
 * plugin does.
 */
#include "mpi_workers/group.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/plugin_call.h"
#include "mpi_workers/plugin_comm.h"
#include "mpi_workers/plugin_crash.h"
#include "mpi_workers/plugin_load.h"
#include "mpi_workers/plugin_probe.h"
#include "mpi_workers/plugin_report.h"
#include "mpi_workers/plugin_values.h"
#include "mpi_workers/tree.h"
#include "mpi_workers/trial_kind.h"
#include "mpi_workers/wait.h"
#include "trireme/log.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* No limit of its own: a member may be in a long step.  Rank 0 limits those
 * (timeouts.progress), and calls the run off. */
#define LONGEST_S 86400.0
/* Very short steps are asked for by the few: in a call of so long, but no more
 * than a share of the resource, so that there are calls to compare. */
#define CALL_S     0.002
#define MOST_STEPS 64
#define SHARE      16
/* How often the resident size is looked at. */
#define RSS_S 0.1

struct tri_trial {
    const tri_study *study;
    tri_plugin_caller caller;
    trireme_trial_setup given;
    tri_plugin_values *values;
    char study_dir[PATH_MAX];
    int opened, all_opened; /* the plugin's trial; here, everywhere */
    int lost;               /* a member is: nothing is done together any more */
    MPI_Comm group, comm;
    int rank;
    tri_plugin_heard heard;
    int64_t at, since; /* steps done: in all, since this rank opened it */
    double step_s;     /* of the last call, by the slowest rank */
    uint64_t rss;
    double rss_s; /* when it is next looked at */
    tri_reason reason;
    tri_status pending; /* of an open that failed: told at the first step */
    char sentence[256];
};

/* ---- opening ----------------------------------------------------------- */

/* The high-water mark of this process, which from here on is the trial's. */
static void forget_rss(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");

    if (f) {
        fputs("5", f);
        fclose(f);
    }
}

static uint64_t read_rss(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    unsigned long kib = 0;
    char line[256];

    if (!f) {
        return 0;
    }
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "VmHWM: %lu kB", &kib) == 1) {
            break;
        }
    }
    fclose(f);
    return (uint64_t)kib << 10;
}

static void look_at_rss(tri_trial *t, int now)
{
    double time = tri_now();

    if (now || time >= t->rss_s) {
        uint64_t rss = read_rss();

        t->rss = rss > t->rss ? rss : t->rss;
        t->rss_s = time + RSS_S;
    }
}

static void fill_setup(tri_trial *t, const tri_trial_setup *s)
{
    t->given = (trireme_trial_setup){.struct_bytes = sizeof t->given,
                                     .comm = t->comm,
                                     .trial = s->trial,
                                     .run = s->run,
                                     .rung = s->rung,
                                     .attempt = s->attempt,
                                     .epoch = s->epoch,
                                     .finals = s->phase != 0,
                                     .seed = s->study->seed,
                                     .resource = s->resource,
                                     .target_step = s->target_step,
                                     .warmup_steps = s->warmup_steps,
                                     .study_dir = t->study_dir,
                                     .checkpoint = s->checkpoint,
                                     .first_step = s->first_step,
                                     .memory_bytes = s->quota_bytes,
                                     .say = tri_plugin_say,
                                     .say_ctx = &t->caller.words};
    tri_plugin_values_give(t->values, &t->given);
}

/* What this rank needs before the plugin is asked. */
static tri_status prepare(tri_trial *t, const tri_trial_setup *setup)
{
    tri_status st;

    t->study = setup->study;
    t->group = setup->comm;
    t->at = setup->first_step;
    MPI_Comm_rank(t->group, &t->rank);
    t->caller.rank = t->rank;
    if (tri_plugin_has_crashed()) { /* in a close */
        return TRI_FAIL(TRI_EPEER,
                        "rank %d of the group is damaged: a plugin "
                        "has crashed in it",
                        t->rank);
    }
    tri_plugin_heard_init(&t->heard, t->study, t->at);
    tri_trial_study_dir(t->study, t->study_dir);
    TRI_TRY(tri_plugin_values_create(t->study, setup->config, &t->values));
    st = tri_plugin_of(t->study, &t->caller.plugin);
    t->reason = st == TRI_OK || st == TRI_EPEER ? TRI_REASON_NONE
                                                : TRI_REASON_IMPORT_ERROR;
    return st;
}

static void put_failure(tri_status st, tri_reason reason, tri_vote *vote)
{
    vote->status = (int32_t)st;
    vote->reason = (int32_t)reason;
    if (st != TRI_OK) {
        memccpy(vote->sentence, tri_error_last()->sentence, 0,
                sizeof vote->sentence - 1);
    }
}

/* What the group's vote says that failed. */
static tri_status pass_failure(tri_trial *t, const tri_vote *vote)
{
    tri_status st = (tri_status)vote->status;

    t->reason = (tri_reason)vote->reason;
    if (st == TRI_EPEER) {
        tri_wait_blame(t->group, vote->rank);
    }
    return TRI_FAIL(st, "%s", vote->sentence);
}

/* Agree on how opening went so far.  A failure of the plugin's is kept for the
 * first step, where it has a class; one of the group's is returned. */
static tri_status agree(tri_trial *t, tri_status st, tri_reason reason)
{
    tri_vote vote = {0};

    put_failure(st, reason, &vote);
    vote.all = t->opened;
    TRI_TRY(tri_group_vote(t->group, &vote, LONGEST_S));
    t->all_opened = vote.all;
    t->pending = (tri_status)vote.status;
    t->reason = (tri_reason)vote.reason;
    memcpy(t->sentence, vote.sentence, sizeof t->sentence);
    return tri_status_scope(t->pending) == TRI_SCOPE_GROUP
                   ? pass_failure(t, &vote)
                   : TRI_OK;
}

static tri_status open_theirs(tri_trial *t, const tri_trial_setup *setup)
{
    tri_status st;
    tri_reason reason;

    TRI_TRY(tri_plugin_comm_open(t->group, &t->comm));
    fill_setup(t, setup);
    forget_rss();
    st = tri_plugin_call_open(&t->caller, &t->given, &reason);
    t->opened = st == TRI_OK;
    return agree(t, st, reason);
}

static void plugin_close(tri_trial *t)
{
    int together;
    int left = 0;

    if (!t) {
        return;
    }
    together = t->all_opened && !t->lost;
    if (t->opened && !tri_plugin_has_crashed() &&
        tri_plugin_call_close(&t->caller, together) != TRI_OK) {
        TRI_LOG(TRI_LOG_ERROR, "%s", tri_error_last()->sentence);
        t->lost = 1;
    }
    if (t->comm != MPI_COMM_NULL) {
        left = tri_plugin_comm_close(t->comm, !t->lost);
    }
    if (left > 0 && together && t->rank == 0) {
        TRI_LOG(TRI_LOG_WARN,
                "the plugin left %d duplicate%s of its communicator behind",
                left, left > 1 ? "s" : "");
    }
    tri_plugin_values_destroy(t->values);
    free(t);
}

static tri_status plugin_open(const tri_trial_setup *setup, tri_trial **out)
{
    tri_trial *t = calloc(1, sizeof *t);
    tri_status st;

    if (!t) { /* the others hear of it */
        return tri_group_agree(setup->comm,
                               TRI_FAIL(TRI_ENOMEM, "no memory for a trial"),
                               LONGEST_S);
    }
    t->comm = MPI_COMM_NULL;
    st = prepare(t, setup);
    st = agree(t, st, t->reason);
    if (st == TRI_OK && t->pending == TRI_OK) {
        st = open_theirs(t, setup);
    }
    if (st != TRI_OK) {
        t->lost = 1;
        plugin_close(t);
        return st;
    }
    *out = t;
    return TRI_OK;
}

/* ---- stepping ---------------------------------------------------------- */

static int on_report(void *ctx, const trireme_trial_report *report)
{
    return tri_plugin_heard_add(ctx, report);
}

/* How many steps to ask for: the same on every rank. */
static int64_t steps_to_ask(const tri_trial *t)
{
    int64_t target = t->given.target_step;
    int64_t most = target < 0 ? MOST_STEPS : t->given.resource / SHARE;
    double fitting = t->step_s > 0 ? CALL_S / t->step_s : 1;
    int64_t n;

    if (t->study->objective.learned || t->since < t->given.warmup_steps ||
        (target < 0 && t->study->resource.unit != TRI_UNIT_SECONDS)) {
        return 1;
    }
    most = most < MOST_STEPS ? most : MOST_STEPS;
    most = target >= 0 && target - t->at < most ? target - t->at : most;
    n = fitting < (double)most ? (int64_t)fitting : most;
    return n > 1 ? n : 1;
}

/* Whether the run is over with this call, as its leader sees it. */
static int is_over(const tri_trial *t, int word)
{
    int64_t target = t->given.target_step;

    return word == TRI_WORD_DONE || (target >= 0 && t->heard.step >= target);
}

/* All have come; the leader's word before the work, so that a trial that is to
 * leave does no step more. */
static tri_status meet(const tri_trial *t, int *word)
{
    int mine = t->rank == 0 ? *word : 0;

    if (MPI_Allreduce(&mine, word, 1, MPI_INT, MPI_SUM, t->group) !=
        MPI_SUCCESS) {
        return TRI_FAIL(TRI_ECOMM, "the group could not begin a step together");
    }
    return TRI_OK;
}

/* The call itself, until it returns on this rank. */
static tri_status call(tri_trial *t, double *seconds, int *ended,
                       tri_reason *reason)
{
    int64_t asked = t->at + steps_to_ask(t);
    double start;
    tri_status st;

    tri_plugin_heard_begin(&t->heard, asked);
    start = tri_now();
    st = tri_plugin_call_run_until(&t->caller, asked, on_report, &t->heard,
                                   ended, reason);
    *seconds = tri_now() - start;
    return st;
}

static void put_heard(const tri_trial *t, tri_vote *vote)
{
    const tri_plugin_heard *h = &t->heard;
    double n = (double)tri_plugin_heard_steps(h);

    vote->has = 1;
    vote->x[0] = (double)h->step;
    vote->x[1] = n;
    vote->x[2] = n > 0 ? h->tokens / n : 0;
    vote->x[3] = n > 0 ? h->samples / n : 0;
    vote->x[4] = h->loss;
    vote->x[5] = h->own;
}

static void work(tri_trial *t, tri_vote *vote)
{
    tri_reason reason = TRI_REASON_NONE;
    double seconds = 0;
    int ended = 0;
    tri_status st = meet(t, &vote->word);

    if (st == TRI_OK && vote->word == TRI_WORD_ON) {
        st = call(t, &seconds, &ended, &reason);
    } else {
        tri_plugin_heard_begin(&t->heard, t->at);
    }
    if (t->rank == 0) {
        if (st == TRI_OK) {
            st = tri_plugin_heard_judge(
                    &t->heard, ended, is_over(t, vote->word), t->given.resource,
                    t->given.target_step);
        }
        put_heard(t, vote);
    }
    put_failure(st, reason, vote);
    look_at_rss(t, ended || is_over(t, vote->word));
    vote->all = vote->any = ended;
    vote->max[0] = t->heard.bytes;
    vote->max[1] = t->rss;
    vote->max[2] = (uint64_t)(seconds * 1e9);
}

static void fill_step(const tri_trial *t, const tri_vote *vote, tri_step *out)
{
    memset(out, 0, sizeof *out);
    out->completed = vote->x[1] > 0;
    out->step = t->at;
    out->step_s = t->step_s;
    out->tokens = vote->x[2];
    out->samples = vote->x[3];
    out->loss = vote->x[4];
    out->own = vote->x[5];
    out->bytes = vote->max[0] ? vote->max[0] : vote->max[1];
    out->rss_bytes = vote->max[1];
    out->word = vote->word;
    out->ended = vote->all;
}

/* What the group's vote came to. */
static tri_status heed(tri_trial *t, const tri_vote *vote)
{
    double n = vote->x[1];

    if (vote->status != TRI_OK) {
        return pass_failure(t, vote);
    }
    if (vote->any && !vote->all) {
        t->reason = TRI_REASON_BAD_EXIT;
        return TRI_FAIL(TRI_ETRIAL,
                        "the plugin ended after step %.0f on some "
                        "ranks of the trial, not on all",
                        vote->x[0]);
    }
    t->at = t->heard.step = (int64_t)vote->x[0];
    t->since += (int64_t)n;
    t->step_s = n > 0 ? (double)vote->max[2] / 1e9 / n : t->step_s;
    return TRI_OK;
}

static tri_status plugin_step(tri_trial *t, int word, tri_step *out)
{
    tri_vote vote = {.word = word};
    tri_status st;

    if (t->pending != TRI_OK) {
        return TRI_FAIL(t->pending, "%s", t->sentence);
    }
    work(t, &vote);
    st = tri_group_vote(t->group, &vote, LONGEST_S);
    if (st == TRI_OK) {
        st = heed(t, &vote);
    }
    if (tri_status_scope(st) == TRI_SCOPE_GROUP) {
        t->lost = 1;
    }
    if (st == TRI_OK) {
        fill_step(t, &vote, out);
    }
    return st;
}

/* ---- between runs ------------------------------------------------------ */

/* A file's size, or that of all files of a directory. */
static tri_status size_of(const char *path, uint64_t *bytes)
{
    struct stat is;
    int64_t files;
    int rc = stat(path, &is);

    if (rc == 0 && S_ISDIR(is.st_mode)) {
        rc = tri_tree_weigh(path, TRI_TREE_WEIGH_S, bytes, &files);
    } else if (rc == 0) {
        *bytes = (uint64_t)is.st_size;
    }
    if (rc != 0) {
        return TRI_FAIL(TRI_ETRIAL,
                        "the plugin said that its checkpoint is written, but "
                        "%s cannot be read: %s",
                        path, strerror(errno));
    }
    return TRI_OK;
}

static tri_status plugin_save(tri_trial *t, const char *path, int drains,
                              tri_saved *out)
{
    uint64_t bytes = 0;
    tri_status st;

    (void)drains; /* it is between two calls here, and can go on */
    if (!t->caller.plugin.checkpoint) {
        return TRI_FAIL(TRI_EUNBUILT, "the plugin has no checkpoints");
    }
    st = agree(t, tri_plugin_call_checkpoint(&t->caller, path),
               TRI_REASON_NONE);
    if (st == TRI_OK && t->pending != TRI_OK) {
        st = TRI_FAIL(t->pending, "%s", t->sentence);
    }
    t->pending = TRI_OK;
    t->lost = tri_status_scope(st) == TRI_SCOPE_GROUP;
    TRI_TRY(st);
    if (t->rank == 0) {
        TRI_TRY(size_of(path, &bytes));
    }
    out->step = t->at;
    out->bytes = bytes;
    return TRI_OK;
}

static void plugin_retarget(tri_trial *t, int64_t run, int64_t resource,
                            int64_t target_step)
{
    t->given.run = run;
    t->given.resource = resource;
    t->given.target_step = target_step;
}

static tri_reason plugin_reason(tri_trial *t)
{
    return t->reason;
}

const tri_trial_ops tri_trial_plugin = {
        .name = "plugin",
        .open = plugin_open,
        .step = plugin_step,
        .saves = tri_plugin_saves,
        .save = plugin_save,
        .retarget = plugin_retarget,
        .reason = plugin_reason,
        .close = plugin_close,
};
