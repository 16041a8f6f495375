/*
 * Takes a plugin's reports together and judges them.
 */
#include "mpi_workers/plugin_report.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Steps without what the resource is counted by, until it is given up. */
#define STEPS_WITHOUT 100
/* A step further beyond the double of the one asked for cannot be meant. */
#define STEPS_BEYOND 1000
/* The struct's first fields, without which a report says nothing. */
#define LEAST_BYTES (offsetof(trireme_trial_report, step) + sizeof(int64_t))

void tri_plugin_heard_init(tri_plugin_heard *h, const tri_study *study,
                           int64_t step)
{
    memset(h, 0, sizeof *h);
    h->study = study;
    h->step = h->before = step;
}

void tri_plugin_heard_begin(tri_plugin_heard *h, int64_t step)
{
    h->asked = step;
    h->before = h->step;
    h->tokens = h->samples = 0;
    h->loss = h->own = NAN;
    h->is_bad = 0;
    h->complaint[0] = 0;
}

int64_t tri_plugin_heard_steps(const tri_plugin_heard *h)
{
    return h->step - h->before;
}

static void note_name(tri_plugin_heard *h, const char *name)
{
    size_t n = strlen(h->names);
    char seen[sizeof h->names + 4];
    char look[72];

    snprintf(seen, sizeof seen, ", %s,", h->names);
    snprintf(look, sizeof look, ", %.64s,", name);
    if (!strstr(seen, look) && n + strlen(name) + 3 < sizeof h->names) {
        snprintf(h->names + n, sizeof h->names - n, "%s%.64s", n ? ", " : "",
                 name);
    }
}

static void hear_own(tri_plugin_heard *h, const trireme_trial_report *r)
{
    const tri_study *study = h->study;

    for (int32_t i = 0; r->names && r->values && i < r->n_metrics; i++) {
        if (!r->names[i]) {
            continue;
        }
        note_name(h, r->names[i]);
        if (study->objective.metric == TRI_METRIC_OWN &&
            strcmp(r->names[i], study->objective.name) == 0) {
            h->has_own = 1;
            h->own = r->values[i];
            h->is_bad = h->is_bad || !isfinite(h->own);
        }
    }
}

static void hear_step(tri_plugin_heard *h, const trireme_trial_report *r)
{
    double n = (double)(r->step - h->step);

    if (r->tokens > 0 && isfinite(r->tokens)) {
        h->has_tokens = 1;
        h->tokens += n * r->tokens;
        h->all_tokens += n * r->tokens;
    }
    if (r->samples > 0 && isfinite(r->samples)) {
        h->has_samples = 1;
        h->samples += n * r->samples;
        h->all_samples += n * r->samples;
    }
    h->steps += r->step - h->step;
    h->step = r->step;
}

static void complain(tri_plugin_heard *h, const char *what, long long number)
{
    if (!h->complaint[0]) {
        snprintf(h->complaint, sizeof h->complaint, what, number);
    }
}

int tri_plugin_heard_add(tri_plugin_heard *h,
                         const trireme_trial_report *report)
{
    trireme_trial_report r = {0};

    if (report->struct_bytes < LEAST_BYTES) {
        complain(h,
                 "a report has struct_bytes %lld; expected "
                 "sizeof(trireme_trial_report)",
                 (long long)report->struct_bytes);
        return 1;
    }
    memcpy(&r, report,
           report->struct_bytes < sizeof r ? report->struct_bytes : sizeof r);
    if (r.step < h->step) {
        complain(h, "a report of step %lld came after a later one",
                 (long long)r.step);
        return 1;
    }
    if (r.step / 2 > h->asked + STEPS_BEYOND / 2) {
        complain(h, "a report of step %lld is far beyond the one asked for",
                 (long long)r.step);
        return 1;
    }
    if (r.step > h->step) {
        hear_step(h, &r);
    }
    if (r.has_loss) {
        h->has_loss = 1;
        h->loss = r.loss;
        h->is_bad = h->is_bad || !isfinite(r.loss);
    }
    hear_own(h, &r);
    h->bytes = r.bytes > h->bytes ? r.bytes : h->bytes;
    return h->step >= h->asked;
}

/* ---- judging ----------------------------------------------------------- */

/* What the objective needs and was never reported; NULL: nothing is. */
static const char *missing(const tri_plugin_heard *h)
{
    switch (h->study->objective.metric) {
    case TRI_METRIC_TOKENS_PER_S:
        return h->has_tokens ? NULL : "tokens";
    case TRI_METRIC_SAMPLES_PER_S:
        return h->has_samples ? NULL : "samples";
    case TRI_METRIC_LOSS:
        return h->has_loss ? NULL : "a loss";
    case TRI_METRIC_OWN:
        return h->has_own ? NULL : h->study->objective.name;
    default:
        return NULL;
    }
}

/* How much of the resource was done; what a checkpoint holds is not known but
 * for its steps. */
static double amount(const tri_plugin_heard *h)
{
    int from_start = h->steps == h->step;

    switch (h->study->resource.unit) {
    case TRI_UNIT_STEPS:
        return (double)h->step;
    case TRI_UNIT_TOKENS:
        return from_start ? h->all_tokens : INFINITY;
    case TRI_UNIT_SAMPLES:
        return from_start ? h->all_samples : INFINITY;
    default:
        return INFINITY;
    }
}

static tri_status judge_counting(const tri_plugin_heard *h, int64_t target)
{
    tri_unit unit = h->study->resource.unit;
    int counts = unit == TRI_UNIT_TOKENS    ? h->has_tokens
                 : unit == TRI_UNIT_SAMPLES ? h->has_samples
                                            : 1;

    if (target >= 0 || counts || h->steps < STEPS_WITHOUT) {
        return TRI_OK;
    }
    return TRI_FAIL(TRI_ETRIAL,
                    "the plugin reported no %s in %lld steps; the resource is "
                    "counted by them",
                    tri_unit_name(unit), (long long)h->steps);
}

static tri_status judge_result(const tri_plugin_heard *h, int ended,
                               int64_t resource)
{
    const char *key = missing(h);
    double done = amount(h);

    if (ended && done < (double)resource) {
        return TRI_FAIL(TRI_ETRIAL,
                        "the plugin ended by itself after %.0f of %lld %s",
                        done, (long long)resource,
                        tri_unit_name(h->study->resource.unit));
    }
    if (key) {
        return TRI_FAIL(TRI_ETRIAL,
                        "the plugin never reported %.60s, which the objective "
                        "needs%s%s",
                        key, h->names[0] ? "; it reported " : "", h->names);
    }
    return TRI_OK;
}

tri_status tri_plugin_heard_judge(const tri_plugin_heard *h, int ended,
                                  int over, int64_t resource, int64_t target)
{
    if (h->complaint[0]) {
        return TRI_FAIL(TRI_ETRIAL, "of the plugin: %s", h->complaint);
    }
    if (h->is_bad) {
        return TRI_FAIL(TRI_ENAN,
                        "what the plugin reported of step %lld is "
                        "not a number",
                        (long long)h->step);
    }
    if (!ended && h->step < h->asked) {
        return TRI_FAIL(TRI_ETRIAL,
                        "the plugin's run_until came back without a report of "
                        "step %lld; the last one was of step %lld",
                        (long long)h->asked, (long long)h->step);
    }
    TRI_TRY(judge_counting(h, target));
    return ended || over ? judge_result(h, ended, resource) : TRI_OK;
}
