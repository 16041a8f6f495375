/*
 * The parameter table of a stage and its views into the flat arrays.  It does
 * not know who sums what over which ranks.
 */
#include "models/gpt/stage.h"

#include <math.h>
#include <stdio.h>

enum {
    ID_WTE,
    ID_WPE,
    ID_NORMF_G,
    ID_NORMF_B,
    ID_HEAD,
    ID_LAYERS = 16, /* from here on 16 for each layer */
    NO_LAYER = -1
};

/* Tensors of a block; a bias or the like follows what it belongs to. */
enum {
    NORM1_G,
    NORM1_B,
    QKV_W,
    QKV_B,
    PROJ_W,
    PROJ_B,
    NORM2_G,
    NORM2_B,
    UP_W,
    UP_B,
    DOWN_W,
    DOWN_B
};

#define STD 0.02
/* The vocabulary is padded so that each slice has a multiple of this. */
#define VOCAB_ALIGN 16

static uint32_t id_of(int layer, int k)
{
    return (uint32_t)(layer == NO_LAYER ? k : ID_LAYERS + layer * 16 + k);
}

/* ---- the table ---- */

/* What is said of no split is whole on every rank of the tensor axis. */
static tri_status add(tri_model *m, int layer, int k, const char *name,
                      tri_tensor t)
{
    const tri_products *p = m->place.products;

    t.id = id_of(layer, k);
    t.unit = m->units - 1;
    if (layer == NO_LAYER) {
        snprintf(t.name, sizeof t.name, "%s", name);
    } else {
        snprintf(t.name, sizeof t.name, "layer.%d.%s", layer, name);
    }
    if (t.split < 0) {
        t.flags |= TRI_TENSOR_TP_COPY;
    } else if (t.len == 0 && t.spare == 0) {
        t.len = t.shape[t.split] / p->parts;
        t.first = t.len * p->part;
    }
    return tri_tensors_add(&m->tensors, &t);
}

/* A gain or bias of each column of the residual stream. */
static tri_tensor vector(const tri_model *m, tri_init init)
{
    return (tri_tensor){.n_dims = 1,
                        .shape = {m->shape.hidden},
                        .split = -1,
                        .init = init,
                        .flags = TRI_TENSOR_NO_DECAY};
}

/* Norms see the rows that are here, and no others. */
static tri_status add_norm(tri_model *m, int layer, int k, const char *gain,
                           const char *bias)
{
    tri_tensor g = vector(m, TRI_INIT_ONE), b = vector(m, TRI_INIT_ZERO);

    if (m->place.products->by_rows) {
        g.flags |= TRI_TENSOR_TP_PART;
        b.flags |= TRI_TENSOR_TP_PART;
    }
    TRI_TRY(add(m, layer, k, gain, g));
    return m->shape.rms ? TRI_OK : add(m, layer, k + 1, bias, b);
}

static tri_status add_bias(tri_model *m, int layer, int k, const char *name,
                           tri_tensor t)
{
    return m->shape.no_bias ? TRI_OK : add(m, layer, k, name, t);
}

/* qkv is [3][heads][head width][h], split by whole heads. */
static tri_status add_qkv(tri_model *m, int layer)
{
    int64_t H = m->shape.heads, s = m->shape.hidden / H;
    tri_tensor w = {.n_dims = 4,
                    .shape = {3, H, s, m->shape.hidden},
                    .split = 1,
                    .init = TRI_INIT_NORMAL,
                    .std = STD};
    tri_tensor b = {.n_dims = 3,
                    .shape = {3, H, s},
                    .split = 1,
                    .init = TRI_INIT_ZERO,
                    .flags = TRI_TENSOR_NO_DECAY};

    TRI_TRY(add(m, layer, QKV_W, "qkv.w", w));
    return add_bias(m, layer, QKV_B, "qkv.b", b);
}

/* Outputs split.  With gates [2][ffn], the gates first. */
static tri_status add_up(tri_model *m, int layer)
{
    int64_t f = m->shape.ffn, h = m->shape.hidden;
    int gates = m->shape.swiglu;
    tri_tensor w = {.n_dims = 2 + gates,
                    .shape = {gates ? 2 : f, gates ? f : h, h},
                    .split = gates,
                    .init = TRI_INIT_NORMAL,
                    .std = STD};
    tri_tensor b = {.n_dims = 1 + gates,
                    .shape = {gates ? 2 : f, f},
                    .split = gates,
                    .init = TRI_INIT_ZERO,
                    .flags = TRI_TENSOR_NO_DECAY};

    TRI_TRY(add(m, layer, UP_W, "up.w", w));
    return add_bias(m, layer, UP_B, "up.b", b);
}

/* Inputs split; the bias is whole.  These end a branch of the residual
 * stream, so they start smaller by the root of the number of branches. */
static tri_status add_row(tri_model *m, int layer, int k, const char *weight,
                          const char *bias, int64_t in)
{
    tri_tensor w = {.n_dims = 2,
                    .shape = {m->shape.hidden, in},
                    .split = 1,
                    .init = TRI_INIT_NORMAL,
                    .std = STD / sqrt(2.0 * m->shape.layers)};

    TRI_TRY(add(m, layer, k, weight, w));
    return add_bias(m, layer, k + 1, bias, vector(m, TRI_INIT_ZERO));
}

static tri_status add_block(tri_model *m, int layer)
{
    TRI_TRY(add_norm(m, layer, NORM1_G, "norm1.g", "norm1.b"));
    TRI_TRY(add_qkv(m, layer));
    TRI_TRY(add_row(m, layer, PROJ_W, "proj.w", "proj.b", m->shape.hidden));
    TRI_TRY(add_norm(m, layer, NORM2_G, "norm2.g", "norm2.b"));
    TRI_TRY(add_up(m, layer));
    return add_row(m, layer, DOWN_W, "down.w", "down.b", m->shape.ffn);
}

/* Even slices of the padded vocabulary: the last ones may have less of the
 * true one, or nothing. */
static tri_vocab slice(const tri_model *m)
{
    const tri_products *p = m->place.products;
    int64_t V = m->shape.vocab, unit = (int64_t)p->parts * VOCAB_ALIGN;
    int64_t width = (V + unit - 1) / unit * VOCAB_ALIGN;
    int64_t first = width * p->part < V ? width * p->part : V;

    return (tri_vocab){.width = width,
                       .first = first,
                       .n = V - first < width ? V - first : width,
                       .parts = p->parts,
                       .part = p->part};
}

static tri_status add_vocab(tri_model *m, int id, const char *name,
                            unsigned flags)
{
    int64_t h = m->shape.hidden;
    tri_tensor t = {.n_dims = 2,
                    .shape = {m->shape.vocab, h},
                    .split = 0,
                    .first = m->vocab.first,
                    .len = m->vocab.n,
                    .spare = (m->vocab.width - m->vocab.n) * h,
                    .init = TRI_INIT_NORMAL,
                    .std = STD,
                    .flags = flags};

    return add(m, NO_LAYER, id, name, t);
}

static tri_status add_first(tri_model *m)
{
    unsigned tied = m->shape.tied && !m->has_last ? TRI_TENSOR_TIED : 0;
    tri_tensor wpe = {.n_dims = 2,
                      .shape = {m->shape.sequence, m->shape.hidden},
                      .split = -1,
                      .init = TRI_INIT_NORMAL,
                      .std = STD,
                      .flags = TRI_TENSOR_NO_DECAY};

    if (m->place.products->by_rows) {
        wpe.flags |= TRI_TENSOR_TP_PART;
    }
    TRI_TRY(add_vocab(m, ID_WTE, "wte", TRI_TENSOR_NO_DECAY | tied));
    return m->shape.rope ? TRI_OK : add(m, NO_LAYER, ID_WPE, "wpe", wpe);
}

/* Norm and head.  A tied head is the embedding itself on a pipeline of one
 * stage, and a copy of it on the last of several. */
static tri_status add_last(tri_model *m)
{
    TRI_TRY(add_norm(m, NO_LAYER, ID_NORMF_G, "normf.g", "normf.b"));
    if (!m->shape.tied) {
        return add_vocab(m, ID_HEAD, "head", 0);
    }
    return m->has_first ? TRI_OK
                        : add_vocab(m, ID_WTE, "wte",
                                    TRI_TENSOR_NO_DECAY | TRI_TENSOR_TIED |
                                            TRI_TENSOR_TIED_COPY);
}

/* An end, a layer, and so on: each is a unit. */
tri_status tri_gpt_table(tri_model *m)
{
    int c, i;

    m->vocab = slice(m);
    if (m->has_first) {
        m->units++;
        TRI_TRY(add_first(m));
    }
    for (c = 0; c < m->place.chunks; c++) {
        m->chunks[c].first_unit = m->units;
        for (i = 0; i < m->chunks[c].n_layers; i++) {
            m->units++;
            TRI_TRY(add_block(m, m->chunks[c].first_layer + i));
        }
    }
    if (m->has_last) {
        m->units++;
        TRI_TRY(add_last(m));
    }
    return TRI_OK;
}

/* ---- views ---- */

/* Of one unit, which begins at element `first` of the table. */
typedef struct arrays {
    const tri_tensors *table;
    int64_t first;
    const tri_real *params;
    tri_real *grads;
} arrays;

/* Where tensor `k` of `layer` begins; NULL where there is none. */
static const tri_real *param(const arrays *a, int layer, int k, tri_real **grad)
{
    int i;

    for (i = 0; i < a->table->n; i++) {
        if (a->table->at[i].id == id_of(layer, k)) {
            int64_t at = a->table->at[i].offset - a->first;

            *grad = a->grads + at;
            return a->params + at;
        }
    }
    *grad = NULL;
    return NULL;
}

static norm view_norm(const arrays *a, int layer, int k)
{
    norm n;

    n.g = param(a, layer, k, &n.dg);
    n.b = param(a, layer, k + 1, &n.db);
    return n;
}

static tri_linear view_linear(const arrays *a, int layer, int k, int64_t out,
                              int64_t in)
{
    tri_linear l = {.in = in, .out = out};

    l.w = param(a, layer, k, &l.dw);
    l.b = param(a, layer, k + 1, &l.db);
    return l;
}

static void bind_block(tri_model *m, const arrays *a, int layer, block *b)
{
    int64_t h = m->shape.hidden;

    b->norm1 = view_norm(a, layer, NORM1_G);
    b->qkv = view_linear(a, layer, QKV_W, 3 * m->width, h);
    b->proj = view_linear(a, layer, PROJ_W, h, m->width);
    b->norm2 = view_norm(a, layer, NORM2_G);
    b->up = view_linear(a, layer, UP_W, m->up, h);
    b->down = view_linear(a, layer, DOWN_W, h, m->ffn);
}

static void bind_head(tri_model *m, const arrays *a)
{
    m->head.in = m->shape.hidden;
    m->head.out = m->vocab.width;
    m->head.w =
            param(a, NO_LAYER, m->shape.tied ? ID_WTE : ID_HEAD, &m->head.dw);
}

static void bind_first(tri_model *m, const arrays *a)
{
    m->wte = param(a, NO_LAYER, ID_WTE, &m->dwte);
    m->wpe = param(a, NO_LAYER, ID_WPE, &m->dwpe);
    if (m->has_last && m->shape.tied) {
        bind_head(m, a);
    }
}

static void bind_last(tri_model *m, const arrays *a)
{
    m->normf = view_norm(a, NO_LAYER, ID_NORMF_G);
    if (!m->has_first || !m->shape.tied) {
        bind_head(m, a);
    }
}

void tri_gpt_bind_unit(tri_model *m, int unit, const tri_real *params,
                       tri_real *grads)
{
    arrays a = {.table = &m->tensors, .params = params, .grads = grads};
    const chunk *c = m->chunks;
    int64_t count;

    tri_tensors_unit(&m->tensors, unit, &a.first, &count);
    if (m->has_first && unit == 0) {
        bind_first(m, &a);
    } else if (m->has_last && unit == m->units - 1) {
        bind_last(m, &a);
    } else {
        while (unit >= c->first_unit + c->n_layers) {
            c++;
        }
        unit -= c->first_unit;
        bind_block(m, &a, c->first_layer + unit, &c->blocks[unit]);
    }
}

void tri_gpt_bind(tri_model *m, const tri_real *params, tri_real *grads)
{
    int unit;

    for (unit = 0; unit < m->units; unit++) {
        int64_t first, count;

        tri_tensors_unit(&m->tensors, unit, &first, &count);
        tri_gpt_bind_unit(m, unit, params + first, grads + first);
    }
}
