/*
 * Finding a study's events: in its segments if there are any that count, else
 * in the file's tables.  Reads only.
 *
 * The last segment that counts is the authority: what it seals is read up to
 * the sealed length and must be unchanged there.  Where sealed segments are
 * gone, an ended opening was being folded into the tables when its program
 * died: then the file says so, and its tables hold everything.
 *
 * A segment may be damaged (tri_segment_is_damaged): what stands before is the
 * study, unless the tables hold more of the same, and the history says so.
 */
#include "src/store/history.h"

#include "src/store/h5file.h"

#include <stdio.h>
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

/* What comes from here on cannot be trusted. */
static void note_damage(tri_history *h, int epoch, int64_t last)
{
    h->damage.epoch = epoch;
    h->damage.last = last;
    h->damage.may_be_none = 0;
}

/* All of it is whole, so it was written, and not by us. */
static tri_status not_as_sealed(const tri_seal *seal)
{
    return TRI_FAIL(TRI_EMALFORMED, "segment %d is not as it was sealed",
                    seal->epoch);
}

/* [out] *intact: 0 where the sealed segment is not there any more. */
static tri_status push_sealed(tri_history *h, const tri_files *files,
                              const tri_seal *seal, int *intact)
{
    tri_segment segment;
    size_t size, whole = 0;
    int same;
    tri_status st = tri_segment_load(&segment, files, seal->epoch);

    if (st == TRI_ENOTFOUND) {
        *intact = 0;
        return TRI_OK;
    }
    TRI_TRY(st);
    size = segment.bytes < seal->bytes ? segment.bytes : (size_t)seal->bytes;
    same = size == seal->bytes && tri_segment_sum(&segment, size) == seal->sum;
    if (segment.first > 0) {
        st = push_records(h, &segment, size, &whole);
    }
    tri_segment_fini(&segment);
    TRI_TRY(st);
    if (whole != seal->bytes) {
        note_damage(h, seal->epoch, h->n);
        return TRI_OK;
    }
    return same ? add_seal(h, seal->epoch, seal->bytes, seal->sum)
                : not_as_sealed(seal);
}

static tri_status push_last(tri_history *h, const tri_files *files,
                            tri_segment *last)
{
    char path[TRI_PATH_BYTES];
    tri_segment view = *last; /* the data becomes the history's */
    int64_t seen;
    size_t whole;

    TRI_TRY(push_records(h, last, last->bytes, &whole));
    h->torn_bytes = view.bytes - whole;
    if (tri_segment_is_damaged(view.data, view.bytes, whole, h->n, &seen)) {
        note_damage(h, last->epoch, seen);
    }
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
        if (h->damage.epoch == last->seals[i].epoch) {
            return TRI_OK;
        }
    }
    return *intact ? push_last(h, files, last) : TRI_OK;
}

/* The last segment that counts.  [out] *found: its epoch, 0 if there is
 * none. */
static tri_status find_last(tri_history *h, const tri_files *files,
                            const int *epochs, int n, tri_segment *out,
                            int *found)
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
        if (out->is_headless) {
            note_damage(h, epochs[n], 0);
            h->damage.may_be_none = out->is_unbegun;
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
    h->folded = folded;
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
    TRI_TRY(find_last(h, files, epochs, n, &last, epoch));
    if (*epoch == 0) {
        return TRI_OK;
    }
    st = push_chain(h, files, &last, &intact);
    tri_segment_fini(&last);
    TRI_TRY(st);
    h->live = intact;
    return TRI_OK;
}

/* ---- damage ----------------------------------------------------------- */

/* The highest seq that is to be seen in a segment behind the damage. */
static void look_into(tri_history *h, const tri_files *files, int epoch)
{
    char path[TRI_PATH_BYTES];
    tri_segment s;
    int64_t seen;

    if (tri_segment_load(&s, files, epoch) == TRI_OK) {
        if (tri_segment_is_damaged(s.data, s.bytes, 0, h->n, &seen) &&
            seen > h->damage.last) {
            h->damage.last = seen;
        }
        tri_segment_fini(&s);
    }
    tri_files_name(files, TRI_FILE_JOURNAL, epoch, path);
    note_mtime(h, path);
}

/* Whether `t` goes on from where `h` ends. */
static int is_longer(const tri_history *t, const tri_history *h)
{
    int64_t i;

    if (t->n <= h->n) {
        return 0;
    }
    for (i = 0; i < h->n; ++i) {
        const tri_entry *a = &t->entries[i], *b = &h->entries[i];

        if (a->bytes != b->bytes || a->digest != b->digest ||
            memcmp(a->packed, b->packed, a->bytes) != 0) {
            return 0;
        }
    }
    return 1;
}

/* The tables follow the journal: they may hold what is damaged there. */
static tri_status use_tables(tri_history *h, const tri_files *files)
{
    tri_history *t, empty;

    TRI_TRY(tri_history_create(&t));
    if (load_tables(t, files, 0) == TRI_OK && is_longer(t, h)) {
        t->damage = h->damage;
        t->damage.from_tables = 1;
        t->last_name = h->last_name;
        t->epoch = t->epoch > h->epoch ? t->epoch : h->epoch;
        t->live = h->live;
        t->mtime_s = h->mtime_s;
        empty = *h;
        *h = *t;
        *t = empty;
    }
    tri_history_destroy(t);
    return TRI_OK;
}

static void say_damage(tri_history *h, const tri_files *files)
{
    tri_damage *d = &h->damage;
    int used;

    used = snprintf(d->sentence, sizeof d->sentence,
                    "%.100s.journal.%d is damaged: ", files->base, d->epoch);
    if (h->n > d->last) {
        snprintf(d->sentence + used, sizeof d->sentence - (size_t)used,
                 "its events are taken from the tables");
        return;
    }
    snprintf(d->sentence + used, sizeof d->sentence - (size_t)used,
             "events %lld..%lld cannot be trusted, the %lld before them %s",
             (long long)h->n, (long long)d->last, (long long)h->n,
             d->from_tables ? "are taken from the tables" : "are whole");
}

/* ---- all of it -------------------------------------------------------- */

static tri_status weigh_damage(tri_history *h, const tri_files *files,
                               const int *epochs, int n)
{
    int i;

    for (i = 0; i < n; ++i) {
        if (epochs[i] >= h->damage.epoch) {
            look_into(h, files, epochs[i]);
        }
    }
    TRI_TRY(use_tables(h, files));
    if (h->damage.may_be_none && !h->live && h->n > h->damage.last) {
        memset(&h->damage, 0, sizeof h->damage);
        return TRI_OK;
    }
    h->live = 1;
    say_damage(h, files);
    return TRI_OK;
}

/* What of the segments and the tables is the study. */
static tri_status choose(tri_history *h, const tri_files *files,
                         const int *epochs, int n)
{
    int epoch = 0;

    TRI_TRY(load_segments(h, files, epochs, n, &epoch));
    if (!h->live && (epoch > 0 || h->damage.epoch == 0)) {
        restart(h);
        TRI_TRY(load_tables(h, files, epoch));
    }
    if (h->damage.epoch > 0) {
        TRI_TRY(weigh_damage(h, files, epochs, n));
    }
    if (!h->live) { /* else they may be younger: recover makes them anew */
        note_mtime(h, files->path);
    }
    return TRI_OK;
}

static tri_status load(tri_history *h, const tri_files *files)
{
    int *epochs = NULL;
    int n = 0;
    tri_status st = tri_files_list(files, TRI_FILE_JOURNAL, &epochs, &n);

    if (st == TRI_ENOTFOUND) {
        return TRI_FAIL(TRI_ENOTFOUND, "there is no study at %s", files->path);
    }
    TRI_TRY(st);
    st = choose(h, files, epochs, n);
    free(epochs);
    return st;
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
