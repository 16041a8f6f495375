/*
 * Collectives inside a host, through shared memory.
 *
 * There are two halves, used in turn.  Each has a place for every rank, of a
 * chunk, and one for the sums.  Of a chunk a rank owns a slice:
 *
 *     put chunk 0; barrier
 *     for each chunk: sum my slice of it, put the next chunk; barrier;
 *                     take the others' sums
 *
 * A rank that puts chunk k + 2 into the half of chunk k has passed the barrier
 * that follows the put of k + 1, which a rank reaches when it has summed its
 * slice of k: nobody reads what was put of k any more.  Others may still be
 * taking the sums of k, but those are written over one barrier later, by ranks
 * that all had to come to it: two halves are enough, across calls as well.  A
 * rank's own slice is not put: it reads its own array, and writes the sum
 * there.
 *
 * What is small is put, and summed by everybody: one barrier.
 *
 * Across hosts this is each host's part of a sum: behind the second barrier the
 * first rank of it exchanges the sums (coll_hosts.c), and a third follows.
 */
#include "mpi_workers/coll_ways.h"

#include <string.h>

/* What a rank sums between two barriers, and what it puts there: smaller it is
 * more barrier than work, the more so where ranks outnumber cores; larger it
 * leaves the cache. */
#define SLICE_BYTES ((int64_t)64 << 10)
#define LEAST_BYTES ((int64_t)256 << 10)
#define MOST_BYTES  ((int64_t)512 << 10)
/* Up to here everybody sums everything. */
#define SMALL_BYTES ((int64_t)4 << 10)

#define REAL ((int64_t)sizeof(tri_real))

/* Elements on a boundary of a cache line. */
static int64_t aligned(int64_t n)
{
    int64_t line = 64 / REAL;

    return (n + line - 1) / line * line;
}

int64_t tri_coll_chunk(int size)
{
    int64_t bytes = SLICE_BYTES * size;

    bytes = bytes < LEAST_BYTES ? LEAST_BYTES : bytes;
    bytes = bytes > MOST_BYTES ? MOST_BYTES : bytes;
    bytes = bytes < 16 * REAL * size ? 16 * REAL * size : bytes;
    return bytes / 64 * 64 / REAL;
}

uint64_t tri_coll_shared_bytes(int size, int64_t chunk)
{
    return (uint64_t)(2 * (size + 1) * chunk * REAL);
}

tri_real *tri_coll_place(const tri_coll *c, uint64_t turn, int here)
{
    tri_real *at = tri_shared_at(c->shared);

    return at + ((int64_t)(turn & 1) * (c->n_here + 1) + here) * c->chunk;
}

static tri_real *place(const tri_coll *c, uint64_t turn, int here)
{
    return tri_coll_place(c, turn, here);
}

/* The slice of `n` elements that `rank` owns. */
static void slice(const tri_coll *c, int rank, int64_t n, int64_t *from,
                  int64_t *to)
{
    int64_t each = aligned((n + c->n_here - 1) / c->n_here);

    *from = rank * each < n ? rank * each : n;
    *to = *from + each < n ? *from + each : n;
}

static void copy(tri_real *to, const tri_real *from, int64_t n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* Put a chunk, but for the slice between `from` and `to`. */
static void put(const tri_coll *c, uint64_t turn, const tri_real *x, int64_t n,
                int64_t from, int64_t to)
{
    tri_real *mine = place(c, turn, c->here);

    copy(mine, x, from);
    copy(mine + to, x + to, n - to);
}

static void add(tri_real *restrict sum, const tri_real *restrict x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        sum[i] += x[i];
    }
}

static void add_two(tri_real *restrict sum, const tri_real *restrict x,
                    const tri_real *restrict y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        sum[i] = x[i] + y[i];
    }
}

/* What `rank` brings from `from` on; this rank's was not put. */
static const tri_real *brought(const tri_coll *c, uint64_t turn, int rank,
                               const tri_real *own, int64_t from)
{
    return rank == c->here ? own : place(c, turn, rank) + from;
}

/* Sum from..to in the order of ranks, into the place of sums; `own` is this
 * rank's part of it. */
static void reduce(const tri_coll *c, uint64_t turn, const tri_real *own,
                   int64_t from, int64_t to)
{
    tri_real *sum = place(c, turn, c->n_here) + from;

    if (c->n_here == 1) {
        copy(sum, own, to - from);
        return;
    }
    add_two(sum, brought(c, turn, 0, own, from), brought(c, turn, 1, own, from),
            to - from);
    for (int rank = 2; rank < c->n_here; rank++) {
        add(sum, brought(c, turn, rank, own, from), to - from);
    }
}

/* All that was put, from the start. */
static void add_all(const tri_coll *c, uint64_t turn, tri_real *sum, int64_t n)
{
    copy(sum, place(c, turn, 0), n);
    for (int rank = 1; rank < c->n_here; rank++) {
        add(sum, place(c, turn, rank), n);
    }
}

/* All is put in one place, and everybody sums it; across hosts the first one
 * does, and exchanges it. */
static tri_status sum_small(tri_coll *c, tri_real *x, int64_t n)
{
    uint64_t turn = c->turn++;
    tri_real sum[SMALL_BYTES / sizeof(tri_real)];
    tri_real *sums = place(c, turn, c->n_here);

    copy(place(c, turn, c->here), x, n);
    TRI_TRY(tri_shared_barrier(c->shared));
    if (!c->hosts) {
        add_all(c, turn, sum, n);
        copy(x, sum, n);
        return TRI_OK;
    }
    if (c->here == 0) {
        add_all(c, turn, sums, n);
    }
    TRI_TRY(tri_hosts_add(c, sums, n));
    copy(x, sums, n);
    return TRI_OK;
}

static int64_t length(const tri_coll *c, int64_t n, int64_t at)
{
    return n - at < c->chunk ? n - at : c->chunk;
}

/* Put the chunk at `at`, if there is one. */
static void put_at(const tri_coll *c, uint64_t turn, const tri_real *x,
                   int64_t n, int64_t at)
{
    int64_t from;
    int64_t to;

    if (at < n) {
        slice(c, c->here, length(c, n, at), &from, &to);
        put(c, turn, x + at, length(c, n, at), from, to);
    }
}

tri_status tri_coll_shared_sum(tri_coll *c, tri_real *x, int64_t n)
{
    if (n * REAL <= SMALL_BYTES) {
        return n > 0 ? sum_small(c, x, n) : TRI_OK;
    }
    put_at(c, c->turn, x, n, 0);
    TRI_TRY(tri_shared_barrier(c->shared));
    for (int64_t at = 0; at < n; at += c->chunk) {
        uint64_t turn = c->turn++;
        int64_t len = length(c, n, at);
        tri_real *sums = place(c, turn, c->n_here);
        int64_t from;
        int64_t to;

        slice(c, c->here, len, &from, &to);
        reduce(c, turn, x + at + from, from, to);
        put_at(c, turn + 1, x, n, at + c->chunk);
        TRI_TRY(tri_shared_barrier(c->shared));
        if (c->hosts) {
            TRI_TRY(tri_hosts_add(c, sums, len));
        }
        copy(x + at, sums, len);
    }
    return TRI_OK;
}

/* Rank by rank, each one's part in chunks of what all have put. */
static tri_status reduce_scatter(tri_coll *c, tri_real *x, int64_t n)
{
    int64_t most = (n + c->size - 1) / c->size;
    int64_t some = c->chunk / c->size / 16 * 16;
    int64_t mine;
    int64_t count;

    tri_coll_part(c, c->rank, n, &mine, &count);
    for (int64_t at = 0; at < most; at += some) {
        uint64_t turn = c->turn++;
        int64_t len;

        for (int rank = 0; rank < c->size; rank++) {
            int64_t first;

            tri_coll_part(c, rank, n, &first, &len);
            len = len - at < some ? len - at : some;
            if (rank != c->rank && len > 0) {
                copy(place(c, turn, c->rank) + rank * some, x + first + at,
                     len);
            }
        }
        TRI_TRY(tri_shared_barrier(c->shared));
        len = count - at < some ? count - at : some;
        if (len > 0) {
            tri_real *into = place(c, turn, c->size) + c->rank * some;

            reduce(c, turn, x + mine + at, c->rank * some,
                   c->rank * some + len);
            copy(x + mine + at, into, len);
        }
    }
    return TRI_OK;
}

static tri_status gather(tri_coll *c, tri_real *x, int64_t n)
{
    int64_t most = (n + c->size - 1) / c->size;
    int64_t first;
    int64_t count;

    for (int64_t at = 0; at < most; at += c->chunk) {
        uint64_t turn = c->turn++;

        tri_coll_part(c, c->rank, n, &first, &count);
        if (at < count) {
            copy(place(c, turn, c->rank), x + first + at, length(c, count, at));
        }
        TRI_TRY(tri_shared_barrier(c->shared));
        for (int rank = 0; rank < c->size; rank++) {
            tri_coll_part(c, rank, n, &first, &count);
            if (rank != c->rank && at < count) {
                copy(x + first + at, place(c, turn, rank),
                     length(c, count, at));
            }
        }
    }
    return TRI_OK;
}

static tri_status tell(tri_coll *c, const void *mine, int bytes, void *all)
{
    uint64_t turn = c->turn++;

    memcpy(place(c, turn, c->rank), mine, (size_t)bytes);
    TRI_TRY(tri_shared_barrier(c->shared));
    for (int rank = 0; rank < c->size; rank++) {
        memcpy((char *)all + (size_t)rank * (size_t)bytes, place(c, turn, rank),
               (size_t)bytes);
    }
    return TRI_OK;
}

/* Bytes of a piece of `bytes` that go in the round from `at` on. */
static int64_t piece(int bytes, int64_t at, int64_t some)
{
    int64_t left = bytes - at;

    return left < 0 ? 0 : left < some ? left : some;
}

/* A rank's place in rounds, an even part of it for everyone. */
static tri_status exchange(tri_coll *c, const tri_parcels *to, const void *send,
                           const tri_parcels *from, void *recv, int most)
{
    int64_t some = c->chunk * REAL / c->size / 64 * 64;

    memcpy((char *)recv + from->at[c->rank],
           (const char *)send + to->at[c->rank], (size_t)to->bytes[c->rank]);
    for (int64_t at = 0; at < most; at += some) {
        uint64_t turn = c->turn++;
        char *mine = (char *)place(c, turn, c->rank);

        for (int rank = 0; rank < c->size; rank++) {
            if (rank != c->rank) {
                memcpy(mine + rank * some,
                       (const char *)send + to->at[rank] + at,
                       (size_t)piece(to->bytes[rank], at, some));
            }
        }
        TRI_TRY(tri_shared_barrier(c->shared));
        for (int rank = 0; rank < c->size; rank++) {
            const char *theirs = (const char *)place(c, turn, rank);

            if (rank != c->rank) {
                memcpy((char *)recv + from->at[rank] + at,
                       theirs + c->rank * some,
                       (size_t)piece(from->bytes[rank], at, some));
            }
        }
    }
    return TRI_OK;
}

const tri_coll_ops tri_coll_shared = {.name = "shared memory",
                                      .sum = tri_coll_shared_sum,
                                      .reduce_scatter = reduce_scatter,
                                      .gather = gather,
                                      .tell = tell,
                                      .exchange = exchange};
