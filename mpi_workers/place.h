/*
 * Where this rank is: its host, the cores that it may use, the memory that the
 * job may use there.  Asked once, at start.
 */
#ifndef TRI_MPI_WORKERS_PLACE_H
#define TRI_MPI_WORKERS_PLACE_H

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
} tri_rank_place;

/* [out] out.  Never fails: what cannot be found out is 1 core, "unknown". */
void tri_place_read(tri_rank_place *out);
/* The same `node`, alone, of up to `bytes` bytes. */
void tri_place_node(char *buf, size_t bytes);
/* The same memory_bytes, alone and cheap. */
uint64_t tri_place_memory(void);
/* The host's topology as XML.  [out] malloc'd, owned; NULL where hwloc cannot
 * say. */
char *tri_place_topology(void);
/* Parts that tests use: the limit in a control group's file (UINT64_MAX for
 * "max" or absurdly large), 0 where it cannot be read. */
uint64_t tri_place_limit(const char *path);

#endif
