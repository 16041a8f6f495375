/*
 * The virtual cluster: the controller, the runs in flight, and what is due to
 * happen to them.  The loop that obtains events is sim.c's.
 */
#ifndef TRI_SIM_CLUSTER_H
#define TRI_SIM_CLUSTER_H

#include "src/sim/heap.h"
#include "src/sim/score.h"
#include "src/sim/slots.h"

#include "trireme/think.h"

typedef enum tri_happening {
    TRI_HAPPENS_FORMED,
    TRI_HAPPENS_END, /* of a run's work, well or ill */
    TRI_HAPPENS_LOSS,
    TRI_HAPPENS_PAUSE,     /* the answer to release */
    TRI_HAPPENS_INTERRUPT, /* the answer to stop */
    TRI_HAPPENS_NODE_DOWN, /* to a host, whose number stands for the slot's */
    TRI_HAPPENS_NODE_UP,
    TRI_HAPPENS_ANSWER /* of the thinker */
} tri_happening;

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
    int workers;
    double opened_s; /* the present epoch */
    int64_t gained;  /* results and checkpoints before it */
    int64_t kept;    /* interrupted runs that saved what they had done */
    int clocks;      /* in a row without anything else */
    int idle;        /* losses of hosts in a row with nothing in flight */
    tri_snapshot *question; /* that the thinker is at; NULL */
    int answers;            /* its answers are being fed */
    double *pace; /* by rank, from 1: times as slow; NULL: all alike */
} tri_cluster;

/* The paces of the ranks, for the whole simulation.  TRI_ENOMEM. */
tri_status tri_cluster_draw_paces(tri_cluster *m);
/* How much slower a run on these ranks is for being on the slow host: 1: not.
 */
double tri_cluster_slowness(const tri_cluster *m, const int32_t *ranks,
                            int n_ranks);
/* What is to happen to hosts from now on. */
tri_status tri_cluster_expect_nodes(tri_cluster *m);

/* Feed one event, now, and carry the commands out. */
tri_status tri_cluster_feed(tri_cluster *m, tri_event *event);
/* What is due next is fetched into the caches. */
void tri_cluster_look_ahead(const tri_cluster *m);
/* What was due happens, unless it is stale. */
tri_status tri_cluster_fire(tri_cluster *m, const tri_heap_entry *e);
/* A run is dropped (rank-lost), or its host is lost (node-lost). */
tri_status tri_cluster_lose(tri_cluster *m, int slot, tri_reason reason);
/* Of a host. */
tri_status tri_cluster_fire_node(tri_cluster *m, const tri_heap_entry *e);
/* The thinker is asked; it hears all that is known now. */
tri_status tri_cluster_ask(tri_cluster *m, const tri_cmd_think *c);
void tri_cluster_forget_question(tri_cluster *m);
/* It is done, unless nobody waits for that answer any longer. */
tri_status tri_cluster_fire_answer(tri_cluster *m, const tri_heap_entry *e);
/* After a feed: one that takes no time answers what was just asked. */
tri_status tri_cluster_answer_at_once(tri_cluster *m);
/* All runs vanish without a word. */
void tri_cluster_clear(tri_cluster *m);

#endif
