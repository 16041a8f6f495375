/*
 * Memory that the ranks of a communicator share, where all of them are on one
 * host, and their barrier.
 *
 * It is a file without a name (memfd_create), which the others open through
 * the first one's /proc entry: nothing is left behind whoever dies when, and
 * the size of /dev/shm does not matter.
 *
 * The barrier looks at the clock and at the processes: a member that is dead
 * or late is named to all, and from then on the memory is given up for good.
 */
#ifndef TRI_MPI_WORKERS_SHARED_H
#define TRI_MPI_WORKERS_SHARED_H

#include "trireme/status.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tri_shared tri_shared;

/*
 * Collective over `comm`, borrowed until close.  [out] *out: `bytes` bytes,
 * zeroed, on a boundary of 64; NULL where the ranks cannot share memory (they
 * are on several hosts, or in containers, or one has no memory for it), which
 * is no error; tri_shared_close.  TRI_ETIMEOUT, TRI_EPEER, TRI_ECOMM.
 */
tri_status tri_shared_open(MPI_Comm comm, uint64_t bytes, tri_shared **out);
/* The same, collective over the `n` ranks of `comm` in `ranks` only, this one
 * among them; all give them in the same order.  There the barrier is theirs. */
tri_status tri_shared_open_among(MPI_Comm comm, const int *ranks, int n,
                                 uint64_t bytes, tri_shared **out);
/* Not collective; NULL is allowed. */
void tri_shared_close(tri_shared *s);

/* What hosts are told apart by: TRIREME_HOST_NAME if set, else the name; into
 * host[bytes], filled up with zeros. */
void tri_shared_host(char *host, size_t bytes);

/* Where it is. */
void *tri_shared_at(tri_shared *s);
/* What a rank wrote before is seen by all after.  TRI_ETIMEOUT: a
 * member did not come in time; TRI_EPEER: its process has ended.  What the
 * first to find it has found all get, the late one too, now and from then on,
 * and whom to blame (wait.h). */
tri_status tri_shared_barrier(tri_shared *s);
/* A member that has lost another rank of `comm`, be it none of the members,
 * gives the memory up for all, with its `st`; returns what the first to find a
 * loss has found. */
tri_status tri_shared_give_up(tri_shared *s, int rank, tri_status st);

/* Alive in this process, for leak tests. */
int tri_shared_alive(void);

#endif
