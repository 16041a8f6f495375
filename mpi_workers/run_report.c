/*
 * What the leader of a run tells rank 0: reports at a bounded rate, and
 * outcomes with what was measured.
 */
#include "mpi_workers/run_internal.h"

#include "mpi_workers/pause.h"
#include "trireme/curve.h"

#include <math.h>
#include <string.h>

static void send_report(tri_run *r)
{
    tri_message m;
    double scratch[TRI_REPORT_STEPS];

    memset(&m, 0, sizeof m);
    m.kind = TRI_MSG_REPORT;
    m.u.report = (tri_ev_report){
            .run = r->number,
            .attempt = r->attempt,
            .seq = r->report.seq++,
            .step = r->report.step,
            .step_s = tri_median(r->report.step_s, r->report.n, scratch),
            .tokens = llround(r->report.tokens),
            .samples = llround(r->report.samples),
            .loss = r->last.loss,
            .bytes = (int64_t)r->bytes};
    tri_worker_send(r->w, &m);
    r->report.sent_s = tri_now();
    r->report.tokens = r->report.samples = 0;
    r->report.steps = 0;
    r->report.n = 0;
}

void tri_run_restart_reports(tri_run *r)
{
    memset(&r->report, 0, sizeof r->report);
}

void tri_run_flush(tri_run *r)
{
    if (r->report.steps > 0) {
        send_report(r);
    }
}

void tri_run_observe(tri_run *r, const tri_step *s)
{
    int64_t n = s->step - r->last.step;

    if (n <= 0) { /* a fresh start: steps count from the beginning again */
        int64_t before = r->ops->restart ? r->from_step : 0;

        tri_measure_reset(r->measure, before);
        n = s->step > before ? s->step - before : 1;
    }
    tri_measure_add(r->measure, &(tri_observation){.n = n,
                                                   .step_s = s->step_s,
                                                   .tokens = s->tokens,
                                                   .samples = s->samples,
                                                   .loss = s->loss,
                                                   .own = s->own,
                                                   .joins = s->joins});
    r->last = *s;
    r->report.step = s->step;
    r->report.steps += n;
    r->report.tokens += (double)n * s->tokens;
    r->report.samples += (double)n * s->samples;
    r->report.step_s[r->report.n % TRI_REPORT_STEPS] = s->step_s;
    if (r->report.n < TRI_REPORT_STEPS) {
        r->report.n++;
    }
    if (r->report.seq == 0 || tri_now() - r->report.sent_s >= TRI_REPORT_S ||
        r->report.n == TRI_REPORT_STEPS) {
        send_report(r);
    }
}

/* A curve's value stands for the metric that the study names. */
static void put_curve(const tri_study *study, double value, tri_ev_outcome *out)
{
    tri_measured m;

    tri_curve_measured(study, value, &m);
    out->tokens_per_s = m.tokens_per_s;
    out->samples_per_s = m.samples_per_s;
    out->step_s = m.step_s;
    out->loss = m.loss;
    out->objective = value;
    out->lo = out->hi = NAN;
}

static void put_measured(const tri_study *study, const tri_measurement *m,
                         tri_ev_outcome *out)
{
    const tri_interval none = {NAN, NAN, NAN};
    tri_interval of = none;

    out->loss = m->loss;
    out->tokens_per_s = m->tokens_per_s.value;
    out->samples_per_s = m->samples_per_s.value;
    out->step_s = m->step_s.value;
    switch (study->objective.metric) {
    case TRI_METRIC_TOKENS_PER_S:
        of = m->tokens_per_s;
        break;
    case TRI_METRIC_SAMPLES_PER_S:
        of = m->samples_per_s;
        break;
    case TRI_METRIC_STEP_S:
        of = m->step_s;
        break;
    case TRI_METRIC_LOSS:
        of.value = m->loss;
        break;
    case TRI_METRIC_OWN:
        of.value = m->own;
        break;
    }
    out->objective = of.value;
    out->lo = of.lo;
    out->hi = of.hi;
}

static void put_measurement(const tri_run *r, tri_ev_outcome *out)
{
    const tri_study *study = r->w->study;
    tri_measurement m;

    tri_measure_result(r->measure, 1, &m);
    put_measured(study, &m, out);
    if (r->ops == &tri_trial_synthetic) {
        put_curve(study, r->last.own, out);
    }
    out->warmup_steps = m.warmup_steps;
    out->flaky = (uint8_t)m.flaky;
}

int tri_run_is_measured(tri_run *r)
{
    tri_ev_outcome o = {.objective = NAN};

    put_measurement(r, &o);
    return r->ops == &tri_trial_synthetic || !isnan(o.objective);
}

/* An outcome of which nothing is known but the checkpoint. */
static tri_message outcome_of(const tri_run *r, tri_event_kind event,
                              int64_t number, int attempt)
{
    tri_message m;
    tri_ev_outcome *o = &m.u.outcome.outcome;
    int has = r->checkpoint[0] != 0;

    memset(&m, 0, sizeof m);
    m.kind = TRI_MSG_OUTCOME;
    m.u.outcome.event = (int32_t)event;
    o->run = number;
    o->attempt = attempt;
    o->sentence = "";
    o->lost_rank = -1;
    o->objective = o->lo = o->hi = o->loss = NAN;
    o->tokens_per_s = o->samples_per_s = o->step_s = NAN;
    o->peak_bytes = o->rss_bytes = -1;
    o->checkpoint = r->checkpoint;
    o->checkpoint_step = has ? r->checkpoint_step : -1;
    o->checkpoint_s = has ? r->checkpoint_s : NAN;
    o->checkpoint_bytes = has ? (int64_t)r->checkpoint_bytes : -1;
    return m;
}

void tri_run_tell_saved(tri_run *r)
{
    tri_message m =
            outcome_of(r, TRI_EV_PAUSED, r->save_number, r->save_attempt);

    tri_worker_send(r->w, &m);
}

void tri_run_tell(tri_run *r, tri_event_kind event, tri_reason reason,
                  const char *sentence)
{
    tri_message m = outcome_of(r, event, r->number, r->attempt);
    tri_ev_outcome *o = &m.u.outcome.outcome;
    size_t bytes = 0;

    o->reason = (int32_t)reason;
    o->sentence = sentence;
    o->lost_rank = r->lost_rank;
    if (r->measure) {
        put_measurement(r, o);
    }
    o->steps_done = r->last.step;
    o->peak_bytes = r->bytes ? (int64_t)r->bytes : -1;
    o->rss_bytes = r->rss ? (int64_t)r->rss : -1;
    if ((event == TRI_EV_FAILED || event == TRI_EV_LOST) && r->trial &&
        r->ops->stderr_tail) {
        o->stderr_tail.data = r->ops->stderr_tail(r->trial, &bytes);
        o->stderr_tail.bytes = bytes;
    }
    tri_worker_send(r->w, &m);
}
