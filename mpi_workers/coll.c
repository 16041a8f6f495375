/*
 * Chooses the way of an axis; agreement on a status.
 */
#include "mpi_workers/coll_ways.h"

#include "mpi_workers/words.h"

#include <string.h>

static int64_t piece_of(uint64_t bytes)
{
    int64_t piece = (int64_t)(bytes / sizeof(tri_real));

    return piece < 1024 ? 1024 : piece > 1 << 28 ? 1 << 28 : piece;
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
        TRI_TRY(tri_shared_open(comm, tri_coll_shared_bytes(c.size),
                                &c.shared));
    }
    if (c.shared) {
        c.ops = &tri_coll_shared;
        c.chunk = tri_coll_chunk(c.size);
    }
    *coll = c;
    return TRI_OK;
}

void tri_coll_close(tri_coll *coll)
{
    tri_shared_close(coll->shared);
    coll->shared = NULL;
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

void tri_coll_tell(tri_coll *coll, const void *mine, int bytes, void *all)
{
    if (is_linked(coll)) {
        *coll->link = coll->ops->tell(coll, mine, bytes, all);
    } else if (coll->size == 1) {
        memcpy(all, mine, (size_t)bytes);
    }
}

/* ---- agreement ------------------------------------------------------------
 */

typedef struct words {
    struct {
        int code, rank;
    } in, out;
    uint64_t value[2], least[2];
    char sentence[TRI_ERROR_BYTES];
} words;
_Static_assert(sizeof(words) <= TRI_WORDS_BYTES, "words of an agreement");

static words *words_in(tri_words *memory)
{
    return (words *)(void *)memory->at.bytes;
}

static tri_status share_error(MPI_Comm comm, tri_status st, int rank,
                              tri_words *memory)
{
    words *w = words_in(memory);
    MPI_Request request;
    int me;
    int rc;

    MPI_Comm_rank(comm, &me);
    if (me == rank) {
        memccpy(w->sentence, tri_error_last()->sentence, 0,
                sizeof w->sentence - 1);
    }
    rc = MPI_Ibcast(w->sentence, (int)sizeof w->sentence, MPI_CHAR, rank, comm,
                    &request);
    TRI_TRY(tri_words_wait(memory, rc, &request, comm, me == rank ? -1 : rank,
                           "agree on an error"));
    w->sentence[sizeof w->sentence - 1] = '\0';
    return me == rank ? st : TRI_FAIL(st, "%s", w->sentence);
}

tri_status tri_coll_share_error(MPI_Comm comm, tri_status st, int rank)
{
    tri_words *memory = tri_words_take();

    st = memory ? share_error(comm, st, rank, memory) : TRI_ECOMM;
    tri_words_give(memory);
    return st;
}

static tri_status agree(MPI_Comm comm, tri_status mine, tri_words *memory)
{
    words *w = words_in(memory);
    MPI_Request request;
    int rc;

    w->in.code = (int)mine;
    MPI_Comm_rank(comm, &w->in.rank);
    rc = MPI_Iallreduce(&w->in, &w->out, 1, MPI_2INT, MPI_MAXLOC, comm,
                        &request);
    TRI_TRY(tri_words_wait(memory, rc, &request, comm, -1,
                           "agree on a status"));
    return w->out.code == TRI_OK ? TRI_OK
                                 : share_error(comm, (tri_status)w->out.code,
                                               w->out.rank, memory);
}

tri_status tri_coll_agree(MPI_Comm comm, tri_status mine)
{
    tri_words *memory = tri_words_take();
    tri_status st = memory ? agree(comm, mine, memory) : TRI_ECOMM;

    tri_words_give(memory);
    return st;
}

static tri_status compare(MPI_Comm comm, uint64_t value, tri_words *memory,
                          int *same)
{
    words *w = words_in(memory);
    MPI_Request request;
    int rc;

    w->value[0] = value;
    w->value[1] = ~value;
    rc = MPI_Iallreduce(w->value, w->least, 2, MPI_UINT64_T, MPI_MIN, comm,
                        &request);
    TRI_TRY(tri_words_wait(memory, rc, &request, comm, -1,
                           "compare what it has"));
    *same = w->least[0] == ~w->least[1];
    return TRI_OK;
}

tri_status tri_coll_same(MPI_Comm comm, uint64_t value, int *same)
{
    tri_words *memory = tri_words_take();
    tri_status st = memory ? compare(comm, value, memory, same) : TRI_ECOMM;

    tri_words_give(memory);
    return st;
}
