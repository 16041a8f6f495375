/*
 * Recovering the tables of a study from its segments, and putting segments
 * aside that are damaged.  Holds no opening, and removes nothing.
 */
#include "src/store/record.h"
#include "src/store/sys.h"
#include "trireme/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
        if (o->mpi_library[0]) {
            facts.mpi_library = o->mpi_library;
        }
    }
    return facts;
}

/* Recovery holds no opening: it gives way to any that began since. */
static tri_status give_way(const tri_files *files, const tri_history *history)
{
    int *epochs;
    int n, last;

    TRI_TRY(tri_files_list(files, TRI_FILE_JOURNAL, &epochs, &n));
    last = n > 0 ? epochs[n - 1] : 0;
    free(epochs);
    return last == history->last_name
                   ? TRI_OK
                   : TRI_FAIL(TRI_EFENCED, "an opening of the study has begun");
}

static tri_status rename_recovered(const tri_files *files,
                                   const tri_history *history, const char *from)
{
    tri_status st = give_way(files, history);

    if (st != TRI_OK) {
        tri_sys_now->unlink(from);
        return st;
    }
    if (tri_sys_now->rename(from, files->path) != 0) {
        return tri_sys_fail(TRI_EIO, "rename", from);
    }
    return tri_sys_sync_dir(files->dir);
}

/* After damage the tables alone are the study, and no epoch comes again. */
static int epoch_of(const tri_history *h)
{
    int named = tri_history_damage(h) ? h->last_name : 0;

    return h->epoch > named ? h->epoch : named;
}

/* Rows that the tables have, by table. */
static void count_rows(const tri_history *h, const tri_ledger *ledger,
                       const tri_ctl *ctl, tri_recovered *out)
{
    out->rows[TRI_TABLE_TRIALS] = tri_ctl_n_trials(ctl);
    out->rows[TRI_TABLE_RUNS] = ledger->n_ended;
    out->rows[TRI_TABLE_EVENTS] = h->n;
    out->rows[TRI_TABLE_POOL] = ledger->n_ranks;
    out->rows[TRI_TABLE_EPOCHS] = ledger->n_openings;
    for (int64_t i = 0; i < h->n; ++i) {
        const unsigned char *packed = h->entries[i].packed;
        int kind = packed[TRI_KIND_AT]; /* it was replayed, so it has one */

        out->rows[TRI_TABLE_REPORTS] += kind == TRI_EV_REPORT;
        out->rows[TRI_TABLE_MODELS] += kind == TRI_EV_PROPOSALS;
    }
}

/* Make the tables, unless `dry`, and rename them in place. */
static tri_status recover(const tri_files *files, const tri_history *history,
                          int dry, tri_recovered *out)
{
    int damaged = tri_history_damage(history) != NULL;
    tri_progress progress;
    tri_tables_source source = {history,           NULL, NULL, NULL,
                                epoch_of(history), 1,    0};
    char path[TRI_PATH_BYTES];
    tri_record_facts facts;
    tri_replay counts;
    tri_ledger ledger;
    char *texts[3];
    tri_ctl *ctl;
    tri_status st;
    int i;

    TRI_TRY(tri_tables_replay(history, &ctl, &ledger, &counts));
    facts = facts_of(&ledger, files->path, texts);
    source.ledger = &ledger;
    source.ctl = ctl;
    source.facts = &facts;
    source.folded = damaged || !history->live;
    tri_ctl_progress(ctl, &progress);
    source.last_is_over = source.folded; /* as export says it */
    out->broke_off = progress.state != TRI_CTL_ENDED;
    tri_files_name(files, TRI_FILE_TABLES, source.epoch, path);
    if (damaged && counts.mismatches > 0) {
        st = TRI_FAIL(TRI_EINTERNAL,
                      "event %lld of %s does not give the commands that it "
                      "gave: it is damaged too, or of another build",
                      (long long)counts.first_mismatch, files->path);
    } else if (tri_ctl_study(ctl)) {
        count_rows(history, &ledger, ctl, out);
        st = dry ? TRI_OK : tri_tables_write(path, &source);
    } else {
        st = TRI_FAIL(TRI_EMALFORMED, "%s holds no event yet", files->path);
    }
    for (i = 0; i < 3; ++i) {
        free(texts[i]);
    }
    tri_ledger_fini(&ledger);
    tri_ctl_destroy(ctl);
    TRI_TRY(st);
    return dry ? TRI_OK : rename_recovered(files, history, path);
}

/* ---- damage ----------------------------------------------------------- */

/* Nothing is overwritten, nor taken from an opening that has begun. */
static tri_status put_aside(const tri_files *files, const tri_history *history,
                            int epoch)
{
    char from[TRI_PATH_BYTES], to[TRI_PATH_BYTES];
    struct stat info;

    tri_files_name(files, TRI_FILE_JOURNAL, epoch, from);
    tri_files_name(files, TRI_FILE_DAMAGED, epoch, to);
    if (lstat(to, &info) == 0) {
        return TRI_FAIL(TRI_EEXIST, "%s exists already; move it away", to);
    }
    TRI_TRY(give_way(files, history));
    if (tri_sys_now->rename(from, to) != 0) {
        return tri_sys_fail(TRI_EIO, "rename", from);
    }
    TRI_LOG_JOB(TRI_LOG_WARN, "kept aside as %s", to);
    return TRI_OK;
}

/* The oldest first: what is left, while it lasts, is either damaged still or
 * plainly not complete (see load.c), so the tables stand. */
static tri_status put_all_aside(const tri_files *files,
                                const tri_history *history, int dry,
                                tri_recovered *out)
{
    tri_status st = TRI_OK;
    int *epochs;
    int i, n;

    TRI_TRY(tri_files_list(files, TRI_FILE_JOURNAL, &epochs, &n));
    for (i = 0; i < n && st == TRI_OK; ++i) {
        st = dry ? TRI_OK : put_aside(files, history, epochs[i]);
        out->kept_aside += st == TRI_OK;
    }
    free(epochs);
    TRI_TRY(st);
    return dry ? TRI_OK : tri_sys_sync_dir(files->dir);
}

static tri_status recover_damaged(const tri_files *files,
                                  const tri_history *history, int dry,
                                  tri_recovered *out)
{
    const tri_damage *d = &history->damage;

    TRI_LOG_JOB(TRI_LOG_WARN, "%s", tri_history_damage(history));
    snprintf(out->damage, sizeof out->damage, "%s", d->sentence);
    out->lost = d->last >= history->n ? d->last - history->n + 1 : 0;
    if (tri_history_n(history) > 0) {
        TRI_TRY(recover(files, history, dry, out));
    }
    TRI_TRY(put_all_aside(files, history, dry, out));
    if (tri_history_n(history) == 0) {
        return TRI_FAIL(TRI_EMALFORMED,
                        "nothing of %s is whole: its journal %s kept aside",
                        files->path, dry ? "would be" : "is");
    }
    return TRI_OK;
}

/* Its tables are followed by readers, and its writer goes on with them. */
static tri_status check_not_run(const tri_files *files)
{
    int held;

    TRI_TRY(tri_files_held(files, &held));
    return held ? TRI_FAIL(TRI_EINVAL,
                           "%s is being run: a program holds its journal; "
                           "recover is for studies that broke off",
                           files->path)
                : TRI_OK;
}

/* HDF5 does not say why it cannot make a file. */
static tri_status check_folder(const tri_files *files)
{
    return access(files->dir, W_OK | X_OK) == 0
                   ? TRI_OK
                   : tri_sys_fail(TRI_EIO, "write into the folder", files->dir);
}

/* What is to be done, or would be. */
static tri_status recover_history(const tri_files *files,
                                  const tri_history *history, int dry,
                                  tri_recovered *out)
{
    int damaged = tri_history_damage(history) != NULL;

    TRI_TRY(check_not_run(files));
    out->has_journal = damaged || history->live;
    out->is_needed = out->has_journal || !history->folded;
    if (!out->is_needed) {
        return recover(files, history, 1, out); /* what the tables hold */
    }
    TRI_TRY(dry ? TRI_OK : check_folder(files));
    return damaged ? recover_damaged(files, history, dry, out)
                   : recover(files, history, dry, out);
}

tri_status tri_record_recover(const char *path, int dry, tri_recovered *out)
{
    tri_recovered found = {.is_needed = 0};
    tri_history *history;
    struct stat info;
    tri_files files;
    tri_status st;

    TRI_TRY(tri_files_init(&files, path));
    TRI_TRY(tri_h5_start());
    TRI_TRY(tri_history_load(&files, &history));
    found.had_tables = stat(files.path, &info) == 0;
    found.torn_bytes = history->torn_bytes;
    st = recover_history(&files, history, dry, &found);
    tri_history_destroy(history);
    if (out && st == TRI_OK) {
        *out = found;
    }
    return st;
}
