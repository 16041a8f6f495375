/*
 * The record: journal segments beside one HDF5 file.
 *
 * While a study is open for writing, its segments FILE.h5.journal.1 .. E hold
 * every event of it, complete: where an earlier opening was folded into the
 * file's tables, its segment is written out again (and synced) before the file
 * is touched.  So the tables may be lost or torn at any time; the segments
 * alone rebuild them.  An orderly end folds the segments into the tables,
 * syncs, and removes them.
 *
 * Fencing: before any rename or unlink a writer looks for a segment of an
 * epoch above its own; if there is one it touches nothing more: TRI_EFENCED.
 *
 * Threads: one thread (rank 0's loop) calls the functions of tri_record; the
 * tables are written by one store thread behind a bounded queue, which never
 * holds the loop: when the queue is full, live tables fall behind (the journal
 * does not) and are caught up at the end.  All HDF5 calls are made on that
 * thread, or before it starts and after it ended.
 */
#ifndef TRIREME_STORE_H
#define TRIREME_STORE_H

#include "trireme/ctl.h"
#include "trireme/event.h"

/* ---- reading: any study, live, broken or ended ----------------------- */

typedef struct tri_history tri_history;

typedef struct tri_entry { /* one journalled event */
    int64_t seq;
    const void *packed; /* tri_event_unpack reads it */
    size_t bytes;
    uint64_t digest; /* of the commands that it caused */
    int epoch;
} tri_entry;

/*
 * Read all events of the study at `path` (FILE.h5): from the segments if there
 * are any, else from the file's tables.  Never locks, never writes.  A torn
 * tail of the last segment is left out.  Of a damaged segment what stands
 * before the damage is read, or the tables where they hold more.  [out] owned.
 * TRI_ENOTFOUND: neither file nor segment; TRI_EMALFORMED: not a study file;
 * TRI_EVERSION; TRI_EIO.
 */
TRI_API tri_status tri_history_read(const char *path, tri_history **out);
TRI_API void tri_history_destroy(tri_history *h);
TRI_API int64_t tri_history_n(const tri_history *h);
TRI_API void tri_history_entry(const tri_history *h, int64_t i, tri_entry *out);
/* NULL where all is whole; else a sentence on the damaged segment and the
 * events that are lost with it. */
TRI_API const char *tri_history_damage(const tri_history *h);
/* The last epoch in it; whether segments were read (the study is open for
 * writing, or an opening broke); seconds since it was written: its journal, or
 * where there is none its tables. */
TRI_API int tri_history_epoch(const tri_history *h);
TRI_API int tri_history_is_live(const tri_history *h);
TRI_API double tri_history_age_s(const tri_history *h);

typedef struct tri_replay {
    int64_t events, commands, mismatches;
    int64_t first_mismatch; /* seq, -1 if none */
} tri_replay;
/*
 * Feed the whole history to a fresh controller, checking each digest.
 * [out] `ctl`: returned owned; `out` (may be NULL).  A mismatch is no error
 * here.  TRI_EMALFORMED where an event cannot be unpacked or is refused.
 */
TRI_API tri_status tri_history_replay(const tri_history *h, tri_ctl **ctl,
                                      tri_replay *out);
/* As above, calling `each` after every event (may return an error to stop). */
typedef tri_status (*tri_replay_fn)(void *ctx, const tri_event *event,
                                    const tri_commands *commands,
                                    const tri_entry *entry, tri_ctl *ctl);
TRI_API tri_status tri_history_replay_each(const tri_history *h,
                                           tri_replay_fn each, void *ctx,
                                           tri_ctl **ctl, tri_replay *out);

typedef struct tri_summary {
    char *text;
    int64_t events;        /* that it knows of */
    uint64_t behind_bytes; /* of the journal, that came after them */
    double age_s;          /* of the journal */
} tri_summary;
/*
 * The summary that the writer of the study at `path` made last, of the newest
 * segment.  [out] text owned.  TRI_ENOTFOUND: there is none, or no whole one.
 */
TRI_API tri_status tri_summary_read(const char *path, tri_summary *out);

/* ---- results of earlier studies -------------------------------------- */

typedef struct tri_warm { /* rows of an open event; zeroed: none */
    tri_warm_row *rows;   /* their texts are owned */
    int n, room;
} tri_warm;

/*
 * Add the results in the study file at `path` to *out, matched to the space of
 * `here` by the names and values of parameters; says how many were read and
 * how many are of this space.  A file is known by what it is and by what is in
 * it, however its path is written: one that an earlier opening of `own` (the
 * record that goes on, or NULL) brought, or in *out already, adds nothing and
 * says so, and what `own` itself holds is left out.  [out] *out,
 * also on failure: to be ended with tri_warm_fini.  TRI_EINVAL: of another
 * objective, direction or unit of resource; errors of tri_history_read.
 */
TRI_API tri_status tri_warm_read(const char *path, const tri_study *here,
                                 const tri_ctl *own, tri_warm *out);
/* The same of the study that `ctl` holds, under the name `source`. */
TRI_API tri_status tri_warm_take(const tri_ctl *ctl, const char *source,
                                 const tri_study *here, tri_warm *out);
TRI_API void tri_warm_fini(tri_warm *w);

/* ---- writing --------------------------------------------------------- */

/*
 * Start HDF5.  A program that calls MPI_Init and writes a record calls this
 * before: HDF5 started later ends itself in MPI_Finalize, where it dies of a
 * file that a full disk kept from being closed.  TRI_EINTERNAL.
 */
TRI_API tri_status tri_record_prepare(void);

typedef struct tri_record tri_record;

/*
 * What is to be read of a study at once, however long its journal is: its
 * writer's own words on how it stands, made anew about once a second where the
 * journal is longer than what can be folded while somebody waits, in a file of
 * its own beside the segment, which goes with it.  The journal is the record:
 * this is neither synced nor missed.
 */
typedef struct tri_record_summary {
    void *ctx;
    uint64_t from_bytes; /* of journal; 0: where folding takes too long */
    /* After every event, those of the history first.  TRI_ENOMEM: no summary
     * is made any more. */
    tri_status (*note)(void *ctx, const tri_event *event, const tri_ctl *ctl);
    /* [out] *text: malloc'd. */
    tri_status (*write)(void *ctx, const tri_ctl *ctl, char **text);
} tri_record_summary;

typedef struct tri_record_facts { /* texts of group /study */
    const char *build, *mpi_library, *pml, *level, *hostnames, *topology_xml,
            *machine_class, *command_line;
    const tri_record_summary *summary; /* lives as long as the record; NULL */
} tri_record_facts;

/*
 * Open the study at `path` for writing.  With `resume` unset, an existing file
 * or segment is TRI_EEXIST.  With `resume` set, the history is read (into a
 * controller by replay) and the next epoch begins; where there is nothing yet
 * the study is begun.  Warns where an opening that did not end wrote to it in
 * the last ten seconds: that one is overtaken.  On failure nothing is left that
 * was not there.  [out] `out`; `ctl`: the controller, replayed up to
 * here, owned by the caller; `epoch`: of this opening.  TRI_EIO (no such
 * folder), TRI_ENOSPACE, TRI_EMALFORMED, TRI_EJOURNAL (the system refuses to
 * make a segment; or one is damaged: recover comes first), TRI_EINTERNAL
 * (digest mismatch: the study was made by another build).
 */
TRI_API tri_status tri_record_open(const char *path, int resume,
                                   const tri_record_facts *facts,
                                   tri_record **out, tri_ctl **ctl, int *epoch);
/*
 * Journal `event` with the digest of `commands`, written with write(2) before
 * return; then hand the changed rows of `ctl` to the store thread.  Called
 * after each feed and before the commands are carried out.  TRI_EJOURNAL,
 * TRI_ENOSPACE (disk full): nothing of it counts as recorded, and nothing more
 * is taken, since the controller is ahead of the record.  TRI_EFENCED: another
 * opening has begun.
 */
TRI_API tri_status tri_record_event(tri_record *r, const tri_event *event,
                                    const tri_commands *commands,
                                    const tri_ctl *ctl);
/* fsync the journal if a second has passed since the last, or `now`.
 * TRI_EFENCED where another opening has begun since (seen within a second, or
 * as late as a network file system lists new names). */
TRI_API tri_status tri_record_sync(tri_record *r, int now);

typedef struct tri_record_end {
    int status; /* exit status */
    const char *reason;
    int resumable;
} tri_record_end;
/*
 * End this opening.  Orderly ends (0, 2, 3 by drain): tables are completed,
 * compacted and compressed, the segments folded in and removed.  Otherwise, or
 * with `hurry` (a signal left half a second): the journal is synced and left.
 * An opening that added no event leaves things as it found them.
 * FILE.h5.exit is written by rename in any case, unless another opening holds
 * the study by now (TRI_EFENCED).  Frees `r` whatever happens.
 * TRI_EFENCED, TRI_EIO, TRI_ENOSPACE: the segments are left for the next
 * opening.
 */
TRI_API tri_status tri_record_close(tri_record *r, const tri_ctl *ctl,
                                    const tri_record_end *end, int hurry);

/*
 * End an opening that failed before its search began.  Where it began the
 * study too, all of that is removed and no .exit is written: there is nothing
 * to go on with.  Else as tri_record_close in a hurry.  Frees `r`.
 */
TRI_API tri_status tri_record_abandon(tri_record *r, const tri_ctl *ctl,
                                      const tri_record_end *end);

/* Whether anything of a study exists at `path` (the file or a segment). */
TRI_API int tri_record_exists(const char *path);

typedef struct tri_recovered {
    int is_needed;       /* 0: the tables are made already */
    int broke_off;       /* the search did not come to its end */
    int has_journal;     /* there are segments that count */
    int64_t rows[8];     /* by table: trials, runs, reports, events, models,
                          * pool, epochs; the eighth is 0 */
    uint64_t torn_bytes; /* of a last record that was half written */
    char damage[320];    /* as tri_history_damage; "" */
    int64_t lost;        /* events that are lost with it, at least */
    int kept_aside;      /* segments renamed */
    int had_tables;      /* a file was there before */
} tri_recovered;
/*
 * Rebuild the tables of a broken study from its segments into a new file and
 * rename it in place; the segments stay.  Where one is damaged, from what is
 * whole; then all segments are renamed FILE.h5.damaged.E, never removed, and
 * the tables alone are the study.  Of a study that broke off and whose segments
 * are gone the tables are made anew from themselves.  `trireme recover`.  With
 * `dry` nothing is changed, and *out says what would be.  [out] `out` may be
 * NULL.
 * TRI_EINVAL: the study is being run (where the file system has locks).
 * TRI_EFENCED: an opening has begun meanwhile.  TRI_EMALFORMED: nothing is
 * whole; TRI_EEXIST: such a name is taken; TRI_EIO, TRI_ENOSPACE.
 */
TRI_API tri_status tri_record_recover(const char *path, int dry,
                                      tri_recovered *out);

#endif
