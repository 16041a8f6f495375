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

static tri_attention attention_of(const tri_model *m)
{
    return (tri_attention){.samples = m->place.micro_batch,
                           .T = m->shape.sequence,
                           .H = m->shape.heads / m->place.products->parts,
                           .s = m->shape.hidden / m->shape.heads,
                           .work = m->attention_work};
}

static void block_forward(const tri_model *m, const block *b, const tri_real *x,
                          block_acts *a)
{
    const tri_products *p = m->place.products;
    tri_attention attention = attention_of(m);
    int64_t rows = m->rows, n = m->mine, h = m->shape.hidden;

    tri_norm_forward(n, h, x, b->norm1.g, b->norm1.b, a->norm1, a->mean1,
                     a->rstd1);
    p->column(p->ctx, &b->qkv, rows, a->norm1, a->qkv);
    tri_attention_forward(&attention, a->qkv, a->att, a->lse);
    p->row(p->ctx, &b->proj, rows, a->att, a->res);
    tri_vector_add(x, n * h, a->res);
    tri_norm_forward(n, h, a->res, b->norm2.g, b->norm2.b, a->norm2, a->mean2,
                     a->rstd2);
    p->column(p->ctx, &b->up, rows, a->norm2, a->up);
    tri_gelu_forward(rows * m->ffn, a->up, a->act);
    p->row(p->ctx, &b->down, rows, a->act, a->out);
    tri_vector_add(a->res, n * h, a->out);
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
        block_forward(m, &s->chunk->blocks[i], x, &s->blocks[i]);
        x = s->blocks[i].out;
    }
    if (s->chunk->is_last) {
        tri_gpt_final(m, s, x);
    }
}

/* d_res: gradient of the block's output in, of its input out. */
static void block_backward(tri_model *m, const block *b, const block_acts *a,
                           const tri_real *x)
{
    const tri_products *p = m->place.products;
    tri_attention attention = attention_of(m);
    int64_t rows = m->rows, n = m->mine, h = m->shape.hidden;

    p->row_back(p->ctx, &b->down, rows, a->act, m->d_res, m->d_ffn);
    tri_gelu_backward(rows * m->ffn, a->up, m->d_ffn, m->d_ffn);
    p->column_back(p->ctx, &b->up, rows, a->norm2, m->d_ffn, m->d_norm);
    tri_norm_backward(n, h, a->res, b->norm2.g, a->mean2, a->rstd2, m->d_norm,
                      m->d_res, b->norm2.dg, b->norm2.db);
    p->row_back(p->ctx, &b->proj, rows, a->att, m->d_res, m->d_att);
    tri_attention_backward(&attention, a->qkv, a->att, a->lse, m->d_att,
                           m->d_qkv);
    p->column_back(p->ctx, &b->qkv, rows, a->norm1, m->d_qkv, m->d_norm);
    tri_norm_backward(n, h, x, b->norm1.g, a->mean1, a->rstd1, m->d_norm,
                      m->d_res, b->norm1.dg, b->norm1.db);
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
        block_backward(m, &s->chunk->blocks[i], &s->blocks[i],
                       i ? s->blocks[i - 1].out : s->in);
    }
    if (s->chunk->is_first) {
        tri_gpt_embed_back(m, s);
    } else {
        memcpy(s->d_in, m->d_res, bytes);
    }
}
