/*
 * The generators.  Each gives the order of forwards and backwards; slots and
 * messages are put in by one function for all.
 */
#include "mpi_workers/schedule.h"

#include <stdlib.h>

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Place on the pipeline, while a list is written. */
typedef struct writer {
    tri_schedule *s;
    const tri_schedule_shape *shape;
    int stage;
    int *slots; /* of each chunk */
    int *first; /* slot of each chunk */
} writer;

static int is_first(const writer *w, int chunk)
{
    return w->stage == 0 && chunk == 0;
}

static int is_last(const writer *w, int chunk)
{
    return w->stage == w->shape->stages - 1 && chunk == w->shape->chunks - 1;
}

/* ---- the order of work ------------------------------------------- */

static void put(tri_schedule *s, tri_op_kind kind, int chunk, int k)
{
    s->ops[s->n++] = (tri_op){.kind = kind, .k = k, .chunk = chunk};
}

/* Work number `i` of a stage: groups of p micro-batches go through the chunks
 * in turn, backward through the last chunk first. */
static void put_work(const writer *w, tri_schedule *s, tri_op_kind kind, int i)
{
    int p = w->shape->stages, v = w->shape->chunks;
    int in_group = v > 1 ? i % (p * v) : 0;
    int chunk = in_group / p;
    int k = v > 1 ? i / (p * v) * p + in_group % p : i;

    put(s, kind, kind == TRI_OP_F ? chunk : v - 1 - chunk, k);
}

/* How many forwards go before the first backward. */
static int ahead(const writer *w)
{
    const tri_schedule_shape *shape = w->shape;
    int behind = shape->stages - 1 - w->stage, all = shape->m * shape->chunks;

    if (shape->kind == TRI_SCHEDULE_GPIPE) {
        return all;
    }
    if (shape->chunks == 1) {
        return least(all, behind);
    }
    return least(all, 2 * behind + (shape->chunks - 1) * shape->stages);
}

/* Forwards and backwards alone. */
static void order(const writer *w, tri_schedule *out)
{
    int all = w->shape->m * w->shape->chunks, early = ahead(w), i;

    for (i = 0; i < early; i++) {
        put_work(w, out, TRI_OP_F, i);
    }
    for (i = 0; i < all; i++) {
        if (i + early < all) {
            put_work(w, out, TRI_OP_F, i + early);
        }
        put_work(w, out, TRI_OP_B, i);
    }
}

/* ---- slots and messages ------------------------------------------ */

/* Most micro-batches of a chunk between forward and backward. */
static int most_alive(const tri_schedule *work, int chunk)
{
    int i, alive = 0, most = 0;

    for (i = 0; i < work->n; i++) {
        if (work->ops[i].chunk == chunk) {
            alive += work->ops[i].kind == TRI_OP_F ? 1 : -1;
            most = alive > most ? alive : most;
        }
    }
    return most;
}

static void put_message(writer *w, tri_op_kind kind, int chunk, int k)
{
    put(w->s, kind, chunk, k);
    w->s->ops[w->s->n - 1].slot = w->first[chunk] + k % w->slots[chunk];
}

static void forward(writer *w, tri_op op)
{
    put_message(w, TRI_OP_F, op.chunk, op.k);
    if (!is_last(w, op.chunk)) {
        put_message(w, TRI_OP_RECV_B, op.chunk, op.k);
        put_message(w, TRI_OP_SEND_F, op.chunk, op.k);
    }
}

static void backward(writer *w, tri_op op)
{
    int next = op.k + w->slots[op.chunk];

    put_message(w, TRI_OP_B, op.chunk, op.k);
    if (!is_first(w, op.chunk)) {
        if (next < w->shape->m) {
            put_message(w, TRI_OP_RECV_F, op.chunk, next);
        }
        put_message(w, TRI_OP_SEND_B, op.chunk, op.k);
    }
}

static void write_all(writer *w, const tri_schedule *work)
{
    int c, i, k;

    for (c = 0; c < w->shape->chunks; c++) {
        for (k = 0; k < w->slots[c] && !is_first(w, c); k++) {
            put_message(w, TRI_OP_RECV_F, c, k);
        }
    }
    for (i = 0; i < work->n; i++) {
        if (work->ops[i].kind == TRI_OP_F) {
            forward(w, work->ops[i]);
        } else {
            backward(w, work->ops[i]);
        }
    }
}

/* Give each chunk its slots. */
static tri_status share_slots(writer *w, const tri_schedule *work)
{
    int c, k;

    for (c = 0; c < w->shape->chunks; c++) {
        w->first[c] = w->s->slots;
        w->slots[c] = most_alive(work, c);
        w->s->slots += w->slots[c];
    }
    w->s->chunk_of = malloc((size_t)w->s->slots * sizeof *w->s->chunk_of);
    if (!w->s->chunk_of) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a schedule");
    }
    for (c = 0; c < w->shape->chunks; c++) {
        for (k = 0; k < w->slots[c]; k++) {
            w->s->chunk_of[w->first[c] + k] = c;
        }
    }
    return TRI_OK;
}

tri_status tri_schedule_init(const tri_schedule_shape *shape, int stage,
                             tri_schedule *out)
{
    size_t chunks = (size_t)shape->chunks, all = (size_t)shape->m * chunks;
    tri_schedule s = {0}, work = {0};
    writer w = {.s = &s, .shape = shape, .stage = stage};
    tri_status st;

    s.ops = malloc(6 * all * sizeof *s.ops);
    work.ops = malloc(2 * all * sizeof *work.ops);
    w.slots = calloc(2 * chunks, sizeof *w.slots);
    if (!s.ops || !work.ops || !w.slots) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for a schedule");
        goto free_all;
    }
    w.first = w.slots + chunks;
    order(&w, &work);
    TRI_TRY_GOTO(st, share_slots(&w, &work), free_all);
    write_all(&w, &work);
    *out = s;
    s = (tri_schedule){0};
free_all:
    tri_schedule_fini(&s);
    tri_schedule_fini(&work);
    free(w.slots);
    return st;
}

void tri_schedule_fini(tri_schedule *s)
{
    free(s->ops);
    free(s->chunk_of);
    *s = (tri_schedule){0};
}
