/*
 * Reading on in the last segment; see the header.
 */
#include "src/store/follow.h"

#include "src/store/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What one read takes; a record may be longer, then the piece grows. */
#define PIECE_BYTES ((size_t)4 << 20)
/* A tail that grows and yet is no record may be damage: read all anew, but not
 * more often than this. */
#define ANEW_S 10.0

struct tri_follow {
    tri_files files;
    tri_follower follower;
    tri_ctl *ctl;
    tri_arena *arena;
    tri_followed state;
    int fd;             /* the last segment, -1: none was read */
    int last_name;      /* the highest epoch of any segment when all was read */
    off_t next_bytes;   /* of a segment beyond that counts as none so far */
    off_t offset;       /* whole records of the last segment end here */
    off_t torn;         /* its length when the tail was torn; 0: it was not */
    double mtime_s;     /* of what was written last */
    struct stat tables; /* where there are no segments */
    unsigned char *piece;
    size_t room;
    double anew_s; /* when all was read last */
};

static double clock_s(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double mtime_of(const struct stat *info)
{
    return (double)info->st_mtim.tv_sec + 1e-9 * (double)info->st_mtim.tv_nsec;
}

tri_status tri_follow_create(const char *path, const tri_follower *follower,
                             tri_follow **out)
{
    tri_follow *f = calloc(1, sizeof *f);
    tri_status st;

    if (!f) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to follow a study");
    }
    f->fd = -1;
    f->follower = *follower;
    TRI_TRY_GOTO(st, tri_files_init(&f->files, path), free_follow);
    TRI_TRY_GOTO(st, tri_arena_create(&f->arena), free_follow);
    *out = f;
    return TRI_OK;
free_follow:
    free(f);
    return st;
}

static void close_segment(tri_follow *f)
{
    if (f->fd >= 0) {
        close(f->fd);
    }
    f->fd = -1;
}

void tri_follow_destroy(tri_follow *f)
{
    if (!f) {
        return;
    }
    close_segment(f);
    tri_ctl_destroy(f->ctl);
    tri_arena_destroy(f->arena);
    free(f->piece);
    free(f);
}

const tri_ctl *tri_follow_ctl(const tri_follow *f)
{
    return f->ctl;
}

void tri_follow_state(const tri_follow *f, tri_followed *out)
{
    double age = clock_s(CLOCK_REALTIME) - f->mtime_s;

    *out = f->state;
    out->age_s = age > 0 ? age : 0;
}

/* ---- all of it ------------------------------------------------------- */

/* Where the next look goes on.  The segment may have been folded in by now:
 * then that look reads all anew. */
static void note_place(tri_follow *f, const tri_history *h)
{
    char path[TRI_PATH_BYTES];
    const char *damage = tri_history_damage(h);

    close_segment(f);
    f->last_name = h->last_name;
    f->next_bytes = 0;
    f->torn = 0;
    f->mtime_s = h->mtime_s;
    f->state.events = h->n;
    f->state.epoch = h->epoch;
    f->state.is_live = h->live;
    snprintf(f->state.damage, sizeof f->state.damage, "%s",
             damage ? damage : "");
    memset(&f->tables, 0, sizeof f->tables);
    if (h->live && h->n_seals > 0 && !damage) {
        const tri_seal *last = &h->seals[h->n_seals - 1];

        tri_files_name(&f->files, TRI_FILE_JOURNAL, last->epoch, path);
        f->fd = open(path, O_RDONLY | O_CLOEXEC);
        f->offset = (off_t)last->bytes;
    } else if (!h->live && stat(f->files.path, &f->tables) != 0) {
        memset(&f->tables, 0, sizeof f->tables);
    }
}

static tri_status read_anew(tri_follow *f)
{
    tri_history *h = NULL;
    tri_ctl *ctl = NULL;
    tri_status st;

    f->anew_s = clock_s(CLOCK_MONOTONIC);
    TRI_TRY(tri_history_load(&f->files, &h));
    if (tri_history_n(h) == 0) {
        st = tri_history_damage(h)
                     ? TRI_FAIL(TRI_EJOURNAL, "%s", tri_history_damage(h))
                     : TRI_FAIL(TRI_ENOTFOUND, "%s holds no study yet",
                                f->files.path);
        goto destroy_history;
    }
    /* the follower forgets: with it goes what it was told of */
    f->follower.restart(f->follower.ctx);
    tri_ctl_destroy(f->ctl);
    f->ctl = NULL;
    st = tri_history_replay_each(h, f->follower.each, f->follower.ctx, &ctl,
                                 NULL);
    if (st != TRI_OK) {
        f->follower.restart(f->follower.ctx);
        goto destroy_history;
    }
    f->ctl = ctl;
    f->state.looks_anew += 1;
    note_place(f, h);
destroy_history:
    tri_history_destroy(h);
    return st;
}

/* ---- what is new ----------------------------------------------------- */

static tri_status feed(tri_follow *f, const tri_item *item)
{
    tri_entry entry = {item->seq, item->data, item->bytes, item->digest,
                       f->state.epoch};
    tri_commands commands;
    tri_event event;

    if (item->seq != f->state.events) {
        return TRI_FAIL(TRI_EMALFORMED, "event %lld where %lld is expected",
                        (long long)item->seq, (long long)f->state.events);
    }
    TRI_TRY(tri_event_unpack(item->data, item->bytes, f->arena, &event));
    TRI_TRY(tri_ctl_feed(f->ctl, &event, &commands));
    f->state.events += 1;
    return f->follower.each(f->follower.ctx, &event, &commands, &entry, f->ctl);
}

static tri_status make_room(tri_follow *f, size_t bytes)
{
    unsigned char *grown;

    if (bytes <= f->room) {
        return TRI_OK;
    }
    grown = realloc(f->piece, bytes);
    if (!grown) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a piece of the journal");
    }
    f->piece = grown;
    f->room = bytes;
    return TRI_OK;
}

/* Read up to `room` bytes at the offset; [out] how many came. */
static tri_status read_piece(tri_follow *f, size_t *out)
{
    size_t got = 0;

    while (got < f->room) {
        ssize_t n = pread(f->fd, f->piece + got, f->room - got,
                          f->offset + (off_t)got);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return TRI_FAIL(TRI_EIO, "cannot read the journal of %s: %s",
                            f->files.path, strerror(errno));
        }
        if (n == 0) {
            break;
        }
        got += (size_t)n;
    }
    *out = got;
    return TRI_OK;
}

/* Feed the whole records among `bytes` bytes; [out] bytes of them. */
static tri_status feed_piece(tri_follow *f, size_t bytes, size_t *whole)
{
    tri_item item;
    size_t at = 0;
    size_t n;

    while ((n = tri_item_unpack(f->piece + at, bytes - at, &item)) > 0) {
        TRI_TRY(feed(f, &item));
        at += n;
        f->offset += (off_t)n;
    }
    *whole = at;
    return TRI_OK;
}

/* [out] *torn: whether bytes that are no whole record follow. */
static tri_status read_on(tri_follow *f, int *torn)
{
    size_t bytes = 0;
    size_t whole = 0;
    int more = 1;

    TRI_TRY(make_room(f, PIECE_BYTES));
    while (more) {
        TRI_TRY(read_piece(f, &bytes));
        more = bytes == f->room;
        TRI_TRY(feed_piece(f, bytes, &whole));
        if (more && whole == 0) { /* a record longer than a piece? */
            more = bytes <= TRI_WIRE_MAX_BYTES;
            TRI_TRY(more ? make_room(f, 2 * f->room) : TRI_OK);
        }
    }
    *torn = whole < bytes;
    return TRI_OK;
}

/* The length of the newest segment, beyond the last that counts where that is
 * known; 0: there is none. */
static off_t newest_bytes(const tri_follow *f)
{
    char path[TRI_PATH_BYTES];
    int epoch = f->last_name + 1;
    struct stat info;
    int *epochs = NULL;
    int n = 0;

    if (!f->state.is_live) {
        if (tri_files_list(&f->files, TRI_FILE_JOURNAL, &epochs, &n) !=
            TRI_OK) {
            return 0;
        }
        epoch = n > 0 ? epochs[n - 1] : epoch;
        free(epochs);
    }
    tri_files_name(&f->files, TRI_FILE_JOURNAL, epoch, path);
    return stat(path, &info) == 0 ? info.st_size : 0;
}

/* An ended study's file is another by now. */
static int tables_changed(const tri_follow *f)
{
    struct stat info;

    return stat(f->files.path, &info) != 0 || info.st_ino != f->tables.st_ino ||
           info.st_size != f->tables.st_size ||
           mtime_of(&info) != mtime_of(&f->tables);
}

/* Whether what was read is not the whole story any more; [out] *info of the
 * last segment. */
static int is_stale(const tri_follow *f, struct stat *info)
{
    if (!f->state.is_live) {
        return tables_changed(f);
    }
    if (f->fd < 0) { /* damaged: what grows is read anew, now and then */
        return clock_s(CLOCK_MONOTONIC) - f->anew_s > ANEW_S;
    }
    return fstat(f->fd, info) != 0 || info->st_nlink == 0 ||
           info->st_size < f->offset;
}

/* Read what was appended to the last segment. */
static tri_status look_on(tri_follow *f, const struct stat *info)
{
    int torn = 0;

    f->mtime_s = mtime_of(info);
    if (info->st_size == f->offset) {
        f->torn = 0;
        return TRI_OK;
    }
    TRI_TRY(read_on(f, &torn));
    if (torn && f->torn > 0 && info->st_size != f->torn &&
        clock_s(CLOCK_MONOTONIC) - f->anew_s > ANEW_S) {
        return read_anew(f);
    }
    f->torn = torn ? info->st_size : 0;
    return TRI_OK;
}

tri_status tri_follow_look(tri_follow *f)
{
    struct stat info = {.st_size = 0};
    off_t newest;
    tri_status st;

    if (!f->ctl) {
        return read_anew(f);
    }
    newest = newest_bytes(f);
    if (newest != f->next_bytes || is_stale(f, &info)) {
        st = read_anew(f);
        f->next_bytes = st == TRI_OK ? newest : f->next_bytes;
        return st;
    }
    st = f->fd >= 0 ? look_on(f, &info) : TRI_OK;
    if (st == TRI_EMALFORMED || st == TRI_ENOMEM) {
        close_segment(f); /* what was fed is not to be trusted */
        f->anew_s = 0;
    }
    return st;
}
