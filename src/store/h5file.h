/*
 * The HDF5 file: every HDF5 call of rank 0 is behind this header.  One thread
 * at a time.
 */
#ifndef TRI_STORE_H5FILE_H
#define TRI_STORE_H5FILE_H

#include "src/store/history.h"
#include "src/store/rows.h"

#define TRI_FORMAT_VERSION 1

/* Start the library on this thread and keep it from printing. */
tri_status tri_h5_start(void);

/* ---- writing -------------------------------------------------------- */

typedef struct tri_h5file tri_h5file;

/* What group /study says; NULL texts are stored as ''. */
typedef struct tri_h5facts {
    const tri_study *study;
    const tri_record_facts *facts;
    int epoch;
    int folded; /* everything of the study is in this file */
} tri_h5facts;

/*
 * A new file at `path` (overwritten) with all tables of `schema`, empty.
 * `compact`: compressed, for the end; else laid out for SWMR.  `schema` is
 * borrowed for the life of the file.  TRI_EIO, TRI_ENOSPACE.
 */
tri_status tri_h5file_create(const char *path, const tri_schema *schema,
                             const tri_h5facts *facts, int compact,
                             tri_h5file **out);
/* From here on readers may follow; nothing can be created any more. */
tri_status tri_h5file_swmr(tri_h5file *f);
/* Write all rows of the batch (which is not changed). */
tri_status tri_h5file_write(tri_h5file *f, const tri_batch *batch);
/* Make what is written visible to readers. */
tri_status tri_h5file_flush(tri_h5file *f);
/* Close; frees `f` whatever happens.  NULL is allowed. */
tri_status tri_h5file_close(tri_h5file *f);

/* ---- reading -------------------------------------------------------- */

/* Push all events of the file's tables onto an empty history, and set its
 * epoch.  [out] *folded.  TRI_EMALFORMED: not a study file; TRI_EVERSION. */
tri_status tri_h5file_read_events(const char *path, tri_history *h,
                                  int *folded);
/* What group /study of a file says in texts that no event says: "mpi_library",
 * "hostnames", "topology_xml".  Malloc'd; '' where the file cannot be read;
 * NULL without memory. */
char *tri_h5file_read_text(const char *path, const char *name);

#endif
