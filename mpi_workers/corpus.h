/*
 * The training text as bytes: a file mapped for reading.  The one place where
 * the engine opens files.
 */
#ifndef TRI_MPI_WORKERS_CORPUS_H
#define TRI_MPI_WORKERS_CORPUS_H

#include "trireme/status.h"

#include <stdint.h>

typedef struct tri_corpus {
    const unsigned char *bytes;
    int64_t n;
} tri_corpus;

/*
 * Open the file `path`, or with path NULL the built-in text: the first of a
 * list of licences that every Debian machine has.  It must have more than
 * `least` bytes.  [out] `out`: tri_corpus_close.  TRI_EDATA names the path.
 */
tri_status tri_corpus_open(const char *path, int64_t least, tri_corpus *out);
void tri_corpus_close(tri_corpus *corpus);

#endif
