/*
 * Memory of small collectives, which is not to be freed while MPI may still
 * write there, and which is always to be had: a rank that stayed away for want
 * of it would be waited for by all others.
 *
 * There is one, for the thread that calls MPI.  Where the wait for a message
 * fails it is MPI's for good, and the next ones are allocated.
 */
#ifndef TRI_MPI_WORKERS_WORDS_H
#define TRI_MPI_WORKERS_WORDS_H

#include "trireme/status.h"

#include <mpi.h>
#include <stdint.h>

#define TRI_WORDS_BYTES 1024

typedef struct tri_words {
    int is_taken, is_pending;
    union {
        char bytes[TRI_WORDS_BYTES];
        int64_t integer;
        double real;
    } at;
} tri_words;

/* Zeroed; tri_words_give.  NULL, with TRI_ECOMM said, only where a wait has
 * failed before and there is no memory. */
tri_words *tri_words_take(void);
/* Done with; where MPI may still write there they are left to it.  NULL is
 * allowed. */
void tri_words_give(tri_words *w);
/*
 * Wait for what was started in `w` with the result `rc`, as tri_wait_until
 * does; `aim`, for the sentence: what the group is about to do.  TRI_ETIMEOUT,
 * TRI_EPEER, TRI_ECOMM: MPI may still write there.
 */
tri_status tri_words_wait(tri_words *w, int rc, MPI_Request *request,
                          MPI_Comm comm, int rank, const char *aim);

#endif
