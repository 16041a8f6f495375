/*
 * Failures by class: how many, their commonest sentences, and of each the
 * configuration and the last lines of one run.
 */
#include "src/report/part.h"

#include <stdlib.h>
#include <string.h>

#define CAUSES     512
#define SHOWN      3
#define TAIL_BYTES 1500

typedef struct cause {
    tri_reason reason;
    const char *sentence; /* borrowed from the controller */
    int64_t runs, run;    /* the latest that wrote something, or the latest */
    int writes;
} cause;

typedef struct causes {
    cause list[CAUSES];
    int n;
} causes;

static const char *sentence_of(const tri_run_view *run)
{
    return run->outcome.sentence ? run->outcome.sentence : "";
}

/* Sentences that differ in their numbers alone are one. */
static int is_alike(const char *a, const char *b)
{
    while (*a || *b) {
        if (*a >= '0' && *a <= '9' && *b >= '0' && *b <= '9') {
            a += strspn(a, "0123456789.");
            b += strspn(b, "0123456789.");
        } else if (*a++ != *b++) {
            return 0;
        }
    }
    return 1;
}

static cause *cause_of(causes *c, const tri_run_view *run)
{
    const char *sentence = sentence_of(run);

    for (int i = 0; i < c->n; i++) {
        if (c->list[i].reason == run->reason &&
            is_alike(c->list[i].sentence, sentence)) {
            return &c->list[i];
        }
    }
    if (c->n == CAUSES) {
        return NULL;
    }
    c->list[c->n] = (cause){.reason = run->reason, .sentence = sentence};
    return &c->list[c->n++];
}

static void count(causes *c, const tri_run_view *run)
{
    cause *one = cause_of(c, run);
    int writes = run->outcome.stderr_tail.bytes > 0;

    if (one) {
        one->runs++;
        if (writes || !one->writes) {
            one->run = run->run;
            one->sentence = sentence_of(run);
            one->writes = writes;
        }
    }
}

static int by_count(const void *a, const void *b)
{
    const cause *x = a;
    const cause *y = b;

    return x->runs != y->runs ? (x->runs < y->runs) - (x->runs > y->runs)
                              : (x->run > y->run) - (x->run < y->run);
}

/* The end of what a run wrote, from a line's beginning. */
static json_t *tail_of(const tri_run_view *run)
{
    const char *text = run->outcome.stderr_tail.data;
    size_t bytes = run->outcome.stderr_tail.bytes;
    size_t from = bytes > TAIL_BYTES ? bytes - TAIL_BYTES : 0;

    if (bytes == 0) {
        return json_null();
    }
    while (from > 0 && from < bytes && text[from - 1] != '\n') {
        from++;
    }
    return tri_report_text(text + from, bytes - from);
}

static json_t *example(const tri_report_part *p, const cause *c)
{
    json_t *o = json_object();
    tri_run_view run;

    tri_ctl_run(p->ctl, c->run, &run);
    json_object_set_new(o, "sentence", tri_report_string(c->sentence));
    json_object_set_new(o, "runs", json_integer(c->runs));
    json_object_set_new(o, "run", json_integer(c->run));
    json_object_set_new(o, "trial", json_integer(run.trial));
    json_object_set_new(o, "configuration",
                        tri_report_configuration(p->ctl, run.trial));
    json_object_set_new(o, "stderr", tail_of(&run));
    return o;
}

static json_t *class_json(const tri_report_part *p, const causes *c,
                          tri_reason reason, int64_t runs, int64_t trials)
{
    json_t *o = json_object();
    json_t *examples = json_array();

    for (int i = 0; i < c->n && json_array_size(examples) < SHOWN; i++) {
        if (c->list[i].reason == reason) {
            json_array_append_new(examples, example(p, &c->list[i]));
        }
    }
    json_object_set_new(o, "class", json_string(tri_reason_name(reason)));
    json_object_set_new(o, "runs", json_integer(runs));
    json_object_set_new(o, "trials", json_integer(trials));
    json_object_set_new(o, "examples", examples);
    return o;
}

static void count_trials(const tri_report_part *p,
                         int64_t trials[TRI_REASON_COUNT])
{
    for (int64_t i = 0; i < tri_ctl_n_trials(p->ctl); i++) {
        tri_trial_view v;

        tri_ctl_trial(p->ctl, i, &v);
        trials[v.reason] += v.state == TRI_TRIAL_FAILED;
    }
}

static void count_runs(const tri_report_part *p, causes *c,
                       int64_t runs[TRI_REASON_COUNT])
{
    for (int64_t i = 0; i < tri_ctl_n_runs(p->ctl); i++) {
        tri_run_view run;

        tri_ctl_run(p->ctl, i, &run);
        if (run.state == TRI_RUN_ENDED && run.reason != TRI_REASON_NONE) {
            runs[run.reason]++;
            count(c, &run);
        }
    }
    qsort(c->list, (size_t)c->n, sizeof *c->list, by_count);
}

json_t *tri_report_failures(const tri_report_part *p)
{
    int64_t runs[TRI_REASON_COUNT] = {0};
    int64_t trials[TRI_REASON_COUNT] = {0};
    causes *c = calloc(1, sizeof *c);
    json_t *a = json_array();

    if (c) {
        count_runs(p, c, runs);
        count_trials(p, trials);
    }
    for (int r = 1; c && r < TRI_REASON_COUNT; r++) {
        if (runs[r] + trials[r] > 0) {
            json_array_append_new(
                    a, class_json(p, c, (tri_reason)r, runs[r], trials[r]));
        }
    }
    free(c);
    if (json_array_size(a) == 0) {
        json_decref(a);
        return tri_report_because(p, "failures", "No run has failed.");
    }
    return a;
}
