/*
 * trireme export: a table of a study, live, broken or ended, as CSV or JSON
 * lines on standard output.  Folds the record; never writes.
 */
#include "src/app/app.h"

#include "src/app/rows.h"
#include "trireme/store.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct export_options {
    tri_app_common common;
    const char *table, *format;
} export_options;

enum {
    KEY_TABLE = 0x2001,
    KEY_FORMAT
};

static const struct argp_option options[] = {
        {"table", KEY_TABLE, "trials|runs|reports|events", 0, "Which table", 0},
        {"format", KEY_FORMAT, "csv|json", 0, "CSV (default) or JSON lines", 0},
        {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    export_options *o = state->input;

    switch (key) {
    case KEY_TABLE:
        o->table = arg;
        return 0;
    case KEY_FORMAT:
        o->format = arg;
        return 0;
    default:
        return tri_app_parse_other(key, arg, state);
    }
}

static const struct argp argp = {
        options,
        parse,
        "FILE.h5",
        "Print a table of a study; columns as in the HDF5 file.",
        tri_app_common_child,
        NULL,
        NULL};

/* ---- names ----------------------------------------------------------- */

static const char *trial_state(tri_trial_state state)
{
    static const char *const names[] = {"running", "paused", "promoted",
                                        "done",    "failed", "parked"};

    return names[state];
}

static const char *run_status(tri_run_status status)
{
    static const char *const names[] = {"finished", "failed", "lost",
                                        "interrupted", "stopped"};

    return names[status];
}

static const char *phase_name(tri_phase phase)
{
    return phase == TRI_PHASE_FINALS ? "finals" : "search";
}

/* ---- trials ---------------------------------------------------------- */

static void trial_row(tri_rows *r, const tri_space *space,
                      const tri_trial_view *v)
{
    tri_rows_int(r, "trial", v->trial);
    tri_rows_real(r, "created_s", v->created_s);
    tri_rows_text(r, "origin", v->origin);
    tri_rows_text(r, "state", trial_state(v->state));
    tri_rows_int(r, "ranks", v->ranks);
    tri_rows_real(r, "predicted", v->predicted);
    tri_rows_real(r, "predicted_lo", v->predicted_lo);
    tri_rows_real(r, "predicted_hi", v->predicted_hi);
    tri_rows_real(r, "predicted_bytes", v->predicted_bytes);
    tri_rows_real(r, "p_feasible", v->p_feasible);
    tri_rows_text(r, "rule", v->rule);
    for (int i = 0; i < tri_space_n_params(space); i++) {
        const tri_value none = {.type = TRI_INACTIVE};

        tri_rows_value(r, tri_space_param(space, i)->name,
                       v->config ? v->config[i] : none);
    }
    tri_rows_end(r);
}

static tri_status export_trials(const tri_history *history, tri_rows *r)
{
    tri_trial_view v = {.trial = 0};
    const tri_space *space;
    tri_ctl *ctl = NULL;

    TRI_TRY(tri_history_replay(history, &ctl, NULL));
    space = tri_ctl_study(ctl)->space;
    tri_rows_heading(r);
    trial_row(r, space, &v);
    for (int64_t i = 0; i < tri_ctl_n_trials(ctl); i++) {
        tri_ctl_trial(ctl, i, &v);
        trial_row(r, space, &v);
    }
    tri_ctl_destroy(ctl);
    return TRI_OK;
}

/* ---- runs ------------------------------------------------------------ */

/* What the runs' rows need beside the controller's view. */
typedef struct run_facts {
    tri_rows *rows;
    char level[32];
    int64_t stderr_offset; /* of the next tail in the order of ends */
} run_facts;

static void rank_set(const tri_run_view *v, char *buf, size_t bytes)
{
    size_t used = 0;

    buf[0] = '\0';
    for (int i = 0; i < v->n_ranks && used < bytes; i++) {
        used += (size_t)snprintf(buf + used, bytes - used, "%s%d", i ? "," : "",
                                 (int)v->ranks[i]);
    }
}

static void run_measures(tri_rows *r, const tri_run_view *v)
{
    const tri_ev_outcome *o = &v->outcome;

    tri_rows_real(r, "objective", v->objective);
    tri_rows_real(r, "lo", o->lo);
    tri_rows_real(r, "hi", o->hi);
    tri_rows_real(r, "loss", o->loss);
    tri_rows_real(r, "tokens_per_s", o->tokens_per_s);
    tri_rows_real(r, "samples_per_s", o->samples_per_s);
    tri_rows_real(r, "step_s", o->step_s);
    tri_rows_int(r, "peak_bytes", o->peak_bytes);
    tri_rows_int(r, "rss_bytes", o->rss_bytes);
    tri_rows_real(r, "checkpoint_s", o->checkpoint_s);
    tri_rows_int(r, "checkpoint_bytes", o->checkpoint_bytes);
}

static void run_row(run_facts *f, const tri_run_view *v, const char *hosts)
{
    tri_rows *r = f->rows;
    char ranks[4096];

    rank_set(v, ranks, sizeof ranks);
    tri_rows_int(r, "run", v->run);
    tri_rows_int(r, "trial", v->trial);
    tri_rows_text(r, "phase", phase_name(v->phase));
    tri_rows_int(r, "bracket", v->bracket);
    tri_rows_int(r, "rung", v->rung);
    tri_rows_int(r, "attempt", v->attempt);
    tri_rows_int(r, "resource", v->resource);
    tri_rows_int(r, "steps_done", v->outcome.steps_done);
    tri_rows_int(r, "warmup_steps", v->outcome.warmup_steps);
    tri_rows_int(r, "ranks", v->n_ranks);
    tri_rows_text(r, "rank_set", ranks);
    tri_rows_text(r, "hosts", hosts);
    tri_rows_text(r, "level", f->level);
    tri_rows_int(r, "epoch", v->epoch);
    tri_rows_real(r, "start_s", v->start_s);
    tri_rows_real(r, "end_s", v->end_s);
    tri_rows_text(r, "status", run_status(v->status));
    tri_rows_text(r, "reason", tri_reason_name(v->reason));
    run_measures(r, v);
    tri_rows_int(r, "oversubscribed", v->oversubscribed);
    tri_rows_int(r, "flaky", v->outcome.flaky);
    tri_rows_int(r, "stderr_offset", f->stderr_offset);
    tri_rows_int(r, "stderr_bytes", (int64_t)v->outcome.stderr_tail.bytes);
    tri_rows_end(r);
    f->stderr_offset += (int64_t)v->outcome.stderr_tail.bytes;
}

static tri_status each_for_runs(void *ctx, const tri_event *event,
                                const tri_commands *commands,
                                const tri_entry *entry, tri_ctl *ctl)
{
    run_facts *f = ctx;
    const int64_t *changed;
    int n = tri_ctl_changed_runs(ctl, &changed);

    (void)commands;
    (void)entry;
    if (event->kind == TRI_EV_OPEN && event->u.open.level) {
        snprintf(f->level, sizeof f->level, "%s", event->u.open.level);
    }
    for (int i = 0; i < n; i++) {
        tri_run_view v;
        char hosts[1024];

        tri_ctl_run(ctl, changed[i], &v);
        if (v.state == TRI_RUN_ENDED) {
            tri_ctl_run_hosts(ctl, v.run, hosts, sizeof hosts);
            run_row(f, &v, hosts);
        }
    }
    return TRI_OK;
}

static tri_status export_runs(const tri_history *history, tri_rows *r)
{
    run_facts f = {.rows = r};
    tri_run_view none = {.n_ranks = 0};
    tri_ctl *ctl = NULL;

    tri_rows_heading(r);
    run_row(&f, &none, "");
    TRI_TRY(tri_history_replay_each(history, each_for_runs, &f, &ctl, NULL));
    tri_ctl_destroy(ctl);
    return TRI_OK;
}

/* ---- reports --------------------------------------------------------- */

static void report_row(tri_rows *r, double time_s, const tri_ev_report *v)
{
    tri_rows_int(r, "run", v->run);
    tri_rows_int(r, "seq", v->seq);
    tri_rows_int(r, "step", v->step);
    tri_rows_real(r, "time_s", time_s);
    tri_rows_real(r, "step_s", v->step_s);
    tri_rows_int(r, "tokens", v->tokens);
    tri_rows_int(r, "samples", v->samples);
    tri_rows_real(r, "loss", v->loss);
    tri_rows_int(r, "bytes", v->bytes);
    tri_rows_end(r);
}

static tri_status each_for_reports(void *ctx, const tri_event *event,
                                   const tri_commands *commands,
                                   const tri_entry *entry, tri_ctl *ctl)
{
    (void)commands;
    (void)entry;
    (void)ctl;
    if (event->kind == TRI_EV_REPORT) {
        report_row(ctx, event->time_s, &event->u.report);
    }
    return TRI_OK;
}

static tri_status export_reports(const tri_history *history, tri_rows *r)
{
    const tri_ev_report none = {.run = 0};
    tri_ctl *ctl = NULL;

    tri_rows_heading(r);
    report_row(r, 0, &none);
    TRI_TRY(tri_history_replay_each(history, each_for_reports, r, &ctl, NULL));
    tri_ctl_destroy(ctl);
    return TRI_OK;
}

/* ---- events ---------------------------------------------------------- */

typedef struct event_facts {
    tri_rows *rows;
    int64_t offset;
} event_facts;

static void event_row(event_facts *f, const tri_event *event,
                      const tri_entry *entry)
{
    tri_rows_int(f->rows, "seq", entry->seq);
    tri_rows_real(f->rows, "time_s", event->time_s);
    tri_rows_text(f->rows, "kind", tri_event_name(event->kind));
    tri_rows_int(f->rows, "offset", f->offset);
    tri_rows_int(f->rows, "bytes", (int64_t)entry->bytes);
    tri_rows_hex(f->rows, "digest", entry->digest);
    tri_rows_end(f->rows);
    f->offset += (int64_t)entry->bytes;
}

static tri_status each_for_events(void *ctx, const tri_event *event,
                                  const tri_commands *commands,
                                  const tri_entry *entry, tri_ctl *ctl)
{
    (void)commands;
    (void)ctl;
    event_row(ctx, event, entry);
    return TRI_OK;
}

static tri_status export_events(const tri_history *history, tri_rows *r)
{
    const tri_event none = {.kind = TRI_EV_CLOCK};
    const tri_entry nothing = {.seq = 0};
    event_facts f = {.rows = r};
    tri_ctl *ctl = NULL;

    tri_rows_heading(r);
    event_row(&f, &none, &nothing);
    TRI_TRY(tri_history_replay_each(history, each_for_events, &f, &ctl, NULL));
    tri_ctl_destroy(ctl);
    return TRI_OK;
}

/* ---- the command ----------------------------------------------------- */

typedef tri_status (*export_fn)(const tri_history *history, tri_rows *r);

static const struct {
    const char *name;
    export_fn run;
} tables[] = {{"trials", export_trials},
              {"runs", export_runs},
              {"reports", export_reports},
              {"events", export_events}};

static tri_status choose(const export_options *o, export_fn *table,
                         tri_rows_format *format)
{
    const char *name = o->format ? o->format : o->common.json ? "json" : "csv";

    if (!o->table) {
        return TRI_FAIL(TRI_EINVAL,
                        "--table trials|runs|reports|events is missing");
    }
    if (strcmp(name, "csv") != 0 && strcmp(name, "json") != 0) {
        return TRI_FAIL(TRI_EINVAL, "--format takes csv or json, not '%s'",
                        name);
    }
    *format = strcmp(name, "json") == 0 ? TRI_ROWS_JSON : TRI_ROWS_CSV;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (strcmp(o->table, tables[i].name) == 0) {
            *table = tables[i].run;
            return TRI_OK;
        }
    }
    return TRI_FAIL(TRI_EINVAL,
                    "--table takes trials, runs, reports or events, not '%s'",
                    o->table);
}

static tri_status export_table(const export_options *o)
{
    export_fn table = NULL;
    tri_rows_format format = TRI_ROWS_CSV;
    tri_history *history = NULL;
    tri_rows rows;
    tri_status st;

    TRI_TRY(choose(o, &table, &format));
    TRI_TRY(tri_history_read(o->common.file, &history));
    tri_rows_init(&rows, stdout, format);
    if (tri_history_n(history) == 0) {
        st = TRI_FAIL(TRI_ENOTFOUND, "%s holds no study yet", o->common.file);
    } else {
        st = table(history, &rows);
    }
    tri_history_destroy(history);
    return st;
}

int tri_app_export(int argc, char **argv)
{
    export_options o = {.table = NULL};
    int status = tri_app_parse(&argp, argc, argv, &o.common, "FILE.h5");

    if (status >= 0) {
        return status;
    }
    return export_table(&o) == TRI_OK ? TRI_EXIT_DONE : tri_app_fail();
}
