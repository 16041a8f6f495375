/*
 * Both ends of the transformer, each rank of the tensor axis with its slice of
 * the vocabulary.
 *
 * Embedding: a rank looks up the tokens that it has and 0 for the others, and
 * the sum is the embedding.  Head: a rank makes the logits of its slice; the
 * softmax meets the others' in three numbers a row.
 *
 * The head belongs to backward: its forward, the loss and its backward go over
 * the rows in chunks, so that logits exist for a chunk only, and gradients are
 * added in the order of the backward calls, whatever the schedule.
 */
#include "models/gpt/stage.h"

#include <string.h>

static void copy(tri_real *to, const tri_real *from, int64_t n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* All rows of `x`, of which some are here. */
static const tri_real *gathered(const tri_model *m, const tri_real *x,
                                tri_real *into)
{
    const tri_products *p = m->place.products;
    int64_t h = m->shape.hidden;

    if (!p->by_rows) {
        return x;
    }
    copy(into + m->row * h, x, m->mine * h);
    p->gather(p->ctx, m->rows * h, into);
    return into;
}

/* Sum `all`, all rows, over the ranks, and this rank's of them into `x`; by
 * rows they are apart, else the same. */
static void summed(const tri_model *m, tri_real *all, tri_real *x)
{
    const tri_products *p = m->place.products;
    int64_t h = m->shape.hidden;

    if (!p->by_rows) {
        p->sum(p->ctx, m->rows * h, all);
        return;
    }
    p->scatter(p->ctx, m->rows * h, all);
    copy(x, all + m->row * h, m->mine * h);
}

/* ---- embedding ---- */

void tri_gpt_embed(tri_model *m, slot *s)
{
    int64_t h = m->shape.hidden;
    tri_real *all = m->place.products->by_rows ? m->whole[0] : s->in;

    tri_place_before(&m->place, 0, 0);
    tri_embed_forward(m->rows, h, m->vocab.first, m->vocab.n, s->input, m->wte,
                      all);
    summed(m, all, s->in);
    if (!m->shape.rope) {
        tri_positions_forward(m->mine, m->row, m->shape.sequence, h, m->wpe,
                              s->in);
    }
    tri_place_after(&m->place, 0, 0);
    tri_gpt_drop(m, s, 0, DROP_EMBEDDING, s->in);
}

void tri_gpt_embed_back(tri_model *m, const slot *s)
{
    int64_t h = m->shape.hidden;
    const tri_real *all;

    tri_gpt_drop(m, s, 0, DROP_EMBEDDING, m->d_res);
    all = gathered(m, m->d_res, m->whole[0]);
    tri_place_before(&m->place, 0, 1);
    tri_embed_backward(m->rows, h, m->vocab.first, m->vocab.n, s->input, all,
                       m->dwte);
    if (!m->shape.rope) {
        tri_positions_backward(m->mine, m->row, m->shape.sequence, h, m->d_res,
                               m->dwpe);
    }
    tri_place_after(&m->place, 0, 1);
}

/* ---- head ---- */

void tri_gpt_final(const tri_model *m, slot *s, const tri_real *x)
{
    tri_place_before(&m->place, m->units - 1, 0);
    tri_gpt_norm(m, &m->normf, x, s->normf, s->meanf, s->rstdf);
    tri_place_after(&m->place, m->units - 1, 0);
}

/* Loss and gradient of the head into d_norm. */
static void head_back(tri_model *m, const slot *s)
{
    const tri_products *p = m->place.products;
    double count = (double)m->place.global_batch * m->shape.sequence;
    const tri_real *all = gathered(m, s->normf, m->whole[0]);
    tri_real *d_all = p->by_rows ? m->whole[1] : m->d_norm;
    int64_t h = m->shape.hidden, r;

    for (r = 0; r < m->rows; r += m->logit_rows) {
        int64_t n = m->rows - r < m->logit_rows ? m->rows - r : m->logit_rows;

        tri_linear_forward(&m->head, n, all + r * h, m->logits);
        tri_xent_begin(&m->vocab, n, s->target + r, m->logits, m->stats);
        p->gather(p->ctx, p->parts * n * TRI_XENT_STATS, m->stats);
        m->loss += tri_xent_end(&m->vocab, n, s->target + r,
                                (tri_real)(1 / count), m->stats, m->logits) /
                   count;
        tri_linear_backward(&m->head, n, all + r * h, m->logits, d_all + r * h);
    }
    summed(m, d_all, m->d_norm);
}

void tri_gpt_final_back(tri_model *m, const slot *s, const tri_real *x)
{
    int64_t h = m->shape.hidden;

    tri_place_before(&m->place, m->units - 1, 1);
    if (m->has_first && m->shape.tied) { /* until the embedding's backward */
        tri_place_before(&m->place, 0, 1);
    }
    head_back(m, s);
    memset(m->d_res, 0, (size_t)(m->mine * h) * sizeof *m->d_res);
    tri_gpt_norm_back(m, &m->normf, x, s->meanf, s->rstdf, m->d_norm, m->d_res);
    tri_place_after(&m->place, m->units - 1, 1);
}
