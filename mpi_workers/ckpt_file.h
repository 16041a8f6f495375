/*
 * The file of a checkpoint: HDF5, one dataset for each logical tensor in its
 * global shape.
 *
 *     /                attributes format "trireme checkpoint", version 1, step,
 *                      samples (drawn so far: the data's position), seed,
 *                      first_loss, configuration (text), real_bytes
 *     /SET/TENSOR      "parameters", and one set for each array of the
 *                      optimizer's state; attribute checksum (u64)
 *
 * The checksum is the sum modulo 2^64, over the elements of the dataset in
 * row-major order, of mix(bits + 0x9E3779B97F4A7C15 (place + 1)), bits being
 * those of the element as an unsigned integer, place counting from 0, and
 * mix(h): h = (h ^ h >> 32) 0xD6E8FEB86659FD93; h ^ h >> 32.
 *
 * Nothing here is collective, unless the file was created over a communicator
 * (MPI-IO): creating it, making a dataset and closing are then.
 */
#ifndef TRI_MPI_WORKERS_CKPT_FILE_H
#define TRI_MPI_WORKERS_CKPT_FILE_H

#include "mpi_workers/ckpt_cut.h"

#include <mpi.h>

#define TRI_CKPT_SET  16 /* bytes of a set's name */
#define TRI_CKPT_TEXT 512

/* What is said of the whole training. */
typedef struct tri_ckpt_head {
    int64_t step, samples;
    uint64_t seed;
    double first_loss;
    char configuration[TRI_CKPT_TEXT]; /* for readers */
} tri_ckpt_head;

typedef struct tri_ckpt_file tri_ckpt_file;

/* [out] owned; tri_ckpt_file_close.  MPI_COMM_NULL: by this rank alone.
 * TRI_EIO, TRI_ENOMEM. */
tri_status tri_ckpt_file_create(const char *path, MPI_Comm comm,
                                tri_ckpt_file **out);
tri_status tri_ckpt_file_put_head(tri_ckpt_file *f, const tri_ckpt_head *h);
/* Make a dataset, which is then the current one. */
tri_status tri_ckpt_file_make(tri_ckpt_file *f, const char *set,
                              const char *name, int n_dims,
                              const int64_t *shape);
/* Elements [from, from + n) of the current one, row-major. */
tri_status tri_ckpt_file_write(tri_ckpt_file *f, int64_t from, int64_t n,
                               const tri_real *x);
/* The elements of `c`, a part of the current one. */
tri_status tri_ckpt_file_write_cut(tri_ckpt_file *f, const tri_cut *c,
                                   const tri_real *x);
/* The checksum of a dataset. */
tri_status tri_ckpt_file_put_sum(tri_ckpt_file *f, const char *set,
                                 const char *name, uint64_t sum);
/* Open an existing file: to read, or to put what is missing.  TRI_ENOTFOUND;
 * TRI_EMALFORMED where it is no HDF5 file. */
tri_status tri_ckpt_file_open(const char *path, int writes,
                              tri_ckpt_file **out);
/* TRI_EMALFORMED where it is no checkpoint, TRI_EVERSION where it is one of
 * another version or precision. */
tri_status tri_ckpt_file_get_head(tri_ckpt_file *f, tri_ckpt_head *h);
/* Read the elements of `c` of a dataset, which must be of its shape.
 * TRI_EMALFORMED. */
tri_status tri_ckpt_file_read_cut(tri_ckpt_file *f, const char *set,
                                  const char *name, const tri_cut *c,
                                  tri_real *x);
tri_status tri_ckpt_file_get_sum(tri_ckpt_file *f, const char *set,
                                 const char *name, uint64_t *sum);
/* NULL is allowed.  TRI_EIO: what was written may not be there. */
tri_status tri_ckpt_file_close(tri_ckpt_file *f);

#endif
