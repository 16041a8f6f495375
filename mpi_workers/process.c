/*
 * Trials that are the user's own program: each rank of the group starts one
 * process, hears its JSON lines, and shares what happened with the group.  The
 * lowest rank whose process reports steps is the one that is measured.  What is
 * told of a run does not depend on when its lines are read: lines come before
 * a bad end, and none after the leader's last word, unless that is to drain:
 * then what a process does until it has saved itself counts too.
 *
 * The time between two lines with a step is the step time.  Knows nothing of
 * what the program trains.
 */
#include "mpi_workers/process_internal.h"

#include "mpi_workers/p2p.h"
#include "trireme/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- open and close ----------------------------------------------------- */

static void process_close(tri_trial *t)
{
    if (t) {
        tri_process_stop(t, t->hurries ? 0 : t->setup.study->timeouts.grace_s);
        free(t->tail);
        free(t);
    }
}

static tri_status process_open(const tri_trial_setup *setup, tri_trial **out)
{
    tri_trial *t = calloc(1, sizeof *t);
    tri_status st;

    if (!t) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a trial");
    }
    t->setup = *setup;
    st = tri_process_start(t);
    if (st != TRI_OK) {
        process_close(t);
        return st;
    }
    *out = t;
    return TRI_OK;
}

/* ---- what the group makes of it ------------------------------------------ */

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
                            (int)sizeof tail, TRI_PATIENCE_S);
    }
    if (failing != 0) {
        TRI_TRY(tri_p2p_receive(t->setup.comm, failing, TRI_TAG_WORD, &tail,
                                (int)sizeof tail, TRI_PATIENCE_S));
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
                           .own = vote->x[6],
                           .joins = vote->x[8] != 0};
}

/* Whoever reports, all count alike: the lowest rank that ever did.  A lower
 * one than so far starts the count again. */
static void heed(tri_trial *t, tri_vote *vote)
{
    int from = (int)vote->x[7];
    tri_news_line line;

    if ((vote->word != TRI_WORD_ON && vote->word != TRI_WORD_DRAIN) ||
        (t->reporter >= 0 && from > t->reporter)) {
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

/* Trainers that count each epoch's steps anew seem to stand still. */
static void note_back(const tri_vote *vote, tri_trial *t)
{
    if (vote->max[2] > 0) {
        snprintf(t->remark, sizeof t->remark,
                 "%llu line%s came with earlier steps: steps must count on, "
                 "over epochs and checkpoints",
                 (unsigned long long)vote->max[2],
                 vote->max[2] == 1 ? "" : "s");
    }
}

static void fill_step(const tri_vote *vote, const tri_trial *t, tri_step *out)
{
    memset(out, 0, sizeof *out);
    out->remark = t->remark[0] ? t->remark : NULL;
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
        out->tokens = vote->x[3];
        out->samples = vote->x[4];
        out->loss = vote->x[5];
        out->joins = vote->x[8] != 0;
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
    size_t n;
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
    if (t->remark[0]) {
        n = strlen(why);
        snprintf(why + n, sizeof why - n, "; %s", t->remark);
    }
    t->reason = TRI_REASON_BAD_EXIT;
    TRI_TRY(send_tail(t, t->reporter > 0 ? t->reporter : 0));
    if (tri_metrics_slow(t->metrics) > 0) {
        return TRI_FAIL(TRI_ETRIAL,
                        "%s; %lld searches for a pattern took too long and "
                        "were given up",
                        why, (long long)tri_metrics_slow(t->metrics));
    }
    return TRI_FAIL(TRI_ETRIAL, "%s", why);
}

/* All have ended, and nothing was measured. */
static tri_status judge_nothing(tri_trial *t)
{
    char lines[400];

    tri_process_say_lines(t, lines, sizeof lines);
    t->reason = TRI_REASON_BAD_EXIT;
    TRI_TRY(send_tail(t, 0));
    return TRI_FAIL(TRI_ETRIAL, "the process ended without a metric: %s",
                    lines);
}

/* ---- a step ------------------------------------------------------------- */

/* Whether the group failed for nothing but a port that somebody else took
 * between our look and the processes' start. */
static int is_port_taken(const tri_trial *t, const tri_vote *vote)
{
    return vote->any && vote->reason == TRI_REASON_RENDEZVOUS &&
           vote->word == TRI_WORD_ON && !t->measured &&
           t->tries + 1 < TRI_PORTS;
}

static tri_status start_elsewhere(tri_trial *t)
{
    int tries = t->tries + 1;

    if (t->place.rank == 0) {
        TRI_LOG(TRI_LOG_INFO, "run %lld: port %d was taken, another is tried",
                (long long)t->setup.run, t->place.port);
    }
    TRI_TRY(tri_process_end(t));
    t->tries = tries;
    return tri_process_start(t);
}

static tri_status take_vote(tri_trial *t, tri_vote *vote, tri_step *out)
{
    if (vote->status != TRI_OK && is_port_taken(t, vote)) {
        TRI_TRY(start_elsewhere(t));
        vote->all = vote->has = 0;
        fill_step(vote, t, out);
        return TRI_OK;
    }
    if (vote->status != TRI_OK) {
        return pass_failure(t, vote);
    }
    t->measured = t->measured || vote->has;
    heed(t, vote);
    note_back(vote, t);
    if (vote->all && !t->measured) {
        return judge_nothing(t);
    }
    TRI_TRY(judge_heard(t, vote));
    fill_step(vote, t, out);
    return TRI_OK;
}

static tri_status process_step(tri_trial *t, int word, tri_step *out)
{
    tri_vote vote;
    tri_status st;

    memset(&vote, 0, sizeof vote);
    vote.word = word;
    tri_process_hear(t, &vote);
    TRI_TRY(tri_group_vote(t->setup.comm, &vote, TRI_PATIENCE_S));
    st = take_vote(t, &vote, out);
    t->failed = st != TRI_OK || vote.word == TRI_WORD_STOP;
    return st;
}

static tri_status process_rest(tri_trial *t, tri_step *out)
{
    tri_vote vote;

    memset(&vote, 0, sizeof vote);
    vote.word = TRI_WORD_DRAIN;
    tri_process_recall(t, &vote);
    TRI_TRY(tri_group_vote(t->setup.comm, &vote, TRI_PATIENCE_S));
    if (vote.status != TRI_OK) {
        return pass_failure(t, &vote);
    }
    heed(t, &vote);
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
        .saves = tri_process_saves,
        .save = tri_process_save,
        .rest = process_rest,
        .restart = tri_process_restart,
        .reason = process_reason,
        .close = process_close,
};
