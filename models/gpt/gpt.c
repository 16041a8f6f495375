/*
 * The making of a stage of the transformer.
 */
#include "models/gpt/stage.h"

#include <stdlib.h>

static void destroy(tri_model *m)
{
    if (!m) {
        return;
    }
    tri_tensors_fini(&m->tensors);
    free(m->chunks);
    free(m->blocks);
    free(m->slots);
    free(m->acts);
    free(m);
    tri_models_count(-1);
}

static const chunk *chunk_of(const tri_model *m, int k)
{
    return &m->chunks[m->place.chunk_of ? m->place.chunk_of[k] : 0];
}

static tri_status make_chunks(tri_model *m, const tri_gpt_part *parts)
{
    int n = m->place.chunks, layers = 0, c;

    m->chunks = calloc((size_t)n, sizeof *m->chunks);
    if (!m->chunks) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model");
    }
    for (c = 0; c < n; c++) {
        chunk *at = &m->chunks[c];

        at->first_layer = parts[c].first_layer;
        at->n_layers = parts[c].n_layers;
        at->is_first = m->place.stage == 0 && c == 0;
        at->is_last = m->place.stage == m->place.stages - 1 && c == n - 1;
        m->has_first = m->has_first || at->is_first;
        m->has_last = m->has_last || at->is_last;
        layers += at->n_layers;
    }
    m->blocks = calloc((size_t)layers + 1, sizeof *m->blocks);
    if (!m->blocks) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model of %d layers",
                        layers);
    }
    for (c = 0, layers = 0; c < n; c++) {
        m->chunks[c].blocks = m->blocks + layers;
        layers += m->chunks[c].n_layers;
    }
    return TRI_OK;
}

static tri_status make_slots(tri_model *m)
{
    size_t acts = 0;
    int k;

    m->slots = calloc((size_t)m->place.slots, sizeof *m->slots);
    for (k = 0; k < m->place.slots; k++) {
        acts += (size_t)chunk_of(m, k)->n_layers;
    }
    m->acts = calloc(acts + 1, sizeof *m->acts);
    if (!m->slots || !m->acts) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %d micro-batches",
                        m->place.slots);
    }
    for (k = 0, acts = 0; k < m->place.slots; k++) {
        m->slots[k].chunk = chunk_of(m, k);
        m->slots[k].blocks = m->acts + acts;
        acts += (size_t)m->slots[k].chunk->n_layers;
    }
    return TRI_OK;
}

tri_status tri_gpt_create(const tri_gpt_shape *shape, const tri_place *place,
                          const tri_gpt_part *parts, const tri_text *text,
                          tri_model **out)
{
    const tri_products *p = place->products;
    tri_model *m = calloc(1, sizeof *m);
    tri_status st;

    if (!m) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a model");
    }
    tri_models_count(1);
    m->shape = *shape;
    m->place = *place;
    m->place.chunks = place->chunks ? place->chunks : 1;
    m->text = *text;
    m->rows = (int64_t)place->micro_batch * shape->sequence;
    m->mine = p->by_rows ? m->rows / p->parts : m->rows;
    m->row = p->by_rows ? m->mine * p->part : 0;
    m->width = shape->hidden / p->parts;
    m->ffn = shape->ffn / p->parts;
    m->up = (shape->swiglu ? 2 : 1) * m->ffn;
    TRI_TRY_GOTO(st, make_chunks(m, parts), fail);
    TRI_TRY_GOTO(st, make_slots(m), fail);
    TRI_TRY_GOTO(st, tri_gpt_table(m), fail);
    *out = m;
    return TRI_OK;
fail:
    destroy(m);
    return st;
}

static const tri_tensors *tensors(const tri_model *m)
{
    return &m->tensors;
}

static int64_t port_count(const tri_model *m)
{
    return m->mine * m->shape.hidden;
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
                                   .bind = tri_gpt_bind,
                                   .bind_unit = tri_gpt_bind_unit,
                                   .port_count = port_count,
                                   .port = tri_gpt_port,
                                   .load = tri_gpt_load,
                                   .forward = tri_gpt_forward,
                                   .backward = tri_gpt_backward,
                                   .take_loss = take_loss,
                                   .sample_tokens = sample_tokens,
                                   .destroy = destroy};
