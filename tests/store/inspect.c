/*
 * See the header.
 */
#include "tests/store/inspect.h"

#include <hdf5.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hid_t open_file(const char *path)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
}

int64_t inspect_rows(const char *path, const char *dataset)
{
    hid_t file = open_file(path);
    hid_t set = file >= 0 ? H5Dopen2(file, dataset, H5P_DEFAULT) : -1;
    int64_t rows = -1;
    hid_t space;

    if (set >= 0) {
        space = H5Dget_space(set);
        rows = H5Sget_simple_extent_npoints(space);
        H5Sclose(space);
        H5Dclose(set);
    }
    if (file >= 0) {
        H5Fclose(file);
    }
    return rows;
}

/* All values of one column; each `each` bytes in memory. */
static void *read_column(hid_t set, const char *column, hid_t as, size_t each,
                         int64_t *n)
{
    hid_t space = H5Dget_space(set);
    hid_t type = H5Tcreate(H5T_COMPOUND, each);
    void *values;

    *n = H5Sget_simple_extent_npoints(space);
    values = calloc((size_t)*n + 1, each);
    H5Tinsert(type, column, 0, as);
    if (!values || (*n > 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                      values) < 0)) {
        free(values);
        values = NULL;
    }
    H5Tclose(type);
    H5Sclose(space);
    return values;
}

static void print_value(hid_t set, int64_t row, const char *column, hid_t type,
                        char *out, int bytes)
{
    int64_t n;
    void *values;

    if (H5Tget_class(type) == H5T_STRING) {
        size_t each = H5Tget_size(type);

        values = read_column(set, column, type, each, &n);
        snprintf(out, (size_t)bytes, "%.*s", (int)each,
                 values ? (char *)values + (size_t)row * each : "?");
    } else if (H5Tget_class(type) == H5T_FLOAT) {
        values = read_column(set, column, H5T_NATIVE_DOUBLE, 8, &n);
        snprintf(out, (size_t)bytes, "%g",
                 values ? ((double *)values)[row] : 0);
    } else {
        values = read_column(set, column, H5T_NATIVE_INT64, 8, &n);
        snprintf(out, (size_t)bytes, "%" PRId64,
                 values ? ((int64_t *)values)[row] : 0);
    }
    free(values);
}

void inspect_value(const char *path, const char *dataset, int64_t row,
                   const char *column, char *out, int bytes)
{
    hid_t file = open_file(path);
    hid_t set = H5Dopen2(file, dataset, H5P_DEFAULT);
    hid_t table = H5Dget_type(set);
    int index = H5Tget_member_index(table, column);
    hid_t type;

    snprintf(out, (size_t)bytes, "no such column");
    if (index >= 0 && row < inspect_rows(path, dataset)) {
        type = H5Tget_member_type(table, (unsigned)index);
        print_value(set, row, column, type, out, bytes);
        H5Tclose(type);
    }
    H5Tclose(table);
    H5Dclose(set);
    H5Fclose(file);
}

void inspect_attribute(const char *path, const char *object, const char *name,
                       char *out, int bytes)
{
    hid_t file = open_file(path);
    hid_t attribute =
            H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);

    snprintf(out, (size_t)bytes, "no such attribute");
    if (attribute >= 0) {
        hid_t type = H5Aget_type(attribute);
        size_t n = H5Tget_size(type);
        char *text = calloc(n + 1, 1);

        if (text && H5Aread(attribute, type, text) >= 0) {
            snprintf(out, (size_t)bytes, "%s", text);
        }
        free(text);
        H5Tclose(type);
        H5Aclose(attribute);
    }
    H5Fclose(file);
}

void inspect_set_version(const char *path, int version)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t attribute = H5Aopen(file, "format_version", H5P_DEFAULT);

    H5Awrite(attribute, H5T_NATIVE_INT, &version);
    H5Aclose(attribute);
    H5Fclose(file);
}

static int unsound(const char *what, int64_t row)
{
    printf("unsound: %s, row %" PRId64 "\n", what, row);
    return 0;
}

/* Whether 0 <= column < limit everywhere. */
static int within(hid_t file, const char *dataset, const char *column,
                  int64_t limit)
{
    hid_t set = H5Dopen2(file, dataset, H5P_DEFAULT);
    int64_t i, n = 0;
    int64_t *v = read_column(set, column, H5T_NATIVE_INT64, 8, &n);
    int ok = v != NULL;

    for (i = 0; ok && i < n; ++i) {
        ok = (v[i] >= 0 && v[i] < limit) || unsound(dataset, i);
    }
    free(v);
    H5Dclose(set);
    return ok;
}

/* Whether column counts 0, 1, 2, ... */
static int counts(hid_t file, const char *dataset, const char *column)
{
    hid_t set = H5Dopen2(file, dataset, H5P_DEFAULT);
    int64_t i, n = 0;
    int64_t *v = read_column(set, column, H5T_NATIVE_INT64, 8, &n);
    int ok = v != NULL;

    for (i = 0; ok && i < n; ++i) {
        ok = v[i] == i || unsound(dataset, i);
    }
    free(v);
    H5Dclose(set);
    return ok;
}

static int points_into_blobs(hid_t file, int64_t blob_bytes)
{
    hid_t set = H5Dopen2(file, "events", H5P_DEFAULT);
    int64_t i, n = 0, at = 0;
    int64_t *offset = read_column(set, "offset", H5T_NATIVE_INT64, 8, &n);
    int64_t *bytes = read_column(set, "bytes", H5T_NATIVE_INT64, 8, &n);
    int ok = offset && bytes;

    for (i = 0; ok && i < n; ++i) {
        ok = offset[i] == at || unsound("events.offset", i);
        at += bytes[i];
    }
    ok = ok && (at == blob_bytes || unsound("blobs", at));
    free(offset);
    free(bytes);
    H5Dclose(set);
    return ok;
}

int inspect_sound(const char *path)
{
    int64_t trials = inspect_rows(path, "trials");
    int64_t blobs = inspect_rows(path, "blobs");
    hid_t file = open_file(path);
    int ok;

    if (file < 0 || trials < 0 || blobs < 0) {
        return unsound("the file cannot be opened", -1);
    }
    ok = counts(file, "events", "seq") && counts(file, "trials", "trial") &&
         within(file, "runs", "trial", trials) &&
         points_into_blobs(file, blobs);
    H5Fclose(file);
    return ok;
}
