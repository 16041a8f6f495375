/*
 * Valid neighbours of a configuration, by evaluation: single changes first,
 * then pairs that a constraint joins.
 */
#include "src/space/space_priv.h"

#include <stdlib.h>
#include <string.h>

#define NEAR       64     /* values to each side of a wide integer range */
#define PAIR_TRIES 200000 /* pairs looked at for one configuration */

typedef struct hood {
    const tri_space *s;
    const tri_config *from;
    tri_config *out, *work;
    int n, max;
    int64_t tries;
} hood;

/* Continuous parameters step by these shares of their range. */
static const double shares[] = {0.005, 0.02, 0.08, 0.3};
#define N_SHARES ((int)(sizeof shares / sizeof *shares))

static tri_value step_float(const tri_domain *d, double from, int k)
{
    tri_value v = {TRI_REAL, {0}};
    double share = shares[k / 2] * (k % 2 ? 1 : -1);

    if (d->log) { /* a factor of the range's ratio, without logarithms */
        v.u.d = from * (share > 0 ? 1 + share * 4 : 1 / (1 - share * 4));
    } else {
        v.u.d = from + share * (d->fhi - d->flo);
    }
    v.u.d = v.u.d < d->flo ? d->flo : v.u.d > d->fhi ? d->fhi : v.u.d;
    return v;
}

/* How many other values of parameter p are looked at, and which. */
static int64_t n_others(const tri_space *s, int p)
{
    int64_t n = s->n_values[p];

    return n < 0 ? 2 * N_SHARES : n > TRI_SPACE_LISTED ? 2 * NEAR + 1 : n;
}

static tri_value other(const hood *h, int p, int64_t k)
{
    const tri_domain *d = &h->s->params[p].domain;
    int64_t n = h->s->n_values[p], at;

    if (n < 0) {
        return step_float(d, h->from[p].u.d, (int)k);
    }
    if (n > TRI_SPACE_LISTED) {
        at = tri_domain_index(d, h->from[p]) + k - NEAR;
        k = at < 0 ? 0 : at >= n ? n - 1 : at;
    }
    return tri_domain_at(d, k);
}

static void take(hood *h)
{
    const tri_space *s = h->s;
    size_t n = (size_t)s->n_params;

    if (h->n < h->max && tri_space_valid(s, h->work, NULL) &&
        !tri_space_equal(s, h->work, h->from)) {
        memcpy(h->out + (size_t)h->n * n, h->work, n * sizeof *h->work);
        h->n++;
    }
}

/* Parameters from place `at` of the order of `when`s on: those that the change
 * made active, and that have no value yet, take every value. */
static void activate(hood *h, int at)
{
    const tri_space *s = h->s;
    tri_value v, before;
    int64_t k;
    int p = 0;

    for (; at < s->n_params; at++) {
        p = s->when_order[at];
        if (!s->whens[p]) {
            continue;
        }
        if (tri_space_eval(s, s->whens[p], h->work, &v) != TRI_OK) {
            return;
        }
        if (!v.u.i) {
            h->work[p].type = TRI_INACTIVE;
            h->work[p].u.i = 0;
        } else if (h->work[p].type == TRI_INACTIVE) {
            break;
        }
    }
    if (at == s->n_params) {
        take(h);
        return;
    }
    before = h->work[p];
    for (k = 0; k < n_others(s, p) && h->n < h->max; k++) {
        if (++h->tries > PAIR_TRIES) {
            break;
        }
        h->work[p] = s->n_values[p] < 0
                             ? step_float(&s->params[p].domain,
                                          s->params[p].domain.flo, (int)k)
                             : tri_domain_at(&s->params[p].domain, k);
        activate(h, at + 1);
    }
    h->work[p] = before;
}

static void reset(hood *h)
{
    memcpy(h->work, h->from, (size_t)h->s->n_params * sizeof *h->work);
}

static int may_change(const hood *h, int p)
{
    return tri_space_varies(h->s, p) && h->from[p].type != TRI_INACTIVE;
}

/* All single changes of p. */
static void change_one(hood *h, int p)
{
    int64_t k;

    for (k = 0; k < n_others(h->s, p) && h->n < h->max; k++) {
        tri_value v = other(h, p, k);
        if (!tri_value_equal(v, h->from[p])) {
            reset(h);
            h->work[p] = v;
            activate(h, 0);
        }
    }
}

static void change_two(hood *h, int p, int q)
{
    int64_t k, j;

    for (k = 0; k < n_others(h->s, p); k++) {
        tri_value v = other(h, p, k);
        if (tri_value_equal(v, h->from[p])) {
            continue;
        }
        for (j = 0; j < n_others(h->s, q) && h->n < h->max; j++) {
            tri_value w = other(h, q, j);
            if (tri_value_equal(w, h->from[q])) {
                continue;
            }
            if (++h->tries > PAIR_TRIES) {
                return;
            }
            reset(h);
            h->work[p] = v;
            h->work[q] = w;
            activate(h, 0);
        }
    }
}

/* Whether a constraint joins p and q. */
static int joined(const tri_space *s, int p, int q)
{
    int i;

    if (s->has_rows) {
        return 1;
    }
    for (i = 0; i < s->n_rules; i++) {
        if (tri_expr_uses(s->rules[i].expr, p) &&
            tri_expr_uses(s->rules[i].expr, q)) {
            return 1;
        }
    }
    return 0;
}

static void change_pairs(hood *h, const unsigned char *stuck)
{
    int p, q;

    for (p = 0; p < h->s->n_params; p++) {
        for (q = 0; q < h->s->n_params && stuck[p]; q++) {
            /* A pair of two stuck parameters is looked at once. */
            if (q != p && may_change(h, q) && !(stuck[q] && q < p) &&
                joined(h->s, p, q)) {
                change_two(h, p, q);
            }
        }
    }
}

int tri_space_neighbours(const tri_space *s, const tri_config *c,
                         tri_config *out, int max)
{
    hood h = {s, c, out, NULL, 0, max, 0};
    unsigned char *stuck = calloc((size_t)s->n_params + 1, 1);
    int p, before;

    h.work = malloc(((size_t)s->n_params + 1) * sizeof *h.work);
    if (h.work && stuck) {
        for (p = 0; p < s->n_params; p++) {
            before = h.n;
            if (may_change(&h, p)) {
                change_one(&h, p);
                stuck[p] = h.n == before;
            }
        }
        h.tries = 0;
        change_pairs(&h, stuck);
    }
    free(h.work);
    free(stuck);
    tri_error_clear();
    return h.n;
}
