/*
 * Reads a folded study; see the header.
 */
#include "src/app/standing.h"

#include <math.h>

int tri_app_standing_is_run(const tri_app_standing *s)
{
    return s->progress.state != TRI_CTL_ENDED && s->is_live &&
           s->age_s <= TRI_APP_STALE_S;
}

const char *tri_app_standing_state(const tri_app_standing *s)
{
    if (s->progress.state == TRI_CTL_ENDED) {
        return s->progress.end_status == TRI_EXIT_INTERRUPTED ? "interrupted"
                                                              : "done";
    }
    if (!tri_app_standing_is_run(s)) {
        return "broken";
    }
    switch (s->progress.state) {
    case TRI_CTL_FINALS:
        return "finals";
    case TRI_CTL_DRAINING:
        return "draining";
    default:
        return "search";
    }
}

double tri_app_standing_now(const tri_app_standing *s)
{
    return s->progress.time_s + (tri_app_standing_is_run(s) ? s->age_s : 0);
}

double tri_app_standing_left(const tri_app_standing *s)
{
    const tri_progress *p = &s->progress;
    double end = p->state == TRI_CTL_SEARCH ? p->search_end_s : NAN;

    if (!tri_app_standing_is_run(s)) {
        return NAN;
    }
    if (!isnan(p->deadline_s) && !(end < p->deadline_s)) {
        end = p->deadline_s;
    }
    return isfinite(end) ? fmax(end - tri_app_standing_now(s), 0) : NAN;
}

int tri_app_standing_best(const tri_app_standing *s, tri_standing *out)
{
    const tri_progress *p = &s->progress;
    tri_answer a;

    tri_ctl_answer(s->ctl, &a);
    if (a.finals && p->state == TRI_CTL_ENDED) {
        *out = a.winner;
        return 1;
    }
    *out = (tri_standing){.trial = p->best_trial,
                          .objective = p->best,
                          .lo = p->best_lo,
                          .hi = p->best_hi};
    if (p->best_trial >= 0) {
        tri_trial_view v;

        tri_ctl_trial(s->ctl, p->best_trial, &v);
        out->ranks = v.ranks;
    }
    return 0;
}

int tri_app_standing_rungs(const tri_app_standing *s, tri_rung_view *rungs,
                           int max)
{
    int n = tri_sched_rungs(tri_ctl_sched(s->ctl), rungs, max);

    n = n < max ? n : max;
    for (int i = 0; i < n; i++) {
        rungs[i].running = 0;
    }
    for (int f = 0; f < s->tally->n_flying; f++) {
        tri_run_view run;

        tri_ctl_run(s->ctl, s->tally->flying[f], &run);
        for (int i = 0; run.phase == TRI_PHASE_SEARCH && i < n; i++) {
            rungs[i].running += run.bracket == rungs[i].bracket &&
                                run.rung == rungs[i].rung;
        }
    }
    return n;
}

void tri_app_standing_find_fault(tri_app_standing *s, const char *file)
{
    char path[4096];
    const char *reason = NULL;
    int status = 0;
    int epoch = 0;
    json_t *o;

    s->fault[0] = '\0';
    snprintf(path, sizeof path, "%s.exit", file);
    o = json_load_file(path, 0, NULL);
    if (o &&
        json_unpack(o, "{s:i, s:s, s:i}", "status", &status, "reason", &reason,
                    "epoch", &epoch) == 0 &&
        status == TRI_EXIT_FAULT && epoch == s->epoch) {
        snprintf(s->fault, sizeof s->fault, "%s", reason);
    }
    json_decref(o);
}
