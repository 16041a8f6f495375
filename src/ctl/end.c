/*
 * The end of an opening: leave, once, then the exit status with a sentence.
 */
#include "src/ctl/state.h"

#include <stdarg.h>
#include <stdio.h>

static const char *say(tri_ctl *ctl, const char *fmt, ...) TRI_PRINTF(2, 3);

static const char *say(tri_ctl *ctl, const char *fmt, ...)
{
    char text[512];
    va_list args;
    const char *kept;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    kept = tri_keep_text(&ctl->keep, text);
    return kept ? kept : "";
}

tri_status tri_ctl_end(tri_ctl *ctl, int status, int resumable, const char *why)
{
    tri_command leave = {.kind = TRI_CMD_LEAVE};
    tri_command end = {.kind = TRI_CMD_END,
                       .u.end = {.status = status,
                                 .resumable = (uint8_t)(resumable != 0),
                                 .why = why}};

    ctl->ended = 1;
    ctl->complete = status == 0 && !resumable;
    ctl->end_status = status;
    ctl->end_resumable = resumable;
    ctl->end_why = why;
    TRI_TRY(tri_ctl_touch_waiting(ctl));
    TRI_TRY(tri_ctl_emit(ctl, &leave));
    return tri_ctl_emit(ctl, &end);
}

/* What the finals had to do without, "" if nothing. */
static const char *say_finals(tri_ctl *ctl)
{
    const tri_finals *f = &ctl->finals;
    int wanted = ctl->study->finals.repeats;

    if (!f->begun || !f->done) {
        return "";
    }
    if (f->lowered) {
        return say(ctl,
                   "; finals at rung %d and %d repeats, all that the time "
                   "allowed",
                   f->rung, f->repeats);
    }
    return f->repeats < wanted
                   ? say(ctl, "; finals cut to %d of %d repeats by the time",
                         f->repeats, wanted)
                   : "";
}

/* Where a study went on and nothing came of it for want of time; else "". */
static const char *say_idle(tri_ctl *ctl)
{
    const tri_study *s = ctl->study;
    int64_t n = ctl->n_runs;
    int idle = ctl->epoch > 1 && n > 0 && ctl->runs[n - 1].v.epoch < ctl->epoch;
    int runs_left = s->budget.runs == TRI_UNLIMITED ||
                    ctl->search_runs < s->budget.runs;

    return idle && !ctl->cut && s->budget.time_s != TRI_UNLIMITED &&
                           tri_ctl_may_create(ctl) && runs_left
                   ? say(ctl,
                         "; nothing was added: budget.time (%.6g s) "
                         "leaves no room for another run",
                         s->budget.time_s)
                   : "";
}

tri_status tri_ctl_end_done(tri_ctl *ctl)
{
    const char *parked = ctl->n_parked
                                 ? say(ctl, "; %lld parked for want of ranks%s",
                                       (long long)ctl->n_parked,
                                       ctl->rules < 4 ? ""
                                                      : ": --resume with more "
                                                        "may go on")
                                 : "";
    const char *why = say(ctl, "%s: %lld trials, %lld runs%s%s%s",
                          ctl->cut ? "stopped for --max-time" : "done",
                          (long long)ctl->n_trials, (long long)ctl->n_runs,
                          say_finals(ctl), parked, say_idle(ctl));

    /* nothing will go on from them; a raised budget starts afresh */
    for (int64_t i = 0; !ctl->cut && i < ctl->n_trials; i++) {
        TRI_TRY(tri_ctl_drop_checkpoint(ctl, i));
    }
    ctl->done_ranks = ctl->n_up;
    ctl->done_exhausted = ctl->exhausted;
    return tri_ctl_end(ctl, 0, ctl->cut, why);
}

static tri_reason commonest_failure(const tri_ctl *ctl)
{
    int most = 0;

    for (int i = 1; i < TRI_REASON_COUNT; i++) {
        most = ctl->failures[i] > ctl->failures[most] ? i : most;
    }
    return (tri_reason)most;
}

tri_status tri_ctl_end_empty(tri_ctl *ctl)
{
    int lo, hi;
    const char *why;

    tri_space_rank_range(ctl->study->space, &lo, &hi);
    if (ctl->n_trials == ctl->n_parked && lo > ctl->n_up) {
        why = say(ctl,
                  "no configuration fits: the smallest needs %d ranks, the "
                  "pool has %d",
                  lo, ctl->n_up);
    } else if (ctl->n_finished) {
        why = say(ctl,
                  "no run finished on the machine class '%s'; the %lld that "
                  "finished on others do not count",
                  ctl->machine_class, (long long)ctl->n_finished);
    } else if (ctl->n_failed) {
        why = say(ctl, "no run finished: %lld of %lld trials failed, mostly %s",
                  (long long)ctl->n_failed, (long long)ctl->n_trials,
                  tri_reason_name(commonest_failure(ctl)));
    } else if (ctl->rules >= 2 && ctl->now >= tri_ctl_search_end(ctl)) {
        ctl->idled = 1;
        return tri_ctl_end(ctl, 3, 1,
                           "budget.time passed before any run finished or "
                           "failed");
    } else {
        why = say(ctl, "no run finished within the budget (%lld trials)",
                  (long long)ctl->n_trials);
    }
    return tri_ctl_end(ctl, 2, 0, why);
}

tri_status tri_ctl_end_hopeless(tri_ctl *ctl)
{
    const tri_alike *a = &ctl->alike;

    ctl->given_up = 1;
    return tri_ctl_end(ctl, 2, 1,
                       say(ctl,
                           "given up: %lld runs of %lld trials failed alike, "
                           "and none finished: %s%s%.160s",
                           (long long)a->runs, (long long)a->trials,
                           tri_reason_name(a->reason), *a->sentence ? ": " : "",
                           a->sentence));
}
