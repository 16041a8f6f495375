/*
 * Making rows; see the header.  Each function lists its table's columns in
 * the order of schema.c, and an assertion holds them together.
 */
#include "src/store/rows.h"

#include "src/store/bytes.h"
#include "src/store/row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const run_statuses[] = {
        [TRI_RUN_FINISHED] = "finished",
        [TRI_RUN_FAILED] = "failed",
        [TRI_RUN_LOST] = "lost",
        [TRI_RUN_STOPPED] = "stopped",
        [TRI_RUN_INTERRUPTED] = "interrupted",
};
static const char *const rank_states[] = {
        [TRI_RANK_UP] = "up",
        [TRI_RANK_DOWN] = "down",
        [TRI_RANK_BENCHED] = "benched",
};

#define NAME(names, i)                                                         \
    ((size_t)(i) < sizeof names / sizeof names[0] ? names[i] : "")

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

/* Ranks stand in the order of a mesh. */
static void print_rank_set(const int32_t *ranks, int n, char *buf, size_t bytes)
{
    int32_t *copy = malloc(((size_t)n + 1) * sizeof *copy);

    if (copy) {
        memcpy(copy, ranks, (size_t)n * sizeof *copy);
        qsort(copy, (size_t)n, sizeof *copy, ascending);
    }
    tri_rank_set_print(copy ? copy : ranks, n, buf, bytes);
    free(copy);
}

void tri_rank_set_print(const int32_t *ranks, int n, char *buf, size_t bytes)
{
    size_t used = 0;
    int i, last;

    buf[0] = '\0';
    for (i = 0; i < n; i = last + 1) {
        char part[32];
        size_t length;

        for (last = i; last + 1 < n && ranks[last + 1] == ranks[last] + 1;) {
            ++last;
        }
        if (last == i) {
            snprintf(part, sizeof part, "%s%d", i ? "," : "", ranks[i]);
        } else {
            snprintf(part, sizeof part, "%s%d-%d", i ? "," : "", ranks[i],
                     ranks[last]);
        }
        length = strlen(part);
        if (used + length >= bytes) {
            return;
        }
        memcpy(buf + used, part, length + 1);
        used += length;
    }
}

/* ---- rows of events --------------------------------------------------- */

static tri_status event_row(tri_batch *b, const tri_schema *schema,
                            const tri_stream *at, const tri_event *event,
                            size_t bytes, uint64_t digest)
{
    tri_row row;

    TRI_TRY(tri_row_begin(&row, b, schema, TRI_TABLE_EVENTS, at->events));
    tri_row_int(&row, at->events);
    tri_row_real(&row, event->time_s);
    tri_row_text(&row, tri_event_name(event->kind));
    tri_row_int(&row, at->blob_bytes);
    tri_row_int(&row, (int64_t)bytes);
    tri_row_u64(&row, digest);
    return tri_row_end(&row);
}

static tri_status report_row(tri_batch *b, const tri_schema *schema,
                             const tri_stream *at, const tri_event *event)
{
    const tri_ev_report *r = &event->u.report;
    tri_row row;

    TRI_TRY(tri_row_begin(&row, b, schema, TRI_TABLE_REPORTS, at->reports));
    tri_row_int(&row, r->run);
    tri_row_int(&row, r->seq);
    tri_row_int(&row, r->step);
    tri_row_real(&row, event->time_s);
    tri_row_real(&row, r->step_s);
    tri_row_int(&row, r->tokens);
    tri_row_int(&row, r->samples);
    tri_row_real(&row, r->loss);
    tri_row_int(&row, r->bytes);
    return tri_row_end(&row);
}

static tri_status model_row(tri_batch *b, const tri_schema *schema,
                            const tri_stream *at, const tri_event *event)
{
    const tri_ev_proposals *p = &event->u.proposals;
    tri_row row;

    TRI_TRY(tri_row_begin(&row, b, schema, TRI_TABLE_MODELS, at->models));
    tri_row_int(&row, at->events);
    tri_row_real(&row, event->time_s);
    tri_row_int(&row, p->snapshot);
    tri_row_int(&row, p->n_records);
    tri_row_text(&row, p->model);
    tri_row_text(&row, p->hyper);
    tri_row_int(&row, p->n_list);
    tri_row_real(&row, p->tau);
    tri_row_real(&row, p->fit_s);
    return tri_row_end(&row);
}

static tri_status blob(tri_batch *b, const tri_stream *at, const void *data,
                       size_t bytes)
{
    if (b->places[TRI_TABLE_BLOBS].bytes == 0) {
        TRI_TRY(tri_bytes_add(&b->places[TRI_TABLE_BLOBS], &at->blob_bytes,
                              sizeof at->blob_bytes));
    }
    return tri_bytes_add(&b->rows[TRI_TABLE_BLOBS], data, bytes);
}

tri_status tri_rows_event(tri_batch *b, const tri_schema *schema,
                          tri_stream *stream, const tri_event *event,
                          const void *packed, size_t bytes, uint64_t digest)
{
    TRI_TRY(event_row(b, schema, stream, event, bytes, digest));
    TRI_TRY(blob(b, stream, packed, bytes));
    if (event->kind == TRI_EV_REPORT) {
        TRI_TRY(report_row(b, schema, stream, event));
        stream->reports += 1;
    } else if (event->kind == TRI_EV_PROPOSALS) {
        TRI_TRY(model_row(b, schema, stream, event));
        stream->models += 1;
    }
    stream->events += 1;
    stream->blob_bytes += (int64_t)bytes;
    return TRI_OK;
}

/* ---- rows of the state ----------------------------------------------- */

tri_status tri_rows_trial(tri_batch *b, const tri_schema *schema,
                          const tri_ctl *ctl, int64_t trial)
{
    const tri_space *space = tri_ctl_study(ctl)->space;
    tri_trial_view v;
    tri_row row;
    int i;

    tri_ctl_trial(ctl, trial, &v);
    TRI_TRY(tri_row_begin(&row, b, schema, TRI_TABLE_TRIALS, trial));
    tri_row_int(&row, trial);
    tri_row_real(&row, v.created_s);
    tri_row_text(&row, v.origin);
    tri_row_text(&row, tri_trial_state_name(v.state));
    tri_row_int(&row, v.ranks);
    tri_row_real(&row, v.predicted);
    tri_row_real(&row, v.predicted_lo);
    tri_row_real(&row, v.predicted_hi);
    tri_row_real(&row, v.predicted_bytes);
    tri_row_real(&row, v.p_feasible);
    tri_row_text(&row, v.rule);
    for (i = 0; i < tri_space_n_params(space); ++i) {
        tri_row_value(&row, v.config[tri_space_param(space, i)->column]);
    }
    return tri_row_end(&row);
}

static void run_identity(tri_row *row, const tri_run_view *v,
                         const tri_ledger *ledger, const tri_ctl *ctl)
{
    char text[TRI_ROW_TEXT_BYTES];

    tri_row_int(row, v->run);
    tri_row_int(row, v->trial);
    tri_row_text(row, v->phase == TRI_PHASE_FINALS ? "finals" : "search");
    tri_row_int(row, v->bracket);
    tri_row_int(row, v->rung);
    tri_row_int(row, v->attempt);
    tri_row_int(row, v->resource);
    tri_row_int(row, v->outcome.steps_done);
    tri_row_int(row, v->outcome.warmup_steps);
    tri_row_int(row, v->n_ranks);
    print_rank_set(v->ranks, v->n_ranks, text, sizeof text);
    tri_row_text(row, text);
    tri_ctl_run_hosts(ctl, v->run, text, sizeof text);
    tri_row_text(row, text);
    tri_row_text(row, tri_ledger_level(ledger, v->epoch));
    tri_row_int(row, v->epoch);
}

/* What the study's comparison makes of the interval that was measured. */
static double interval_scale(const tri_study *study, const tri_run_view *v)
{
    const tri_measured one = {1, 1, 1, 1, 1, 1, 1};

    return tri_study_objective(study, &one, v->n_ranks);
}

static void run_result(tri_row *row, const tri_run_view *v,
                       const tri_study *study)
{
    const tri_ev_outcome *o = &v->outcome;
    double scale = interval_scale(study, v);

    tri_row_real(row, v->start_s);
    tri_row_real(row, v->end_s);
    tri_row_text(row, NAME(run_statuses, v->status));
    tri_row_text(row, tri_reason_name(v->reason));
    tri_row_real(row, v->objective);
    tri_row_real(row, o->lo * scale);
    tri_row_real(row, o->hi * scale);
    tri_row_real(row, o->loss);
    tri_row_real(row, o->tokens_per_s);
    tri_row_real(row, o->samples_per_s);
    tri_row_real(row, o->step_s);
    tri_row_int(row, o->peak_bytes);
    tri_row_int(row, o->rss_bytes);
    tri_row_real(row, o->checkpoint_s);
    tri_row_int(row, o->checkpoint_bytes);
    tri_row_int(row, v->oversubscribed != 0);
    tri_row_int(row, o->flaky || v->slow == TRI_SLOW_FLAGGED);
}

tri_status tri_rows_run(tri_batch *b, const tri_schema *schema,
                        const tri_ledger *ledger, const tri_ctl *ctl,
                        int64_t run)
{
    const tri_run_fact *fact = &ledger->runs[run];
    tri_run_view v;
    tri_row row;

    tri_ctl_run(ctl, run, &v);
    TRI_TRY(tri_row_begin(&row, b, schema, TRI_TABLE_RUNS, fact->row));
    run_identity(&row, &v, ledger, ctl);
    run_result(&row, &v, tri_ctl_study(ctl));
    tri_row_int(&row, fact->stderr_offset);
    tri_row_int(&row, fact->stderr_bytes);
    return tri_row_end(&row);
}

/* The state of a world rank; one that this opening has not met is down. */
static int rank_state(const tri_ctl *ctl, int rank)
{
    tri_rank_view v;
    int i;

    for (i = 0; i < tri_ctl_n_ranks(ctl); ++i) {
        tri_ctl_rank(ctl, i, &v);
        if (v.rank == rank) {
            return v.state;
        }
    }
    return TRI_RANK_DOWN;
}

tri_status tri_rows_rank(tri_batch *b, const tri_schema *schema,
                         const tri_ledger *ledger, const tri_ctl *ctl, int r)
{
    const tri_rank_fact *fact = &ledger->ranks[r];
    tri_row row;

    TRI_TRY(tri_row_begin(&row, b, schema, TRI_TABLE_POOL, r));
    tri_row_int(&row, fact->rank);
    tri_row_text(&row, fact->host);
    tri_row_int(&row, fact->cores);
    tri_row_text(&row, fact->device);
    tri_row_text(&row, NAME(rank_states, rank_state(ctl, fact->rank)));
    tri_row_int(&row, fact->at.package);
    tri_row_int(&row, fact->at.numa);
    tri_row_int(&row, fact->at.cache);
    tri_row_int(&row, fact->at.core);
    tri_row_text(&row, fact->binding);
    tri_row_text(&row, fact->cpus);
    return tri_row_end(&row);
}

tri_status tri_rows_opening(tri_batch *b, const tri_schema *schema,
                            const tri_ledger *ledger, int i, int over)
{
    const tri_opening *o = &ledger->openings[i];
    double lasted = over ? o->last_s - o->open_s : TRI_ROW_NAN;
    tri_row row;

    TRI_TRY(tri_row_begin(&row, b, schema, TRI_TABLE_EPOCHS, i));
    tri_row_int(&row, o->epoch);
    tri_row_real(&row, o->started_s);
    tri_row_real(&row, o->started_s + lasted);
    tri_row_text(&row, o->version);
    tri_row_text(&row, o->command_line);
    return tri_row_end(&row);
}

/* ---- what a feed changed --------------------------------------------- */

static tri_status changed_ranks(tri_batch *b, const tri_schema *schema,
                                const tri_ledger *ledger, const tri_ctl *ctl,
                                const tri_event *event,
                                const tri_commands *commands)
{
    int i, row;

    if (event->kind == TRI_EV_POOL) {
        row = tri_ledger_rank_row(ledger, event->u.pool.rank);
        if (row >= 0) {
            TRI_TRY(tri_rows_rank(b, schema, ledger, ctl, row));
        }
    }
    for (i = 0; i < commands->n; ++i) {
        if (commands->list[i].kind == TRI_CMD_STRIKE) {
            row = tri_ledger_rank_row(ledger, commands->list[i].u.strike.rank);
            if (row >= 0) {
                TRI_TRY(tri_rows_rank(b, schema, ledger, ctl, row));
            }
        }
    }
    return TRI_OK;
}

tri_status tri_rows_changed(tri_batch *b, const tri_schema *schema,
                            const tri_ledger *ledger, const tri_ctl *ctl,
                            const tri_event *event,
                            const tri_commands *commands)
{
    const int64_t *list;
    int i, n = tri_ctl_changed_trials(ctl, &list);

    for (i = 0; i < n; ++i) {
        TRI_TRY(tri_rows_trial(b, schema, ctl, list[i]));
    }
    n = tri_ctl_changed_runs(ctl, &list);
    for (i = 0; i < n; ++i) {
        if (list[i] < ledger->n_runs && ledger->runs[list[i]].row >= 0) {
            TRI_TRY(tri_rows_run(b, schema, ledger, ctl, list[i]));
        }
    }
    return changed_ranks(b, schema, ledger, ctl, event, commands);
}
