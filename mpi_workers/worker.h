/*
 * A rank of the pool: what it knows, and how it stays in touch with rank 0
 * while it waits, forms or runs.
 */
#ifndef TRI_MPI_WORKERS_WORKER_H
#define TRI_MPI_WORKERS_WORKER_H

#include "mpi_workers/channel.h"
#include "mpi_workers/group.h"
#include "mpi_workers/process_base.h"
#include "mpi_workers/tree.h"
#include "mpi_workers/world.h"
#include "trireme/study.h"

/* A worker that hears nothing from rank 0 for so long ends itself: 60 s, less
 * in tests. */
extern double tri_worker_lease_s;
#define TRI_BEAT_S 1.0

typedef struct tri_worker {
    tri_world world;
    tri_channel *channel;
    tri_groups *groups;
    tri_study *study;
    tri_process_base *base; /* of process trials; else NULL */
    int epoch;
    tri_remover *remover; /* of checkpoints that nobody was told of */
    int said_unsaved;     /* that a run goes without a checkpoint */
    int blind;            /* rank 0's folder of checkpoints is not seen here */
    uint64_t quota_bytes;
    double heard_s; /* when rank 0 last said anything */
    double beat_s;  /* when the next beat is due */
    double look_s;  /* when rank 0's process is looked at again */
    int outlives;   /* the job outlives a rank's end: level heartbeat */
    int drained;    /* this rank's drain signal was passed on */
    int has_lost;   /* ranks were struck: nothing is collective any more */
    int leaving;    /* rank 0 said leave */
    int dying;      /* a signal, or no lease: end without ceremony */
} tri_worker;

/* Stay in touch: beats, this rank's signals, the lease.  Called often. */
void tri_worker_tend(tri_worker *w);
/* The next message from rank 0 that is not mere presence, as
 * tri_channel_receive; beats and leave are handled here. */
int tri_worker_receive(tri_worker *w, tri_message *out);
/* Send to rank 0; a failure is logged. */
void tri_worker_send(tri_worker *w, const tri_message *m);

/* Signals noted on this process (tri_net_signal): how many to drain, how many
 * to end at once. */
int tri_worker_signals(int *end);
void tri_worker_note_signal(int signo);
/* Forget them: another opening begins in this process. */
void tri_worker_forget_signals(void);

#endif
