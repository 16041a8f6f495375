/*
 * How fast the engine steps a recommendation model: 8 tables of 100,000 rows
 * of 64, bottom 13-512-256-64, top 512-256-1.
 *
 *   dlrm [BATCH [STEPS]]        (mpirun -n N: every placement on N too)
 *
 * Verified first: two layouts of micro-batches must give the same losses, and
 * the loss must fall.  Then the best of STEPS (default 20) steps is taken.
 * OPENBLAS_CORETYPE can halve the products on AVX-512 machines: it is taken out
 * of the environment, and the kernel set in use is printed.  Output: one JSON
 * object.  The peer is dlrm_torch.py, which runs beside this.
 *
 * Units: seconds, of the processor (cpu_*: another's load on the machine does
 * not count) and by the clock; samples/s of both.  Drawing the samples is part
 * of a step, here and there.
 */
#include "models/ops/ops.h"
#include "mpi_workers/trainer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct result {
    double step_s, cpu_s, first, last;
    uint64_t bytes;
} result;

static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int say(const char *what)
{
    fprintf(stderr, "bench dlrm: %s: %s\n", what, tri_error_last()->sentence);
    return -1;
}

static tri_status open_trainer(MPI_Comm comm, int batch, int dp, int mb,
                               int placing, tri_trainer **out)
{
    tri_model_spec model = {.kind = TRI_MODEL_DLRM,
                            .u.dlrm = {.tables = 8,
                                       .dim = 64,
                                       .pooling = 1,
                                       .dense = 13,
                                       .bottom = {512, 256},
                                       .n_bottom = 2,
                                       .top = {512, 256},
                                       .n_top = 2,
                                       .zipf = 1.05,
                                       .lr = 0.02,
                                       .data = "synthetic"}};
    tri_trainer_setup s = {.model = &model,
                           .layout = {.dp = dp,
                                      .tp = 1,
                                      .pp = 1,
                                      .virtual_stages = 1,
                                      .micro_batch = mb,
                                      .global_batch = batch,
                                      .schedule = 1,
                                      .threads = 1},
                           .seed = 1,
                           .optimizer = {1e-3, 0.9, 0.95, 1e-8, 0.01}};
    int t;

    for (t = 0; t < 8; t++) {
        model.u.dlrm.rows[t] = 100000;
        s.layout.placing[t] = placing;
    }
    return tri_trainer_create(&s, comm, out);
}

/* The best of `steps` behind the first; losses are means of a quarter. */
static int run_steps(MPI_Comm comm, int batch, int dp, int mb, int placing,
                     int steps, result *out)
{
    result r = {.step_s = INFINITY, .cpu_s = INFINITY};
    tri_trainer *t = NULL;
    int i, quarter = (steps + 3) / 4;

    if (open_trainer(comm, batch, dp, mb, placing, &t) != TRI_OK) {
        return say("open");
    }
    for (i = 0; i < steps; i++) {
        double start = cpu_now(), cpu;
        tri_step step;

        if (tri_trainer_step(t, 0, &step) != TRI_OK) {
            tri_trainer_destroy(t);
            return say("step");
        }
        cpu = cpu_now() - start;
        r.first += i < quarter ? step.loss / quarter : 0;
        r.last += i >= steps - quarter ? step.loss / quarter : 0;
        r.bytes = step.bytes;
        if (i > 0) {
            r.step_s = step.step_s < r.step_s ? step.step_s : r.step_s;
            r.cpu_s = cpu < r.cpu_s ? cpu : r.cpu_s;
        }
    }
    tri_trainer_destroy(t);
    *out = r;
    return 0;
}

static int verify(int batch)
{
    result a, b;

    if (run_steps(MPI_COMM_SELF, batch, 1, batch, 0, 24, &a) ||
        run_steps(MPI_COMM_SELF, batch, 1, batch / 2, 0, 24, &b)) {
        return -1;
    }
    if (!(fabs(a.first - b.first) < 1e-4 * a.first &&
          fabs(a.last - b.last) < 1e-3 * a.last && a.last < a.first)) {
        fprintf(stderr, "bench dlrm: losses %g %g and %g %g: not right\n",
                a.first, a.last, b.first, b.last);
        return -1;
    }
    return 0;
}

static int run(int batch, int steps, int rank, int ranks)
{
    static const char *const names[] = {"planned", "table", "row", "column",
                                        "data"};
    result r = {0};
    int bad = 0, k;

    if (rank == 0) {
        bad = verify(batch) ||
              run_steps(MPI_COMM_SELF, batch, 1, batch, 0, steps, &r);
    }
    MPI_Bcast(&bad, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (bad) {
        return 1;
    }
    if (rank == 0) {
        printf("{\"batch\": %d, \"kernel\": \"%s\", \"path\": \"%s\", "
               "\"cpu_s\": %.6f, \"step_s\": %.6f, \"cpu_samples_per_s\": "
               "%.0f, \"samples_per_s\": %.0f, \"peak_bytes\": %llu",
               batch, tri_gemm_kernel(), tri_path_name(tri_path_now()), r.cpu_s,
               r.step_s, batch / r.cpu_s, batch / r.step_s,
               (unsigned long long)r.bytes);
    }
    for (k = 1; k <= 4 && ranks > 1 && !bad; k++) {
        bad = run_steps(MPI_COMM_WORLD, batch, ranks, batch / ranks, k, steps,
                        &r);
        if (rank == 0 && !bad) {
            printf(", \"ranks_%s_samples_per_s\": %.0f", names[k],
                   batch / r.step_s);
        }
    }
    if (rank == 0) {
        printf("}\n");
    }
    return bad;
}

int main(int argc, char **argv)
{
    int batch = argc > 1 ? atoi(argv[1]) : 1024;
    int steps = argc > 2 ? atoi(argv[2]) : 20, rank, ranks, status;

    if (getenv("OPENBLAS_CORETYPE") || getenv("OPENBLAS_L2_SIZE")) {
        unsetenv("OPENBLAS_CORETYPE");
        unsetenv("OPENBLAS_L2_SIZE");
        execv("/proc/self/exe", argv);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (batch < 2 * ranks || batch % (2 * ranks) != 0 || steps < 4) {
        fprintf(stderr, "usage: dlrm [BATCH [STEPS]]; BATCH in twice as many "
                        "parts as ranks, 4 steps or more\n");
        status = 1;
    } else {
        status = run(batch, steps, rank, ranks);
    }
    MPI_Finalize();
    return status;
}
