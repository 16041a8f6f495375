/*
 * What the tables need beyond the controller's views: where things lie in
 * /blobs, the order in which runs ended, the openings, the ranks in the order
 * of their coming.  Noted after every event, live and in a replay alike.
 */
#ifndef TRI_STORE_LEDGER_H
#define TRI_STORE_LEDGER_H

#include "src/store/schema.h"

#include "trireme/place.h"

typedef struct tri_run_fact {
    int64_t row; /* in /runs, -1 until it ended */
    int64_t stderr_offset, stderr_bytes;
} tri_run_fact;

typedef struct tri_opening {
    int epoch;
    double started_s;      /* wall clock */
    double open_s, last_s; /* study time of its first and last event */
    char *version, *command_line, *level, *pml, *machine_class;
    char *mpi_library, *machine; /* "": not known */
    uint64_t memory_bytes;       /* 0: not known */
} tri_opening;

typedef struct tri_rank_fact { /* as its last pool event said */
    int32_t rank, cores;
    char *host, *device;
    tri_place at; /* as when it last came */
    char binding[12], cpus[64];
} tri_rank_fact;

typedef struct tri_ledger {
    int64_t n_events, blob_bytes; /* bytes: all packed events so far */
    tri_run_fact *runs;           /* by number */
    int64_t n_runs, runs_capacity;
    int64_t *ended; /* the run of each row of /runs */
    int64_t n_ended, ended_capacity;
    tri_opening *openings;
    int n_openings;
    tri_rank_fact *ranks; /* by row of /pool */
    int n_ranks;
    int model_bytes, hyper_bytes, host_bytes, device_bytes; /* longest texts */
} tri_ledger;

void tri_ledger_init(tri_ledger *l);
void tri_ledger_fini(tri_ledger *l);
/* Note one event of `bytes` packed bytes after `ctl` was fed with it.
 * TRI_ENOMEM: the ledger is incomplete then. */
tri_status tri_ledger_note(tri_ledger *l, const tri_event *event, size_t bytes,
                           const tri_ctl *ctl);
/* Row of a rank in /pool, -1 if it has none. */
int tri_ledger_rank_row(const tri_ledger *l, int rank);
/* The survival level of an epoch, "" if unknown. */
const char *tri_ledger_level(const tri_ledger *l, int epoch);
/* Widths that just hold what there is. */
tri_widths tri_ledger_widths(const tri_ledger *l, const tri_ctl *ctl);

#endif
