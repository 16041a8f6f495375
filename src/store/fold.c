/*
 * Between segments and tables: beginning the live file, folding the segments
 * in at an orderly end, and recovering tables from segments.
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
    TRI_TRY(tri_history_load(&r->files, &history));
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

    TRI_TRY(tri_history_load(&r->files, &history));
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
            tri_files_name(&r->files, TRI_FILE_JOURNAL, epochs[i], path);
            st = remove_fenced(r, path);
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

/* ---- recovery --------------------------------------------------------- */

/* What the events say of the last opening, and the old file of what they do
 * not say; [out] texts[3] to be freed. */
static tri_record_facts facts_of(const tri_ledger *ledger, const char *path,
                                 char *texts[3])
{
    tri_record_facts facts;
    const tri_opening *o;

    memset(&facts, 0, sizeof facts);
    facts.mpi_library = texts[0] = tri_h5file_read_text(path, "mpi_library");
    facts.hostnames = texts[1] = tri_h5file_read_text(path, "hostnames");
    facts.topology_xml = texts[2] = tri_h5file_read_text(path, "topology_xml");
    if (ledger->n_openings > 0) {
        o = &ledger->openings[ledger->n_openings - 1];
        facts.build = o->version;
        facts.level = o->level;
        facts.pml = o->pml;
        facts.machine_class = o->machine_class;
        facts.command_line = o->command_line;
    }
    return facts;
}

/* Recovery holds no opening: it gives way to any that began since. */
static tri_status rename_recovered(const tri_files *files,
                                   const tri_history *history, const char *from)
{
    int *epochs;
    int n, last;

    TRI_TRY(tri_files_list(files, TRI_FILE_JOURNAL, &epochs, &n));
    last = n > 0 ? epochs[n - 1] : 0;
    free(epochs);
    if (last != history->last_name) {
        tri_sys_now->unlink(from);
        return TRI_FAIL(TRI_EFENCED, "an opening of the study has begun");
    }
    if (tri_sys_now->rename(from, files->path) != 0) {
        return tri_sys_fail(TRI_EIO, "rename", from);
    }
    return tri_sys_sync_dir(files->dir);
}

static tri_status recover(const tri_files *files, const tri_history *history)
{
    tri_tables_source source = {history,        NULL, NULL, NULL,
                                history->epoch, 0,    1};
    char path[TRI_PATH_BYTES];
    tri_record_facts facts;
    tri_ledger ledger;
    char *texts[3];
    tri_ctl *ctl;
    tri_status st;
    int i;

    TRI_TRY(tri_tables_replay(history, &ctl, &ledger, NULL));
    facts = facts_of(&ledger, files->path, texts);
    source.ledger = &ledger;
    source.ctl = ctl;
    source.facts = &facts;
    tri_files_name(files, TRI_FILE_TABLES, history->epoch, path);
    if (tri_ctl_study(ctl)) {
        st = tri_tables_write(path, &source);
    } else {
        st = TRI_FAIL(TRI_EMALFORMED, "%s holds no event yet", files->path);
    }
    for (i = 0; i < 3; ++i) {
        free(texts[i]);
    }
    tri_ledger_fini(&ledger);
    tri_ctl_destroy(ctl);
    TRI_TRY(st);
    return rename_recovered(files, history, path);
}

tri_status tri_record_recover(const char *path)
{
    tri_history *history;
    tri_files files;
    tri_status st = TRI_OK;

    TRI_TRY(tri_files_init(&files, path));
    TRI_TRY(tri_h5_start());
    TRI_TRY(tri_history_load(&files, &history));
    if (history->live) {
        st = recover(&files, history);
    }
    tri_history_destroy(history);
    return st;
}
