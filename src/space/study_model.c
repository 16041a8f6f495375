/*
 * The `model` key: one reader a kind.
 */
#include "src/space/study_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {"gpt",    "dlrm",      "mlp",  "process",
                                    "plugin", "synthetic", "table"};

const char *tri_model_name(tri_model_kind kind)
{
    return kinds[kind];
}

#define KEYS(m, keys) tri_reader_keys(m, "model", keys, TRI_COUNT_OF(keys))
#define SIZE          1000000
#define NUMBER_BYTES  48
#define MOST_ROWS     1000000000
/* Fields of a line of Criteo's. */
#define CRITEO_DENSE  13
#define CRITEO_SPARSE 26

/* Of GPT-2's form or of LLaMA's, or of some of both. */
static tri_status read_form(const tri_yaml *m, tri_gpt_spec *g)
{
    static const char *const norms[] = {"layer", "rms"};
    static const char *const mlps[] = {"gelu", "swiglu"};
    static const char *const positions[] = {"learned", "rope"};
    const tri_yaml *rope = tri_yaml_get(m, "positions");
    int bias = 1;

    TRI_TRY(tri_reader_name(tri_yaml_get(m, "norm"), "model.norm", norms, 2,
                            &g->rms));
    TRI_TRY(tri_reader_name(tri_yaml_get(m, "mlp"), "model.mlp", mlps, 2,
                            &g->swiglu));
    TRI_TRY(tri_reader_name(rope, "model.positions", positions, 2, &g->rope));
    TRI_TRY(tri_reader_bool(tri_yaml_get(m, "bias"), "model.bias", &bias));
    g->no_bias = !bias;
    TRI_TRY(tri_reader_share(tri_yaml_get(m, "dropout"), "model.dropout", 0,
                             0.9, &g->dropout));
    if (g->rope && g->hidden % g->heads == 0 && g->hidden / g->heads % 2 != 0) {
        return tri_reader_place(rope, TRI_FAIL(TRI_ERANGE,
                                               "model.positions: rope needs an "
                                               "even hidden / heads, found %d",
                                               g->hidden / g->heads));
    }
    return TRI_OK;
}

static tri_status read_gpt(tri_reader *r, const tri_yaml *m)
{
    static const char *const keys[] = {
            "kind",  "layers",    "hidden", "heads",  "sequence",
            "vocab", "ffn",       "tied",   "data",   "norm",
            "mlp",   "positions", "bias",   "dropout"};
    tri_gpt_spec g = {.layers = 4,
                      .hidden = 128,
                      .heads = 4,
                      .sequence = 64,
                      .vocab = 256,
                      .tied = 1,
                      .data = "builtin"};

    TRI_TRY(KEYS(m, keys));
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "layers"), "model.layers", 1, 4096,
                             &g.layers));
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "hidden"), "model.hidden", 1, SIZE,
                             &g.hidden));
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "heads"), "model.heads", 1, 4096,
                             &g.heads));
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "sequence"), "model.sequence", 1,
                             SIZE, &g.sequence));
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "vocab"), "model.vocab", 2, SIZE,
                             &g.vocab));
    g.ffn = 4 * g.hidden;
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "ffn"), "model.ffn", 1, 4 * SIZE,
                             &g.ffn));
    TRI_TRY(tri_reader_bool(tri_yaml_get(m, "tied"), "model.tied", &g.tied));
    TRI_TRY(tri_reader_text(tri_yaml_get(m, "data"), "model.data", &g.data));
    TRI_TRY(read_form(m, &g));
    if (g.hidden % g.heads != 0) {
        const tri_yaml *at = tri_yaml_get(m, "heads");
        return tri_reader_place(at ? at : m,
                                TRI_FAIL(TRI_ERANGE,
                                         "model.heads: found %d, which does "
                                         "not divide hidden = %d",
                                         g.heads, g.hidden));
    }
    r->study->model.u.gpt = g;
    return TRI_OK;
}

static tri_status read_mlp(tri_reader *r, const tri_yaml *m)
{
    static const char *const keys[] = {"kind", "inputs", "hidden", "layers",
                                       "outputs"};
    tri_mlp_spec p = {64, 128, 4, 16};

    TRI_TRY(KEYS(m, keys));
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "inputs"), "model.inputs", 1, SIZE,
                             &p.inputs));
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "hidden"), "model.hidden", 1, SIZE,
                             &p.hidden));
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "layers"), "model.layers", 1, 4096,
                             &p.layers));
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "outputs"), "model.outputs", 1,
                             SIZE, &p.outputs));
    r->study->model.u.mlp = p;
    return TRI_OK;
}

/* Rows of all tables, or of each. */
static tri_status read_rows(const tri_yaml *m, tri_dlrm_spec *d)
{
    const tri_yaml *at = tri_yaml_get(m, "rows"), *item;
    int is_list = at && at->kind == TRI_YAML_LIST, one = 100000, i;

    if (is_list && at->n != d->tables) {
        return tri_reader_wrong(at, "model.rows",
                                "a number, or one for each of the tables");
    }
    if (!is_list) {
        TRI_TRY(tri_reader_small(at, "model.rows", 1, MOST_ROWS, &one));
    }
    item = is_list ? at->first : NULL;
    for (i = 0; i < d->tables; i++, item = item ? item->next : NULL) {
        d->rows[i] = one;
        TRI_TRY(tri_reader_small(item, "model.rows", 1, MOST_ROWS,
                                 &d->rows[i]));
    }
    return TRI_OK;
}

/* Widths of hidden layers, input first. */
static tri_status read_widths(const tri_yaml *m, const char *name, int *out,
                              int *n)
{
    const tri_yaml *at = tri_yaml_get(m, name), *item;
    char key[NUMBER_BYTES];

    if (!at) {
        return TRI_OK;
    }
    snprintf(key, sizeof key, "model.%s", name);
    if (at->kind != TRI_YAML_LIST || at->n > TRI_MAX_MLP_LAYERS) {
        return tri_reader_wrong(at, key, "a list of at most 8 widths");
    }
    *n = 0;
    for (item = at->first; item; item = item->next) {
        TRI_TRY(tri_reader_small(item, key, 1, SIZE, &out[(*n)++]));
    }
    return TRI_OK;
}

/* A file says how many features there are. */
static tri_status check_criteo(const tri_yaml *m, const tri_dlrm_spec *d)
{
    static const struct {
        const char *name, *key, *expected;
        int want;
    } rows[] = {{"tables", "model.tables",
                 "26, of which a Criteo file has as many", CRITEO_SPARSE},
                {"dense", "model.dense",
                 "13, of which a Criteo file has as many", CRITEO_DENSE},
                {"pooling", "model.pooling", "1 where data is a file", 1}};
    const int found[] = {d->tables, d->dense, d->pooling};
    int i;

    for (i = 0; i < 3 && strcmp(d->data, "synthetic") != 0; i++) {
        if (found[i] != rows[i].want) {
            return tri_reader_wrong(tri_yaml_get(m, rows[i].name), rows[i].key,
                                    rows[i].expected);
        }
    }
    return TRI_OK;
}

static tri_status read_dlrm(tri_reader *r, const tri_yaml *m)
{
    static const char *const keys[] = {"kind",    "tables", "rows", "dim",
                                       "dense",   "bottom", "top",  "zipf",
                                       "pooling", "data",   "lr"};
    tri_dlrm_spec d = {.tables = 8,
                       .dim = 64,
                       .pooling = 1,
                       .dense = CRITEO_DENSE,
                       .bottom = {512, 256},
                       .n_bottom = 2,
                       .top = {512, 256},
                       .n_top = 2,
                       .zipf = 1.05,
                       .lr = 0.02,
                       .data = "synthetic"};

    TRI_TRY(KEYS(m, keys));
    TRI_TRY(tri_reader_text(tri_yaml_get(m, "data"), "model.data", &d.data));
    if (strcmp(d.data, "synthetic") != 0) {
        d.tables = CRITEO_SPARSE;
    }
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "tables"), "model.tables", 1,
                             TRI_MAX_TABLES, &d.tables));
    TRI_TRY(read_rows(m, &d));
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "dim"), "model.dim", 1, 4096,
                             &d.dim));
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "pooling"), "model.pooling", 1,
                             4096, &d.pooling));
    TRI_TRY(tri_reader_small(tri_yaml_get(m, "dense"), "model.dense", 1, SIZE,
                             &d.dense));
    TRI_TRY(read_widths(m, "bottom", d.bottom, &d.n_bottom));
    TRI_TRY(read_widths(m, "top", d.top, &d.n_top));
    TRI_TRY(tri_reader_real(tri_yaml_get(m, "zipf"), "model.zipf", 0, 10, 0,
                            &d.zipf));
    TRI_TRY(tri_reader_real(tri_yaml_get(m, "lr"), "model.lr", 0, 1e6, 1,
                            &d.lr));
    TRI_TRY(check_criteo(m, &d));
    r->study->model.u.dlrm = d;
    return TRI_OK;
}

/* An option as the plugin gets it: a plain number in plain digits, whatever its
 * unit ("2 GiB"); all else as it stands. */
static tri_status read_option(tri_reader *r, const tri_yaml *at, tri_pair *out)
{
    tri_value v;
    char *text;

    if (at->kind != TRI_YAML_SCALAR) {
        return tri_reader_wrong(at, "model.options",
                                "a plain value (a number, a word, true, "
                                "false) for each name");
    }
    *out = (tri_pair){at->key, at->text};
    v = tri_reader_value(at);
    if (v.type != TRI_INT && v.type != TRI_REAL) {
        return TRI_OK;
    }
    text = tri_pile_alloc(r->pile, NUMBER_BYTES);
    if (!text) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    tri_value_print(v, text, NUMBER_BYTES);
    out->value = text;
    return TRI_OK;
}

static tri_status read_options(tri_reader *r, const tri_yaml *at,
                               tri_plugin_spec *p)
{
    tri_pair *list;

    if (!at) {
        return TRI_OK;
    }
    if (at->kind != TRI_YAML_MAP) {
        return tri_reader_wrong(at, "model.options",
                                "a map of names and values");
    }
    list = tri_pile_alloc(r->pile, ((size_t)at->n + 1) * sizeof *list);
    if (!list) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    for (const tri_yaml *e = at->first; e; e = e->next) {
        TRI_TRY(read_option(r, e, &list[p->n_options++]));
    }
    p->options = list;
    return TRI_OK;
}

static tri_status read_plugin(tri_reader *r, const tri_yaml *m)
{
    static const char *const keys[] = {"kind", "library", "options"};
    tri_plugin_spec p = {NULL, NULL, 0};

    TRI_TRY(KEYS(m, keys));
    if (!tri_yaml_get(m, "library")) {
        return tri_reader_wrong(m, "model.library",
                                "the path of the plugin's shared object");
    }
    TRI_TRY(tri_reader_text(tri_yaml_get(m, "library"), "model.library",
                            &p.library));
    TRI_TRY(read_options(r, tri_yaml_get(m, "options"), &p));
    r->study->model.u.plugin = p;
    return TRI_OK;
}

static tri_status read_synthetic(tri_reader *r, const tri_yaml *m)
{
    static const char *const keys[] = {"kind",     "curve", "noise",
                                       "straggle", "fail",  "cost"};
    static const char *const curves[] = {"bowl", "ridge", "crossing", "flat"};
    tri_synthetic_spec s = {NULL, 0, 0, 0, NAN};
    int curve = 0;

    TRI_TRY(KEYS(m, keys));
    TRI_TRY(tri_reader_name(tri_yaml_get(m, "curve"), "model.curve", curves,
                            TRI_COUNT_OF(curves), &curve));
    s.curve = curves[curve];
    TRI_TRY(tri_reader_share(tri_yaml_get(m, "noise"), "model.noise", 0, 1000,
                             &s.noise));
    TRI_TRY(tri_reader_share(tri_yaml_get(m, "straggle"), "model.straggle", 0,
                             1000, &s.straggle));
    TRI_TRY(tri_reader_share(tri_yaml_get(m, "fail"), "model.fail", 0, 1,
                             &s.fail));
    TRI_TRY(tri_reader_time(tri_yaml_get(m, "cost"), "model.cost", &s.cost_s));
    r->study->model.u.synthetic = s;
    return TRI_OK;
}

tri_status tri_study_read_model(tri_reader *r)
{
    static tri_status (*const readers[])(tri_reader *, const tri_yaml *) = {
            read_gpt,
            read_dlrm,
            read_mlp,
            tri_study_read_process,
            read_plugin,
            read_synthetic,
            tri_study_read_table_keys};
    const tri_yaml *m = tri_yaml_get(r->root, "model");
    const tri_yaml *kind = tri_yaml_get(m, "kind");
    int k = 0;

    if (m->kind != TRI_YAML_MAP || !kind) {
        return tri_reader_wrong(m, "model", "a map with the key \"kind\"");
    }
    TRI_TRY(tri_reader_name(kind, "model.kind", kinds, TRI_COUNT_OF(kinds),
                            &k));
    r->study->model.kind = (tri_model_kind)k;
    return readers[k](r, m);
}
