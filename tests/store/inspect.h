/*
 * Looking at study files from outside: plain HDF5, no help from the store.
 */
#ifndef TRI_TESTS_STORE_INSPECT_H
#define TRI_TESTS_STORE_INSPECT_H

#include <stdint.h>

/* Rows of a dataset, -1 where the file or the dataset cannot be opened. */
int64_t inspect_rows(const char *path, const char *dataset);
/* One value of a column, as text ("nan" for NaN). */
void inspect_value(const char *path, const char *dataset, int64_t row,
                   const char *column, char *out, int bytes);
/* A text attribute of an object. */
void inspect_attribute(const char *path, const char *object, const char *name,
                       char *out, int bytes);
/* Change the file's format_version. */
void inspect_set_version(const char *path, int version);
/* Whether every dataset's rows fit the others: events point into blobs, runs
 * and reports name trials and runs that are there; prints what does not. */
int inspect_sound(const char *path);

#endif
