/*
 * The list of a study's events, as read from wherever they are.
 */
#include "src/store/history.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

tri_status tri_history_create(tri_history **out)
{
    tri_history *h = calloc(1, sizeof *h);
    tri_status st;

    if (!h) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a history");
    }
    st = tri_arena_create(&h->arena);
    if (st != TRI_OK) {
        free(h);
        return st;
    }
    *out = h;
    return TRI_OK;
}

void tri_history_destroy(tri_history *h)
{
    int i;

    if (!h) {
        return;
    }
    for (i = 0; i < h->n_buffers; ++i) {
        free(h->buffers[i]);
    }
    free(h->buffers);
    free(h->entries);
    free(h->seals);
    tri_arena_destroy(h->arena);
    free(h);
}

tri_status tri_history_adopt(tri_history *h, unsigned char *buffer)
{
    size_t bytes = (size_t)(h->n_buffers + 1) * sizeof *h->buffers;
    unsigned char **grown = realloc(h->buffers, bytes);

    if (!grown) {
        free(buffer);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a list of buffers");
    }
    h->buffers = grown;
    h->buffers[h->n_buffers++] = buffer;
    return TRI_OK;
}

static tri_status grow(tri_history *h)
{
    int64_t capacity = h->capacity ? 2 * h->capacity : 256;
    tri_entry *grown;

    if (h->n < h->capacity) {
        return TRI_OK;
    }
    grown = realloc(h->entries, (size_t)capacity * sizeof *grown);
    if (!grown) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %lld events",
                        (long long)capacity);
    }
    h->entries = grown;
    h->capacity = capacity;
    return TRI_OK;
}

/* An open event begins an epoch. */
static tri_status note_open(tri_history *h, const tri_item *item)
{
    tri_event event;

    if (item->bytes > TRI_KIND_AT && item->data[TRI_KIND_AT] == TRI_EV_OPEN) {
        TRI_TRY(tri_event_unpack(item->data, item->bytes, h->arena, &event));
        h->epoch = event.u.open.epoch;
    }
    return TRI_OK;
}

tri_status tri_history_push(tri_history *h, const tri_item *item)
{
    tri_entry *entry;

    if (item->seq != h->n) {
        return TRI_FAIL(TRI_EMALFORMED, "event %lld where %lld is expected",
                        (long long)item->seq, (long long)h->n);
    }
    TRI_TRY(grow(h));
    TRI_TRY(note_open(h, item));
    entry = &h->entries[h->n++];
    entry->seq = item->seq;
    entry->packed = item->data;
    entry->bytes = item->bytes;
    entry->digest = item->digest;
    entry->epoch = h->epoch;
    return TRI_OK;
}

tri_status tri_history_read(const char *path, tri_history **out)
{
    tri_files files;

    TRI_TRY(tri_files_init(&files, path));
    return tri_history_load(&files, out);
}

const char *tri_history_damage(const tri_history *h)
{
    return h->damage.epoch ? h->damage.sentence : NULL;
}

int64_t tri_history_n(const tri_history *h)
{
    return h->n;
}

void tri_history_entry(const tri_history *h, int64_t i, tri_entry *out)
{
    *out = h->entries[i];
}

int tri_history_epoch(const tri_history *h)
{
    return h->epoch;
}

int tri_history_is_live(const tri_history *h)
{
    return h->live;
}

double tri_history_age_s(const tri_history *h)
{
    struct timespec now;
    double age;

    clock_gettime(CLOCK_REALTIME, &now);
    age = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec - h->mtime_s;
    return age > 0 ? age : 0;
}
