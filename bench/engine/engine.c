/*
 * How fast the engine steps, against the time that the same matrix products
 * take alone in the same run.
 *
 *   engine [laptop|s|m|l] [STEPS]        (mpirun -n N: data parallel on N too)
 *
 * Verified first: two layouts of micro-batches must give the same losses, and
 * the loss must fall.  Then the best step of STEPS (default 10) is taken, as
 * are the best products: noise only adds.  OPENBLAS_CORETYPE can halve the
 * products on AVX-512 machines; it is taken out of the environment first, and
 * the kernel set in use is printed.  Output: one JSON object.
 *
 * Units: s, tokens/s, bytes; `share` is the ceiling's time over the step's.
 */
#include "models/ops/ops.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/trainer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct size {
    const char *name;
    int layers, hidden, heads, sequence, vocab, batch, micro_batch;
} size;

static const size sizes[] = {{"laptop", 4, 128, 4, 64, 256, 64, 16},
                             {"s", 4, 128, 4, 64, 1024, 8, 8},
                             {"m", 6, 256, 8, 128, 4096, 8, 8},
                             {"l", 8, 512, 8, 256, 8192, 8, 8}};

static unsigned char text[40000];

static void say(const char *what)
{
    fprintf(stderr, "bench engine: %s: %s\n", what, tri_error_last()->sentence);
}

static tri_status open_trainer(const size *z, MPI_Comm comm, int dp, int mb,
                               tri_trainer **out)
{
    tri_model_spec model = {.kind = TRI_MODEL_GPT,
                            .u.gpt = {.layers = z->layers,
                                      .hidden = z->hidden,
                                      .heads = z->heads,
                                      .sequence = z->sequence,
                                      .vocab = z->vocab,
                                      .ffn = 4 * z->hidden,
                                      .tied = 1}};
    tri_trainer_setup s = {.model = &model,
                           .layout = {.dp = dp,
                                      .tp = 1,
                                      .pp = 1,
                                      .virtual_stages = 1,
                                      .micro_batch = mb,
                                      .global_batch = z->batch,
                                      .schedule = 1,
                                      .threads = 1},
                           .seed = 1,
                           .optimizer = {1e-3, 0.9, 0.95, 1e-8, 0.01},
                           .clip = 1,
                           .text = text,
                           .text_bytes = sizeof text};

    return tri_trainer_create(&s, comm, out);
}

/* Best step, and the first and last loss; negative on failure. */
static double best_step(const size *z, MPI_Comm comm, int dp, int mb, int steps,
                        double *loss, uint64_t *bytes)
{
    tri_trainer *t = NULL;
    double best = INFINITY;
    tri_step step;
    int i;

    if (open_trainer(z, comm, dp, mb, &t) != TRI_OK) {
        say("open");
        return -1;
    }
    for (i = 0; i < steps; i++) {
        if (tri_trainer_step(t, 0, &step) != TRI_OK) {
            say("step");
            best = -1;
            break;
        }
        loss[i ? 1 : 0] = step.loss;
        *bytes = step.bytes;
        best = i > 0 && step.step_s < best ? step.step_s : best;
    }
    tri_trainer_destroy(t);
    return best;
}

/* Best time of one product of m x n x k in the three forms of a layer:
 * forward, gradient of the input, gradient of the weights. */
static double product(int64_t rows, int64_t in, int64_t out, tri_real *work)
{
    tri_real *x = work, *w = x + rows * in, *y = w + in * out;
    double best = INFINITY;
    int i;

    for (i = 0; i < 6; i++) {
        double start = tri_now(), s;

        tri_gemm(0, 1, rows, out, in, 1, x, in, w, in, 0, y, out);
        tri_gemm(0, 0, rows, in, out, 1, y, out, w, in, 0, x, in);
        tri_gemm(1, 0, out, in, rows, 1, y, out, x, in, 0, w, in);
        s = tri_now() - start;
        best = s < best ? s : best;
    }
    return best;
}

/* Seconds of a step's products alone, attention left out. */
static double ceiling(const size *z)
{
    int64_t rows = (int64_t)z->micro_batch * z->sequence, h = z->hidden;
    int64_t wide = z->vocab > 4 * h ? z->vocab : 4 * h;
    size_t n = (size_t)(rows * h + h * wide + rows * wide);
    tri_real *work = calloc(n, sizeof *work);
    double s = 0;

    if (!work) {
        return NAN;
    }
    s += z->layers * product(rows, h, 3 * h, work);
    s += z->layers * product(rows, h, h, work);
    s += z->layers * product(rows, h, 4 * h, work);
    s += z->layers * product(rows, 4 * h, h, work);
    s += product(rows, h, z->vocab, work);
    free(work);
    return s * z->batch / z->micro_batch;
}

static int verify(const size *z)
{
    double a[2] = {0}, b[2] = {0};
    uint64_t bytes;

    if (best_step(z, MPI_COMM_SELF, 1, z->micro_batch, 4, a, &bytes) < 0 ||
        best_step(z, MPI_COMM_SELF, 1, z->micro_batch / 2, 4, b, &bytes) < 0) {
        return -1;
    }
    if (!(fabs(a[0] - b[0]) < 1e-4 * a[0] && fabs(a[1] - b[1]) < 1e-3 * a[1] &&
          a[1] < a[0])) {
        fprintf(stderr, "bench engine: losses %g %g and %g %g: not right\n",
                a[0], a[1], b[0], b[1]);
        return -1;
    }
    return 0;
}

/* Rank 0's verdict; the others sleep, since a spinning neighbour slows it. */
static int hear(int bad)
{
    MPI_Request r;
    int done = 0;

    MPI_Ibcast(&bad, 1, MPI_INT, 0, MPI_COMM_WORLD, &r);
    while (!done) {
        MPI_Test(&r, &done, MPI_STATUS_IGNORE);
        if (!done) {
            usleep(2000);
        }
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    return bad;
}

static int run(const size *z, int steps, int rank, int ranks)
{
    double alone = 0, all = 0, top = 0, loss[2] = {0};
    double tokens = (double)z->batch * z->sequence;
    uint64_t bytes = 0;
    int bad = 0;

    if (rank == 0) {
        bad = verify(z);
        alone = bad ? -1
                    : best_step(z, MPI_COMM_SELF, 1, z->micro_batch, steps,
                                loss, &bytes);
        top = ceiling(z);
        bad = alone < 0;
    }
    bad = hear(bad);
    if (bad) {
        return 1;
    }
    if (ranks > 1) {
        int mb = z->batch / ranks < z->micro_batch ? z->batch / ranks
                                                   : z->micro_batch;

        all = best_step(z, MPI_COMM_WORLD, ranks, mb, steps, loss, &bytes);
        bad = all < 0;
    }
    if (rank == 0 && !bad) {
        printf("{\"size\": \"%s\", \"kernel\": \"%s\", \"step_s\": %.6f, "
               "\"tokens_per_s\": %.0f, \"ceiling_tokens_per_s\": %.0f, "
               "\"share\": %.3f, \"peak_bytes\": %llu",
               z->name, tri_gemm_kernel(), alone, tokens / alone, tokens / top,
               top / alone, (unsigned long long)bytes);
        if (ranks > 1) {
            printf(", \"ranks\": %d, \"ranks_step_s\": %.6f, "
                   "\"ranks_tokens_per_s\": %.0f, \"speedup\": %.3f",
                   ranks, all, tokens / all, alone / all);
        }
        printf("}\n");
    }
    return bad;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "laptop";
    int steps = argc > 2 ? atoi(argv[2]) : 10, rank, ranks, status = 1;
    size_t i;

    if (getenv("OPENBLAS_CORETYPE") || getenv("OPENBLAS_L2_SIZE")) {
        unsetenv("OPENBLAS_CORETYPE");
        unsetenv("OPENBLAS_L2_SIZE");
        execv("/proc/self/exe", argv);
    }
    for (i = 0; i < sizeof text; i++) {
        text[i] = (unsigned char)("etaoin shrdlu\n"[i * i / 7 % 14]);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (strcmp(name, sizes[i].name) == 0) {
            status = run(&sizes[i], steps < 2 ? 2 : steps, rank, ranks);
        }
    }
    MPI_Finalize();
    return status;
}
