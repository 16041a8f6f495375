/*
 * Chooses the way of an axis.
 */
#include "mpi_workers/coll_ways.h"

#include <string.h>

static int64_t piece_of(uint64_t bytes)
{
    int64_t piece = (int64_t)(bytes / sizeof(tri_real));

    return piece < 1024 ? 1024 : piece > 1 << 28 ? 1 << 28 : piece;
}

/* All on one host? */
static tri_status open_shared(tri_coll *c)
{
    int64_t chunk = tri_coll_chunk(c->size);

    TRI_TRY(tri_shared_open(c->comm, tri_coll_shared_bytes(c->size, chunk),
                            &c->shared));
    if (c->shared) {
        c->ops = &tri_coll_shared;
        c->chunk = chunk;
        c->here = c->rank;
        c->n_here = c->size;
    }
    return TRI_OK;
}

/* Not all hosts can: none does. */
static void close_across(tri_coll *c)
{
    tri_shared_close(c->shared);
    tri_hosts_close(c->hosts);
    c->shared = NULL;
    c->hosts = NULL;
}

static tri_status share_here(tri_coll *c)
{
    const int *ranks;

    c->n_here = tri_hosts_here(c->hosts, &ranks);
    while (ranks[c->here] != c->rank) {
        c->here++;
    }
    c->chunk = tri_hosts_chunk(c->hosts);
    return tri_shared_open_among(c->comm, ranks, c->n_here,
                                 tri_coll_shared_bytes(c->n_here, c->chunk),
                                 &c->shared);
}

/* On several hosts: the ranks of each share memory, or MPI does all. */
static tri_status open_across(tri_coll *c)
{
    tri_status st;
    int same = 0;

    TRI_TRY(tri_hosts_open(c->comm, &c->hosts));
    if (!c->hosts) {
        return TRI_OK;
    }
    st = share_here(c);
    if (st == TRI_OK) { /* all of them, or 0 somewhere */
        uint64_t mine = c->shared ? 1 : 2 + (uint64_t)c->rank;

        st = tri_coll_same(c->comm, mine, &same);
    }
    if (st != TRI_OK || !same) {
        close_across(c);
        return st;
    }
    c->ops = &tri_coll_hosts;
    return TRI_OK;
}

tri_status tri_coll_open(tri_coll *coll, MPI_Comm comm, uint64_t piece_bytes,
                         tri_coll_way way, tri_status *link)
{
    tri_coll c = {.ops = &tri_coll_mpi,
                  .comm = comm,
                  .size = 1,
                  .piece = piece_of(piece_bytes),
                  .link = link};

    if (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &c.rank);
        MPI_Comm_size(comm, &c.size);
    }
    if (c.size > 1 && way == TRI_COLL_AUTO) {
        TRI_TRY(open_shared(&c));
    }
    if (c.size > 1 && way == TRI_COLL_AUTO && !c.shared) {
        TRI_TRY(open_across(&c));
    }
    *coll = c;
    return TRI_OK;
}

void tri_coll_close(tri_coll *coll)
{
    if (!coll->entangled) { /* else MPI may still write there */
        tri_shared_close(coll->shared);
        tri_hosts_close(coll->hosts);
    }
    coll->shared = NULL;
    coll->hosts = NULL;
}

int tri_coll_is_entangled(const tri_coll *coll)
{
    return coll->entangled;
}

void tri_coll_part(const tri_coll *coll, int rank, int64_t n, int64_t *first,
                   int64_t *count)
{
    int64_t each = n / coll->size;
    int64_t more = n % coll->size;

    *first = rank * each + (rank < more ? rank : more);
    *count = each + (rank < more);
}

/* Whether there is anything to do, and anybody to do it with. */
static int is_linked(const tri_coll *coll)
{
    return coll->size > 1 && *coll->link == TRI_OK;
}

void tri_coll_sum(tri_coll *coll, tri_real *x, int64_t n)
{
    if (is_linked(coll)) {
        *coll->link = coll->ops->sum(coll, x, n);
    }
}

void tri_coll_reduce_scatter(tri_coll *coll, tri_real *x, int64_t n)
{
    if (is_linked(coll)) {
        *coll->link = coll->ops->reduce_scatter(coll, x, n);
    }
}

void tri_coll_gather(tri_coll *coll, tri_real *x, int64_t n)
{
    if (is_linked(coll)) {
        *coll->link = coll->ops->gather(coll, x, n);
    }
}

void tri_coll_exchange(tri_coll *coll, const tri_parcels *to, const void *send,
                       const tri_parcels *from, void *recv, int most)
{
    if (is_linked(coll)) {
        *coll->link = coll->ops->exchange(coll, to, send, from, recv, most);
    } else if (coll->size == 1) {
        memcpy((char *)recv + from->at[0], (const char *)send + to->at[0],
               (size_t)to->bytes[0]);
    }
}

void tri_coll_tell(tri_coll *coll, const void *mine, int bytes, void *all)
{
    if (is_linked(coll)) {
        *coll->link = coll->ops->tell(coll, mine, bytes, all);
    } else if (coll->size == 1) {
        memcpy(all, mine, (size_t)bytes);
    }
}
