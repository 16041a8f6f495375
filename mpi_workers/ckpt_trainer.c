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
    tri_tensor *rows; /* of the state of sparse tensors, by tensor */
} parts;

/* Elements [first, first + count) of the flat arrays are at `x`: a part of each
 * tensor that is in them, without padding.  `mine`: they are this rank's to
 * save, but for tensors with one of the flags in `skip`. */
static void add_range(const tri_tensors *table, const char *set, int64_t first,
                      int64_t count, tri_real *x, int mine, unsigned skip,
                      parts *out)
{
    for (int k = 0; k < table->n; k++) {
        const tri_tensor *p = &table->at[k];
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

        add_range(t->table, set, b->own, b->n_own, x + b->at, 1, skip, out);
    }
}

/* Tables of which a step touches few rows, and a number for each row: of a
 * table split by columns those are the first rank's to save. */
static void add_sparse(const tri_trainer *t, const tri_tensors *table,
                       unsigned skip, parts *out)
{
    add_range(table, "parameters", 0, table->count, t->embed.params, 1, skip,
              out);
    for (int k = 0; k < table->n; k++) {
        const tri_tensor *p = &table->at[k];
        tri_tensor *rows = &out->rows[k];
        int mine = !(p->flags & skip) && (p->split != 1 || p->first == 0);

        *rows = *p;
        rows->n_dims = 1;
        rows->split = p->split == 0 ? 0 : -1;
        rows->count = p->split == 0 ? p->len : p->shape[0];
        out->at[out->n++] =
                (tri_ckpt_part){.set = "adagrad",
                                .tensor = rows,
                                .n = p->count > 0 ? rows->count : 0,
                                .at = t->ops->sparse_state(t->model, k),
                                .owned = mine};
    }
}

static tri_status take_room(const tri_tensors *table, const tri_tensors *sparse,
                            parts *out)
{
    int n = SETS * table->n + 2 * (sparse ? sparse->n : 0);

    *out = (parts){.at = calloc((size_t)n + 1, sizeof *out->at),
                   .rows = calloc(sparse ? (size_t)sparse->n + 1 : 1,
                                  sizeof *out->rows)};
    return out->at && out->rows
                   ? TRI_OK
                   : TRI_FAIL(TRI_ENOMEM, "no memory for a checkpoint's parts");
}

static void drop(parts *p)
{
    free(p->at);
    free(p->rows);
}

/* All that is held here.  What several ranks have whole is of the first of the
 * data and the tensor axis, a tied tensor of the first stage. */
static tri_status hold(const tri_trainer *t, parts *out)
{
    unsigned skip = TRI_TENSOR_TIED_COPY | (t->at.tp ? TRI_TENSOR_TP_COPY : 0) |
                    (t->at.dp ? TRI_TENSOR_DP_COPY : 0);
    const tri_tensors *sparse =
            t->ops->sparse ? t->ops->sparse(t->model) : NULL;
    const tri_zero *z = &t->zero;
    int64_t n = t->table->count;
    int mine = t->at.dp == 0;

    TRI_TRY(take_room(t->table, sparse, out));
    if (z->params) {
        add_range(t->table, "parameters", 0, n, z->params, mine, skip, out);
    } else {
        add_parts(t, "parameters", z->own_params, skip, out);
    }
    if (z->stage == 0) {
        add_range(t->table, "m", 0, n, z->m, mine, skip, out);
        add_range(t->table, "v", 0, n, z->v, mine, skip, out);
    } else {
        add_parts(t, "m", z->m, skip, out);
        add_parts(t, "v", z->v, skip, out);
    }
    if (sparse) {
        add_sparse(t, sparse, skip, out);
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
    drop(&p);
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
    drop(&p);
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
