/*
 * What fuzz targets of the record share: choices taken from the fuzzer's bytes,
 * mostly right ones, and reading what was made of them.
 */
#ifndef TRI_TESTS_STORE_LIES_H
#define TRI_TESTS_STORE_LIES_H

#include "trireme/event.h"

#include <stddef.h>
#include <stdint.h>

typedef struct lies {
    const uint8_t *data;
    size_t bytes, at;
} lies;

/* 0 .. n - 1; 0 at the end of the bytes. */
unsigned lies_choose(lies *c, unsigned n);
/* Once in eight. */
int lies_wrong(lies *c);
/* `right`, or a number that lengths and counts go wrong with. */
int64_t lies_number(lies *c, int64_t right);
/* Event i of a study that could be: open, a few ranks, clocks. */
void lies_event(tri_event *e, lies *c, int i);

/* A path for a study of this process; the same each time. */
const char *lies_path(const char *word);
/* All that commands ask of a study; aborts where it is refused without a word.
 * Returns whether it was read. */
int lies_read(const char *path);

#endif
