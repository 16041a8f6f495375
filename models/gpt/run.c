/*
 * A stage of the transformer at work: memory, forward, backward.
 *
 * The head belongs to backward: its forward, the loss and its backward go over
 * the rows in chunks, so that logits exist for a chunk only, and gradients are
 * added in the order of the backward calls, whatever the schedule.
 */
#include "models/gpt/stage.h"

#include <string.h>

#define LOGITS_ELEMENTS (1 << 19) /* of a chunk, about */
#define LOGITS_ROWS     128       /* and at least; fewer starve the products */

/* ---- memory ------------------------------------------------------------ */

static tri_status take(tri_region *region, int64_t n, const char *what,
                       tri_real **out)
{
    void *p = NULL;

    TRI_TRY(tri_region_alloc(region, (uint64_t)n * sizeof(tri_real), what, &p));
    *out = p;
    return TRI_OK;
}

static tri_status take_tokens(tri_region *region, int64_t n, int32_t **out)
{
    void *p = NULL;

    TRI_TRY(tri_region_alloc(region, (uint64_t)n * sizeof(int32_t), "tokens",
                             &p));
    *out = p;
    return TRI_OK;
}

static tri_status take_block(const tri_model *m, tri_region *region,
                             block_acts *a)
{
    int64_t n = m->rows, h = m->shape.hidden, w = m->width;
    int64_t heads = m->shape.heads / m->place.products->parts;
    const char *what = "activations";

    TRI_TRY(take(region, n * h, what, &a->norm1));
    TRI_TRY(take(region, n, what, &a->mean1));
    TRI_TRY(take(region, n, what, &a->rstd1));
    TRI_TRY(take(region, n * 3 * w, what, &a->qkv));
    TRI_TRY(take(region, n * w, what, &a->att));
    TRI_TRY(take(region, n * heads, what, &a->lse));
    TRI_TRY(take(region, n * h, what, &a->res));
    TRI_TRY(take(region, n * h, what, &a->norm2));
    TRI_TRY(take(region, n, what, &a->mean2));
    TRI_TRY(take(region, n, what, &a->rstd2));
    TRI_TRY(take(region, n * m->ffn, what, &a->up));
    TRI_TRY(take(region, n * m->ffn, what, &a->act));
    return take(region, n * h, what, &a->out);
}

static tri_status take_slot(const tri_model *m, tri_region *region, slot *s)
{
    int64_t n = m->rows, nh = m->rows * m->shape.hidden;
    const char *what = "activations";
    int i;

    if (m->is_first || m->is_last) {
        TRI_TRY(take_tokens(region, n, &s->input));
        TRI_TRY(take_tokens(region, n, &s->target));
    }
    TRI_TRY(take(region, nh, what, &s->in));
    for (i = 0; i < m->n_layers; i++) {
        TRI_TRY(take_block(m, region, &s->blocks[i]));
    }
    if (m->is_last) {
        TRI_TRY(take(region, nh, what, &s->normf));
        TRI_TRY(take(region, n, what, &s->meanf));
        TRI_TRY(take(region, n, what, &s->rstdf));
    } else {
        TRI_TRY(take(region, nh, what, &s->d_out));
    }
    return m->is_first ? TRI_OK : take(region, nh, what, &s->d_in);
}

tri_status tri_gpt_alloc(tri_model *m, tri_region *region)
{
    int64_t n = m->rows, h = m->shape.hidden, V = m->shape.vocab;
    const char *what = "workspace";
    int i;

    for (i = 0; i < m->place.slots; i++) {
        TRI_TRY(take_slot(m, region, &m->slots[i]));
    }
    TRI_TRY(take(region, n * h, what, &m->d_res));
    TRI_TRY(take(region, n * h, what, &m->d_norm));
    TRI_TRY(take(region, n * m->ffn, what, &m->d_ffn));
    TRI_TRY(take(region, n * 3 * m->width, what, &m->d_qkv));
    TRI_TRY(take(region, n * m->width, what, &m->d_att));
    if (m->is_last) {
        m->chunk = LOGITS_ELEMENTS / V < LOGITS_ROWS ? LOGITS_ROWS
                                                     : LOGITS_ELEMENTS / V;
        m->chunk = m->chunk < n ? m->chunk : n;
        TRI_TRY(take(region, m->chunk * V, what, &m->logits));
    }
    return take(region, tri_attention_work(m->shape.sequence), what,
                &m->attention_work);
}

/* ---- forward ----------------------------------------------------------- */

void tri_gpt_load(tri_model *m, int k, int64_t step, int64_t sample)
{
    const tri_gpt_shape *s = &m->shape;
    int i;

    if (!m->is_first && !m->is_last) {
        return;
    }
    for (i = 0; i < m->place.micro_batch; i++) {
        int64_t at = tri_text_place(&m->text, step, sample + i, s->sequence);
        int64_t row = (int64_t)i * s->sequence;

        tri_text_tokens(&m->text, at, s->sequence, s->vocab,
                        m->slots[k].input + row);
        tri_text_tokens(&m->text, at + 1, s->sequence, s->vocab,
                        m->slots[k].target + row);
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
    int64_t n = m->rows, h = m->shape.hidden;

    tri_norm_forward(n, h, x, b->norm1.g, b->norm1.b, a->norm1, a->mean1,
                     a->rstd1);
    p->column(p->ctx, &b->qkv, n, a->norm1, a->qkv);
    tri_attention_forward(&attention, a->qkv, a->att, a->lse);
    p->row(p->ctx, &b->proj, n, a->att, a->res);
    tri_vector_add(x, n * h, a->res);
    tri_norm_forward(n, h, a->res, b->norm2.g, b->norm2.b, a->norm2, a->mean2,
                     a->rstd2);
    p->column(p->ctx, &b->up, n, a->norm2, a->up);
    tri_gelu_forward(n * m->ffn, a->up, a->act);
    p->row(p->ctx, &b->down, n, a->act, a->out);
    tri_vector_add(a->res, n * h, a->out);
}

void tri_gpt_forward(tri_model *m, int k)
{
    slot *s = &m->slots[k];
    const tri_real *x = s->in;
    int i;

    if (m->is_first) {
        tri_embed_forward(m->rows, m->shape.sequence, m->shape.hidden, s->input,
                          m->wte, m->wpe, s->in);
    }
    for (i = 0; i < m->n_layers; i++) {
        block_forward(m, &m->blocks[i], x, &s->blocks[i]);
        x = s->blocks[i].out;
    }
    if (m->is_last) {
        tri_norm_forward(m->rows, m->shape.hidden, x, m->normf.g, m->normf.b,
                         s->normf, s->meanf, s->rstdf);
    }
}

/* ---- backward ---------------------------------------------------------- */

/* Loss and gradient of the head into d_norm. */
static void head_backward(tri_model *m, const slot *s)
{
    double count = (double)m->place.global_batch * m->shape.sequence;
    int64_t h = m->shape.hidden, r;

    for (r = 0; r < m->rows; r += m->chunk) {
        int64_t n = m->rows - r < m->chunk ? m->rows - r : m->chunk;
        const tri_real *x = s->normf + r * h;

        tri_linear_forward(&m->head, n, x, m->logits);
        m->loss += tri_xent(n, m->shape.vocab, s->target + r,
                            (tri_real)(1 / count), m->logits) /
                   count;
        tri_linear_backward(&m->head, n, x, m->logits, m->d_norm + r * h);
    }
}

/* d_res: gradient of the block's output in, of its input out. */
static void block_backward(tri_model *m, const block *b, const block_acts *a,
                           const tri_real *x)
{
    const tri_products *p = m->place.products;
    tri_attention attention = attention_of(m);
    int64_t n = m->rows, h = m->shape.hidden;

    p->row_back(p->ctx, &b->down, n, a->act, m->d_res, m->d_ffn);
    tri_gelu_backward(n * m->ffn, a->up, m->d_ffn, m->d_ffn);
    p->column_back(p->ctx, &b->up, n, a->norm2, m->d_ffn, m->d_norm);
    tri_norm_backward(n, h, a->res, b->norm2.g, a->mean2, a->rstd2, m->d_norm,
                      m->d_res, b->norm2.dg, b->norm2.db);
    p->row_back(p->ctx, &b->proj, n, a->att, m->d_res, m->d_att);
    tri_attention_backward(&attention, a->qkv, a->att, a->lse, m->d_att,
                           m->d_qkv);
    p->column_back(p->ctx, &b->qkv, n, a->norm1, m->d_qkv, m->d_norm);
    tri_norm_backward(n, h, x, b->norm1.g, a->mean1, a->rstd1, m->d_norm,
                      m->d_res, b->norm1.dg, b->norm1.db);
}

void tri_gpt_backward(tri_model *m, int k)
{
    slot *s = &m->slots[k];
    int64_t h = m->shape.hidden,
            bytes = m->rows * h * (int64_t)sizeof(tri_real);
    const tri_real *out = tri_gpt_ops.port(m, TRI_PORT_OUT, k);
    int i;

    if (m->is_last) {
        head_backward(m, s);
        memset(m->d_res, 0, (size_t)bytes);
        tri_norm_backward(m->rows, h, out, m->normf.g, s->meanf, s->rstdf,
                          m->d_norm, m->d_res, m->normf.dg, m->normf.db);
    } else {
        memcpy(m->d_res, s->d_out, (size_t)bytes);
    }
    for (i = m->n_layers - 1; i >= 0; i--) {
        block_backward(m, &m->blocks[i], &s->blocks[i],
                       i ? s->blocks[i - 1].out : s->in);
    }
    if (m->is_first) {
        tri_embed_backward(m->rows, m->shape.sequence, h, s->input, m->d_res,
                           m->dwte, m->dwpe);
    } else {
        memcpy(s->d_in, m->d_res, (size_t)bytes);
    }
}
