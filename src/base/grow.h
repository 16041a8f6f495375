/*
 * Arrays that grow by doubling and may become large.  From a few MiB on they
 * ask for huge pages: the first touch of a small one costs more than a
 * microsecond, which for rows that are written once is most of what they cost.
 * Knows nothing of what the arrays hold.
 */
#ifndef TRI_SRC_BASE_GROW_H
#define TRI_SRC_BASE_GROW_H

#include <stddef.h>

/* As realloc, of which `old_bytes` are kept; NULL without memory, and `old` is
 * as it was.  The result is given to free. */
void *tri_rows_grow(void *old, size_t old_bytes, size_t bytes);

#endif
