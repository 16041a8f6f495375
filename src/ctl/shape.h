/*
 * Shapes: what is free in a unit of the machine, whatever the order of its
 * parts.  Hosts of one shape are as good as each other for a group of any size,
 * so that a choice among thousands of hosts is one among a handful of shapes,
 * and what a group would touch there is reckoned once.
 *
 * Levels are those of one pack, from 0, the host, to `n_levels` - 1, the last
 * that has parts worth telling apart: there a shape is just how many are free.
 * A shape of an upper level is the multiset of the shapes of its parts.
 */
#ifndef TRI_SRC_CTL_SHAPE_H
#define TRI_SRC_CTL_SHAPE_H

#include "trireme/place.h"
#include "trireme/status.h"

/* What taking some ranks of a unit means, less is better: units touched, upper
 * levels first, then what is left free in them.  Costs of parts add up. */
typedef struct tri_cost {
    uint64_t touched, left;
} tri_cost;

typedef struct tri_shape {
    int level, n_free, n_parts;
    int *parts;     /* shapes of the parts, ascending; NULL at the last level */
    tri_cost *cost; /* of taking 0 to n_free; NULL: not asked yet */
    int next_hashed;
    int first; /* host of this shape, -1: none; only at level 0 */
    int n_hosts;
    int prev, next; /* shapes that hosts have, with as many free; -1 */
} tri_shape;

typedef struct tri_shapes {
    int n_levels;
    tri_part unit[TRI_PART_COUNT]; /* of each level */
    tri_shape *list;
    int n, room;
    int *hashed; /* chains of shapes with parts */
    int n_hashed;
} tri_shapes;

/* `most`: ranks of the largest host.  TRI_ENOMEM. */
tri_status tri_shapes_init(tri_shapes *s, int n_levels, const tri_part *unit,
                           int most);
void tri_shapes_fini(tri_shapes *s);
/* The shape of a unit of `level`, not the last, that has these parts; `parts`
 * is sorted.  -1: no memory. */
int tri_shapes_find(tri_shapes *s, int level, int *parts, int n_parts,
                    int n_free);
/* The cost of taking m > 0 of a unit of `level` and `shape`, which at the last
 * level is the number that are free.  [out] *out.  TRI_ENOMEM. */
tri_status tri_shapes_cost(tri_shapes *s, int level, int shape, int m,
                           tri_cost *out);
/* How to take m, more than any part has, of parts with these shapes: [out] how
 * many of each part, at least cost.  TRI_ENOMEM. */
tri_status tri_shapes_share(tri_shapes *s, int level, const int *parts,
                            int n_parts, int m, int *out);

static inline int tri_cost_less(tri_cost a, tri_cost b)
{
    return a.touched != b.touched ? a.touched < b.touched : a.left < b.left;
}
static inline tri_cost tri_cost_add(tri_cost a, tri_cost b)
{
    return (tri_cost){a.touched + b.touched, a.left + b.left};
}
/* What is free in a unit with that shape. */
static inline int tri_shapes_free(const tri_shapes *s, int level, int shape)
{
    return level == s->n_levels - 1 ? shape : s->list[shape].n_free;
}

#endif
