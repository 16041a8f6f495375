/*
 * best --emit: what is emitted, and by whom.
 */
#include "src/app/emit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"torchrun", "megatron", "deepspeed",
                                    "slurm"};
#define N_FORMATS 4

const char *tri_emit_format_name(tri_emit_format format)
{
    return names[format];
}

tri_status tri_emit_format_of(const char *name, tri_emit_format *out)
{
    const char *near;
    int i = 0;

    while (i < N_FORMATS && strcmp(names[i], name) != 0) {
        i++;
    }
    if (i < N_FORMATS) {
        *out = (tri_emit_format)i;
        return TRI_OK;
    }
    near = tri_closest(name, names, N_FORMATS);
    return TRI_FAIL(TRI_EINVAL,
                    "--emit takes torchrun, megatron, deepspeed or slurm, not "
                    "'%.60s'%s%s%s",
                    name, near ? "; did you mean " : "", near ? near : "",
                    near ? "?" : "");
}

/* ---- ranks and nodes ----------------------------------------------------- */

static int largest_divisor(int n, int most)
{
    for (int d = most < n ? most : n; d > 1; d--) {
        if (n % d == 0) {
            return d;
        }
    }
    return 1;
}

static int is_even(const int *counts, int n)
{
    for (int i = 1; counts && i < n; i++) {
        if (counts[i] != counts[0]) {
            return 0;
        }
    }
    return n > 0;
}

static void say_place(tri_emit_job *job, const char *why)
{
    if (job->nodes == 1) {
        snprintf(job->assumed, sizeof job->assumed, "on one node, %s", why);
    } else {
        snprintf(job->assumed, sizeof job->assumed,
                 "%d on each of %d nodes, %s", job->per_node, job->nodes, why);
    }
}

void tri_emit_place(tri_emit_job *job, const int *counts, int n_hosts, int most)
{
    if (counts && is_even(counts, n_hosts) &&
        counts[0] * n_hosts == job->ranks) {
        job->nodes = n_hosts;
        job->per_node = counts[0];
        say_place(job, "as it was measured");
        return;
    }
    job->per_node = largest_divisor(job->ranks, most);
    job->nodes = job->ranks / job->per_node;
    if (n_hosts > 0) {
        say_place(job, "assumed: it was measured on nodes with unlike numbers "
                       "of ranks");
    } else {
        say_place(job, "assumed");
    }
}

/* The last run of a trial that finished, in its highest phase and rung; -1. */
static int64_t last_run(const tri_ctl *ctl, int64_t trial, tri_run_view *out)
{
    int64_t found = -1;

    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view v;

        tri_ctl_run(ctl, i, &v);
        if (v.trial == trial && v.state == TRI_RUN_ENDED &&
            v.status == TRI_RUN_FINISHED) {
            *out = v;
            found = i;
        }
    }
    return found;
}

static const char *host_of(const tri_ctl *ctl, int rank, int *devices)
{
    tri_rank_view v;

    for (int i = 0; i < tri_ctl_n_ranks(ctl); i++) {
        tri_ctl_rank(ctl, i, &v);
        if (v.rank == rank) {
            *devices &= v.device && *v.device;
            return v.host;
        }
    }
    *devices = 0;
    return NULL;
}

/* Ranks of the run on each host, in order; returns the number of hosts, 0
 * where one is not known. */
static int count_hosts(const tri_ctl *ctl, const tri_run_view *run, int *counts,
                       const char **hosts, int *devices)
{
    int n = 0;

    *devices = 1;
    for (int i = 0; i < run->n_ranks; i++) {
        const char *host = host_of(ctl, run->ranks[i], devices);
        int k = 0;

        if (!host) {
            return 0;
        }
        while (k < n && strcmp(hosts[k], host) != 0) {
            k++;
        }
        if (k == n) {
            hosts[n] = host;
            counts[n++] = 0;
        }
        counts[k]++;
    }
    return n;
}

/* The most workers on one host of the job. */
static int most_on_a_host(const tri_ctl *ctl)
{
    int n = tri_ctl_n_ranks(ctl);
    int most = 1;

    for (int i = 0; i < n; i++) {
        tri_rank_view a;
        int count = 0;

        tri_ctl_rank(ctl, i, &a);
        for (int k = 0; k < n; k++) {
            tri_rank_view b;

            tri_ctl_rank(ctl, k, &b);
            count += a.host && b.host && strcmp(a.host, b.host) == 0;
        }
        most = count > most ? count : most;
    }
    return most;
}

/* Of a run of an earlier opening the hosts are known, but no more how many of
 * its ranks each had: as many as the others, if that can be. */
static int count_former(const tri_ctl *ctl, const tri_run_view *run,
                        int *counts)
{
    char hosts[8192];
    int n = 1;

    tri_ctl_run_hosts(ctl, run->run, hosts, sizeof hosts);
    for (const char *p = hosts; *p; p++) {
        n += *p == ',';
    }
    if (!*hosts || n > run->n_ranks || run->n_ranks % n != 0) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        counts[i] = run->n_ranks / n;
    }
    return n;
}

static tri_status place(const tri_ctl *ctl, const tri_run_view *run,
                        tri_emit_job *job)
{
    tri_progress p;
    size_t room = (size_t)run->n_ranks + 1;
    int *counts = calloc(room, sizeof *counts);
    const char **hosts = calloc(room, sizeof *hosts);
    int n = 0;

    if (counts && hosts) {
        tri_ctl_progress(ctl, &p);
        n = run->epoch == p.epoch
                    ? count_hosts(ctl, run, counts, hosts, &job->devices)
                    : count_former(ctl, run, counts);
        tri_emit_place(job, counts, n, most_on_a_host(ctl));
    }
    free(counts);
    free(hosts);
    return counts && hosts ? TRI_OK
                           : TRI_FAIL(TRI_ENOMEM, "no memory for hosts");
}

/* ---- recorded tables ----------------------------------------------------- */

/* The number that a parameter has; 0 if there is none of that name. */
static int64_t number(const tri_emit_job *job, const char *name)
{
    tri_value v;

    if (tri_space_lookup(job->study->space, job->config, name, &v) != TRI_OK) {
        tri_error_clear();
        return 0;
    }
    return v.type == TRI_INT && v.u.i > 0 && v.u.i < 1 << 24 ? v.u.i : 0;
}

/* A recorded run has the ranks that its columns say, whatever its study took
 * them for: dp * tp * pp, else the GPUs.  Nodes are not recorded. */
static void place_recorded(tri_emit_job *job)
{
    int64_t ranks = number(job, "dp") * number(job, "tp") * number(job, "pp");

    ranks = ranks > 0 ? ranks : number(job, "gpus");
    if (ranks > 0 && ranks < 1 << 24) {
        job->ranks = (int)ranks;
    }
    job->devices = 0;
    tri_emit_place(job, NULL, 0, 8);
}

/* ---- the job ------------------------------------------------------------- */

/* The winner, or the best on so many ranks. */
static tri_status find_winner(const tri_ctl *ctl, int ranks, tri_standing *out)
{
    const char *name = tri_ctl_study(ctl)->name;
    tri_answer a;

    if (ranks > 0) {
        return tri_ctl_top_on(ctl, ranks, out, 1) > 0
                       ? TRI_OK
                       : TRI_FAIL(TRI_EEMPTY,
                                  "study %s has no result on %d ranks", name,
                                  ranks);
    }
    tri_ctl_answer(ctl, &a);
    *out = a.winner;
    return a.winner.trial >= 0
                   ? TRI_OK
                   : TRI_FAIL(TRI_EEMPTY,
                              "study %s has no winner to emit: none of its "
                              "%" PRId64 " configurations has a result",
                              name, tri_ctl_n_trials(ctl));
}

tri_status tri_emit_job_on(const tri_ctl *ctl, const tri_study *naming,
                           int ranks, tri_emit_job *out)
{
    tri_emit_job job = {.study = tri_ctl_study(ctl), .names = naming};
    tri_standing winner = {.trial = -1};
    tri_trial_view trial;
    tri_run_view run = {.run = 0};

    TRI_TRY(find_winner(ctl, ranks, &winner));
    tri_ctl_trial(ctl, winner.trial, &trial);
    last_run(ctl, winner.trial, &run);
    job.config = trial.config;
    job.trial = trial.trial;
    job.run = run.run;
    job.rung = run.rung;
    job.epoch = run.epoch;
    job.resource = winner.resource;
    job.ranks = trial.ranks;
    if (job.study->model.kind == TRI_MODEL_TABLE) {
        place_recorded(&job);
    } else {
        TRI_TRY(place(ctl, &run, &job));
    }
    *out = job;
    return TRI_OK;
}

tri_status tri_emit_job_of(const tri_ctl *ctl, const tri_study *naming,
                           tri_emit_job *out)
{
    return tri_emit_job_on(ctl, naming, 0, out);
}

/* ---- emitting ------------------------------------------------------------ */

static tri_status write_format(const tri_emit_job *job, tri_emit_format format,
                               FILE *out, tri_emitted *e)
{
    switch (format) {
    case TRI_EMIT_TORCHRUN:
        return tri_emit_torchrun(job, out);
    case TRI_EMIT_MEGATRON:
        return tri_emit_megatron(job, out, e);
    case TRI_EMIT_DEEPSPEED:
        return tri_emit_deepspeed(job, out, e);
    case TRI_EMIT_SLURM:
        return tri_emit_slurm(job, out);
    }
    return TRI_FAIL(TRI_EINTERNAL, "no such format: %d", (int)format);
}

tri_status tri_emit(const tri_emit_job *job, tri_emit_format format,
                    tri_emitted *out)
{
    tri_emitted e = {.notes = json_array()};
    size_t bytes = 0;
    FILE *f = open_memstream(&e.text, &bytes);
    tri_status st;

    if (!f || !e.notes) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory to emit");
    } else {
        st = write_format(job, format, f, &e);
    }
    if (f) {
        fclose(f);
    }
    if (st != TRI_OK) {
        tri_emitted_fini(&e);
        return st;
    }
    *out = e;
    return TRI_OK;
}

void tri_emitted_fini(tri_emitted *e)
{
    free(e->text);
    json_decref(e->arguments);
    json_decref(e->settings);
    json_decref(e->notes);
    *e = (tri_emitted){NULL, NULL, NULL, NULL};
}
