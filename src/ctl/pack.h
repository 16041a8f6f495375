/*
 * Packing: which free ranks a group gets, by the rules of trireme/place.h.
 * Ranks are slots here, numbered in the order of the machine.  Knows nothing of
 * trials.
 *
 * Levels that tell nothing apart (every host has one package, every cache one
 * slot) are left out: a pool of which only the hosts are known has one level,
 * and there a group costs O(size of a host) whatever the number of hosts.
 * With more levels hosts are looked at by their shapes (shape.h), of which
 * there are few.
 */
#ifndef TRI_SRC_CTL_PACK_H
#define TRI_SRC_CTL_PACK_H

#include "src/ctl/shape.h"

typedef struct tri_pack_slot {
    int32_t host; /* from 0, ascending without gaps */
    tri_place at; /* ascending within a host */
} tri_pack_slot;

typedef struct tri_pack_part { /* a unit of the machine, at one level */
    int begin, end;            /* its slots */
    int n_free;
    int shape;
    int part, n_parts; /* in the next level */
    int prev, next;    /* hosts of the same shape, -1 */
} tri_pack_part;

typedef struct tri_pack_level {
    tri_pack_part *list;
    int n, most; /* most: slots of the largest */
    int *of;     /* by slot */
} tri_pack_level;

typedef struct tri_pack {
    int n_slots, most; /* most: slots of the largest host */
    int n_free;        /* what a group can get now */
    uint8_t *free_slot, *usable, *taken;
    int n_levels;
    tri_pack_level level[TRI_PART_COUNT];
    tri_shapes shapes;
    int *of_free; /* by number of free slots: the first shape of a host, -1 */
    int *parts;   /* scratch, most + 1 */
    /* exclusive: units that one group has for itself; else n_units is 0 */
    int n_units;
    int *unit_of, *unit_begin, *unit_taken; /* n_units + 1 begins */
    int greedy; /* as in journals of rules 0: groups of several hosts take whole
                 * hosts; set by whoever inits */
    int broken; /* memory ran out */
} tri_pack;

/* Nothing is usable yet.  `exclusive`: TRI_PART_COUNT for none.  A former
 * content is given back.  TRI_ENOMEM. */
tri_status tri_pack_init(tri_pack *p, const tri_pack_slot *slots, int n_slots,
                         tri_part exclusive);
void tri_pack_fini(tri_pack *p);
/* Whether a slot may be used, and whether a group has it: free is what may be
 * used, is not taken and is in no unit that is another's alone. */
void tri_pack_set(tri_pack *p, int slot, int usable, int taken);
/* Take `n` slots, none of the `n_avoid` in `avoid`.  [out] out[n], ascending:
 * the order of the mesh.  Returns 0, and takes nothing, if fewer are free, or
 * where memory has run out (`broken`). */
int tri_pack_take(tri_pack *p, int n, const int *avoid, int n_avoid, int *out);

/* ---- between pack.c and pack_several.c ----------------------------------- */

/* The best host that has room for n, -1 if none has, or `broken`. */
int tri_pack_choose(tri_pack *p, int n);
/* n free slots of host h, which are then not free; returns behind the last. */
int *tri_pack_take_from(tri_pack *p, int h, int n, int *out);
/* n free slots of several hosts, none of which has room for n. */
int *tri_pack_take_several(tri_pack *p, int n, int *out);

#endif
