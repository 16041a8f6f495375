/*
 * Checkpoints as rank 0 sees them: whose names they are, whether all hosts see
 * the folder, and the removal of those that nobody goes on from.
 */
#include "src/net/driver.h"

#include "mpi_workers/checkpoint_dir.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/worker.h"
#include "trireme/log.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is left of large ones at the end of an opening is found at the next.
 * Less than workers wait for rank 0 in MPI_Finalize. */
#define REMOVE_S 25.0
#define LOOK_S   0.02

/* ---- what nobody goes on from -------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The checkpoints that trials go on from, sorted.  [out] owned; the names are
 * the controller's.  NULL where there is no memory. */
static const char **list_wanted(const tri_ctl *ctl, size_t *n)
{
    int64_t n_trials = tri_ctl_n_trials(ctl);
    const char **list = calloc((size_t)n_trials + 1, sizeof *list);

    *n = 0;
    for (int64_t i = 0; list && i < n_trials; i++) {
        tri_trial_view t;

        tri_ctl_trial(ctl, i, &t);
        if (t.checkpoint[0]) {
            list[(*n)++] = t.checkpoint;
        }
    }
    if (list) {
        qsort(list, *n, sizeof *list, by_name);
    }
    return list;
}

static void remove_one(const tri_driver *d, const char *name)
{
    char path[4096];

    tri_checkpoint_path(d->study, name, path, sizeof path);
    tri_remover_add(d->remover, path);
}

static int is_gone(const char *name)
{
    size_t bytes = strlen(name);
    size_t end = sizeof TRI_GONE - 1;

    return bytes > end && strcmp(name + bytes - end, TRI_GONE) == 0;
}

/* Remove all of this study's that no trial goes on from, and where an opening
 * `begins` what an earlier one had begun to remove; returns how many are
 * wanted. */
static size_t sweep(const tri_driver *d, int begins)
{
    char folder[4096];
    size_t n_wanted;
    const char **wanted = list_wanted(d->ctl, &n_wanted);
    DIR *dir;
    const struct dirent *e;

    tri_checkpoint_path(d->study, "", folder, sizeof folder);
    dir = wanted ? opendir(folder) : NULL;
    while (dir && (e = readdir(dir))) {
        const char *name = e->d_name;

        if (tri_checkpoint_is_name(d->study, name) &&
            (begins || !is_gone(name)) &&
            !bsearch(&name, wanted, n_wanted, sizeof *wanted, by_name)) {
            TRI_LOG(TRI_LOG_DEBUG, "checkpoint %s is not gone on from", name);
            remove_one(d, name);
        }
    }
    if (dir) {
        closedir(dir);
    }
    free(wanted);
    return n_wanted;
}

/* ---- beginning and end -------------------------------------------------- */

/* Of the record, wherever another opening begins. */
static void whole_path(const char *given, char *path, size_t bytes)
{
    char here[2048];

    if (given[0] == '/' || !getcwd(here, sizeof here)) {
        snprintf(path, bytes, "%s", given);
    } else {
        snprintf(path, bytes, "%s/%s", here, given);
    }
}

tri_status tri_driver_claim_checkpoints(tri_driver *d)
{
    char record[4096];

    if (!tri_checkpoint_may_be(d->study)) {
        return TRI_OK;
    }
    whole_path(d->settings->output, record, sizeof record);
    TRI_TRY(tri_checkpoint_claim(d->study, record, d->opened_s,
                                 tri_record_exists));
    TRI_TRY(tri_remover_create(&d->remover));
    sweep(d, 1); /* of openings that were killed; the record is ours by now */
    return TRI_OK;
}

static int is_first_of_host(const tri_driver *d, int rank)
{
    for (int i = 1; i < rank; i++) {
        if (strcmp(d->peers[i].host, d->peers[rank].host) == 0) {
            return 0;
        }
    }
    return 1;
}

tri_status tri_driver_judge_checkpoints(const tri_driver *d)
{
    char hosts[200] = "";
    size_t at = 0;

    if (!d->remover) {
        return TRI_OK;
    }
    for (int i = 1; i < d->world->size; i++) {
        const tri_peer *p = &d->peers[i];
        int apart = !d->study->checkpoints.shared &&
                    strcmp(p->host, d->world->seats[0].host) != 0;

        if (p->said_hello && !p->gone && (p->blind || apart) &&
            is_first_of_host(d, i) && at < sizeof hosts) {
            at += (size_t)snprintf(hosts + at, sizeof hosts - at, "%s%s",
                                   at ? ", " : "", p->host);
        }
    }
    if (!at) {
        return TRI_OK;
    }
    return TRI_FAIL(TRI_EINVAL,
                    "checkpoints.dir: '%s' on %s is not seen by %s%s: a trial "
                    "that goes on elsewhere could not reach its checkpoint; "
                    "give a folder that all hosts share, or checkpoints: "
                    "{policy: never}",
                    d->study->checkpoints.dir, d->world->seats[0].host, hosts,
                    d->study->checkpoints.shared ? "" : " (shared: false)");
}

void tri_driver_sweep_checkpoints(tri_driver *d)
{
    /* where another opening holds the study by now, they are its */
    if (d->remover && d->end_by_s <= 0 && d->ctl && d->record &&
        tri_record_sync(d->record, 1) == TRI_OK && sweep(d, 0) == 0) {
        tri_checkpoint_disclaim(d->study);
    }
}

void tri_driver_close_checkpoints(tri_driver *d)
{
    double end = tri_now() + REMOVE_S;
    int end_signal = d->end_by_s > 0;

    if (!d->remover) {
        return;
    }
    while (!end_signal && tri_now() < end && !tri_remover_is_idle(d->remover)) {
        tri_sleep(LOOK_S);
        tri_worker_signals(&end_signal);
    }
    tri_remover_destroy(d->remover, end_signal ? 0 : LOOK_S);
    d->remover = NULL;
}

/* ---- while the study runs ----------------------------------------------- */

tri_status tri_driver_make_safe(tri_driver *d)
{
    if (!d->is_synced) {
        TRI_TRY(tri_record_sync(d->record, 1));
        d->is_synced = 1;
    }
    return TRI_OK;
}

/* A paused trial has lost what it would have gone on from. */
static void say_evicted(tri_driver *d, int64_t trial)
{
    tri_trial_view t;
    tri_progress p;

    tri_ctl_trial(d->ctl, trial, &t);
    tri_ctl_progress(d->ctl, &p);
    if (t.state == TRI_TRIAL_PAUSED && !t.checkpoint[0] && !d->has_evicted &&
        p.state != TRI_CTL_ENDED) {
        d->has_evicted = 1;
        TRI_LOG_JOB(TRI_LOG_WARN,
                    "checkpoints have come to checkpoints.max_bytes: those of "
                    "the lowest rungs and worst results go first, and such a "
                    "trial starts afresh should it be promoted");
    }
}

tri_status tri_driver_drop_checkpoint(tri_driver *d,
                                      const tri_cmd_drop_checkpoint *c)
{
    if (!d->remover || !c->checkpoint ||
        !tri_checkpoint_is_name(d->study, c->checkpoint)) {
        return TRI_OK;
    }
    TRI_TRY(tri_driver_make_safe(d)); /* it is said before it is done */
    remove_one(d, c->checkpoint);
    say_evicted(d, c->trial);
    return TRI_OK;
}
