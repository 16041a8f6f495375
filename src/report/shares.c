/*
 * Taking the variance of a model's predictions over the valid space apart, by
 * parameters and by pairs of them.
 */
#include "src/report/importance.h"

#include "trireme/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWN  3000
#define GROUPS 8 /* of a parameter's values, at most */
#define PAIRED 8 /* parameters whose pairs are looked at */
#define SHOWN  3 /* pairs whose means are given */
#define BLOCK  256

/* The groups of values of one parameter. */
typedef struct axis {
    const tri_param *param;
    unsigned char group[DRAWN];
    char label[GROUPS][64];
    int n;
    double share; /* of the variance of places */
} axis;

typedef struct survey {
    const tri_report_part *p;
    tri_config *configs; /* DRAWN x n_params */
    double *predicted, *place;
    int *order;
    axis *axes;
    int n, n_params, n_axes;
} survey;

static void fini(survey *s)
{
    free(s->configs);
    free(s->predicted);
    free(s->place);
    free(s->order);
    free(s->axes);
}

static int alloc(survey *s)
{
    size_t n_params;

    s->n_params = tri_space_n_params(s->p->study->space);
    n_params = (size_t)s->n_params + 1;
    s->configs = calloc(DRAWN * n_params, sizeof *s->configs);
    s->predicted = calloc(DRAWN, sizeof *s->predicted);
    s->place = calloc(DRAWN, sizeof *s->place);
    s->order = calloc(DRAWN, sizeof *s->order);
    s->axes = calloc(n_params, sizeof *s->axes);
    return s->configs && s->predicted && s->place && s->order && s->axes ? 0
                                                                         : -1;
}

static const tri_config *config_of(const survey *s, int i)
{
    return s->configs + (size_t)i * (size_t)s->n_params;
}

/* ---- the sample --------------------------------------------------------- */

static void draw(survey *s)
{
    const tri_space *space = s->p->study->space;
    int64_t count = tri_space_count(space);
    tri_rng rng = tri_rng_stream(0, 0, TRI_RNG_RANDOM);
    int all = count >= 0 && count <= DRAWN;
    int n = all ? (int)count : DRAWN;

    for (int i = 0; i < n; i++) {
        tri_config *c = s->configs + (size_t)s->n * (size_t)s->n_params;
        tri_status st = all ? tri_space_at(space, i, c)
                            : tri_space_sample(space, &rng, c);

        s->n += st == TRI_OK;
    }
    tri_error_clear();
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

static void sort_by(survey *s, const double *key)
{
    for (int i = 0; i < s->n; i++) {
        s->order[i] = i;
    }
    sort_key = key;
    qsort(s->order, (size_t)s->n, sizeof *s->order, by_key);
}

/* Places from -1/2 (worst) to 1/2 (best); equal ones share theirs. */
static void put_in_order(survey *s)
{
    int end;

    sort_by(s, s->predicted);
    for (int i = 0; i < s->n; i = end) {
        double v = s->predicted[s->order[i]];

        for (end = i + 1; end < s->n && s->predicted[s->order[end]] == v;) {
            end++;
        }
        for (int k = i; k < end; k++) {
            s->place[s->order[k]] = 0.5 - (i + end) / 2.0 / s->n;
        }
    }
}

static int predict(survey *s, const tri_encoding *e, const tri_model *model,
                   double resource)
{
    size_t width = (size_t)tri_encoding_width(e);
    double *x = calloc(BLOCK * width + 1, sizeof *x);

    for (int i = 0; x && i < s->n; i += BLOCK) {
        int m = s->n - i < BLOCK ? s->n - i : BLOCK;

        for (int k = 0; k < m; k++) {
            tri_encode(e, config_of(s, i + k), x + (size_t)k * width);
        }
        tri_predictor_trees.predict(model, x, m, resource, s->predicted + i,
                                    NULL);
    }
    free(x);
    put_in_order(s);
    return x ? 0 : -1;
}

/* ---- groups of values --------------------------------------------------- */

/* Inactive before all; words by their places. */
static double code_of(const tri_param *param, tri_value v)
{
    if (v.type == TRI_INACTIVE) {
        return -INFINITY;
    }
    if (v.type != TRI_WORD) {
        return tri_value_number(v);
    }
    for (int i = 0; i < param->domain.n_values; i++) {
        if (tri_value_equal(param->domain.values[i], v)) {
            return i;
        }
    }
    return 0;
}

static void print_end(const survey *s, const axis *a, int place, char *buf,
                      size_t bytes)
{
    tri_value v = config_of(s, s->order[place])[a->param->column];

    if (v.type == TRI_INACTIVE) {
        snprintf(buf, bytes, "inactive");
    } else if (v.type == TRI_REAL) {
        snprintf(buf, bytes, "%.2g", v.u.d);
    } else {
        tri_value_print(v, buf, bytes);
    }
}

static int is_word(const survey *s, const axis *a, int place)
{
    tri_value v = config_of(s, s->order[place])[a->param->column];

    return v.type == TRI_WORD;
}

/* Words have no order: a group of them is no range. */
static void label(const survey *s, axis *a, int from, int end, int distinct)
{
    char lo[30];
    char hi[30];

    print_end(s, a, from, lo, sizeof lo);
    print_end(s, a, end - 1, hi, sizeof hi);
    if (distinct == 1) {
        snprintf(a->label[a->n], sizeof a->label[a->n], "%s", lo);
    } else if (is_word(s, a, end - 1)) {
        snprintf(a->label[a->n], sizeof a->label[a->n], "%s, %d more", lo,
                 distinct - 1);
    } else {
        snprintf(a->label[a->n], sizeof a->label[a->n], "%s … %s", lo, hi);
    }
}

/* Equal values stay together; where there are more than GROUPS, neighbours
 * too. */
static void make_groups(survey *s, axis *a, double *code)
{
    int distinct = 1;
    int least, end, inside;

    for (int i = 0; i < s->n; i++) {
        code[i] = code_of(a->param, config_of(s, i)[a->param->column]);
    }
    sort_by(s, code);
    for (int i = 1; i < s->n; i++) {
        distinct += code[s->order[i]] != code[s->order[i - 1]];
    }
    least = distinct <= GROUPS ? 1 : (s->n + GROUPS - 1) / GROUPS;
    for (int i = 0; i < s->n && a->n < GROUPS; i = end) {
        end = i + 1;
        inside = 1;
        while (end < s->n && (end - i < least || a->n == GROUPS - 1 ||
                              code[s->order[end]] == code[s->order[end - 1]])) {
            inside += code[s->order[end]] != code[s->order[end - 1]];
            end++;
        }
        for (int k = i; k < end; k++) {
            a->group[s->order[k]] = (unsigned char)a->n;
        }
        label(s, a, i, end, inside);
        a->n++;
    }
}

/* ---- shares ------------------------------------------------------------- */

typedef struct cells {
    double sum[GROUPS * GROUPS];
    int n[GROUPS * GROUPS];
} cells;

/* Cells of a and b, or of a alone. */
static void fill(const survey *s, const axis *a, const axis *b,
                 const double *value, cells *c)
{
    memset(c, 0, sizeof *c);
    for (int i = 0; i < s->n; i++) {
        int k = a->group[i] * GROUPS + (b ? b->group[i] : 0);

        c->sum[k] += value[i];
        c->n[k]++;
    }
}

/* The part of the variance of places that cells account for, at least 0. */
static double share_of(const survey *s, const axis *a, const axis *b)
{
    double between = 0;
    double total = 0;
    int filled = 0;
    double within;
    cells c;

    fill(s, a, b, s->place, &c);
    for (int k = 0; k < GROUPS * GROUPS; k++) {
        if (c.n[k] > 0) {
            between += c.sum[k] * c.sum[k] / c.n[k];
            filled++;
        }
    }
    for (int i = 0; i < s->n; i++) {
        total += s->place[i] * s->place[i];
    }
    if (!(total > 0)) {
        return 0;
    }
    within = s->n > filled ? (total - between) / (s->n - filled) : 0;
    return fmax(0, (between - (filled - 1) * within) / (total + within));
}

static int by_share(const void *a, const void *b)
{
    const axis *x = a;
    const axis *y = b;

    return (x->share < y->share) - (x->share > y->share);
}

static int find_axes(survey *s)
{
    double *code = calloc(DRAWN, sizeof *code);

    for (int i = 0; code && i < s->n_params; i++) {
        axis *a = &s->axes[s->n_axes];

        memset(a, 0, sizeof *a);
        a->param = tri_space_param(s->p->study->space, i);
        if (a->param->domain.kind == TRI_DOMAIN_CONST) {
            continue;
        }
        make_groups(s, a, code);
        if (a->n > 1) {
            a->share = share_of(s, a, NULL);
            s->n_axes++;
        }
    }
    qsort(s->axes, (size_t)s->n_axes, sizeof *s->axes, by_share);
    free(code);
    return code ? 0 : -1;
}

/* ---- as JSON ------------------------------------------------------------ */

typedef struct pair {
    int a, b;
    double share;
} pair;

static int by_pair(const void *a, const void *b)
{
    const pair *x = a;
    const pair *y = b;

    return (x->share < y->share) - (x->share > y->share);
}

static json_t *labels(const axis *a)
{
    json_t *list = json_array();

    for (int i = 0; i < a->n; i++) {
        json_array_append_new(list, tri_report_string(a->label[i]));
    }
    return list;
}

/* Mean place of each cell, in per cent: 100 is where the best is. */
static json_t *means(const survey *s, const axis *a, const axis *b)
{
    json_t *rows = json_array();
    cells c;

    fill(s, a, b, s->place, &c);
    for (int i = 0; i < a->n; i++) {
        json_t *row = json_array();

        for (int k = 0; k < b->n; k++) {
            int at = i * GROUPS + k;

            json_array_append_new(
                    row, c.n[at] > 0
                                 ? json_real(100 * (0.5 + c.sum[at] / c.n[at]))
                                 : json_null());
        }
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *pair_json(const survey *s, const pair *p, int with_means)
{
    const axis *a = &s->axes[p->a];
    const axis *b = &s->axes[p->b];
    json_t *o = json_object();

    json_object_set_new(o, "a", tri_report_string(a->param->name));
    json_object_set_new(o, "b", tri_report_string(b->param->name));
    json_object_set_new(o, "share", tri_report_real(p->share));
    if (with_means) {
        json_object_set_new(o, "labels_a", labels(a));
        json_object_set_new(o, "labels_b", labels(b));
        json_object_set_new(o, "mean", means(s, a, b));
    }
    return o;
}

static json_t *pairs_json(const survey *s)
{
    pair list[PAIRED * PAIRED];
    json_t *array = json_array();
    int n = 0;

    for (int a = 0; a < s->n_axes && a < PAIRED; a++) {
        for (int b = a + 1; b < s->n_axes && b < PAIRED; b++) {
            double both = share_of(s, &s->axes[a], &s->axes[b]);

            list[n++] = (pair){
                    a, b, fmax(0, both - s->axes[a].share - s->axes[b].share)};
        }
    }
    qsort(list, (size_t)n, sizeof *list, by_pair);
    for (int i = 0; i < n; i++) {
        json_array_append_new(array, pair_json(s, &list[i], i < SHOWN));
    }
    return array;
}

static json_t *parameters_json(const survey *s)
{
    json_t *array = json_array();

    for (int i = 0; i < s->n_axes; i++) {
        json_t *o = json_object();

        json_object_set_new(o, "name",
                            tri_report_string(s->axes[i].param->name));
        json_object_set_new(o, "share", tri_report_real(s->axes[i].share));
        json_array_append_new(array, o);
    }
    return array;
}

json_t *tri_report_shares(const tri_report_part *p, const tri_encoding *e,
                          const tri_model *model, double resource)
{
    survey s = {.p = p};
    json_t *o = NULL;

    if (alloc(&s) == 0) {
        draw(&s);
        if (s.n > 1 && predict(&s, e, model, resource) == 0 &&
            find_axes(&s) == 0) {
            o = json_object();
            json_object_set_new(o, "drawn", json_integer(s.n));
            json_object_set_new(o, "parameters", parameters_json(&s));
            json_object_set_new(o, "pairs", pairs_json(&s));
        }
    }
    fini(&s);
    return o;
}
