/*
 * Checkpoint files, by HDF5.
 */
#include "mpi_workers/ckpt_file.h"

#include <errno.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FORMAT  "trireme checkpoint"
#define VERSION 1

#define REAL      (sizeof(tri_real) == 8 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT)
#define REAL_FILE (sizeof(tri_real) == 8 ? H5T_IEEE_F64LE : H5T_IEEE_F32LE)

struct tri_ckpt_file {
    char *path;
    hid_t file;
    hid_t set, space; /* the current dataset; < 0: none */
    int n_dims;
    hsize_t shape[TRI_TENSOR_DIMS];
};

/* ---- attributes ---------------------------------------------------------- */

static int put(hid_t object, const char *name, hid_t in_file, hid_t in_memory,
               const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t a =
            H5Acreate2(object, name, in_file, space, H5P_DEFAULT, H5P_DEFAULT);
    int rc = -1;

    if (a >= 0) {
        rc = H5Awrite(a, in_memory, value);
        H5Aclose(a);
    }
    H5Sclose(space);
    return rc;
}

static int get(hid_t object, const char *name, hid_t in_memory, void *value)
{
    hid_t a = H5Aopen(object, name, H5P_DEFAULT);
    int rc = -1;

    if (a >= 0) {
        rc = H5Aread(a, in_memory, value);
        H5Aclose(a);
    }
    return rc;
}

static hid_t text_type(size_t bytes)
{
    hid_t type = H5Tcopy(H5T_C_S1);

    H5Tset_size(type, bytes);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static int put_text(hid_t object, const char *name, const char *text)
{
    hid_t type = text_type(strlen(text) + 1);
    int rc = put(object, name, type, type, text);

    H5Tclose(type);
    return rc;
}

/* Longer ones are cut. */
static int get_text(hid_t object, const char *name, char *text, size_t bytes)
{
    hid_t type = text_type(bytes);
    int rc = get(object, name, type, text);

    H5Tclose(type);
    text[bytes - 1] = '\0';
    return rc;
}

/* ---- files --------------------------------------------------------------- */

static tri_status unwritten(const tri_ckpt_file *f)
{
    return TRI_FAIL(TRI_EIO, "'%s' cannot be written", f->path);
}

static tri_ckpt_file *blank(const char *path)
{
    tri_ckpt_file *f = calloc(1, sizeof *f);
    char *copy = strdup(path);

    if (!f || !copy) {
        free(f);
        free(copy);
        (void)TRI_FAIL(TRI_ENOMEM, "no memory for a checkpoint's file");
        return NULL;
    }
    f->path = copy;
    f->file = f->set = f->space = -1;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* what fails is said by us */
    return f;
}

static tri_status drop(tri_ckpt_file *f, tri_status st)
{
    free(f->path);
    free(f);
    return st;
}

/* No locks: network file systems lack them, and the name is this run's. */
static hid_t access_list(MPI_Comm comm)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);

    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_LATEST);
    H5Pset_file_locking(access, 0, 1);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
#ifdef H5_HAVE_PARALLEL
    if (comm != MPI_COMM_NULL) {
        H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL);
    }
#else
    (void)comm;
#endif
    return access;
}

tri_status tri_ckpt_file_create(const char *path, MPI_Comm comm,
                                tri_ckpt_file **out)
{
    tri_ckpt_file *f = blank(path);
    hid_t access;

    if (!f) {
        return TRI_ENOMEM;
    }
    access = access_list(comm);
    errno = 0;
    f->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (f->file < 0) {
        return drop(f,
                    TRI_FAIL(TRI_EIO, "'%s' cannot be written%s%s", path,
                             errno ? ": " : "", errno ? strerror(errno) : ""));
    }
    *out = f;
    return TRI_OK;
}

tri_status tri_ckpt_file_open(const char *path, int writes, tri_ckpt_file **out)
{
    tri_ckpt_file *f = blank(path);
    hid_t how;

    if (!f) {
        return TRI_ENOMEM;
    }
    if (access(path, R_OK) != 0) {
        return drop(f, TRI_FAIL(TRI_ENOTFOUND, "'%s' cannot be read: %s", path,
                                strerror(errno)));
    }
    how = access_list(MPI_COMM_NULL);
    f->file = H5Fopen(path, writes ? H5F_ACC_RDWR : H5F_ACC_RDONLY, how);
    H5Pclose(how);
    if (f->file < 0) {
        return drop(f, TRI_FAIL(TRI_EMALFORMED,
                                "'%s' is damaged: not an HDF5 file", path));
    }
    *out = f;
    return TRI_OK;
}

static void leave_set(tri_ckpt_file *f)
{
    if (f->set >= 0) {
        H5Sclose(f->space);
        H5Dclose(f->set);
    }
    f->set = f->space = -1;
}

tri_status tri_ckpt_file_close(tri_ckpt_file *f)
{
    int rc;

    if (!f) {
        return TRI_OK;
    }
    leave_set(f);
    rc = H5Fclose(f->file);
    return drop(f, rc < 0 ? unwritten(f) : TRI_OK);
}

/* ---- the head ------------------------------------------------------------ */

tri_status tri_ckpt_file_put_head(tri_ckpt_file *f, const tri_ckpt_head *h)
{
    int32_t version = VERSION;
    int32_t bytes = (int32_t)sizeof(tri_real);
    hid_t o = f->file;

    if (put_text(o, "format", FORMAT) < 0 ||
        put(o, "version", H5T_STD_I32LE, H5T_NATIVE_INT32, &version) < 0 ||
        put(o, "real_bytes", H5T_STD_I32LE, H5T_NATIVE_INT32, &bytes) < 0 ||
        put(o, "step", H5T_STD_I64LE, H5T_NATIVE_INT64, &h->step) < 0 ||
        put(o, "samples", H5T_STD_I64LE, H5T_NATIVE_INT64, &h->samples) < 0 ||
        put(o, "seed", H5T_STD_U64LE, H5T_NATIVE_UINT64, &h->seed) < 0 ||
        put(o, "first_loss", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
            &h->first_loss) < 0 ||
        put_text(o, "configuration", h->configuration) < 0) {
        return unwritten(f);
    }
    return TRI_OK;
}

tri_status tri_ckpt_file_get_head(tri_ckpt_file *f, tri_ckpt_head *h)
{
    tri_ckpt_head got = {0};
    char format[32];
    int32_t version = 0;
    int32_t bytes = 0;
    hid_t o = f->file;

    if (get_text(o, "format", format, sizeof format) < 0 ||
        strcmp(format, FORMAT) != 0 ||
        get(o, "version", H5T_NATIVE_INT32, &version) < 0) {
        return TRI_FAIL(TRI_EMALFORMED, "'%s' is no checkpoint of an engine",
                        f->path);
    }
    if (version != VERSION) {
        return TRI_FAIL(TRI_EVERSION,
                        "'%s' is of checkpoint version %d, expected %d",
                        f->path, (int)version, VERSION);
    }
    if (get(o, "real_bytes", H5T_NATIVE_INT32, &bytes) < 0 ||
        get(o, "step", H5T_NATIVE_INT64, &got.step) < 0 ||
        get(o, "samples", H5T_NATIVE_INT64, &got.samples) < 0 ||
        get(o, "seed", H5T_NATIVE_UINT64, &got.seed) < 0 ||
        get(o, "first_loss", H5T_NATIVE_DOUBLE, &got.first_loss) < 0 ||
        get_text(o, "configuration", got.configuration,
                 sizeof got.configuration) < 0 ||
        got.step < 0) {
        return TRI_FAIL(TRI_EMALFORMED,
                        "'%s' is damaged: its attributes are not whole",
                        f->path);
    }
    if (bytes != (int32_t)sizeof(tri_real)) {
        return TRI_FAIL(TRI_EVERSION,
                        "'%s' has numbers of %d bytes, expected %d", f->path,
                        (int)bytes, (int)sizeof(tri_real));
    }
    *h = got;
    return TRI_OK;
}

/* ---- datasets ------------------------------------------------------------ */

static void path_of(const char *set, const char *name, char *buf, size_t bytes)
{
    snprintf(buf, bytes, "/%.16s/%.48s", set, name);
}

static void enter_set(tri_ckpt_file *f, hid_t set, hid_t space, int n_dims,
                      const int64_t *shape)
{
    leave_set(f);
    f->set = set;
    f->space = space;
    f->n_dims = n_dims;
    for (int i = 0; i < n_dims; i++) {
        f->shape[i] = (hsize_t)shape[i];
    }
}

tri_status tri_ckpt_file_make(tri_ckpt_file *f, const char *set,
                              const char *name, int n_dims,
                              const int64_t *shape)
{
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t dims[TRI_TENSOR_DIMS];
    char path[80];
    hid_t space;
    hid_t made;

    for (int i = 0; i < n_dims; i++) {
        dims[i] = (hsize_t)shape[i];
    }
    path_of(set, name, path, sizeof path);
    space = H5Screate_simple(n_dims, dims, NULL);
    H5Pset_create_intermediate_group(links, 1);
    H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
    made = H5Dcreate2(f->file, path, REAL_FILE, space, links, how, H5P_DEFAULT);
    H5Pclose(links);
    H5Pclose(how);
    if (made < 0) {
        H5Sclose(space);
        return unwritten(f);
    }
    enter_set(f, made, space, n_dims, shape);
    return TRI_OK;
}

/* One hyperslab of the current dataset, to or from memory. */
typedef struct slab {
    const tri_ckpt_file *f;
    const tri_real *from;
    tri_real *into; /* NULL: it is written */
} slab;

static int move_box(void *ctx, const int64_t *start, const int64_t *count,
                    int64_t at, int64_t n)
{
    const slab *s = ctx;
    hsize_t first[TRI_TENSOR_DIMS];
    hsize_t many[TRI_TENSOR_DIMS];
    hsize_t all = (hsize_t)n;
    hid_t memory = H5Screate_simple(1, &all, NULL);
    int rc;

    for (int i = 0; i < s->f->n_dims; i++) {
        first[i] = (hsize_t)start[i];
        many[i] = (hsize_t)count[i];
    }
    rc = H5Sselect_hyperslab(s->f->space, H5S_SELECT_SET, first, NULL, many,
                             NULL);
    if (rc >= 0) {
        rc = s->into ? H5Dread(s->f->set, REAL, memory, s->f->space,
                               H5P_DEFAULT, s->into + at)
                     : H5Dwrite(s->f->set, REAL, memory, s->f->space,
                                H5P_DEFAULT, s->from + at);
    }
    H5Sclose(memory);
    return rc < 0;
}

tri_status tri_ckpt_file_write(tri_ckpt_file *f, int64_t from, int64_t n,
                               const tri_real *x)
{
    slab s = {.f = f, .from = x};
    int64_t shape[TRI_TENSOR_DIMS];

    for (int i = 0; i < f->n_dims; i++) {
        shape[i] = (int64_t)f->shape[i];
    }
    return tri_cut_boxes(shape, f->n_dims, from, n, move_box, &s) ? unwritten(f)
                                                                  : TRI_OK;
}

tri_status tri_ckpt_file_write_cut(tri_ckpt_file *f, const tri_cut *c,
                                   const tri_real *x)
{
    slab s = {.f = f, .from = x};

    return tri_cut_own_boxes(c, move_box, &s) ? unwritten(f) : TRI_OK;
}

static tri_status damaged(const tri_ckpt_file *f, const char *path,
                          const char *what)
{
    return TRI_FAIL(TRI_EMALFORMED, "'%s' is damaged: %s %s", f->path, path,
                    what);
}

/* Whether the dataset is of these dimensions, and of our numbers. */
static int is_of_shape(hid_t set, hid_t space, int n_dims, const int64_t *shape)
{
    hsize_t dims[H5S_MAX_RANK];
    hid_t type = H5Dget_type(set);
    int same = H5Tequal(type, REAL_FILE) > 0 &&
               H5Sget_simple_extent_ndims(space) == n_dims &&
               H5Sget_simple_extent_dims(space, dims, NULL) == n_dims;

    for (int i = 0; same && i < n_dims; i++) {
        same = dims[i] == (hsize_t)shape[i];
    }
    H5Tclose(type);
    return same;
}

tri_status tri_ckpt_file_read_cut(tri_ckpt_file *f, const char *set,
                                  const char *name, const tri_cut *c,
                                  tri_real *x)
{
    slab s = {.f = f, .into = x};
    char path[80];
    hid_t found;
    hid_t space;

    path_of(set, name, path, sizeof path);
    found = H5Dopen2(f->file, path, H5P_DEFAULT);
    if (found < 0) {
        return damaged(f, path, "is not there");
    }
    space = H5Dget_space(found);
    if (!is_of_shape(found, space, c->n_dims, c->shape)) {
        H5Sclose(space);
        H5Dclose(found);
        return TRI_FAIL(TRI_EMALFORMED,
                        "'%s' is of another model: the shape of %s is not that "
                        "of this training's",
                        f->path, path);
    }
    enter_set(f, found, space, c->n_dims, c->shape);
    return tri_cut_own_boxes(c, move_box, &s)
                   ? damaged(f, path, "cannot be read")
                   : TRI_OK;
}

tri_status tri_ckpt_file_put_sum(tri_ckpt_file *f, const char *set,
                                 const char *name, uint64_t sum)
{
    char path[80];
    hid_t found;
    int rc;

    path_of(set, name, path, sizeof path);
    found = H5Dopen2(f->file, path, H5P_DEFAULT);
    if (found < 0) {
        return unwritten(f);
    }
    rc = put(found, "checksum", H5T_STD_U64LE, H5T_NATIVE_UINT64, &sum);
    H5Dclose(found);
    return rc < 0 ? unwritten(f) : TRI_OK;
}

tri_status tri_ckpt_file_get_sum(tri_ckpt_file *f, const char *set,
                                 const char *name, uint64_t *sum)
{
    char path[80];
    hid_t found;
    int rc;

    path_of(set, name, path, sizeof path);
    found = H5Dopen2(f->file, path, H5P_DEFAULT);
    if (found < 0) {
        return damaged(f, path, "is not there");
    }
    rc = get(found, "checksum", H5T_NATIVE_UINT64, sum);
    H5Dclose(found);
    return rc < 0 ? damaged(f, path, "has no checksum") : TRI_OK;
}
