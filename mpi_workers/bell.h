/*
 * Who sleeps until a message comes may be woken by its sender, where both are
 * on rank 0's host: MPI itself only tells those who ask.  A bell is a hint and
 * no message: one that is not heard costs the sleeper the rest of its pause.
 *
 * One word a rank in a file without a name, which rank 0 makes and the others
 * open through its /proc entry (as shared.h does); ranks of other hosts have
 * none and are asked after as ever.  Ringing costs a system call only where
 * the other sleeps.
 *
 * Knows nothing of what is waited for.  Rings may come from any thread; one
 * thread of a process waits.
 */
#ifndef TRI_MPI_WORKERS_BELL_H
#define TRI_MPI_WORKERS_BELL_H

#include "mpi_workers/pause.h"

#include <stdint.h>
#include <sys/types.h>

typedef struct tri_bell tri_bell;

typedef struct tri_bell_offer { /* what rank 0 tells the others */
    uint64_t nonce;
    int32_t fd; /* < 0: there is none */
} tri_bell_offer;

/* Rank 0, for a job of `size` ranks: [out] *offer, to be told.  NULL where
 * there can be none, which is no error; tri_bell_close. */
tri_bell *tri_bell_make(int size, tri_bell_offer *offer);
/* Rank `rank` joins what process `leader` of this host offers.  NULL as
 * above. */
tri_bell *tri_bell_join(int size, int rank, pid_t leader,
                        const tri_bell_offer *offer);
/* NULL is allowed, here and below. */
void tri_bell_close(tri_bell *b);

/* Wake a rank that sleeps, or let it not fall asleep: call it when what it
 * waits for is on its way. */
void tri_bell_ring(tri_bell *b, int rank);
/* Whether a rank has joined, and so rings and is rung. */
int tri_bell_reaches(const tri_bell *b, int rank);

/* Sleep for `s` seconds, or until somebody rings; returns whether somebody
 * has since the last call returned.  Without a bell: sleep. */
int tri_bell_wait(tri_bell *b, double s);
/* Instead of tri_pause_sleep where all that is waited for rings: long from the
 * start, and short only after a ring that was ahead of its message. */
void tri_bell_pause(tri_bell *b, tri_pause *p);

#endif
