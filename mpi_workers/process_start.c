/*
 * Starts the processes of a trial, and ends them.
 */
#include "mpi_workers/process_internal.h"

#include "mpi_workers/pause.h"
#include "mpi_workers/process_base.h"
#include "mpi_workers/process_env.h"
#include "mpi_workers/process_logs.h"
#include "mpi_workers/tree.h"
#include "mpi_workers/wait.h"
#include "trireme/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* ---- what a process is told --------------------------------------------- */

static void fill_facts(tri_trial *t)
{
    const tri_trial_setup *s = &t->setup;
    const tri_devices *devices = &t->place.devices;

    tri_trial_study_dir(s->study, t->study_dir);
    t->facts = (tri_facts){
            .rank = t->place.rank,
            .world_size = t->place.size,
            .local_rank = t->place.local_rank,
            .local_world_size = t->place.local_size,
            .group_rank = t->place.group_rank,
            .n_hosts = t->place.n_hosts,
            .run = s->run,
            .trial = s->trial,
            .rung = s->rung,
            .attempt = s->attempt,
            .epoch = s->epoch,
            .resource = s->target_step > 0 ? s->target_step : s->resource,
            .resource_unit =
                    tri_unit_name(s->target_step > 0 ? TRI_UNIT_STEPS
                                                     : s->study->resource.unit),
            .seed = s->study->seed,
            .master_addr = t->place.address,
            .master_port = t->place.port,
            .study_dir = t->study_dir,
            .hosts = t->place.hosts,
            .host_slots = t->place.host_slots,
            .device_variable = devices->is_set ? devices->variable : NULL,
            .device = devices->is_set ? devices->own : NULL,
            .checkpoint_dir = s->save_to ? s->save_to : "",
            .resume_dir = s->checkpoint ? s->checkpoint : "",
            .resume_step = s->first_step};
}

/* ---- starting ----------------------------------------------------------- */

static tri_status find_cwd(const tri_trial *t, const char *from, char *path,
                           size_t bytes)
{
    char *text = NULL;

    TRI_TRY(tri_template_expand(from, t->setup.study, t->setup.config,
                                &t->facts, &text));
    tri_study_resolve(t->setup.study, text, path, bytes);
    free(text);
    return TRI_OK;
}

static tri_status spawn(tri_trial *t)
{
    const tri_study *study = t->setup.study;
    const tri_process_base *base = t->setup.base;
    const char *cwd = study->model.u.process.cwd;
    char resolved[PATH_MAX];
    char log[PATH_MAX];
    tri_child_spec spec = {.log_max = study->model.u.process.log.max_bytes};
    char **argv = NULL;
    char **env = NULL;
    tri_status st;

    if (cwd) {
        TRI_TRY(find_cwd(t, cwd, resolved, sizeof resolved));
        spec.cwd = resolved;
    }
    if (tri_logs_begin(study, &t->facts, log, sizeof log)) {
        spec.log = log;
    }
    TRI_TRY(tri_template_argv(study, t->setup.config, &t->facts, &argv));
    st = tri_env_build(base ? base->env : environ, study, t->setup.config,
                       &t->facts, &env);
    if (st == TRI_OK) {
        spec.argv = argv;
        spec.env = env;
        st = tri_child_spawn(&spec, &t->child);
    }
    tri_env_free(env);
    tri_template_argv_free(argv);
    return st;
}

static void forget(tri_trial *t)
{
    tri_news_start(&t->news, t->setup.first_step, tri_now());
    t->last_step = t->setup.first_step;
    t->reporter = -1;
    memset(&t->heard, 0, sizeof t->heard);
    t->step_limit = tri_heard_step_limit(t->setup.study, t->setup.target_step,
                                         t->setup.resource);
    t->n_beyond = t->n_again = t->saved_step = 0;
    t->measured = 0;
    t->named = TRI_REASON_NONE;
    t->sentence[0] = t->remark[0] = 0;
    t->reason = TRI_REASON_NONE;
}

static tri_status start_here(tri_trial *t)
{
    const tri_study *study = t->setup.study;
    const tri_process_spec *spec = &study->model.u.process;
    const tri_process_base *base = t->setup.base;
    const char *own = NULL;

    forget(t);
    if (study->objective.metric == TRI_METRIC_OWN) {
        own = study->objective.name;
    }
    TRI_TRY(tri_metrics_create(own, &t->metrics));
    TRI_TRY(tri_metrics_use(t->metrics, spec, t->place.size));
    if (spec->leader && t->place.rank != 0) {
        return TRI_OK; /* the leader's process has the whole group */
    }
    TRI_TRY(tri_surroundings_make(study, t->setup.config, &t->place,
                                  base ? base->sweeper : NULL, &t->facts,
                                  &t->around));
    return spawn(t);
}

/* The directory that the run is to save itself in; the leader's affair.  It is
 * there already where the processes start on another port. */
static void make_directory(tri_trial *t)
{
    const char *path = t->setup.save_to;

    if (!path || t->place.rank != 0 || t->tries > 0) {
        return;
    }
    if (tri_tree_make_parents(path) != 0 || mkdir(path, 0777) != 0) {
        TRI_LOG(TRI_LOG_WARN,
                "run %lld will have no checkpoint: '%s' cannot be made: %s",
                (long long)t->setup.run, path, strerror(errno));
    }
}

tri_status tri_process_start(tri_trial *t)
{
    const tri_process_base *base = t->setup.base;
    tri_status st;

    TRI_TRY(tri_rendezvous_meet(t->setup.comm, (uint64_t)t->setup.run, t->tries,
                                base ? &base->devices : NULL, TRI_PATIENCE_S,
                                &t->place));
    fill_facts(t);
    make_directory(t);
    tri_wait_look(); /* a start may take ten seconds */
    st = start_here(t);
    return tri_group_agree(t->setup.comm, st, TRI_PATIENCE_S);
}

/* ---- ending ------------------------------------------------------------- */

/* The grace may be long: this rank beats, and hears its process, meanwhile. */
static void await_end(tri_trial *t, double grace_s)
{
    double until = tri_now() + grace_s;
    tri_child_end end;

    if (grace_s <= 0) {
        return;
    }
    tri_child_term(t->child);
    while (tri_now() < until && !tri_wait_abandoned &&
           !tri_process_listen(t, &end)) {
        tri_wait_look();
    }
}

void tri_process_stop(tri_trial *t, double grace_s)
{
    if (t->child) {
        await_end(t, grace_s);
        tri_wait_look();
        tri_child_destroy(t->child, 0);
        tri_logs_end(t->setup.study, &t->facts, t->failed);
    }
    t->child = NULL;
    tri_metrics_destroy(t->metrics);
    t->metrics = NULL;
    tri_surroundings_remove(&t->around);
    tri_rendezvous_fini(&t->place);
}
