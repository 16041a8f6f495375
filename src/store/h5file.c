/*
 * Writing the study file.  Types, chunks and attributes come from the schema;
 * what a row means is not known here.
 */
#include "src/store/h5file.h"

#include "src/store/h5util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIVE_CHUNK_BYTES    ((size_t)32 << 10)
#define COMPACT_CHUNK_BYTES ((size_t)256 << 10)
#define DEFLATE_LEVEL       4

struct tri_h5file {
    hid_t file;
    hid_t sets[TRI_TABLE_COUNT];
    hid_t types[TRI_TABLE_COUNT]; /* in memory */
    hsize_t rows[TRI_TABLE_COUNT];
    const tri_schema *schema;
    char path[TRI_PATH_BYTES];
};

tri_status tri_h5_start(void)
{
    /* every file is closed by its owner: at exit there would be left only what
     * a full disk kept from being closed, and HDF5 dies of trying again */
    H5dont_atexit();
    if (H5open() < 0) {
        return TRI_FAIL(TRI_EINTERNAL, "HDF5 cannot be started");
    }
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return TRI_OK;
}

static tri_status failed(const char *what, const char *path)
{
    int full = errno == ENOSPC || errno == EDQUOT;

    return TRI_FAIL(full ? TRI_ENOSPACE : TRI_EIO, "HDF5 cannot %s %s%s", what,
                    path, full ? ": the disk is full" : "");
}

/* ---- types ----------------------------------------------------------- */

static hid_t string_type(int bytes)
{
    hid_t type = H5Tcopy(H5T_C_S1);

    H5Tset_size(type, bytes > 0 ? (size_t)bytes : 1);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

/* The type of a column, to be closed if it is a string. */
static hid_t column_type(const tri_column *c, int in_file)
{
    switch (c->kind) {
    case TRI_COLUMN_U8:
        return in_file ? H5T_STD_U8LE : H5T_NATIVE_UINT8;
    case TRI_COLUMN_I32:
        return in_file ? H5T_STD_I32LE : H5T_NATIVE_INT32;
    case TRI_COLUMN_I64:
        return in_file ? H5T_STD_I64LE : H5T_NATIVE_INT64;
    case TRI_COLUMN_U64:
        return in_file ? H5T_STD_U64LE : H5T_NATIVE_UINT64;
    case TRI_COLUMN_F64:
        return in_file ? H5T_IEEE_F64LE : H5T_NATIVE_DOUBLE;
    case TRI_COLUMN_STRING:
        return string_type(c->bytes);
    }
    return H5I_INVALID_HID;
}

static hid_t row_type(const tri_columns *table, int in_file)
{
    hid_t type;
    int i;

    if (table->n == 0) {
        return H5Tcopy(in_file ? H5T_STD_U8LE : H5T_NATIVE_UINT8);
    }
    type = H5Tcreate(H5T_COMPOUND, table->row_bytes);
    for (i = 0; i < table->n; ++i) {
        const tri_column *c = &table->list[i];
        hid_t member = column_type(c, in_file);

        if (H5Tinsert(type, c->name, c->offset, member) < 0) {
            H5Tclose(type);
            type = H5I_INVALID_HID;
        }
        if (c->kind == TRI_COLUMN_STRING) {
            H5Tclose(member);
        }
        if (type < 0) {
            break;
        }
    }
    return type;
}

/* ---- creation -------------------------------------------------------- */

static hid_t chunking(const tri_columns *table, int compact)
{
    size_t bytes = compact ? COMPACT_CHUNK_BYTES : LIVE_CHUNK_BYTES;
    hsize_t rows = bytes / table->row_bytes;
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE);

    rows = rows > 0 ? rows : 1;
    H5Pset_chunk(plist, 1, &rows);
    if (compact) {
        H5Pset_shuffle(plist);
        H5Pset_deflate(plist, DEFLATE_LEVEL);
    }
    return plist;
}

static int write_units(hid_t set, const tri_columns *table)
{
    char name[300];
    int i;

    for (i = 0; i < table->n; ++i) {
        snprintf(name, sizeof name, "%s.unit", table->list[i].name);
        if (tri_h5_put_text(set, name, table->list[i].unit) < 0) {
            return -1;
        }
    }
    return 0;
}

static tri_status create_table(tri_h5file *f, int id, int compact)
{
    const tri_columns *table = &f->schema->tables[id];
    hsize_t none = 0, unlimited = H5S_UNLIMITED;
    hid_t space = H5Screate_simple(1, &none, &unlimited);
    hid_t plist = chunking(table, compact);
    hid_t type = row_type(table, 1);

    f->types[id] = row_type(table, 0);
    f->sets[id] = H5Dcreate2(f->file, table->name, type, space, H5P_DEFAULT,
                             plist, H5P_DEFAULT);
    H5Tclose(type);
    H5Pclose(plist);
    H5Sclose(space);
    if (f->sets[id] < 0 || f->types[id] < 0 ||
        write_units(f->sets[id], table) < 0) {
        return failed("create a table in", f->path);
    }
    return TRI_OK;
}

static int put_facts(hid_t group, const tri_h5facts *facts)
{
    const tri_record_facts *r = facts->facts;
    const struct {
        const char *name, *text;
    } texts[] = {
            {"name", facts->study->name},
            {"objective", facts->study->objective.name},
            {"build", r->build},
            {"mpi_library", r->mpi_library},
            {"pml", r->pml},
            {"level", r->level},
            {"hostnames", r->hostnames},
            {"machine_class", r->machine_class},
            {"command_line", r->command_line},
    };
    size_t i;

    for (i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        if (tri_h5_put_text(group, texts[i].name, texts[i].text) < 0) {
            return -1;
        }
    }
    if (tri_h5_put_text_set(group, "yaml", facts->study->text) < 0 ||
        tri_h5_put_text_set(group, "topology_xml", r->topology_xml) < 0) {
        return -1;
    }
    return 0;
}

static int put_numbers(hid_t group, const tri_h5facts *facts)
{
    unsigned major = 0, minor = 0, release = 0;
    char version[64];
    uint64_t seed = facts->study->seed;

    H5get_libversion(&major, &minor, &release);
    snprintf(version, sizeof version, "%u.%u.%u", major, minor, release);
    return tri_h5_put_text(group, "hdf5", version) < 0 ||
                           tri_h5_put_u64(group, "seed", seed) < 0 ||
                           tri_h5_put_i32(group, "epoch", facts->epoch) < 0 ||
                           tri_h5_put_i32(group, "maximize",
                                          facts->study->objective.maximize) <
                                   0 ||
                           tri_h5_put_i32(group, "folded", facts->folded) < 0
                   ? -1
                   : 0;
}

static tri_status create_study(tri_h5file *f, const tri_h5facts *facts)
{
    hid_t group =
            H5Gcreate2(f->file, "study", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int ok = group >= 0 && put_facts(group, facts) == 0 &&
             put_numbers(group, facts) == 0 &&
             tri_h5_put_i32(f->file, "format_version", TRI_FORMAT_VERSION) >= 0;

    if (group >= 0) {
        H5Gclose(group);
    }
    return ok ? TRI_OK : failed("write the study into", f->path);
}

static tri_status fill_file(tri_h5file *f, const tri_h5facts *facts,
                            int compact)
{
    int id;

    TRI_TRY(create_study(f, facts));
    for (id = 0; id < TRI_TABLE_COUNT; ++id) {
        TRI_TRY(create_table(f, id, compact));
    }
    return TRI_OK;
}

tri_status tri_h5file_create(const char *path, const tri_schema *schema,
                             const tri_h5facts *facts, int compact,
                             tri_h5file **out)
{
    tri_h5file *f = calloc(1, sizeof *f);
    hid_t access;
    tri_status st;
    int id;

    if (!f) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a study file");
    }
    for (id = 0; id < TRI_TABLE_COUNT; ++id) {
        f->sets[id] = f->types[id] = H5I_INVALID_HID;
    }
    snprintf(f->path, sizeof f->path, "%s", path);
    f->schema = schema;
    access = tri_h5_access();
    errno = 0;
    f->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    if (f->file < 0) {
        st = failed("create", path);
        free(f);
        return st;
    }
    st = fill_file(f, facts, compact);
    if (st != TRI_OK) {
        tri_h5file_close(f);
        return st;
    }
    *out = f;
    return TRI_OK;
}

/* ---- rows ------------------------------------------------------------ */

tri_status tri_h5file_swmr(tri_h5file *f)
{
    errno = 0;
    if (H5Fflush(f->file, H5F_SCOPE_GLOBAL) < 0 ||
        H5Fstart_swmr_write(f->file) < 0) {
        return failed("start following of", f->path);
    }
    return TRI_OK;
}

/* Write `n` rows at `first`, making the table longer where needed. */
static tri_status write_rows(tri_h5file *f, int id, hsize_t first, hsize_t n,
                             const unsigned char *rows)
{
    hid_t memory, space;
    herr_t result;

    errno = 0;
    if (first + n > f->rows[id]) {
        hsize_t size = first + n;

        if (H5Dset_extent(f->sets[id], &size) < 0) {
            return failed("extend a table of", f->path);
        }
        f->rows[id] = size;
    }
    memory = H5Screate_simple(1, &n, NULL);
    space = H5Dget_space(f->sets[id]);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &n, NULL);
    result = H5Dwrite(f->sets[id], f->types[id], memory, space, H5P_DEFAULT,
                      rows);
    H5Sclose(space);
    H5Sclose(memory);
    return result < 0 ? failed("write rows of", f->path) : TRI_OK;
}

/* Rows with consecutive places are written together. */
static tri_status write_table(tri_h5file *f, int id, const tri_batch *batch)
{
    const unsigned char *rows = batch->rows[id].data;
    const int64_t *places = (const void *)batch->places[id].data;
    size_t i = 0, last, n = batch->places[id].bytes / sizeof *places;
    size_t each = f->schema->tables[id].row_bytes;

    if (id == TRI_TABLE_BLOBS) {
        return n ? write_rows(f, id, (hsize_t)places[0], batch->rows[id].bytes,
                              rows)
                 : TRI_OK;
    }
    while (i < n) {
        for (last = i + 1; last < n && places[last] == places[last - 1] + 1;) {
            ++last;
        }
        TRI_TRY(write_rows(f, id, (hsize_t)places[i], last - i,
                           rows + i * each));
        i = last;
    }
    return TRI_OK;
}

tri_status tri_h5file_write(tri_h5file *f, const tri_batch *batch)
{
    int id;

    /* what rows point into is there before they are */
    TRI_TRY(write_table(f, TRI_TABLE_BLOBS, batch));
    for (id = 0; id < TRI_TABLE_BLOBS; ++id) {
        TRI_TRY(write_table(f, id, batch));
    }
    return TRI_OK;
}

tri_status tri_h5file_flush(tri_h5file *f)
{
    errno = 0;
    return H5Fflush(f->file, H5F_SCOPE_LOCAL) < 0 ? failed("flush", f->path)
                                                  : TRI_OK;
}

tri_status tri_h5file_close(tri_h5file *f)
{
    char path[TRI_PATH_BYTES];
    herr_t result;
    int id;

    if (!f) {
        return TRI_OK;
    }
    for (id = 0; id < TRI_TABLE_COUNT; ++id) {
        if (f->sets[id] >= 0) {
            H5Dclose(f->sets[id]);
        }
        if (f->types[id] >= 0) {
            H5Tclose(f->types[id]);
        }
    }
    errno = 0;
    result = H5Fclose(f->file);
    memcpy(path, f->path, sizeof path);
    free(f);
    return result < 0 ? failed("close", path) : TRI_OK;
}
