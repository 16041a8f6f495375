/*
 * Words for how a search went.
 */
#include "src/app/searched.h"

#include "src/app/app.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_RULES 16

typedef struct rule_count {
    const char *rule; /* borrowed from the controller */
    int64_t n;
} rule_count;

void tri_app_searched_note(tri_app_searched *s, const tri_ev_proposals *p)
{
    int none = strcmp(p->model, "none") == 0;

    s->answers++;
    s->think_s += isfinite(p->fit_s) ? p->fit_s : 0;
    s->tau = p->tau;
    s->n_records = p->n_records;
    snprintf(s->predictor, sizeof s->predictor, "%s", p->model);
    snprintf(s->reason, sizeof s->reason, "%s", none ? p->hyper : "");
}

/* What a trial comes from: its rule, or where nobody proposed it, its origin.
 */
static const char *source_of(const tri_ctl *ctl, int64_t trial)
{
    tri_trial_view v;

    tri_ctl_trial(ctl, trial, &v);
    return v.rule && v.rule[0] ? v.rule : v.origin;
}

/* [out] counts[MAX_RULES], most first; returns how many. */
static int count_rules(const tri_ctl *ctl, rule_count *counts)
{
    int n = 0;

    for (int64_t i = 0; i < tri_ctl_n_trials(ctl); i++) {
        const char *rule = source_of(ctl, i);
        int k = 0;

        while (k < n && strcmp(counts[k].rule, rule) != 0) {
            k++;
        }
        if (k == n && n < MAX_RULES) {
            counts[n++] = (rule_count){rule, 0};
        }
        for (counts[k].n += k<n; k> 0 && counts[k].n > counts[k - 1].n; k--) {
            rule_count swap = counts[k];

            counts[k] = counts[k - 1];
            counts[k - 1] = swap;
        }
    }
    return n;
}

static void append(char *buf, size_t bytes, const char *text)
{
    size_t n = strlen(buf);

    snprintf(buf + n, bytes - n, "%s", text);
}

static void append_model(const tri_app_searched *s, char *buf, size_t bytes)
{
    char text[320];

    if (s->answers == 0) {
        return;
    }
    if (s->reason[0]) {
        snprintf(text, sizeof text, ": no model (%s)", s->reason);
    } else if (isnan(s->tau)) {
        snprintf(text, sizeof text, ": %s (of %" PRId64 " results)",
                 s->predictor, s->n_records);
    } else {
        snprintf(text, sizeof text, ": %s (tau %.2f, of %" PRId64 " results)",
                 s->predictor, s->tau, s->n_records);
    }
    append(buf, bytes, text);
}

/* Runs that are shorter than thoughts are drawn for the most part. */
static void append_drawn(const tri_app_searched *s, const tri_ctl *ctl,
                         const rule_count *counts, int n, char *buf,
                         size_t bytes)
{
    char text[160], time[32];

    if (n == 0 || s->answers == 0 || strcmp(counts[0].rule, "quasi") != 0 ||
        2 * counts[0].n <= tri_ctl_n_trials(ctl)) {
        return;
    }
    snprintf(text, sizeof text,
             "; most were drawn, since runs ended before an answer (%s) stood "
             "ready",
             tri_app_duration(s->think_s / (double)s->answers, time,
                              sizeof time));
    append(buf, bytes, text);
}

char *tri_app_searched_text(const tri_app_searched *s, const tri_ctl *ctl,
                            char *buf, size_t bytes)
{
    rule_count counts[MAX_RULES + 1] = {{"", 0}};
    int n = count_rules(ctl, counts);

    snprintf(buf, bytes, "%s", tri_ctl_study(ctl)->search.proposer);
    append_model(s, buf, bytes);
    for (int i = 0; i < n; i++) {
        char text[80];

        snprintf(text, sizeof text, "%s %" PRId64 " %.60s", i ? "," : ";",
                 counts[i].n, counts[i].rule);
        append(buf, bytes, text);
    }
    append_drawn(s, ctl, counts, n, buf, bytes);
    return buf;
}

json_t *tri_app_searched_json(const tri_app_searched *s, const tri_ctl *ctl)
{
    rule_count counts[MAX_RULES + 1] = {{"", 0}};
    int n = count_rules(ctl, counts);
    json_t *o = json_object();
    json_t *rules = json_object();

    for (int i = 0; i < n; i++) {
        json_object_set_new(rules, counts[i].rule, json_integer(counts[i].n));
    }
    json_object_set_new(o, "proposer",
                        tri_app_json_text(tri_ctl_study(ctl)->search.proposer));
    json_object_set_new(o, "predictor",
                        s->answers ? tri_app_json_text(s->predictor)
                                   : json_null());
    json_object_set_new(o, "tau", tri_app_json_real(s->answers ? s->tau : NAN));
    json_object_set_new(o, "records", json_integer(s->n_records));
    json_object_set_new(o, "answers", json_integer(s->answers));
    json_object_set_new(o, "rules", rules);
    return o;
}

/* ---- the end --------------------------------------------------------- */

/* Whether a rung had something to go on with, or the space something new. */
static int work_is_left(const tri_ctl *ctl, int64_t trials)
{
    const tri_study *study = tri_ctl_study(ctl);
    int64_t count = tri_space_count(study->space);
    int more = study->budget.trials == TRI_UNLIMITED ||
               trials < study->budget.trials;
    tri_job job;

    /* looking does not commit */
    tri_sched_peek((tri_sched *)tri_ctl_sched(ctl),
                   more && (count < 0 || trials < count), &job);
    return job.kind != TRI_JOB_NONE;
}

static const char *ended_by(const tri_ctl *ctl, int64_t search_runs)
{
    const tri_study *study = tri_ctl_study(ctl);
    tri_progress p;

    tri_ctl_progress(ctl, &p);
    if (p.state != TRI_CTL_ENDED || p.end_status != TRI_EXIT_DONE) {
        return "";
    }
    if (study->budget.runs != TRI_UNLIMITED &&
        search_runs >= study->budget.runs) {
        return "runs";
    }
    if (study->budget.time_s != TRI_UNLIMITED && work_is_left(ctl, p.trials)) {
        return "time";
    }
    return study->budget.trials != TRI_UNLIMITED &&
                           p.trials >= study->budget.trials
                   ? "trials"
                   : "space";
}

tri_app_ending tri_app_ending_of(const tri_ctl *ctl)
{
    tri_app_ending e = {"", 0, 0};
    double from = INFINITY, to = 0;
    int64_t n = tri_ctl_n_runs(ctl);

    for (int64_t i = 0; i < n; i++) {
        tri_run_view v;

        tri_ctl_run(ctl, i, &v);
        if (v.phase == TRI_PHASE_FINALS) {
            e.finals++;
            from = fmin(from, v.start_s); /* NaN: never began */
            to = fmax(to, v.end_s);
        }
    }
    e.finals_s = to > from ? to - from : 0;
    e.by = ended_by(ctl, n - e.finals);
    return e;
}
