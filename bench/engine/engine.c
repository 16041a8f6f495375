/*
 * How fast the engine steps, against the time that the same matrix products
 * take alone in the same run.
 *
 *   engine [laptop|s|m|l] [STEPS [MICRO_BATCH]]
 *                                        (mpirun -n N: data parallel on N too)
 *
 * Verified first: two layouts of micro-batches must give the same losses, and
 * the loss must fall.  Then the best step of STEPS (default 10) is taken, as
 * are the best products: noise only adds.  OPENBLAS_CORETYPE can halve the
 * products on AVX-512 machines; it is taken out of the environment first, and
 * the kernel set in use is printed.  Output: one JSON object.
 *
 * Units: s, tokens/s, bytes.  Times of one rank are of its processor (cpu_*)
 * and by the clock; where others use the machine the first says more.  `share`
 * is the ceiling's time over the step's, of the processor both.  Of several
 * ranks it is the longest of any rank, waiting included.  rss_bytes is
 * the most that the process had, with libraries and MPI; peak_bytes what the
 * engine takes.
 */
#include "models/ops/ops.h"
#include "mpi_workers/pause.h"
#include "mpi_workers/trainer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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

typedef struct result {
    double step_s, cpu_s; /* best */
    double first, last;   /* losses */
    uint64_t bytes, rss_bytes;
} result;

static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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

/* The best of `steps` behind the first; 0, or -1 on failure. */
static int best_step(const size *z, MPI_Comm comm, int dp, int mb, int steps,
                     result *out)
{
    result r = {.step_s = INFINITY, .cpu_s = INFINITY};
    tri_trainer *t = NULL;
    tri_step step;
    int i, bad = 0;

    if (open_trainer(z, comm, dp, mb, &t) != TRI_OK) {
        say("open");
        return -1;
    }
    for (i = 0; i < steps && !bad; i++) {
        double start = cpu_now();

        if (tri_trainer_step(t, 0, &step) != TRI_OK) {
            say("step");
            bad = -1;
            break;
        }
        r.first = i ? r.first : step.loss;
        r.last = step.loss;
        r.bytes = step.bytes;
        r.rss_bytes = step.rss_bytes;
        if (i > 0) {
            r.cpu_s = fmin(r.cpu_s, cpu_now() - start);
            r.step_s = fmin(r.step_s, step.step_s);
        }
    }
    tri_trainer_destroy(t);
    *out = r;
    return bad;
}

/* Best time of one product of m x n x k in the three forms of a layer:
 * forward, gradient of the input, gradient of the weights. */
static double product(int64_t rows, int64_t in, int64_t out, tri_real *work)
{
    tri_real *x = work, *w = x + rows * in, *y = w + in * out;
    double best = INFINITY;
    int i;

    for (i = 0; i < 6; i++) {
        double start = cpu_now(), s;

        tri_gemm(0, 1, rows, out, in, 1, x, in, w, in, 0, y, out);
        tri_gemm(0, 0, rows, in, out, 1, y, out, w, in, 0, x, in);
        tri_gemm(1, 0, out, in, rows, 1, y, out, x, in, 0, w, in);
        s = cpu_now() - start;
        best = s < best ? s : best;
    }
    return best;
}

/* Processor seconds of a step's products alone, attention left out. */
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

/* Of attention alone: two products forward and four backward, of each head. */
static double attention_ceiling(const size *z)
{
    int64_t T = z->sequence, s = z->hidden / z->heads, h = z->hidden;
    tri_real *work = calloc((size_t)(T * T + 3 * T * h), sizeof *work);
    double best = INFINITY;
    int i, k;

    if (!work) {
        return NAN;
    }
    for (i = 0; i < 6; i++) {
        tri_real *q = work + T * T, *v = q + T * h, *y = v + T * h;
        double start = cpu_now();

        for (k = 0; k < z->heads; k++) {
            int64_t at = k * s;

            tri_gemm(0, 1, T, T, s, 1, q + at, h, v + at, h, 0, work, T);
            tri_gemm(0, 0, T, s, T, 1, work, T, v + at, h, 0, y + at, h);
            tri_gemm(0, 1, T, T, s, 1, q + at, h, v + at, h, 0, work, T);
            tri_gemm(1, 0, T, s, T, 1, work, T, v + at, h, 0, y + at, h);
            tri_gemm(0, 0, T, s, T, 1, work, T, v + at, h, 0, y + at, h);
            tri_gemm(1, 0, T, s, T, 1, work, T, q + at, h, 0, y + at, h);
        }
        best = fmin(best, cpu_now() - start);
    }
    free(work);
    return best * z->batch * z->layers;
}

static int verify(const size *z)
{
    result a, b;

    if (best_step(z, MPI_COMM_SELF, 1, z->micro_batch, 4, &a) ||
        best_step(z, MPI_COMM_SELF, 1, (z->micro_batch + 1) / 2, 4, &b)) {
        return -1;
    }
    if (!(fabs(a.first - b.first) < 1e-4 * a.first &&
          fabs(a.last - b.last) < 1e-3 * a.last && a.last < a.first)) {
        fprintf(stderr, "bench engine: losses %g %g and %g %g: not right\n",
                a.first, a.last, b.first, b.last);
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

static void print_alone(const size *z, const result *one, double top,
                        double attention)
{
    double tokens = (double)z->batch * z->sequence;

    printf("{\"size\": \"%s\", \"kernel\": \"%s\", \"path\": \"%s\", "
           "\"step_s\": %.6f, \"cpu_s\": %.6f, \"tokens_per_s\": %.0f, "
           "\"cpu_tokens_per_s\": %.0f, \"cpu_ceiling_tokens_per_s\": %.0f, "
           "\"share\": %.3f, \"share_all\": %.3f, \"micro_batch\": %d, "
           "\"peak_bytes\": %llu, \"rss_bytes\": %llu",
           z->name, tri_gemm_kernel(), tri_path_name(tri_path_now()),
           one->step_s, one->cpu_s, tokens / one->step_s, tokens / one->cpu_s,
           tokens / top, top / one->cpu_s, (top + attention) / one->cpu_s,
           z->micro_batch, (unsigned long long)one->bytes,
           (unsigned long long)one->rss_bytes);
}

static int run(const size *z, int steps, int rank, int ranks)
{
    result one = {0}, all = {0};
    double most = 0;
    int bad = 0;

    if (rank == 0) {
        bad = verify(z) ||
              best_step(z, MPI_COMM_SELF, 1, z->micro_batch, steps, &one);
    }
    bad = hear(bad);
    if (bad) {
        return 1;
    }
    if (ranks > 1) {
        int mb = z->batch / ranks < z->micro_batch ? z->batch / ranks
                                                   : z->micro_batch;

        bad = best_step(z, MPI_COMM_WORLD, ranks, mb, steps, &all);
        MPI_Reduce(&all.cpu_s, &most, 1, MPI_DOUBLE, MPI_MAX, 0,
                   MPI_COMM_WORLD);
    }
    if (rank == 0 && !bad) {
        print_alone(z, &one, ceiling(z), attention_ceiling(z));
        if (ranks > 1) {
            printf(", \"ranks\": %d, \"ranks_step_s\": %.6f, "
                   "\"ranks_cpu_s\": %.6f, \"speedup\": %.3f, "
                   "\"cpu_speedup\": %.3f",
                   ranks, all.step_s, most, one.step_s / all.step_s,
                   one.cpu_s / most);
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
        size z = sizes[i];

        z.micro_batch = argc > 3 ? atoi(argv[3]) : z.micro_batch;
        if (strcmp(name, z.name) == 0 && z.micro_batch > 0) {
            status = run(&z, steps < 2 ? 2 : steps, rank, ranks);
        }
    }
    MPI_Finalize();
    return status;
}
