/*
 * The forms of synthetic curves.  Every parameter is an axis on [0, 1]: the
 * position of its value in its domain, logarithmic where the domain is, in an
 * order drawn by the seed for words.  `delta` is the signed distance from the
 * best configuration along an axis.  A parameter's draws are keyed by its name,
 * a configuration's by its hash, so that ranges and other parameters may change
 * without moving them.
 */
#include "src/sim/synthetic.h"

#include "trireme/num.h"
#include "trireme/rng.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest rise of a bowl is about this. */
#define SPAN 3.0
/* A mean curve starts this far above its end. */
#define AMPLITUDE 2.0
/* Where on [0, 1] of resource the fall slows down. */
#define KNEE 0.01
/* Distance along an axis that is active here and not in the best, or the
 * other way round. */
#define SWITCHED        0.5
#define UNBOUNDED_SCALE 256
#define N_BASES         16

typedef struct axis {
    const tri_domain *domain;
    int constant; /* no axis at all */
    int still;    /* a single value */
    int logarithmic;
    int *order;    /* choice: the place of each value; owned */
    double lo, hi; /* numbers: the ends, on the axis' own scale */
    double weight, coupling, slope;
    double centre; /* of the best configuration; NaN where inactive */
} axis;

/* delta: here and on the axis before, 0 on the first */
typedef double (*rise_fn)(const axis *a, int first, double delta,
                          double before);
/* the exponent of a fall: `rise` of the configuration, two draws */
typedef double (*rate_fn)(double rise, double u);

typedef struct form {
    const char *name;
    rise_fn rise;
    rate_fn rate; /* NULL: no learning, the same at every resource */
} form;

struct tri_synthetic {
    const tri_space *space;
    const form *form;
    uint64_t seed;
    double scale; /* resource to [0, 1] */
    /* bases of decay at the end, and at min times the powers of two */
    tri_power_base end, bases[N_BASES];
    int n_bases;
    int64_t min;
    int bounded;
    double floor;
    axis *axes;
    int n_axes;
    tri_config *best;
};

/* ---- the forms ------------------------------------------------------- */

/* A quadratic form that is positive definite while |coupling| < 1/2. */
static double bowl_rise(const axis *a, int first, double delta, double before)
{
    (void)first;
    return a->weight * (delta * delta + 2 * a->coupling * delta * before);
}

/* A narrow valley along which all axes move together. */
static double ridge_rise(const axis *a, int first, double delta, double before)
{
    double off = delta - a->slope * before;

    return a->weight * (0.05 * delta * delta + (first ? 0 : off * off));
}

static double mixed_rate(double rise, double u)
{
    (void)rise;
    return 0.8 + 0.6 * u;
}

/* The good ones start slowly. */
static double crossing_rate(double rise, double u)
{
    double badness = rise / (0.3 * SPAN);

    return 0.3 + 1.4 * (badness < 1 ? badness : 1) + 0.2 * u;
}

static const form forms[] = {{"bowl", bowl_rise, mixed_rate},
                             {"ridge", ridge_rise, mixed_rate},
                             {"crossing", bowl_rise, crossing_rate},
                             {"flat", bowl_rise, NULL}};

#define N_FORMS (sizeof forms / sizeof forms[0])

static const form *find_form(const char *name)
{
    for (size_t i = 0; i < N_FORMS; i++) {
        if (strcmp(forms[i].name, name) == 0) {
            return &forms[i];
        }
    }
    return NULL;
}

/* ---- axes ------------------------------------------------------------ */

static double on_scale(const axis *a, double x)
{
    return a->logarithmic && x > 0 ? tri_log(x) : x;
}

static int all_numbers(const tri_domain *d)
{
    for (int i = 0; i < d->n_values; i++) {
        if (!tri_value_is_number(d->values[i])) {
            return 0;
        }
    }
    return 1;
}

static int choice_index(const tri_domain *d, tri_value v)
{
    for (int i = 0; i < d->n_values; i++) {
        if (tri_value_equal(d->values[i], v)) {
            return i;
        }
    }
    return 0;
}

static double position(const axis *a, tri_value v)
{
    double x;

    if (a->still) {
        return 0;
    }
    if (a->order != NULL) {
        int place = a->order[choice_index(a->domain, v)];

        return (double)place / (a->domain->n_values - 1);
    }
    x = (on_scale(a, tri_value_number(v)) - a->lo) / (a->hi - a->lo);
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* Places of a choice's values: as declared where all are numbers, else
 * shuffled (Fisher and Yates). */
static tri_status order_choice(axis *a, tri_rng *rng)
{
    int n = a->domain->n_values;

    a->order = malloc((size_t)n * sizeof *a->order);
    if (a->order == NULL) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a choice of %d values", n);
    }
    for (int i = 0; i < n; i++) {
        a->order[i] = i;
    }
    for (int i = n - 1; i > 0 && !all_numbers(a->domain); i--) {
        int j = (int)tri_rng_below(rng, (uint64_t)i + 1);
        int kept = a->order[i];

        a->order[i] = a->order[j];
        a->order[j] = kept;
    }
    return TRI_OK;
}

static void set_ends(axis *a)
{
    const tri_domain *d = a->domain;
    double lo = d->kind == TRI_DOMAIN_FLOAT ? d->flo : (double)d->lo;
    double hi = d->kind == TRI_DOMAIN_FLOAT ? d->fhi : (double)d->hi;

    a->logarithmic = (d->log || d->log2) && lo > 0;
    a->lo = on_scale(a, lo);
    a->hi = on_scale(a, hi);
    a->still = !(a->hi > a->lo);
}

static tri_status init_axis(axis *a, const tri_param *p, uint64_t seed)
{
    uint64_t key = tri_rng_hash(p->name, strlen(p->name));
    tri_rng rng = tri_rng_stream(seed, key, TRI_RNG_CURVE);

    a->domain = &p->domain;
    a->weight = tri_exp((tri_rng_unit(&rng) - 1) * 1.6); /* 0.2 to 1 */
    a->coupling = 0.9 * (tri_rng_unit(&rng) - 0.5);
    a->slope = 0.5 + 0.5 * tri_rng_unit(&rng);
    if (tri_rng_unit(&rng) < 0.5) {
        a->slope = -a->slope;
    }
    switch (p->domain.kind) {
    case TRI_DOMAIN_CHOICE:
        a->still = p->domain.n_values < 2;
        return a->still ? TRI_OK : order_choice(a, &rng);
    case TRI_DOMAIN_INT:
    case TRI_DOMAIN_FLOAT:
        set_ends(a);
        return TRI_OK;
    case TRI_DOMAIN_CONST:
        a->constant = a->still = 1;
    }
    return TRI_OK;
}

/* Weights sum to SPAN; a coupling joins an axis to the one before it and takes
 * the geometric mean of their weights. */
static void scale_weights(tri_synthetic *s)
{
    double sum = 0;
    double before = 0;

    for (int i = 0; i < s->n_axes; i++) {
        sum += s->axes[i].constant ? 0 : s->axes[i].weight;
    }
    for (int i = 0; i < s->n_axes; i++) {
        axis *a = &s->axes[i];

        if (!a->constant) {
            a->weight *= SPAN / sum;
            a->coupling *= sqrt(before / a->weight);
            before = a->weight;
        }
    }
}

static tri_status make_axes(tri_synthetic *s)
{
    for (int i = 0; i < s->n_axes; i++) {
        TRI_TRY(init_axis(&s->axes[i], tri_space_param(s->space, i), s->seed));
    }
    scale_weights(s);
    return TRI_OK;
}

static void set_centres(tri_synthetic *s)
{
    for (int i = 0; i < s->n_axes; i++) {
        axis *a = &s->axes[i];
        int active = s->best[i].type != TRI_INACTIVE;

        a->centre = active ? position(a, s->best[i]) : NAN;
    }
}

/* ---- values ---------------------------------------------------------- */

static double delta_of(const axis *a, tri_value v)
{
    int here = v.type != TRI_INACTIVE;
    int there = !isnan(a->centre);

    if (here != there) {
        return SWITCHED;
    }
    return here ? position(a, v) - a->centre : 0;
}

static double rise_of(const tri_synthetic *s, const tri_config *c)
{
    double before = 0;
    double sum = 0;
    int first = 1;

    for (int i = 0; i < s->n_axes; i++) {
        const axis *a = &s->axes[i];
        double delta;

        if (a->constant) {
            continue;
        }
        delta = delta_of(a, c[i]);
        sum += s->form->rise(a, first, delta, before);
        before = delta;
        first = 0;
    }
    return sum > 0 ? sum : 0;
}

static double base_at(const tri_synthetic *s, int64_t resource)
{
    return (double)resource * s->scale / KNEE + 1;
}

/* Of the resources that most ladders consist of it is known. */
static tri_power_base base_of(const tri_synthetic *s, int64_t resource)
{
    for (int i = 0; i < s->n_bases; i++) {
        if (s->min << i == resource) {
            return s->bases[i];
        }
    }
    return tri_power_base_of(base_at(s, resource));
}

/* From 1 at no resource to 0 at all of it, steep at first. */
static double decay(const tri_synthetic *s, int64_t resource, double rate)
{
    double t = (double)resource * s->scale;
    tri_power_base base;
    double end;

    if (s->bounded && t >= 1) {
        return 0;
    }
    base = base_of(s, resource);
    end = s->bounded ? tri_power(&s->end, -rate) : 0;
    return (tri_power(&base, -rate) - end) / (1 - end);
}

double tri_synthetic_loss(const tri_synthetic *s, const tri_config *c,
                          int64_t resource)
{
    return tri_synthetic_loss_hash(s, c, tri_space_hash(s->space, c), resource);
}

double tri_synthetic_loss_hash(const tri_synthetic *s, const tri_config *c,
                               uint64_t hash, int64_t resource)
{
    double rise = rise_of(s, c);
    tri_rng rng;
    double amplitude, rate;

    if (s->form->rate == NULL) {
        return s->floor + rise;
    }
    rng = tri_rng_stream(s->seed, hash, TRI_RNG_CURVE);
    amplitude = AMPLITUDE * (0.6 + 0.8 * tri_rng_unit(&rng));
    rate = s->form->rate(rise, tri_rng_unit(&rng));
    return s->floor + rise + amplitude * decay(s, resource, rate);
}

double tri_synthetic_floor(const tri_synthetic *s)
{
    return s->floor;
}

const tri_config *tri_synthetic_best(const tri_synthetic *s)
{
    return s->best;
}

/* ---- life ------------------------------------------------------------ */

static tri_status draw_best(tri_synthetic *s)
{
    tri_rng rng = tri_rng_stream(s->seed, 0, TRI_RNG_CURVE);

    s->floor = 0.5 + tri_rng_unit(&rng);
    TRI_TRY(tri_space_sample(s->space, &rng, s->best));
    set_centres(s);
    return TRI_OK;
}

tri_status tri_synthetic_create(const tri_space *space, const char *name,
                                uint64_t seed, int64_t min, int64_t max,
                                tri_synthetic **out)
{
    size_t n = (size_t)tri_space_n_params(space);
    tri_synthetic *s;
    tri_status st;

    if (find_form(name) == NULL) {
        return TRI_FAIL(TRI_EUNKNOWN,
                        "unknown curve '%s': expected bowl, ridge, crossing or "
                        "flat",
                        name);
    }
    s = calloc(1, sizeof *s);
    if (s == NULL) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a synthetic curve");
    }
    s->space = space;
    s->form = find_form(name);
    s->seed = seed;
    s->bounded = max > 0;
    s->scale = 1 / (double)(max > 0 ? max : min * UNBOUNDED_SCALE);
    s->min = min;
    s->end = tri_power_base_of(1 / KNEE + 1);
    while (s->n_bases < N_BASES && min <= INT64_MAX >> s->n_bases) {
        s->bases[s->n_bases] = tri_power_base_of(base_at(s, min << s->n_bases));
        s->n_bases++;
    }
    s->n_axes = (int)n;
    s->axes = calloc(n + 1, sizeof *s->axes);
    s->best = calloc(n + 1, sizeof *s->best);
    if (s->axes == NULL || s->best == NULL) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for %zu axes", n);
        goto destroy;
    }
    TRI_TRY_GOTO(st, make_axes(s), destroy);
    TRI_TRY_GOTO(st, draw_best(s), destroy);
    *out = s;
    return TRI_OK;
destroy:
    tri_synthetic_destroy(s);
    return st;
}

void tri_synthetic_destroy(tri_synthetic *s)
{
    if (s == NULL) {
        return;
    }
    for (int i = 0; s->axes != NULL && i < s->n_axes; i++) {
        free(s->axes[i].order);
    }
    free(s->axes);
    free(s->best);
    free(s);
}
