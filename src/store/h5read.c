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
/* No row of ours is as wide. */
#define MOST_ROW  65536
#define PART_ROWS 65536

typedef struct event_row {
    int64_t seq, offset, bytes;
    uint64_t digest;
} event_row;

typedef struct reading {
    const char *path;
    event_row *rows;
    hsize_t n_rows;
    unsigned char *blobs;
    int64_t blob_bytes; /* that the rows are about */
    hsize_t file_bytes;
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
 * terabytes of them, nor is what the file says of its own size. */
static int is_stored(const reading *r, hid_t set, hid_t in_file, hsize_t n)
{
    hsize_t stored = H5Dget_storage_size(set);
    size_t each = H5Tget_size(in_file);

    stored = stored < r->file_bytes ? stored : r->file_bytes;
    return each > 0 && each <= MOST_ROW && n <= MOST_INFLATED * stored / each;
}

/* [out] *n: how many elements a set has that is a table of ours. */
static tri_status count_set(const reading *r, hid_t set, hid_t in_file,
                            hsize_t *n)
{
    hid_t space = H5Dget_space(set);
    int rank = H5Sget_simple_extent_ndims(space);
    hsize_t size = 0;

    if (rank == 1) {
        H5Sget_simple_extent_dims(space, &size, NULL);
    }
    H5Sclose(space);
    if (rank != 1 || !tri_h5_is_own(set) || !is_stored(r, set, in_file, size)) {
        return malformed(r->path, "a table of another shape");
    }
    *n = size;
    return TRI_OK;
}

/* Read `n` elements from `first` on. */
static tri_status read_part(const reading *r, hid_t set, hid_t type,
                            hsize_t first, hsize_t n, void *out)
{
    hid_t space = H5Dget_space(set);
    hid_t memory = H5Screate_simple(1, &n, NULL);
    herr_t result;

    H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &n, NULL);
    result = H5Dread(set, type, memory, space, H5P_DEFAULT, out);
    H5Sclose(memory);
    H5Sclose(space);
    return result < 0 ? malformed(r->path, "a table cannot be read") : TRI_OK;
}

/* Rows as a writer makes them: numbered, their bytes one after the other. */
static tri_status check_rows(reading *r, hsize_t first, hsize_t n)
{
    hsize_t i;

    for (i = first; i < first + n; ++i) {
        const event_row *row = &r->rows[i];

        if (row->seq != (int64_t)i || row->offset != r->blob_bytes ||
            row->bytes < 0 || row->bytes > TRI_WIRE_MAX_BYTES) {
            return malformed(r->path, "an event lies outside of blobs");
        }
        r->blob_bytes += row->bytes;
    }
    return TRI_OK;
}

/* Part by part, so that nothing is made room for that is not there. */
static tri_status read_parts(reading *r, hid_t set, hid_t type)
{
    hsize_t at, n, room = 0;

    for (at = 0; at < r->n_rows; at += n) {
        n = r->n_rows - at < PART_ROWS ? r->n_rows - at : PART_ROWS;
        if (at + n > room) {
            event_row *grown;

            room = 2 * room > at + n ? 2 * room : at + n;
            grown = realloc(r->rows, (size_t)room * sizeof *grown);
            if (!grown) {
                return TRI_FAIL(TRI_ENOMEM, "no memory to read %s", r->path);
            }
            r->rows = grown;
        }
        TRI_TRY(read_part(r, set, type, at, n, r->rows + at));
        TRI_TRY(check_rows(r, at, n));
    }
    return TRI_OK;
}

static hid_t open_set(hid_t file, const char *name)
{
    return tri_h5_is_here(file, name) ? H5Dopen2(file, name, H5P_DEFAULT)
                                      : H5I_INVALID_HID;
}

static hid_t open_study(hid_t file)
{
    return tri_h5_is_here(file, "study") ? H5Gopen2(file, "study", H5P_DEFAULT)
                                         : H5I_INVALID_HID;
}

static tri_status read_rows(reading *r, hid_t file)
{
    hid_t set = open_set(file, "events");
    hid_t in_file, type;
    tri_status st;

    if (set < 0) {
        return malformed(r->path, "no table events");
    }
    in_file = H5Dget_type(set);
    type = event_type();
    if (has_integers(in_file)) {
        st = count_set(r, set, in_file, &r->n_rows);
        st = st == TRI_OK ? read_parts(r, set, type) : st;
    } else {
        st = malformed(r->path, "events has other columns");
    }
    H5Tclose(type);
    H5Tclose(in_file);
    H5Dclose(set);
    return st;
}

/* All that the rows are about; what a writer that died had beyond is no
 * matter. */
static tri_status read_bytes(reading *r, hid_t set, hid_t in_file)
{
    size_t bytes = (size_t)r->blob_bytes;
    hsize_t size = 0;

    TRI_TRY(count_set(r, set, in_file, &size));
    if ((hsize_t)bytes > size) {
        return malformed(r->path, "an event lies outside of blobs");
    }
    r->blobs = malloc(bytes + 1);
    if (!r->blobs) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to read %s", r->path);
    }
    return bytes > 0 ? read_part(r, set, H5T_NATIVE_UINT8, 0, bytes, r->blobs)
                     : TRI_OK;
}

static tri_status read_blobs(reading *r, hid_t file)
{
    hid_t set = open_set(file, "blobs");
    hid_t type;
    tri_status st;

    if (set < 0) {
        return malformed(r->path, "no blobs");
    }
    type = H5Dget_type(set);
    if (H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) == 1) {
        st = read_bytes(r, set, type);
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
    group = open_study(file);
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

static tri_status push_rows(const reading *r, const unsigned char *blobs,
                            tri_history *h)
{
    hsize_t i;

    for (i = 0; i < r->n_rows; ++i) {
        const event_row *row = &r->rows[i];
        tri_item item = {row->seq, NULL, (size_t)row->bytes, row->digest};

        item.data = blobs + row->offset;
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
    r->blobs = NULL;
    TRI_TRY(tri_history_adopt(h, blobs));
    TRI_TRY(push_rows(r, blobs, h));
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
    struct stat info;
    reading r;
    tri_status st;
    hid_t file;

    TRI_TRY(tri_h5_start());
    memset(&r, 0, sizeof r);
    r.path = path;
    r.file_bytes = stat(path, &info) == 0 ? (hsize_t)info.st_size : 0;
    file = open_file(path);
    if (file < 0) {
        return not_opened(path);
    }
    st = read_file(&r, file, h, folded);
    free(r.rows);
    free(r.blobs);
    H5Fclose(file);
    return st;
}

char *tri_h5file_read_text(const char *path, const char *name)
{
    char *text = NULL;
    hid_t file, group;

    if (tri_h5_start() == TRI_OK && (file = open_file(path)) >= 0) {
        group = open_study(file);
        if (group >= 0) {
            text = tri_h5_get_text(group, name);
            H5Gclose(group);
        }
        H5Fclose(file);
    }
    return text ? text : strdup("");
}
