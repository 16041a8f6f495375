/*
 * Slow ranks: suspicion, measuring again elsewhere, judgement, the bench.
 */
#include "trireme/slow.h"

#include "src/ctl/state.h"

#include <math.h>

int tri_slow_applies(const tri_study *study)
{
    tri_metric metric = study->objective.metric;

    return !study->objective.learned &&
           (metric == TRI_METRIC_TOKENS_PER_S ||
            metric == TRI_METRIC_SAMPLES_PER_S || metric == TRI_METRIC_STEP_S);
}

int tri_slow_than(tri_speed x, tri_speed y, int more)
{
    /* comparisons with NaN are false */
    return more ? x.hi < y.lo && x.value <= (1 - TRI_SLOW_SHARE) * y.value
                : x.lo > y.hi && (1 - TRI_SLOW_SHARE) * x.value >= y.value;
}

/* ---- runs --------------------------------------------------------------- */

static tri_speed speed_of(const tri_ctl *ctl, const tri_run_view *v)
{
    const tri_ev_outcome *o = &v->outcome;
    double value = ctl->study->objective.metric == TRI_METRIC_TOKENS_PER_S
                           ? o->tokens_per_s
                   : ctl->study->objective.metric == TRI_METRIC_SAMPLES_PER_S
                           ? o->samples_per_s
                           : o->step_s;

    return (tri_speed){value, o->lo, o->hi};
}

static int is_slower(const tri_ctl *ctl, const tri_run_view *x,
                     const tri_run_view *y)
{
    return tri_slow_than(speed_of(ctl, x), speed_of(ctl, y),
                         ctl->study->objective.maximize);
}

static int is_judged(const tri_ctl *ctl, const tri_run_view *v)
{
    return v->epoch == ctl->epoch && !v->oversubscribed && !v->outcome.flaky &&
           v->slow == TRI_SLOW_NOT && !isnan(v->objective);
}

static void mark(const tri_ctl *ctl, const tri_run_view *v, uint8_t marked)
{
    for (int i = 0; i < v->n_ranks; i++) {
        tri_rank_row *r = tri_ctl_rank_row(ctl, v->ranks[i]);

        if (r) {
            r->marked = marked;
        }
    }
}

/* Both are of this opening, so that their ranks have rows. */
static int have_a_rank_in_common(const tri_ctl *ctl, const tri_run_view *a,
                                 const tri_run_view *b)
{
    int common = 0;

    mark(ctl, a, 1);
    for (int i = 0; i < b->n_ranks && !common; i++) {
        const tri_rank_row *r = tri_ctl_rank_row(ctl, b->ranks[i]);

        common = r && r->marked;
    }
    mark(ctl, a, 0);
    return common;
}

/* ---- elsewhere ---------------------------------------------------------- */

static int is_good(const tri_rank_row *r)
{
    return r->state == TRI_RANK_UP && !r->benched;
}

/* Slots around `slot` that are of its host. */
static tri_pack_part host_slots(const tri_ctl *ctl, int32_t rank)
{
    const tri_pack_level *hosts = &ctl->pack.level[0];
    const tri_rank_row *r = tri_ctl_rank_row(ctl, rank);

    return hosts->list[hosts->of[r->slot]];
}

/* Whether the run's ranks are all of this pool, and the packing is of it. */
static int is_placed(const tri_ctl *ctl, const tri_run_view *v)
{
    for (int i = 0; i < v->n_ranks; i++) {
        if (!tri_ctl_rank_row(ctl, v->ranks[i])) {
            return 0;
        }
    }
    return v->epoch == ctl->epoch && !ctl->pack_stale;
}

/* All ranks of the run's hosts, into ctl->elsewhere; *n_good: good ones. */
static int list_hosts(tri_ctl *ctl, const tri_run_view *v, int *n_good)
{
    int n = 0;

    *n_good = 0;
    for (int i = 0; i < v->n_ranks; i++) {
        tri_pack_part host = host_slots(ctl, v->ranks[i]);

        if (i > 0 && host.begin == host_slots(ctl, v->ranks[i - 1]).begin) {
            continue; /* the ranks of a host stand together */
        }
        for (int s = host.begin; s < host.end; s++) {
            const tri_rank_row *r = &ctl->ranks[ctl->slot_rank[s]];

            *n_good += is_good(r);
            ctl->elsewhere[n++] = r->rank;
        }
    }
    return n;
}

int tri_ctl_elsewhere(tri_ctl *ctl, int64_t run, int n, const int32_t **list)
{
    const tri_run_view *v = &ctl->runs[run].v;
    int n_good = ctl->n_up - ctl->n_benched, on_hosts, own = 0, n_list;

    if (!is_placed(ctl, v)) {
        return -1;
    }
    n_list = list_hosts(ctl, v, &on_hosts);
    *list = ctl->elsewhere;
    if (n_good - on_hosts >= n) {
        return n_list;
    }
    for (int i = 0; i < v->n_ranks; i++) {
        own += is_good(tri_ctl_rank_row(ctl, v->ranks[i]));
    }
    *list = v->ranks;
    return n_good - own >= n ? v->n_ranks : -1;
}

int tri_ctl_fits_elsewhere(tri_ctl *ctl, int64_t run, int n)
{
    const int32_t *list;
    int n_list = tri_ctl_elsewhere(ctl, run, n, &list);
    int room = ctl->pack.n_free;

    for (int i = 0; i < n_list; i++) {
        room -= ctl->pack.free_slot[tri_ctl_rank_row(ctl, list[i])->slot];
    }
    return n_list < 0 ? n <= tri_ctl_room(ctl, n) : n <= room;
}

/* The run elsewhere than which the trial is to be measured, -1. */
static int64_t suspect_of(const tri_ctl *ctl, int64_t trial, tri_phase phase)
{
    int64_t in_finals = ctl->finals.suspect - 1;

    if (phase == TRI_PHASE_SEARCH) {
        return ctl->trials[trial].suspect;
    }
    return in_finals >= 0 && ctl->runs[in_finals].v.trial == trial ? in_finals
                                                                   : -1;
}

tri_status tri_ctl_take_for(tri_ctl *ctl, int64_t trial, tri_phase phase, int n,
                            int32_t *ranks)
{
    int64_t suspect = suspect_of(ctl, trial, phase);
    const int32_t *avoid = NULL;
    int n_avoid = suspect < 0 ? 0 : tri_ctl_elsewhere(ctl, suspect, n, &avoid);

    if (tri_ctl_take_ranks(ctl, n, avoid, n_avoid > 0 ? n_avoid : 0, ranks)) {
        return TRI_OK;
    }
    if (ctl->pack.broken) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to place a group");
    }
    return TRI_FAIL(TRI_EINTERNAL, "trial %lld does not fit", (long long)trial);
}

/* ---- flags ---- */

/* Nothing stands against its ranks any more. */
static void acquit(tri_ctl *ctl, const tri_run_view *v)
{
    for (int i = 0; i < v->n_ranks; i++) {
        tri_rank_row *r = tri_ctl_rank_row(ctl, v->ranks[i]);

        if (r) {
            r->flags = r->benched ? r->flags : 0;
            ctl->hosts[r->host].checked = 1;
        }
    }
}

/* ---- suspicion ---------------------------------------------------------- */

static int may_repeat(const tri_ctl *ctl)
{
    return ctl->n_repeated * TRI_SLOW_RUNS <= ctl->search_runs;
}

/* Whether `v`, which has just finished, is slower than `other` run. */
static int is_suspect(tri_ctl *ctl, const tri_run_view *v, int64_t other)
{
    const int32_t *list;
    const tri_run_view *o;

    if (other < 0 || other == v->run) {
        return 0;
    }
    o = &ctl->runs[other].v;
    if (!is_judged(ctl, v) || !is_judged(ctl, o) ||
        have_a_rank_in_common(ctl, v, o)) {
        return 0;
    }
    if (!is_slower(ctl, v, o)) {
        acquit(ctl, v);
        return 0;
    }
    return tri_ctl_elsewhere(ctl, v->run, v->n_ranks, &list) >= 0;
}

/* Whether `v`, its trial's first, is to be the one by which a host of it is
 * compared with others, as none was. */
static int is_first_of_host(tri_ctl *ctl, const tri_run_row *r)
{
    const int32_t *list;
    int n_unchecked = 0;

    if (ctl->rules < 3 || !is_judged(ctl, &r->v)) {
        return 0;
    }
    for (int i = 0; i < r->n_hosts; i++) {
        n_unchecked += !ctl->hosts[r->hosts[i]].checked;
    }
    return n_unchecked > 0 &&
           tri_ctl_elsewhere(ctl, r->v.run, r->v.n_ranks, &list) >= 0 &&
           list != r->v.ranks;
}

int tri_ctl_suspects(tri_ctl *ctl, const tri_run_row *r)
{
    const tri_trial_row *t = &ctl->trials[r->v.trial];

    if (ctl->rules < 1 || t->suspect >= 0 || t->checked_rung >= r->v.rung ||
        ctl->draining || !tri_slow_applies(ctl->study) || !may_repeat(ctl)) {
        return 0;
    }
    return t->last_run < 0 ? is_first_of_host(ctl, r)
                           : is_suspect(ctl, &r->v, t->last_run);
}

void tri_ctl_suspect(tri_ctl *ctl, tri_run_row *r)
{
    tri_trial_row *t = &ctl->trials[r->v.trial];

    r->v.slow = TRI_SLOW_SUSPECT;
    t->suspect = r->v.run;
    t->is_extra = 1;
    t->checked_rung = (int16_t)r->v.rung;
    ctl->n_repeated++;
    for (int i = 0; i < r->n_hosts; i++) {
        ctl->hosts[r->hosts[i]].checked = 1;
    }
}

/* ---- judgement ----------------------------------------------------------- */

/* How well a rank explains that a run of it was slow: its host has benched
 * ones, it was flagged before, or neither. */
static int explains(const tri_ctl *ctl, const tri_rank_row *r)
{
    return ctl->hosts[r->host].benched ? 2 : r->flags > 0;
}

/* One more against the ranks that explain it best. */
static void flag(tri_ctl *ctl, const tri_run_view *v)
{
    int best = 0;

    for (int i = 0; i < v->n_ranks; i++) {
        const tri_rank_row *r = tri_ctl_rank_row(ctl, v->ranks[i]);

        if (r && explains(ctl, r) > best) {
            best = explains(ctl, r);
        }
    }
    for (int i = 0; i < v->n_ranks; i++) {
        tri_rank_row *r = tri_ctl_rank_row(ctl, v->ranks[i]);

        if (r) {
            r->flags = (uint8_t)(r->flags +
                                 (!r->benched && explains(ctl, r) == best));
            ctl->hosts[r->host].checked = 0;
        }
    }
    for (int i = 0; i < v->n_ranks; i++) {
        const tri_rank_row *r = tri_ctl_rank_row(ctl, v->ranks[i]);

        if (r && r->flags >= TRI_SLOW_FLAGS) {
            tri_ctl_bench_rank(ctl, r->rank);
        }
    }
}

tri_status tri_ctl_judge(tri_ctl *ctl, int64_t suspect, int64_t run)
{
    tri_run_view *v = &ctl->runs[suspect].v;
    const tri_run_view *o = run >= 0 ? &ctl->runs[run].v : NULL;
    int compares = o && v->epoch == ctl->epoch && is_judged(ctl, o) &&
                   !have_a_rank_in_common(ctl, v, o);

    v->slow = TRI_SLOW_NOT;
    if (compares && is_slower(ctl, v, o)) {
        v->slow = TRI_SLOW_FLAGGED;
        flag(ctl, v);
    } else if (compares) {
        acquit(ctl, v);
    }
    return tri_ctl_touch_run(ctl, suspect);
}

/* Of a suspect that was acquitted: whether it was the other that was slow. */
static int is_other_slow(const tri_ctl *ctl, const tri_run_view *v,
                         const tri_run_view *o)
{
    return ctl->rules >= 3 && v->slow == TRI_SLOW_NOT &&
           v->epoch == ctl->epoch && is_judged(ctl, o) &&
           !have_a_rank_in_common(ctl, v, o) && is_slower(ctl, o, v);
}

tri_status tri_ctl_settle_suspect(tri_ctl *ctl, int64_t trial, int64_t run,
                                  int64_t *counts)
{
    tri_trial_row *t = &ctl->trials[trial];
    int64_t suspect = t->suspect;

    *counts = run;
    t->suspect = -1;
    if (suspect < 0) {
        return TRI_OK;
    }
    TRI_TRY(tri_ctl_judge(ctl, suspect, run));
    if (run < 0 ||
        !is_other_slow(ctl, &ctl->runs[suspect].v, &ctl->runs[run].v)) {
        return TRI_OK;
    }
    ctl->runs[run].v.slow = TRI_SLOW_FLAGGED;
    flag(ctl, &ctl->runs[run].v);
    *counts = suspect;
    return tri_ctl_touch_run(ctl, run);
}

/* There is no budget left to measure it again, or there are no ranks: what the
 * run measured is the result after all. */
static tri_status let_stand(tri_ctl *ctl, int64_t trial)
{
    tri_trial_row *t = &ctl->trials[trial];
    const tri_run_row *r = &ctl->runs[t->suspect];
    int64_t counts;

    TRI_TRY(tri_ctl_settle_suspect(ctl, trial, -1, &counts));
    t->rung = (int16_t)r->v.rung;
    t->is_extra = 0;
    return tri_ctl_record_result(ctl, r);
}

tri_status tri_ctl_let_suspects_stand(tri_ctl *ctl, int *n)
{
    *n = 0;
    for (int64_t i = 0; i < ctl->n_trials; i++) {
        if (ctl->trials[i].suspect >= 0) {
            TRI_TRY(let_stand(ctl, i));
            ++*n;
        }
    }
    tri_ctl_sift_queue(ctl);
    return TRI_OK;
}

/* Ranks of another opening are other ranks. */
tri_status tri_ctl_forget_suspects(tri_ctl *ctl)
{
    int64_t counts;

    for (int64_t i = 0; i < ctl->n_trials; i++) {
        TRI_TRY(tri_ctl_settle_suspect(ctl, i, -1, &counts));
        ctl->trials[i].is_extra = 0;
        ctl->trials[i].checked_rung = -1;
    }
    return TRI_OK;
}

/* ---- finals -------------------------------------------------------------- */

int tri_ctl_finals_suspects(tri_ctl *ctl, const tri_run_row *r)
{
    tri_finals *f = &ctl->finals;
    const tri_live *live = &ctl->lives[r->live];
    const tri_contender *c = &f->list[live->contender];
    int64_t before = ctl->trials[c->trial].last_run;

    if (ctl->rules < 1 || f->suspect || f->checked >= f->n || ctl->draining ||
        !tri_slow_applies(ctl->study)) {
        return 0;
    }
    return is_suspect(ctl, &r->v, before) ||
           is_suspect(ctl, &r->v, c->reference - 1);
}

void tri_ctl_finals_suspect(tri_ctl *ctl, tri_run_row *r)
{
    r->v.slow = TRI_SLOW_SUSPECT;
    ctl->finals.suspect = r->v.run + 1;
    ctl->finals.checked++;
}
