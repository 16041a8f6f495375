/*
 * trireme export: a table of a study, live, broken or ended, as CSV or JSON
 * lines on standard output.  Folds the record; never writes.
 */
#include "src/app/app.h"

#include "src/app/rows.h"
#include "src/store/rows.h"
#include "src/store/tables.h"

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
        {"table", KEY_TABLE, "trials|runs|reports|events|models|pool|epochs", 0,
         "Which table", 0},
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

/* ---- tables ---------------------------------------------------------- */

/* A folded record, and rows of it waiting to be printed. */
typedef struct exporting {
    const tri_history *history;
    tri_ctl *ctl;
    tri_ledger ledger;
    tri_schema schema;
    tri_batch batch;
    tri_table_id table;
    tri_app_format format;
} exporting;

static void print_rows(exporting *e)
{
    const tri_buffer *rows = &e->batch.rows[e->table];

    tri_app_rows_print(stdout, e->format, &e->schema.tables[e->table],
                       rows->data, rows->bytes);
    tri_batch_clear(&e->batch);
}

static tri_status export_trials(exporting *e)
{
    for (int64_t i = 0; i < tri_ctl_n_trials(e->ctl); i++) {
        TRI_TRY(tri_rows_trial(&e->batch, &e->schema, e->ctl, i));
        print_rows(e);
    }
    return TRI_OK;
}

/* In the order in which they ended. */
static tri_status export_runs(exporting *e)
{
    for (int64_t i = 0; i < e->ledger.n_ended; i++) {
        TRI_TRY(tri_rows_run(&e->batch, &e->schema, &e->ledger, e->ctl,
                             e->ledger.ended[i]));
        print_rows(e);
    }
    return TRI_OK;
}

/* In the order in which they came. */
static tri_status export_pool(exporting *e)
{
    for (int i = 0; i < e->ledger.n_ranks; i++) {
        TRI_TRY(tri_rows_rank(&e->batch, &e->schema, &e->ledger, e->ctl, i));
        print_rows(e);
    }
    return TRI_OK;
}

/* The last one of a live study has no end. */
static tri_status export_epochs(exporting *e)
{
    for (int i = 0; i < e->ledger.n_openings; i++) {
        int over = i + 1 < e->ledger.n_openings ||
                   !tri_history_is_live(e->history);

        TRI_TRY(tri_rows_opening(&e->batch, &e->schema, &e->ledger, i, over));
        print_rows(e);
    }
    return TRI_OK;
}

static tri_status each_event(exporting *e, tri_arena *arena)
{
    tri_stream stream = {0};

    for (int64_t i = 0; i < tri_history_n(e->history); i++) {
        tri_entry entry;
        tri_event event;

        tri_history_entry(e->history, i, &entry);
        TRI_TRY(tri_event_unpack(entry.packed, entry.bytes, arena, &event));
        TRI_TRY(tri_rows_event(&e->batch, &e->schema, &stream, &event,
                               entry.packed, entry.bytes, entry.digest));
        print_rows(e);
    }
    return TRI_OK;
}

/* Events, and the reports and answers of the thinker among them. */
static tri_status export_events(exporting *e)
{
    tri_arena *arena = NULL;
    tri_status st;

    TRI_TRY(tri_arena_create(&arena));
    st = each_event(e, arena);
    tri_arena_destroy(arena);
    return st;
}

/* ---- the command ----------------------------------------------------- */

static const struct {
    const char *name;
    tri_table_id table;
    tri_status (*run)(exporting *e);
} tables[] = {{"trials", TRI_TABLE_TRIALS, export_trials},
              {"runs", TRI_TABLE_RUNS, export_runs},
              {"reports", TRI_TABLE_REPORTS, export_events},
              {"events", TRI_TABLE_EVENTS, export_events},
              {"models", TRI_TABLE_MODELS, export_events},
              {"pool", TRI_TABLE_POOL, export_pool},
              {"epochs", TRI_TABLE_EPOCHS, export_epochs}};

#define N_TABLES (sizeof tables / sizeof *tables)

static tri_status choose_format(const export_options *o, tri_app_format *out)
{
    const char *name = o->format ? o->format : o->common.json ? "json" : "csv";

    if (strcmp(name, "csv") != 0 && strcmp(name, "json") != 0) {
        return TRI_FAIL(TRI_EINVAL, "--format takes csv or json, not '%s'",
                        name);
    }
    *out = strcmp(name, "json") == 0 ? TRI_APP_JSON : TRI_APP_CSV;
    return TRI_OK;
}

static tri_status choose_table(const export_options *o, size_t *out)
{
    if (!o->table) {
        return TRI_FAIL(TRI_EINVAL,
                        "--table trials|runs|reports|events|models|pool|epochs "
                        "is missing");
    }
    for (size_t i = 0; i < N_TABLES; i++) {
        if (strcmp(o->table, tables[i].name) == 0) {
            *out = i;
            return TRI_OK;
        }
    }
    return TRI_FAIL(TRI_EINVAL,
                    "--table takes trials, runs, reports, events, models, pool "
                    "or epochs, not '%s'",
                    o->table);
}

static tri_status export_folded(exporting *e, size_t i)
{
    tri_widths widths = tri_ledger_widths(&e->ledger, e->ctl);
    tri_status st;

    TRI_TRY(tri_schema_init(&e->schema, e->ctl, &widths));
    tri_batch_init(&e->batch);
    e->table = tables[i].table;
    tri_app_rows_heading(stdout, e->format, &e->schema.tables[e->table]);
    st = tables[i].run(e);
    tri_batch_fini(&e->batch);
    tri_schema_fini(&e->schema);
    return st;
}

static tri_status export_table(const export_options *o)
{
    exporting e = {.history = NULL};
    tri_history *history = NULL;
    tri_status st;
    size_t i = 0;

    TRI_TRY(choose_table(o, &i));
    TRI_TRY(choose_format(o, &e.format));
    TRI_TRY(tri_app_history(o->common.file, &history));
    TRI_TRY_GOTO(st, tri_tables_replay(history, &e.ctl, &e.ledger, NULL),
                 destroy_history);
    e.history = history;
    st = export_folded(&e, i);
    tri_ledger_fini(&e.ledger);
    tri_ctl_destroy(e.ctl);
destroy_history:
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
