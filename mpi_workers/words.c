/*
 * One piece of memory for small collectives.  Knows nothing of what is said.
 */
#include "mpi_workers/words.h"

#include "mpi_workers/wait.h"

#include <stdlib.h>
#include <string.h>

static tri_words own;

tri_words *tri_words_take(void)
{
    tri_words *w = &own;

    if (own.is_taken) {
        w = calloc(1, sizeof *w);
        if (!w) {
            (void)TRI_FAIL(TRI_ECOMM, "no memory for a word to the group");
            return NULL;
        }
    }
    memset(w, 0, sizeof *w);
    w->is_taken = 1;
    return w;
}

void tri_words_give(tri_words *w)
{
    if (!w || w->is_pending) {
        return; /* it is MPI's */
    }
    if (w == &own) {
        own.is_taken = 0;
    } else {
        free(w);
    }
}

tri_status tri_words_wait(tri_words *w, int rc, MPI_Request *request,
                          MPI_Comm comm, int rank, const char *aim)
{
    if (rc != MPI_SUCCESS) {
        return TRI_FAIL(TRI_ECOMM, "the group could not %s", aim);
    }
    w->is_pending = 1;
    TRI_TRY(tri_wait_until(request, comm, rank, TRI_NO_DEADLINE));
    w->is_pending = 0;
    return TRI_OK;
}
