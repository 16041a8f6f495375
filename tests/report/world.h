/*
 * Studies for tests of the report, lived by the simulator: a controller and
 * the ledger that a folded record would have.
 */
#ifndef TRI_TESTS_REPORT_WORLD_H
#define TRI_TESTS_REPORT_WORLD_H

#include "src/report/report.h"
#include "trireme/store.h"

typedef struct world {
    tri_ctl *ctl;
    tri_ledger ledger;
    /* Where the study is recorded too: a second controller, which the record
     * feeds. */
    tri_record *record;
    tri_ctl *recorded;
    /* While it lives. */
    tri_study *study;
    struct tri_thinker *thinker;
} world;

/* Run the study `text` on `workers` ranks, hosts of eight; where `path` is
 * given, recorded there too.  Asserts that all goes well. */
void world_live(world *w, const char *text, int workers, const char *path);
void world_fini(world *w);
/* The report's data of it.  Owned. */
json_t *world_data(const world *w);

/* Studies of about so many runs; led by a model; only failures; odd
 * names. */
const char *world_text(const char *name);

#endif
