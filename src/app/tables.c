/*
 * Studies whose tables lie elsewhere than they say: where --table points, or
 * in the record that an earlier opening attached them to.  The study reader
 * asks for the path that the study gives and never learns of it, so that
 * records, workers and replays know a table by that one path.
 */
#include "src/app/app.h"

#include "trireme/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct source {
    const char *table;  /* a CSV or a folder; NULL: where the study says */
    const char *record; /* its name, for sentences */
    const tri_attachment *kept;
    int n_kept; /* in the order in which they were asked for */
    int asked;
    char wanted[4096], place[4096]; /* the last one: as asked for, as read */
} source;

static int is_folder(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Where the table that the study calls `path` really is, into buf. */
static tri_status locate(const source *s, const char *path, char *buf,
                         size_t bytes)
{
    const char *slash = strrchr(path, '/');

    if (!s->table) {
        snprintf(buf, bytes, "%s", path);
    } else if (is_folder(s->table)) {
        snprintf(buf, bytes, "%s/%s", s->table, slash ? slash + 1 : path);
    } else if (s->asked > 0) {
        return TRI_FAIL(TRI_EINVAL,
                        "--table names one file, and the study reads several; "
                        "name the folder that holds them");
    } else {
        snprintf(buf, bytes, "%s", s->table);
    }
    return TRI_OK;
}

static tri_status take_kept(const tri_attachment *kept, char **data,
                            size_t *bytes)
{
    char *copy = malloc(kept->text.bytes + 1);

    if (!copy) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %s", kept->path);
    }
    memcpy(copy, kept->text.data, kept->text.bytes);
    copy[kept->text.bytes] = '\0';
    *data = copy;
    *bytes = kept->text.bytes;
    return TRI_OK;
}

/* A table that is there again must be the one that the study was begun with. */
static tri_status check_same(const source *s, const tri_attachment *kept,
                             const char *path, char *data, size_t bytes)
{
    if (bytes == kept->text.bytes &&
        memcmp(data, kept->text.data, bytes) == 0) {
        return TRI_OK;
    }
    free(data);
    return TRI_FAIL(TRI_EINVAL,
                    "%s is not the table that %s was begun with; at a resume "
                    "a table may not change",
                    path, s->record);
}

/* A tri_read_fn. */
static tri_status read_table(void *ctx, const char *path, char **data,
                             size_t *bytes)
{
    source *s = ctx;
    char *place = s->place;
    const tri_attachment *kept = NULL;
    char *text = NULL;
    size_t n = 0;
    tri_status st;

    TRI_TRY(locate(s, path, place, sizeof s->place));
    snprintf(s->wanted, sizeof s->wanted, "%s", path);
    if (s->asked < s->n_kept) {
        kept = &s->kept[s->asked];
    }
    s->asked++;
    st = tri_app_read(NULL, place, &text, &n);
    if (st != TRI_OK && kept && !s->table) {
        tri_error_clear();
        return take_kept(kept, data, bytes);
    }
    TRI_TRY(st);
    if (kept) {
        TRI_TRY(check_same(s, kept, place, text, n));
    }
    *data = text;
    *bytes = n;
    return TRI_OK;
}

/* An error in a table names the file that was read. */
static void blame_place(const source *s)
{
    tri_error e = *tri_error_last();

    if (*s->place && strcmp(e.file, s->wanted) == 0) {
        tri_error_set(e.code, e.src_file, e.src_line, "%s", e.sentence);
        tri_error_place(s->place, e.line, e.column);
    }
}

/* The study's text by `s`. */
static tri_status parse(const char *path, source *s, tri_study **out)
{
    char *text = NULL;
    size_t bytes = 0;
    tri_status st = tri_app_read(NULL, path, &text, &bytes);

    if (st == TRI_OK) {
        st = tri_study_parse(text, bytes, path, read_table, s, out);
    }
    free(text);
    if (st == TRI_OK && s->table && s->asked == 0) {
        tri_study_destroy(*out);
        *out = NULL;
        st = TRI_FAIL(TRI_EINVAL, "--table is for studies of model kind table");
    }
    if (st != TRI_OK) {
        blame_place(s);
        tri_error_place(path, 0, 0);
    }
    return st;
}

/* Point `s` at what the first opening in `history` attached. */
static tri_status find_kept(const tri_history *history, tri_arena *arena,
                            source *s)
{
    tri_entry entry;
    tri_event event;

    if (tri_history_n(history) == 0) {
        return TRI_OK;
    }
    tri_history_entry(history, 0, &entry);
    TRI_TRY(tri_event_unpack(entry.packed, entry.bytes, arena, &event));
    if (event.kind == TRI_EV_OPEN) {
        s->kept = event.u.open.attachments;
        s->n_kept = event.u.open.n_attachments;
    }
    return TRI_OK;
}

tri_status tri_app_study_with(const char *path, const char *table,
                              const char *record, tri_study **out)
{
    source s = {.table = table, .record = record};
    tri_history *history = NULL;
    tri_arena *arena = NULL;
    tri_status st;

    if (!record || !tri_record_exists(record)) {
        return parse(path, &s, out);
    }
    TRI_TRY(tri_arena_create(&arena));
    if (tri_history_read(record, &history) != TRI_OK ||
        find_kept(history, arena, &s) != TRI_OK) {
        tri_error_clear(); /* the opening says what is wrong with it */
    }
    st = parse(path, &s, out);
    tri_history_destroy(history);
    tri_arena_destroy(arena);
    return st;
}

tri_status tri_app_study(const char *path, tri_study **out)
{
    return tri_app_study_with(path, NULL, NULL, out);
}

tri_status tri_app_study_name(const char *path, char *buf, size_t bytes)
{
    char *text = NULL;
    size_t n = 0;
    tri_status st = tri_app_read(NULL, path, &text, &n);

    if (st == TRI_OK) {
        st = tri_study_name(text, n, path, buf, bytes);
    }
    if (st != TRI_OK) {
        tri_error_place(path, 0, 0);
    }
    free(text);
    return st;
}
