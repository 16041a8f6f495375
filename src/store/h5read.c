/*
 * Reading the events back from a study file's tables.  The file may be
 * anything: its types and extents are checked before use.
 */
#include "src/store/h5file.h"

#include "src/store/h5util.h"
#include "src/store/sys.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_ATTEMPTS 8
/* Deflate makes no more of a byte than this. */
#define MOST_INFLATED 1032

typedef struct event_row {
    int64_t seq, offset, bytes;
    uint64_t digest;
} event_row;

typedef struct reading {
    const char *path;
    event_row *rows;
    hsize_t n_rows;
    unsigned char *blobs;
    hsize_t n_bytes;
} reading;

static tri_status malformed(const char *path, const char *what)
{
    return TRI_FAIL(TRI_EMALFORMED, "%s is no study file: %s", path, what);
}

/* A pipe or a device would keep us waiting for ever. */
static int is_plain_file(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/*
 * One that was written to in SWMR mode and never closed opens only that way.
 * Then HDF5 reads metadata whose checksum is wrong again and again, as a writer
 * may be about to complete it, with pauses that double each time: few attempts,
 * since nobody writes to what we open (live studies are read by their journal).
 */
static hid_t open_file(const char *path)
{
    hid_t access, file;

    if (!is_plain_file(path)) {
        return H5I_INVALID_HID;
    }
    access = tri_h5_access();
    H5Pset_metadata_read_attempts(access, READ_ATTEMPTS);
    file = H5Fopen(path, H5F_ACC_RDONLY, access);
    if (file < 0) {
        file = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access);
    }
    H5Pclose(access);
    return file;
}

static hid_t event_type(void)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(event_row));

    H5Tinsert(type, "seq", HOFFSET(event_row, seq), H5T_NATIVE_INT64);
    H5Tinsert(type, "offset", HOFFSET(event_row, offset), H5T_NATIVE_INT64);
    H5Tinsert(type, "bytes", HOFFSET(event_row, bytes), H5T_NATIVE_INT64);
    H5Tinsert(type, "digest", HOFFSET(event_row, digest), H5T_NATIVE_UINT64);
    return type;
}

static int has_integers(hid_t type)
{
    static const char *const names[] = {"seq", "offset", "bytes", "digest"};
    size_t i;

    if (H5Tget_class(type) != H5T_COMPOUND) {
        return 0;
    }
    for (i = 0; i < sizeof names / sizeof names[0]; ++i) {
        int member = H5Tget_member_index(type, names[i]);

        if (member < 0 ||
            H5Tget_member_class(type, (unsigned)member) != H5T_INTEGER) {
            return 0;
        }
    }
    return 1;
}

/* Whether `n` elements can be in the set: an extent is no reason to believe in
 * terabytes of them. */
static int is_stored(hid_t set, hid_t in_file, hsize_t n)
{
    hsize_t most = MOST_INFLATED * (hsize_t)H5Dget_storage_size(set);
    size_t each = H5Tget_size(in_file);

    return each > 0 && n <= most / each;
}

/* The set's elements, read whole into malloc'd memory. */
static tri_status read_set(const reading *r, hid_t set, hid_t type,
                           hid_t in_file, size_t each, void **out, hsize_t *n)
{
    hid_t space = H5Dget_space(set);
    int rank = H5Sget_simple_extent_ndims(space);
    hsize_t size = 0;
    void *data;

    if (rank == 1) {
        H5Sget_simple_extent_dims(space, &size, NULL);
    }
    H5Sclose(space);
    if (rank != 1 || !is_stored(set, in_file, size) ||
        size > SIZE_MAX / 2 / each) {
        return malformed(r->path, "a table of another shape");
    }
    data = calloc((size_t)size + 1, each);
    if (!data) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to read %s", r->path);
    }
    if (size > 0 &&
        H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
        free(data);
        return malformed(r->path, "a table cannot be read");
    }
    *out = data;
    *n = size;
    return TRI_OK;
}

static tri_status read_rows(reading *r, hid_t file)
{
    hid_t set = H5Dopen2(file, "events", H5P_DEFAULT);
    hid_t in_file, type;
    void *rows = NULL;
    tri_status st;

    if (set < 0) {
        return malformed(r->path, "no table events");
    }
    in_file = H5Dget_type(set);
    if (has_integers(in_file)) {
        type = event_type();
        st = read_set(r, set, type, in_file, sizeof(event_row), &rows,
                      &r->n_rows);
        r->rows = rows;
        H5Tclose(type);
    } else {
        st = malformed(r->path, "events has other columns");
    }
    H5Tclose(in_file);
    H5Dclose(set);
    return st;
}

static tri_status read_blobs(reading *r, hid_t file)
{
    hid_t set = H5Dopen2(file, "blobs", H5P_DEFAULT);
    hid_t type;
    void *blobs = NULL;
    tri_status st;

    if (set < 0) {
        return malformed(r->path, "no blobs");
    }
    type = H5Dget_type(set);
    if (H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) == 1) {
        st = read_set(r, set, H5T_NATIVE_UINT8, type, 1, &blobs, &r->n_bytes);
        r->blobs = blobs;
    } else {
        st = malformed(r->path, "blobs are no bytes");
    }
    H5Tclose(type);
    H5Dclose(set);
    return st;
}

static tri_status read_head(const char *path, hid_t file, int *epoch,
                            int *folded)
{
    hid_t group;
    int32_t version, e = 0, f = 0;

    if (tri_h5_get_i32(file, "format_version", &version) < 0) {
        return malformed(path, "it has no format_version");
    }
    if (version != TRI_FORMAT_VERSION) {
        return TRI_FAIL(TRI_EVERSION, "%s has format version %d, not %d", path,
                        version, TRI_FORMAT_VERSION);
    }
    group = H5Gopen2(file, "study", H5P_DEFAULT);
    if (group < 0) {
        return malformed(path, "no group study");
    }
    tri_h5_get_i32(group, "epoch", &e);
    tri_h5_get_i32(group, "folded", &f);
    H5Gclose(group);
    *epoch = e;
    *folded = f != 0;
    return TRI_OK;
}

static tri_status push_rows(const reading *r, tri_history *h)
{
    hsize_t i;

    for (i = 0; i < r->n_rows; ++i) {
        const event_row *row = &r->rows[i];
        tri_item item = {row->seq, NULL, (size_t)row->bytes, row->digest};

        if (row->offset < 0 || row->bytes < 0 ||
            (hsize_t)row->offset > r->n_bytes ||
            (hsize_t)row->bytes > r->n_bytes - (hsize_t)row->offset) {
            return malformed(r->path, "an event lies outside of blobs");
        }
        item.data = r->blobs + row->offset;
        TRI_TRY(tri_history_push(h, &item));
    }
    return TRI_OK;
}

static tri_status read_file(reading *r, hid_t file, tri_history *h, int *folded)
{
    unsigned char *blobs;
    int epoch = 0;

    TRI_TRY(read_head(r->path, file, &epoch, folded));
    TRI_TRY(read_rows(r, file));
    TRI_TRY(read_blobs(r, file));
    blobs = r->blobs;
    TRI_TRY(tri_history_adopt(h, blobs));
    TRI_TRY(push_rows(r, h));
    h->epoch = epoch > h->epoch ? epoch : h->epoch;
    return TRI_OK;
}

/* Why open_file failed. */
static tri_status not_opened(const char *path)
{
    int fd;

    if (!is_plain_file(path)) {
        return malformed(path, "it is not a file");
    }
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return tri_sys_fail(TRI_EIO, "open", path);
    }
    close(fd);
    return malformed(path, "HDF5 cannot open it");
}

tri_status tri_h5file_read_events(const char *path, tri_history *h, int *folded)
{
    reading r;
    tri_status st;
    hid_t file;

    TRI_TRY(tri_h5_start());
    memset(&r, 0, sizeof r);
    r.path = path;
    file = open_file(path);
    if (file < 0) {
        return not_opened(path);
    }
    st = read_file(&r, file, h, folded);
    free(r.rows);
    H5Fclose(file);
    return st;
}

char *tri_h5file_read_text(const char *path, const char *name)
{
    char *text = NULL;
    hid_t file, group;

    if (tri_h5_start() == TRI_OK && (file = open_file(path)) >= 0) {
        group = H5Gopen2(file, "study", H5P_DEFAULT);
        if (group >= 0) {
            text = tri_h5_get_text(group, name);
            H5Gclose(group);
        }
        H5Fclose(file);
    }
    return text ? text : strdup("");
}
