/*
 * Where a run's checkpoint goes and where it comes from.  A checkpoint belongs
 * to rank 0 once it was told of it; until then it is the leader's to remove.
 */
#include "mpi_workers/run_internal.h"

#include "mpi_workers/checkpoint_dir.h"
#include "mpi_workers/group.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/tree.h"
#include "trireme/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_S 60.0

void tri_run_come_from(tri_run *r, const char *name, int64_t step)
{
    r->from[0] = 0;
    r->from_step = 0;
    if (name) {
        tri_checkpoint_path(r->w->study, name, r->from, sizeof r->from);
        r->from_step = step;
    }
}

/* Somebody may have removed it: the leader's word on it is everybody's. */
tri_status tri_run_check_from(tri_run *r)
{
    tri_vote vote;

    if (!r->from[0] || !tri_checkpoint_may_be(r->w->study)) {
        return TRI_OK;
    }
    memset(&vote, 0, sizeof vote);
    vote.word = r->leads && access(r->from, R_OK) != 0;
    TRI_TRY(tri_group_vote(r->comm, &vote, PATIENCE_S));
    if (!vote.word) {
        return TRI_OK;
    }
    if (r->leads) {
        TRI_LOG(TRI_LOG_WARN,
                "run %lld starts afresh: its checkpoint '%s' is gone",
                (long long)r->number, r->from);
    }
    tri_run_come_from(r, NULL, 0);
    return TRI_OK;
}

int tri_run_leave_from(tri_run *r, tri_status st)
{
    if (!r->from[0] ||
        (st != TRI_ENOTFOUND && st != TRI_EVERSION && st != TRI_EMALFORMED)) {
        return 0;
    }
    if (r->leads) {
        TRI_LOG(TRI_LOG_WARN, "run %lld starts afresh: %s",
                (long long)r->number, tri_error_last()->sentence);
    }
    tri_run_come_from(r, NULL, 0);
    return 1;
}

/* What is learned is told after any step; a rate needs steps beyond the
 * warm-up. */
static int64_t least_left(const tri_run *r)
{
    return r->w->study->objective.learned ? 1 : r->goal.warmup + 1;
}

void tri_run_check_rest(tri_run *r)
{
    if (!r->from[0] || r->goal.step < 0 ||
        r->goal.step - r->from_step >= least_left(r)) {
        return;
    }
    if (r->leads) {
        TRI_LOG(TRI_LOG_WARN,
                "run %lld starts afresh: its checkpoint has %lld steps behind "
                "it, which leaves too little of %lld to measure",
                (long long)r->number, (long long)r->from_step,
                (long long)r->goal.step);
    }
    tri_run_come_from(r, NULL, 0);
}

static int can_save(const tri_run *r)
{
    return r->ops->save && (!r->ops->saves || r->ops->saves(r->w->study));
}

void tri_run_prepare(tri_run *r, int saves, tri_trial_setup *setup)
{
    const tri_assignment *a = r->a;

    r->saves = can_save(r) ? saves : TRI_SAVE_NOTHING;
    r->save_number = r->number;
    r->save_attempt = r->attempt;
    r->save_name[0] = r->save_to[0] = 0;
    r->is_told = 0;
    if (r->saves != TRI_SAVE_NOTHING) {
        tri_checkpoint_name(r->w->study, r->number, r->attempt, r->w->epoch,
                            r->save_name, sizeof r->save_name);
        tri_checkpoint_path(r->w->study, r->save_name, r->save_to,
                            sizeof r->save_to);
    }
    if (!setup) {
        return;
    }
    *setup = (tri_trial_setup){.study = r->w->study,
                               .config = a->config,
                               .layout = a->layout,
                               .comm = r->comm,
                               .quota_bytes = r->w->quota_bytes,
                               .trial = a->trial,
                               .run = r->number,
                               .rung = r->rung,
                               .attempt = r->attempt,
                               .epoch = r->w->epoch,
                               .phase = a->phase,
                               .resource = r->resource,
                               .target_step = r->goal.step,
                               .first_step = r->from_step,
                               .warmup_steps = r->goal.warmup,
                               .base = r->w->base,
                               .checkpoint = r->from[0] ? r->from : NULL,
                               .save_to = r->save_to[0] ? r->save_to : NULL,
                               .outlives = r->w->outlives};
}

/* A trainer that never saves is warned of once a rank. */
static void say_unsaved(const tri_run *r)
{
    TRI_LOG(r->w->said_unsaved ? TRI_LOG_DEBUG : TRI_LOG_WARN,
            "run %lld goes without a checkpoint: %s", (long long)r->save_number,
            tri_error_last()->sentence);
    r->w->said_unsaved = 1;
}

tri_status tri_run_save(tri_run *r, int drains)
{
    tri_saved saved = {.step = r->last.step};
    double start = tri_now();
    tri_status st;

    r->checkpoint[0] = 0;
    if (!r->save_to[0]) {
        return TRI_OK;
    }
    st = r->ops->save(r->trial, r->save_to, drains, &saved);
    st = tri_group_agree(r->comm, st, PATIENCE_S);
    r->called_off_s = 0; /* that took its time; leaving has a grace too */
    if (st != TRI_OK) {
        if (r->leads &&
            st != TRI_EUNBUILT) { /* that is the kind's own affair */
            say_unsaved(r);
        }
        return tri_status_scope(st) == TRI_SCOPE_GROUP ? st : TRI_OK;
    }
    memcpy(r->checkpoint, r->save_name, sizeof r->checkpoint);
    r->checkpoint_step = saved.step;
    r->checkpoint_s = tri_now() - start;
    r->checkpoint_bytes = saved.bytes;
    r->is_told = 1; /* with the outcome, which is the next word */
    return TRI_OK;
}

/* Whether a run to the next rung from there would have nothing left to do. */
static int is_beyond_next(const tri_run *r)
{
    double rung = (double)r->resource;
    int64_t max = r->w->study->resource.max;
    double next = fmin(rung * r->w->study->resource.eta,
                       max > 0 ? (double)max : INFINITY);
    double judged = (double)(r->last.step - r->goal.warmup);
    double saved = (double)(r->checkpoint_step - r->goal.warmup);

    return saved * rung >= judged * next;
}

/* A process that is ended by TERM may go on before it saves itself.  Where its
 * last step is known that is seen when the next run starts; of a counted
 * resource by the share of what was judged. */
void tri_run_weigh(tri_run *r)
{
    int64_t beyond = r->checkpoint_step - r->last.step;

    if (!r->checkpoint[0] || r->goal.step >= 0 || beyond <= 0 ||
        r->goal.unit == TRI_UNIT_SECONDS || !is_beyond_next(r)) {
        return;
    }
    if (r->leads) {
        TRI_LOG(r->w->said_unsaved ? TRI_LOG_DEBUG : TRI_LOG_WARN,
                "run %lld goes without a checkpoint: its process did %lld "
                "steps between SIGTERM, after step %lld, and its save, which "
                "is more than the next rung asks for",
                (long long)r->save_number, (long long)beyond,
                (long long)r->last.step);
        r->w->said_unsaved = 1;
    }
    r->checkpoint[0] = 0;
    r->is_told = 0;
}

tri_status tri_run_pass_on(tri_run *r, int learned)
{
    if (!learned) {
        tri_run_drop_unsaved(r);
        tri_run_come_from(r, NULL, 0);
        return TRI_OK;
    }
    TRI_TRY(tri_run_save(r, 0));
    tri_run_weigh(r);
    if (!r->checkpoint[0]) { /* from where it came from itself */
        tri_run_drop_unsaved(r);
        return TRI_OK;
    }
    if (r->leads) {
        tri_run_tell_saved(r);
    }
    tri_run_come_from(r, r->save_name, r->checkpoint_step);
    return TRI_OK;
}

void tri_run_drop_unsaved(tri_run *r)
{
    if (r->leads && r->save_to[0] && !r->is_told) {
        tri_remover_add(r->w->remover, r->save_to);
    }
    r->save_to[0] = 0;
}
