/*
 * The training text as bytes: a file read into memory, so that nothing that
 * happens to the file later can harm a run.  The one place where the engine
 * opens files.
 */
#ifndef TRI_MPI_WORKERS_CORPUS_H
#define TRI_MPI_WORKERS_CORPUS_H

#include "trireme/status.h"

#include <stdint.h>

/* Each rank holds the text: more than this is refused. */
#define TRI_CORPUS_MOST_BYTES ((int64_t)1 << 30)

typedef struct tri_corpus {
    const unsigned char *bytes;
    int64_t n;
} tri_corpus;

/*
 * Read the file `path`, or with path NULL the built-in text: the first of a
 * list of licences that every Debian machine has.  It must have more than
 * `least` bytes and at most TRI_CORPUS_MOST_BYTES.  [out] `out`: owned,
 * tri_corpus_close.  TRI_EDATA names the path, TRI_ENOMEM.
 */
tri_status tri_corpus_open(const char *path, int64_t least, tri_corpus *out);
void tri_corpus_close(tri_corpus *corpus);

#endif
