/*
 * Keeps the tally; see the header.
 */
#include "src/app/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOT_FLYING (-1)
#define HAS_ENDED  (-2)

void tri_tally_init(tri_tally *t)
{
    memset(t, 0, sizeof *t);
}

void tri_tally_fini(tri_tally *t)
{
    free(t->flying);
    free(t->place);
    memset(t, 0, sizeof *t);
}

/* ---- runs ------------------------------------------------------------ */

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory to follow the runs");
}

static tri_status know_run(tri_tally *t, int64_t run)
{
    int64_t room = t->place_room ? 2 * t->place_room : 256;
    int32_t *grown;

    if (run >= t->place_room) {
        room = room > run ? room : run + 1;
        grown = realloc(t->place, (size_t)room * sizeof *grown);
        if (!grown) {
            return no_memory();
        }
        t->place = grown;
        t->place_room = room;
    }
    while (t->n_runs <= run) {
        t->place[t->n_runs++] = NOT_FLYING;
    }
    return TRI_OK;
}

static tri_status take_off(tri_tally *t, int64_t run)
{
    int room = t->flying_room ? 2 * t->flying_room : 64;
    int64_t *grown;

    if (t->n_flying == t->flying_room) {
        grown = realloc(t->flying, (size_t)room * sizeof *grown);
        if (!grown) {
            return no_memory();
        }
        t->flying = grown;
        t->flying_room = room;
    }
    t->place[run] = t->n_flying;
    t->flying[t->n_flying++] = run;
    return TRI_OK;
}

static void land(tri_tally *t, const tri_run_view *v)
{
    int32_t at = t->place[v->run];

    if (at >= 0) {
        t->flying[at] = t->flying[--t->n_flying];
        t->place[t->flying[at]] = at;
    }
    t->place[v->run] = HAS_ENDED;
    t->recent[t->n_ended++ % TRI_TALLY_RECENT] = v->run;
    t->ended[v->status]++;
}

static tri_status note_run(tri_tally *t, const tri_ctl *ctl, int64_t run)
{
    tri_run_view v;

    TRI_TRY(know_run(t, run));
    tri_ctl_run(ctl, run, &v);
    if (v.state != TRI_RUN_ENDED) {
        return t->place[run] == NOT_FLYING ? take_off(t, run) : TRI_OK;
    }
    if (t->place[run] != HAS_ENDED) {
        land(t, &v);
    }
    return TRI_OK;
}

/* ---- the best, the ranks --------------------------------------------- */

static void note_best(tri_tally *t, const tri_progress *p)
{
    const tri_tally_point *last = t->n_best ? &t->best[t->n_best - 1] : NULL;

    if (p->best_trial < 0 ||
        (last && last->trial == p->best_trial && last->objective == p->best)) {
        return;
    }
    t->n_best -= t->n_best == TRI_TALLY_POINTS;
    t->best[t->n_best++] =
            (tri_tally_point){p->time_s, p->best, p->best_trial, t->n_ended};
}

static void note_ranks(tri_tally *t, const tri_progress *p)
{
    double passed = p->time_s - t->at_s;

    t->busy_s += passed * t->busy;
    t->up_s += passed * t->up;
    t->at_s = p->time_s;
    t->busy = p->ranks_busy;
    t->up = p->ranks_total - p->ranks_struck - p->ranks_lost;
}

tri_status tri_tally_note(tri_tally *t, const tri_ctl *ctl)
{
    const int64_t *runs = NULL;
    int n = tri_ctl_changed_runs(ctl, &runs);
    tri_progress p;

    for (int i = 0; i < n; i++) {
        TRI_TRY(note_run(t, ctl, runs[i]));
    }
    if (n > 0 || t->n_runs == 0) {
        tri_ctl_progress(ctl, &p);
        note_best(t, &p);
        note_ranks(t, &p);
    }
    return TRI_OK;
}

/* ---- asking ---------------------------------------------------------- */

int64_t tri_tally_recent(const tri_tally *t, int back)
{
    if (back < 0 || back >= t->n_ended || back >= TRI_TALLY_RECENT) {
        return -1;
    }
    return t->recent[(t->n_ended - 1 - back) % TRI_TALLY_RECENT];
}

double tri_tally_rate(const tri_tally *t, const tri_ctl *ctl, double now_s)
{
    int64_t n = t->n_ended < TRI_TALLY_RECENT ? t->n_ended : TRI_TALLY_RECENT;
    double from = 0; /* the study's beginning, where all are kept */
    tri_run_view v;

    if (n == 0) {
        return NAN;
    }
    if (n < t->n_ended) {
        tri_ctl_run(ctl, tri_tally_recent(t, (int)n - 1), &v);
        from = v.end_s;
        n -= 1;
    }
    return now_s > from ? 60 * (double)n / (now_s - from) : NAN;
}

void tri_tally_history(const tri_tally *t, double *out, int n)
{
    int at = 0;

    for (int i = 0; i < n; i++) {
        double ended = (double)t->n_ended * (i + 1) / n;

        while (at < t->n_best && (double)t->best[at].ended <= ended) {
            at++;
        }
        out[i] = at > 0 ? t->best[at - 1].objective : NAN;
    }
}

double tri_tally_busy(const tri_tally *t, double now_s)
{
    double passed = fmax(0, now_s - t->at_s);
    double up = t->up_s + passed * t->up;

    return up > 0 ? (t->busy_s + passed * t->busy) / up : NAN;
}
