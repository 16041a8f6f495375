/*
 * The memory of a stage: the one place that says what there is and how large,
 * in a dry region and in a true one.
 */
#include "models/gpt/stage.h"

#define LOGITS_ELEMENTS (1 << 19) /* at a time, about */
#define LOGITS_ROWS     128       /* and at least; fewer starve the products */

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

    TRI_TRY(tri_region_alloc(region, (uint64_t)n * sizeof(int32_t),
                             "activations", &p));
    *out = p;
    return TRI_OK;
}

/* What a norm keeps of each row. */
static tri_status take_moments(const tri_model *m, tri_region *region,
                               tri_real **mean, tri_real **rstd)
{
    if (!m->shape.rms) {
        TRI_TRY(take(region, m->mine, "activations", mean));
    }
    return take(region, m->mine, "activations", rstd);
}

/* What is cheap to make again. */
static tri_status take_cheap(const tri_model *m, tri_region *region,
                             block_acts *a)
{
    int64_t nh = m->mine * m->shape.hidden;
    const char *what = "activations";

    TRI_TRY(take(region, nh, what, &a->norm1));
    TRI_TRY(take(region, nh, what, &a->norm2));
    return take(region, m->rows * m->ffn, what, &a->act);
}

static tri_status take_rest(const tri_model *m, tri_region *region,
                            block_acts *a)
{
    int64_t rows = m->rows, w = m->width;
    int64_t heads = m->shape.heads / m->place.products->parts;
    const char *what = "activations";

    TRI_TRY(take_moments(m, region, &a->mean1, &a->rstd1));
    TRI_TRY(take(region, rows * 3 * w, what, &a->qkv));
    TRI_TRY(take(region, rows * w, what, &a->att));
    TRI_TRY(take(region, rows * heads, what, &a->lse));
    TRI_TRY(take(region, m->mine * m->shape.hidden, what, &a->res));
    TRI_TRY(take_moments(m, region, &a->mean2, &a->rstd2));
    return take(region, rows * m->up, what, &a->up);
}

/* What backward makes again, once for all blocks. */
static tri_status take_again(tri_model *m, tri_region *region)
{
    if (m->place.recompute != TRI_RECOMPUTE_NONE) {
        TRI_TRY(take_cheap(m, region, &m->again));
    }
    if (m->place.recompute == TRI_RECOMPUTE_FULL) {
        TRI_TRY(take_rest(m, region, &m->again));
    }
    return TRI_OK;
}

static tri_status take_block(const tri_model *m, tri_region *region,
                             block_acts *a)
{
    *a = m->again;
    if (m->place.recompute == TRI_RECOMPUTE_NONE) {
        TRI_TRY(take_cheap(m, region, a));
    }
    if (m->place.recompute != TRI_RECOMPUTE_FULL) {
        TRI_TRY(take_rest(m, region, a));
    }
    return take(region, m->mine * m->shape.hidden, "activations", &a->out);
}

static tri_status take_slot(const tri_model *m, tri_region *region, slot *s)
{
    int64_t nh = m->mine * m->shape.hidden;
    const char *what = "activations";
    const chunk *c = s->chunk;
    int i;

    if (c->is_first || c->is_last) {
        TRI_TRY(take_tokens(region, m->rows, &s->input));
        TRI_TRY(take_tokens(region, m->rows, &s->target));
    }
    TRI_TRY(take(region, nh, what, &s->in));
    for (i = 0; i < c->n_layers; i++) {
        TRI_TRY(take_block(m, region, &s->blocks[i]));
    }
    if (c->is_last) {
        TRI_TRY(take(region, nh, what, &s->normf));
        TRI_TRY(take_moments(m, region, &s->meanf, &s->rstdf));
    } else {
        TRI_TRY(take(region, nh, "messages", &s->d_out));
    }
    return c->is_first ? TRI_OK : take(region, nh, "messages", &s->d_in);
}

static tri_status take_masks(tri_model *m, tri_region *region)
{
    void *p = NULL;

    TRI_TRY(tri_region_alloc(region,
                             (uint64_t)m->place.micro_batch * sizeof *m->masks,
                             "workspace", &p));
    m->masks = p;
    return TRI_OK;
}

/* Of embedding and head. */
static tri_status take_ends(tri_model *m, tri_region *region)
{
    const tri_products *p = m->place.products;
    int64_t rows = m->rows, h = m->shape.hidden, V = m->vocab.width;
    const char *what = "workspace";

    if (p->by_rows && (m->has_first || m->has_last)) {
        TRI_TRY(take(region, rows * h, what, &m->whole[0]));
    }
    if (!m->has_last) {
        return TRI_OK;
    }
    if (p->by_rows) {
        TRI_TRY(take(region, rows * h, what, &m->whole[1]));
    }
    m->logit_rows = LOGITS_ELEMENTS / V < LOGITS_ROWS ? LOGITS_ROWS
                                                      : LOGITS_ELEMENTS / V;
    m->logit_rows = m->logit_rows < rows ? m->logit_rows : rows;
    TRI_TRY(take(region, m->logit_rows * V, what, &m->logits));
    return take(region, p->parts * m->logit_rows * TRI_XENT_STATS, what,
                &m->stats);
}

/* Where positions turn queries and keys. */
static tri_status take_turns(tri_model *m, tri_region *region)
{
    int64_t T = m->shape.sequence, s = m->shape.hidden / m->shape.heads;

    if (m->shape.rope) {
        TRI_TRY(take(region, T * s, "workspace", &m->turns));
        if (m->turns) { /* else it is dry */
            tri_rope_table(T, s, m->turns);
        }
    }
    return TRI_OK;
}

tri_status tri_gpt_alloc(tri_model *m, tri_region *region)
{
    int64_t rows = m->rows, nh = m->mine * m->shape.hidden;
    const char *what = "workspace";
    int i;

    TRI_TRY(take_again(m, region));
    for (i = 0; i < m->place.slots; i++) {
        TRI_TRY(take_slot(m, region, &m->slots[i]));
    }
    TRI_TRY(take(region, nh, what, &m->d_res));
    TRI_TRY(take(region, nh, what, &m->d_norm));
    TRI_TRY(take(region, rows * m->up, what, &m->d_up));
    m->d_act = m->d_up;
    if (m->shape.swiglu) {
        TRI_TRY(take(region, rows * m->ffn, what, &m->d_act));
    }
    TRI_TRY(take(region, rows * 3 * m->width, what, &m->d_qkv));
    TRI_TRY(take(region, rows * m->width, what, &m->d_att));
    TRI_TRY(take_ends(m, region));
    if (m->shape.dropout > 0) {
        TRI_TRY(take(region, nh, what, &m->d_drop));
        TRI_TRY(take_masks(m, region));
    }
    TRI_TRY(take_turns(m, region));
    return take(region, tri_attention_work(m->shape.sequence), what,
                &m->attention_work);
}
