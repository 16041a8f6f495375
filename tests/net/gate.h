/*
 * A gate in the way of runs: their leaders wait there, once rank 0 has heard of
 * them twice, until a test has done to them what it is to do.  So a fault meets
 * the state that it is for, however slow the machine is.
 *
 * Programs that use it are linked so that tri_run_observe is wrapped.  One
 * host.
 */
#ifndef TRI_TESTS_NET_GATE_H
#define TRI_TESTS_NET_GATE_H

#include "trireme/status.h"

/* Collective over MPI_COMM_WORLD; open at first. */
tri_status tri_gate_init(void);
/* Runs of several ranks in `phase` (tri_phase) wait from now on, each for half
 * a minute at most; -1: none does. */
void tri_gate_close(int phase);
void tri_gate_open(void);

#endif
