/*
 * What the protocol costs between two runs: many short trials over groups of
 * one rank, as a real study with its record.
 *
 *   gap [TRIALS [MILLISECONDS]]        (mpirun -n 17: 16 groups)
 *
 * A trial sleeps (default 10000 of 20 ms), so that ranks may outnumber cores.
 * Verified first: all were measured, and the record replays.  `gap` is the time
 * between two results of a rank, less what the trial itself lasts: verdict,
 * release, the next assignment, forming and go, and what the sleep overslept;
 * `total_s` from the first start to the last end, `ideal_s` what the trials
 * themselves last over the ranks.  `head_cpu_s` is rank 0's processor time a
 * run, all that it does: messages, decisions, journal and tables; and
 * `head_sleeps` how often it fell asleep a run, the record's thread included:
 * both say more than the clock where others use the machine too.  `over_ideal`
 * is to stay under `limit`.
 *
 * Output: one JSON object, times in seconds.
 */
#include "mpi_workers/pause.h"
#include "mpi_workers/worker.h"
#include "trireme/log.h"
#include "trireme/net.h"
#include "trireme/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MOST_RANKS 4096

/* What the total may be over the ideal with the default trials. */
#define LIMIT 0.05

typedef struct usage { /* of this process so far */
    double cpu_s;
    double sleeps;
} usage;

static usage used(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (usage){
            (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                    1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec),
            (double)u.ru_nvcsw};
}

static void log_line(void *ctx, tri_log_level level, int rank, const char *line)
{
    (void)ctx;
    if (level <= TRI_LOG_WARN) {
        fprintf(stderr, "[%d] %s\n", rank, line);
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double quantile(const double *sorted, int64_t n, double q)
{
    return n > 0 ? sorted[(int64_t)(q * (double)(n - 1))] : NAN;
}

/* Runs by their start, so that each rank's come in order. */
static int by_start(const void *a, const void *b)
{
    const tri_run_view *x = a;
    const tri_run_view *y = b;

    return x->start_s < y->start_s ? -1 : x->start_s > y->start_s;
}

static int print(const tri_ctl *ctl, double each_s, int ranks, usage head)
{
    static double last[MOST_RANKS];
    int64_t n = tri_ctl_n_runs(ctl);
    tri_run_view *runs = calloc((size_t)n + 1, sizeof *runs);
    double *gaps = calloc((size_t)n + 1, sizeof *gaps);
    double end = 0;
    double ideal = (double)n * each_s / ranks;
    int64_t n_gaps = 0;

    if (!runs || !gaps) {
        free(gaps);
        free(runs);
        return 1;
    }
    for (int64_t i = 0; i < n; i++) {
        tri_ctl_run(ctl, i, &runs[i]);
        end = fmax(end, runs[i].end_s);
    }
    qsort(runs, (size_t)n, sizeof *runs, by_start);
    for (int64_t i = 0; i < n; i++) {
        int rank = runs[i].ranks[0];

        if (last[rank] > 0) {
            gaps[n_gaps++] = runs[i].end_s - last[rank] - each_s;
        }
        last[rank] = runs[i].end_s;
    }
    qsort(gaps, (size_t)n_gaps, sizeof *gaps, by_size);
    printf("{\"ranks\": %d, \"runs\": %lld, \"gap_p50_s\": %.6f, "
           "\"gap_p90_s\": %.6f, \"gap_p99_s\": %.6f, \"gap_max_s\": %.6f, "
           "\"total_s\": %.3f, \"ideal_s\": %.3f, \"over_ideal\": %.4f, "
           "\"limit\": %.2f, \"head_cpu_s\": %.7f, \"head_sleeps\": %.2f}\n",
           ranks, (long long)n, quantile(gaps, n_gaps, 0.5),
           quantile(gaps, n_gaps, 0.9), quantile(gaps, n_gaps, 0.99),
           quantile(gaps, n_gaps, 1), end - runs[0].start_s, ideal,
           (end - runs[0].start_s) / ideal - 1, LIMIT, head.cpu_s / (double)n,
           head.sleeps / (double)n);
    free(gaps);
    free(runs);
    return 0;
}

static int verify(const char *file, const tri_ctl *ctl, long trials)
{
    tri_history *history = NULL;
    tri_replay replay = {0};
    tri_ctl *again = NULL;
    tri_progress p;
    int right;

    tri_ctl_progress(ctl, &p);
    right = p.finished == trials &&
            tri_history_read(file, &history) == TRI_OK &&
            tri_history_replay(history, &again, &replay) == TRI_OK &&
            replay.mismatches == 0;
    tri_ctl_destroy(again);
    tri_history_destroy(history);
    return right;
}

static int lead(long trials, double ms, int ranks)
{
    char folder[] = "/tmp/trireme-gap-XXXXXX";
    char file[64];
    char text[600];
    char command[64];
    tri_net_settings settings = {
            .output = file, .max_time_s = NAN, .command_line = "bench"};
    tri_net_end end = {0};
    tri_study *study = NULL;
    tri_ctl *ctl = NULL;
    usage before = used();
    usage after;
    int bad = 1;

    snprintf(text, sizeof text,
             "study: gap\nseed: 1\nmodel: {kind: synthetic, cost: %g}\n"
             "space: {x: {int: [0, 1000000]}}\nranks: 1\n"
             "objective: {minimize: loss}\n"
             "resource: {unit: steps, min: 1, max: 1}\nsearch: random\n"
             "budget: {trials: %ld}\nfinals: none\n",
             ms * 1e-3, trials);
    if (!mkdtemp(folder)) {
        return 1;
    }
    snprintf(file, sizeof file, "%s/gap.h5", folder);
    if (tri_study_parse(text, strlen(text), "gap.yaml", NULL, NULL, &study) ==
                TRI_OK &&
        tri_net_tune(study, &settings, &end, &ctl) == TRI_OK) {
        after = used();
        after.cpu_s -= before.cpu_s;
        after.sleeps -= before.sleeps;
        bad = !verify(file, ctl, trials) || print(ctl, ms * 1e-3, ranks, after);
    }
    if (bad) {
        fprintf(stderr, "bench gap: %s\n", tri_error_last()->sentence);
    }
    tri_ctl_destroy(ctl);
    tri_study_destroy(study);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) != 0 || bad;
}

int main(int argc, char **argv)
{
    long trials = argc > 1 ? atol(argv[1]) : 10000;
    double ms = argc > 2 ? atof(argv[2]) : 20;
    int provided;
    int rank;
    int size;
    int bad = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tri_log_setup(log_line, NULL, TRI_LOG_WARN, rank);
    if (rank == 0) {
        bad = lead(trials, ms, size - 1);
    } else {
        tri_worker_main(&provided);
    }
    MPI_Finalize();
    return bad;
}
