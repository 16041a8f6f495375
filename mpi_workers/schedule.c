/*
 * The generators.  Each gives the order of forwards and backwards; messages
 * are put in by one function for all.
 */
#include "mpi_workers/schedule.h"

#include <stdlib.h>

static int least(int a, int b)
{
    return a < b ? a : b;
}

int tri_schedule_slots(tri_schedule_kind kind, int stages, int stage, int m)
{
    return kind == TRI_SCHEDULE_GPIPE ? m : least(m, stages - stage);
}

/* Place on the pipeline, while a list is written. */
typedef struct writer {
    tri_schedule *s;
    int stages, stage, m;
} writer;

static void put(writer *w, tri_op_kind kind, int k)
{
    w->s->ops[w->s->n++] = (tri_op){.kind = kind, .k = k};
}

static void forward(writer *w, int k)
{
    put(w, TRI_OP_F, k);
    if (w->stage + 1 < w->stages) {
        put(w, TRI_OP_RECV_B, k);
        put(w, TRI_OP_SEND_F, k);
    }
}

static void backward(writer *w, int k)
{
    put(w, TRI_OP_B, k);
    if (w->stage > 0) {
        if (k + w->s->slots < w->m) {
            put(w, TRI_OP_RECV_F, k + w->s->slots);
        }
        put(w, TRI_OP_SEND_B, k);
    }
}

static void gpipe(writer *w)
{
    int k;

    for (k = 0; k < w->m; k++) {
        forward(w, k);
    }
    for (k = 0; k < w->m; k++) {
        backward(w, k);
    }
}

static void one_f_one_b(writer *w)
{
    int ahead = least(w->m, w->stages - 1 - w->stage);
    int k;

    for (k = 0; k < ahead; k++) {
        forward(w, k);
    }
    for (k = 0; k < w->m; k++) {
        if (k + ahead < w->m) {
            forward(w, k + ahead);
        }
        backward(w, k);
    }
}

tri_status tri_schedule_init(tri_schedule_kind kind, int stages, int stage,
                             int m, tri_schedule *out)
{
    tri_schedule s = {.slots = tri_schedule_slots(kind, stages, stage, m)};
    writer w = {.s = &s, .stages = stages, .stage = stage, .m = m};
    int k;

    s.ops = malloc(6 * (size_t)m * sizeof *s.ops);
    if (!s.ops) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a schedule");
    }
    if (stage > 0) {
        for (k = 0; k < least(s.slots, m); k++) {
            put(&w, TRI_OP_RECV_F, k);
        }
    }
    if (kind == TRI_SCHEDULE_GPIPE) {
        gpipe(&w);
    } else {
        one_f_one_b(&w);
    }
    *out = s;
    return TRI_OK;
}

void tri_schedule_fini(tri_schedule *s)
{
    free(s->ops);
    *s = (tri_schedule){0};
}
