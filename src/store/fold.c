/*
 * Between segments and tables: beginning the live file, and folding the
 * segments in at an orderly end.
 *
 * Folding: a complete file is built beside, synced, renamed in place; only
 * then the segments go, the oldest first and our own last, so that whatever is
 * left at any moment is either complete or plainly not.
 */
#include "src/store/record.h"

#include "src/store/sys.h"
#include "trireme/log.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The journal as a fence. */
static tri_status rename_fenced(const tri_record *r, const char *from)
{
    const tri_journal *j = r->journal;

    return tri_files_rename(&r->files, j->epoch, j->fd, from, r->files.path);
}

static tri_status remove_fenced(const tri_record *r, const char *path)
{
    const tri_journal *j = r->journal;

    return tri_files_remove(&r->files, j->epoch, j->fd, path);
}

tri_status tri_record_blame(const tri_record *r, tri_status st)
{
    tri_error error = *tri_error_last();

    if (st == TRI_OK || tri_files_fence(&r->files, r->journal->epoch,
                                        r->journal->fd) == TRI_EFENCED) {
        return st == TRI_OK ? TRI_OK : TRI_EFENCED;
    }
    return TRI_FAIL(st, "%s", error.sentence);
}

/* What this opening journalled, if the disk still says the same. */
static tri_status load_own(const tri_record *r, tri_history **out)
{
    const char *damage;
    tri_history *h;
    tri_status st;

    TRI_TRY(tri_history_load(&r->files, &h));
    damage = tri_history_damage(h);
    if (damage) {
        st = TRI_FAIL(TRI_EJOURNAL, "%s; see `trireme recover`", damage);
        tri_history_destroy(h);
        return st;
    }
    *out = h;
    return TRI_OK;
}

/* ---- the live file ---------------------------------------------------- */

static tri_status build_live(tri_record *r, const tri_ctl *ctl,
                             const char *path, tri_h5file **out)
{
    tri_tables_source source = {
            NULL, &r->ledger, ctl, &r->facts, r->journal->epoch, 0, 0};
    tri_history *history;
    tri_status st;

    TRI_TRY(tri_schema_init(&r->schema, ctl, &tri_widths_live));
    r->has_schema = 1;
    TRI_TRY(load_own(r, &history));
    source.history = history;
    st = tri_tables_build(path, &r->schema, &source, 0, &r->stream, out);
    tri_history_destroy(history);
    return st;
}

static tri_status start_live(tri_record *r, const tri_ctl *ctl)
{
    char path[TRI_PATH_BYTES];
    tri_h5file *file;
    tri_status st;

    tri_files_name(&r->files, TRI_FILE_TABLES, r->journal->epoch, path);
    TRI_TRY(build_live(r, ctl, path, &file));
    TRI_TRY_GOTO(st, tri_h5file_swmr(file), close_file);
    TRI_TRY_GOTO(st, rename_fenced(r, path), close_file);
    TRI_TRY_GOTO(st, tri_sys_sync_dir(r->files.dir), close_file);
    return tri_live_start(file, &r->live);
close_file:
    tri_tables_discard(file, path);
    return st;
}

tri_status tri_record_start_tables(tri_record *r, const tri_ctl *ctl)
{
    tri_status st = tri_record_blame(r, start_live(r, ctl));

    if (st == TRI_OK || st == TRI_EFENCED) {
        return st;
    }
    r->no_tables = 1;
    TRI_LOG_JOB(TRI_LOG_WARN, "no live tables, the journal goes on: %s",
                tri_error_last()->sentence);
    return TRI_OK;
}

/* ---- folding ---------------------------------------------------------- */

static tri_status write_folded(const tri_record *r, const tri_ctl *ctl,
                               const char *path)
{
    tri_tables_source source = {
            NULL, &r->ledger, ctl, &r->facts, r->journal->epoch, 1, 1};
    tri_history *history;
    tri_status st;

    TRI_TRY(load_own(r, &history));
    source.history = history;
    if (tri_history_n(history) == r->ledger.n_events) {
        st = tri_tables_write(path, &source);
    } else {
        st = TRI_FAIL(TRI_EINTERNAL, "%lld events are journalled, not %lld",
                      (long long)tri_history_n(history),
                      (long long)r->ledger.n_events);
    }
    tri_history_destroy(history);
    return st;
}

tri_status tri_record_remove_segments(const tri_record *r, int own)
{
    char path[TRI_PATH_BYTES];
    tri_status st = TRI_OK;
    int *epochs;
    int i, n;

    TRI_TRY(tri_files_list(&r->files, TRI_FILE_JOURNAL, &epochs, &n));
    for (i = 0; i < n && st == TRI_OK; ++i) {
        if (own ? epochs[i] == r->journal->epoch
                : epochs[i] < r->journal->epoch) {
            tri_files_name(&r->files, TRI_FILE_SUMMARY, epochs[i], path);
            st = access(path, F_OK) == 0 ? remove_fenced(r, path) : TRI_OK;
            tri_files_name(&r->files, TRI_FILE_JOURNAL, epochs[i], path);
            st = st == TRI_OK ? remove_fenced(r, path) : st;
        }
    }
    free(epochs);
    return st;
}

tri_status tri_record_fold(tri_record *r, const tri_ctl *ctl,
                           const tri_record_end *end)
{
    char path[TRI_PATH_BYTES];

    tri_files_name(&r->files, TRI_FILE_TABLES, r->journal->epoch, path);
    TRI_TRY(tri_files_fence(&r->files, r->journal->epoch, r->journal->fd));
    TRI_TRY(write_folded(r, ctl, path));
    TRI_TRY(rename_fenced(r, path));
    TRI_TRY(tri_sys_sync_dir(r->files.dir));
    TRI_TRY(tri_record_remove_segments(r, 0));
    TRI_TRY(tri_outcome_write(r->journal, end));
    TRI_TRY(tri_record_remove_segments(r, 1));
    /* Segments that come back after a loss of power do no harm. */
    tri_sys_sync_dir(r->files.dir);
    return TRI_OK;
}
