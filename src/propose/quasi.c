/*
 * Quasi-random: the additive recurrence R_d (Roberts, "The unreasonable
 * effectiveness of quasirandom sequences", 2018), shifted by the seed
 * (Cranley and Patterson, 1976) and carried onto the valid set by conditional
 * inversion.  Point n is frac(shift + n / phi^(i+1)) in dimension i, phi being
 * the root above 1 of x^(d+1) = x + 1, for d = 1 the golden ratio.
 *
 * A point that was a duplicate or did not fit is replaced by a uniform one, so
 * that every valid configuration can be reached.
 */
#include "src/propose/inline.h"

#include <stdlib.h>

/* The root above 1 of x^(d+1) = x + 1, by bisection to the last bit. */
static double root(int d)
{
    double lo = 1, hi = 2;

    for (int i = 0; i < 60; i++) {
        double mid = (lo + hi) / 2;
        double power = mid;

        for (int k = 0; k < d && power < 4; k++) {
            power *= mid;
        }
        if (power > mid + 1) {
            hi = mid;
        } else {
            lo = mid;
        }
    }
    return lo;
}

/* Parameters with a choice: constants take no dimension. */
static int dimensions(const tri_space *space)
{
    int n = 0;

    for (int i = 0; i < tri_space_n_params(space); i++) {
        n += tri_space_param(space, i)->domain.kind != TRI_DOMAIN_CONST;
    }
    return n;
}

static void point(const tri_space *space, uint64_t seed, int64_t n, double *u)
{
    tri_rng shift = tri_rng_stream(seed, 0, TRI_RNG_QUASI);
    double phi = root(dimensions(space));
    double alpha = 1;

    for (int i = 0; i < tri_space_n_params(space); i++) {
        uint64_t turn;

        u[i] = 0;
        if (tri_space_param(space, i)->domain.kind == TRI_DOMAIN_CONST) {
            continue;
        }
        alpha /= phi;
        /* fractions of a turn in 64 bits: the sum wraps as frac does */
        turn = tri_rng_u64(&shift) +
               (uint64_t)(n + 1) * (uint64_t)(alpha * 0x1p63) * 2;
        u[i] = (double)(turn >> 11) * 0x1p-53;
    }
}

static tri_status quasi(const tri_space *space, uint64_t seed, int64_t trial,
                        int attempt, tri_config *out)
{
    double *u;
    tri_status st;

    if (attempt > 0) {
        return tri_propose_uniform(space, seed, trial, attempt, out);
    }
    u = malloc(((size_t)tri_space_n_params(space) + 1) * sizeof *u);
    if (!u) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a point");
    }
    point(space, seed, trial, u);
    st = tri_space_from_unit(space, u, out);
    free(u);
    return st;
}

const tri_proposer_ops tri_proposer_quasi = {
        .name = "quasi", .origin = "quasi", .draw = quasi};
