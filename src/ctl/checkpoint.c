/*
 * What trials go on from: taken when a run says that it has written it, dropped
 * when something newer has come or nothing goes on from it, and kept within the
 * study's limit.
 */
#include "src/ctl/state.h"

tri_status tri_ctl_drop_checkpoint(tri_ctl *ctl, int64_t trial)
{
    tri_trial_row *t = &ctl->trials[trial];
    tri_command c;

    if (!*t->checkpoint) {
        return TRI_OK;
    }
    c = (tri_command){
            .kind = TRI_CMD_DROP_CHECKPOINT,
            .u.drop_checkpoint = {.trial = trial, .checkpoint = t->checkpoint}};
    ctl->checkpoint_bytes -= (uint64_t)t->checkpoint_bytes;
    t->checkpoint = "";
    t->checkpoint_bytes = t->checkpoint_step = 0;
    return tri_ctl_emit(ctl, &c);
}

/* Of two paused trials the one whose checkpoint is missed less: of the lower
 * rung, then the worse one, then the older one. */
static int is_missed_less(const tri_ctl *ctl, int64_t a, int64_t b)
{
    const tri_trial_row *x = &ctl->trials[a];
    const tri_trial_row *y = &ctl->trials[b];

    if (x->checkpoint_rung != y->checkpoint_rung) {
        return x->checkpoint_rung < y->checkpoint_rung;
    }
    if (x->objective < y->objective || x->objective > y->objective) {
        return ctl->study->objective.maximize ? x->objective < y->objective
                                              : x->objective > y->objective;
    }
    return a < b;
}

/* More than may be stored: checkpoints go that trials may never come back to.
 * Those of trials that wait or run stay, and so does the newest. */
static tri_status keep_within_limit(tri_ctl *ctl, int64_t newest)
{
    while (ctl->checkpoint_bytes > ctl->study->checkpoints.max_bytes) {
        int64_t victim = -1;

        for (int64_t i = 0; i < ctl->n_trials; i++) {
            const tri_trial_row *t = &ctl->trials[i];

            if (i != newest && *t->checkpoint && t->checkpoint_bytes > 0 &&
                t->place == TRI_PLACE_PAUSED &&
                (victim < 0 || is_missed_less(ctl, i, victim))) {
                victim = i;
            }
        }
        if (victim < 0) {
            return TRI_OK;
        }
        TRI_TRY(tri_ctl_drop_checkpoint(ctl, victim));
    }
    return TRI_OK;
}

tri_status tri_ctl_take_checkpoint(tri_ctl *ctl, const tri_run_row *r,
                                   const tri_ev_outcome *ev)
{
    tri_trial_row *t = &ctl->trials[r->v.trial];
    const char *name;

    if (!ev->checkpoint || !*ev->checkpoint || r->v.phase != TRI_PHASE_SEARCH) {
        return TRI_OK;
    }
    name = tri_keep_text(&ctl->keep, ev->checkpoint);
    if (!name) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a checkpoint's name");
    }
    if (ev->checkpoint_s > ctl->longest_save_s) {
        ctl->longest_save_s = ev->checkpoint_s;
    }
    TRI_TRY(tri_ctl_drop_checkpoint(ctl, r->v.trial));
    t->checkpoint = name;
    t->checkpoint_step = ev->checkpoint_step;
    t->checkpoint_rung = (int16_t)r->v.rung;
    t->checkpoint_bytes = ev->checkpoint_bytes > 0 ? ev->checkpoint_bytes : 0;
    ctl->checkpoint_bytes += (uint64_t)t->checkpoint_bytes;
    return keep_within_limit(ctl, r->v.trial);
}

void tri_ctl_note_checkpoint(const tri_ctl *ctl, tri_run_row *r,
                             const tri_ev_outcome *ev)
{
    r->v.outcome.checkpoint = ctl->trials[r->v.trial].checkpoint;
    r->v.outcome.checkpoint_s = ev->checkpoint_s;
    r->v.outcome.checkpoint_bytes = ev->checkpoint_bytes;
    r->v.outcome.checkpoint_step = ev->checkpoint_step;
}

tri_status tri_ctl_late_checkpoint(tri_ctl *ctl, const tri_ev_outcome *ev)
{
    tri_run_row *r;
    tri_trial_row *t;

    if (ev->run < 0 || ev->run >= ctl->n_runs) {
        return TRI_OK;
    }
    r = &ctl->runs[ev->run];
    t = &ctl->trials[r->v.trial];
    if (r->v.attempt != ev->attempt || r->v.epoch != ctl->epoch ||
        r->v.phase != TRI_PHASE_SEARCH || t->last_run != ev->run ||
        t->place >= TRI_PLACE_DONE || !ev->checkpoint || !*ev->checkpoint) {
        return TRI_OK;
    }
    TRI_TRY(tri_ctl_take_checkpoint(ctl, r, ev));
    tri_ctl_note_checkpoint(ctl, r, ev);
    return tri_ctl_touch_run(ctl, ev->run);
}
