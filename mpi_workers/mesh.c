/*
 * Axis communicators.
 */
#include "mpi_workers/mesh.h"

#include "mpi_workers/watchdog.h"

#include <math.h>
#include <stdlib.h>

enum {
    TAG_TP = 101,
    TAG_DP,
    TAG_PP,
    TAG_TIED
};

static int n_alive;

static tri_status create(MPI_Comm group, const int *ranks, int n, int tag,
                         MPI_Comm *out)
{
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    int rc;

    rc = MPI_Comm_group(group, &all);
    if (rc == MPI_SUCCESS) {
        rc = MPI_Group_incl(all, n, ranks, &some);
    }
    if (rc == MPI_SUCCESS) {
        rc = MPI_Comm_create_group(group, some, tag, &comm);
    }
    if (some != MPI_GROUP_NULL) {
        MPI_Group_free(&some);
    }
    if (all != MPI_GROUP_NULL) {
        MPI_Group_free(&all);
    }
    if (rc != MPI_SUCCESS) {
        return TRI_FAIL(TRI_ECOMM,
                        "a communicator of %d ranks could not be made", n);
    }
    n_alive++;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    *out = comm;
    return TRI_OK;
}

/* The axis through this rank along one coordinate. */
static tri_status create_axis(const tri_mesh *m, const tri_layout *l, int tag,
                              MPI_Comm *out)
{
    int n = tag == TAG_TP ? l->tp : tag == TAG_DP ? l->dp : l->pp;
    int *ranks, i;
    tri_status st;

    if (n == 1) {
        return TRI_OK;
    }
    ranks = malloc((size_t)n * sizeof *ranks);
    if (!ranks) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for an axis of %d ranks", n);
    }
    for (i = 0; i < n; i++) {
        tri_coord c = m->at;

        *(tag == TAG_TP ? &c.tp : tag == TAG_DP ? &c.dp : &c.pp) = i;
        ranks[i] = tri_shard_rank(l, c);
    }
    st = create(m->group, ranks, n, tag, out);
    free(ranks);
    return st;
}

static tri_status create_tied(const tri_mesh *m, const tri_layout *l,
                              MPI_Comm *out)
{
    tri_coord first = m->at, last = m->at;
    int ranks[2];

    if (l->pp == 1 || (m->at.pp != 0 && m->at.pp != l->pp - 1)) {
        return TRI_OK;
    }
    first.pp = 0;
    last.pp = l->pp - 1;
    ranks[0] = tri_shard_rank(l, first);
    ranks[1] = tri_shard_rank(l, last);
    return create(m->group, ranks, 2, TAG_TIED, out);
}

static tri_status create_all(tri_mesh *m, const tri_layout *l)
{
    TRI_TRY(create_axis(m, l, TAG_TP, &m->tp));
    TRI_TRY(create_axis(m, l, TAG_DP, &m->dp));
    TRI_TRY(create_axis(m, l, TAG_PP, &m->pp));
    return create_tied(m, l, &m->tied);
}

tri_status tri_mesh_open(MPI_Comm group, const tri_layout *l, double limit_s,
                         tri_mesh *out)
{
    tri_mesh m = {.group = group,
                  .tp = MPI_COMM_NULL,
                  .dp = MPI_COMM_NULL,
                  .pp = MPI_COMM_NULL,
                  .tied = MPI_COMM_NULL};
    double before;
    tri_status st;

    MPI_Comm_rank(group, &m.rank);
    MPI_Comm_size(group, &m.size);
    m.at = tri_shard_coord(l, m.rank);
    before = tri_watchdog_begin(limit_s > 0 ? limit_s : INFINITY);
    st = create_all(&m, l);
    tri_watchdog_end(before);
    if (st != TRI_OK) {
        tri_mesh_close(&m);
        return st;
    }
    *out = m;
    return TRI_OK;
}

static void drop(MPI_Comm *comm)
{
    if (*comm != MPI_COMM_NULL) {
        MPI_Comm_free(comm);
        n_alive--;
    }
}

void tri_mesh_close(tri_mesh *mesh)
{
    drop(&mesh->tied);
    drop(&mesh->pp);
    drop(&mesh->dp);
    drop(&mesh->tp);
}

static void forget(MPI_Comm *comm)
{
    n_alive -= *comm != MPI_COMM_NULL;
    *comm = MPI_COMM_NULL;
}

void tri_mesh_forget(tri_mesh *mesh)
{
    forget(&mesh->tied);
    forget(&mesh->pp);
    forget(&mesh->dp);
    forget(&mesh->tp);
}

int tri_mesh_alive(void)
{
    return n_alive;
}
