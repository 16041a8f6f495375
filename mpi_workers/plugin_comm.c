/*
 * A plugin's communicator, and the count of its duplicates: an attribute that
 * is copied along with it.
 */
#include "mpi_workers/plugin_comm.h"

/* Duplicates may outlive the trial, up to MPI_Finalize: so these do too. */
static int keyval = MPI_KEYVAL_INVALID;
static int n_alive, n_before;

static int on_copy(MPI_Comm comm, int key, void *extra, void *in, void *out,
                   int *flag)
{
    (void)comm;
    (void)key;
    (void)extra;
    n_alive++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int on_free(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    n_alive--;
    return MPI_SUCCESS;
}

tri_status tri_plugin_comm_open(MPI_Comm group, MPI_Comm *out)
{
    MPI_Comm comm = MPI_COMM_NULL;

    if (keyval == MPI_KEYVAL_INVALID &&
        MPI_Comm_create_keyval(on_copy, on_free, &keyval, NULL) !=
                MPI_SUCCESS) {
        return TRI_FAIL(TRI_ECOMM, "an attribute of MPI cannot be had");
    }
    if (MPI_Comm_dup(group, &comm) != MPI_SUCCESS) {
        return TRI_FAIL(TRI_ECOMM, "the group's communicator cannot be "
                                   "duplicated for the plugin");
    }
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    n_before = n_alive;
    if (MPI_Comm_set_attr(comm, keyval, NULL) == MPI_SUCCESS) {
        n_alive++;
    }
    *out = comm;
    return TRI_OK;
}

int tri_plugin_comm_close(MPI_Comm comm, int frees)
{
    if (frees) {
        MPI_Comm_free(&comm);
        return n_alive - n_before;
    }
    return n_alive - n_before - 1;
}
