/*
 * A stage of the transformer at work: load, forward, backward.
 */
#include "models/gpt/stage.h"

#include <string.h>

tri_real *tri_gpt_port(tri_model *m, tri_port which, int k)
{
    slot *s = &m->slots[k];
    int n = s->chunk->n_layers;

    switch (which) {
    case TRI_PORT_IN:
        return s->in;
    case TRI_PORT_OUT:
        return n ? s->blocks[n - 1].out : s->in;
    case TRI_PORT_D_OUT:
        return s->d_out;
    case TRI_PORT_D_IN:
        break;
    }
    return s->d_in;
}

void tri_gpt_load(tri_model *m, int k, int64_t step, int64_t sample)
{
    const tri_gpt_shape *shape = &m->shape;
    slot *s = &m->slots[k];
    int i;

    s->step = step;
    s->sample = sample;
    if (!s->chunk->is_first && !s->chunk->is_last) {
        return;
    }
    for (i = 0; i < m->place.micro_batch; i++) {
        int64_t at =
                tri_text_place(&m->text, step, sample + i, shape->sequence);
        int64_t row = (int64_t)i * shape->sequence;

        tri_text_tokens(&m->text, at, shape->sequence, shape->vocab,
                        s->input + row);
        tri_text_tokens(&m->text, at + 1, shape->sequence, shape->vocab,
                        s->target + row);
    }
}

static tri_attention attention_of(const tri_model *m, const slot *s, int layer)
{
    const tri_products *p = m->place.products;
    int64_t heads = m->shape.heads / p->parts;

    return (tri_attention){.samples = m->place.micro_batch,
                           .T = m->shape.sequence,
                           .H = heads,
                           .s = m->shape.hidden / m->shape.heads,
                           .work = m->attention_work,
                           .dropout = m->shape.dropout,
                           .first = heads * p->part,
                           .masks = tri_gpt_masks(m, s, layer, DROP_ATTENTION)};
}

/* Turn the queries and keys of all rows by their positions, or back. */
static void turn(const tri_model *m, int back, tri_real *qkv)
{
    int64_t heads = m->shape.heads / m->place.products->parts;

    if (m->shape.rope) {
        tri_rope(m->rows, m->shape.sequence, 2 * heads,
                 m->shape.hidden / m->shape.heads, 3 * m->width, m->turns, back,
                 qkv);
    }
}

static void activate(const tri_model *m, const block_acts *a)
{
    if (m->shape.swiglu) {
        tri_swiglu_forward(m->rows, m->ffn, a->up, a->act);
    } else {
        tri_gelu_forward(m->rows * m->ffn, a->up, a->act);
    }
}

static void activate_back(tri_model *m, const block_acts *a)
{
    if (m->shape.swiglu) {
        tri_swiglu_backward(m->rows, m->ffn, a->up, m->d_act, m->d_up);
    } else {
        tri_gelu_backward(m->rows * m->ffn, a->up, m->d_act, m->d_up);
    }
}

/* Block `i` of the slot's chunk, on x, but for its output. */
static void block_inside(const tri_model *m, const slot *s, int i,
                         const tri_real *x)
{
    const tri_products *p = m->place.products;
    const block *b = &s->chunk->blocks[i];
    const block_acts *a = &s->blocks[i];
    int64_t rows = m->rows, n = m->mine * m->shape.hidden;
    int layer = s->chunk->first_layer + i;
    tri_attention attention = attention_of(m, s, layer);

    tri_gpt_norm(m, &b->norm1, x, a->norm1, a->mean1, a->rstd1);
    p->column(p->ctx, &b->qkv, rows, a->norm1, a->qkv);
    turn(m, 0, a->qkv);
    tri_attention_forward(&attention, a->qkv, a->att, a->lse);
    p->row(p->ctx, &b->proj, rows, a->att, a->res);
    tri_gpt_drop(m, s, layer, DROP_PROJ, a->res);
    tri_vector_add(x, n, a->res);
    tri_gpt_norm(m, &b->norm2, a->res, a->norm2, a->mean2, a->rstd2);
    p->column(p->ctx, &b->up, rows, a->norm2, a->up);
    activate(m, a);
}

static void block_forward(const tri_model *m, const slot *s, int i,
                          const tri_real *x)
{
    const tri_products *p = m->place.products;
    const block_acts *a = &s->blocks[i];

    block_inside(m, s, i, x);
    p->row(p->ctx, &s->chunk->blocks[i].down, m->rows, a->act, a->out);
    tri_gpt_drop(m, s, s->chunk->first_layer + i, DROP_DOWN, a->out);
    tri_vector_add(a->res, m->mine * m->shape.hidden, a->out);
}

/* What forward did not keep of block `i`. */
static void block_again(const tri_model *m, const slot *s, int i,
                        const tri_real *x)
{
    const block *b = &s->chunk->blocks[i];
    const block_acts *a = &s->blocks[i];

    if (m->place.recompute == TRI_RECOMPUTE_FULL) {
        block_inside(m, s, i, x);
    } else if (m->place.recompute == TRI_RECOMPUTE_SELECTIVE) {
        tri_gpt_norm(m, &b->norm1, x, a->norm1, a->mean1, a->rstd1);
        tri_gpt_norm(m, &b->norm2, a->res, a->norm2, a->mean2, a->rstd2);
        activate(m, a);
    }
}

void tri_gpt_forward(tri_model *m, int k)
{
    slot *s = &m->slots[k];
    const tri_real *x = s->in;
    int i;

    if (s->chunk->is_first) {
        tri_gpt_embed(m, s);
    }
    for (i = 0; i < s->chunk->n_layers; i++) {
        tri_place_before(&m->place, s->chunk->first_unit + i, 0);
        block_forward(m, s, i, x);
        tri_place_after(&m->place, s->chunk->first_unit + i, 0);
        x = s->blocks[i].out;
    }
    if (s->chunk->is_last) {
        tri_gpt_final(m, s, x);
    }
}

/* d_res: gradient of the block's output in, of its input out. */
static void block_backward(tri_model *m, const slot *s, int i,
                           const tri_real *x)
{
    const tri_products *p = m->place.products;
    const block *b = &s->chunk->blocks[i];
    const block_acts *a = &s->blocks[i];
    int64_t rows = m->rows;
    int layer = s->chunk->first_layer + i;
    tri_attention attention;

    block_again(m, s, i, x);
    p->row_back(p->ctx, &b->down, rows, a->act,
                tri_gpt_dropped(m, s, layer, DROP_DOWN, m->d_res), m->d_act);
    activate_back(m, a);
    p->column_back(p->ctx, &b->up, rows, a->norm2, m->d_up, m->d_norm);
    tri_gpt_norm_back(m, &b->norm2, a->res, a->mean2, a->rstd2, m->d_norm,
                      m->d_res);
    p->row_back(p->ctx, &b->proj, rows, a->att,
                tri_gpt_dropped(m, s, layer, DROP_PROJ, m->d_res), m->d_att);
    attention = attention_of(m, s, layer);
    tri_attention_backward(&attention, a->qkv, a->att, a->lse, m->d_att,
                           m->d_qkv);
    turn(m, 1, m->d_qkv);
    p->column_back(p->ctx, &b->qkv, rows, a->norm1, m->d_qkv, m->d_norm);
    tri_gpt_norm_back(m, &b->norm1, x, a->mean1, a->rstd1, m->d_norm, m->d_res);
}

void tri_gpt_backward(tri_model *m, int k)
{
    slot *s = &m->slots[k];
    size_t bytes = (size_t)(m->mine * m->shape.hidden) * sizeof(tri_real);
    int i;

    if (s->chunk->is_last) {
        tri_gpt_final_back(m, s, tri_gpt_port(m, TRI_PORT_OUT, k));
    } else {
        memcpy(m->d_res, s->d_out, bytes);
    }
    for (i = s->chunk->n_layers - 1; i >= 0; i--) {
        tri_place_before(&m->place, s->chunk->first_unit + i, 1);
        block_backward(m, s, i, i ? s->blocks[i - 1].out : s->in);
        tri_place_after(&m->place, s->chunk->first_unit + i, 1);
    }
    if (s->chunk->is_first) {
        tri_gpt_embed_back(m, s);
    } else {
        memcpy(s->d_in, m->d_res, bytes);
    }
}
