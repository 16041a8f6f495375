/*
 * From how a user's process ended to its class of failure, and a sentence.
 * What counts, in this order: what the process wrote of memory; the kernel's
 * own count of processes killed for want of memory; the signal or the status;
 * the last telling line of standard error.  Knows nothing of pipes or trials.
 * Pure: no MPI, no files, no clock.
 */
#ifndef TRI_MPI_WORKERS_ENDING_H
#define TRI_MPI_WORKERS_ENDING_H

#include "mpi_workers/child.h"
#include "trireme/event.h"

/*
 * The class of an end.  `tail`: the last bytes of standard error.  [out] buf: a
 * whole predicate with the line that told most, or the last one, as in "ended
 * with status 1: ModuleNotFoundError: No module named 'torch'", for a caller
 * to put "the process of rank 3 " before it; 240 bytes are enough.
 *
 * TRI_REASON_NONE and "" for status 0.  TRI_REASON_KILLED: somebody ended it
 * (KILL, TERM, INT, HUP), and not the kernel for want of memory: not the
 * trial's doing as far as is known, so the run is *lost* without a witness and
 * no rank is struck (lost_rank -1); the second time makes it final.
 */
tri_reason tri_ending_class(const tri_child_end *end, const char *tail,
                            size_t tail_bytes, char *buf, size_t bytes);

/* Whether the end of standard error says that a port was taken already:
 * another one is worth a try. */
int tri_ending_is_port_taken(const char *tail, size_t tail_bytes);

/* The class that a trainer names in {"failure": NAME}, if it is one that it
 * may: oom-device, oom-host, nan, diverged, hung, infeasible, import-error,
 * rendezvous or bad-exit; TRI_REASON_NONE: it is not. */
tri_reason tri_ending_named(const char *name);

#endif
