/*
 * The `model` key: one reader a kind.
 */
#include "src/space/study_priv.h"

#include <math.h>
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

static tri_status read_dlrm(tri_reader *r, const tri_yaml *m)
{
    static const char *const keys[] = {"kind",  "tables", "rows",  "dim",
                                       "dense", "bottom", "top",   "pooling",
                                       "data",  "hidden", "layers"};

    TRI_TRY(KEYS(m, keys));
    return tri_reader_note(r, 1,
                           "model kind dlrm is read, but not built yet; the "
                           "study cannot be run");
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
