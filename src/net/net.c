/*
 * One opening of a study, from the outside.
 */
#include "src/net/driver.h"

#include "mpi_workers/corpus.h"
#include "mpi_workers/plugin_probe.h"
#include "mpi_workers/process.h"
#include "mpi_workers/worker.h"
#include "trireme/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long the last messages may take to go. */
#define FLUSH_S 1.0

void tri_net_signal(int signo)
{
    tri_worker_note_signal(signo);
}

void tri_net_dismiss(void)
{
    tri_world world;

    if (tri_world_meet(&world) == TRI_OK) {
        tri_world_announce(&world, NULL, NULL, NULL);
        tri_world_close(&world, 1);
    }
}

static tri_status check_data(const tri_study *study)
{
    const tri_gpt_spec *g = &study->model.u.gpt;
    char path[4096];
    tri_corpus corpus;

    if (study->model.kind != TRI_MODEL_GPT) {
        return TRI_OK;
    }
    if (g->data && strcmp(g->data, "builtin") != 0) {
        tri_study_resolve(study, g->data, path, sizeof path);
        TRI_TRY(tri_corpus_open(path, g->sequence, &corpus));
    } else {
        TRI_TRY(tri_corpus_open(NULL, g->sequence, &corpus));
    }
    tri_corpus_close(&corpus);
    return TRI_OK;
}

static tri_status check_unit(const tri_study *study)
{
    int counted = study->model.kind == TRI_MODEL_SYNTHETIC ||
                  study->model.kind == TRI_MODEL_TABLE;

    if (study->resource.unit == TRI_UNIT_EPOCHS && !counted) {
        return TRI_FAIL(TRI_EUNBUILT,
                        "resource.unit epochs is not built yet: the size of "
                        "the data is not known; use steps, samples or tokens");
    }
    return TRI_OK;
}

tri_status tri_net_preflight(const tri_study *study)
{
    TRI_TRY(check_data(study));
    TRI_TRY(check_unit(study));
    TRI_TRY(tri_plugin_check(study));
    return tri_process_check(study);
}

/* Close the record with what the opening came to. */
static tri_status close_record(tri_driver *d)
{
    const tri_record_end end = {d->status, d->why, d->resumable};
    tri_record *record = d->record;

    d->record = NULL;
    return record ? tri_record_close(record, d->ctl, &end, d->end_by_s > 0)
                  : TRI_OK;
}

/* The search broke on the program or the system, not on the study. */
static void break_off(tri_driver *d)
{
    const char *sentence = tri_error_last()->sentence;

    if (strncmp(d->why, sentence, sizeof d->why - 6) != 0) {
        TRI_LOG_JOB(TRI_LOG_ERROR, "%s", sentence);
    }
    if (d->status != 4) { /* the first cause is the one to name */
        d->status = 4;
        /* where another opening holds the study, that one goes on with it */
        d->resumable = tri_error_last()->code != TRI_EFENCED;
        snprintf(d->why, sizeof d->why, "%.250s", sentence);
    }
}

/* Rank 0's end makes the launcher kill the others: they need a moment to end
 * their children first. */
static void linger(const tri_driver *d)
{
    if (d->end_by_s > 0) {
        tri_sleep(d->end_by_s - tri_now());
    }
}

static void search(tri_driver *d)
{
    if (tri_driver_run(d) != TRI_OK) {
        break_off(d);
    } else if (!d->ended) { /* a signal left no time for the end */
        d->status = 3;
        d->resumable = 1;
        snprintf(d->why, sizeof d->why, "a signal");
    }
    if (d->end_by_s > 0 && d->status == 0) {
        d->status = 3;
    }
    tri_driver_leave(d);
    tri_channel_flush(d->channel, d->end_by_s > 0 ? 0.02 : FLUSH_S);
    tri_driver_stop_thinking(d);
    tri_driver_sweep_checkpoints(d);
    if (close_record(d) != TRI_OK) {
        break_off(d);
    }
    tri_driver_close_checkpoints(d);
    linger(d);
}

static void fill_end(const tri_driver *d, int unsent, tri_net_end *out)
{
    out->status = d->status;
    out->resumable = d->resumable;
    memcpy(out->why, d->why, sizeof out->why);
    out->must_exit =
            d->has_lost || unsent > 0 || d->end_by_s > 0 || d->thinks_on;
}

static tri_status open_and_search(tri_driver *d)
{
    tri_status st = tri_driver_open(d);

    if (st != TRI_OK) {
        if (d->channel && !d->left) {
            tri_driver_leave(d);
            tri_channel_flush(d->channel, FLUSH_S);
        }
        return st;
    }
    if (d->channel) {
        search(d);
    } else if (close_record(d) != TRI_OK) { /* nothing to do */
        break_off(d);
    }
    return TRI_OK;
}

tri_status tri_net_tune(const tri_study *study,
                        const tri_net_settings *settings, tri_net_end *out,
                        tri_ctl **ctl)
{
    tri_world world;
    tri_driver d = {.study = study, .settings = settings, .world = &world};
    int unsent;
    tri_status st;

    memset(out, 0, sizeof *out);
    TRI_TRY(tri_world_meet(&world));
    d.peers = calloc((size_t)world.size, sizeof *d.peers);
    if (!d.peers) {
        tri_world_announce(&world, NULL, NULL, NULL);
        tri_world_close(&world, 1);
        return TRI_FAIL(TRI_ENOMEM, "no memory for %d ranks", world.size);
    }
    st = open_and_search(&d);
    unsent = d.channel ? tri_channel_reap(d.channel) : 0;
    tri_driver_stop_thinking(&d);
    fill_end(&d, unsent, out);
    tri_driver_forget_forming(&d);
    tri_channel_destroy(d.channel);
    free(d.peers);
    tri_world_close(&world, !out->must_exit);
    if (ctl && st == TRI_OK) {
        *ctl = d.ctl;
    } else if (!out->must_exit) { /* else a thinker left behind may read it */
        tri_ctl_destroy(d.ctl);
    }
    return st;
}
