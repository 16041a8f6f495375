/*
 * The smallest plugin, in what C and C++ have in common.
 */
#include <trireme/trial.h>

struct trireme_trial {
    int64_t x, done;
};

static struct trireme_trial only;

int32_t trireme_trial_abi(void)
{
    return TRIREME_TRIAL_ABI;
}

int trireme_trial_open(const trireme_trial_setup *setup, trireme_trial **out)
{
    only.x = trireme_trial_integer(setup, "x", 0);
    only.done = setup->first_step;
    *out = &only;
    return TRIREME_TRIAL_OK;
}

int trireme_trial_run_until(trireme_trial *t, int64_t step,
                            trireme_trial_report_fn report, void *ctx)
{
    trireme_trial_report r = TRIREME_TRIAL_REPORT;

    r.has_loss = 1;
    r.loss = (double)t->x;
    r.step = t->done = step;
    report(ctx, &r);
    return TRIREME_TRIAL_OK;
}

void trireme_trial_close(trireme_trial *t, int32_t together)
{
    t->done = together ? 0 : -1;
}
