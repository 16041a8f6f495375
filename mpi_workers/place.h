/*
 * Where this rank is: its host, the cores that it may use, the memory that the
 * job may use there.  Asked once, at start.
 */
#ifndef TRI_MPI_WORKERS_PLACE_H
#define TRI_MPI_WORKERS_PLACE_H

#include "trireme/place.h"
#include "trireme/status.h"

#include <stdint.h>

typedef struct tri_rank_place {
    char host[64];   /* TRIREME_HOST_NAME if set, else its name */
    char node[64];   /* as launchers call it: TRIREME_HOST_NAME, what Slurm
                      * says (SLURMD_NODENAME), or its name */
    char cpu[96];    /* model of the processor, "unknown" */
    char device[96]; /* devices shown to this rank, "" */
    int cores;       /* in this rank's binding */
    int host_cores;  /* that this job may use on the host: control group's
                      * set and quota */
    uint64_t memory_bytes; /* the job's limit on the host: the control
                            * group's, or all there is */
    tri_place at;          /* where its cores are, see trireme/place.h; of
                            * several cores the first counts */
    int is_whole;          /* it may use all that the job may on the host */
    char cpus[64];         /* processing units that it may use: "0-3,8" */
    char binding[12];      /* by tri_place_bind: inherited, applied, none */
} tri_rank_place;

/* [out] out.  Never fails: what cannot be found out is 1 core, "unknown". */
void tri_place_read(tri_rank_place *out);
/* The same `node`, alone, of up to `bytes` bytes. */
void tri_place_node(char *buf, size_t bytes);
/* The same memory_bytes, alone and cheap. */
uint64_t tri_place_memory(void);
/* A line on the host: processor, packages, NUMA domains, caches, cores, memory
 * that this job may use; "" where hwloc cannot say.  Returns buf. */
char *tri_place_describe(const tri_rank_place *place, char *buf, size_t bytes);
/* The host's topology as XML.  [out] malloc'd, owned; NULL where hwloc cannot
 * say. */
char *tri_place_topology(void);
/*
 * Binding: what the launcher has laid down is inherited; where it left ranks
 * free, each to use all cores of its host, and there is a core for each, every
 * rank that trains is bound to its share of them, with all its threads, and the
 * processes that it starts inherit that.  TRIREME_BIND=none leaves them free.
 *
 * This rank is the `index`th of `n_ranks` that train on its host, `n_alike` of
 * which may use the same processing units as it.  Notes in *place how it is
 * bound and where it then is.
 */
void tri_place_bind(tri_rank_place *place, int index, int n_ranks, int n_alike);
/* The rule: what tri_place_bind is to do; `wish`: TRIREME_BIND, or NULL. */
const char *tri_place_binding(const tri_rank_place *place, int n_ranks,
                              int n_alike, const char *wish);

#endif
