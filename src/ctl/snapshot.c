/*
 * What a thinker is told: the results that count, what is under way, what was
 * tried.  Copies; decides nothing and changes nothing.
 */
#include "src/ctl/state.h"

#include "trireme/think.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS_MOST 20000
#define BEST_SHARE   4

/* A snapshot being taken. */
typedef struct taking {
    const tri_ctl *ctl;
    tri_snapshot *s;
    tri_record *records;
    int n, room;
    int *repeats; /* a record: values in its mean */
    int *before;  /* a record: the trial's one before it, -1 */
    int *last;    /* a trial: its last record, -1 */
    double *peak; /* a trial: of its last run, NaN */
} taking;

void tri_snapshot_destroy(tri_snapshot *s)
{
    if (!s) {
        return;
    }
    for (int i = 0; i < s->n_records; i++) {
        free((void *)s->records[i].config);
    }
    for (int i = 0; i < s->n_pending; i++) {
        free((void *)s->pending[i]);
    }
    free((void *)s->records);
    free((void *)s->pending);
    free((void *)s->tried);
    free(s);
}

/* An edit may have put it outside the space. */
static int is_inside(const tri_ctl *ctl, int64_t trial)
{
    return !ctl->n_old ||
           tri_space_valid(ctl->study->space, ctl->trials[trial].config, NULL);
}

static const tri_config *copy_config(const tri_ctl *ctl, int64_t trial)
{
    size_t n = (size_t)ctl->n_params * sizeof(tri_config);
    tri_config *copy = malloc(n + 1);

    if (copy) {
        memcpy(copy, ctl->trials[trial].config, n);
    }
    return copy;
}

/* ---- records ------------------------------------------------------------ */

static int make_room(taking *t)
{
    int room = t->room ? 2 * t->room : 64;
    tri_record *records;
    int *repeats, *before;

    if (t->n < t->room) {
        return 1;
    }
    records = realloc(t->records, (size_t)room * sizeof *records);
    t->records = records ? records : t->records;
    repeats = realloc(t->repeats, (size_t)room * sizeof *repeats);
    t->repeats = repeats ? repeats : t->repeats;
    before = realloc(t->before, (size_t)room * sizeof *before);
    t->before = before ? before : t->before;
    if (!records || !repeats || !before) {
        return 0;
    }
    t->room = room;
    return 1;
}

static tri_record *new_record(taking *t, int64_t trial)
{
    tri_record *r;

    if (!make_room(t)) {
        return NULL;
    }
    t->before[t->n] = t->last[trial];
    t->repeats[t->n] = 1;
    t->last[trial] = t->n;
    r = &t->records[t->n++];
    *r = (tri_record){.trial = trial,
                      .objective = NAN,
                      .peak_bytes = NAN,
                      .ranks = t->ctl->trials[trial].ranks};
    return r;
}

static double peak_of(const tri_ev_outcome *o)
{
    return o->peak_bytes > 0 ? (double)o->peak_bytes : NAN;
}

/* One more measurement at a resource: the mean counts, and the largest peak. */
static void repeat(tri_record *r, int *n, const tri_run_view *v)
{
    double peak = peak_of(&v->outcome);

    ++*n;
    r->objective += (v->objective - r->objective) / *n;
    if (!(peak <= r->peak_bytes)) {
        r->peak_bytes = isnan(peak) ? r->peak_bytes : peak;
    }
}

static tri_status add_result(taking *t, const tri_run_view *v)
{
    tri_record *r;

    for (int i = t->n > 0 ? t->last[v->trial] : -1; i >= 0; i = t->before[i]) {
        if (t->records[i].resource == v->resource) {
            repeat(&t->records[i], &t->repeats[i], v);
            return TRI_OK;
        }
    }
    r = new_record(t, v->trial);
    if (!r) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a snapshot");
    }
    r->resource = v->resource;
    r->objective = v->objective;
    r->peak_bytes = peak_of(&v->outcome);
    return TRI_OK;
}

/* Whether the configuration is to blame: it would fail again. */
static int is_its_own(tri_reason reason)
{
    switch (reason) {
    case TRI_REASON_DIVERGED:
    case TRI_REASON_NAN:
    case TRI_REASON_OOM:
    case TRI_REASON_INFEASIBLE:
    case TRI_REASON_IMPORT_ERROR:
    case TRI_REASON_OOM_DEVICE:
    case TRI_REASON_OOM_HOST:
    case TRI_REASON_BAD_EXIT:
    case TRI_REASON_HUNG:
        return 1;
    default:
        return 0;
    }
}

static tri_status add_failures(taking *t)
{
    const tri_ctl *ctl = t->ctl;

    for (int64_t i = 0; i < ctl->n_trials; i++) {
        const tri_trial_row *row = &ctl->trials[i];
        tri_record *r;

        if (row->place != TRI_PLACE_FAILED ||
            !is_its_own((tri_reason)row->reason) || !is_inside(ctl, i)) {
            continue;
        }
        r = new_record(t, i);
        if (!r) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for a snapshot");
        }
        r->failed = row->reason;
        r->resource = tri_sched_resource(ctl->sched, row->rung);
        r->peak_bytes = t->peak[i];
    }
    return TRI_OK;
}

/* An objective is known of runs whose result counted, and of no other. */
static tri_status add_results(taking *t)
{
    const tri_ctl *ctl = t->ctl;

    for (int64_t i = ctl->first_run; i < ctl->n_runs; i++) {
        const tri_run_view *v = &ctl->runs[i].v;

        t->peak[v->trial] = peak_of(&v->outcome);
        if (!isnan(v->objective) && v->slow == TRI_SLOW_NOT &&
            is_inside(ctl, v->trial)) {
            TRI_TRY(add_result(t, v));
        }
    }
    return TRI_OK;
}

/* ---- not too many ------------------------------------------------------- */

typedef struct ordered {
    double cost;
    int at;
} ordered;

static int by_cost(const void *a, const void *b)
{
    const ordered *x = a, *y = b;

    return x->cost != y->cost ? (x->cost > y->cost) - (x->cost < y->cost)
                              : (x->at > y->at) - (x->at < y->at);
}

/* Keep the best quarter of what is kept, then the latest, in their order. */
static tri_status thin_out(taking *t)
{
    double sign = t->ctl->study->objective.maximize ? -1 : 1;
    ordered *list;
    uint8_t *keep;
    int n = 0, left = RECORDS_MOST;

    if (t->n <= RECORDS_MOST) {
        return TRI_OK;
    }
    list = malloc((size_t)t->n * sizeof *list);
    keep = calloc((size_t)t->n, 1);
    if (!list || !keep) {
        free(list);
        free(keep);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a snapshot");
    }
    for (int i = 0; i < t->n; i++) {
        if (!t->records[i].failed) {
            list[n++] = (ordered){sign * t->records[i].objective, i};
        }
    }
    qsort(list, (size_t)n, sizeof *list, by_cost);
    for (int i = 0; i < n && i < RECORDS_MOST / BEST_SHARE; i++) {
        keep[list[i].at] = 1;
        left--;
    }
    for (int i = t->n - 1; i >= 0 && left > 0; i--) {
        left -= !keep[i];
        keep[i] = 1;
    }
    n = 0;
    for (int i = 0; i < t->n; i++) {
        if (keep[i]) {
            t->records[n++] = t->records[i];
        }
    }
    t->n = n;
    free(list);
    free(keep);
    return TRI_OK;
}

/* ---- the rest ----------------------------------------------------------- */

static tri_status copy_records(taking *t)
{
    t->s->records = t->records;
    t->records = NULL;
    for (int i = 0; i < t->n; i++) {
        tri_record *r = (tri_record *)&t->s->records[i];

        r->config = copy_config(t->ctl, r->trial);
        if (!r->config) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for a snapshot");
        }
        t->s->n_records = i + 1;
    }
    return TRI_OK;
}

static int is_pending(const tri_ctl *ctl, int64_t trial)
{
    const tri_trial_row *row = &ctl->trials[trial];

    return row->top_rung < 0 && row->place <= TRI_PLACE_FLYING &&
           !row->parked && is_inside(ctl, trial);
}

static tri_status copy_trials(taking *t)
{
    const tri_ctl *ctl = t->ctl;
    uint64_t *tried = malloc(((size_t)ctl->n_trials + 1) * sizeof *tried);
    const tri_config **pending;
    size_t n = 0;

    t->s->tried = tried;
    for (int64_t i = 0; i < ctl->n_trials; i++) {
        n += (size_t)is_pending(ctl, i);
    }
    t->s->pending = pending = calloc(n + 1, sizeof *pending);
    if (!tried || !pending) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a snapshot");
    }
    t->s->n_tried = ctl->n_trials;
    for (int64_t i = 0; i < ctl->n_trials; i++) {
        tried[i] = ctl->trials[i].hash;
        if (is_pending(ctl, i)) {
            pending[t->s->n_pending] = copy_config(ctl, i);
            if (!pending[t->s->n_pending++]) {
                return TRI_FAIL(TRI_ENOMEM, "no memory for a snapshot");
            }
        }
    }
    return TRI_OK;
}

/* The rung that new trials begin at, the lowest such. */
static int base_rung(const tri_ctl *ctl)
{
    tri_sched_settings s = tri_sched_settings_of(ctl->study);
    int n = tri_sched_n_rungs(ctl->sched);

    return s.kind != TRI_SCHED_NONE ? s.bracket : n ? n - 1 : 0;
}

/* The rung to predict at: the top one, or the highest reached. */
static int top_rung(const tri_ctl *ctl)
{
    int top = tri_sched_n_rungs(ctl->sched) - 1;

    if (top < 0) {
        top = base_rung(ctl);
        for (int64_t i = 0; i < ctl->n_trials; i++) {
            int rung = ctl->trials[i].top_rung;

            top = rung > top ? rung : top;
        }
    }
    return top;
}

static tri_status fill(taking *t)
{
    size_t n = (size_t)t->ctl->n_trials + 1;

    t->last = malloc(n * sizeof *t->last);
    t->peak = malloc(n * sizeof *t->peak);
    if (!t->last || !t->peak) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a snapshot");
    }
    for (size_t i = 0; i < n; i++) {
        t->last[i] = -1;
        t->peak[i] = NAN;
    }
    TRI_TRY(add_results(t));
    TRI_TRY(add_failures(t));
    TRI_TRY(thin_out(t));
    TRI_TRY(copy_records(t));
    return copy_trials(t);
}

tri_status tri_ctl_snapshot(const tri_ctl *ctl, int64_t number, int wanted,
                            tri_snapshot **out)
{
    taking t = {.ctl = ctl, .s = calloc(1, sizeof *t.s)};
    tri_status st;

    if (!t.s) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a snapshot");
    }
    t.s->number = number;
    t.s->wanted = wanted;
    t.s->resource = tri_sched_resource(ctl->sched, top_rung(ctl));
    t.s->base = tri_sched_resource(ctl->sched, base_rung(ctl));
    t.s->max_ranks = ctl->n_up;
    t.s->memory_bytes = (double)ctl->study->memory_bytes;
    st = fill(&t);
    free(t.records);
    free(t.repeats);
    free(t.before);
    free(t.last);
    free(t.peak);
    if (st != TRI_OK) {
        tri_snapshot_destroy(t.s);
        return st;
    }
    *out = t.s;
    return TRI_OK;
}
