/*
 * What a stage of the transformer holds: its parameter table and the views
 * into the flat arrays.  It does not know who sums what over which ranks.
 */
#include "models/gpt/stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ID_WTE,
    ID_WPE,
    ID_NORMF_G,
    ID_NORMF_B,
    ID_HEAD,
    ID_LAYERS = 16
};

/* Tensors of a block, in the order of the table. */
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
    DOWN_B,
    BLOCK_TENSORS
};

#define STD 0.02

/* A vector or matrix that is whole on every rank of the tensor axis. */
static tri_status add_whole(tri_model *m, const char *name, uint32_t id,
                            int64_t rows, int64_t cols, tri_init init,
                            unsigned flags)
{
    tri_tensor t = {.id = id,
                    .n_dims = cols ? 2 : 1,
                    .shape = {rows, cols},
                    .split = -1,
                    .init = init,
                    .std = STD,
                    .flags = flags | TRI_TENSOR_TP_COPY};

    snprintf(t.name, sizeof t.name, "%s", name);
    return tri_tensors_add(&m->tensors, &t);
}

/* Give `t` its place on the tensor axis: an even share of dimension split. */
static tri_status add_split(tri_model *m, tri_tensor *t, int split)
{
    const tri_products *p = m->place.products;

    t->split = split;
    t->len = t->shape[split] / p->parts;
    t->first = t->len * p->part;
    return tri_tensors_add(&m->tensors, t);
}

static tri_tensor tensor_of(int layer, int k, const char *name, int n_dims,
                            tri_init init, double std)
{
    tri_tensor t = {.id = (uint32_t)(ID_LAYERS + layer * 16 + k),
                    .n_dims = n_dims,
                    .init = init,
                    .std = std};

    snprintf(t.name, sizeof t.name, "layer.%d.%s", layer, name);
    return t;
}

static tri_status add_norm(tri_model *m, int layer, int k, const char *name)
{
    tri_tensor g = tensor_of(layer, k, name, 1, TRI_INIT_ONE, 0);
    tri_tensor b = tensor_of(layer, k + 1, name, 1, TRI_INIT_ZERO, 0);

    strcat(g.name, ".g");
    strcat(b.name, ".b");
    g.shape[0] = b.shape[0] = m->shape.hidden;
    g.split = b.split = -1;
    g.flags = b.flags = TRI_TENSOR_NO_DECAY | TRI_TENSOR_TP_COPY;
    TRI_TRY(tri_tensors_add(&m->tensors, &g));
    return tri_tensors_add(&m->tensors, &b);
}

/* qkv is [3][heads][head width][h], split by whole heads. */
static tri_status add_qkv(tri_model *m, int layer)
{
    const tri_gpt_shape *s = &m->shape;
    tri_tensor w = tensor_of(layer, QKV_W, "qkv.w", 4, TRI_INIT_NORMAL, STD);
    tri_tensor b = tensor_of(layer, QKV_B, "qkv.b", 3, TRI_INIT_ZERO, 0);

    w.shape[0] = b.shape[0] = 3;
    w.shape[1] = b.shape[1] = s->heads;
    w.shape[2] = b.shape[2] = s->hidden / s->heads;
    w.shape[3] = s->hidden;
    b.flags = TRI_TENSOR_NO_DECAY;
    TRI_TRY(add_split(m, &w, 1));
    return add_split(m, &b, 1);
}

/* Outputs split. */
static tri_status add_column(tri_model *m, int layer, int k, const char *name,
                             int64_t out, int64_t in)
{
    tri_tensor w = tensor_of(layer, k, name, 2, TRI_INIT_NORMAL, STD);
    tri_tensor b = tensor_of(layer, k + 1, name, 1, TRI_INIT_ZERO, 0);

    strcat(w.name, ".w");
    strcat(b.name, ".b");
    w.shape[0] = b.shape[0] = out;
    w.shape[1] = in;
    b.flags = TRI_TENSOR_NO_DECAY;
    TRI_TRY(add_split(m, &w, 0));
    return add_split(m, &b, 0);
}

/* Inputs split; the bias is whole.  These end a branch of the residual
 * stream, so they start smaller by the root of the number of branches. */
static tri_status add_row(tri_model *m, int layer, int k, const char *name,
                          int64_t out, int64_t in)
{
    double std = STD / sqrt(2.0 * m->shape.layers);
    tri_tensor w = tensor_of(layer, k, name, 2, TRI_INIT_NORMAL, std);
    tri_tensor b = tensor_of(layer, k + 1, name, 1, TRI_INIT_ZERO, 0);

    strcat(w.name, ".w");
    strcat(b.name, ".b");
    w.shape[0] = b.shape[0] = out;
    w.shape[1] = in;
    b.split = -1;
    b.flags = TRI_TENSOR_NO_DECAY | TRI_TENSOR_TP_COPY;
    TRI_TRY(add_split(m, &w, 1));
    return tri_tensors_add(&m->tensors, &b);
}

static tri_status add_block(tri_model *m, int i)
{
    int64_t h = m->shape.hidden, f = m->shape.ffn;
    int layer = m->first_layer + i;

    m->blocks[i].at = m->tensors.n;
    TRI_TRY(add_norm(m, layer, NORM1_G, "norm1"));
    TRI_TRY(add_qkv(m, layer));
    TRI_TRY(add_row(m, layer, PROJ_W, "proj", h, h));
    TRI_TRY(add_norm(m, layer, NORM2_G, "norm2"));
    TRI_TRY(add_column(m, layer, UP_W, "up", f, h));
    return add_row(m, layer, DOWN_W, "down", h, f);
}

static tri_status add_first(tri_model *m)
{
    int64_t h = m->shape.hidden;
    unsigned tied = m->shape.tied && !m->is_last ? TRI_TENSOR_TIED : 0;

    m->wte_at = m->tensors.n;
    TRI_TRY(add_whole(m, "wte", ID_WTE, m->shape.vocab, h, TRI_INIT_NORMAL,
                      TRI_TENSOR_NO_DECAY | tied));
    m->wpe_at = m->tensors.n;
    return add_whole(m, "wpe", ID_WPE, m->shape.sequence, h, TRI_INIT_NORMAL,
                     TRI_TENSOR_NO_DECAY);
}

/* Norm and head.  A tied head is the embedding itself on a pipeline of one
 * stage, and a copy of it on the last of several. */
static tri_status add_last(tri_model *m)
{
    int64_t h = m->shape.hidden, V = m->shape.vocab;

    m->normf_at = m->tensors.n;
    TRI_TRY(add_whole(m, "normf.g", ID_NORMF_G, h, 0, TRI_INIT_ONE,
                      TRI_TENSOR_NO_DECAY));
    TRI_TRY(add_whole(m, "normf.b", ID_NORMF_B, h, 0, TRI_INIT_ZERO,
                      TRI_TENSOR_NO_DECAY));
    m->head_at = m->tensors.n;
    if (!m->shape.tied) {
        return add_whole(m, "head", ID_HEAD, V, h, TRI_INIT_NORMAL, 0);
    }
    if (m->is_first) {
        m->head_at = m->wte_at;
        return TRI_OK;
    }
    return add_whole(m, "wte", ID_WTE, V, h, TRI_INIT_NORMAL,
                     TRI_TENSOR_NO_DECAY | TRI_TENSOR_TIED |
                             TRI_TENSOR_TIED_COPY);
}

static tri_status add_tensors(tri_model *m)
{
    int i;

    if (m->is_first) {
        TRI_TRY(add_first(m));
    }
    for (i = 0; i < m->n_layers; i++) {
        TRI_TRY(add_block(m, i));
    }
    return m->is_last ? add_last(m) : TRI_OK;
}

static void destroy(tri_model *m)
{
    if (!m) {
        return;
    }
    tri_tensors_fini(&m->tensors);
    free(m->blocks);
    free(m->slots);
    free(m->acts);
    free(m);
    tri_models_count(-1);
}

static tri_status make_room(tri_model *m)
{
    size_t slots = (size_t)m->place.slots, layers = (size_t)m->n_layers;
    size_t i;

    m->blocks = calloc(layers + 1, sizeof *m->blocks);
    m->slots = calloc(slots, sizeof *m->slots);
    m->acts = calloc(slots * layers + 1, sizeof *m->acts);
    if (!m->blocks || !m->slots || !m->acts) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model of %d layers",
                        m->n_layers);
    }
    for (i = 0; i < slots; i++) {
        m->slots[i].blocks = m->acts + i * layers;
    }
    return TRI_OK;
}

tri_status tri_gpt_create(const tri_gpt_shape *shape, const tri_place *place,
                          int first_layer, int n_layers, const tri_text *text,
                          tri_model **out)
{
    tri_model *m = calloc(1, sizeof *m);
    tri_status st;

    if (!m) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model");
    }
    tri_models_count(1);
    m->shape = *shape;
    m->place = *place;
    m->text = *text;
    m->first_layer = first_layer;
    m->n_layers = n_layers;
    m->is_first = place->stage == 0;
    m->is_last = place->stage == place->stages - 1;
    m->rows = (int64_t)place->micro_batch * shape->sequence;
    m->width = shape->hidden / place->products->parts;
    m->ffn = shape->ffn / place->products->parts;
    m->wte_at = m->wpe_at = m->head_at = m->normf_at = -1;
    TRI_TRY_GOTO(st, make_room(m), fail);
    TRI_TRY_GOTO(st, add_tensors(m), fail);
    *out = m;
    return TRI_OK;
fail:
    destroy(m);
    return st;
}

/* ---- views into the flat arrays --------------------------------------- */

typedef struct arrays {
    const tri_tensor *at;
    const tri_real *params;
    tri_real *grads;
} arrays;

static norm view_norm(const arrays *a, int at)
{
    return (norm){.g = a->params + a->at[at].offset,
                  .b = a->params + a->at[at + 1].offset,
                  .dg = a->grads + a->at[at].offset,
                  .db = a->grads + a->at[at + 1].offset};
}

static tri_linear view_linear(const arrays *a, int at, int64_t out, int64_t in,
                              int bias)
{
    return (tri_linear){.in = in,
                        .out = out,
                        .w = a->params + a->at[at].offset,
                        .dw = a->grads + a->at[at].offset,
                        .b = bias ? a->params + a->at[at + 1].offset : NULL,
                        .db = bias ? a->grads + a->at[at + 1].offset : NULL};
}

static void bind_block(tri_model *m, const arrays *a, block *b)
{
    int64_t h = m->shape.hidden;

    b->norm1 = view_norm(a, b->at + NORM1_G);
    b->qkv = view_linear(a, b->at + QKV_W, 3 * m->width, h, 1);
    b->proj = view_linear(a, b->at + PROJ_W, h, m->width, 1);
    b->norm2 = view_norm(a, b->at + NORM2_G);
    b->up = view_linear(a, b->at + UP_W, m->ffn, h, 1);
    b->down = view_linear(a, b->at + DOWN_W, h, m->ffn, 1);
}

static void bind(tri_model *m, const tri_real *params, tri_real *grads)
{
    arrays a = {.at = m->tensors.at, .params = params, .grads = grads};
    int i;

    for (i = 0; i < m->n_layers; i++) {
        bind_block(m, &a, &m->blocks[i]);
    }
    if (m->is_first) {
        m->wte = params + a.at[m->wte_at].offset;
        m->dwte = grads + a.at[m->wte_at].offset;
        m->wpe = params + a.at[m->wpe_at].offset;
        m->dwpe = grads + a.at[m->wpe_at].offset;
    }
    if (m->is_last) {
        m->normf = view_norm(&a, m->normf_at);
        m->head =
                view_linear(&a, m->head_at, m->shape.vocab, m->shape.hidden, 0);
    }
}

static const tri_tensors *tensors(const tri_model *m)
{
    return &m->tensors;
}

static int64_t port_count(const tri_model *m)
{
    return m->rows * m->shape.hidden;
}

static tri_real *port(tri_model *m, tri_port which, int k)
{
    slot *s = &m->slots[k];

    switch (which) {
    case TRI_PORT_IN:
        return s->in;
    case TRI_PORT_OUT:
        return m->n_layers ? s->blocks[m->n_layers - 1].out : s->in;
    case TRI_PORT_D_OUT:
        return s->d_out;
    case TRI_PORT_D_IN:
        break;
    }
    return s->d_in;
}

static double take_loss(tri_model *m)
{
    double loss = m->loss;

    m->loss = 0;
    return loss;
}

static int64_t sample_tokens(const tri_model *m)
{
    return m->shape.sequence;
}

const tri_model_ops tri_gpt_ops = {.name = "gpt",
                                   .tensors = tensors,
                                   .alloc = tri_gpt_alloc,
                                   .bind = bind,
                                   .port_count = port_count,
                                   .port = port,
                                   .load = tri_gpt_load,
                                   .forward = tri_gpt_forward,
                                   .backward = tri_gpt_backward,
                                   .take_loss = take_loss,
                                   .sample_tokens = sample_tokens,
                                   .destroy = destroy};
