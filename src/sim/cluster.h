/*
 * The virtual cluster: the controller, the runs in flight, and what is due to
 * happen to them.  The loop that obtains events is sim.c's.
 */
#ifndef TRI_SIM_CLUSTER_H
#define TRI_SIM_CLUSTER_H

#include "src/sim/heap.h"
#include "src/sim/score.h"
#include "src/sim/slots.h"

typedef struct tri_cluster {
    const tri_study *study;
    const tri_curve *source;
    const tri_sim_settings *set;
    tri_ctl *ctl;
    tri_heap heap;
    tri_slots slots;
    tri_score score;
    double now_s;
    int epoch;
    int ended, end_status, resumable;
    int reopen; /* the study was broken off and is to go on */
    int clocks; /* in a row without anything else */
} tri_cluster;

/* Feed one event, now, and carry the commands out. */
tri_status tri_cluster_feed(tri_cluster *m, tri_event *event);
/* What was due happens, unless it is stale. */
tri_status tri_cluster_fire(tri_cluster *m, const tri_heap_entry *e);
/* All runs vanish without a word. */
void tri_cluster_clear(tri_cluster *m);

#endif
