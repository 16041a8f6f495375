/*
 * What trireme sim says of a simulation that ran.
 */
#ifndef TRI_SRC_APP_SIM_TELL_H
#define TRI_SRC_APP_SIM_TELL_H

#include "src/app/searched.h"
#include "trireme/sim.h"

typedef struct tri_app_sim_told {
    const tri_sim_result *result;
    const tri_app_searched *searched;
    const tri_ctl *ctl;
    int recorded; /* results may be missing */
    int slow;     /* a host is slow on purpose */
    int limited;  /* jobs have a walltime */
} tri_app_sim_told;

void tri_app_sim_tell(const tri_app_sim_told *t, int json);

#endif
