/*
 * Streams of elements.
 */
#include "mpi_workers/ckpt_stream.h"

#include "mpi_workers/ckpt_list.h"
#include "mpi_workers/p2p.h"

#include <stdlib.h>
#include <string.h>

/* Elements of a message: a group of 64 ranks takes 16 MiB at the first one. */
#define PIECE ((int64_t)(256 * 1024 / sizeof(tri_real)))

enum {
    TAG_PIECE = 211
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

tri_status tri_stream_init(tri_stream *s, MPI_Comm comm, int peer, int64_t n)
{
    *s = (tri_stream){.comm = comm, .peer = peer, .left = n};
    s->piece = malloc((size_t)least(PIECE, n + 1) * sizeof *s->piece);
    return s->piece ? TRI_OK
                    : TRI_FAIL(TRI_ENOMEM,
                               "no memory for a piece of a checkpoint");
}

void tri_stream_fini(tri_stream *s)
{
    free(s->piece);
    s->piece = NULL;
}

void tri_stream_put(tri_stream *s, const tri_real *x, int64_t n)
{
    while (n > 0 && s->st == TRI_OK) {
        int64_t some = least(n, PIECE - s->in);

        memcpy(s->piece + s->in, x, (size_t)some * sizeof *x);
        s->in += some;
        s->left -= some;
        x += some;
        n -= some;
        if (s->in == PIECE || s->left == 0) {
            s->st = tri_p2p_send(s->comm, s->peer, TAG_PIECE, s->piece,
                                 (int)((size_t)s->in * sizeof *x),
                                 TRI_CKPT_PATIENCE_S);
            s->in = 0;
        }
    }
}

void tri_stream_take(tri_stream *s, tri_real *x, int64_t n)
{
    while (n > 0 && s->st == TRI_OK) {
        int64_t some;

        if (s->at == s->in) {
            s->at = 0;
            s->in = least(PIECE, s->left);
            s->left -= s->in;
            s->st = tri_p2p_receive(s->comm, s->peer, TAG_PIECE, s->piece,
                                    (int)((size_t)s->in * sizeof *x),
                                    TRI_CKPT_PATIENCE_S);
            continue;
        }
        some = least(n, s->in - s->at);
        memcpy(x, s->piece + s->at, (size_t)some * sizeof *x);
        s->at += some;
        x += some;
        n -= some;
    }
}
