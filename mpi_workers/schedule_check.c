/*
 * The proof of a pipeline's schedules: the stages are played against each
 * other, a message being there only once it is both sent and received.  It
 * knows nothing of how the lists were made.
 */
#include "mpi_workers/schedule.h"

#include <stdlib.h>

#define KINDS  6
#define NOBODY (-1)

/* A part of the pipeline, numbered along it. */
typedef int part;

/* done[(part * KINDS + kind) * m + k]: that operation was played. */
typedef struct play {
    const tri_schedule *at;
    const tri_schedule_shape *shape;
    int parts, m;
    unsigned char *done;
    int *next;      /* of each stage */
    int *backwards; /* played in each part */
    int **holder;   /* of each slot of a stage: the micro-batch in it */
    int **before;   /* ... and the one that had it before */
} play;

static unsigned char *mark(const play *p, part at, tri_op_kind kind, int k)
{
    return &p->done[((size_t)at * KINDS + (size_t)kind) * (size_t)p->m +
                    (size_t)k];
}

/* Whether the micro-batch that had the slot before has played `kind` in part
 * `at`; true where there was none. */
static int was_before(const play *p, int stage, tri_op op, part at,
                      tri_op_kind kind)
{
    int old = p->before[stage][op.slot];

    return old == NOBODY || *mark(p, at, kind, old);
}

/* Whether a forward or backward can go on now. */
static int ready(const play *p, int stage, tri_op op)
{
    part at = op.chunk * p->shape->stages + stage;
    int first = at == 0, last = at == p->parts - 1;

    if (op.kind == TRI_OP_F) {
        return (first || *mark(p, at - 1, TRI_OP_SEND_F, op.k)) &&
               (last || was_before(p, stage, op, at + 1, TRI_OP_RECV_F));
    }
    if (op.kind == TRI_OP_B) {
        return (last || *mark(p, at + 1, TRI_OP_SEND_B, op.k)) &&
               (first || was_before(p, stage, op, at - 1, TRI_OP_RECV_B));
    }
    return 1;
}

static tri_status wrong(int stage, tri_op op, const char *what)
{
    return TRI_FAIL(TRI_EINTERNAL,
                    "schedule: stage %d, operation %d of micro-batch %d in "
                    "chunk %d: %s",
                    stage, (int)op.kind, op.k, op.chunk, what);
}

/* The slot is free for who comes, and held by whom it was given to. */
static const char *slot_wrong(const play *p, int stage, tri_op op)
{
    int first = stage == 0 && op.chunk == 0;
    int comes = op.kind == TRI_OP_RECV_F || (op.kind == TRI_OP_F && first);
    int holder;

    if (op.slot < 0 || op.slot >= p->at[stage].slots ||
        p->at[stage].chunk_of[op.slot] != op.chunk) {
        return "the slot is not of its chunk";
    }
    holder = p->holder[stage][op.slot];
    if (comes && holder != NOBODY) {
        return "its slot is not free";
    }
    /* what is sent after backward is the slot's last gradient */
    if (!comes && op.kind != TRI_OP_SEND_B && holder != op.k) {
        return op.kind == TRI_OP_F ? "its input is not asked for"
                                   : "it is in another slot";
    }
    if (op.kind == TRI_OP_SEND_B && p->before[stage][op.slot] != op.k) {
        return "before its backward";
    }
    return NULL;
}

/* What must hold when an operation is reached, whatever the other stages
 * do; NULL: it does. */
static const char *order_wrong(const play *p, int stage, tri_op op)
{
    part at = op.chunk * p->shape->stages + stage;
    int first = at == 0, last = at == p->parts - 1;

    if (*mark(p, at, op.kind, op.k)) {
        return "twice";
    }
    if ((first && (op.kind == TRI_OP_RECV_F || op.kind == TRI_OP_SEND_B)) ||
        (last && (op.kind == TRI_OP_RECV_B || op.kind == TRI_OP_SEND_F))) {
        return "no neighbour there";
    }
    if (op.kind == TRI_OP_B &&
        (!*mark(p, at, TRI_OP_F, op.k) || op.k != p->backwards[at])) {
        return "out of order";
    }
    if (op.kind == TRI_OP_B && !last && !*mark(p, at, TRI_OP_RECV_B, op.k)) {
        return "its gradient is not asked for";
    }
    if ((op.kind == TRI_OP_SEND_F || op.kind == TRI_OP_RECV_B) &&
        !*mark(p, at, TRI_OP_F, op.k)) {
        return "before its forward";
    }
    return NULL;
}

static tri_status legal(const play *p, int stage, tri_op op)
{
    const char *what;

    if (op.k < 0 || op.k >= p->m || op.chunk < 0 ||
        op.chunk >= p->shape->chunks) {
        return wrong(stage, op, "no such micro-batch");
    }
    what = order_wrong(p, stage, op);
    what = what ? what : slot_wrong(p, stage, op);
    return what ? wrong(stage, op, what) : TRI_OK;
}

static void play_op(play *p, int stage, tri_op op)
{
    part at = op.chunk * p->shape->stages + stage;

    *mark(p, at, op.kind, op.k) = 1;
    if (op.kind == TRI_OP_RECV_F || op.kind == TRI_OP_F) {
        p->holder[stage][op.slot] = op.k;
    }
    if (op.kind == TRI_OP_B) {
        p->holder[stage][op.slot] = NOBODY;
        p->before[stage][op.slot] = op.k;
        p->backwards[at]++;
    }
}

/* Play `stage` as far as it goes; *moved counts operations. */
static tri_status advance(play *p, int stage, int *moved)
{
    const tri_schedule *s = &p->at[stage];

    while (p->next[stage] < s->n) {
        tri_op op = s->ops[p->next[stage]];

        TRI_TRY(legal(p, stage, op));
        if (!ready(p, stage, op)) {
            return TRI_OK;
        }
        play_op(p, stage, op);
        p->next[stage]++;
        ++*moved;
    }
    return TRI_OK;
}

static tri_status run(play *p)
{
    int moved, stage;
    part at;

    do {
        moved = 0;
        for (stage = 0; stage < p->shape->stages; stage++) {
            TRI_TRY(advance(p, stage, &moved));
        }
    } while (moved);
    for (stage = 0; stage < p->shape->stages; stage++) {
        if (p->next[stage] < p->at[stage].n) {
            return wrong(stage, p->at[stage].ops[p->next[stage]],
                         "waits for ever");
        }
    }
    for (at = 0; at < p->parts; at++) {
        if (p->backwards[at] != p->m) {
            return TRI_FAIL(TRI_EINTERNAL,
                            "schedule: part %d ends after %d of %d backwards",
                            at, p->backwards[at], p->m);
        }
    }
    return TRI_OK;
}

/* Every send of a part is received next door and the other way round. */
static tri_status matched(const play *p)
{
    part at;
    int k;

    for (at = 0; at + 1 < p->parts; at++) {
        for (k = 0; k < p->m; k++) {
            if (!*mark(p, at, TRI_OP_SEND_F, k) ||
                !*mark(p, at + 1, TRI_OP_RECV_F, k) ||
                !*mark(p, at + 1, TRI_OP_SEND_B, k) ||
                !*mark(p, at, TRI_OP_RECV_B, k)) {
                return TRI_FAIL(TRI_EINTERNAL,
                                "schedule: a message of micro-batch %d "
                                "between parts %d and %d has no partner",
                                k, at, at + 1);
            }
        }
    }
    return TRI_OK;
}

/* A row for each stage, of its slots, all NOBODY. */
static int **make_rows(const play *p)
{
    size_t slots = 0, stages = (size_t)p->shape->stages, s, i;
    int **rows, *cells;

    for (s = 0; s < stages; s++) {
        slots += (size_t)p->at[s].slots;
    }
    rows = malloc(stages * sizeof *rows + slots * sizeof *cells);
    if (!rows) {
        return NULL;
    }
    cells = (int *)(rows + stages);
    for (i = 0; i < slots; i++) {
        cells[i] = NOBODY;
    }
    for (s = 0; s < stages; s++) {
        rows[s] = cells;
        cells += p->at[s].slots;
    }
    return rows;
}

tri_status tri_schedule_check(const tri_schedule *at,
                              const tri_schedule_shape *shape)
{
    play p = {.at = at,
              .shape = shape,
              .parts = shape->stages * shape->chunks,
              .m = shape->m};
    tri_status st;

    p.done = calloc((size_t)p.parts * KINDS, (size_t)p.m);
    p.next = calloc((size_t)shape->stages, sizeof *p.next);
    p.backwards = calloc((size_t)p.parts, sizeof *p.backwards);
    p.holder = make_rows(&p);
    p.before = make_rows(&p);
    if (!p.done || !p.next || !p.backwards || !p.holder || !p.before) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory to check a schedule");
        goto free_all;
    }
    TRI_TRY_GOTO(st, run(&p), free_all);
    st = matched(&p);
free_all:
    free(p.done);
    free(p.next);
    free(p.backwards);
    free(p.holder);
    free(p.before);
    return st;
}
