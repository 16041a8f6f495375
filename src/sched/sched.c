/*
 * The generic layer of schedulers: settings are checked and the ladder of
 * resources is built here once; what runs next is decided behind the
 * operations table.
 */
#include "trireme/sched.h"

#include "src/sched/ops.h"

#include <stdlib.h>

#define RESOURCE_MOST ((int64_t)1 << 62)

struct tri_sched {
    const tri_sched_ops *ops;
    tri_ladder ladder;
    void *state;
};

static const tri_sched_ops *const kinds[] = {
        &tri_sched_asha,  &tri_sched_asha_stop, &tri_sched_asha_delayed,
        &tri_sched_sha,   &tri_sched_hyperband, &tri_sched_async_hyperband,
        &tri_sched_pasha, &tri_sched_none};

static const tri_sched_ops *find(tri_sched_kind kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i]->kind == kind) {
            return kinds[i];
        }
    }
    return NULL;
}

static tri_status check_resource(const tri_sched_settings *s)
{
    if (s->min < 1 || s->min > RESOURCE_MOST) {
        return TRI_FAIL(TRI_EINVAL, "resource.min must be 1 or more, not %lld",
                        (long long)s->min);
    }
    if (s->max && (s->max < s->min || s->max > RESOURCE_MOST)) {
        return TRI_FAIL(TRI_EINVAL,
                        "resource.max (%lld) must not be below min (%lld)",
                        (long long)s->max, (long long)s->min);
    }
    if (s->eta < 2) {
        return TRI_FAIL(TRI_EINVAL, "resource.eta must be 2 or more, not %d",
                        s->eta);
    }
    return TRI_OK;
}

static tri_status refuse(const tri_sched_settings *s, const char *key,
                         int value)
{
    return TRI_FAIL(TRI_EINVAL, "scheduler: %s takes no %s of %d",
                    tri_sched_name(s->kind), key, value);
}

static tri_status check(const tri_sched_settings *s, unsigned asks)
{
    int least = asks & TRI_LIMITS_OPEN ? 0 : 1;

    TRI_TRY(check_resource(s));
    if ((asks & TRI_NEEDS_MAX) && !s->max) {
        return TRI_FAIL(TRI_EINVAL, "scheduler %s needs resource.max",
                        tri_sched_name(s->kind));
    }
    if (s->bracket < 0 || (s->bracket && !(asks & TRI_TAKES_BRACKET))) {
        return refuse(s, "bracket", s->bracket);
    }
    if (s->brackets < least ||
        (s->brackets > 1 && !(asks & (TRI_TAKES_BRACKETS | TRI_LIMITS_OPEN)))) {
        return refuse(s, "brackets", s->brackets);
    }
    if (s->n < 0 || (s->n && !(asks & TRI_TAKES_N))) {
        return TRI_FAIL(TRI_EINVAL, "scheduler: %s takes no n of %lld",
                        tri_sched_name(s->kind), (long long)s->n);
    }
    return TRI_OK;
}

/* Integers only: logarithms lose a rung at exact powers. */
static void build(tri_ladder *l, const tri_sched_settings *s)
{
    int64_t most = s->max ? s->max : RESOURCE_MOST;
    int64_t r = s->min;

    l->eta = s->eta;
    l->bounded = s->max != 0;
    l->n = 0;
    while (r < most && l->n < TRI_LADDER_MOST - 1) {
        l->resource[l->n++] = r;
        if (r > most / s->eta) {
            break;
        }
        r *= s->eta;
    }
    if (l->bounded) {
        l->resource[l->n++] = s->max;
    }
}

tri_sched_settings tri_sched_settings_of(const tri_study *study)
{
    return (tri_sched_settings){.kind = study->scheduler.kind,
                                .min = study->resource.min,
                                .max = study->resource.max,
                                .eta = study->resource.eta,
                                .bracket = study->scheduler.bracket,
                                .brackets = study->scheduler.brackets,
                                .n = study->scheduler.n};
}

tri_status tri_sched_create(const tri_sched_settings *settings, tri_sched **out)
{
    const tri_sched_ops *ops = find(settings->kind);
    tri_sched *s;
    tri_status st;

    if (!ops) {
        return TRI_FAIL(TRI_EUNBUILT, "scheduler %s is not built yet",
                        tri_sched_name(settings->kind));
    }
    TRI_TRY(check(settings, ops->asks));
    s = calloc(1, sizeof *s);
    if (!s) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a scheduler");
    }
    s->ops = ops;
    build(&s->ladder, settings);
    st = ops->create(settings, &s->ladder, &s->state);
    if (st != TRI_OK) {
        free(s);
        return st;
    }
    *out = s;
    return TRI_OK;
}

void tri_sched_destroy(tri_sched *s)
{
    if (s) {
        s->ops->destroy(s->state);
        free(s);
    }
}

int64_t tri_sched_resource(const tri_sched *s, int rung)
{
    return rung >= 0 && rung < s->ladder.n ? s->ladder.resource[rung] : 0;
}

int tri_sched_n_rungs(const tri_sched *s)
{
    return s->ladder.bounded ? s->ladder.n : 0;
}

int64_t tri_sched_planned(const tri_sched *s, int bracket, int rung)
{
    return s->ops->planned ? s->ops->planned(s->state, bracket, rung) : 0;
}

void tri_sched_peek(tri_sched *s, int may_create, tri_job *out)
{
    s->ops->peek(s->state, may_create, out);
}

tri_status tri_sched_take(tri_sched *s, const tri_job *job, int64_t trial)
{
    return s->ops->take(s->state, job, trial);
}

tri_status tri_sched_result(tri_sched *s, int64_t trial, int rung,
                            tri_result_kind kind, double score)
{
    return s->ops->result(s->state, trial, rung, kind, score);
}

tri_status tri_sched_drop(tri_sched *s, int64_t trial, int rung)
{
    return s->ops->drop(s->state, trial, rung);
}

void tri_sched_park(tri_sched *s, int64_t trial, int parked)
{
    s->ops->park(s->state, trial, parked);
}

int tri_sched_is_closed(tri_sched *s)
{
    tri_job job;

    if (!s->ops->is_idle(s->state)) {
        return 0;
    }
    s->ops->peek(s->state, 0, &job);
    return job.kind == TRI_JOB_NONE;
}

tri_going tri_sched_goes_on(tri_sched *s, int64_t trial, int may_create,
                            tri_job *out)
{
    *out = (tri_job){.kind = TRI_JOB_NONE, .trial = -1};
    if (s->ops->goes_on) {
        return s->ops->goes_on(s->state, trial, out) ? TRI_GOES_ON
                                                     : TRI_GOES_NOT;
    }
    s->ops->peek(s->state, may_create, out);
    return out->kind == TRI_JOB_PROMOTE && out->trial == trial ? TRI_GOES_NEXT
                                                               : TRI_GOES_NOT;
}

int tri_sched_is_over(const tri_sched *s, int64_t trial, int rung)
{
    if (s->ladder.bounded && rung >= s->ladder.n - 1) {
        return 1;
    }
    return s->ops->is_over && s->ops->is_over(s->state, trial, rung);
}

int tri_sched_rungs(const tri_sched *s, tri_rung_view *out, int max)
{
    return s->ops->rungs(s->state, out, max);
}

int64_t tri_sched_ranking(const tri_sched *s, int bracket, int rung,
                          int64_t *trials, int64_t max)
{
    return s->ops->ranking(s->state, bracket, rung, trials, max);
}

int tri_sched_was_promoted(const tri_sched *s, int64_t trial, int rung)
{
    return s->ops->was_promoted(s->state, trial, rung);
}
