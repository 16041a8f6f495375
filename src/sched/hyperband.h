/*
 * The brackets of Hyperband (Li et al., JMLR 2018, algorithm 1): each is given
 * the same resource, (s_max + 1) R, to spend on n configurations that start at
 * r = R eta^-s.
 *
 * Here a bracket is named by the rung that it starts at, b = s_max - s, and the
 * ladder is the study's (min * eta^k below max, then max: for a max that is no
 * power of eta times min one rung more than the paper's).  So of a ladder with
 * L rungs bracket b runs n = ceil(L / (L - b) * eta^(L - 1 - b))
 * configurations, of which floor(n / eta) go on, and so forth: for min 1, max
 * 81, eta 3 they are 81, 34, 15, 8 and 5.
 */
#ifndef TRI_SRC_SCHED_HYPERBAND_H
#define TRI_SRC_SCHED_HYPERBAND_H

#include "src/sched/ops.h"

/* eta^(L-1-base), the least number of configurations of which one reaches the
 * top; 2^40 at most. */
int64_t tri_least_configurations(const tri_ladder *ladder, int base);
/* n of the bracket that starts at `base`. */
int64_t tri_hyperband_configurations(const tri_ladder *ladder, int base);
/* What synchronous halving spends on it, each run from scratch. */
double tri_hyperband_budget(const tri_ladder *ladder, int base);

#endif
