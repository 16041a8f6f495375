/*
 * Finding a study's events: in its segments if there are any that count, else
 * in the file's tables.  Reads only.
 *
 * The last segment that counts is the authority: what it seals is read up to
 * the sealed length and must be unchanged there.  Where sealed segments are
 * gone, an ended opening was being folded into the tables when its program
 * died: then the file says so, and its tables hold everything.
 */
#include "src/store/history.h"

#include "src/store/h5file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void note_mtime(tri_history *h, const char *path)
{
    struct stat info;
    double at;

    if (stat(path, &info) == 0) {
        at = (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec;
        h->mtime_s = at > h->mtime_s ? at : h->mtime_s;
    }
}

static tri_status add_seal(tri_history *h, int epoch, uint64_t bytes,
                           uint64_t sum)
{
    size_t size = (size_t)(h->n_seals + 1) * sizeof *h->seals;
    tri_seal *grown = realloc(h->seals, size);

    if (!grown) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a list of seals");
    }
    h->seals = grown;
    h->seals[h->n_seals++] = (tri_seal){epoch, bytes, sum};
    return TRI_OK;
}

/* Push the records in the first `limit` bytes; [out] bytes of whole ones.
 * Takes the segment's data over. */
static tri_status push_records(tri_history *h, tri_segment *segment,
                               size_t limit, size_t *whole)
{
    unsigned char *data = segment->data;
    size_t at = segment->first;
    tri_item item;
    size_t n;

    segment->data = NULL;
    TRI_TRY(tri_history_adopt(h, data));
    while (at < limit && (n = tri_item_unpack(data + at, limit - at, &item))) {
        TRI_TRY(tri_history_push(h, &item));
        at += n;
    }
    *whole = at;
    return TRI_OK;
}

/* [out] *intact: 0 where the sealed segment is not there any more. */
static tri_status push_sealed(tri_history *h, const tri_files *files,
                              const tri_seal *seal, int *intact)
{
    tri_segment segment;
    size_t whole = 0;
    tri_status st = tri_segment_load(&segment, files, seal->epoch);

    if (st == TRI_ENOTFOUND) {
        *intact = 0;
        return TRI_OK;
    }
    TRI_TRY(st);
    if (segment.first == 0 || segment.first > seal->bytes ||
        segment.bytes < seal->bytes ||
        tri_segment_sum(&segment, (size_t)seal->bytes) != seal->sum) {
        st = TRI_FAIL(TRI_EMALFORMED, "segment %d is not as it was sealed",
                      seal->epoch);
    } else {
        st = push_records(h, &segment, (size_t)seal->bytes, &whole);
    }
    tri_segment_fini(&segment);
    if (st == TRI_OK && whole != seal->bytes) {
        st = TRI_FAIL(TRI_EMALFORMED, "segment %d is torn before its seal",
                      seal->epoch);
    }
    TRI_TRY(st);
    return add_seal(h, seal->epoch, seal->bytes, seal->sum);
}

static tri_status push_last(tri_history *h, const tri_files *files,
                            tri_segment *last)
{
    char path[TRI_PATH_BYTES];
    tri_segment view = *last; /* the data becomes the history's */
    size_t whole;

    TRI_TRY(push_records(h, last, last->bytes, &whole));
    TRI_TRY(add_seal(h, last->epoch, whole, tri_segment_sum(&view, whole)));
    h->epoch = last->epoch;
    tri_files_name(files, TRI_FILE_JOURNAL, last->epoch, path);
    note_mtime(h, path);
    return TRI_OK;
}

/* [out] *intact as above. */
static tri_status push_chain(tri_history *h, const tri_files *files,
                             tri_segment *last, int *intact)
{
    int i;

    for (i = 0; i < last->n_seals && *intact; ++i) {
        TRI_TRY(push_sealed(h, files, &last->seals[i], intact));
    }
    return *intact ? push_last(h, files, last) : TRI_OK;
}

/* The last segment that counts.  [out] *found: its epoch, 0 if there is
 * none. */
static tri_status find_last(const tri_files *files, const int *epochs, int n,
                            tri_segment *out, int *found)
{
    tri_status st;

    *found = 0;
    while (n-- > 0) {
        st = tri_segment_load(out, files, epochs[n]);
        if (st == TRI_ENOTFOUND) {
            continue; /* folded in since we listed it */
        }
        TRI_TRY(st);
        if (out->first > 0) {
            *found = epochs[n];
            return TRI_OK;
        }
        tri_segment_fini(out);
    }
    return TRI_OK;
}

/* Forget what a broken chain gave. */
static void restart(tri_history *h)
{
    h->n = 0;
    h->n_seals = 0;
    h->epoch = 0;
}

static tri_status load_tables(tri_history *h, const tri_files *files,
                              int at_least)
{
    struct stat info;
    int folded;

    if (stat(files->path, &info) != 0) {
        return TRI_FAIL(at_least ? TRI_EMALFORMED : TRI_ENOTFOUND,
                        at_least ? "segments of %s are missing"
                                 : "there is no study at %s",
                        files->path);
    }
    TRI_TRY(tri_h5file_read_events(files->path, h, &folded));
    if (at_least && !(folded && h->epoch >= at_least)) {
        return TRI_FAIL(TRI_EMALFORMED, "segments of %s are missing",
                        files->path);
    }
    return TRI_OK;
}

static tri_status load_segments(tri_history *h, const tri_files *files,
                                const int *epochs, int n, int *epoch)
{
    tri_segment last;
    int intact = 1;
    tri_status st;

    h->last_name = n > 0 ? epochs[n - 1] : 0;
    TRI_TRY(find_last(files, epochs, n, &last, epoch));
    if (*epoch == 0) {
        return TRI_OK;
    }
    st = push_chain(h, files, &last, &intact);
    tri_segment_fini(&last);
    TRI_TRY(st);
    h->live = intact;
    return TRI_OK;
}

static tri_status load(tri_history *h, const tri_files *files)
{
    int *epochs = NULL;
    int n = 0, epoch = 0;
    tri_status st = tri_files_list(files, TRI_FILE_JOURNAL, &epochs, &n);

    if (st == TRI_ENOTFOUND) {
        return TRI_FAIL(TRI_ENOTFOUND, "there is no study at %s", files->path);
    }
    TRI_TRY(st);
    st = load_segments(h, files, epochs, n, &epoch);
    free(epochs);
    TRI_TRY(st);
    note_mtime(h, files->path);
    if (!h->live) {
        restart(h);
        return load_tables(h, files, epoch);
    }
    return TRI_OK;
}

tri_status tri_history_load(const tri_files *files, tri_history **out)
{
    tri_history *h;
    tri_status st;

    TRI_TRY(tri_history_create(&h));
    st = load(h, files);
    if (st != TRI_OK) {
        tri_history_destroy(h);
        return st;
    }
    *out = h;
    return TRI_OK;
}
