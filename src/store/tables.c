/*
 * Making tables anew; see the header.  Rows go through batches of bounded
 * size, so memory does not grow with the study.
 */
#include "src/store/tables.h"

#include "src/store/sys.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BATCH_BYTES ((size_t)8 << 20)

typedef struct filling {
    const tri_tables_source *source;
    const tri_schema *schema;
    tri_h5file *file;
    tri_batch batch;
    tri_stream stream;
} filling;

static tri_status write_out(filling *f, size_t least)
{
    if (tri_batch_bytes(&f->batch) < least) {
        return TRI_OK;
    }
    TRI_TRY(tri_h5file_write(f->file, &f->batch));
    tri_batch_clear(&f->batch);
    return TRI_OK;
}

static tri_status fill_events(filling *f, tri_arena *arena)
{
    const tri_history *h = f->source->history;
    tri_event event;
    tri_entry entry;
    int64_t i;

    for (i = 0; i < tri_history_n(h); ++i) {
        tri_history_entry(h, i, &entry);
        TRI_TRY(tri_event_unpack(entry.packed, entry.bytes, arena, &event));
        TRI_TRY(tri_rows_event(&f->batch, f->schema, &f->stream, &event,
                               entry.packed, entry.bytes, entry.digest));
        TRI_TRY(write_out(f, BATCH_BYTES));
    }
    return TRI_OK;
}

static tri_status fill_trials(filling *f)
{
    const tri_ctl *ctl = f->source->ctl;
    int64_t i;

    for (i = 0; i < tri_ctl_n_trials(ctl); ++i) {
        TRI_TRY(tri_rows_trial(&f->batch, f->schema, ctl, i));
        TRI_TRY(write_out(f, BATCH_BYTES));
    }
    return TRI_OK;
}

static tri_status fill_runs(filling *f)
{
    const tri_ledger *ledger = f->source->ledger;
    int64_t i;

    for (i = 0; i < ledger->n_ended; ++i) {
        TRI_TRY(tri_rows_run(&f->batch, f->schema, ledger, f->source->ctl,
                             ledger->ended[i]));
        TRI_TRY(write_out(f, BATCH_BYTES));
    }
    return TRI_OK;
}

static tri_status fill_small(filling *f)
{
    const tri_ledger *ledger = f->source->ledger;
    int i;

    for (i = 0; i < ledger->n_ranks; ++i) {
        TRI_TRY(tri_rows_rank(&f->batch, f->schema, ledger, f->source->ctl, i));
    }
    for (i = 0; i < ledger->n_openings; ++i) {
        int over = i + 1 < ledger->n_openings || f->source->last_is_over;

        TRI_TRY(tri_rows_opening(&f->batch, f->schema, ledger, i, over));
    }
    return TRI_OK;
}

static tri_status fill(filling *f)
{
    tri_arena *arena;
    tri_status st;

    TRI_TRY(tri_arena_create(&arena));
    st = fill_events(f, arena);
    tri_arena_destroy(arena);
    TRI_TRY(st);
    TRI_TRY(fill_trials(f));
    TRI_TRY(fill_runs(f));
    TRI_TRY(fill_small(f));
    return write_out(f, 1);
}

/* Nobody else knows of the file: no fence is needed to take it away.  HDF5 may
 * hold it open for ever: its room is given back first. */
static void take_away(const char *path)
{
    tri_error error = *tri_error_last();
    struct stat info;
    int fd;

    if (stat(path, &info) == 0) {
        fd = tri_sys_now->create(path, 0);
        if (fd >= 0) {
            close(fd);
        }
        tri_sys_now->unlink(path);
    }
    TRI_FAIL(error.code, "%s", error.sentence);
}

void tri_tables_discard(tri_h5file *file, const char *path)
{
    tri_error error = *tri_error_last();

    tri_h5file_close(file);
    TRI_FAIL(error.code, "%s", error.sentence);
    take_away(path);
}

tri_status tri_tables_build(const char *path, const tri_schema *schema,
                            const tri_tables_source *source, int compact,
                            tri_stream *stream, tri_h5file **out)
{
    tri_h5facts facts = {tri_ctl_study(source->ctl), source->facts,
                         source->epoch, source->folded};
    filling f;
    tri_status st;

    memset(&f, 0, sizeof f);
    f.source = source;
    f.schema = schema;
    st = tri_h5file_create(path, schema, &facts, compact, &f.file);
    if (st != TRI_OK) {
        take_away(path);
        return st;
    }
    tri_batch_init(&f.batch);
    st = fill(&f);
    tri_batch_fini(&f.batch);
    if (st != TRI_OK) {
        tri_tables_discard(f.file, path);
        return st;
    }
    *stream = f.stream;
    *out = f.file;
    return TRI_OK;
}

static tri_status write_closed(const char *path, const tri_schema *schema,
                               const tri_tables_source *source)
{
    tri_stream stream;
    tri_h5file *file;
    tri_status st;

    TRI_TRY(tri_tables_build(path, schema, source, 1, &stream, &file));
    st = tri_h5file_close(file);
    if (st == TRI_OK) {
        st = tri_sys_sync_path(path);
    }
    if (st != TRI_OK) {
        take_away(path);
    }
    return st;
}

tri_status tri_tables_write(const char *path, const tri_tables_source *source)
{
    tri_widths widths = tri_ledger_widths(source->ledger, source->ctl);
    tri_schema schema;
    tri_status st;

    TRI_TRY(tri_schema_init(&schema, source->ctl, &widths));
    st = write_closed(path, &schema, source);
    tri_schema_fini(&schema);
    return st;
}

/* Of a replay: a ledger, and somebody who wants to know too. */
typedef struct noting {
    tri_ledger *ledger;
    tri_tables_note_fn note;
    void *ctx;
} noting;

static tri_status note(void *ctx, const tri_event *event,
                       const tri_commands *commands, const tri_entry *entry,
                       tri_ctl *ctl)
{
    noting *n = ctx;

    TRI_TRY(tri_ledger_note(n->ledger, event, entry->bytes, ctl));
    return n->note ? n->note(n->ctx, event, ctl) : TRI_OK;
}

tri_status tri_tables_replay_each(const tri_history *history, tri_ctl **ctl,
                                  tri_ledger *ledger, tri_replay *counts,
                                  tri_tables_note_fn each, void *ctx)
{
    noting n = {ledger, each, ctx};
    tri_status st;

    tri_ledger_init(ledger);
    st = tri_history_replay_each(history, note, &n, ctl, counts);
    if (st != TRI_OK) {
        tri_ledger_fini(ledger);
    }
    return st;
}

tri_status tri_tables_replay(const tri_history *history, tri_ctl **ctl,
                             tri_ledger *ledger, tri_replay *counts)
{
    return tri_tables_replay_each(history, ctl, ledger, counts, NULL, NULL);
}
