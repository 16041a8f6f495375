/*
 * Start-up, the only collective part of rank 0's life: the communicators, who
 * sits where, and the study that rank 0 announces to all.  Where the job is to
 * outlive its ranks (level heartbeat) not even that is collective: see roll.h.
 */
#ifndef TRI_MPI_WORKERS_WORLD_H
#define TRI_MPI_WORKERS_WORLD_H

#include "mpi_workers/bell.h"
#include "mpi_workers/place.h"
#include "trireme/wire.h"

#include <mpi.h>
#include <sys/types.h>

/* All ranks come and hear of the study within this: 600 s, less in tests. */
extern double tri_world_start_s;
/* At level heartbeat rank 0 goes on without those that have not come within
 * this: 60 s, other in tests; of its own host it sees who has ended. */
extern double tri_world_come_s;

/* Whether the launcher was told to outlive a rank's death: level heartbeat. */
int tri_world_outlives(void);

typedef struct tri_seat {    /* of one rank; 256 bytes */
    char host[64], node[64]; /* as place.h has them; "" where the rank did not
                              * come */
    int cores, host_cores;
    int host_ranks; /* ranks of this job on that host */
    int n_alike;    /* of them, those that train and may use the same processing
                     * units as the launcher left them, itself included */
    uint64_t memory_bytes; /* the job's limit there */
    uint64_t kernel;       /* what runs there: process numbers mean the same to
                            * those who have the same */
    int64_t pid;
    char cpus[64];       /* that it may use, as the launcher left it */
    int is_whole;        /* all that the job may use there */
    tri_bell_offer bell; /* rank 0's, to those of its host */
} tri_seat;

typedef struct tri_world {
    MPI_Comm control; /* between rank 0 and the others */
    MPI_Comm peers;   /* among members while they form groups */
    int rank, size;
    tri_rank_place place;
    tri_seat *seats;    /* of all ranks; at level heartbeat others than rank 0
                         * know of it and of those of their host only */
    pid_t *pids;        /* of all ranks; 0 where it cannot be looked at */
    tri_bell *bell;     /* between rank 0 and those of its host, or NULL */
    uint64_t announced; /* bytes of the announcement */
    int is_loose;       /* level heartbeat: both are MPI_COMM_WORLD, and nothing
                         * is collective */
    struct tri_roll *roll; /* of rank 0 there: what it told */
} tri_world;

/* Collective over MPI_COMM_WORLD.  [out] out.  TRI_ENOMEM, TRI_ECOMM,
 * TRI_ETIMEOUT. */
tri_status tri_world_open(tri_world *out);
/* The same for a study's ranks: at level heartbeat without collectives, and
 * those that did not come in time are left out.  TRI_EPEER: this one was. */
tri_status tri_world_meet(tri_world *out);
/* `frees`: free the communicators (collective); else leave them. */
void tri_world_close(tri_world *w, int frees);
/*
 * By all: rank 0 gives `open`, whose study all others then hear of; NULL
 * dismisses them.  Others give NULL and get it in *heard, borrowed from
 * `arena`; kind TRI_EV_NONE if dismissed.  TRI_ETIMEOUT where rank 0 says
 * nothing: MPI may still write into *w, so the process is to end.
 */
tri_status tri_world_announce(tri_world *w, const tri_event *open,
                              tri_arena *arena, tri_event *heard);
/* Bind this rank, which trains, to its share of the host's cores, unless the
 * launcher has bound it: see tri_place_bind.  Rank 0 does not train. */
void tri_world_bind(tri_world *w);
/* Count the ranks of each host, and who is alike, by the other members of the
 * seats.  TRI_ENOMEM. */
tri_status tri_world_count(tri_world *w);
/* Bytes that a rank may use where the study says auto: the limit of its host
 * shared by the job's ranks there. */
uint64_t tri_world_quota(const tri_world *w, int rank);

#endif
