/*
 * Views of the controller's state, for tables, status lines and reports.
 * Nothing here changes anything.
 */
#include "src/ctl/state.h"

#include <math.h>
#include <string.h>

const tri_study *tri_ctl_study(const tri_ctl *ctl)
{
    return ctl->study;
}

const tri_sched *tri_ctl_sched(const tri_ctl *ctl)
{
    return ctl->sched;
}

const char *tri_ctl_machine_class(const tri_ctl *ctl)
{
    return ctl->machine_class;
}

int64_t tri_ctl_n_trials(const tri_ctl *ctl)
{
    return ctl->n_trials;
}

int64_t tri_ctl_n_runs(const tri_ctl *ctl)
{
    return ctl->n_runs;
}

int tri_ctl_n_ranks(const tri_ctl *ctl)
{
    return ctl->n_ranks;
}

const char *tri_trial_state_name(tri_trial_state state)
{
    static const char *const names[] = {
            [TRI_TRIAL_RUNNING] = "running",   [TRI_TRIAL_PAUSED] = "paused",
            [TRI_TRIAL_PROMOTED] = "promoted", [TRI_TRIAL_DONE] = "done",
            [TRI_TRIAL_FAILED] = "failed",     [TRI_TRIAL_PARKED] = "parked"};

    return (size_t)state < sizeof names / sizeof *names ? names[state] : "";
}

static tri_trial_state waiting_state(const tri_ctl *ctl, const tri_trial_row *t)
{
    if (ctl->phase == TRI_PHASE_FINALS ||
        (ctl->ended && ctl->end_status != 3)) {
        return TRI_TRIAL_PAUSED; /* the search is over */
    }
    return t->attempt == 0 && t->top_rung >= 0 ? TRI_TRIAL_PROMOTED
                                               : TRI_TRIAL_RUNNING;
}

static tri_trial_state state_of(const tri_ctl *ctl, const tri_trial_row *t)
{
    switch ((tri_trial_place)t->place) {
    case TRI_PLACE_WAITING:
        return t->parked ? TRI_TRIAL_PARKED : waiting_state(ctl, t);
    case TRI_PLACE_PAUSED:
        return t->parked ? TRI_TRIAL_PARKED : TRI_TRIAL_PAUSED;
    case TRI_PLACE_DONE:
        return TRI_TRIAL_DONE;
    case TRI_PLACE_FAILED:
        return TRI_TRIAL_FAILED;
    default:
        return TRI_TRIAL_RUNNING;
    }
}

void tri_ctl_trial(const tri_ctl *ctl, int64_t trial, tri_trial_view *out)
{
    static const tri_prediction none = {NAN, NAN, NAN, NAN, NAN, ""};
    const tri_trial_row *t = &ctl->trials[trial];
    const tri_prediction *p = t->prediction ? t->prediction : &none;

    *out = (tri_trial_view){.trial = trial,
                            .created_s = t->created_s,
                            .origin = t->origin,
                            .state = state_of(ctl, t),
                            .ranks = t->ranks,
                            .bracket = t->bracket,
                            .top_rung = t->top_rung,
                            .objective = t->objective,
                            .lo = t->lo,
                            .hi = t->hi,
                            .predicted = p->predicted,
                            .predicted_lo = p->lo,
                            .predicted_hi = p->hi,
                            .predicted_bytes = p->bytes,
                            .p_feasible = p->p_feasible,
                            .rule = p->rule,
                            .reason = (tri_reason)t->reason,
                            .suspicion = t->suspicion,
                            .checkpoint = t->checkpoint,
                            .checkpoint_bytes = t->checkpoint_bytes,
                            .config = t->config};
}

const tri_config *tri_ctl_config(const tri_ctl *ctl, int64_t trial)
{
    return ctl->trials[trial].config;
}

void tri_ctl_run(const tri_ctl *ctl, int64_t run, tri_run_view *out)
{
    *out = ctl->runs[run].v;
}

void tri_ctl_rank(const tri_ctl *ctl, int i, tri_rank_view *out)
{
    const tri_rank_row *r = &ctl->ranks[i];

    *out = (tri_rank_view){.rank = r->rank,
                           .host = ctl->hosts[r->host].name,
                           .device = r->device,
                           .cores = r->cores,
                           .state = r->benched && r->state == TRI_RANK_UP
                                            ? TRI_RANK_BENCHED
                                            : r->state,
                           .run = r->run};
}

void tri_ctl_run_hosts(const tri_ctl *ctl, int64_t run, char *buf, size_t bytes)
{
    const tri_run_row *r = &ctl->runs[run];
    size_t at = 0;

    if (bytes) {
        buf[0] = 0;
    }
    for (int i = 0; i < r->n_hosts; i++) {
        const char *name = ctl->hosts[r->hosts[i]].name;
        size_t n = strlen(name);

        if (at + n + (i > 0) + 1 > bytes) {
            return;
        }
        if (i) {
            buf[at++] = ',';
        }
        memcpy(buf + at, name, n + 1);
        at += n;
    }
}

int tri_ctl_changed_trials(const tri_ctl *ctl, const int64_t **out)
{
    *out = ctl->changed_trials.list;
    return (int)ctl->changed_trials.n;
}

int tri_ctl_changed_runs(const tri_ctl *ctl, const int64_t **out)
{
    *out = ctl->changed_runs.list;
    return (int)ctl->changed_runs.n;
}

static tri_ctl_state phase_of(const tri_ctl *ctl)
{
    if (ctl->ended) {
        return TRI_CTL_ENDED;
    }
    if (ctl->draining) {
        return TRI_CTL_DRAINING;
    }
    return ctl->phase == TRI_PHASE_FINALS ? TRI_CTL_FINALS : TRI_CTL_SEARCH;
}

static void fill_best(const tri_ctl *ctl, tri_progress *out)
{
    out->best_trial = ctl->best;
    out->best = out->best_lo = out->best_hi = NAN;
    if (ctl->best >= 0) {
        const tri_trial_row *t = &ctl->trials[ctl->best];

        out->best = t->objective;
        out->best_lo = t->lo;
        out->best_hi = t->hi;
    }
}

void tri_ctl_progress(const tri_ctl *ctl, tri_progress *out)
{
    double end = ctl->study ? tri_ctl_search_end(ctl) : INFINITY;

    *out = (tri_progress){
            .state = phase_of(ctl),
            .epoch = ctl->epoch,
            .time_s = ctl->now,
            .deadline_s = ctl->deadline_s,
            .search_end_s = end < INFINITY ? end : NAN,
            .trials = ctl->n_trials,
            .runs = ctl->n_runs,
            .finished = ctl->n_finished,
            .results = ctl->n_results,
            .again = ctl->n_again,
            .failed = ctl->n_failed,
            .parked = ctl->n_parked,
            .running = ctl->n_flying,
            .repeated_steps = ctl->repeated_steps,
            .ranks_total = ctl->n_ranks,
            .ranks_busy = ctl->n_busy,
            .ranks_struck = ctl->n_struck,
            .ranks_lost = ctl->n_ranks - ctl->n_up - ctl->n_struck,
            .ranks_benched = ctl->n_benched,
            .remeasured = ctl->n_repeated,
            .end_status = ctl->end_status,
            .end_why = ctl->end_why,
            .ended_resumable = ctl->end_resumable,
            .finals_done = ctl->finals.done,
            .finals_total = ctl->finals.n * ctl->finals.repeats,
            .head = ctl->head,
            .head_since_s = ctl->head >= 0 ? ctl->head_since : NAN,
            .queued = (int64_t)(ctl->queue.n - ctl->queue_at)};
    memcpy(out->failures, ctl->failures, sizeof out->failures);
    fill_best(ctl, out);
}
