/*
 * Pipeline schedules as data.  A generator returns the operations of one
 * stage in their order; pp.c runs them; tri_schedule_check proves a set of
 * them.  Pure: no communicator, no clock.
 *
 * Micro-batch k lives in slot k mod `slots` from its receive (or forward) to
 * its backward.  Receives are posted as early as their slot allows, so every
 * send finds its receive posted.
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
} tri_op;

typedef enum tri_schedule_kind {
    TRI_SCHEDULE_GPIPE, /* all forwards, then all backwards */
    TRI_SCHEDULE_1F1B   /* min(m, p - 1 - stage) forwards ahead, then one
                         * forward and one backward in turn */
} tri_schedule_kind;

typedef struct tri_schedule {
    tri_op *ops;
    int n;
    int slots;
} tri_schedule;

/* Micro-batches alive at a time: m for gpipe, min(m, p - stage) for 1f1b. */
int tri_schedule_slots(tri_schedule_kind kind, int stages, int stage, int m);
/* The operations of `stage` of `stages` with m micro-batches.  [out] `out`:
 * owned; tri_schedule_fini.  TRI_ENOMEM. */
tri_status tri_schedule_init(tri_schedule_kind kind, int stages, int stage,
                             int m, tri_schedule *out);
void tri_schedule_fini(tri_schedule *s);
/*
 * Prove the schedules at[0..stages) of one pipeline: every micro-batch goes
 * forward and backward once on every stage, forward first, backwards in the
 * order of micro-batches; no slot is used again before its backward; all
 * messages match; and it ends even where no send completes before its
 * receive is posted.  TRI_EINTERNAL with what is wrong; TRI_ENOMEM.
 */
tri_status tri_schedule_check(const tri_schedule *at, int stages, int m);

#endif
