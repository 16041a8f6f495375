/*
 * Domains: how many values, which one, and where one stands.
 */
#include "src/space/forest.h"

#include <math.h>

/* The smallest power of two that is at least x > 0. */
static int64_t power_from(int64_t x)
{
    int64_t p = 1;

    while (p < x && p <= INT64_MAX / 2) {
        p *= 2;
    }
    return p;
}

static int64_t count_powers(const tri_domain *d)
{
    int64_t p = power_from(d->lo), n = 0;

    while (p >= d->lo && p <= d->hi) {
        n++;
        if (p > INT64_MAX / 2) {
            break;
        }
        p *= 2;
    }
    return n;
}

int64_t tri_domain_count(const tri_domain *d)
{
    switch (d->kind) {
    case TRI_DOMAIN_FLOAT:
        return -1;
    case TRI_DOMAIN_INT:
        if (d->log2) {
            return count_powers(d);
        }
        return (int64_t)(((uint64_t)d->hi - (uint64_t)d->lo) /
                         (uint64_t)d->step) +
               1;
    default:
        return d->n_values;
    }
}

tri_value tri_domain_at(const tri_domain *d, int64_t i)
{
    tri_value v = {TRI_INT, {0}};

    if (d->values) {
        return d->values[i];
    }
    v.u.i = d->log2 ? power_from(d->lo) << i : d->lo + i * d->step;
    return v;
}

static int64_t search(const tri_domain *d, tri_value v)
{
    int i;

    for (i = 0; i < d->n_values; i++) {
        if (tri_value_equal(d->values[i], v)) {
            return i;
        }
    }
    return -1;
}

static int64_t int_index(const tri_domain *d, int64_t x)
{
    int64_t p;
    int64_t i;

    if (x < d->lo || x > d->hi) {
        return -1;
    }
    if (!d->log2) {
        uint64_t off = (uint64_t)x - (uint64_t)d->lo;
        return off % (uint64_t)d->step ? -1
                                       : (int64_t)(off / (uint64_t)d->step);
    }
    p = power_from(d->lo);
    for (i = 0; p < x && p <= INT64_MAX / 2; i++) {
        p *= 2;
    }
    return p == x ? i : -1;
}

int64_t tri_domain_index(const tri_domain *d, tri_value v)
{
    if (d->kind == TRI_DOMAIN_CHOICE || d->kind == TRI_DOMAIN_CONST) {
        return search(d, v);
    }
    if (d->kind == TRI_DOMAIN_FLOAT) {
        double x = v.type == TRI_INT ? (double)v.u.i : v.u.d;
        return (v.type == TRI_INT || v.type == TRI_REAL) && x >= d->flo &&
                               x <= d->fhi
                       ? 0
                       : -1;
    }
    if (v.type == TRI_REAL && v.u.d == floor(v.u.d) && fabs(v.u.d) < 9e18) {
        v.type = TRI_INT;
        v.u.i = (int64_t)v.u.d;
    }
    return v.type == TRI_INT ? int_index(d, v.u.i) : -1;
}
