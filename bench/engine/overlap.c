/*
 * What the overlap of gradients with backward gains, in each stage of ZeRO.
 *
 *   mpirun -n 2 bench_overlap [LAYERS HIDDEN SEQUENCE [ROUNDS [STEPS]]]
 *
 * Verified first: all ways must have the losses of the plain one.  Then all
 * take turns, a round of STEPS steps each, so that what else the machine does
 * falls on all alike; the best step counts: by the clock, and of the processor
 * of the rank that used most, waiting included.  `gain` is the time without
 * overlap, in the same stage, over this one's.  Output: one JSON object, and a
 * table on standard error.
 *
 * Ranks have to have a core each for the clock to mean something; poke hides
 * messages only where the network moves them by itself.
 */
#include "mpi_workers/pause.h"
#include "mpi_workers/trainer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WAYS 9

typedef struct way {
    int zero, overlap;
    double step_s, cpu_s; /* best */
    double loss;          /* after the first round */
    uint64_t bytes;
} way;

static const char *const names[] = {"none", "poke", "shm"};
static unsigned char text[40000];
static tri_model_spec model = {.kind = TRI_MODEL_GPT,
                               .u.gpt = {.layers = 4,
                                         .hidden = 256,
                                         .heads = 8,
                                         .sequence = 64,
                                         .vocab = 1024,
                                         .tied = 1}};

static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static tri_status open_way(const way *w, int ranks, tri_trainer **out)
{
    tri_trainer_setup s = {.model = &model,
                           .layout = {.dp = ranks,
                                      .tp = 1,
                                      .pp = 1,
                                      .virtual_stages = 1,
                                      .micro_batch = 4,
                                      .global_batch = 8 * ranks,
                                      .zero = w->zero,
                                      .overlap = w->overlap,
                                      .bucket_bytes = (uint64_t)1 << 20,
                                      .schedule = 1,
                                      .threads = 1},
                           .seed = 1,
                           .optimizer = {1e-3, 0.9, 0.95, 1e-8, 0.01},
                           .clip = 1,
                           .text = text,
                           .text_bytes = sizeof text};

    return tri_trainer_create(&s, MPI_COMM_WORLD, out);
}

/* A round: `steps` steps behind a first one that warms up. */
static tri_status take_turn(way *w, int ranks, int steps)
{
    tri_trainer *t = NULL;
    tri_status st = TRI_OK;
    tri_step step = {0};

    TRI_TRY(open_way(w, ranks, &t));
    for (int i = 0; i <= steps && st == TRI_OK; i++) {
        double start = cpu_now();

        st = tri_trainer_step(t, 0, &step);
        if (i > 0) {
            w->cpu_s = fmin(w->cpu_s, cpu_now() - start);
            w->step_s = fmin(w->step_s, step.step_s);
        }
    }
    w->loss = step.loss;
    w->bytes = step.bytes;
    tri_trainer_destroy(t);
    return st;
}

/* All that a study may ask for. */
static int list_ways(way *out)
{
    int n = 0;

    for (int zero = 0; zero <= 3; zero++) {
        for (int overlap = 0; overlap <= 2; overlap++) {
            if (zero < 2 || overlap == 0 || (zero == 3 && overlap == 1)) {
                out[n++] = (way){.zero = zero,
                                 .overlap = overlap,
                                 .step_s = INFINITY,
                                 .cpu_s = INFINITY};
            }
        }
    }
    return n;
}

static const way *plain_of(const way *w)
{
    while (w->overlap > 0) {
        w--;
    }
    return w;
}

static void print_all(const way *ways, int n, int ranks)
{
    const tri_gpt_spec *g = &model.u.gpt;

    printf("{\"ranks\": %d, \"layers\": %d, \"hidden\": %d, \"sequence\": %d, "
           "\"ways\": [",
           ranks, g->layers, g->hidden, g->sequence);
    fprintf(stderr, "| zero | overlap | step, ms | of the processor, ms | gain "
                    "by clock | by processor | bytes a rank |\n"
                    "|---|---|---|---|---|---|---|\n");
    for (const way *w = ways; w < ways + n; w++) {
        const way *p = plain_of(w);

        printf("%s{\"zero\": %d, \"overlap\": \"%s\", \"step_s\": %.6f, "
               "\"cpu_s\": %.6f, \"gain\": %.3f, \"cpu_gain\": %.3f, "
               "\"bytes\": %llu}",
               w == ways ? "" : ", ", w->zero, names[w->overlap], w->step_s,
               w->cpu_s, p->step_s / w->step_s, p->cpu_s / w->cpu_s,
               (unsigned long long)w->bytes);
        fprintf(stderr, "| %d | %s | %.1f | %.1f | %.2f | %.2f | %llu |\n",
                w->zero, names[w->overlap], 1e3 * w->step_s, 1e3 * w->cpu_s,
                p->step_s / w->step_s, p->cpu_s / w->cpu_s,
                (unsigned long long)w->bytes);
    }
    printf("]}\n");
}

static int run(int rounds, int steps, int rank, int ranks)
{
    way ways[WAYS];
    int n = list_ways(ways);

    for (int r = 0; r < rounds; r++) {
        for (way *w = ways; w < ways + n; w++) {
            if (take_turn(w, ranks, steps) != TRI_OK) {
                fprintf(stderr, "bench overlap: zero %d, overlap %s: %s\n",
                        w->zero, names[w->overlap], tri_error_last()->sentence);
                return 1;
            }
            if (!(fabs(w->loss - ways->loss) < 1e-3 * ways->loss)) {
                fprintf(stderr, "bench overlap: losses %g and %g: not right\n",
                        w->loss, ways->loss);
                return 1;
            }
        }
    }
    for (way *w = ways; w < ways + n; w++) {
        double mine = w->cpu_s;

        MPI_Allreduce(&mine, &w->cpu_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        print_all(ways, n, ranks);
    }
    return 0;
}

int main(int argc, char **argv)
{
    tri_gpt_spec *g = &model.u.gpt;
    int rounds = argc > 4 ? atoi(argv[4]) : 3;
    int steps = argc > 5 ? atoi(argv[5]) : 8;
    int rank, ranks, status = 1;

    if (argc > 3) {
        g->layers = atoi(argv[1]);
        g->hidden = atoi(argv[2]);
        g->sequence = atoi(argv[3]);
    }
    g->ffn = 4 * g->hidden;
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (unsigned char)("etaoin shrdlu\n"[i * i / 7 % 14]);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2) {
        fprintf(stderr, "bench overlap: needs two ranks: mpirun -n 2\n");
    } else if (rounds > 0 && steps > 0 && g->layers > 0 && g->hidden > 0 &&
               g->hidden % g->heads == 0 && g->sequence > 0) {
        status = run(rounds, steps, rank, ranks);
    } else {
        fprintf(stderr, "bench overlap: LAYERS HIDDEN SEQUENCE ROUNDS STEPS "
                        "are positive, HIDDEN a multiple of 8\n");
    }
    MPI_Finalize();
    return status;
}
