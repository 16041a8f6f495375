/*
 * Packing: which free ranks a group gets.  A pure function of what is free
 * and where: on one host if one has room (the fullest such host), in a block
 * aligned to the group's size if there is one, so that the same groups come
 * again and their communicators can be kept.  O(size of a host) a group.
 *
 * Ranks are slots here, numbered host by host.  Knows nothing of trials.
 */
#ifndef TRI_SRC_CTL_PACK_H
#define TRI_SRC_CTL_PACK_H

#include "trireme/status.h"

#include <stdint.h>

typedef struct tri_pack_host {
    int begin, end; /* its slots */
    int n_free;
    int prev, next; /* hosts with as many free slots, -1 */
} tri_pack_host;

typedef struct tri_pack {
    int n_slots, n_hosts, n_free, most; /* most: slots of the largest host */
    uint8_t *free_slot;
    int *host_of;
    tri_pack_host *hosts;
    int *bucket; /* by number of free slots: the first host, -1 */
} tri_pack;

/* `host_of` gives the host of each slot, ascending from 0 without gaps.
 * Nothing is free yet.  A former content is given back.  TRI_ENOMEM. */
tri_status tri_pack_init(tri_pack *p, const int *host_of, int n_slots);
void tri_pack_fini(tri_pack *p);
void tri_pack_set_free(tri_pack *p, int slot, int is_free);
/* Take `n` slots.  [out] out[n], ascending.  Returns 0, and takes nothing, if
 * fewer are free. */
int tri_pack_take(tri_pack *p, int n, int *out);

#endif
