/*
 * Dropout of a stage: which mask is of what.  Masks are made again backward,
 * from what names them: (seed, step, sample, layer, site), and by row and
 * column of the whole tensor, so that they are the same in every layout.
 */
#include "models/gpt/stage.h"

#include <string.h>

const uint64_t *tri_gpt_masks(const tri_model *m, const slot *s, int layer,
                              int site)
{
    int i;

    for (i = 0; m->shape.dropout > 0 && i < m->place.micro_batch; i++) {
        m->masks[i] = tri_mask_key(m->text.seed, s->step, s->sample + i,
                                   (int64_t)layer * DROP_SITES + site);
    }
    return m->masks;
}

void tri_gpt_drop(const tri_model *m, const slot *s, int layer, int site,
                  tri_real *x)
{
    const uint64_t *masks;
    int64_t T = m->shape.sequence, h = m->shape.hidden, r;

    if (m->shape.dropout <= 0) {
        return;
    }
    masks = tri_gpt_masks(m, s, layer, site);
    for (r = 0; r < m->mine; r++) {
        tri_dropout(m->shape.dropout, masks[(m->row + r) / T], (m->row + r) % T,
                    h, x + r * h);
    }
}

const tri_real *tri_gpt_dropped(const tri_model *m, const slot *s, int layer,
                                int site, const tri_real *d)
{
    if (m->shape.dropout <= 0) {
        return d;
    }
    memcpy(m->d_drop, d, (size_t)(m->mine * m->shape.hidden) * sizeof *d);
    tri_gpt_drop(m, s, layer, site, m->d_drop);
    return m->d_drop;
}
