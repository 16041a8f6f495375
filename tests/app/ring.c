/*
 * An MPI program as users have it: each step a message goes round, and rank 0
 * says so in a line of JSON.  It ends at TRIREME_RESOURCE, and fails where it
 * is not started on as many ranks as its argument says.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const char *resource = getenv("TRIREME_RESOURCE");
    int last = resource ? atoi(resource) : 0;
    int rank;
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2 || atoi(argv[1]) != size) {
        fprintf(stderr, "%d ranks\n", size);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    for (int step = 1; step <= last; step++) {
        int token = rank;

        MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, 0,
                             (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        if (rank == 0) {
            printf("{\"step\": %d, \"samples\": %d, \"loss\": %g}\n", step,
                   size, 1.0 / size);
            fflush(stdout);
        }
    }
    MPI_Finalize();
    return 0;
}
