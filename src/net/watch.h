/*
 * Which ranks are there, by what rank 0 hears and sees of them.
 *
 * A rank that waits, be it idle or in the midst of a step, beats every second;
 * one that computes does not, and is judged by its run's progress.  So of a
 * group that makes none the one that has been silent the longest is the one to
 * be struck, whomever its leader waited for.
 */
#ifndef TRI_SRC_NET_WATCH_H
#define TRI_SRC_NET_WATCH_H

#include "trireme/ctl.h"

/* A rank that is idle, forms or has a process is lost after so much silence:
 * 15 s, less in tests. */
extern double tri_watch_silent_s;

/* How long the rank of a run of that model may be silent; INFINITY: it is
 * judged by its progress. */
double tri_watch_silence(tri_run_state state, int is_process);

/*
 * Of the `n` ranks of a group, of which `named` was waited for in vain: which
 * is to be struck.  silent_s[i]: since when ranks[i] has said nothing.  It is
 * the named one (-1: nobody was), unless that has spoken lately and another has
 * not for long.
 */
int tri_watch_most_silent(const int32_t *ranks, const double *silent_s, int n,
                          int named);

#endif
