/*
 * The state of a trainer as parts of tensors: what this rank holds, and what of
 * it is its own to save.
 */
#include "mpi_workers/trainer_inside.h"
#include "mpi_workers/zero_inside.h"

#include <stdio.h>
#include <stdlib.h>

#define SETS 3

/* Parts of a trainer; at most `room` of them. */
typedef struct parts {
    tri_ckpt_part *at;
    int n;
} parts;

/* Elements [first, first + count) of the flat arrays are at `x`: a part of each
 * tensor that is in them, without padding.  `mine`: they are this rank's to
 * save, but for tensors with one of the flags in `skip`. */
static void add_range(const tri_trainer *t, const char *set, int64_t first,
                      int64_t count, tri_real *x, int mine, unsigned skip,
                      parts *out)
{
    for (int k = 0; k < t->table->n; k++) {
        const tri_tensor *p = &t->table->at[k];
        int64_t lo = p->offset > first ? p->offset : first;
        int64_t hi = p->offset + p->count < first + count ? p->offset + p->count
                                                          : first + count;

        if (hi > lo) {
            out->at[out->n++] =
                    (tri_ckpt_part){.set = set,
                                    .tensor = p,
                                    .from = lo - p->offset,
                                    .n = hi - lo,
                                    .at = x + (lo - first),
                                    .owned = mine && !(p->flags & skip)};
        }
    }
}

/* The same of an array of parts: this rank's of each bucket, all its own. */
static void add_parts(const tri_trainer *t, const char *set, tri_real *x,
                      unsigned skip, parts *out)
{
    for (int k = 0; k < t->zero.n; k++) {
        const tri_bucket *b = &t->zero.buckets[k];

        add_range(t, set, b->own, b->n_own, x + b->at, 1, skip, out);
    }
}

/* All that is held here.  What several ranks have whole is of the first of the
 * data and the tensor axis, a tied tensor of the first stage. */
static tri_status hold(const tri_trainer *t, parts *out)
{
    unsigned skip = TRI_TENSOR_TIED_COPY | (t->at.tp ? TRI_TENSOR_TP_COPY : 0);
    const tri_zero *z = &t->zero;
    int64_t n = t->table->count;
    int mine = t->at.dp == 0;

    out->n = 0;
    out->at = calloc((size_t)t->table->n * SETS + 1, sizeof *out->at);
    if (!out->at) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a checkpoint's parts");
    }
    if (z->params) {
        add_range(t, "parameters", 0, n, z->params, mine, skip, out);
    } else {
        add_parts(t, "parameters", z->own_params, skip, out);
    }
    if (z->stage == 0) {
        add_range(t, "m", 0, n, z->m, mine, skip, out);
        add_range(t, "v", 0, n, z->v, mine, skip, out);
    } else {
        add_parts(t, "m", z->m, skip, out);
        add_parts(t, "v", z->v, skip, out);
    }
    return TRI_OK;
}

tri_status tri_trainer_save(tri_trainer *t, const char *path, tri_ckpt_way way,
                            const char *configuration, uint64_t *bytes)
{
    tri_ckpt_head head = {.step = t->steps,
                          .samples = t->steps * t->layout.global_batch,
                          .seed = t->seed,
                          .first_loss = t->first_loss};
    parts p;
    tri_status st = tri_coll_agree(t->mesh.group, hold(t, &p));

    if (st == TRI_OK) {
        snprintf(head.configuration, sizeof head.configuration, "%s",
                 configuration);
        st = tri_ckpt_save(t->mesh.group, path, way, &head, p.at, p.n, bytes);
    }
    free(p.at);
    return st;
}

tri_status tri_trainer_load(tri_trainer *t, const char *path)
{
    tri_ckpt_head head;
    parts p;
    tri_status st = tri_coll_agree(t->mesh.group, hold(t, &p));

    if (st == TRI_OK) {
        st = tri_ckpt_load(t->mesh.group, path, p.at, p.n, &head);
    }
    free(p.at);
    TRI_TRY(st);
    if (head.seed != t->seed) { /* the same on all ranks */
        return TRI_FAIL(TRI_EMALFORMED,
                        "'%s' is of another training: its seed is %llu, "
                        "expected %llu",
                        path, (unsigned long long)head.seed,
                        (unsigned long long)t->seed);
    }
    tri_hold_forget(&t->zero);
    t->steps = head.step;
    t->first_loss = head.first_loss;
    return TRI_OK;
}
