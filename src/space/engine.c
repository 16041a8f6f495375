/*
 * What built-in models bring to a study: engine parameters with their
 * defaults, and rules.  A rule is a row of a table; its text uses parameters
 * by name, and where one may be inactive its default stands in for it.
 */
#include "src/space/study_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const schedules[] = {"gpipe", "1f1b", "interleaved", NULL};
static const char *const recomputes[] = {"none", "selective", "full", NULL};
static const char *const splits[] = {"even", "cost", NULL};
static const char *const overlaps[] = {"none", "poke", "shm", NULL};
static const char *const placements[] = {"planned", "table", "row",
                                         "column",  "data",  NULL};
static const char *const planners[] = {"greedy", "size", "cost", NULL};
static const char *const gemms[] = {"blas", "own", NULL};

#define INT(n)                                                                 \
    {                                                                          \
        TRI_INT,                                                               \
        {                                                                      \
            .i = (n)                                                           \
        }                                                                      \
    }
#define WORD(w)                                                                \
    {                                                                          \
        TRI_WORD,                                                              \
        {                                                                      \
            .word = (w)                                                        \
        }                                                                      \
    }
#define NONE                                                                   \
    {                                                                          \
        TRI_INACTIVE,                                                          \
        {                                                                      \
            0                                                                  \
        }                                                                      \
    }
#define NO                                                                     \
    {                                                                          \
        TRI_BOOL,                                                              \
        {                                                                      \
            .i = 0                                                             \
        }                                                                      \
    }
#define BIG 1000000000
#define PLACEMENT(k)                                                           \
    {                                                                          \
        "placement_" #k, TRI_WORD, 0, 0, placements, NONE, NULL                \
    }

/* clang-format off */
const tri_engine_param tri_engine_params[] = {
    {"dp",                TRI_INT,  1, 1 << 20, NULL,      INT(1),        NULL},
    {"tp",                TRI_INT,  1, 1 << 20, NULL,      INT(1),        NULL},
    {"pp",                TRI_INT,  1, 1 << 20, NULL,      INT(1),        NULL},
    {"virtual",           TRI_INT,  1, 64,      NULL,      INT(1),        NULL},
    {"micro_batch",       TRI_INT,  1, BIG,     NULL,      INT(1),        NULL},
    {"global_batch",      TRI_INT,  1, BIG,     NULL,      NONE,          NULL},
    {"zero",              TRI_INT,  0, 3,       NULL,      INT(0),        NULL},
    {"schedule",          TRI_WORD, 0, 0,       schedules, WORD("1f1b"),  NULL},
    {"recompute",         TRI_WORD, 0, 0,       recomputes, WORD("none"), NULL},
    {"sequence_parallel", TRI_BOOL, 0, 1,       NULL,      NO,            NULL},
    {"split",             TRI_WORD, 0, 0,       splits,    WORD("even"),  NULL},
    {"overlap",           TRI_WORD, 0, 0,       overlaps,  WORD("none"),  NULL},
    {"bucket",            TRI_INT,  1, INT64_MAX, NULL,    INT(4 << 20),  NULL},
    {"threads",           TRI_INT,  1, 4096,    NULL,      INT(1),        "threads == 1"},
    {"gemm",              TRI_WORD, 0, 0,       gemms,     WORD("blas"),  "gemm == blas"},
    {"planner",           TRI_WORD, 0, 0,       planners,  WORD("greedy"), NULL},
    {"placement",         TRI_WORD, 0, 0,       placements, WORD("planned"), NULL},
    PLACEMENT(0),  PLACEMENT(1),  PLACEMENT(2),  PLACEMENT(3),  PLACEMENT(4),
    PLACEMENT(5),  PLACEMENT(6),  PLACEMENT(7),  PLACEMENT(8),  PLACEMENT(9),
    PLACEMENT(10), PLACEMENT(11), PLACEMENT(12), PLACEMENT(13), PLACEMENT(14),
    PLACEMENT(15), PLACEMENT(16), PLACEMENT(17), PLACEMENT(18), PLACEMENT(19),
    PLACEMENT(20), PLACEMENT(21), PLACEMENT(22), PLACEMENT(23), PLACEMENT(24),
    PLACEMENT(25), PLACEMENT(26), PLACEMENT(27), PLACEMENT(28), PLACEMENT(29),
    PLACEMENT(30), PLACEMENT(31),
};

/* Which models have a rule. */
enum {
    GPT = 1,
    MLP = 2,
    DLRM = 4,
    FLAT = MLP | DLRM, /* of one stage, data parallel */
    ALL = GPT | FLAT
};

typedef struct rule_row {
    int models;
    const char *name, *text;
} rule_row;

static const rule_row rule_rows[] = {
    {FLAT, "tp == 1",                      "tp == 1"},
    {FLAT, "pp == 1",                      "pp == 1"},
    {FLAT, "virtual == 1",                 "virtual == 1"},
    {FLAT, "sequence_parallel == false",   "sequence_parallel == false"},
    {DLRM, "recompute == none",            "recompute == none"},
    {GPT, "heads % tp",                    "heads % tp == 0"},
    {GPT, "hidden % tp",                   "hidden % tp == 0"},
    {GPT, "ffn % tp",                      "ffn % tp == 0"},
    {GPT, "sequence_parallel needs tp > 1","sequence_parallel == false or tp > 1"},
    {GPT, "sequence % tp",                 "sequence_parallel == false or sequence % tp == 0"},
    {GPT, "layers >= pp",                  "layers >= pp"},
    {GPT, "virtual needs pp > 1",          "virtual == 1 or pp > 1"},
    {GPT, "virtual needs interleaved",     "virtual == 1 or schedule == interleaved"},
    {GPT, "layers % (pp * virtual)",       "virtual == 1 or split == cost or layers % (pp * virtual) == 0"},
    {GPT, "layers >= pp * virtual",        "layers >= pp * virtual"},
    {ALL, "global_batch % (dp * micro_batch)", "global_batch % (dp * micro_batch) == 0"},
    {GPT, "micro-batches % pp",            "schedule != interleaved or pp == 1 or global_batch % (dp * micro_batch * pp) == 0"},
    {ALL, "zero needs dp > 1",             "zero == 0 or dp > 1"},
    {GPT, "zero >= 2 needs pp = 1",        "zero < 2 or pp == 1"},
    {ALL, "overlap needs dp > 1",          "overlap == none or dp > 1"},
    {ALL, "overlap of gradients in parts", "overlap == none or zero < 2 or zero > 2 and overlap == poke"},
};
/* clang-format on */

const int tri_n_engine_params = TRI_COUNT_OF(tri_engine_params);
_Static_assert(TRI_COUNT_OF(tri_engine_params) <= TRI_ENGINE_MOST,
               "arrays of values hold all");
_Static_assert(TRI_MAX_TABLES == 32, "there is a placement for each");

int tri_engine_is_for(const tri_engine_param *p, const tri_model_spec *model)
{
    static const char one[] = "placement_";

    if (p->words != placements && p->words != planners) {
        return 1;
    }
    return model->kind == TRI_MODEL_DLRM &&
           (strncmp(p->name, one, sizeof one - 1) != 0 ||
            atoi(p->name + sizeof one - 1) < model->u.dlrm.tables);
}

int tri_model_is_built_in(tri_model_kind kind)
{
    return kind == TRI_MODEL_GPT || kind == TRI_MODEL_MLP ||
           kind == TRI_MODEL_DLRM;
}

static int model_bit(tri_model_kind kind)
{
    return kind == TRI_MODEL_GPT    ? GPT
           : kind == TRI_MODEL_MLP  ? MLP
           : kind == TRI_MODEL_DLRM ? DLRM
                                    : 0;
}

tri_value tri_value_of_int(int64_t i)
{
    tri_value v = INT(i);

    return v;
}

const tri_engine_param *tri_engine_find(const char *name)
{
    int i;

    for (i = 0; i < tri_n_engine_params; i++) {
        if (strcmp(tri_engine_params[i].name, name) == 0) {
            return &tri_engine_params[i];
        }
    }
    return NULL;
}

int tri_engine_accepts(const tri_engine_param *p, tri_value v, char *expected,
                       size_t bytes)
{
    size_t n = 0;
    int i;

    if (p->type == TRI_INT) {
        snprintf(expected, bytes, "an integer from %lld to %lld",
                 (long long)p->lo, (long long)p->hi);
        return v.type == TRI_INT && v.u.i >= p->lo && v.u.i <= p->hi;
    }
    if (p->type == TRI_BOOL) {
        snprintf(expected, bytes, "true or false");
        return v.type == TRI_BOOL;
    }
    for (i = 0; p->words[i]; i++) {
        if (v.type == TRI_WORD && strcmp(v.u.word, p->words[i]) == 0) {
            return 1;
        }
        if (n < bytes) {
            n += (size_t)snprintf(expected + n, bytes - n, "%s%s",
                                  i ? ", " : "one of ", p->words[i]);
        }
    }
    return 0;
}

/* ---- rules --------------------------------------------------------------- */

static int is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

int tri_engine_guard(const char *text, const tri_rule_names *names, char *out,
                     size_t bytes)
{
    size_t n = 0;

    while (*text) {
        char name[64], preset[64];
        const tri_engine_param *p;
        size_t len = 0;
        while (is_name_char(text[len]) && len + 1 < sizeof name) {
            len++;
        }
        if (len == 0) {
            len = 1;
        }
        memcpy(name, text, len);
        name[len] = '\0';
        text += len;
        p = tri_engine_find(name);
        if (p && !names->known(names->ctx, name)) {
            return 0;
        }
        if (p && names->may_be_inactive(names->ctx, name) &&
            p->preset.type != TRI_INACTIVE) {
            tri_value_print(p->preset, preset, sizeof preset);
            n += (size_t)snprintf(out + n, bytes - n,
                                  "if(%s == inactive, %s, %s)", name, preset,
                                  name);
        } else {
            n += (size_t)snprintf(out + n, bytes - n, "%s", name);
        }
        if (n >= bytes) {
            return 0;
        }
    }
    return 1;
}

tri_status tri_engine_add_rules(tri_model_kind kind,
                                const tri_rule_names *names,
                                tri_status (*add)(void *ctx, const char *name,
                                                  const char *text),
                                void *ctx)
{
    char text[1024];
    int i;

    for (i = 0; i < TRI_COUNT_OF(rule_rows); i++) {
        const rule_row *r = &rule_rows[i];
        if ((r->models & model_bit(kind)) != 0 &&
            tri_engine_guard(r->text, names, text, sizeof text)) {
            TRI_TRY(add(ctx, r->name, text));
        }
    }
    for (i = 0; i < tri_n_engine_params; i++) {
        const tri_engine_param *p = &tri_engine_params[i];
        char name[80];
        if (p->unbuilt &&
            tri_engine_guard(p->unbuilt, names, text, sizeof text)) {
            snprintf(name, sizeof name, "not built yet: %s", p->name);
            TRI_TRY(add(ctx, name, text));
        }
    }
    return TRI_OK;
}

tri_status tri_engine_add_sizes(tri_space_builder *b,
                                const tri_model_spec *model)
{
    const tri_gpt_spec *g = &model->u.gpt;
    const tri_mlp_spec *m = &model->u.mlp;
    const tri_dlrm_spec *d = &model->u.dlrm;
    const struct {
        const char *name;
        int gpt, mlp, dlrm;
    } sizes[] = {
            {"layers", g->layers, m->layers, 0},
            {"hidden", g->hidden, m->hidden, 0},
            {"heads", g->heads, 0, 0},
            {"sequence", g->sequence, 0, 0},
            {"vocab", g->vocab, 0, 0},
            {"ffn", g->ffn, 0, 0},
            {"inputs", 0, m->inputs, 0},
            {"outputs", 0, m->outputs, 0},
            {"tables", 0, 0, d->tables},
            {"dim", 0, 0, d->dim},
            {"pooling", 0, 0, d->pooling},
            {"dense", 0, 0, d->dense},
    };
    int i, k;

    for (i = 0; i < tri_n_engine_params; i++) {
        const tri_engine_param *p = &tri_engine_params[i];
        for (k = 0; tri_engine_is_for(p, model) && p->words && p->words[k];
             k++) {
            TRI_TRY(tri_space_add_word(b, p->words[k]));
        }
    }
    for (i = 0; i < TRI_COUNT_OF(sizes); i++) {
        int n = model->kind == TRI_MODEL_GPT    ? sizes[i].gpt
                : model->kind == TRI_MODEL_MLP  ? sizes[i].mlp
                : model->kind == TRI_MODEL_DLRM ? sizes[i].dlrm
                                                : 0;
        if (n > 0) {
            TRI_TRY(tri_space_add_constant(b, sizes[i].name,
                                           tri_value_of_int(n)));
        }
    }
    return TRI_OK;
}
