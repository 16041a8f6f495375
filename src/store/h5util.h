/*
 * Small helpers on HDF5: attributes, texts, access lists.
 */
#ifndef TRI_STORE_H5UTIL_H
#define TRI_STORE_H5UTIL_H

#include <hdf5.h>

#include <stdint.h>

/* Latest format; no file locks, which network file systems lack and which the
 * epochs make needless.  To be closed. */
hid_t tri_h5_access(void);

/* Attributes of `object`; < 0 on failure.  NULL is ''. */
int tri_h5_put_text(hid_t object, const char *name, const char *text);
int tri_h5_put_i32(hid_t object, const char *name, int32_t v);
int tri_h5_put_u64(hid_t object, const char *name, uint64_t v);
/* A text of any length, as a scalar dataset. */
int tri_h5_put_text_set(hid_t group, const char *name, const char *text);
/* An integer attribute; < 0 where it is missing or no integer. */
int tri_h5_get_i32(hid_t object, const char *name, int32_t *v);
/* Whether `name` is in the group itself; a link elsewhere, to another file say,
 * is not followed. */
int tri_h5_is_here(hid_t group, const char *name);
/* Whether a dataset's bytes are in its own file: one that points into others is
 * no table of ours. */
int tri_h5_is_own(hid_t set);
/* A fixed text, an attribute or a scalar dataset of `group`, malloc'd and
 * terminated; NULL where there is none. */
char *tri_h5_get_text(hid_t group, const char *name);

#endif
