/*
 * A decision diagram: one level a parameter, one arc a value, equal nodes
 * shared, exact counts in the nodes.  Knows nothing of expressions.
 */
#ifndef TRI_SPACE_DIAGRAM_H
#define TRI_SPACE_DIAGRAM_H

#include "trireme/status.h"

#include <stdint.h>

#define TRI_DD_NONE     (-1)
#define TRI_DD_INACTIVE (-1) /* an arc's value index */

typedef struct tri_dd_arc {
    int64_t before; /* count of the arcs to the left */
    int32_t value;  /* index into the domain, or TRI_DD_INACTIVE */
    int32_t child;  /* node, at the next level */
} tri_dd_arc;

typedef struct tri_dd_node {
    int64_t count;     /* paths to the end (weighted where asked) */
    int64_t lo, hi;    /* of the objective over them, where there is one */
    uint32_t first, n; /* arcs, by ascending value; none: an end */
} tri_dd_node;

typedef struct tri_dd {
    tri_dd_node *nodes;
    tri_dd_arc *arcs;
    size_t n_nodes, n_arcs, cap_nodes, cap_arcs;
    int32_t root; /* TRI_DD_NONE: empty */
    /* while building: nodes by contents */
    int32_t *unique;
    size_t n_unique; /* slots, a power of two */
} tri_dd;

void tri_dd_init(tri_dd *dd);
void tri_dd_fini(tri_dd *dd);
/* The end node for an objective value.  TRI_ENOMEM. */
tri_status tri_dd_end(tri_dd *dd, int64_t objective, int32_t *out);
/* The node with these arcs (value and child set; `before` is filled in);
 * `weight` multiplies the inactive arc.  n > 0.  TRI_ENOMEM,
 * TRI_EOVERFLOW where the count does not fit. */
tri_status tri_dd_node_of(tri_dd *dd, tri_dd_arc *arcs, uint32_t n,
                          int64_t weight, int32_t *out);
/* Give back what only building needs. */
void tri_dd_freeze(tri_dd *dd);

/* The arc of `node` for a value index, NULL if there is none. */
const tri_dd_arc *tri_dd_find(const tri_dd *dd, int32_t node, int32_t value);
/* The arc of `node` that holds path number `index` < count. */
const tri_dd_arc *tri_dd_arc_at(const tri_dd *dd, int32_t node, int64_t index);
static inline int64_t tri_dd_count(const tri_dd *dd, int32_t node)
{
    return node == TRI_DD_NONE ? 0 : dd->nodes[node].count;
}

#endif
