/*
 * The results of one rung in order, best first: a B-tree (Bayer and McCreight,
 * 1972) whose items count what stands below them, so that the place of a
 * result, the result at a place and the best eligible one are each found in
 * O(log n), in few lines of memory.  Nothing is ever taken out.
 *
 * Knows nothing of rungs or promotion rules.  Nodes and pages of several
 * standings share one pool and are named by their numbers in it; a standing is
 * named by the page at its root, 0 where it is empty.
 */
#ifndef TRI_SRC_SCHED_STANDINGS_H
#define TRI_SRC_SCHED_STANDINGS_H

#include "trireme/status.h"

#include <stdint.h>

#define TRI_NODE_NONE  0  /* node 0 is no result, page 0 no page */
#define TRI_PAGE_ITEMS 16 /* of these at least half, but for the root */

/* A result. */
typedef struct tri_node {
    double score;
    int64_t trial;
    uint32_t below;   /* the same trial's node in the rung below, or none */
    uint8_t last;     /* counted only: behind every score */
    uint8_t eligible; /* may be promoted */
} tri_node;

/* Items in order: results in a leaf, else pages. */
typedef struct tri_page {
    /* of `first`; infinite if that is last, and where there is no item; of the
     * first item of all, which takes whatever comes, minus infinity */
    double score[TRI_PAGE_ITEMS];
    uint32_t
            first[TRI_PAGE_ITEMS]; /* node: none of the item stands before it */
    uint32_t page[TRI_PAGE_ITEMS]; /* not in a leaf */
    uint32_t size[TRI_PAGE_ITEMS]; /* results in the item */
    uint32_t n_eligible[TRI_PAGE_ITEMS];
    uint8_t n, is_leaf;
} tri_page;

typedef struct tri_nodes {
    tri_node *node;
    uint32_t n, room;
    tri_page *page;
    uint32_t n_pages, page_room;
    uint32_t n_roots; /* standings that are not empty */
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
