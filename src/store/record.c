/*
 * One opening of a study for writing: begin, event by event, end.
 */
#include "src/store/record.h"

#include "src/store/bytes.h"
#include "src/store/sys.h"
#include "trireme/log.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A journal this young may still be written to. */
#define FRESH_S 10.0

/* ---- what is there ---------------------------------------------------- */

static int segment_counts(const tri_files *files, int epoch)
{
    tri_segment segment;
    int counts;

    if (tri_segment_load(&segment, files, epoch) != TRI_OK) {
        return tri_error_last()->code != TRI_ENOTFOUND;
    }
    counts = segment.first > 0 || segment.is_headless;
    tri_segment_fini(&segment);
    return counts;
}

static int exists(const tri_files *files)
{
    struct stat info;
    int *epochs;
    int i, n, found = 0;

    if (lstat(files->path, &info) == 0) {
        return 1;
    }
    if (tri_files_list(files, TRI_FILE_JOURNAL, &epochs, &n) != TRI_OK) {
        return 0;
    }
    for (i = 0; i < n && !found; ++i) {
        found = segment_counts(files, epochs[i]);
    }
    free(epochs);
    return found;
}

tri_status tri_record_prepare(void)
{
    return tri_h5_start();
}

int tri_record_exists(const char *path)
{
    tri_files files;

    return tri_files_init(&files, path) == TRI_OK && exists(&files);
}

/* ---- beginning -------------------------------------------------------- */

static void free_facts(tri_record_facts *facts)
{
    free((char *)(uintptr_t)facts->build);
    free((char *)(uintptr_t)facts->mpi_library);
    free((char *)(uintptr_t)facts->pml);
    free((char *)(uintptr_t)facts->level);
    free((char *)(uintptr_t)facts->hostnames);
    free((char *)(uintptr_t)facts->topology_xml);
    free((char *)(uintptr_t)facts->machine_class);
    free((char *)(uintptr_t)facts->command_line);
}

static tri_status copy_facts(const tri_record_facts *from, tri_record_facts *to)
{
    const char *const texts[] = {from->build,         from->mpi_library,
                                 from->pml,           from->level,
                                 from->hostnames,     from->topology_xml,
                                 from->machine_class, from->command_line};
    const char **const copies[] = {&to->build,         &to->mpi_library,
                                   &to->pml,           &to->level,
                                   &to->hostnames,     &to->topology_xml,
                                   &to->machine_class, &to->command_line};
    size_t i;

    for (i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
        *copies[i] = strdup(texts[i] ? texts[i] : "");
        if (!*copies[i]) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for a record");
        }
    }
    return TRI_OK;
}

static void free_record(tri_record *r)
{
    tri_summariser_fini(&r->summary);
    tri_journal_destroy(r->journal);
    tri_ledger_fini(&r->ledger);
    tri_buffer_fini(&r->packed);
    if (r->has_schema) {
        tri_schema_fini(&r->schema);
    }
    free_facts(&r->facts);
    free(r);
}

static tri_status new_record(const char *path, const tri_record_facts *facts,
                             tri_record **out)
{
    tri_record *r = calloc(1, sizeof *r);
    tri_status st;

    if (!r) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a record");
    }
    TRI_TRY_GOTO(st, tri_files_init(&r->files, path), free_it);
    tri_summariser_init(&r->summary, facts->summary);
    TRI_TRY_GOTO(st, copy_facts(facts, &r->facts), free_it);
    TRI_TRY_GOTO(st, tri_h5_start(), free_it);
    *out = r;
    return TRI_OK;
free_it:
    free_record(r);
    return st;
}

/* Which file is at the path: folding always renames another one there. */
static ino_t identity(const tri_files *files)
{
    struct stat info;

    return stat(files->path, &info) == 0 ? info.st_ino : 0;
}

/* The events of a history whose segments are gone, packed again. */
static tri_status carry(const tri_history *h, tri_buffer *out)
{
    tri_entry entry;
    int64_t i;

    for (i = 0; i < tri_history_n(h); ++i) {
        tri_item item;

        tri_history_entry(h, i, &entry);
        item = (tri_item){entry.seq, entry.packed, entry.bytes, entry.digest};
        TRI_TRY(tri_item_pack(&item, out));
    }
    return TRI_OK;
}

static tri_status begin_segment(tri_record *r, const tri_history *h, int epoch)
{
    tri_buffer carried;
    tri_status st = TRI_OK;

    tri_buffer_init(&carried);
    if (!h->live) {
        st = carry(h, &carried);
    }
    if (st == TRI_OK) {
        st = tri_journal_create(&r->files, epoch, h->seals, h->n_seals,
                                &carried, tri_history_n(h), &r->journal);
    }
    tri_buffer_fini(&carried);
    return st;
}

/* Somebody opened, ended and folded the study while we were reading it. */
static tri_status check_basis(const tri_record *r, ino_t before)
{
    if (identity(&r->files) == before) {
        return TRI_OK;
    }
    return TRI_FAIL(TRI_EFENCED, "another opening has just ended: %s",
                    r->files.path);
}

/* What earlier openings may have left: their .exit and half-made files. */
static tri_status clean_up(const tri_record *r)
{
    static const tri_file_kind kinds[] = {TRI_FILE_TABLES, TRI_FILE_EXIT_TEMP,
                                          TRI_FILE_SUMMARY};
    const tri_journal *j = r->journal;
    char path[TRI_PATH_BYTES];
    tri_status st;
    int *epochs;
    int i, n, k;

    tri_files_exit(&r->files, path);
    TRI_TRY(tri_files_remove(&r->files, j->epoch, j->fd, path));
    for (k = 0; k < 3; ++k) {
        TRI_TRY(tri_files_list(&r->files, kinds[k], &epochs, &n));
        st = TRI_OK;
        for (i = 0; i < n && st == TRI_OK && epochs[i] < j->epoch; ++i) {
            tri_files_name(&r->files, kinds[k], epochs[i], path);
            st = tri_files_remove(&r->files, j->epoch, j->fd, path);
        }
        free(epochs);
        TRI_TRY(st);
    }
    return TRI_OK;
}

/* The history of what is there; an empty one where there is nothing. */
static tri_status find_history(const tri_files *files, tri_history **out)
{
    int *epochs;
    int n;

    if (exists(files)) {
        return tri_history_load(files, out);
    }
    TRI_TRY(tri_history_create(out));
    if (tri_files_list(files, TRI_FILE_JOURNAL, &epochs, &n) == TRI_OK) {
        (*out)->last_name = n > 0 ? epochs[n - 1] : 0;
        free(epochs);
    }
    return TRI_OK;
}

static tri_status replay_history(tri_record *r, const tri_history *h,
                                 tri_ctl **out)
{
    tri_replay counts;
    tri_ctl *ctl;

    TRI_TRY(tri_tables_replay_each(h, &ctl, &r->ledger, &counts,
                                   tri_summariser_note, &r->summary));
    if (counts.mismatches > 0) {
        tri_ctl_destroy(ctl);
        return TRI_FAIL(TRI_EINTERNAL,
                        "event %lld of %s does not give the commands that it "
                        "gave: the study was made by another build",
                        (long long)counts.first_mismatch, r->files.path);
    }
    *out = ctl;
    return TRI_OK;
}

/* To go on from what is whole, and in the end to remove the rest, is for its
 * owner to decide. */
static tri_status check_whole(const tri_record *r, const tri_history *h)
{
    const char *damage = tri_history_damage(h);

    if (!damage) {
        return TRI_OK;
    }
    return TRI_FAIL(TRI_EJOURNAL,
                    "%s; `trireme recover %s` keeps the damaged file aside and "
                    "goes back to what is whole",
                    damage, r->files.path);
}

/* Openings that ended have left their .exit. */
static void warn_of_overtaking(const tri_record *r, const tri_history *h)
{
    double age = tri_history_age_s(h);
    char path[TRI_PATH_BYTES];

    tri_files_exit(&r->files, path);
    if (h->live && age < FRESH_S && access(path, F_OK) != 0) {
        TRI_LOG_JOB(TRI_LOG_WARN,
                    "the journal was written %.2f s ago: if another opening "
                    "still runs, it is overtaken and will stop",
                    age);
    }
}

/* An opening that failed to begin leaves no segment. */
static void take_back(const tri_record *r)
{
    tri_error error = *tri_error_last();
    tri_journal *j = r->journal;

    if (j) {
        tri_outcome_release(j);
        tri_files_remove(&r->files, j->epoch, j->fd, j->path);
        TRI_FAIL(error.code, "%s", error.sentence);
    }
}

static tri_status begin(tri_record *r, const tri_history *h, ino_t before)
{
    int last = h->epoch > h->last_name ? h->epoch : h->last_name;

    warn_of_overtaking(r, h);
    TRI_TRY(begin_segment(r, h, last + 1));
    TRI_TRY(check_basis(r, before));
    TRI_TRY(tri_outcome_reserve(r->journal));
    r->first_seq = r->journal->seq;
    r->is_first = tri_history_n(h) == 0;
    r->was_folded = !h->live && tri_history_n(h) > 0;
    clock_gettime(CLOCK_MONOTONIC, &r->synced);
    return clean_up(r);
}

tri_status tri_record_open(const char *path, int resume,
                           const tri_record_facts *facts, tri_record **out,
                           tri_ctl **ctl, int *epoch)
{
    tri_ctl *replayed = NULL;
    tri_history *h = NULL;
    tri_record *r;
    ino_t before;
    tri_status st;

    TRI_TRY(new_record(path, facts, &r));
    before = identity(&r->files);
    if (!resume && exists(&r->files)) {
        st = TRI_FAIL(TRI_EEXIST, "%s exists already", path);
        goto free_record;
    }
    TRI_TRY_GOTO(st, find_history(&r->files, &h), free_record);
    TRI_TRY_GOTO(st, check_whole(r, h), free_history);
    TRI_TRY_GOTO(st, replay_history(r, h, &replayed), free_history);
    TRI_TRY_GOTO(st, begin(r, h, before), free_ctl);
    tri_history_destroy(h);
    *out = r;
    *ctl = replayed;
    *epoch = r->journal->epoch;
    return TRI_OK;
free_ctl:
    take_back(r);
    tri_ctl_destroy(replayed);
free_history:
    tri_history_destroy(h);
free_record:
    free_record(r);
    return st;
}

/* ---- events ----------------------------------------------------------- */

/* Rows of this event into the live tables. */
static tri_status push_rows(tri_record *r, tri_batch *batch,
                            const tri_event *event,
                            const tri_commands *commands, const tri_ctl *ctl,
                            uint64_t digest)
{
    TRI_TRY(tri_rows_event(batch, &r->schema, &r->stream, event, r->packed.data,
                           r->packed.bytes, digest));
    return tri_rows_changed(batch, &r->schema, &r->ledger, ctl, event,
                            commands);
}

static void give_up_tables(tri_record *r)
{
    TRI_LOG_JOB(TRI_LOG_WARN, "live tables stop, the journal goes on: %s",
                tri_error_last()->sentence);
    tri_live_stop(r->live, 0);
    r->live = NULL;
    r->no_tables = 1;
}

/* An edit may change the columns: then the live tables are of no use. */
static int schema_changed(const tri_record *r, const tri_ctl *ctl)
{
    tri_schema now;
    int changed;

    if (tri_schema_init(&now, ctl, &tri_widths_live) != TRI_OK) {
        return 1;
    }
    changed = !tri_schema_equal(&now, &r->schema);
    tri_schema_fini(&now);
    return changed;
}

static tri_status update_tables(tri_record *r, const tri_event *event,
                                const tri_commands *commands,
                                const tri_ctl *ctl, uint64_t digest)
{
    tri_batch *batch;
    tri_status st;

    if (r->no_tables) {
        return TRI_OK;
    }
    if (!r->live) {
        /* the columns are known once an opening's edit has been made */
        return event->kind == TRI_EV_OPEN || event->kind == TRI_EV_EDITED
                       ? TRI_OK
                       : tri_record_start_tables(r, ctl);
    }
    if (event->kind == TRI_EV_EDITED && schema_changed(r, ctl)) {
        TRI_FAIL(TRI_EINVAL, "the study was edited");
        give_up_tables(r);
        return TRI_OK;
    }
    batch = tri_live_begin(r->live);
    if (!batch) {
        return TRI_OK;
    }
    st = push_rows(r, batch, event, commands, ctl, digest);
    tri_live_end(r->live);
    if (st != TRI_OK) {
        give_up_tables(r);
    }
    return TRI_OK;
}

/* What an opening begins with, before anything is decided. */
static int is_beginning(const tri_event *event)
{
    return event->kind == TRI_EV_OPEN || event->kind == TRI_EV_EDITED ||
           event->kind == TRI_EV_POOL;
}

tri_status tri_record_event(tri_record *r, const tri_event *event,
                            const tri_commands *commands, const tri_ctl *ctl)
{
    uint64_t digest = tri_commands_digest(commands);

    tri_buffer_clear(&r->packed);
    TRI_TRY(tri_event_pack(event, &r->packed));
    TRI_TRY(tri_journal_append(r->journal, r->packed.data, r->packed.bytes,
                               digest));
    r->has_searched = r->has_searched || !is_beginning(event);
    TRI_TRY(tri_record_sync(r, 0));
    TRI_TRY(tri_ledger_note(&r->ledger, event, r->packed.bytes, ctl));
    TRI_TRY(tri_summariser_note(&r->summary, event, ctl));
    tri_summariser_write(&r->summary, r->journal, ctl, &r->synced);
    return update_tables(r, event, commands, ctl, digest);
}

/* Only a later opening counts here: that the folder cannot be listed just now
 * is no reason to stop. */
static tri_status check_overtaken(const tri_record *r)
{
    const tri_journal *j = r->journal;

    if (tri_files_fence(&r->files, j->epoch, j->fd) == TRI_EFENCED) {
        return TRI_EFENCED;
    }
    return TRI_OK;
}

tri_status tri_record_sync(tri_record *r, int now)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    if (!now && (double)(t.tv_sec - r->synced.tv_sec) +
                                1e-9 * (double)(t.tv_nsec - r->synced.tv_nsec) <
                        1.0) {
        return TRI_OK;
    }
    r->synced = t;
    TRI_TRY(check_overtaken(r));
    return tri_journal_sync(r->journal);
}

/* ---- end -------------------------------------------------------------- */

static int is_orderly(const tri_record *r, const tri_record_end *end, int hurry)
{
    return !hurry && !r->journal->broken && r->ledger.n_events > 0 &&
           (end->status == 0 || end->status == 2 || end->status == 3);
}

/* Nothing was added: what was there before is whole without our segment. */
static int is_untouched(const tri_record *r)
{
    return r->journal->seq == r->first_seq && !r->journal->broken;
}

/* The segments stay; say how it ended. */
static tri_status leave(tri_record *r, const tri_record_end *end)
{
    TRI_TRY(tri_outcome_write(r->journal, end));
    if (!is_untouched(r)) {
        return TRI_OK;
    }
    if (r->was_folded) { /* a fold that broke may have left some */
        TRI_TRY(tri_record_remove_segments(r, 0));
    }
    TRI_TRY(tri_record_remove_segments(r, 1));
    tri_sys_sync_dir(r->files.dir);
    return TRI_OK;
}

/* Fold, and where that fails say so instead. */
static tri_status fold(tri_record *r, const tri_ctl *ctl,
                       const tri_record_end *end)
{
    tri_status st = tri_record_blame(r, tri_record_fold(r, ctl, end));
    tri_error error = *tri_error_last();
    tri_record_end failed = {4, error.sentence, 1};

    if (st != TRI_OK && st != TRI_EFENCED) {
        tri_outcome_write(r->journal, &failed);
        TRI_FAIL(st, "%s", error.sentence);
    }
    return st;
}

tri_status tri_record_close(tri_record *r, const tri_ctl *ctl,
                            const tri_record_end *end, int hurry)
{
    int orderly = is_orderly(r, end, hurry);
    tri_status synced = TRI_OK;
    tri_status st = TRI_OK;

    if (!r->journal->broken) {
        synced = tri_journal_sync(r->journal);
    }
    if (hurry) { /* the store thread may be in a slow write */
        st = tri_record_blame(r, leave(r, end));
    }
    tri_live_stop(r->live, orderly || hurry);
    r->live = NULL;
    if (synced == TRI_OK && orderly && !(is_untouched(r) && r->was_folded)) {
        st = fold(r, ctl, end);
    } else if (!hurry) {
        st = tri_record_blame(r, leave(r, end));
    }
    free_record(r);
    return st == TRI_OK ? synced : st;
}

/* Remove a study that this opening began; its own segment goes last, since
 * without it we could not tell that nobody else has begun. */
static tri_status discard(tri_record *r)
{
    tri_journal *j = r->journal;

    tri_outcome_release(j);
    TRI_TRY(tri_files_remove(&r->files, j->epoch, j->fd, r->files.path));
    TRI_TRY(tri_record_remove_segments(r, 0));
    TRI_TRY(tri_record_remove_segments(r, 1));
    tri_sys_sync_dir(r->files.dir);
    return TRI_OK;
}

tri_status tri_record_abandon(tri_record *r, const tri_ctl *ctl,
                              const tri_record_end *end)
{
    tri_status st;

    if (!r->is_first || r->has_searched) {
        return tri_record_close(r, ctl, end, 1);
    }
    tri_live_stop(r->live, 1);
    r->live = NULL;
    st = tri_record_blame(r, discard(r));
    free_record(r);
    return st;
}
