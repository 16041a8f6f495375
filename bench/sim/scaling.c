/*
 * Strong scaling of asha on a virtual cluster: from 25 to 6400 ranks for the
 * same virtual time, with stragglers (sigma 0.24), eta 4, R 256, from scratch,
 * for 4 R (compare Li et al., MLSys 2020, section 4 and appendix A.1).
 *
 * Units.  configurations_per_rank: configurations begun for each rank, the
 * same at every size if nothing waits for anything.  at_top_per_rank: those
 * trained to R.  first_at_top: virtual time of the first, in units of R; 1.33
 * is what the rungs below cost at least.  utilisation: the share of the pool's
 * virtual time that runs held.
 *
 * Verified: utilisation is over 99 %, and configurations a rank do not fall as
 * the pool grows (they rise: the first promotions of a small pool come late).
 */
#include "trireme/sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define R   256
#define TOP 4

static const char yaml[] = "study: scaling\n"
                           "seed: 1\n"
                           "model: {kind: synthetic, curve: flat}\n"
                           "space:\n"
                           "  a: {float: [0, 1]}\n"
                           "  b: {float: [0, 1]}\n"
                           "ranks: 1\n"
                           "objective: {maximize: tokens_per_s}\n"
                           "search: random\n"
                           "resource: {unit: steps, min: 1, max: 256, eta: 4}\n"
                           "budget: {trials: 100000000}\n"
                           "finals: none\n";

static int simulate(int workers, tri_sim_result *out)
{
    tri_study *study = NULL;
    tri_curve *source = NULL;
    tri_sim_settings set;
    tri_status st;

    tri_sim_defaults(&set);
    set.workers = workers;
    set.straggle = 0.24;
    set.max_virtual_s = 4 * R;
    st = tri_study_parse(yaml, strlen(yaml), "bench.yaml", NULL, NULL, &study);
    if (st == TRI_OK) {
        st = tri_curve_create(study, set.cost_s, &source);
    }
    if (st == TRI_OK) {
        st = tri_sim_run(study, source, &set, out, NULL);
    }
    if (st != TRI_OK) {
        fprintf(stderr, "%s\n", tri_error_last()->sentence);
    }
    tri_curve_destroy(source);
    tri_study_destroy(study);
    return st == TRI_OK;
}

/* Prints one size; returns the configurations a rank, NaN if it is bad. */
static double bench(int workers, int last)
{
    tri_sim_result r;
    double first = NAN, used, each;
    int at_top = 0;

    if (!simulate(workers, &r)) {
        return NAN;
    }
    for (int64_t i = 0; i < r.n_history; i++) {
        if (r.history[i].rung == TOP) {
            first = at_top++ == 0 ? r.history[i].virtual_s / R : first;
        }
    }
    used = r.rank_seconds / (r.virtual_s * workers);
    each = (double)r.distinct / workers;
    printf("  {\"ranks\": %d, \"configurations_per_rank\": %.1f, "
           "\"at_top_per_rank\": %.3f, \"first_at_top\": %.2f, "
           "\"utilisation\": %.4f}%s\n",
           workers, each, (double)at_top / workers, first, used,
           last ? "" : ",");
    tri_sim_result_fini(&r);
    return used > 0.99 ? each : NAN;
}

int main(void)
{
    static const int sizes[] = {25, 100, 400, 1600, 6400};
    int n = (int)(sizeof sizes / sizeof sizes[0]);
    double before = 0;
    int good = 1;

    printf("[\n");
    for (int i = 0; i < n; i++) {
        double each = bench(sizes[i], i + 1 == n);

        good &= each > 0.98 * before; /* not if NaN */
        before = each;
    }
    printf("]\n");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
