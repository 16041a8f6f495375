/*
 * Configurations as rows of numbers.
 */
#include "trireme/predict.h"

#include "trireme/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Configurations that show the range of features and ranks. */
#define SAMPLE 256
/* A number with so few values may stand for names. */
#define LEVELS_LEAST 3
#define LEVELS_MOST  5
/* From this ratio of largest to smallest on distances are ratios. */
#define LOG_RATIO 4.0
/* With more logarithmic numbers than this pairs of them would be too many. */
#define PAIRED_MOST 8
/* Of a choice with more words only the first have columns of their own. */
#define WORDS_MOST 64
/* A list of at least so many numbers says by itself on which scale they are
 * spread; it is uneven on one where some value is so far from its place: where
 * half of the list may stand in a quarter of the range.  Of fewer numbers one
 * step is more than half of that, and being off by it says nothing. */
#define LISTED_LEAST 8
#define UNEVEN       0.25

typedef enum source {
    FROM_PARAM,
    FROM_FEATURE,
    FROM_RANKS
} source;

typedef struct column_set { /* what fills an axis */
    source from;
    int index;               /* of the parameter or feature */
    int log;                 /* number: of its logarithm */
    int counts;              /* number: an integer */
    double lo, hi;           /* number: after the logarithm */
    const tri_value *values; /* levels */
    int pair[2];             /* product: the two numbers' axes */
    double *places;          /* number: of its place among these, ascending; */
    int n_places;            /* owned; NULL: of its value */
} column_set;

struct tri_encoding {
    const tri_space *space;
    tri_axis *axes;
    column_set *sets;
    int n_axes, room;
    int width;
};

static tri_status add_axis(tri_encoding *e, const tri_axis *axis,
                           const column_set *set)
{
    if (e->n_axes == e->room) {
        int room = e->room ? 2 * e->room : 16;
        tri_axis *axes = realloc(e->axes, (size_t)room * sizeof *axes);
        column_set *sets;

        if (!axes) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for an encoding");
        }
        e->axes = axes;
        sets = realloc(e->sets, (size_t)room * sizeof *sets);
        if (!sets) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for an encoding");
        }
        e->sets = sets;
        e->room = room;
    }
    e->axes[e->n_axes] = *axis;
    e->axes[e->n_axes].first = e->width;
    e->sets[e->n_axes] = *set;
    e->width += axis->width;
    e->n_axes++;
    return TRI_OK;
}

static tri_status add_number(tri_encoding *e, const char *name, source from,
                             int index, double lo, double hi, int log)
{
    tri_axis axis = {.name = name, .kind = TRI_AXIS_NUMBER, .width = 1};
    column_set set = {.from = from, .index = index};

    if (!(hi > lo)) {
        return TRI_OK;
    }
    set.log = lo > 0 && (log || hi / lo >= LOG_RATIO);
    set.lo = set.log ? log2(lo) : lo;
    set.hi = set.log ? log2(hi) : hi;
    return add_axis(e, &axis, &set);
}

static tri_status add_levels(tri_encoding *e, const tri_param *p, int n)
{
    tri_axis axis = {.name = p->name,
                     .kind = TRI_AXIS_LEVELS,
                     .width = n < WORDS_MOST ? n : WORDS_MOST};
    column_set set = {
            .from = FROM_PARAM, .index = p->column, .values = p->domain.values};

    return add_axis(e, &axis, &set);
}

/* ---- parameters --------------------------------------------------------- */

/* The range of a domain of numbers; 0 where it has words or booleans. */
static int range_of(const tri_domain *d, double *lo, double *hi)
{
    if (d->kind == TRI_DOMAIN_FLOAT) {
        *lo = d->flo;
        *hi = d->fhi;
        return 1;
    }
    if (d->kind == TRI_DOMAIN_INT) {
        *lo = (double)d->lo;
        *hi = (double)d->hi;
        return 1;
    }
    *lo = INFINITY;
    *hi = -INFINITY;
    for (int i = 0; d->values && i < d->n_values; i++) {
        if (!tri_value_is_number(d->values[i])) {
            return 0;
        }
        *lo = fmin(*lo, tri_value_number(d->values[i]));
        *hi = fmax(*hi, tri_value_number(d->values[i]));
    }
    return d->values && d->n_values > 0;
}

/* ---- scales ------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const double *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

/* The distinct numbers of a list, ascending.  [out] owned; NULL without
 * memory. */
static double *sorted_numbers(const tri_domain *d, int *n)
{
    double *v = malloc(((size_t)d->n_values + 1) * sizeof *v);

    *n = 0;
    if (!v) {
        return NULL;
    }
    for (int i = 0; i < d->n_values; i++) {
        v[i] = tri_value_number(d->values[i]);
    }
    qsort(v, (size_t)d->n_values, sizeof *v, by_number);
    for (int i = 0; i < d->n_values; i++) {
        if (*n == 0 || v[i] > v[*n - 1]) {
            v[(*n)++] = v[i];
        }
    }
    return v;
}

/* How far a value is from its place, at most, on [0, 1]. */
static double unevenness(const double *v, int n, int log)
{
    double lo = log ? log2(v[0]) : v[0];
    double hi = log ? log2(v[n - 1]) : v[n - 1];
    double most = 0;

    for (int i = 0; i < n; i++) {
        double at = ((log ? log2(v[i]) : v[i]) - lo) / (hi - lo);

        most = fmax(most, fabs(at - (double)i / (n - 1)));
    }
    return most;
}

static int is_real_list(const tri_domain *d)
{
    for (int i = 0; i < d->n_values; i++) {
        if (d->values[i].type == TRI_REAL) {
            return 1;
        }
    }
    return 0;
}

/* Whoever lists numbers spreads them as they are thought to matter: 0.9, 0.99,
 * 0.999 are neither evenly spread nor by ratios.  A list that is uneven both
 * ways counts by places; real numbers by their value rather than by ratios
 * where that is the more even.  The axis is the last. */
static tri_status set_scale(tri_encoding *e, const tri_domain *d)
{
    column_set *set = e->n_axes > 0 ? e->sets + e->n_axes - 1 : NULL;
    double *v;
    double plain, ratios;
    int n;

    if (!set) {
        return TRI_OK;
    }
    set->counts = d->kind == TRI_DOMAIN_INT || (d->values && !is_real_list(d));
    if (!d->values || d->n_values < LISTED_LEAST || d->log || d->log2) {
        return TRI_OK;
    }
    v = sorted_numbers(d, &n);
    if (!v) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for an encoding");
    }
    plain = unevenness(v, n, 0);
    ratios = v[0] > 0 ? unevenness(v, n, 1) : INFINITY;
    if (n >= LISTED_LEAST && fmin(plain, ratios) > UNEVEN) {
        set->log = 0;
        set->lo = 0;
        set->hi = n - 1;
        set->places = v;
        set->n_places = n;
        return TRI_OK;
    }
    if (set->log && plain < ratios && is_real_list(d)) {
        set->log = 0;
        set->lo = v[0];
        set->hi = v[n - 1];
    }
    free(v);
    return TRI_OK;
}

/* The place of a number in a list: a part of the way between two of them. */
static double place_of(const column_set *set, double v)
{
    int lo = 0;
    int hi = set->n_places - 1;

    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;

        *(v < set->places[mid] ? &hi : &lo) = mid;
    }
    return lo + (v - set->places[lo]) / (set->places[hi] - set->places[lo]);
}

static tri_status add_param(tri_encoding *e, const tri_param *p)
{
    const tri_domain *d = &p->domain;
    tri_axis active = {.name = p->name, .kind = TRI_AXIS_ACTIVE, .width = 1};
    column_set set = {.from = FROM_PARAM, .index = p->column};
    double lo, hi;

    if (p->when) {
        TRI_TRY(add_axis(e, &active, &set));
    }
    if (d->kind == TRI_DOMAIN_CONST || (d->values && d->n_values < 2)) {
        return TRI_OK;
    }
    if (!range_of(d, &lo, &hi)) {
        return add_levels(e, p, d->n_values);
    }
    if (hi > lo) {
        TRI_TRY(add_number(e, p->name, FROM_PARAM, p->column, lo, hi,
                           d->log || d->log2));
        TRI_TRY(set_scale(e, d));
    }
    if (d->values && d->n_values >= LEVELS_LEAST &&
        d->n_values <= LEVELS_MOST) {
        return add_levels(e, p, d->n_values);
    }
    return TRI_OK;
}

/* ---- features and ranks ------------------------------------------------- */

static double derived(const tri_encoding *e, const tri_config *c, source from,
                      int index)
{
    double value;
    int ranks;

    if (from == FROM_RANKS) {
        return tri_space_ranks(e->space, c, &ranks) == TRI_OK ? (double)ranks
                                                              : NAN;
    }
    return tri_space_feature(e->space, c, index, &value) == TRI_OK ? value
                                                                   : NAN;
}

/* The range that something derived has over a sample of the space. */
static tri_status add_derived(tri_encoding *e, const char *name, source from,
                              int index)
{
    int n = tri_space_n_params(e->space);
    tri_config *c = calloc((size_t)n + 1, sizeof *c);
    tri_rng rng = tri_rng_stream(0, (uint64_t)index, TRI_RNG_EXPLORE);
    double lo = INFINITY;
    double hi = -INFINITY;

    if (!c) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for an encoding");
    }
    for (int i = 0; i < SAMPLE; i++) {
        double v;

        if (tri_space_sample(e->space, &rng, c) != TRI_OK) {
            break;
        }
        v = derived(e, c, from, index);
        if (isfinite(v)) {
            lo = fmin(lo, v);
            hi = fmax(hi, v);
        }
    }
    free(c);
    tri_error_clear();
    return hi > lo ? add_number(e, name, from, index, lo, hi, 0) : TRI_OK;
}

/* ---- products ----------------------------------------------------------- */

/* Sizes multiply (threads are block width times height); of settings that are
 * real numbers, such as a learning rate and a decay, nothing says so, and an
 * axis for every pair is learned at the cost of the others. */
static int is_paired(const tri_encoding *e, int i)
{
    return e->axes[i].kind == TRI_AXIS_NUMBER && e->sets[i].log &&
           e->sets[i].counts;
}

static tri_status add_product(tri_encoding *e, int i, int j)
{
    tri_axis axis = {.name = e->axes[i].name,
                     .with = e->axes[j].name,
                     .kind = TRI_AXIS_PRODUCT,
                     .width = 1};
    column_set set = {.from = FROM_PARAM, .pair = {i, j}};

    set.lo = e->sets[i].lo + e->sets[j].lo;
    set.hi = e->sets[i].hi + e->sets[j].hi;
    return add_axis(e, &axis, &set);
}

static tri_status add_products(tri_encoding *e)
{
    int n = e->n_axes;
    int paired = 0;

    for (int i = 0; i < n; i++) {
        paired += is_paired(e, i);
    }
    for (int i = 0; i < n && paired <= PAIRED_MOST; i++) {
        for (int j = i + 1; j < n && is_paired(e, i); j++) {
            if (is_paired(e, j)) {
                TRI_TRY(add_product(e, i, j));
            }
        }
    }
    return TRI_OK;
}

static tri_status add_all(tri_encoding *e)
{
    const tri_space *s = e->space;

    for (int i = 0; i < tri_space_n_params(s); i++) {
        TRI_TRY(add_param(e, tri_space_param(s, i)));
    }
    TRI_TRY(add_products(e));
    for (int i = 0; i < tri_space_n_features(s); i++) {
        TRI_TRY(add_derived(e, tri_space_feature_name(s, i), FROM_FEATURE, i));
    }
    return add_derived(e, "ranks", FROM_RANKS, 0);
}

tri_status tri_encoding_create(const tri_space *space, tri_encoding **out)
{
    tri_encoding *e = calloc(1, sizeof *e);
    tri_status st;

    if (!e) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for an encoding");
    }
    e->space = space;
    st = add_all(e);
    if (st != TRI_OK) {
        tri_encoding_destroy(e);
        return st;
    }
    *out = e;
    return TRI_OK;
}

void tri_encoding_destroy(tri_encoding *e)
{
    if (e) {
        for (int i = 0; i < e->n_axes; i++) {
            free(e->sets[i].places);
        }
        free(e->axes);
        free(e->sets);
        free(e);
    }
}

int tri_encoding_width(const tri_encoding *e)
{
    return e->width;
}

int tri_encoding_n_axes(const tri_encoding *e)
{
    return e->n_axes;
}

const tri_axis *tri_encoding_axis(const tri_encoding *e, int i)
{
    return &e->axes[i];
}

/* ---- use ----------------------------------------------------------------- */

static double encode_number(const tri_encoding *e, const column_set *set,
                            const tri_config *c)
{
    double v = NAN;

    if (set->from != FROM_PARAM) {
        v = derived(e, c, set->from, set->index);
    } else if (tri_value_is_number(c[set->index])) {
        v = tri_value_number(c[set->index]);
    }
    if (set->places) {
        v = place_of(set, v);
    } else if (set->log) {
        v = v > 0 ? log2(v) : NAN;
    }
    v = (v - set->lo) / (set->hi - set->lo);
    return isfinite(v) ? fmin(fmax(v, -1.0), 2.0) : 0.5;
}

/* The sum of two logarithms that are in x by now. */
static double encode_product(const tri_encoding *e, const column_set *set,
                             const double *x)
{
    double sum = 0;

    for (int k = 0; k < 2; k++) {
        const column_set *of = &e->sets[set->pair[k]];

        sum += x[e->axes[set->pair[k]].first] * (of->hi - of->lo);
    }
    return sum / (set->hi - set->lo);
}

void tri_encode(const tri_encoding *e, const tri_config *c, double *x)
{
    for (int i = 0; i < e->n_axes; i++) {
        const tri_axis *axis = &e->axes[i];
        const column_set *set = &e->sets[i];

        switch (axis->kind) {
        case TRI_AXIS_NUMBER:
            x[axis->first] = encode_number(e, set, c);
            break;
        case TRI_AXIS_PRODUCT:
            x[axis->first] = encode_product(e, set, x);
            break;
        case TRI_AXIS_ACTIVE:
            x[axis->first] = c[set->index].type != TRI_INACTIVE;
            break;
        case TRI_AXIS_LEVELS:
            for (int k = 0; k < axis->width; k++) {
                x[axis->first + k] =
                        tri_value_equal(c[set->index], set->values[k])
                                ? sqrt(0.5)
                                : 0;
            }
            break;
        }
    }
}
