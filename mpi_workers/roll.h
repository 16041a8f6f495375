/*
 * The start-up of a job that is to outlive its ranks, without collectives: in
 * the tree of a broadcast one rank that has died cuts off others that live.
 * Each rank answers rank 0 alone, and rank 0 tells each one; who does not come
 * costs nobody but itself.
 *
 * What rank 0 tells is copied and sent by itself; nobody waits for it to
 * arrive.  One thread.
 */
#ifndef TRI_MPI_WORKERS_ROLL_H
#define TRI_MPI_WORKERS_ROLL_H

#include "mpi_workers/world.h"

/* Rank 0's, for what has not arrived yet; NULL: nothing. */
typedef struct tri_roll tri_roll;

/*
 * Who is there: rank 0 waits until all have come, or for `limit_s` (or until a
 * signal ends it), and tells everybody of rank 0 and of the ranks near them, on
 * the same host or node.  [out] seats, `size of comm` of them; the host of
 * those that did not come, or are of no concern, is "".  Others wait for rank 0
 * for `start_s`.  TRI_ETIMEOUT; TRI_EPEER: this rank came too late, and the
 * others do without it; TRI_ENOMEM, TRI_ECOMM.
 */
tri_status tri_roll_call(MPI_Comm comm, const tri_seat *mine, tri_seat *seats,
                         double limit_s, double start_s, tri_roll **roll);
/* Rank 0: start to tell all the others `bytes` bytes, also those that did not
 * come, should they still.  TRI_ERANGE, TRI_ENOMEM. */
tri_status tri_roll_tell(MPI_Comm comm, const void *data, size_t bytes,
                         tri_roll **roll);
/* The others: what rank 0 told.  [out] *data, owned, and *bytes.  As above,
 * and TRI_EPEER where rank 0's process has ended. */
tri_status tri_roll_hear(MPI_Comm comm, double limit_s, void **data,
                         size_t *bytes);
/* Forget what has arrived; the rest is left to MPI. */
void tri_roll_end(tri_roll *roll);

#endif
