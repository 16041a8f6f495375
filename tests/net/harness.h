/*
 * Studies through real MPI inside one mpirun, one after the other: rank 0 runs
 * a case, the others serve until the case has opened as many times as it says.
 */
#ifndef TRI_TESTS_NET_HARNESS_H
#define TRI_TESTS_NET_HARNESS_H

#include "trireme/net.h"
#include "trireme/store.h"

typedef struct tri_case {
    const char *name;
    int openings; /* calls of tri_net_tune or tri_net_dismiss that it makes */
    void (*run)(void); /* on rank 0 */
} tri_case;

extern int tri_case_ranks; /* of the world */

/* Run the cases: rank 0's failed assertions end the job with status 1. */
int tri_cases_run(int argc, char **argv, const tri_case *cases, int n);

/* A fresh folder's file "study.h5", removed with its folder at the end. */
const char *tri_case_file(void);

typedef struct tri_tuned {
    tri_status st;
    tri_net_end end;
    tri_ctl *ctl;
    tri_study *study;
} tri_tuned;

/* Tune `text` into `file`.  `view` as in settings. */
tri_tuned tri_case_tune(const char *text, const char *path, int resume,
                        void (*view)(void *ctx, const tri_ctl *ctl), void *ctx);
void tri_tuned_fini(tri_tuned *t);
/* Replay the record of `path`: no mismatch, as many events as `at_least`. */
void tri_case_verify(const char *path, int64_t at_least);

#endif
