/*
 * How fast ranks sum, against memory and against MPI.
 *
 *   coll [SECONDS [HOSTS]]        (mpirun -n N)
 *
 * Verified first: all ways give the same sums.  For each size the ways take
 * turns, as often as fit into SECONDS (default 0.5) each, and the best of each
 * is given: noise only adds.  `bound_s` is what the memory alone takes: every
 * rank has to read its array and to write the result, at the rate at which all
 * of them at once copy 64 MiB, which no cache holds.  `blocking_s` is
 * MPI_Allreduce, `nonblocking_s` MPI_Iallreduce with a wait that has an end.
 * `sum_s` is through shared memory, and on several hosts through that and
 * messages between their first ranks; with HOSTS the ranks behave as on so many
 * (default 1), although they are on one.  `bound_s` is of one host.  A sum is
 * to stay within twice the bound from 64 KiB to 64 MiB where ranks have cores
 * of their own; with more ranks than cores all are at the scheduler's mercy.
 *
 * Output: one JSON object a size; s and bytes.
 */
#include "mpi_workers/coll.h"
#include "mpi_workers/wait.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((int64_t)64 << 20)

static const int64_t sizes[] = {64,      4 << 10, 64 << 10,
                                1 << 20, 8 << 20, MOST_BYTES};

static int rank, size;
static tri_status link_status;
static tri_coll shared, across;
static tri_real *x, *y;

static void blocking(int64_t n)
{
    const int64_t piece = (4 << 20) / (int64_t)sizeof *x;

    for (int64_t i = 0; i < n; i += piece) {
        int64_t some = n - i < piece ? n - i : piece;

        MPI_Allreduce(MPI_IN_PLACE, x + i, (int)some, MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
    }
}

static void nonblocking(int64_t n)
{
    tri_coll_sum(&across, x, n);
}

static void in_memory(int64_t n)
{
    tri_coll_sum(&shared, x, n);
}

static void scatter(int64_t n)
{
    tri_coll_reduce_scatter(&shared, x, n);
}

static void gather(int64_t n)
{
    tri_coll_gather(&shared, x, n);
}

static void copy(int64_t n)
{
    memcpy(y, x, (size_t)n * sizeof *x);
}

typedef struct way {
    const char *name;
    void (*run)(int64_t n);
} way;

static const way ways[] = {{"sum_s", in_memory},
                           {"blocking_s", blocking},
                           {"nonblocking_s", nonblocking},
                           {"reduce_scatter_s", scatter},
                           {"gather_s", gather}};
#define N_WAYS (sizeof ways / sizeof *ways)

static double copied_s; /* 64 MiB by all at once */

/* Seconds of the slowest rank. */
static double once(const way *w, int64_t n)
{
    int repeats = n < 4096 ? 20 : 1;
    double s = 0;
    double most = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    s = tri_now();
    for (int i = 0; i < repeats; i++) {
        w->run(n);
    }
    s = (tri_now() - s) / repeats;
    MPI_Allreduce(&s, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static int is_right(void (*run)(int64_t n), int64_t n)
{
    int right = 1;
    int all = 0;

    for (int64_t i = 0; i < n; i++) {
        x[i] = (tri_real)((i + rank) % 100);
    }
    run(n);
    for (int64_t i = 0; i < n; i += 7) {
        tri_real sum = 0;

        for (int r = 0; r < size; r++) {
            sum += (tri_real)((i + r) % 100);
        }
        right = right && x[i] == sum;
    }
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

static void measure(int64_t bytes, double seconds)
{
    int64_t n = bytes / (int64_t)sizeof *x;
    double best[N_WAYS];
    double start = tri_now();
    const size_t n_ways = N_WAYS;
    int on = 1;

    for (size_t i = 0; i < N_WAYS; i++) {
        best[i] = INFINITY;
    }
    while (on) {
        for (size_t i = 0; i < N_WAYS; i++) {
            memset(x, 0, (size_t)bytes); /* sums stay numbers */
            best[i] = fmin(best[i], once(&ways[i], n));
        }
        on = (tri_now() - start) / (double)n_ways < seconds;
        MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        double bound_s = copied_s * (double)bytes / (double)MOST_BYTES;

        printf("{\"ranks\": %d, \"by\": \"%s\", \"bytes\": %lld", size,
               shared.ops->name, (long long)bytes);
        for (size_t i = 0; i < N_WAYS; i++) {
            printf(", \"%s\": %.3g", ways[i].name, best[i]);
        }
        printf(", \"bound_s\": %.3g, \"of_bound\": %.2f, "
               "\"of_blocking\": %.2f}\n",
               bound_s, best[0] / bound_s, best[0] / best[1]);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0.5;
    int hosts = argc > 2 ? atoi(argv[2]) : 1;
    int bad;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (hosts > 1) {
        char name[16];

        snprintf(name, sizeof name, "h%d", rank * hosts / size);
        setenv("TRIREME_HOST_NAME", name, 1);
    }
    x = malloc(MOST_BYTES);
    y = malloc(MOST_BYTES);
    bad = !x || !y ||
          tri_coll_open(&shared, MPI_COMM_WORLD, 4 << 20, TRI_COLL_AUTO,
                        &link_status) != TRI_OK ||
          tri_coll_open(&across, MPI_COMM_WORLD, 4 << 20, TRI_COLL_MPI,
                        &link_status) != TRI_OK ||
          !is_right(in_memory, 100003) || !is_right(nonblocking, 100003) ||
          !is_right(blocking, 100003);
    if (bad) {
        fprintf(stderr, "bench coll: the sums are not right\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    memset(y, 0, MOST_BYTES);
    copied_s = INFINITY;
    for (int i = 0; i < 8; i++) {
        const way copying = {"copy", copy};

        copied_s =
                fmin(copied_s, once(&copying, MOST_BYTES / (int64_t)sizeof *x));
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        measure(sizes[i], seconds);
    }
    tri_coll_close(&across);
    tri_coll_close(&shared);
    free(y);
    free(x);
    MPI_Finalize();
    return 0;
}
