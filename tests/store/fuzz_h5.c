/*
 * Fuzz target of the file's reader.  The first byte says what the others are:
 * the bytes of a file, as they are; or choices, by which a file is made that
 * HDF5 finds sound and that lies: types, shapes, lengths, counts, links,
 * values.  Whatever is in it, reading ends with an error or with events that
 * can be fed, and asks for no more memory than a multiple of what is stored.
 */
#include "src/store/h5file.h"
#include "tests/store/lies.h"

#include <hdf5.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
/* ---- a file that lies ---------------------------------------------------- */

#define MOST_EVENTS 64

typedef struct row {
    int64_t seq;
    double time_s;
    char kind[11];
    int64_t offset, bytes;
    uint64_t digest;
} row;

static hid_t some_type(lies *c, hid_t right)
{
    hid_t type;

    if (!lies_wrong(c)) {
        return H5Tcopy(right);
    }
    switch (lies_choose(c, 6)) {
    case 0:
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    case 1:
        type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, H5T_VARIABLE);
        return type;
    case 2:
        return H5Tvlen_create(H5T_NATIVE_INT);
    case 3:
        type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, (size_t)1 << lies_choose(c, 30));
        return type;
    case 4:
        return H5Tcreate(H5T_OPAQUE, 1 + lies_choose(c, 200));
    default:
        return H5Tcopy(H5T_STD_U16BE);
    }
}

static hid_t some_space(lies *c, hsize_t n)
{
    hsize_t dims[3] = {n, 2, 2}, most[3] = {H5S_UNLIMITED, 2, 2};

    if (!lies_wrong(c)) {
        return H5Screate_simple(1, dims, most);
    }
    switch (lies_choose(c, 5)) {
    case 0:
        return H5Screate(H5S_SCALAR);
    case 1:
        return H5Screate(H5S_NULL);
    case 2:
        return H5Screate_simple(2, dims, most);
    case 3:
        dims[0] = (hsize_t)1 << lies_choose(c, 62);
        return H5Screate_simple(1, dims, most);
    default:
        dims[0] = n + 1 + lies_choose(c, 100);
        return H5Screate_simple(1, dims, most);
    }
}

static hid_t some_layout(lies *c, hid_t space)
{
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t chunk[2] = {1 + lies_choose(c, 60), 2};
    int rank = H5Sget_simple_extent_ndims(space);

    if (rank > 0) {
        H5Pset_chunk(plist, rank > 2 ? 2 : rank, chunk);
    }
    if (rank > 0 && lies_choose(c, 2)) {
        H5Pset_shuffle(plist);
        H5Pset_deflate(plist, 1 + lies_choose(c, 9));
    }
    if (lies_choose(c, 16) == 15) {
        H5Pset_external(plist, "/dev/zero", 0, H5F_UNLIMITED);
    }
    return plist;
}

/* A set `name` of `data` where type and space let it be written at all. */
static void put_set(lies *c, hid_t group, const char *name, hid_t right,
                    hsize_t n, const void *data)
{
    hid_t type = some_type(c, right);
    hid_t space = some_space(c, n);
    hid_t plist = some_layout(c, space);
    hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, plist,
                           H5P_DEFAULT);
    hid_t memory = H5Screate_simple(1, &n, NULL);
    hsize_t first = 0;

    if (set >= 0 && H5Sget_simple_extent_npoints(space) >= (hssize_t)n) {
        H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &n, NULL);
        H5Dwrite(set, right, memory, space, H5P_DEFAULT, data);
    }
    if (set >= 0) {
        H5Dclose(set);
    }
    H5Sclose(memory);
    H5Pclose(plist);
    H5Sclose(space);
    H5Tclose(type);
}

static void put_attribute(lies *c, hid_t object, const char *name,
                          int32_t value)
{
    hsize_t n = lies_choose(c, 8) == 7 ? 1000 : 1;
    int32_t list[1000] = {0};
    hid_t type = some_type(c, H5T_NATIVE_INT32);
    hid_t space = H5Screate_simple(1, &n, NULL);
    hid_t a = lies_wrong(c) ? H5I_INVALID_HID
                            : H5Acreate2(object, name, type, space, H5P_DEFAULT,
                                         H5P_DEFAULT);

    list[0] = (int32_t)lies_number(c, value);
    if (a >= 0) {
        H5Awrite(a, H5T_NATIVE_INT32, list);
        H5Aclose(a);
    }
    H5Sclose(space);
    H5Tclose(type);
}

/* A text as an attribute or a set, perhaps many of them, or a link. */
static void put_text(lies *c, hid_t group, const char *name)
{
    char text[4096];
    hid_t type = H5Tcopy(H5T_C_S1);

    memset(text, 'x', sizeof text);
    H5Tset_size(type, 1 + lies_choose(c, 16));
    switch (lies_choose(c, 4)) {
    case 0: {
        hsize_t n = 1 + lies_choose(c, 200);
        hid_t space = H5Screate_simple(1, &n, NULL);
        hid_t a =
                H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);

        H5Awrite(a, type, text);
        H5Aclose(a);
        H5Sclose(space);
        break;
    }
    case 1:
        put_set(c, group, name, type, 1, text);
        break;
    case 2:
        H5Lcreate_external("/dev/zero", "x", group, name, H5P_DEFAULT,
                           H5P_DEFAULT);
        break;
    default:
        H5Lcreate_soft("/events", group, name, H5P_DEFAULT, H5P_DEFAULT);
        break;
    }
    H5Tclose(type);
}

static hid_t row_type(lies *c)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(row));
    hid_t word = H5Tcopy(H5T_C_S1);

    H5Tset_size(word, 11);
    H5Tinsert(type, "seq", HOFFSET(row, seq),
              lies_wrong(c) ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64);
    H5Tinsert(type, "time_s", HOFFSET(row, time_s), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "kind", HOFFSET(row, kind), word);
    H5Tinsert(type, lies_wrong(c) ? "offest" : "offset", HOFFSET(row, offset),
              H5T_NATIVE_INT64);
    H5Tinsert(type, "bytes", HOFFSET(row, bytes),
              lies_wrong(c) ? H5T_NATIVE_UINT32 : H5T_NATIVE_INT64);
    H5Tinsert(type, "digest", HOFFSET(row, digest), H5T_NATIVE_UINT64);
    H5Tclose(word);
    return type;
}

/* Events that could be, with wrong bytes here and there; their rows too. */
static int make_events(lies *c, row *rows, tri_buffer *bytes)
{
    int i, n = (int)lies_choose(c, MOST_EVENTS);
    tri_event e;

    for (i = 0; i < n; ++i) {
        size_t before = bytes->bytes;

        lies_event(&e, c, i);
        if (tri_event_pack(&e, bytes) != TRI_OK) {
            return i;
        }
        if (lies_wrong(c)) {
            bytes->data[before + lies_choose(c, 20)] ^=
                    (uint8_t)(1 + lies_choose(c, 255));
        }
        memset(&rows[i], 0, sizeof rows[i]);
        rows[i].seq = lies_number(c, i);
        rows[i].offset = lies_number(c, (int64_t)before);
        rows[i].bytes = lies_number(c, (int64_t)(bytes->bytes - before));
    }
    return n;
}

static void put_tables(lies *c, hid_t file)
{
    row rows[MOST_EVENTS];
    tri_buffer bytes;
    hid_t type = row_type(c);
    int n;

    tri_buffer_init(&bytes);
    n = make_events(c, rows, &bytes);
    if (!lies_wrong(c)) {
        put_set(c, file, "events", type, (hsize_t)n, rows);
    } else if (lies_choose(c, 2)) {
        H5Lcreate_external("/dev/zero", "events", file, "events", H5P_DEFAULT,
                           H5P_DEFAULT);
    }
    if (!lies_wrong(c)) {
        put_set(c, file, "blobs", H5T_NATIVE_UINT8, (hsize_t)bytes.bytes,
                bytes.data ? (const void *)bytes.data : "");
    }
    H5Tclose(type);
    tri_buffer_fini(&bytes);
}

static void make_file(const char *path, lies *c)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t group;

    put_attribute(c, file, "format_version", TRI_FORMAT_VERSION);
    if (!lies_wrong(c)) {
        group = H5Gcreate2(file, "study", H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);
        put_attribute(c, group, "epoch", 1);
        put_attribute(c, group, "folded", 1);
        put_text(c, group, "hostnames");
        put_text(c, group, "topology_xml");
        H5Gclose(group);
    }
    put_tables(c, file);
    H5Fclose(file);
}

/* ---- reading ------------------------------------------------------------- */

static void write_file(const char *path, const uint8_t *data, size_t bytes)
{
    FILE *out = fopen(path, "wbe");

    if (out) {
        fwrite(data, 1, bytes, out);
        fclose(out);
    }
}

/* What is left open is never given back. */
static hsize_t open_handles(void)
{
    static const H5I_type_t kinds[] = {
            H5I_FILE,    H5I_GROUP, H5I_DATATYPE,   H5I_DATASPACE,
            H5I_DATASET, H5I_ATTR,  H5I_GENPROP_LST};
    hsize_t n, sum = 0;
    size_t i;

    for (i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        n = 0;
        H5Inmembers(kinds[i], &n);
        sum += n;
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    lies c = {data, bytes, 1};
    const char *path = lies_path("h5");
    hsize_t before;

    if (tri_h5_start() != TRI_OK || bytes == 0) {
        return 0;
    }
    if (data[0] == 0x89) { /* as every HDF5 file begins */
        write_file(path, data, bytes);
    } else {
        make_file(path, &c);
    }
    before = open_handles();
    lies_read(path);
    if (open_handles() != before) {
        abort();
    }
    unlink(path);
    return 0;
}
