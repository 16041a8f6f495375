/*
 * The results of one rung in order, best first: a treap (Seidel and Aragon,
 * 1996) whose nodes count what stands below them, so that the place of a
 * result, the result at a place and the best eligible one are each found in
 * O(log n).  Priorities are hashes of the trial numbers: the same tree in any
 * order of arrival.
 *
 * Knows nothing of rungs or promotion rules.  Nodes of several standings share
 * one pool and are named by their numbers in it.
 */
#ifndef TRI_SRC_SCHED_STANDINGS_H
#define TRI_SRC_SCHED_STANDINGS_H

#include "trireme/status.h"

#include <stdint.h>

#define TRI_NODE_NONE 0 /* node 0 is no result */

typedef struct tri_node {
    double score;
    int64_t trial;
    uint32_t left, right;
    uint32_t size;       /* results in this subtree */
    uint32_t n_eligible; /* eligible ones among them */
    uint32_t below;      /* the same trial's node in the rung below, or none */
    uint8_t last;        /* counted only: behind every score */
    uint8_t eligible;    /* may be promoted */
} tri_node;

typedef struct tri_nodes {
    tri_node *node;
    uint32_t n, room;
} tri_nodes;

/* Room for `more` further nodes.  TRI_ENOMEM. */
tri_status tri_nodes_reserve(tri_nodes *nodes, uint32_t more);
void tri_nodes_fini(tri_nodes *nodes);

/* Insert a result; room must have been reserved.  `last`: behind every score,
 * by trial number.  Returns the node. */
uint32_t tri_standings_insert(tri_nodes *nodes, uint32_t *root, int64_t trial,
                              double score, int last, int eligible);
/* Say whether `node`, which stands under `root`, is eligible. */
void tri_standings_set_eligible(tri_nodes *nodes, uint32_t root, uint32_t node,
                                int eligible);
/* The best eligible node, TRI_NODE_NONE if there is none; [out] *place: its
 * place among all, from 0. */
uint32_t tri_standings_best(const tri_nodes *nodes, uint32_t root,
                            uint32_t *place);
/* The place of `node`, which stands under `root`, among all, from 0. */
uint32_t tri_standings_place(const tri_nodes *nodes, uint32_t root,
                             uint32_t node);
/* Whether a stands before b; they may be of different standings. */
int tri_node_before(const tri_node *a, const tri_node *b);
/* The node at `place` from 0, TRI_NODE_NONE behind the end. */
uint32_t tri_standings_at(const tri_nodes *nodes, uint32_t root,
                          uint32_t place);

#endif
