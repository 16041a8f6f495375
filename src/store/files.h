/*
 * The names of a study's files, and which of them are there.
 */
#ifndef TRI_STORE_FILES_H
#define TRI_STORE_FILES_H

#include "trireme/status.h"

#define TRI_PATH_BYTES 4096

typedef struct tri_files {
    char path[TRI_PATH_BYTES]; /* FILE.h5 */
    char dir[TRI_PATH_BYTES];
    const char *base; /* in path: its last part */
} tri_files;

/* TRI_EINVAL: empty, too long, or the name of a folder. */
tri_status tri_files_init(tri_files *files, const char *path);

typedef enum tri_file_kind {
    TRI_FILE_JOURNAL,   /* FILE.h5.journal.E */
    TRI_FILE_TABLES,    /* FILE.h5.E.tmp */
    TRI_FILE_EXIT_TEMP, /* FILE.h5.exit.E.tmp */
    TRI_FILE_DAMAGED,   /* FILE.h5.damaged.E, a segment put aside */
    TRI_FILE_SUMMARY    /* FILE.h5.status.E */
} tri_file_kind;
/* The path of `kind` of epoch `epoch`. */
void tri_files_name(const tri_files *files, tri_file_kind kind, int epoch,
                    char out[TRI_PATH_BYTES]);
/* FILE.h5.exit */
void tri_files_exit(const tri_files *files, char out[TRI_PATH_BYTES]);

/* The epochs of which a file of `kind` is in the folder, ascending.  [out]
 * malloc'd.  TRI_ENOTFOUND: no such folder; TRI_EIO. */
tri_status tri_files_list(const tri_files *files, tri_file_kind kind,
                          int **epochs, int *n);

/*
 * Whether this opening still holds the study: its own segment `fd` is still
 * the file of its name, and there is none of a later epoch.  TRI_EFENCED if
 * not; to be asked before any rename and unlink.
 */
tri_status tri_files_fence(const tri_files *files, int epoch, int fd);
/*
 * Say by a lock on a segment that its opening lives; the system frees it with
 * the program, however that ends.  Where locks are not to be had it is not
 * said, so it is no fence.  tri_files_held: whether any segment is locked.
 */
void tri_files_hold(int fd);
tri_status tri_files_held(const tri_files *files, int *held);
/* As above, then unlink or rename.  A file that is gone already is no error. */
tri_status tri_files_remove(const tri_files *files, int epoch, int fd,
                            const char *path);
tri_status tri_files_rename(const tri_files *files, int epoch, int fd,
                            const char *from, const char *to);

#endif
