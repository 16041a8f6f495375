/*
 * Agreement, by MPI's own collectives, waited for with an end.
 */
#include "mpi_workers/agree.h"

#include "mpi_workers/words.h"

#include <string.h>

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
