/*
 * Events a second of the controller, driven by the simulator: how many ranks
 * one rank 0 can serve, as far as its decisions go (no MPI, no journal).
 *
 * Verified before it is timed: the study ends with status 0, every
 * configuration was measured, and two runs have the same history.
 *
 * Units.  An event is one tri_ctl_feed with its commands carried out in
 * virtual time; a run of asha takes about three (formed, finished, paused).
 * runs_per_s is what limits a job: with runs of T seconds a rank 0 that does
 * nothing else serves runs_per_s x T groups.  utilisation: the share of the
 * pool's virtual time that runs held.  Time is CPU time of this thread.
 */
#include "trireme/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct sizes {
    const char *label;
    int workers, trials;
} sizes;

static const sizes cases[] = {{"25 ranks", 25, 20000},
                              {"500 ranks", 500, 50000},
                              {"10000 ranks", 10000, 300000}};

static const char format[] =
        "study: bench\n"
        "seed: 1\n"
        "model: {kind: synthetic, straggle: 0.3}\n"
        "space:\n"
        "  a: {float: [0, 1]}\n"
        "  b: {float: [0, 1]}\n"
        "  c: {int: [1, 1024], log2: true}\n"
        "ranks: 1\n"
        "objective: {minimize: loss}\n"
        "search: random\n"
        "resource: {unit: steps, min: 1, max: 256, eta: 4}\n"
        "budget: {trials: %d}\n"
        "finals: none\n";

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int simulate(const sizes *size, tri_sim_result *out, double *seconds)
{
    tri_study *study = NULL;
    tri_curve *source = NULL;
    tri_sim_settings set;
    char yaml[1024];
    double start;
    tri_status st;

    snprintf(yaml, sizeof yaml, format, size->trials);
    tri_sim_defaults(&set);
    set.workers = size->workers;
    st = tri_study_parse(yaml, strlen(yaml), "bench.yaml", NULL, NULL, &study);
    if (st == TRI_OK) {
        st = tri_curve_create(study, set.cost_s, &source);
    }
    start = cpu_s();
    if (st == TRI_OK) {
        st = tri_sim_run(study, source, &set, out, NULL);
    }
    *seconds = cpu_s() - start;
    if (st != TRI_OK) {
        fprintf(stderr, "%s\n", tri_error_last()->sentence);
    }
    tri_curve_destroy(source);
    tri_study_destroy(study);
    return st == TRI_OK;
}

static int same_history(const tri_sim_result *a, const tri_sim_result *b)
{
    if (a->n_history != b->n_history || a->n_events != b->n_events) {
        return 0;
    }
    for (int64_t i = 0; i < a->n_history; i++) {
        if (a->history[i].trial != b->history[i].trial ||
            a->history[i].virtual_s != b->history[i].virtual_s) {
            return 0;
        }
    }
    return 1;
}

/* Prints one case; returns whether it was as it should be. */
static int bench(const sizes *size, int last)
{
    tri_sim_result r, again;
    double seconds, faster;
    int good;

    if (!simulate(size, &r, &seconds)) {
        return 0;
    }
    if (!simulate(size, &again, &faster)) {
        tri_sim_result_fini(&r);
        return 0;
    }
    good = r.end_status == 0 && r.distinct == size->trials &&
           same_history(&r, &again);
    seconds = faster < seconds ? faster : seconds;
    printf("  {\"case\": \"%s\", \"verified\": %s, \"trials\": %d, "
           "\"runs\": %lld, \"events\": %lld, \"cpu_s\": %.3f, "
           "\"events_per_s\": %.0f, \"runs_per_s\": %.0f, "
           "\"utilisation\": %.3f}%s\n",
           size->label, good ? "true" : "false", size->trials,
           (long long)r.evaluations, (long long)r.n_events, seconds,
           (double)r.n_events / seconds, (double)r.evaluations / seconds,
           r.rank_seconds / (r.virtual_s * size->workers), last ? "" : ",");
    tri_sim_result_fini(&r);
    tri_sim_result_fini(&again);
    return good;
}

int main(void)
{
    size_t n = sizeof cases / sizeof cases[0];
    int good = 1;

    printf("[\n");
    for (size_t i = 0; i < n; i++) {
        good &= bench(&cases[i], i + 1 == n);
    }
    printf("]\n");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
