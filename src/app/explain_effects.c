/*
 * How far each parameter moves what is predicted: the spread of its main effect
 * over the valid space.  Configurations are drawn evenly (all, where there are
 * few), predicted at the top resource, and put in order; of the spread of
 * places, the share that a parameter's values alone account for is its share.
 * Places, not values, so that twelve decades or one outlier do no harm.  What
 * only two parameters together account for is in nobody's share.
 */
#include "src/app/explain.h"

#include "trireme/stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWN         600
#define GROUPS        8 /* more values than so many are taken together */
#define SHOWN         8
#define INACTIVE_CODE (-1e308)

typedef struct sample {
    tri_config *configs; /* n x n_params */
    double *predicted, *place, *code, *x;
    int *order;
    int n, n_params;
} sample;

typedef struct effect {
    const char *name;
    double share;
    char best[120], worst[120]; /* of its values: "tp=4", "lr in [a, b]" */
    double best_median, worst_median;
} effect;

static void fini(sample *s)
{
    free(s->configs);
    free(s->predicted);
    free(s->order);
}

static tri_status alloc(sample *s, const tri_space *space)
{
    size_t n = DRAWN;

    s->n_params = tri_space_n_params(space);
    s->configs = calloc(n * ((size_t)s->n_params + 1), sizeof *s->configs);
    s->predicted = calloc(5 * n, sizeof *s->predicted);
    s->order = calloc(n, sizeof *s->order);
    if (!s->configs || !s->predicted || !s->order) {
        fini(s);
        return TRI_FAIL(TRI_ENOMEM, "no memory for effects");
    }
    s->place = s->predicted + n;
    s->code = s->place + n;
    s->x = s->code + n; /* 2 n */
    return TRI_OK;
}

/* ---- the sample ---- */

static tri_status draw(sample *s, const tri_space *space)
{
    int64_t count = tri_space_count(space);
    tri_rng rng = tri_rng_stream(0, 0, TRI_RNG_RANDOM);
    int all = count >= 0 && count <= DRAWN;
    int n = all ? (int)count : DRAWN;

    for (int i = 0; i < n; i++) {
        tri_config *c = s->configs + (size_t)i * (size_t)s->n_params;

        TRI_TRY(all ? tri_space_at(space, i, c)
                    : tri_space_sample(space, &rng, c));
    }
    s->n = n;
    return TRI_OK;
}

static const double *sort_key; /* for qsort's comparison */

static int by_key(const void *a, const void *b)
{
    int i = *(const int *)a;
    int k = *(const int *)b;

    return sort_key[i] != sort_key[k]
                   ? (sort_key[i] > sort_key[k]) - (sort_key[i] < sort_key[k])
                   : i - k;
}

static void sort_by(sample *s, const double *key)
{
    for (int i = 0; i < s->n; i++) {
        s->order[i] = i;
    }
    sort_key = key;
    qsort(s->order, (size_t)s->n, sizeof *s->order, by_key);
}

/* Places between 0 and 1, equal ones shared; their mean is a half. */
static void put_in_order(sample *s)
{
    int end;

    sort_by(s, s->predicted);
    for (int i = 0; i < s->n; i = end) {
        double v = s->predicted[s->order[i]];

        for (end = i + 1; end < s->n && s->predicted[s->order[end]] == v;) {
            end++;
        }
        for (int k = i; k < end; k++) {
            s->place[s->order[k]] = (i + end) / 2.0 / s->n;
        }
    }
}

static tri_status predict(sample *s, tri_believer *b)
{
    int n = 0;

    for (int i = 0; i < s->n; i++) {
        tri_config *c = s->configs + (size_t)i * (size_t)s->n_params;
        tri_belief belief;

        TRI_TRY(tri_believer_believe(b, c, b->snapshot->resource, &belief));
        if (isfinite(belief.predicted)) {
            memmove(s->configs + (size_t)n * (size_t)s->n_params, c,
                    (size_t)s->n_params * sizeof *c);
            s->predicted[n++] = belief.predicted;
        }
    }
    s->n = n;
    put_in_order(s);
    return TRI_OK;
}

/* ---- one parameter ---- */

/* A number that equal values share: itself, or the place of its first like. */
static double code_of(const sample *s, const tri_param *p, int i)
{
    const tri_value *v = s->configs + (size_t)i * (size_t)s->n_params;

    v += p->column;
    if (v->type == TRI_INACTIVE) {
        return INACTIVE_CODE;
    }
    if (v->type != TRI_WORD) {
        return tri_value_number(*v);
    }
    for (int k = 0; k < p->domain.n_values; k++) {
        if (tri_value_equal(p->domain.values[k], *v)) {
            return k;
        }
    }
    return 0;
}

/* The end of the group that begins at place `from` of the order. */
static int group_end(const sample *s, int from, int distinct)
{
    int end = from + 1;
    int least = distinct <= GROUPS ? 1 : s->n / GROUPS;

    while (end < s->n &&
           (end - from < least || s->n - end < least ||
            s->code[s->order[end]] == s->code[s->order[end - 1]])) {
        end++;
    }
    return end;
}

static void print_value(const sample *s, const tri_param *p, int i, char *buf,
                        size_t bytes)
{
    tri_value v =
            s->configs[(size_t)i * (size_t)s->n_params + (size_t)p->column];

    if (v.type == TRI_REAL) { /* the ends of a drawn range */
        snprintf(buf, bytes, "%.4g", v.u.d);
    } else {
        tri_value_print(v, buf, bytes);
    }
}

static void label(const sample *s, const tri_param *p, int from, int end,
                  char *buf, size_t bytes)
{
    int a = s->order[from];
    int b = s->order[end - 1];
    char lo[32];
    char hi[32];

    print_value(s, p, a, lo, sizeof lo);
    print_value(s, p, b, hi, sizeof hi);
    if (s->code[a] == INACTIVE_CODE) {
        snprintf(buf, bytes, "%.60s inactive", p->name);
    } else if (s->code[a] == s->code[b]) {
        snprintf(buf, bytes, "%.60s=%s", p->name, lo);
    } else {
        snprintf(buf, bytes, "%.40s %s to %s", p->name, lo, hi);
    }
}

static int count_distinct(const sample *s)
{
    int n = s->n > 0;

    for (int i = 1; i < s->n; i++) {
        n += s->code[s->order[i]] != s->code[s->order[i - 1]];
    }
    return n;
}

/* Take the group in: returns its part of the spread; notes the best and the
 * worst. */
static double take_group(sample *s, const tri_param *p, int from, int end,
                         int maximize, effect *e)
{
    double sum = 0;
    double median;
    int n = end - from;

    for (int i = from; i < end; i++) {
        sum += s->place[s->order[i]] - 0.5;
        s->x[i - from] = s->predicted[s->order[i]];
    }
    median = tri_median(s->x, n, s->x + DRAWN);
    if (isnan(e->best_median) ||
        (maximize ? median > e->best_median : median < e->best_median)) {
        e->best_median = median;
        label(s, p, from, end, e->best, sizeof e->best);
    }
    if (isnan(e->worst_median) ||
        (maximize ? median < e->worst_median : median > e->worst_median)) {
        e->worst_median = median;
        label(s, p, from, end, e->worst, sizeof e->worst);
    }
    return sum * sum / n;
}

static void find_effect(sample *s, const tri_param *p, double total,
                        int maximize, effect *e)
{
    double between = 0;
    int distinct, end;

    *e = (effect){.name = p->name, .best_median = NAN, .worst_median = NAN};
    for (int i = 0; i < s->n; i++) {
        s->code[i] = code_of(s, p, i);
    }
    sort_by(s, s->code);
    distinct = count_distinct(s);
    for (int i = 0; i < s->n && distinct > 1; i = end) {
        end = group_end(s, i, distinct);
        between += take_group(s, p, i, end, maximize, e);
    }
    e->share = total > 0 ? between / total : 0;
}

static int by_share(const void *a, const void *b)
{
    const effect *x = a;
    const effect *y = b;

    return (x->share < y->share) - (x->share > y->share);
}

/* [out] owned list, largest first; *n: those that vary. */
static tri_status find_effects(const tri_story *story, tri_believer *b,
                               effect **out, int *n)
{
    const tri_study *study = tri_ctl_study(story->ctl);
    sample s = {0};
    effect *list;
    double total = 0;
    tri_status st;

    TRI_TRY(alloc(&s, study->space));
    list = calloc((size_t)s.n_params + 1, sizeof *list);
    if (!list) {
        fini(&s);
        return TRI_FAIL(TRI_ENOMEM, "no memory for effects");
    }
    TRI_TRY_GOTO(st, draw(&s, study->space), fini);
    TRI_TRY_GOTO(st, predict(&s, b), fini);
    for (int i = 0; i < s.n; i++) {
        total += (s.place[i] - 0.5) * (s.place[i] - 0.5);
    }
    *n = 0;
    for (int i = 0; i < s.n_params; i++) {
        find_effect(&s, tri_space_param(study->space, i), total,
                    study->objective.maximize, &list[*n]);
        *n += list[*n].best[0] != '\0';
    }
    qsort(list, (size_t)*n, sizeof *list, by_share);
    *out = list;
    fini(&s);
    return TRI_OK;
fini:
    free(list);
    fini(&s);
    return st;
}

/* ---- told ---- */

static tri_status print(const effect *list, int n, FILE *out)
{
    static const char *const heads[] = {"parameter", "share",    "best at",
                                        "median",    "worst at", "median"};
    tri_app_table *t = tri_app_table_create("lrlrlr");
    char text[40];

    if (!t) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for effects");
    }
    fputs("\nwhat tells most, by the search's own model over the valid space "
          "(medians);\nthe report asks a tree ensemble of its own, which may "
          "order them otherwise\n",
          out);
    for (int i = 0; i < 6; i++) {
        tri_app_table_cell(t, heads[i]);
    }
    for (int i = 0; i < n && i < SHOWN; i++) {
        snprintf(text, sizeof text, "%.0f %%", 100 * list[i].share);
        tri_app_table_cell(t, list[i].name);
        tri_app_table_cell(t, text);
        tri_app_table_cell(t, list[i].best);
        tri_app_table_number(t, list[i].best_median);
        tri_app_table_cell(t, list[i].worst);
        tri_app_table_number(t, list[i].worst_median);
    }
    tri_app_table_print(t, out);
    tri_app_table_destroy(t);
    return TRI_OK;
}

tri_status tri_explain_effects(const tri_story *story, tri_believer *b,
                               FILE *out)
{
    effect *list;
    tri_status st;
    int n;

    TRI_TRY(find_effects(story, b, &list, &n));
    st = n > 0 ? print(list, n, out) : TRI_OK;
    free(list);
    return st;
}

static json_t *effect_json(const effect *e)
{
    json_t *o = json_object();

    json_object_set_new(o, "parameter", tri_app_json_text(e->name));
    json_object_set_new(o, "share", tri_app_json_real(e->share));
    json_object_set_new(o, "best", tri_app_json_text(e->best));
    json_object_set_new(o, "best_median", tri_app_json_real(e->best_median));
    json_object_set_new(o, "worst", tri_app_json_text(e->worst));
    json_object_set_new(o, "worst_median", tri_app_json_real(e->worst_median));
    return o;
}

tri_status tri_explain_effects_json(const tri_story *story, tri_believer *b,
                                    json_t **out)
{
    effect *list;
    int n;

    TRI_TRY(find_effects(story, b, &list, &n));
    *out = json_array();
    for (int i = 0; i < n; i++) {
        json_array_append_new(*out, effect_json(&list[i]));
    }
    free(list);
    return TRI_OK;
}
