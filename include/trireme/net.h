/*
 * The MPI driver of rank 0, and the entry of ranks 1..n-1.
 *
 * Rank 0: obtain an event (a message, a signal, the clock), feed it, journal
 * it, carry the commands out.  MPI_THREAD_FUNNELED; reports by leaders only;
 * after start-up rank 0 takes part in no collective.
 */
#ifndef TRIREME_NET_H
#define TRIREME_NET_H

#include "trireme/ctl.h"
#include "trireme/study.h"

#include <mpi.h>

typedef struct tri_net_settings {
    const char *output; /* FILE.h5 */
    int resume;
    double max_time_s; /* NaN: none */
    const char *command_line;
    const char *const *warm; /* files of earlier studies */
    int n_warm;
    const struct tri_record_summary *summary; /* trireme/store.h; NULL */
    /* Called about ten times a second and after each result, for the live
     * line and the log; may be NULL. */
    void (*view)(void *ctx, const tri_ctl *ctl);
    void *ctx;
} tri_net_settings;

typedef struct tri_net_end {
    int status; /* exit status of the opening */
    int resumable;
    char why[256];
    int must_exit; /* ranks were lost or struck: MPI_Finalize would hang,
                    * end by _exit with files closed */
} tri_net_end;

/*
 * What can be known before a search starts, on rank 0: training data that is
 * there and long enough, templates of a process model that name what exists, a
 * plugin's library that loads and has its functions, units that the model can
 * count.  TRI_EDATA, TRI_EINVAL, TRI_EIO, TRI_EVERSION, TRI_EUNBUILT.
 * tri_net_tune asks it too.
 */
TRI_API tri_status tri_net_preflight(const tri_study *study);

/*
 * Run one opening of `study` on MPI_COMM_WORLD's rank 0.  Every other rank of
 * the world must be in tri_worker_main.  `study` as given by the user; its
 * text is sent to all ranks at start-up (broadcast).  [out] `out`; `ctl` (may
 * be NULL): the controller at the end, owned by the caller.  study->seed is the
 * seed; the stored one must be the same at a resume.
 * An error before the search started is returned (TRI_EEXIST: the output
 * exists; TRI_EOTHER; TRI_EIO ...), and the workers are told to leave.
 */
TRI_API tri_status tri_net_tune(const tri_study *study,
                                const tri_net_settings *settings,
                                tri_net_end *out, tri_ctl **ctl);

/* Tell all waiting workers to leave without a study (rank 0 found bad input
 * before tri_net_tune). */
TRI_API void tri_net_dismiss(void);

/* Ranks 1..n-1: serve until told to leave.  Returns the exit status (0), and
 * [out] *must_exit as above: after a signal, or where rank 0 was silent for a
 * minute. */
TRI_API int tri_worker_main(int *must_exit);

/* Note a signal (async-signal-safe): USR1 drains, INT and TERM drain in half
 * a second; src/app installs handlers that call this on every rank. */
TRI_API void tri_net_signal(int signo);

#endif
