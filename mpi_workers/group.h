/*
 * Groups: the communicator of a run's ranks, and how its members agree.
 *
 * Forming is two-phase: rank 0 has every member's answer to `assign` before it
 * says `go`; only then do the members come here.  They compare what each has
 * cached for this rank set, and either use it or create the communicator
 * (MPI_Comm_create_group, so only members take part).  It is kept afterwards
 * while every member's cache has room, else freed by all.
 *
 * One thread; all waits are bounded, but for MPI_Comm_create_group: it never
 * returns where a member dies in it, is no request, and MPI has nothing to take
 * a call back by.  All members have just been heard when they enter it, so what
 * is left is the tenth of a millisecond that it takes, once for each rank set;
 * who is stuck there all the same is ended with its process (watchdog.h) and
 * struck like the one that died.  Survivors could only stay if groups were made
 * without MPI, and then a plugin would have no communicator to train on.
 */
#ifndef TRI_MPI_WORKERS_GROUP_H
#define TRI_MPI_WORKERS_GROUP_H

#include "trireme/event.h"
#include "trireme/status.h"

#include <mpi.h>
#include <stdint.h>

/* Tags from here on are used on a group's communicator by this module and the
 * run loop; kinds of trials use lower ones. */
enum {
    TRI_TAG_VOTE = 32000, /* members to leader */
    TRI_TAG_ANSWER,       /* leader to members */
    TRI_TAG_WORD          /* leader to members, between runs */
};

typedef struct tri_groups tri_groups;

/* This rank's groups.  `peers`: a communicator of all ranks for the members'
 * words while they form, borrowed; `most`: communicators kept at a time.
 * [out] owned.  TRI_ENOMEM. */
tri_status tri_groups_create(MPI_Comm peers, int most, tri_groups **out);
/* `frees`: free what is cached (all ranks alive and leaving); else it is left
 * to the end of the process. */
void tri_groups_destroy(tri_groups *g, int frees);

/*
 * Enter the group of `ranks` (ranks of `peers` in the order of the mesh, this
 * one among them; ranks[0] leads) for the forming `key`, which all members give
 * alike and no other forming has had.  Collective over the members.  [out]
 * `out`: borrowed until tri_groups_leave.  A wait for a member, and the making
 * of the communicator, take `limit_s` at most: TRI_ETIMEOUT, or the watchdog's
 * end of this process.  TRI_ECOMM, TRI_ENOMEM.
 */
tri_status tri_groups_enter(tri_groups *g, const int32_t *ranks, int n,
                            uint64_t key, double limit_s, MPI_Comm *out);
/* Leave: collective, unless `broken` (an error of scope group): the
 * communicator is then left as it is and never used again. */
void tri_groups_leave(tri_groups *g, MPI_Comm comm, int broken);
/* How many communicators are cached. */
int tri_groups_n_cached(const tri_groups *g);

/*
 * One vote.  Every member gives what it has; out comes the same on all:
 * the status of the lowest rank that has one (scope group wins), its class and
 * sentence; the leader's word; the largest numbers; `all` where every rank
 * gave it, `any` where one did; and what the lowest rank with `has` measured,
 * with its sentence where no rank has a status.
 */
typedef struct tri_vote {
    int32_t status;
    int32_t rank;   /* out: whose status it is */
    int32_t reason; /* tri_reason */
    int32_t word;   /* read on the leader */
    int32_t all, any;
    int32_t has; /* in: whether x is set; out: whether anyone's was */
    double x[9];
    uint64_t max[3];
    char sentence[256];
} tri_vote;

/* Collective over `comm`.  [in,out] vote, unchanged on failure.  TRI_ETIMEOUT
 * where a member says nothing for `limit_s`, TRI_ECOMM. */
tri_status tri_group_vote(MPI_Comm comm, tri_vote *vote, double limit_s);
/* The status that all agree on: `mine` of the lowest rank that is not TRI_OK,
 * whose sentence becomes the last error on every rank. */
tri_status tri_group_agree(MPI_Comm comm, tri_status mine, double limit_s);

#endif
