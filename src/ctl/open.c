/*
 * Openings: the study is read, or what the last opening left is put in order,
 * and at a resume the user's edits are let in where they may.
 */
#include "src/ctl/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUSPICION_MOST 2

/* ---- reading ---- */

typedef struct given {
    const tri_attachment *list;
    int n;
} given;

static tri_status read_attachment(void *ctx, const char *path, char **data,
                                  size_t *bytes)
{
    const given *g = ctx;

    for (int i = 0; i < g->n; i++) {
        const tri_blob *text = &g->list[i].text;
        char *copy;

        if (strcmp(g->list[i].path, path) != 0) {
            continue;
        }
        copy = malloc(text->bytes + 1);
        if (!copy) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for %s", path);
        }
        if (text->bytes) {
            memcpy(copy, text->data, text->bytes);
        }
        copy[text->bytes] = 0;
        *data = copy;
        *bytes = text->bytes;
        return TRI_OK;
    }
    return TRI_FAIL(TRI_EIO, "%s was not attached to the study", path);
}

static void describe_empty(const tri_study *study)
{
    const tri_space *space = study->space;
    int tightest = -1;

    for (int i = 0; i < tri_space_n_rules(space); i++) {
        if (tightest < 0 || tri_space_rule_refused(space, i) >
                                    tri_space_rule_refused(space, tightest)) {
            tightest = i;
        }
    }
    if (tightest < 0) {
        TRI_FAIL(TRI_EEMPTY, "no configuration is valid");
    } else {
        TRI_FAIL(TRI_EEMPTY,
                 "no configuration is valid; the tightest rule is: %s",
                 tri_space_rule(space, tightest));
    }
}

static tri_status parse(const given *g, const tri_blob *text, const char *path,
                        tri_study **out)
{
    tri_study *study = NULL;
    given copy = *g;

    TRI_TRY(tri_study_parse(text->data, text->bytes, path ? path : "",
                            read_attachment, &copy, &study));
    if (tri_space_count(study->space) == 0) {
        describe_empty(study);
        tri_study_destroy(study);
        return TRI_EEMPTY;
    }
    *out = study;
    return TRI_OK;
}

static tri_status keep_attachments(tri_ctl *ctl, const tri_ev_open *ev)
{
    size_t n = (size_t)(ev->n_attachments > 0 ? ev->n_attachments : 0);
    tri_attachment *list = tri_keep_bytes(&ctl->keep, (n + 1) * sizeof *list);

    for (size_t i = 0; list && i < n; i++) {
        const tri_blob *text = &ev->attachments[i].text;

        list[i].path = tri_keep_text(&ctl->keep, ev->attachments[i].path);
        list[i].text.bytes = text->bytes;
        list[i].text.data = tri_keep_copy(&ctl->keep, text->data, text->bytes);
        if (!list[i].path || !list[i].text.data) {
            list = NULL;
        }
    }
    if (!list) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the files of a study");
    }
    ctl->attachments = list;
    ctl->n_attachments = (int)n;
    return TRI_OK;
}

tri_status tri_ctl_make_scheduler(const tri_study *s, tri_sched **out)
{
    tri_sched_settings settings = tri_sched_settings_of(s);

    return tri_sched_create(&settings, out);
}

static void begin_opening(tri_ctl *ctl, const tri_ev_open *ev)
{
    ctl->epoch = ev->epoch;
    ctl->open_s = ctl->now;
    ctl->max_time_s = ev->max_time_s;
    ctl->deadline_s = ev->deadline_s;
    ctl->rules = ev->rules;
    ctl->idle_s = ctl->idled ? ctl->now : ctl->idle_s;
    ctl->idled = 0;
    ctl->no_timeouts = ev->no_timeouts;
    ctl->started = ctl->draining = ctl->ended = ctl->search_stopped = 0;
    ctl->exhausted = ctl->opening_blocks = ctl->cut = 0;
    ctl->candidate.ready = 0;
    ctl->start_at = 0;
    tri_ctl_forget_alike(ctl);
    tri_ctl_unshelve_all(ctl);
    tri_ctl_empty_pool(ctl);
    tri_ctl_think_open(ctl, ev->may_think);
}

/* What fails here leaves the controller as new. */
static tri_status read_study(tri_ctl *ctl, const tri_ev_open *ev)
{
    given g = {ev->attachments, ev->n_attachments};
    tri_study *study = NULL;
    tri_sched *sched = NULL;
    tri_config *config;
    tri_status st;

    TRI_TRY(parse(&g, &ev->study_text, ev->study_path, &study));
    TRI_TRY_GOTO(st, tri_ctl_make_scheduler(study, &sched), destroy_study);
    TRI_TRY_GOTO(st, keep_attachments(ctl, ev), destroy_sched);
    ctl->n_params = tri_space_n_params(study->space);
    config = tri_keep_bytes(&ctl->keep,
                            ((size_t)ctl->n_params + 1) * sizeof *config);
    if (!config) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
        goto destroy_sched;
    }
    ctl->candidate.config = config;
    ctl->study = study;
    ctl->sched = sched;
    ctl->seed = ev->seed;
    ctl->proposer = tri_proposer_find(study->search.proposer);
    if (!ctl->proposer || !ctl->proposer->draw) {
        ctl->proposer = tri_proposer_find("quasi");
    }
    return TRI_OK;
destroy_sched:
    tri_sched_destroy(sched);
destroy_study:
    tri_study_destroy(study);
    return st;
}

/* ---- later openings ---- */

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The job died with this run in flight, and with no other that could have
 * been the cause. */
static tri_status suspect(tri_ctl *ctl, tri_live *live)
{
    int64_t trial = ctl->runs[live->run].v.trial;
    tri_trial_row *t = &ctl->trials[trial];

    if (++t->suspicion < SUSPICION_MOST) {
        return tri_ctl_interrupt_run(ctl, live, TRI_RUN_INTERRUPTED,
                                     TRI_REASON_JOB_LOST);
    }
    TRI_TRY(tri_ctl_end_run(ctl, live, TRI_RUN_INTERRUPTED, TRI_REASON_JOB_LOST,
                            1));
    return tri_ctl_give_up(ctl, trial, TRI_REASON_KILLED);
}

static tri_status end_left_over(tri_ctl *ctl, int64_t run, int orderly,
                                int alone)
{
    tri_run_row *r = &ctl->runs[run];
    tri_live *live = tri_ctl_live(ctl, run, r->v.attempt);

    if (live->finished) {
        return tri_ctl_end_run(ctl, live, TRI_RUN_FINISHED, TRI_REASON_NONE, 1);
    }
    r->v.end_s = ctl->before;
    if (orderly || !alone || r->v.phase != TRI_PHASE_SEARCH) {
        return tri_ctl_interrupt_run(ctl, live, TRI_RUN_INTERRUPTED,
                                     orderly ? TRI_REASON_DRAINED
                                             : TRI_REASON_JOB_LOST);
    }
    return suspect(ctl, live);
}

/* All that was in flight, in the order in which it began. */
static tri_status end_all_left_over(tri_ctl *ctl, int orderly)
{
    size_t n = (size_t)ctl->n_flying;
    int64_t *runs = tri_keep_bytes(&ctl->scratch, (n + 1) * sizeof *runs);
    int unfinished = 0;

    if (!runs) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for what was in flight");
    }
    for (size_t i = 0; i < n; i++) {
        runs[i] = ctl->lives[ctl->flying[i]].run;
        unfinished += !ctl->lives[ctl->flying[i]].finished;
    }
    qsort(runs, n, sizeof *runs, by_number);
    for (size_t i = 0; i < n; i++) {
        TRI_TRY(end_left_over(ctl, runs[i], orderly, unfinished == 1));
    }
    return TRI_OK;
}

static tri_status open_again(tri_ctl *ctl, const tri_ev_open *ev)
{
    int orderly = ctl->ended || ctl->draining;
    int64_t head = ctl->head;

    if (ev->epoch <= ctl->epoch) {
        return TRI_FAIL(TRI_EINVAL, "epoch %d does not follow epoch %d",
                        (int)ev->epoch, ctl->epoch);
    }
    if (ev->seed != ctl->seed) {
        return TRI_FAIL(TRI_EINVAL, "the study was begun with seed %llu",
                        (unsigned long long)ctl->seed);
    }
    ctl->started = 0;
    ctl->head = -1;
    if (ctl->cut) {
        /* the finals stood for that opening only, however it ended */
        ctl->phase = TRI_PHASE_SEARCH;
        tri_ctl_finals_reset(ctl);
    }
    if (head >= 0) {
        TRI_TRY(tri_ctl_enqueue(ctl, head));
    }
    TRI_TRY(end_all_left_over(ctl, orderly));
    TRI_TRY(tri_ctl_forget_suspects(ctl));
    begin_opening(ctl, ev);
    TRI_TRY(tri_ctl_keep_warm(ctl, ev));
    return tri_ctl_open_class(ctl, ev->machine_class);
}

tri_status tri_ctl_feed_open(tri_ctl *ctl, const tri_ev_open *ev)
{
    if (ctl->study) {
        return open_again(ctl, ev);
    }
    if (ev->epoch < 1) {
        return TRI_FAIL(TRI_EINVAL, "epochs count from 1, not from %d",
                        (int)ev->epoch);
    }
    TRI_TRY(read_study(ctl, ev));
    begin_opening(ctl, ev);
    TRI_TRY(tri_ctl_keep_warm(ctl, ev));
    return tri_ctl_open_class(ctl, ev->machine_class);
}

/* ---- edits ---- */

static tri_status check_edit(const tri_ctl *ctl, const tri_study *now,
                             int *changed)
{
    const char *key = tri_study_frozen_difference(ctl->study, now, changed);

    if (key) {
        return TRI_FAIL(TRI_EINVAL, "%s may not change at a resume", key);
    }
    if (tri_space_n_params(now->space) != ctl->n_params) {
        return TRI_FAIL(TRI_EINVAL, "space may not change its parameters at a "
                                    "resume");
    }
    return TRI_OK;
}

static tri_status replace_study(tri_ctl *ctl, tri_study *study)
{
    tri_study **old = realloc(ctl->old, (ctl->n_old + 1) * sizeof *old);

    if (!old) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for an edited study");
    }
    old[ctl->n_old++] = ctl->study;
    ctl->old = old;
    ctl->study = study;
    return TRI_OK;
}

tri_status tri_ctl_feed_edited(tri_ctl *ctl, const tri_ev_edited *ev)
{
    given g = {ctl->attachments, ctl->n_attachments};
    tri_study *study = NULL;
    tri_status st;
    int changed = 0;

    if (ctl->started) {
        return TRI_FAIL(TRI_EINVAL, "a study is edited at a resume only");
    }
    TRI_TRY(parse(&g, &ev->study_text, ctl->study->path, &study));
    TRI_TRY_GOTO(st, check_edit(ctl, study, &changed), destroy_study);
    if (!changed) {
        tri_study_destroy(study);
        return TRI_OK;
    }
    TRI_TRY_GOTO(st, replace_study(ctl, study), destroy_study);
    /* there may be more to search, and other finals */
    ctl->complete = 0;
    ctl->phase = TRI_PHASE_SEARCH;
    tri_ctl_finals_reset(ctl);
    return tri_ctl_settle_class(ctl);
destroy_study:
    tri_study_destroy(study);
    return st;
}
