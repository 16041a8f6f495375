/*
 * What failed, as JSON and for people: the failures by class with their
 * commonest sentences, what a failing run wrote to its standard error, what
 * became of the baseline.  Reads a controller and nothing else.
 */
#include "src/app/app.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SENTENCES   64
#define SHOWN_SENTENCES 3
#define SHOWN_LINES     8
#define LINE_BYTES      200
/* Enough of a line to find it in a sentence. */
#define QUOTED_BYTES 40
#define LEAST_QUOTED 8

json_t *tri_app_failures_json(const tri_progress *p)
{
    json_t *o = json_object();

    for (int r = 1; r < TRI_REASON_COUNT; r++) {
        if (p->failures[r] > 0) {
            json_object_set_new(o, tri_reason_name((tri_reason)r),
                                json_integer(p->failures[r]));
        }
    }
    return o;
}

/* ---- standard error ---------------------------------------------------- */

/* The last non-empty line of text[0, bytes), copied without what would change
 * a terminal; returns the bytes before it, 0 if there is no more. */
static size_t last_line(const char *text, size_t bytes, char *buf, size_t room)
{
    size_t begin;
    size_t n = 0;

    while (bytes > 0 && (unsigned char)text[bytes - 1] <= ' ') {
        bytes--;
    }
    for (begin = bytes; begin > 0 && text[begin - 1] != '\n';) {
        begin--;
    }
    for (size_t i = begin; i < bytes && n + 1 < room; i++) {
        unsigned char c = (unsigned char)text[i];

        buf[n++] = (char)(c == '\t' || c == '\r' ? ' '
                          : c < ' ' || c == 127  ? '?'
                                                 : c);
    }
    buf[n] = '\0';
    return begin;
}

static int has_stderr(const tri_run_view *run)
{
    char line[LINE_BYTES];

    if (run->state != TRI_RUN_ENDED || run->reason == TRI_REASON_NONE ||
        run->outcome.stderr_tail.bytes == 0) {
        return 0;
    }
    last_line(run->outcome.stderr_tail.data, run->outcome.stderr_tail.bytes,
              line, sizeof line);
    return line[0] != '\0';
}

static void print_tail(const tri_run_view *run, FILE *out)
{
    const char *text = run->outcome.stderr_tail.data;
    char lines[SHOWN_LINES][LINE_BYTES];
    size_t bytes = run->outcome.stderr_tail.bytes;
    int n = 0;

    while (n < SHOWN_LINES && bytes > 0) {
        bytes = last_line(text, bytes, lines[n], sizeof lines[n]);
        n += lines[n][0] != '\0';
    }
    fprintf(out, "\nstandard error of run %" PRId64 " (trial %" PRId64 ")%s\n",
            run->run, run->trial, bytes > 0 ? ", its last lines" : "");
    while (n-- > 0) {
        fprintf(out, "    %s\n", lines[n]);
    }
}

/* The first failing run that wrote something, of `trial` or (-1) of any. */
static int first_writer(const tri_ctl *ctl, int64_t trial, tri_run_view *out)
{
    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_ctl_run(ctl, i, out);
        if ((trial < 0 || out->trial == trial) && has_stderr(out)) {
            return 1;
        }
    }
    return 0;
}

void tri_app_failures_explain(const tri_ctl *ctl, FILE *out)
{
    tri_run_view run;
    tri_progress p;

    tri_ctl_progress(ctl, &p);
    if ((tri_app_baseline_failed(ctl) && first_writer(ctl, 0, &run)) ||
        (p.best_trial < 0 && first_writer(ctl, -1, &run))) {
        print_tail(&run, out);
    }
}

/* ---- as they happen ------------------------------------------------------ */

static void warn_of(const tri_ctl *ctl, const tri_run_view *run)
{
    const char *sentence = run->outcome.sentence ? run->outcome.sentence : "";
    char program[1024] = "";

    if (run->reason == TRI_REASON_IMPORT_ERROR &&
        !tri_app_program(tri_ctl_study(ctl), program, sizeof program)) {
        program[0] = '\0';
    }
    TRI_LOG_JOB(TRI_LOG_WARN,
                "run %" PRId64 " (trial %" PRId64 ") failed: %s%s%s%s%s%s; "
                "others of this class are not logged",
                run->run, run->trial, tri_reason_name(run->reason),
                *sentence ? ": " : "", sentence,
                *program ? " (the program is " : "", program,
                *program ? ")" : "");
}

void tri_app_failures_warn(const tri_ctl *ctl, tri_app_told *told)
{
    int64_t n = tri_ctl_n_runs(ctl);
    tri_progress p;
    tri_run_view run;

    tri_ctl_progress(ctl, &p);
    for (int64_t i = told->seen; i < n; i++) {
        tri_ctl_run(ctl, i, &run);
        if (run.state != TRI_RUN_ENDED) {
            continue;
        }
        told->seen += i == told->seen;
        if (run.epoch == p.epoch && run.status == TRI_RUN_FAILED &&
            !told->classes[run.reason]) {
            told->classes[run.reason] = 1;
            warn_of(ctl, &run);
        }
    }
}

/* ---- the baseline ------------------------------------------------------ */

/* Whether there is one; it is always the first trial. */
static int find_baseline(const tri_ctl *ctl, tri_trial_view *out)
{
    if (tri_ctl_n_trials(ctl) == 0) {
        return 0;
    }
    tri_ctl_trial(ctl, 0, out);
    return strcmp(out->origin, "baseline") == 0;
}

int tri_app_baseline_failed(const tri_ctl *ctl)
{
    tri_trial_view v;

    return find_baseline(ctl, &v) && v.state == TRI_TRIAL_FAILED;
}

/* Why its last run in the finals came to nothing. */
static tri_reason reason_in_finals(const tri_ctl *ctl)
{
    for (int64_t i = tri_ctl_n_runs(ctl) - 1; i >= 0; i--) {
        tri_run_view run;

        tri_ctl_run(ctl, i, &run);
        if (run.trial == 0 && run.phase == TRI_PHASE_FINALS &&
            run.state == TRI_RUN_ENDED) {
            return run.reason;
        }
    }
    return TRI_REASON_NONE;
}

char *tri_app_baseline_fate(const tri_ctl *ctl, char *buf, size_t bytes)
{
    tri_reason reason = reason_in_finals(ctl);
    tri_trial_view v;

    if (!find_baseline(ctl, &v)) {
        snprintf(buf, bytes, "no baseline to compare with");
    } else if (v.state == TRI_TRIAL_FAILED) {
        snprintf(buf, bytes, "the baseline (trial 0) failed: %s",
                 tri_reason_name(v.reason));
    } else if (v.state == TRI_TRIAL_PARKED) {
        snprintf(buf, bytes,
                 "the baseline (trial 0) was not run: it needs %d ranks",
                 v.ranks);
    } else if (reason != TRI_REASON_NONE) {
        snprintf(buf, bytes, "the baseline (trial 0) failed in the finals: %s",
                 tri_reason_name(reason));
    } else {
        snprintf(buf, bytes,
                 "the baseline (trial 0) was not measured in the finals");
    }
    return buf;
}

/* ---- by class ---------------------------------------------------------- */

typedef struct cause {
    tri_reason reason;
    char sentence[256];
    int64_t n;
} cause;

typedef struct causes {
    cause list[MAX_SENTENCES];
    int n;
} causes;

static void count_cause(causes *c, const tri_run_view *run)
{
    const char *sentence = run->outcome.sentence ? run->outcome.sentence : "";
    cause *free_one = NULL;

    for (int i = 0; i < c->n; i++) {
        if (c->list[i].reason == run->reason &&
            strncmp(c->list[i].sentence, sentence,
                    sizeof c->list[i].sentence - 1) == 0) {
            c->list[i].n++;
            return;
        }
    }
    if (c->n < MAX_SENTENCES) {
        free_one = &c->list[c->n++];
        free_one->reason = run->reason;
        free_one->n = 1;
        snprintf(free_one->sentence, sizeof free_one->sentence, "%s", sentence);
    }
}

static int by_count(const void *a, const void *b)
{
    const cause *x = a;
    const cause *y = b;

    return (x->n < y->n) - (x->n > y->n);
}

static void print_causes(const causes *c, tri_reason reason, FILE *out)
{
    int shown = 0;

    for (int i = 0; i < c->n && shown < SHOWN_SENTENCES; i++) {
        if (c->list[i].reason == reason && c->list[i].sentence[0]) {
            fprintf(out, "    %" PRId64 " x %s\n", c->list[i].n,
                    c->list[i].sentence);
            shown++;
        }
    }
}

/* A row of dashes and the like. */
static int has_word(const char *line)
{
    for (; *line; line++) {
        unsigned char c = (unsigned char)*line;

        if ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
            c >= 128) {
            return 1;
        }
    }
    return 0;
}

/* The last line with a word in it; "" where there is none, and where the
 * sentence quotes one of them already. */
static void find_example(const tri_run_view *run, char *buf, size_t room)
{
    const char *sentence = run->outcome.sentence ? run->outcome.sentence : "";
    size_t bytes = run->outcome.stderr_tail.bytes;
    char line[QUOTED_BYTES];

    buf[0] = '\0';
    for (size_t end = bytes; end > 0;) {
        size_t before = last_line(run->outcome.stderr_tail.data, end, line,
                                  sizeof line);

        if (has_word(line) && (!buf[0] || strlen(line) >= LEAST_QUOTED) &&
            strstr(sentence, line)) {
            buf[0] = '\0';
            return;
        }
        if (!buf[0] && has_word(line)) {
            last_line(run->outcome.stderr_tail.data, end, buf, room);
        }
        end = before;
    }
}

/* Of the latest run of this class that wrote something. */
static void print_example(const tri_ctl *ctl, tri_reason reason, FILE *out)
{
    for (int64_t i = tri_ctl_n_runs(ctl) - 1; i >= 0; i--) {
        char line[LINE_BYTES];
        tri_run_view run;

        tri_ctl_run(ctl, i, &run);
        if (run.reason == reason && has_stderr(&run)) {
            find_example(&run, line, sizeof line);
            if (line[0]) {
                fprintf(out, "    run %" PRId64 " said: %s\n", run.run, line);
            }
            return;
        }
    }
}

void tri_app_failures_print(const tri_ctl *ctl, FILE *out)
{
    causes c = {.n = 0};
    tri_progress p;
    int any = 0;

    tri_ctl_progress(ctl, &p);
    for (int64_t i = 0; i < tri_ctl_n_runs(ctl); i++) {
        tri_run_view run;

        tri_ctl_run(ctl, i, &run);
        if (run.state == TRI_RUN_ENDED && run.reason != TRI_REASON_NONE) {
            count_cause(&c, &run);
        }
    }
    qsort(c.list, (size_t)c.n, sizeof *c.list, by_count);
    for (int r = 1; r < TRI_REASON_COUNT; r++) {
        if (p.failures[r] == 0) {
            continue;
        }
        fprintf(out, "%s  %s %" PRId64 "\n", any ? "" : "\nfailures\n",
                tri_reason_name((tri_reason)r), p.failures[r]);
        print_causes(&c, (tri_reason)r, out);
        print_example(ctl, (tri_reason)r, out);
        any = 1;
    }
}
