/*
 * Placement: where ranks sit, and which of them a group gets.
 *
 * A rank sits on a host, in a package (socket), a NUMA domain, a cache (of
 * level 3), on a core: numbers on its host, from 1.  0 says that it is not
 * within a single one, as an unbound rank that may run everywhere, or that it
 * is not known; of a rank that may use several cores but not all, the first
 * counts.  Levels are nested as listed: a cache that two NUMA domains share
 * counts as one of each.
 *
 * A group of n ranks is contiguous if it touches as few hosts as the free ranks
 * allow, then as few packages, then NUMA domains, then caches: of two groups
 * the one that touches fewer units at the first level where they differ is
 * better.  What a group gets is the best by that measure, and of equals the one
 * that leaves the least free beside it (best fit: first on the hosts that it
 * touches, then in their packages, NUMA domains, caches), so that large holes
 * stay for large groups.  Within the last level it is a block, aligned to the
 * group's size if there is one, so that the same groups come again and their
 * communicators can be kept.
 *
 * That holds without exception for groups that fit on one host.  A larger one
 * touches as few hosts as can be; the levels below are then the best of all
 * choices of that many hosts where looking at all of them takes no more than
 * TRI_PLACE_WORK steps, else whole hosts are taken, the emptiest first.
 *
 * The ranks of a group are listed host by host, package by package, and so on
 * down to the core: the order of the mesh, in which tp is the innermost axis,
 * dp the next and pp the outermost.  So neighbours along tp are the closest.
 *
 * exclusive: node or numa.  A group has every host, or NUMA domain, that it
 * touches for itself: what is free there stays free until it has left.
 *
 * Pure.  Hosts with as much free in parts of the same sizes are one choice, so
 * that a group costs microseconds in a pool of 100,000 ranks.  Realised in
 * src/ctl/pack.c; src/ctl/pool.c asks.
 */
#ifndef TRIREME_PLACE_H
#define TRIREME_PLACE_H

#include <stdint.h>

typedef enum tri_part {
    TRI_PART_HOST,
    TRI_PART_PACKAGE,
    TRI_PART_NUMA,
    TRI_PART_CACHE,
    TRI_PART_COUNT
} tri_part;

/* On its host: each from 1, or 0. */
typedef struct tri_place {
    int32_t package, numa, cache, core;
} tri_place;

/* Combinations of hosts that are looked at for one group of several. */
#define TRI_PLACE_WORK 200000

#endif
