/*
 * What a candidate is worth.
 */
#include "src/propose/acquire_internal.h"

#include <math.h>

/* The probability to run counts by its logarithm times this; what is too likely
 * to fail comes after all others, the likelier the later. */
#define FEASIBLE_POWER 3.0
#define UNLIKELY_COSTS 1e4

double tri_log_ei(double z)
{
    const double log_root = 0.91893853320467274; /* log sqrt(2 pi) */
    double phi, tail, ratio;

    if (z > -5) {
        phi = exp(-0.5 * z * z - log_root);
        return log(phi + z * 0.5 * erfc(-z / sqrt(2.0)));
    }
    /* phi(z) (1 + z Phi(z)/phi(z)); Mills' ratio by its series */
    tail = 1 / (z * z);
    ratio = tail * (1 - 3 * tail * (1 - 5 * tail * (1 - 7 * tail)));
    return -0.5 * z * z - log_root + log(ratio);
}

/* The logarithm of what a candidate is worth, before its chance to run. */
double tri_acq_worth(const tri_acq_job *j, double mean, double sd)
{
    double s = fmax(sd, TRI_ACQ_LEAST_SD);

    if (j->how == TRI_ACQ_UCB) {
        return -(mean - TRI_ACQ_UCB_BETA * s);
    }
    return log(s) + tri_log_ei((j->known - mean) / s);
}

double tri_acq_chance(const tri_acq_job *j, double p)
{
    double over = 1 - p - j->m->risk;

    return FEASIBLE_POWER * log(fmax(p, 1e-12)) -
           (over > 0 ? UNLIKELY_COSTS * (1 + over) : 0);
}
