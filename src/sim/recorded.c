/*
 * Recorded results in the order of configurations and resources, found by
 * halving.  Knows nothing of runs and their time.
 */
#include "src/sim/recorded.h"

#include "trireme/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The outcome of one configuration after one resource. */
typedef struct outcome {
    const tri_config *config; /* in results.configs */
    int64_t resource;
    double value;
    int failed;
    double unit_s;
} outcome;

struct tri_results {
    int n_params;
    tri_config *configs; /* a copy of the list's */
    outcome *list;       /* by configuration, then by resource */
    int64_t n;
    int64_t count, top;
};

/* What qsort's comparison needs to see of an outcome. */
typedef struct ref {
    const tri_config *config;
    int n_params;
    const tri_recorded_point *point;
} ref;

/* ---- order ------------------------------------------------------------ */

static double real_of(const tri_value *v)
{
    return v->type == TRI_REAL ? v->u.d : (double)v->u.i;
}

/* Which of the kinds of value that do not mix: a number equals a number. */
static int kind_of(const tri_value *v)
{
    return v->type == TRI_INT ? TRI_REAL : (int)v->type;
}

static int compare_values(const tri_value *a, const tri_value *b)
{
    int kind = kind_of(a);

    if (kind != kind_of(b)) {
        return kind < kind_of(b) ? -1 : 1;
    }
    if (kind == TRI_INACTIVE) {
        return 0;
    }
    if (kind == TRI_WORD) {
        return strcmp(a->u.word, b->u.word);
    }
    if (a->type == TRI_INT && b->type == TRI_INT) {
        return (a->u.i > b->u.i) - (a->u.i < b->u.i);
    }
    return (real_of(a) > real_of(b)) - (real_of(a) < real_of(b));
}

static int compare_configs(const tri_config *a, const tri_config *b, int n)
{
    int order = 0;

    for (int i = 0; i < n && order == 0; i++) {
        order = compare_values(&a[i], &b[i]);
    }
    return order;
}

/* By configuration, resource, place in the list. */
static int compare_refs(const void *a, const void *b)
{
    const ref *x = a;
    const ref *y = b;
    int order = compare_configs(x->config, y->config, x->n_params);

    if (order != 0) {
        return order;
    }
    if (x->point->resource != y->point->resource) {
        return x->point->resource < y->point->resource ? -1 : 1;
    }
    return (x->point > y->point) - (x->point < y->point);
}

/* ---- creation --------------------------------------------------------- */

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for recorded results");
}

static tri_status allocate(const tri_recorded *from, tri_results *r)
{
    size_t bytes =
            (size_t)from->n_rows * (size_t)from->n_params * sizeof *r->configs;

    r->n_params = from->n_params;
    r->configs = malloc(bytes + 1);
    r->list = calloc((size_t)from->n_points, sizeof *r->list);
    if (r->configs == NULL || r->list == NULL) {
        return no_memory();
    }
    if (bytes > 0) {
        memcpy(r->configs, from->configs, bytes);
    }
    return TRI_OK;
}

/* Combine refs[0..n), repeats of one configuration and resource.  `x`: room
 * for 2 n numbers. */
static outcome combine(const ref *refs, int n, double *x)
{
    outcome o = {refs[0].config, refs[0].point->resource, NAN, 1, 0};
    int k = 0;

    for (int i = 0; i < n; i++) {
        const tri_recorded_point *p = refs[i].point;

        o.failed &= p->failed;
        if (!p->failed && isfinite(p->objective)) {
            x[k++] = p->objective;
        }
    }
    o.value = tri_median(x, k, x + n);
    k = 0;
    for (int i = 0; i < n; i++) {
        if (refs[i].point->unit_s > 0) {
            x[k++] = refs[i].point->unit_s;
        }
    }
    o.unit_s = k > 0 ? tri_median(x, k, x + n) : 0;
    return o;
}

static void append(tri_results *r, outcome o)
{
    r->count += r->n == 0 || compare_configs(r->list[r->n - 1].config, o.config,
                                             r->n_params) != 0;
    r->top = o.resource > r->top ? o.resource : r->top;
    r->list[r->n++] = o;
}

static int same(const ref *a, const ref *b)
{
    return a->point->resource == b->point->resource &&
           compare_configs(a->config, b->config, a->n_params) == 0;
}

static void fill(tri_results *r, ref *refs, int64_t n, double *x)
{
    int64_t end;

    qsort(refs, (size_t)n, sizeof *refs, compare_refs);
    for (int64_t i = 0; i < n; i = end) {
        for (end = i + 1; end < n && same(&refs[i], &refs[end]); end++) {
        }
        append(r, combine(&refs[i], (int)(end - i), x));
    }
}

static tri_status put_in_order(const tri_recorded *from, tri_results *r)
{
    size_t n = (size_t)from->n_points;
    ref *refs = calloc(n, sizeof *refs);
    double *x = calloc(2 * n, sizeof *x);
    tri_status st = TRI_OK;

    if (refs != NULL && x != NULL) {
        for (size_t i = 0; i < n; i++) {
            const tri_recorded_point *p = &from->points[i];

            refs[i] = (ref){r->configs + p->row * r->n_params, r->n_params, p};
        }
        fill(r, refs, from->n_points, x);
    } else {
        st = no_memory();
    }
    free(refs);
    free(x);
    return st;
}

tri_status tri_results_create(const tri_recorded *list, tri_results **out)
{
    tri_results *r;
    tri_status st;

    if (list->n_points == 0) {
        return TRI_FAIL(TRI_EEMPTY, "no result is recorded");
    }
    r = calloc(1, sizeof *r);
    if (r == NULL) {
        return no_memory();
    }
    TRI_TRY_GOTO(st, allocate(list, r), destroy);
    TRI_TRY_GOTO(st, put_in_order(list, r), destroy);
    *out = r;
    return TRI_OK;
destroy:
    tri_results_destroy(r);
    return st;
}

void tri_results_destroy(tri_results *r)
{
    if (r != NULL) {
        free(r->configs);
        free(r->list);
        free(r);
    }
}

/* ---- answers ---------------------------------------------------------- */

/* The number of the first outcome that is after `c` at `resource`. */
static int64_t after(const tri_results *r, const tri_config *c,
                     int64_t resource)
{
    int64_t lo = 0;
    int64_t hi = r->n;

    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        const outcome *o = &r->list[mid];
        int order = compare_configs(o->config, c, r->n_params);

        if (order > 0 || (order == 0 && o->resource > resource)) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo;
}

static int is_of(const tri_results *r, int64_t i, const tri_config *c)
{
    return i >= 0 && i < r->n &&
           compare_configs(r->list[i].config, c, r->n_params) == 0;
}

static const outcome *find(const tri_results *r, const tri_config *c,
                           int64_t resource)
{
    int64_t i = after(r, c, resource);

    if (is_of(r, i - 1, c)) {
        return &r->list[i - 1];
    }
    return is_of(r, i, c) ? &r->list[i] : NULL;
}

tri_found tri_results_at(const tri_results *r, const tri_config *c,
                         int64_t resource, double *value)
{
    const outcome *o = find(r, c, resource);

    *value = NAN;
    if (o == NULL) {
        return TRI_FOUND_NOT;
    }
    if (o->failed) {
        return TRI_FOUND_FAILED;
    }
    *value = o->value;
    return TRI_FOUND;
}

double tri_results_unit_s(const tri_results *r, const tri_config *c,
                          int64_t resource)
{
    const outcome *o = find(r, c, resource);

    return o == NULL ? 0 : o->unit_s;
}

int64_t tri_results_count(const tri_results *r)
{
    return r->count;
}

int64_t tri_results_top(const tri_results *r)
{
    return r->top;
}

int tri_results_is_whole(const tri_results *r, const tri_config *c)
{
    const outcome *o = find(r, c, r->top);

    return o != NULL && (o->resource == r->top || o->failed || isnan(o->value));
}
