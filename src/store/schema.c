/*
 * Columns of the tables; see the header.
 */
#include "src/store/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const tri_widths tri_widths_live = {256, 256, 64, 64, 64, 64, 256, 64, 512};

/* What a column is before a study is known: a width of 0 is filled in. */
typedef struct column_form {
    const char *name, *unit;
    tri_column_kind kind;
    int bytes;
} column_form;

/* clang-format off */
#define U8(name, unit)   {name, unit, TRI_COLUMN_U8, 1}
#define I32(name, unit)  {name, unit, TRI_COLUMN_I32, 4}
#define I64(name, unit)  {name, unit, TRI_COLUMN_I64, 8}
#define U64(name, unit)  {name, unit, TRI_COLUMN_U64, 8}
#define F64(name, unit)  {name, unit, TRI_COLUMN_F64, 8}
#define STR(name, bytes) {name, "", TRI_COLUMN_STRING, bytes}
#define OBJECTIVE "objective" /* as a unit: the study's */
#define RESOURCE  "resource"

static const column_form trials[] = {
    I64("trial", "1"), F64("created_s", "s"), STR("origin", 8),
    STR("state", 8), I32("ranks", "ranks"),
    F64("predicted", OBJECTIVE), F64("predicted_lo", OBJECTIVE),
    F64("predicted_hi", OBJECTIVE), F64("predicted_bytes", "bytes"),
    F64("p_feasible", "1"), STR("rule", 0),
};
static const column_form runs[] = {
    I64("run", "1"), I64("trial", "1"), STR("phase", 6), I32("bracket", "1"),
    I32("rung", "1"), I32("attempt", "1"), I64("resource", RESOURCE),
    I64("steps_done", "steps"), I64("warmup_steps", "steps"),
    I32("ranks", "ranks"), STR("rank_set", 0), STR("hosts", 0),
    STR("level", 9), I32("epoch", "1"), F64("start_s", "s"), F64("end_s", "s"),
    STR("status", 11), STR("reason", 12), F64("objective", OBJECTIVE),
    F64("lo", OBJECTIVE), F64("hi", OBJECTIVE), F64("loss", "1"),
    F64("tokens_per_s", "tokens/s"), F64("samples_per_s", "samples/s"),
    F64("step_s", "s"), I64("peak_bytes", "bytes"), I64("rss_bytes", "bytes"),
    F64("checkpoint_s", "s"), I64("checkpoint_bytes", "bytes"),
    U8("oversubscribed", "1"), U8("flaky", "1"),
    I64("stderr_offset", "bytes"), I64("stderr_bytes", "bytes"),
};
static const column_form reports[] = {
    I64("run", "1"), I32("seq", "1"), I64("step", "steps"), F64("time_s", "s"),
    F64("step_s", "s"), I64("tokens", "tokens"), I64("samples", "samples"),
    F64("loss", "1"), I64("bytes", "bytes"),
};
static const column_form events[] = {
    I64("seq", "1"), F64("time_s", "s"), STR("kind", 11),
    I64("offset", "bytes"), I64("bytes", "bytes"), U64("digest", "1"),
};
static const column_form models[] = {
    I64("seq", "1"), F64("time_s", "s"), I64("snapshot", "1"), I64("n", "1"),
    STR("predictor", 0), STR("hyper", 0), I32("proposals", "1"),
    F64("tau", "1"), F64("fit_s", "s"),
};
static const column_form pool[] = {
    I32("rank", "1"), STR("host", 0), I32("cores", "1"), STR("device", 0),
    STR("state", 7), I32("package", "1"), I32("numa", "1"), I32("cache", "1"),
    I32("core", "1"), STR("binding", 9), STR("cpus", 63),
};
static const column_form epochs[] = {
    I32("epoch", "1"), F64("started_s", "s"), F64("ended_s", "s"),
    STR("version", 0), STR("command_line", 0),
};
/* clang-format on */

#define FORMS(name) name, (int)(sizeof name / sizeof name[0])

static const struct {
    const char *name;
    const column_form *list;
    int n;
} forms[TRI_TABLE_COUNT] = {
        [TRI_TABLE_TRIALS] = {"trials", FORMS(trials)},
        [TRI_TABLE_RUNS] = {"runs", FORMS(runs)},
        [TRI_TABLE_REPORTS] = {"reports", FORMS(reports)},
        [TRI_TABLE_EVENTS] = {"events", FORMS(events)},
        [TRI_TABLE_MODELS] = {"models", FORMS(models)},
        [TRI_TABLE_POOL] = {"pool", FORMS(pool)},
        [TRI_TABLE_EPOCHS] = {"epochs", FORMS(epochs)},
        [TRI_TABLE_BLOBS] = {"blobs", NULL, 0},
};

static int width_of(const tri_widths *w, const char *name)
{
    const struct {
        const char *name;
        int width;
    } list[] = {
            {"rank_set", w->rank_set},
            {"hosts", w->hosts},
            {"rule", w->rule},
            {"host", w->host},
            {"device", w->device},
            {"predictor", w->model},
            {"hyper", w->hyper},
            {"version", w->version},
            {"command_line", w->command_line},
    };
    size_t i;

    for (i = 0; i < sizeof list / sizeof list[0]; ++i) {
        if (strcmp(list[i].name, name) == 0) {
            return list[i].width > 0 ? list[i].width : 1;
        }
    }
    return 1;
}

static const char *objective_unit(const tri_study *study)
{
    switch (study->objective.metric) {
    case TRI_METRIC_TOKENS_PER_S:
        return study->objective.per_rank ? "tokens/s/rank" : "tokens/s";
    case TRI_METRIC_SAMPLES_PER_S:
        return study->objective.per_rank ? "samples/s/rank" : "samples/s";
    case TRI_METRIC_STEP_S:
        return "s";
    default:
        return "1";
    }
}

static const char *unit_of(const tri_study *study, const char *unit)
{
    if (strcmp(unit, OBJECTIVE) == 0) {
        return objective_unit(study);
    }
    if (strcmp(unit, RESOURCE) == 0) {
        return tri_unit_name(study->resource.unit);
    }
    return unit;
}

static void place_column(tri_columns *table, const char *name, const char *unit,
                         tri_column_kind kind, int bytes)
{
    table->list[table->n++] =
            (tri_column){name, unit, kind, bytes, table->row_bytes};
    table->row_bytes += (size_t)bytes;
}

/* ---- parameters ------------------------------------------------------ */

/* The kind of column that holds a value, or what was there before. */
static tri_column_kind widen(tri_column_kind kind, tri_value v)
{
    if (v.type == TRI_WORD || v.type == TRI_BOOL) {
        return TRI_COLUMN_STRING;
    }
    if (v.type == TRI_REAL && kind == TRI_COLUMN_I64) {
        return TRI_COLUMN_F64;
    }
    return kind;
}

size_t tri_column_print(tri_value v, char *buf, size_t bytes)
{
    return v.type == TRI_WORD ? (size_t)snprintf(buf, bytes, "%s", v.u.word)
                              : tri_value_print(v, buf, bytes);
}

static void widen_for(tri_value v, tri_column_kind *kind, int *bytes)
{
    char text[64];
    int n;

    if (v.type != TRI_INACTIVE) {
        *kind = widen(*kind, v);
        n = (int)tri_column_print(v, text, sizeof text);
        *bytes = n > *bytes ? n : *bytes;
    }
}

static tri_status place_param(tri_columns *table, const tri_ctl *ctl,
                              const tri_param *param)
{
    const tri_domain *domain = &param->domain;
    tri_column_kind kind =
            domain->kind == TRI_DOMAIN_FLOAT ? TRI_COLUMN_F64 : TRI_COLUMN_I64;
    char *name = strdup(param->name);
    tri_trial_view trial;
    int bytes = 1;
    int64_t i;

    if (!name) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a column");
    }
    if (domain->kind == TRI_DOMAIN_CHOICE || domain->kind == TRI_DOMAIN_CONST) {
        for (i = 0; i < domain->n_values; ++i) {
            widen_for(domain->values[i], &kind, &bytes);
        }
    }
    /* what an edited study no longer allows is kept as well */
    for (i = 0; i < tri_ctl_n_trials(ctl); ++i) {
        tri_ctl_trial(ctl, i, &trial);
        widen_for(trial.config[param->column], &kind, &bytes);
    }
    place_column(table, name, kind == TRI_COLUMN_STRING ? "" : "1", kind,
                 kind == TRI_COLUMN_STRING ? bytes : 8);
    return TRI_OK;
}

static tri_status init_table(tri_columns *table, int id, const tri_ctl *ctl,
                             const tri_widths *widths)
{
    const tri_study *study = tri_ctl_study(ctl);
    int params = id == TRI_TABLE_TRIALS ? tri_space_n_params(study->space) : 0;
    int i;

    table->name = forms[id].name;
    table->row_bytes = id == TRI_TABLE_BLOBS;
    table->list =
            calloc((size_t)(forms[id].n + params + 1), sizeof *table->list);
    if (!table->list) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the columns of %s",
                        table->name);
    }
    for (i = 0; i < forms[id].n; ++i) {
        const column_form *form = &forms[id].list[i];
        int bytes = form->bytes ? form->bytes : width_of(widths, form->name);

        place_column(table, form->name, unit_of(study, form->unit), form->kind,
                     bytes);
    }
    for (i = 0; i < params; ++i) {
        TRI_TRY(place_param(table, ctl, tri_space_param(study->space, i)));
    }
    return TRI_OK;
}

tri_status tri_schema_init(tri_schema *out, const tri_ctl *ctl,
                           const tri_widths *widths)
{
    tri_schema schema;
    tri_status st;
    int id;

    memset(&schema, 0, sizeof schema);
    schema.first_param = forms[TRI_TABLE_TRIALS].n;
    for (id = 0; id < TRI_TABLE_COUNT; ++id) {
        st = init_table(&schema.tables[id], id, ctl, widths);
        if (st != TRI_OK) {
            tri_schema_fini(&schema);
            return st;
        }
    }
    *out = schema;
    return TRI_OK;
}

void tri_schema_fini(tri_schema *s)
{
    tri_columns *table = &s->tables[TRI_TABLE_TRIALS];
    int i;

    for (i = s->first_param; i < table->n; ++i) {
        free((char *)(uintptr_t)table->list[i].name);
    }
    for (i = 0; i < TRI_TABLE_COUNT; ++i) {
        free(s->tables[i].list);
    }
    memset(s, 0, sizeof *s);
}

static int equal_columns(const tri_columns *a, const tri_columns *b)
{
    int i;

    if (a->n != b->n || a->row_bytes != b->row_bytes) {
        return 0;
    }
    for (i = 0; i < a->n; ++i) {
        if (strcmp(a->list[i].name, b->list[i].name) != 0 ||
            a->list[i].kind != b->list[i].kind ||
            a->list[i].bytes != b->list[i].bytes) {
            return 0;
        }
    }
    return 1;
}

int tri_schema_equal(const tri_schema *a, const tri_schema *b)
{
    int id;

    for (id = 0; id < TRI_TABLE_COUNT; ++id) {
        if (!equal_columns(&a->tables[id], &b->tables[id])) {
            return 0;
        }
    }
    return 1;
}
