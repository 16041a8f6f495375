/*
 * The proof of a pipeline's schedules: the stages are played against each
 * other, a message being there only once it is both sent and received.  It
 * knows nothing of how the lists were made.
 */
#include "mpi_workers/schedule.h"

#include <stdlib.h>

#define KINDS 6

/* done[(stage * KINDS + kind) * m + k]: that operation was played. */
typedef struct play {
    const tri_schedule *at;
    int stages, m;
    unsigned char *done;
    int *next;      /* of each stage */
    int *backwards; /* played on each stage */
} play;

static unsigned char *mark(const play *p, int stage, tri_op_kind kind, int k)
{
    return &p->done[((size_t)stage * KINDS + (size_t)kind) * (size_t)p->m +
                    (size_t)k];
}

/* Whether micro-batch k - slots, which had the slot before, has played
 * `kind` on `stage`; true where there was none. */
static int before(const play *p, int holder, int stage, tri_op_kind kind, int k)
{
    int old = k - p->at[holder].slots;

    return old < 0 || *mark(p, stage, kind, old);
}

/* Whether a forward or backward can go on now. */
static int ready(const play *p, int stage, tri_op op)
{
    int first = stage == 0, last = stage == p->stages - 1;

    if (op.kind == TRI_OP_F) {
        return (first || *mark(p, stage - 1, TRI_OP_SEND_F, op.k)) &&
               (last || before(p, stage, stage + 1, TRI_OP_RECV_F, op.k));
    }
    if (op.kind == TRI_OP_B) {
        return (last || *mark(p, stage + 1, TRI_OP_SEND_B, op.k)) &&
               (first || before(p, stage, stage - 1, TRI_OP_RECV_B, op.k));
    }
    return 1;
}

static tri_status wrong(int stage, tri_op op, const char *what)
{
    return TRI_FAIL(TRI_EINTERNAL,
                    "schedule: stage %d, operation %d of micro-batch %d: %s",
                    stage, (int)op.kind, op.k, what);
}

/* What must hold when an operation is reached, whatever the other stages
 * do. */
static tri_status legal(const play *p, int stage, tri_op op)
{
    int first = stage == 0, last = stage == p->stages - 1;
    int is_f = op.kind == TRI_OP_F, is_b = op.kind == TRI_OP_B;

    if (op.k < 0 || op.k >= p->m) {
        return wrong(stage, op, "no such micro-batch");
    }
    if (*mark(p, stage, op.kind, op.k)) {
        return wrong(stage, op, "twice");
    }
    if ((first && (op.kind == TRI_OP_RECV_F || op.kind == TRI_OP_SEND_B)) ||
        (last && (op.kind == TRI_OP_RECV_B || op.kind == TRI_OP_SEND_F))) {
        return wrong(stage, op, "no neighbour there");
    }
    if ((is_f || op.kind == TRI_OP_RECV_F) &&
        !before(p, stage, stage, TRI_OP_B, op.k)) {
        return wrong(stage, op, "its slot is not free");
    }
    if (is_f && !first && !*mark(p, stage, TRI_OP_RECV_F, op.k)) {
        return wrong(stage, op, "its input is not asked for");
    }
    if (is_b &&
        (!*mark(p, stage, TRI_OP_F, op.k) || op.k != p->backwards[stage])) {
        return wrong(stage, op, "out of order");
    }
    if (is_b && !last && !*mark(p, stage, TRI_OP_RECV_B, op.k)) {
        return wrong(stage, op, "its gradient is not asked for");
    }
    if ((op.kind == TRI_OP_SEND_F || op.kind == TRI_OP_RECV_B) &&
        !*mark(p, stage, TRI_OP_F, op.k)) {
        return wrong(stage, op, "before its forward");
    }
    if (op.kind == TRI_OP_SEND_B && !*mark(p, stage, TRI_OP_B, op.k)) {
        return wrong(stage, op, "before its backward");
    }
    return TRI_OK;
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
        *mark(p, stage, op.kind, op.k) = 1;
        p->backwards[stage] += op.kind == TRI_OP_B;
        p->next[stage]++;
        ++*moved;
    }
    return TRI_OK;
}

static tri_status run(play *p)
{
    int moved, stage;

    do {
        moved = 0;
        for (stage = 0; stage < p->stages; stage++) {
            TRI_TRY(advance(p, stage, &moved));
        }
    } while (moved);
    for (stage = 0; stage < p->stages; stage++) {
        if (p->next[stage] < p->at[stage].n) {
            return wrong(stage, p->at[stage].ops[p->next[stage]],
                         "waits for ever");
        }
        if (p->backwards[stage] != p->m) {
            return TRI_FAIL(TRI_EINTERNAL,
                            "schedule: stage %d ends after %d of %d backwards",
                            stage, p->backwards[stage], p->m);
        }
    }
    return TRI_OK;
}

/* Every send of a stage is received next door and the other way round. */
static tri_status matched(const play *p)
{
    int s, k;

    for (s = 0; s + 1 < p->stages; s++) {
        for (k = 0; k < p->m; k++) {
            if (!*mark(p, s, TRI_OP_SEND_F, k) ||
                !*mark(p, s + 1, TRI_OP_RECV_F, k) ||
                !*mark(p, s + 1, TRI_OP_SEND_B, k) ||
                !*mark(p, s, TRI_OP_RECV_B, k)) {
                return TRI_FAIL(TRI_EINTERNAL,
                                "schedule: a message of micro-batch %d "
                                "between stages %d and %d has no partner",
                                k, s, s + 1);
            }
        }
    }
    return TRI_OK;
}

tri_status tri_schedule_check(const tri_schedule *at, int stages, int m)
{
    play p = {.at = at, .stages = stages, .m = m};
    tri_status st;

    p.done = calloc((size_t)stages * KINDS, (size_t)m);
    p.next = calloc((size_t)stages, sizeof *p.next);
    p.backwards = calloc((size_t)stages, sizeof *p.backwards);
    if (!p.done || !p.next || !p.backwards) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory to check a schedule");
        goto free_all;
    }
    TRI_TRY_GOTO(st, run(&p), free_all);
    st = matched(&p);
free_all:
    free(p.done);
    free(p.next);
    free(p.backwards);
    return st;
}
