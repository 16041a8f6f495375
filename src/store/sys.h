/*
 * The system calls that change the disk, behind one table: the durability test
 * puts its own functions here, which die or fail at the n-th call.  Nothing
 * else in the store opens for writing, writes, syncs, renames or removes
 * (HDF5 writes its temporary files by itself; they count only once renamed).
 */
#ifndef TRI_STORE_SYS_H
#define TRI_STORE_SYS_H

#include "trireme/status.h"

#include <stdint.h>
#include <sys/types.h>

typedef struct tri_sys {
    int (*create)(const char *path, int exclusive); /* for reading, writing */
    ssize_t (*pwrite)(int fd, const void *data, size_t bytes, off_t at);
    int (*fsync)(int fd);
    int (*ftruncate)(int fd, off_t bytes);
    int (*rename)(const char *from, const char *to);
    int (*unlink)(const char *path);
} tri_sys;

extern const tri_sys tri_sys_real;
/* The table in use; tri_sys_real unless a test changed it. */
extern const tri_sys *tri_sys_now;

/* TRI_ENOSPACE for a full disk or quota, else `other`; names `what`. */
tri_status tri_sys_fail(tri_status other, const char *what, const char *path);
/* Write all bytes at `at`, going on after short writes and signals.  On
 * failure some may have been written. */
tri_status tri_sys_write_all(int fd, const void *data, size_t bytes,
                             uint64_t at, const char *path);
tri_status tri_sys_sync(int fd, const char *path);
/* Sync the folder, so that names in it last. */
tri_status tri_sys_sync_dir(const char *dir);
/* Sync a file by its name. */
tri_status tri_sys_sync_path(const char *path);
/* Read the whole file.  [out] malloc'd.  TRI_ENOTFOUND, TRI_EIO, TRI_ENOMEM. */
tri_status tri_sys_read(const char *path, unsigned char **data, size_t *bytes);

#endif
