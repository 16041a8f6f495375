/*
 * Machine classes: what was measured on other machines
 * says nothing of these.  When an opening is of another class than the results
 * that count, they count no longer: a new ladder is begun, and every trial
 * that did not fail by its configuration's own doing waits at the base rung of
 * its bracket again, in the order of creation.  Its number, configuration and
 * origin stay; so do the rows of the runs, whose epoch tells their class.
 *
 * So it is too where the last opening gave up since all failed alike: by now
 * what was wrong is mended, and what failed says nothing.
 *
 * A class left is forgotten: where a later opening is of it again, its results
 * are measured again too.  Knows nothing of what a class is but its name; one
 * without a name is any.
 */
#include "src/ctl/state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Whether it would fail on any machine.  Memory, software and the limits of
 * `subject_to` differ from class to class. */
static int fails_anywhere(const tri_ctl *ctl, const tri_trial_row *t)
{
    return t->place == TRI_PLACE_FAILED && !ctl->given_up &&
           ((t->reason == TRI_REASON_INFEASIBLE && !t->refused) ||
            t->reason == TRI_REASON_IMPORT_ERROR);
}

/* As when it was created: its bracket is known, a job of it is taken. */
static tri_status begin_again(tri_ctl *ctl, int64_t trial)
{
    const tri_trial_row *t = &ctl->trials[trial];
    tri_job job = {.kind = TRI_JOB_NEW,
                   .trial = trial,
                   .rung = t->bracket,
                   .bracket = t->bracket,
                   .resource = tri_sched_resource(ctl->sched, t->bracket)};

    TRI_TRY(tri_ctl_drop_checkpoint(ctl, trial));
    TRI_TRY(tri_sched_take(ctl->sched, &job, trial));
    TRI_TRY(tri_ctl_renew_trial(ctl, trial));
    return tri_ctl_enqueue(ctl, trial);
}

/* All that was concluded from results. */
static void forget_results(tri_ctl *ctl)
{
    tri_running_median_fini(&ctl->unit_s);
    tri_running_median_fini(&ctl->start_s);
    tri_running_median_fini(&ctl->run_s);
    tri_ctl_finals_reset(ctl);
    ctl->phase = TRI_PHASE_SEARCH;
    ctl->cut = 0;
    ctl->n_results = 0;
    ctl->best = -1;
    ctl->n_proposals = ctl->proposal_at = 0;
    ctl->candidate.ready &= ctl->candidate.is_given;
    ctl->thoughts.news++;
    ctl->first_run = ctl->n_runs;
    ctl->head = -1;
    ctl->queue.n = ctl->queue_at = 0;
    ctl->pool_changed = 1; /* what exceeds it is to be parked again */
}

static tri_status measure_again(tri_ctl *ctl)
{
    tri_sched *sched = NULL;

    assert(!ctl->n_flying && !ctl->n_shelved);
    TRI_TRY(tri_ctl_make_scheduler(ctl->study, &sched));
    tri_sched_destroy(ctl->sched);
    ctl->sched = sched;
    forget_results(ctl);
    for (int64_t i = 0; i < ctl->n_trials; i++) {
        if (!fails_anywhere(ctl, &ctl->trials[i])) {
            TRI_TRY(begin_again(ctl, i));
            ctl->n_again++;
        }
    }
    return TRI_OK;
}

tri_status tri_ctl_open_class(tri_ctl *ctl, const char *name)
{
    ctl->n_again = 0;
    ctl->opening_class = ctl->machine_class;
    if (name && *name && strcmp(name, ctl->machine_class) != 0) {
        ctl->opening_class = tri_keep_text(&ctl->keep, name);
    }
    if (!ctl->opening_class) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a machine class");
    }
    TRI_TRY(tri_ctl_settle_class(ctl));
    if (ctl->given_up && !ctl->n_again) {
        TRI_TRY(measure_again(ctl));
    }
    ctl->given_up = 0;
    return TRI_OK;
}

tri_status tri_ctl_settle_class(tri_ctl *ctl)
{
    int named = *ctl->machine_class != 0;

    if (ctl->complete || ctl->opening_class == ctl->machine_class) {
        return TRI_OK;
    }
    ctl->machine_class = ctl->opening_class;
    return named ? measure_again(ctl) : TRI_OK;
}
