/*
 * How many ranks for how long: the same search on virtual clusters of several
 * sizes.
 */
#ifndef TRI_SRC_APP_SIM_PLAN_H
#define TRI_SRC_APP_SIM_PLAN_H

#include "trireme/sim.h"

/*
 * Simulate `study` on the least power of two of ranks that its smallest
 * configuration fits, and on twice as many up to `most` (0: as the largest
 * needs, at least 32), and print what each size takes.  `set`: of the cluster,
 * but for its size.
 */
tri_status tri_app_sim_plan(const tri_study *study, const tri_curve *source,
                            const tri_sim_settings *set, int most, int json);

#endif
