/*
 * What an opening brings along of earlier studies, and of this one on other
 * machines.
 */
#include "src/net/driver.h"

#include "trireme/log.h"

#include <string.h>

/* What this study measured on machines of another class. */
static tri_status take_own(const tri_driver *d, const char *machine_class,
                           tri_warm *w)
{
    const char *before = tri_ctl_machine_class(d->ctl);

    if (!tri_ctl_study(d->ctl) || !*before || !*machine_class ||
        strcmp(before, machine_class) == 0) {
        return TRI_OK;
    }
    return tri_warm_take(d->ctl, d->settings->output, d->study, w);
}

tri_status tri_driver_read_warm(const tri_driver *d, const char *machine_class,
                                tri_warm *out)
{
    if (!tri_driver_may_think(d)) {
        if (d->settings->n_warm > 0) {
            TRI_LOG_JOB(TRI_LOG_WARN,
                        "--warm is of no use to a search that is %s",
                        d->study->search.proposer);
        }
        return TRI_OK;
    }
    TRI_TRY(take_own(d, machine_class, out));
    for (int i = 0; i < d->settings->n_warm; i++) {
        TRI_TRY(tri_warm_read(d->settings->warm[i], d->study, d->ctl, out));
    }
    return TRI_OK;
}
