/*
 * Finds the address, port and local ranks of a group's processes.
 */
#include "mpi_workers/rendezvous.h"

#include "mpi_workers/p2p.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Outside what systems give to clients (32768 and up), above the services. */
#define FIRST_PORT 20000
#define N_PORTS    10000

enum { /* tags on the group's communicator */
    TAG_PLACE = 1,
    TAG_PLACES
};

typedef struct place {
    char host[60];
    int32_t port;
} place;

static int is_free(int port)
{
    struct sockaddr_in at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int free_now;

    if (fd < 0) {
        return 0;
    }
    memset(&at, 0, sizeof at);
    at.sin_family = AF_INET;
    at.sin_port = htons((uint16_t)port);
    free_now = bind(fd, (struct sockaddr *)&at, sizeof at) == 0;
    close(fd);
    return free_now;
}

static int find_port(uint64_t key)
{
    uint64_t from = (key * 127 + (uint64_t)getpid() * 7919) % N_PORTS;

    for (uint64_t i = 0; i < N_PORTS; i++) {
        int port = FIRST_PORT + (int)((from + i) % N_PORTS);

        if (is_free(port)) {
            return port;
        }
    }
    return FIRST_PORT + (int)from;
}

static void settle(const place *all, tri_rendezvous *out)
{
    const char *here = all[out->rank].host;

    for (int i = 0; i < out->size; i++) {
        int same = strcmp(all[i].host, here) == 0;

        out->local_rank += same && i < out->rank;
        out->local_size += same;
    }
    out->port = all[0].port;
    snprintf(out->address, sizeof out->address, "%s",
             out->local_size == out->size ? "127.0.0.1" : all[0].host);
}

/* All places on all ranks, by way of the leader, who can name a silent one. */
static tri_status share(MPI_Comm comm, const tri_rendezvous *r, double limit_s,
                        place *all)
{
    int bytes = r->size * (int)sizeof *all;

    if (r->rank > 0) {
        TRI_TRY(tri_p2p_send(comm, 0, TAG_PLACE, &all[r->rank],
                             (int)sizeof *all, limit_s));
        return tri_p2p_receive(comm, 0, TAG_PLACES, all, bytes, limit_s);
    }
    for (int i = 1; i < r->size; i++) {
        TRI_TRY(tri_p2p_receive(comm, i, TAG_PLACE, &all[i], (int)sizeof *all,
                                limit_s));
    }
    for (int i = 1; i < r->size; i++) {
        TRI_TRY(tri_p2p_send(comm, i, TAG_PLACES, all, bytes, limit_s));
    }
    return TRI_OK;
}

tri_status tri_rendezvous_meet(MPI_Comm comm, uint64_t key, double limit_s,
                               tri_rendezvous *out)
{
    tri_rendezvous r = {0};
    tri_status st;
    place *all;

    MPI_Comm_rank(comm, &r.rank);
    MPI_Comm_size(comm, &r.size);
    all = calloc((size_t)r.size, sizeof *all);
    if (!all) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a group's places");
    }
    gethostname(all[r.rank].host, sizeof all->host - 1);
    all[r.rank].port = r.rank == 0 ? find_port(key) : 0;
    st = share(comm, &r, limit_s, all);
    if (st == TRI_OK) {
        settle(all, &r);
        *out = r;
    }
    free(all);
    return st;
}
