/*
 * Collectives of an axis.
 *
 * Inside a host they go through shared memory (shared.h), in chunks that stay
 * in the cache: while a rank reduces its slice of one chunk the next is put
 * there, so a chunk costs one barrier.  Sums are taken in the order of ranks,
 * each element by one rank: the same bits on all.  Across hosts each sums its
 * own part so, its lowest rank exchanges what came out with those of the other
 * hosts by messages, and the order is that of hosts, and of ranks in each.
 * Where a host's ranks cannot share memory all are nonblocking calls of MPI, in
 * pieces.  No wait is without an end: see wait.h.
 *
 * Where a collective fails the status (of scope group) is kept in *link, which
 * the axes of a trainer share, and from then on none of them does anything:
 * its user asks once, at the end of the step.  What MPI was given is then not
 * to be freed (tri_coll_is_entangled).
 */
#ifndef TRI_MPI_WORKERS_COLL_H
#define TRI_MPI_WORKERS_COLL_H

#include "trireme/model.h"

#include "mpi_workers/agree.h"
#include "mpi_workers/shared.h"

#include <mpi.h>

typedef struct tri_coll tri_coll;
typedef struct tri_hosts tri_hosts; /* coll_hosts.c */

/* All fail with a status of scope group. */
typedef struct tri_coll_ops {
    const char *name;
    tri_status (*sum)(tri_coll *coll, tri_real *x, int64_t n);
    tri_status (*reduce_scatter)(tri_coll *coll, tri_real *x, int64_t n);
    tri_status (*gather)(tri_coll *coll, tri_real *x, int64_t n);
    tri_status (*tell)(tri_coll *coll, const void *mine, int bytes, void *all);
    tri_status (*exchange)(tri_coll *coll, const tri_parcels *to,
                           const void *send, const tri_parcels *from,
                           void *recv, int most);
} tri_coll_ops;

struct tri_coll {
    const tri_coll_ops *ops;
    MPI_Comm comm; /* borrowed; MPI_COMM_NULL: an axis of one rank */
    int rank, size;
    int64_t piece; /* elements that MPI is given at a time */
    tri_status *link;
    tri_shared *shared; /* with those of this host; NULL: MPI does it */
    tri_hosts *hosts;   /* NULL: there is but one */
    int here, n_here;   /* place among those of this host, and how many */
    int64_t chunk;      /* elements put there at a time */
    uint64_t turn;      /* chunks so far: which of the two halves is next */
    int entangled;
};

/* Through which a test or a benchmark can go; AUTO elsewhere. */
typedef enum tri_coll_way {
    TRI_COLL_AUTO,
    TRI_COLL_MPI
} tri_coll_way;

/*
 * Collective over `comm`; MPI_COMM_NULL: an axis of one rank, on which
 * nothing is done.  Pieces of `piece_bytes`.  `link` is borrowed until close.
 * [out] coll: tri_coll_close.  Scope group.
 */
tri_status tri_coll_open(tri_coll *coll, MPI_Comm comm, uint64_t piece_bytes,
                         tri_coll_way way, tri_status *link);
/* Not collective. */
void tri_coll_close(tri_coll *coll);
/* Whether MPI may still write where it was told to. */
int tri_coll_is_entangled(const tri_coll *coll);

/* x[i] = sum over the ranks of x[i]. */
void tri_coll_sum(tri_coll *coll, tri_real *x, int64_t n);
/* The part of `n` elements that is rank `rank`'s: from *first, *count. */
void tri_coll_part(const tri_coll *coll, int rank, int64_t n, int64_t *first,
                   int64_t *count);
/* The next two wait for ZeRO, where a rank keeps a part of the optimizer's
 * state: the engine does not call them yet. */
/* This rank's part of x becomes the sum over the ranks; the rest is undefined.
 */
void tri_coll_reduce_scatter(tri_coll *coll, tri_real *x, int64_t n);
/* Each rank's part of x becomes everybody's. */
void tri_coll_gather(tri_coll *coll, tri_real *x, int64_t n);
/* Bytes for every rank from `send`, as `to` says, and those of every rank to
 * `recv`, as `from` does: at most `most` for one rank from another, the same
 * number on all. */
void tri_coll_exchange(tri_coll *coll, const tri_parcels *to, const void *send,
                       const tri_parcels *from, void *recv, int most);
/* Small: `bytes` bytes of each rank, at most TRI_COLL_TOLD, by rank into
 * `all`. */
#define TRI_COLL_TOLD 64
void tri_coll_tell(tri_coll *coll, const void *mine, int bytes, void *all);

#endif
