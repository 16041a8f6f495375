/*
 * Elements from a rank to the first one of its group, as messages of up to a
 * piece, whatever the portions in which they are put and taken.  Both know how
 * many there are in all.
 */
#ifndef TRI_MPI_WORKERS_CKPT_STREAM_H
#define TRI_MPI_WORKERS_CKPT_STREAM_H

#include "trireme/model.h"

#include <mpi.h>

typedef struct tri_stream {
    MPI_Comm comm;
    int peer;
    tri_real *piece;
    int64_t at, in; /* taken of it, put into it */
    int64_t left;   /* not in a piece yet */
    tri_status st;  /* scope group; then nothing is done any more */
} tri_stream;

/* `n` elements to or from `peer`.  tri_stream_fini.  TRI_ENOMEM. */
tri_status tri_stream_init(tri_stream *s, MPI_Comm comm, int peer, int64_t n);
void tri_stream_fini(tri_stream *s);
/* The last one is sent at once. */
void tri_stream_put(tri_stream *s, const tri_real *x, int64_t n);
void tri_stream_take(tri_stream *s, tri_real *x, int64_t n);

#endif
