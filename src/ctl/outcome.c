/*
 * How runs end, and what follows for their trials: results,
 * failures by the rule of their reason, losses with and without a witness,
 * interruptions.  When the ranks of a run are free again is decided here too.
 */
#include "src/ctl/state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WITNESS_S      30.0
#define SUSPICION_MOST 2

/* ---- what was measured ---- */

static tri_status keep_outcome(tri_ctl *ctl, tri_run_row *r,
                               const tri_ev_outcome *ev)
{
    tri_ev_outcome *o = &r->v.outcome;

    *o = *ev;
    o->sentence = tri_keep_text(&ctl->keep, ev->sentence);
    o->checkpoint = tri_keep_text(&ctl->keep, ev->checkpoint);
    o->stderr_tail.data = "";
    if (ev->stderr_tail.bytes) {
        o->stderr_tail.data = tri_keep_copy(&ctl->keep, ev->stderr_tail.data,
                                            ev->stderr_tail.bytes);
    }
    if (!o->sentence || !o->checkpoint || !o->stderr_tail.data) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for what a run measured");
    }
    return TRI_OK;
}

tri_status tri_ctl_say(tri_ctl *ctl, tri_run_row *r, const char *sentence)
{
    const char *kept = tri_keep_text(&ctl->keep, sentence);

    if (!kept) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for what became of a run");
    }
    r->v.outcome.sentence = kept;
    return TRI_OK;
}

static tri_measured measured_of(const tri_ev_outcome *o)
{
    return (tri_measured){
            .tokens_per_s = o->tokens_per_s,
            .samples_per_s = o->samples_per_s,
            .step_s = o->step_s,
            .loss = o->loss,
            .own = o->objective,
            .peak_bytes = o->peak_bytes < 0 ? NAN : (double)o->peak_bytes,
            .rss_bytes = o->rss_bytes < 0 ? NAN : (double)o->rss_bytes};
}

/* Judge a finished run: its objective, or why it is none, which `why` says. */
static tri_reason judge(const tri_ctl *ctl, const tri_run_row *r,
                        double *objective, char *why, size_t bytes)
{
    tri_measured m = measured_of(&r->v.outcome);
    double raw = tri_study_objective(ctl->study, &m, 1);
    const char *text = "";

    *objective = tri_study_objective(ctl->study, &m, r->v.n_ranks);
    if (!isfinite(*objective)) {
        snprintf(why, bytes, "%.60s %s", ctl->study->objective.name,
                 isnan(raw) ? "was not measured, or is not finite"
                            : "is not a finite number");
        *objective = NAN;
        return TRI_REASON_NAN;
    }
    if (!tri_study_admits(ctl->study, ctl->trials[r->v.trial].config, &m,
                          &text)) {
        tri_study_say_refused(ctl->study, &m, text, why, bytes);
        return TRI_REASON_INFEASIBLE;
    }
    return TRI_REASON_NONE;
}

static tri_status note_durations(tri_ctl *ctl, const tri_live *live)
{
    const tri_run_view *v = &ctl->runs[live->run].v;
    double unit = (ctl->now - live->first_s) / live->length;

    if (!live->in_place) {
        TRI_TRY(tri_running_median_add(&ctl->start_s,
                                       live->first_s - v->start_s));
    }
    if (v->outcome.step_s > ctl->longest_step_s) {
        ctl->longest_step_s = v->outcome.step_s;
    }
    ctl->trials[v->trial].unit_s = unit;
    TRI_TRY(tri_running_median_add(&ctl->unit_s, unit));
    return tri_running_median_add(&ctl->run_s, ctl->now - v->start_s);
}

/* ---- what follows for the trial ---- */

tri_status tri_ctl_give_up(tri_ctl *ctl, int64_t trial, tri_reason reason)
{
    tri_trial_row *t = &ctl->trials[trial];
    int64_t counts;

    if (tri_reason_rule_of(reason) == TRI_RULE_COUNTED) {
        TRI_TRY(tri_sched_result(ctl->sched, trial, t->rung, TRI_RESULT_COUNTED,
                                 NAN));
    } else {
        TRI_TRY(tri_sched_drop(ctl->sched, trial, t->rung));
    }
    TRI_TRY(tri_ctl_settle_suspect(ctl, trial, -1, &counts));
    t->reason = (uint8_t)reason;
    ctl->thoughts.news++;
    TRI_TRY(tri_ctl_drop_checkpoint(ctl, trial));
    TRI_TRY(tri_ctl_set_place(ctl, trial, TRI_PLACE_FAILED));
    if (ctl->best == trial) {
        tri_ctl_find_best(ctl);
    }
    return TRI_OK;
}

/* What the run did beyond where the next attempt begins. */
static int64_t steps_to_repeat(const tri_ctl *ctl, int64_t run)
{
    const tri_run_view *v = &ctl->runs[run].v;
    const tri_trial_row *t = &ctl->trials[v->trial];
    int goes_on = *t->checkpoint && v->phase == TRI_PHASE_SEARCH;
    int64_t kept = goes_on ? t->checkpoint_step : 0;
    int64_t done = v->outcome.steps_done;

    if (v->status == TRI_RUN_STOPPED && !tri_ctl_opening_binds(ctl)) {
        return 0; /* the study's time is over: nothing follows */
    }
    if (v->reports > 0 && v->last_step > done) { /* it ended without a word */
        done = v->last_step;
    }
    return done > kept ? done - kept : 0;
}

/* The trial of `run`, which came to nothing, waits to be run again. */
static tri_status wait_once_more(tri_ctl *ctl, int64_t trial)
{
    tri_trial_row *t = &ctl->trials[trial];

    t->attempt++;
    TRI_TRY(tri_ctl_set_place(ctl, trial, TRI_PLACE_WAITING));
    if (t->ranks > ctl->n_up && ctl->started && !t->parked) {
        return tri_ctl_set_parked(ctl, trial, 1);
    }
    return tri_ctl_enqueue(ctl, trial);
}

/* After a run that came to nothing. */
static tri_status wait_again(tri_ctl *ctl, int64_t run)
{
    int64_t trial = ctl->runs[run].v.trial;

    if (ctl->trials[trial].attempts >= ctl->study->failures.max_attempts) {
        return tri_ctl_give_up(ctl, trial, TRI_REASON_KILLED);
    }
    ctl->repeated_steps += steps_to_repeat(ctl, run);
    return wait_once_more(ctl, trial);
}

/* Whether a run went on from its trial's checkpoint and failed before it had
 * done a step: the checkpoint may be to blame.  Processes that do not find each
 * other do not get so far as to read it. */
static int is_blameable(const tri_ctl *ctl, const tri_run_view *v,
                        tri_reason reason)
{
    const tri_trial_row *t = &ctl->trials[v->trial];

    return *t->checkpoint && tri_reason_rule_of(reason) == TRI_RULE_RETRY &&
           reason != TRI_REASON_RENDEZVOUS &&
           v->outcome.steps_done <= t->checkpoint_step &&
           v->last_step <= t->checkpoint_step;
}

/* Try a failed run again, if the rule of `reason` has it so.  [out] *again.
 * Without the checkpoint that is to blame it is another try than the one that
 * every trial has. */
static tri_status try_again(tri_ctl *ctl, const tri_run_view *v,
                            tri_reason reason, int *again)
{
    tri_trial_row *t = &ctl->trials[v->trial];
    int blames = is_blameable(ctl, v, reason);

    *again = tri_reason_rule_of(reason) == TRI_RULE_RETRY &&
             (!t->retried || blames) &&
             t->attempts < ctl->study->failures.max_attempts;
    if (!*again) {
        return TRI_OK;
    }
    if (blames) {
        return tri_ctl_drop_checkpoint(ctl, v->trial);
    }
    t->retried = 1;
    return TRI_OK;
}

tri_status tri_ctl_fail_run(tri_ctl *ctl, tri_live *live, tri_reason reason,
                            int release)
{
    tri_run_view v = ctl->runs[live->run].v;
    tri_live before = *live;
    tri_trial_row *t = &ctl->trials[v.trial];
    int again;

    TRI_TRY(tri_running_median_add(&ctl->run_s, ctl->now - v.start_s));
    TRI_TRY(tri_ctl_end_run(ctl, live, TRI_RUN_FAILED, reason, release));
    if (v.phase == TRI_PHASE_FINALS) {
        return tri_ctl_finals_result(ctl, &before, NAN, 0);
    }
    t->attempts++;
    tri_ctl_note_alike(ctl, &v, reason);
    TRI_TRY(try_again(ctl, &v, reason, &again));
    if (!again) {
        return tri_ctl_give_up(ctl, v.trial, reason);
    }
    return wait_again(ctl, v.run);
}

tri_status tri_ctl_interrupt_run(tri_ctl *ctl, tri_live *live,
                                 tri_run_status status, tri_reason reason)
{
    tri_run_view v = ctl->runs[live->run].v;
    tri_live before = *live;

    TRI_TRY(tri_ctl_end_run(ctl, live, status, reason, 1));
    if (v.phase == TRI_PHASE_FINALS) {
        ctl->repeated_steps += steps_to_repeat(ctl, v.run);
        return tri_ctl_finals_result(ctl, &before, NAN, 1);
    }
    ctl->trials[v.trial].attempts += reason == TRI_REASON_JOB_LOST;
    return wait_again(ctl, v.run);
}

/* ---- finished ---- */

static tri_status verdict(tri_ctl *ctl, const tri_run_row *r, int save)
{
    tri_command c = {.kind = TRI_CMD_VERDICT,
                     .u.verdict = {.run = r->v.run,
                                   .attempt = r->v.attempt,
                                   .verdict = TRI_VERDICT_RELEASE,
                                   .save = (uint8_t)save,
                                   .next_run = -1,
                                   .next_rung = -1,
                                   .rank = r->v.ranks[0]}};

    return tri_ctl_emit(ctl, &c);
}

static tri_status release(tri_ctl *ctl, tri_live *live)
{
    tri_run_row *r = &ctl->runs[live->run];
    int save = !live->stopped &&
               tri_ctl_saves(ctl, r->v.rung) == TRI_SAVE_RELEASE &&
               ctl->trials[r->v.trial].place != TRI_PLACE_DONE;

    if (!live->stopped) {
        TRI_TRY(verdict(ctl, r, save));
    }
    if (!save) {
        return tri_ctl_end_run(ctl, live, TRI_RUN_FINISHED, TRI_REASON_NONE, 1);
    }
    r->v.state = TRI_RUN_LEAVING;
    tri_ctl_set_limit(ctl, live,
                      tri_ctl_progress_limit(ctl, live) +
                              tri_ctl_answer_s(ctl));
    return tri_ctl_touch_run(ctl, r->v.run);
}

/* A finished run that counts as a failure. */
static tri_status refuse(tri_ctl *ctl, tri_live *live, tri_reason reason)
{
    if (!live->stopped) {
        TRI_TRY(verdict(ctl, &ctl->runs[live->run], 0));
    }
    ctl->trials[ctl->runs[live->run].v.trial].refused = 1;
    return tri_ctl_fail_run(ctl, live, reason, 1);
}

static void update_best(tri_ctl *ctl, int64_t trial)
{
    if (ctl->best == trial) {
        tri_ctl_find_best(ctl); /* it may have become worse */
    } else if (ctl->best < 0 || tri_ctl_better(ctl, trial, ctl->best)) {
        ctl->best = trial;
    }
}

/* By what the objective, and with it its interval, is more than what was
 * measured. */
static double scale_of(const tri_ctl *ctl, const tri_run_row *r)
{
    tri_measured m = measured_of(&r->v.outcome);
    double raw = tri_study_objective(ctl->study, &m, 1);

    return raw < 0 || raw > 0 ? r->v.objective / raw : 1;
}

tri_status tri_ctl_record_result(tri_ctl *ctl, const tri_run_row *r)
{
    tri_trial_row *t = &ctl->trials[r->v.trial];
    double scale = scale_of(ctl, r);
    double sign = ctl->study->objective.maximize ? -1 : 1;
    int last;

    TRI_TRY(tri_sched_result(ctl->sched, r->v.trial, r->v.rung, TRI_RESULT_OK,
                             sign * r->v.objective));
    last = tri_sched_is_over(ctl->sched, r->v.trial, r->v.rung);
    t->top_rung = (int16_t)r->v.rung;
    t->objective = r->v.objective;
    t->lo = r->v.outcome.lo * scale;
    t->hi = r->v.outcome.hi * scale;
    t->last_run = r->v.run;
    ctl->n_finished++;
    ctl->n_results++;
    ctl->thoughts.news++;
    update_best(ctl, r->v.trial);
    if (last) {
        TRI_TRY(tri_ctl_drop_checkpoint(ctl, r->v.trial));
    }
    TRI_TRY(tri_ctl_touch_trial(ctl, r->v.trial));
    return tri_ctl_set_place(ctl, r->v.trial,
                             last ? TRI_PLACE_DONE : TRI_PLACE_PAUSED);
}

/* Its ranks may be slow: what it measured is no result. */
static tri_status measure_again(tri_ctl *ctl, tri_live *live)
{
    tri_run_row *r = &ctl->runs[live->run];

    tri_ctl_suspect(ctl, r);
    if (!live->stopped) {
        TRI_TRY(verdict(ctl, r, 0));
    }
    TRI_TRY(tri_ctl_end_run(ctl, live, TRI_RUN_FINISHED, TRI_REASON_NONE, 1));
    return wait_once_more(ctl, r->v.trial);
}

static tri_status on_finished(tri_ctl *ctl, tri_live *live,
                              const tri_ev_outcome *ev)
{
    tri_run_row *r = &ctl->runs[live->run];
    double objective;
    char why[300];
    tri_reason reason;
    int64_t counts;
    int went;

    if (live->finished) {
        return TRI_OK;
    }
    TRI_TRY(keep_outcome(ctl, r, ev));
    /* one that was told to save itself, and finished meanwhile */
    TRI_TRY(tri_ctl_take_checkpoint(ctl, r, ev));
    reason = judge(ctl, r, &objective, why, sizeof why);
    if (reason != TRI_REASON_NONE) {
        TRI_TRY(tri_ctl_say(ctl, r, why));
        return refuse(ctl, live, reason);
    }
    TRI_TRY(note_durations(ctl, live));
    r->v.objective = objective;
    r->v.end_s = ctl->now;
    if (r->v.phase == TRI_PHASE_SEARCH && tri_ctl_suspects(ctl, r)) {
        return measure_again(ctl, live);
    }
    live->finished = 1;
    if (r->v.phase == TRI_PHASE_FINALS) {
        TRI_TRY(tri_ctl_finals_finished(ctl, live));
        return release(ctl, live);
    }
    TRI_TRY(tri_ctl_settle_suspect(ctl, r->v.trial, r->v.run, &counts));
    TRI_TRY(tri_ctl_record_result(ctl, &ctl->runs[counts]));
    TRI_TRY(tri_ctl_go_on(ctl, live, &went));
    return went ? TRI_OK : release(ctl, live);
}

/* ---- other ends ---- */

/* The result stands; the ranks have left. */
static tri_status left(tri_ctl *ctl, tri_live *live)
{
    return tri_ctl_end_run(ctl, live, TRI_RUN_FINISHED, TRI_REASON_NONE, 1);
}

/* What the controller found, with the last step that the ranks know of, which
 * need not have been reported, and their remark. */
static tri_status say_hung(tri_ctl *ctl, tri_run_row *r, const char *found,
                           const tri_ev_outcome *ev)
{
    static const char beyond[] = "no step beyond ";
    const char *rest = found;
    char step[48] = "";
    char whole[400];

    if (strncmp(found, beyond, sizeof beyond - 1) == 0 && ev->steps_done > 0) {
        rest += sizeof beyond - 1;
        rest += strspn(rest, "0123456789");
        snprintf(step, sizeof step, "%s%lld", beyond,
                 (long long)ev->steps_done);
    }
    snprintf(whole, sizeof whole, "%s%.170s%s%.160s", step, rest,
             *ev->sentence ? "; " : "", ev->sentence);
    return tri_ctl_say(ctl, r, whole);
}

static tri_status on_interrupted(tri_ctl *ctl, tri_live *live,
                                 const tri_ev_outcome *ev)
{
    tri_run_row *r = &ctl->runs[live->run];
    const char *said;

    TRI_TRY(tri_ctl_take_checkpoint(ctl, r, ev));
    if (live->finished) {
        tri_ctl_note_checkpoint(ctl, r, ev);
        return left(ctl, live);
    }
    said = r->v.outcome.sentence; /* when it was found to hang */
    TRI_TRY(keep_outcome(ctl, r, ev));
    if (live->stopped && live->why == TRI_REASON_HUNG) {
        TRI_TRY(say_hung(ctl, r, said, ev));
        return tri_ctl_fail_run(ctl, live, TRI_REASON_HUNG, 1);
    }
    if (live->stopped && live->why == TRI_REASON_BUDGET) {
        return tri_ctl_interrupt_run(ctl, live, TRI_RUN_STOPPED,
                                     TRI_REASON_BUDGET);
    }
    return tri_ctl_interrupt_run(ctl, live, TRI_RUN_INTERRUPTED,
                                 TRI_REASON_DRAINED);
}

/* Whether another group of these hosts was lost just now; then neither loss
 * is the trial's doing. */
static int find_witness(tri_ctl *ctl, const tri_run_row *r, int32_t rank)
{
    const tri_rank_row *lost = tri_ctl_rank_row(ctl, rank);
    int found = 0;

    for (int i = 0; i < r->n_hosts; i++) {
        tri_host *h = &ctl->hosts[r->hosts[i]];

        if ((lost && lost->host != r->hosts[i]) || h->lost_trial < 0 ||
            h->lost_trial == r->v.trial || ctl->now - h->lost_s > WITNESS_S) {
            continue;
        }
        found = 1;
        if (h->charged && ctl->trials[h->lost_trial].suspicion) {
            ctl->trials[h->lost_trial].suspicion--;
        }
    }
    return found;
}

static void note_loss(tri_ctl *ctl, const tri_run_row *r, int32_t rank,
                      int charged)
{
    const tri_rank_row *lost = tri_ctl_rank_row(ctl, rank);

    for (int i = 0; i < r->n_hosts; i++) {
        tri_host *h = &ctl->hosts[r->hosts[i]];

        if (!lost || lost->host == r->hosts[i]) {
            h->lost_s = ctl->now;
            h->lost_trial = r->v.trial;
            h->charged = charged != 0;
            charged = 0; /* taken back once at most */
        }
    }
}

static tri_status lose_run(tri_ctl *ctl, tri_live *live, tri_reason reason,
                           const tri_ev_outcome *ev)
{
    const tri_run_row *r = &ctl->runs[live->run];
    const int64_t run = r->v.run;
    const int64_t trial = r->v.trial;
    tri_live before = *live;
    tri_trial_row *t = &ctl->trials[trial];
    int witness;

    TRI_TRY(tri_ctl_end_run(ctl, live, TRI_RUN_LOST, reason, 1));
    if (r->v.phase == TRI_PHASE_FINALS) {
        ctl->repeated_steps += steps_to_repeat(ctl, run);
        return tri_ctl_finals_result(ctl, &before, NAN, 0);
    }
    if (reason == TRI_REASON_LATE_VERDICT || reason == TRI_REASON_DRAINED) {
        return wait_again(ctl, run);
    }
    witness = find_witness(ctl, r, ev->lost_rank) || ev->witness ||
              reason == TRI_REASON_NODE_LOST;
    note_loss(ctl, r, ev->lost_rank, !witness);
    t->attempts++;
    t->suspicion = (uint8_t)(t->suspicion + !witness);
    if (t->suspicion >= SUSPICION_MOST) {
        return tri_ctl_give_up(ctl, trial, TRI_REASON_KILLED);
    }
    return wait_again(ctl, run);
}

tri_status tri_ctl_lose_silent(tri_ctl *ctl, tri_live *live)
{
    const tri_ev_outcome ev = {.lost_rank = ctl->runs[live->run].v.ranks[0]};

    return lose_run(ctl, live, TRI_REASON_RANK_LOST, &ev);
}

static tri_status on_lost(tri_ctl *ctl, tri_live *live,
                          const tri_ev_outcome *ev)
{
    tri_run_row *r = &ctl->runs[live->run];
    tri_reason reason = (tri_reason)ev->reason;

    if (tri_reason_rule_of(reason) != TRI_RULE_LOST &&
        reason != TRI_REASON_KILLED) {
        reason = TRI_REASON_RANK_LOST;
    }
    if (ev->lost_rank > 0 && reason != TRI_REASON_LATE_VERDICT) {
        tri_ctl_lose_rank(ctl, ev->lost_rank, TRI_RANK_DOWN);
    }
    if (live->finished) {
        return left(ctl, live);
    }
    TRI_TRY(keep_outcome(ctl, r, ev));
    return lose_run(ctl, live, reason, ev);
}

static tri_status on_failed(tri_ctl *ctl, tri_live *live,
                            const tri_ev_outcome *ev)
{
    tri_reason reason = (tri_reason)ev->reason;

    if (live->finished) {
        return left(ctl, live);
    }
    if (!tri_reason_name(reason) || reason == TRI_REASON_NONE) {
        reason = TRI_REASON_BAD_EXIT;
    }
    if (tri_reason_rule_of(reason) == TRI_RULE_LOST) {
        return on_lost(ctl, live, ev);
    }
    TRI_TRY(keep_outcome(ctl, &ctl->runs[live->run], ev));
    return tri_ctl_fail_run(ctl, live, reason, 1);
}

tri_status tri_ctl_feed_outcome(tri_ctl *ctl, tri_event_kind kind,
                                const tri_ev_outcome *ev)
{
    tri_live *live = tri_ctl_live(ctl, ev->run, ev->attempt);

    if (!live) {
        return kind == TRI_EV_PAUSED ? tri_ctl_late_checkpoint(ctl, ev)
                                     : TRI_OK;
    }
    switch (kind) {
    case TRI_EV_FINISHED:
        return on_finished(ctl, live, ev);
    case TRI_EV_FAILED:
        return on_failed(ctl, live, ev);
    case TRI_EV_LOST:
        return on_lost(ctl, live, ev);
    default: /* paused, interrupted */
        return on_interrupted(ctl, live, ev);
    }
}
