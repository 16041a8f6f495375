/*
 * Questions to the thinker: when to ask, how much, and how long a new
 * configuration may wait for the answer.  Nothing else ever waits: promotions,
 * lost runs and finals go on, and when the wait is over new configurations are
 * what proposals there are, or draws of our own.
 *
 * Proposals are fresh as long as they were made with all that is known, or, in
 * a long history, with all but one in 256 of it.  With a thinker that answers
 * at once every new trial follows from all results before it; with a slow one
 * ranks stand idle for a hundredth of a run at most.
 *
 * One question is out at a time.  Questions are asked ahead of need whenever
 * something is known that the last one did not tell.  What has no answer when
 * an opening ends is asked again, under another number, by the next.
 */
#include "src/ctl/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WANTED_MOST 64
#define WAIT_MOST_S 1.0
#define WAIT_SHARE  0.01 /* of the median run */
#define STALE_SHARE 256  /* one in so many results may be missing */

static int is_led(const tri_study *study)
{
    return strcmp(study->search.proposer, "random") != 0 &&
           strcmp(study->search.proposer, "quasi") != 0;
}

void tri_ctl_think_open(tri_ctl *ctl, int may)
{
    tri_thoughts *t = &ctl->thoughts;

    t->may = may && is_led(ctl->study);
    t->out = t->waits = 0;
    t->asked_at = -1;
    t->until = NAN;
}

/* ---- asking -------------------------------------------------------------- */

/* How many groups of the usual size the pool holds. */
static int64_t n_groups(const tri_ctl *ctl)
{
    int64_t sum = 0;
    int lo, hi;

    tri_space_rank_range(ctl->study->space, &lo, &hi);
    for (int64_t i = 0; i < ctl->n_trials && i < WANTED_MOST; i++) {
        sum += ctl->trials[ctl->n_trials - 1 - i].ranks;
    }
    if (sum > 0) {
        int64_t n = ctl->n_trials < WANTED_MOST ? ctl->n_trials : WANTED_MOST;

        return ctl->n_up * n / sum;
    }
    return lo > 0 ? ctl->n_up / lo : ctl->n_up;
}

/* As many as can start at once, and as may be wanted before the next answer;
 * no more than there is budget for. */
static int32_t n_wanted(const tri_ctl *ctl)
{
    int64_t n = n_groups(ctl);
    int64_t left = ctl->study->budget.trials;

    n = n < WANTED_MOST ? n : WANTED_MOST;
    n += ctl->thoughts.news / STALE_SHARE;
    if (left != TRI_UNLIMITED && n > left - ctl->n_trials) {
        n = left - ctl->n_trials;
    }
    return (int32_t)(n < 1 ? 1 : n > WANTED_MOST ? WANTED_MOST : n);
}

static tri_status ask(tri_ctl *ctl)
{
    tri_thoughts *t = &ctl->thoughts;
    tri_command c = {
            .kind = TRI_CMD_THINK,
            .u.think = {.snapshot = ++t->asked, .wanted = n_wanted(ctl)}};

    t->out = 1;
    t->asked_at = t->news;
    return tri_ctl_emit(ctl, &c);
}

/* ---- waiting ------------------------------------------------------------- */

int tri_ctl_is_fresh(const tri_ctl *ctl, int64_t knows)
{
    const tri_thoughts *t = &ctl->thoughts;
    int64_t needs = isnan(t->until) ? t->news : t->needs;

    return knows + needs / STALE_SHARE >= needs;
}

/* Whether the thinker has said that it knows of nothing new to try. */
static int has_nothing(const tri_ctl *ctl)
{
    const tri_thoughts *t = &ctl->thoughts;

    return !t->out && t->asked_at == t->news && t->answered == t->asked &&
           t->taken == 0 && ctl->proposal_at == ctl->n_proposals;
}

/* How long to wait: for the first configuration of all there is nothing to
 * lose but a moment. */
static double wait_s(const tri_ctl *ctl)
{
    double s = WAIT_SHARE * tri_running_median_value(&ctl->run_s);
    const char *last =
            ctl->n_trials ? ctl->trials[ctl->n_trials - 1].origin : "start";

    if (isnan(s)) {
        return strcmp(last, "start") == 0 || strcmp(last, "baseline") == 0
                       ? WAIT_MOST_S
                       : 0;
    }
    return s < WAIT_MOST_S ? s : WAIT_MOST_S;
}

tri_status tri_ctl_await(tri_ctl *ctl)
{
    tri_thoughts *t = &ctl->thoughts;

    if (has_nothing(ctl)) {
        return TRI_OK;
    }
    if (isnan(t->until)) {
        t->until = ctl->now + wait_s(ctl);
        t->needs = t->news;
    }
    if (!t->out) {
        TRI_TRY(ask(ctl));
    }
    t->waits = ctl->now < t->until;
    return TRI_OK;
}

void tri_ctl_think_begin(tri_ctl *ctl)
{
    ctl->thoughts.waits = 0;
}

/* Whether the last question told all that is known, or nearly. */
static int is_asked(const tri_thoughts *t)
{
    return t->asked_at >= 0 && t->news - t->asked_at <= t->news / STALE_SHARE;
}

tri_status tri_ctl_think_end(tri_ctl *ctl)
{
    tri_thoughts *t = &ctl->thoughts;

    if (!t->waits) {
        t->until = NAN;
    }
    return t->may && !t->out && !is_asked(t) && tri_ctl_may_search(ctl) &&
                           tri_ctl_may_create(ctl)
                   ? ask(ctl)
                   : TRI_OK;
}

/* An answer to an older question is better than none, and no better than one
 * to a newer. */
void tri_ctl_think_answered(tri_ctl *ctl, int64_t snapshot, int *use)
{
    tri_thoughts *t = &ctl->thoughts;
    int is_last = t->out && snapshot == t->asked;

    *use = snapshot >= t->answered;
    if (is_last) {
        t->out = 0;
    }
    if (!*use) {
        return;
    }
    t->answered = snapshot;
    t->knows = is_last ? t->asked_at : -1;
    t->taken = 0;
    if (t->may) { /* what was drawn without knowing it is drawn again */
        ctl->candidate.ready &= ctl->candidate.is_given;
    }
}
