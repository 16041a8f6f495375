/*
 * Pipeline schedules as data.  A generator returns the operations of one
 * stage in their order; pp.c runs them; tri_schedule_check proves a set of
 * them.  Pure: no communicator, no clock.
 *
 * A pipeline of `stages` ranks with `chunks` parts of the network on each has
 * stages x chunks parts: part number chunk x stages + stage is chunk `chunk`
 * of stage `stage`, so what leaves the last stage goes on at the first with
 * the next chunk.
 *
 * A slot is the memory of one micro-batch in one chunk.  Each chunk has its
 * own, and micro-batch k lives in number k mod n of its n, from its receive
 * (or forward) to its backward.  Receives are posted as early as their slot
 * allows, so every send finds its receive posted.
 */
#ifndef TRI_MPI_WORKERS_SCHEDULE_H
#define TRI_MPI_WORKERS_SCHEDULE_H

#include "trireme/status.h"

typedef enum tri_op_kind {
    TRI_OP_F,      /* forward: waits for its input */
    TRI_OP_B,      /* backward: waits for the gradient of its output */
    TRI_OP_RECV_F, /* post the receive of an input */
    TRI_OP_SEND_F, /* start the send of an output */
    TRI_OP_RECV_B, /* post the receive of an output's gradient */
    TRI_OP_SEND_B  /* start the send of an input's gradient */
} tri_op_kind;

typedef struct tri_op {
    tri_op_kind kind;
    int k; /* micro-batch */
    int chunk;
    int slot; /* of the stage */
} tri_op;

typedef enum tri_schedule_kind {
    TRI_SCHEDULE_GPIPE,      /* all forwards, then all backwards */
    TRI_SCHEDULE_1F1B,       /* min(m, p - 1 - stage) forwards ahead, then one
                              * forward and one backward in turn */
    TRI_SCHEDULE_INTERLEAVED /* the same with chunks (Narayanan et al. 2021): p
                              * micro-batches through one chunk, then through
                              * the next; 2 (p - 1 - stage) + (chunks - 1) p
                              * forwards ahead.  With one chunk it is 1f1b */
} tri_schedule_kind;

typedef struct tri_schedule {
    tri_op *ops;
    int n;
    int slots;     /* of all chunks: most micro-batches of each alive at once */
    int *chunk_of; /* of each slot; ascending */
} tri_schedule;

/* A pipeline's shape. */
typedef struct tri_schedule_shape {
    tri_schedule_kind kind;
    int stages;
    int chunks; /* 1 but for INTERLEAVED */
    int m;      /* micro-batches; with more than one chunk p divides it */
} tri_schedule_shape;

/* The operations of `stage`.  [out] `out`: owned; tri_schedule_fini.
 * TRI_ENOMEM. */
tri_status tri_schedule_init(const tri_schedule_shape *shape, int stage,
                             tri_schedule *out);
void tri_schedule_fini(tri_schedule *s);
/*
 * Prove the schedules at[0..stages) of one pipeline: every micro-batch goes
 * forward and backward once through every chunk of every stage, forward first,
 * backwards of a chunk in the order of micro-batches; no slot is used again
 * before its backward; all messages match; and it ends even where no send
 * completes before its receive is posted.  TRI_EINTERNAL with what is wrong;
 * TRI_ENOMEM.
 */
tri_status tri_schedule_check(const tri_schedule *at,
                              const tri_schedule_shape *shape);

#endif
