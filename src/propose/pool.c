/*
 * The valid configurations that a proposal is chosen from.
 */
#include "src/propose/think_internal.h"

#include <stdlib.h>
#include <string.h>

#define NEAR_MOST 64 /* neighbours of one configuration */

void tri_pool_fini(tri_pool *p)
{
    free(p->x);
    free(p->hash);
    free(p->ranks);
    free(p->taken);
    free(p->configs);
    memset(p, 0, sizeof *p);
}

static int grow(void **array, size_t bytes)
{
    void *grown = realloc(*array, bytes + 1);

    if (grown) {
        *array = grown;
    }
    return grown != NULL;
}

static tri_status reserve(tri_pool *p, int64_t n)
{
    size_t rows = (size_t)n;

    if (n <= p->room) {
        return TRI_OK;
    }
    if (!grow((void **)&p->x, rows * (size_t)p->width * sizeof *p->x) ||
        !grow((void **)&p->hash, rows * sizeof *p->hash) ||
        !grow((void **)&p->ranks, rows * sizeof *p->ranks) ||
        !grow((void **)&p->taken, rows) ||
        (!p->is_all &&
         !grow((void **)&p->configs,
               rows * (size_t)p->n_params * sizeof *p->configs))) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %lld candidates",
                        (long long)n);
    }
    p->room = n;
    return TRI_OK;
}

/* Append c; `x`: scratch of width doubles. */
static tri_status put(tri_pool *p, const tri_config *c, double *x)
{
    size_t at = (size_t)p->n;
    int ranks = 0;

    tri_encode(p->encoding, c, x);
    for (int k = 0; k < p->width; k++) {
        p->x[at * (size_t)p->width + (size_t)k] = (float)x[k];
    }
    TRI_TRY(tri_space_ranks(p->space, c, &ranks));
    p->hash[at] = tri_space_hash(p->space, c);
    p->ranks[at] = ranks;
    p->taken[at] = 0;
    if (!p->is_all) {
        memcpy(p->configs + at * (size_t)p->n_params, c,
               (size_t)p->n_params * sizeof *c);
    }
    p->n++;
    return TRI_OK;
}

static tri_status fill(tri_pool *p, int64_t count, const tri_cancel *cancel)
{
    tri_config *c = calloc((size_t)p->n_params + 1, sizeof *c);
    double *x = calloc((size_t)p->width + 1, sizeof *x);
    tri_status st = c && x ? reserve(p, count)
                           : TRI_FAIL(TRI_ENOMEM, "no memory for candidates");

    for (int64_t i = 0; st == TRI_OK && i < count && !tri_is_cancelled(cancel);
         i++) {
        st = tri_space_at(p->space, i, c);
        if (st == TRI_OK) {
            st = put(p, c, x);
        }
    }
    free(c);
    free(x);
    return st;
}

tri_status tri_pool_init(tri_pool *p, const tri_space *space,
                         const tri_encoding *e, const tri_cancel *cancel)
{
    int64_t count = tri_space_count(space);

    memset(p, 0, sizeof *p);
    p->space = space;
    p->encoding = e;
    p->n_params = tri_space_n_params(space);
    p->width = tri_encoding_width(e);
    p->is_all = count >= 0 && count <= TRI_POOL_ALL;
    return p->is_all ? fill(p, count, cancel) : TRI_OK;
}

/* ---- what is taken ------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
    const uint64_t *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

static int is_among(uint64_t hash, const uint64_t *sorted, int64_t n)
{
    return n > 0 &&
           bsearch(&hash, sorted, (size_t)n, sizeof *sorted, by_number) != NULL;
}

/* Sorted hashes of what was tried.  [out] owned; NULL without memory. */
static uint64_t *sorted_tried(const tri_snapshot *s)
{
    uint64_t *sorted = malloc(((size_t)s->n_tried + 1) * sizeof *sorted);

    if (sorted && s->n_tried > 0) {
        memcpy(sorted, s->tried, (size_t)s->n_tried * sizeof *sorted);
        qsort(sorted, (size_t)s->n_tried, sizeof *sorted, by_number);
    }
    return sorted;
}

/* Hashes of what was tried, as far as some of their bits go: most of very many
 * candidates are done with by one look. */
#define SIEVE_BITS 16

static void sift(const uint64_t *tried, int64_t n, unsigned char *sieve)
{
    for (int64_t i = 0; i < n; i++) {
        sieve[tried[i] >> (64 - SIEVE_BITS)] = 1;
    }
}

static tri_status mark(tri_pool *p, const tri_snapshot *s,
                       const uint64_t *tried)
{
    unsigned char *sieve = calloc((size_t)1 << SIEVE_BITS, 1);

    if (!sieve) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for candidates");
    }
    sift(tried, s->n_tried, sieve);
    for (int64_t i = 0; i < p->n; i++) {
        p->taken[i] = p->ranks[i] > s->max_ranks ||
                      (sieve[p->hash[i] >> (64 - SIEVE_BITS)] &&
                       is_among(p->hash[i], tried, s->n_tried));
    }
    free(sieve);
    return TRI_OK;
}

/* The same configuration twice: the later ones are taken. */
static tri_status mark_doubles(tri_pool *p)
{
    size_t room = 16;
    int64_t *first; /* candidates by their hash; -1: none */

    while (room < 2 * (size_t)p->n) {
        room *= 2;
    }
    first = malloc(room * sizeof *first);
    if (!first) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for candidates");
    }
    memset(first, 0xff, room * sizeof *first);
    for (int64_t i = 0; i < p->n; i++) {
        size_t at = (size_t)p->hash[i] & (room - 1);

        while (first[at] >= 0 && p->hash[first[at]] != p->hash[i]) {
            at = (at + 1) & (room - 1);
        }
        if (first[at] >= 0) {
            p->taken[i] = 1;
        } else {
            first[at] = i;
        }
    }
    free(first);
    return TRI_OK;
}

/* ---- drawing ------------------------------------------------------------ */

static tri_status draw(tri_pool *p, tri_rng *rng, tri_config *scratch,
                       double *x, const tri_config *const *near, int n_near)
{
    for (int i = 0; i < TRI_POOL_DRAWN; i++) {
        TRI_TRY(tri_space_sample(p->space, rng, scratch));
        TRI_TRY(put(p, scratch, x));
    }
    for (int i = 0; i < n_near; i++) {
        int n = tri_space_neighbours(p->space, near[i], scratch, NEAR_MOST);

        for (int k = 0; k < n; k++) {
            TRI_TRY(put(p, scratch + (size_t)k * (size_t)p->n_params, x));
        }
    }
    return TRI_OK;
}

tri_status tri_pool_refresh(tri_pool *p, const tri_snapshot *s, uint64_t seed,
                            const tri_config *const *near, int n_near)
{
    tri_rng rng = tri_rng_stream(seed, (uint64_t)s->number, TRI_RNG_EXPLORE);
    uint64_t *tried = sorted_tried(s);
    tri_config *scratch =
            calloc((size_t)p->n_params * NEAR_MOST + 1, sizeof *scratch);
    double *x = calloc((size_t)p->width + 1, sizeof *x);
    tri_status st = TRI_OK;

    if (!tried || !scratch || !x) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for candidates");
    }
    if (st == TRI_OK && !p->is_all) {
        p->n = 0;
        st = reserve(p, TRI_POOL_DRAWN + (int64_t)n_near * NEAR_MOST);
        if (st == TRI_OK) {
            st = draw(p, &rng, scratch, x, near, n_near);
        }
    }
    if (st == TRI_OK) {
        st = mark(p, s, tried);
    }
    if (st == TRI_OK && !p->is_all) {
        st = mark_doubles(p);
    }
    free(tried);
    free(scratch);
    free(x);
    return st;
}

tri_status tri_pool_add(tri_pool *p, const tri_snapshot *s, const tri_config *c,
                        int64_t *at)
{
    double *x;
    uint64_t hash = tri_space_hash(p->space, c);
    tri_status st;

    *at = -1;
    if (p->is_all) {
        int64_t index;

        if (tri_space_index(p->space, c, &index) == TRI_OK &&
            !p->taken[index]) {
            *at = index;
        }
        return TRI_OK;
    }
    for (int64_t i = 0; i < p->n; i++) {
        if (p->hash[i] == hash) {
            *at = p->taken[i] ? -1 : i;
            return TRI_OK;
        }
    }
    if (p->n == p->room) {
        TRI_TRY(reserve(p, 2 * p->room + 16));
    }
    x = calloc((size_t)p->width + 1, sizeof *x);
    st = x ? put(p, c, x) : TRI_FAIL(TRI_ENOMEM, "no memory for candidates");
    free(x);
    TRI_TRY(st);
    p->taken[p->n - 1] = p->ranks[p->n - 1] > s->max_ranks;
    for (int64_t i = 0; i < s->n_tried; i++) {
        p->taken[p->n - 1] |= s->tried[i] == hash;
    }
    *at = p->taken[p->n - 1] ? -1 : p->n - 1;
    return TRI_OK;
}

/* ---- looking ------------------------------------------------------------ */

tri_status tri_pool_config(const tri_pool *p, int64_t i, tri_config *out)
{
    if (p->is_all) {
        return tri_space_at(p->space, i, out);
    }
    memcpy(out, p->configs + (size_t)i * (size_t)p->n_params,
           (size_t)p->n_params * sizeof *out);
    return TRI_OK;
}

void tri_pool_row(const tri_pool *p, int64_t i, double *x)
{
    for (int k = 0; k < p->width; k++) {
        x[k] = p->x[(size_t)i * (size_t)p->width + (size_t)k];
    }
}

int64_t tri_pool_random(const tri_pool *p, tri_rng *rng)
{
    int64_t from = p->n > 0 ? (int64_t)tri_rng_below(rng, (uint64_t)p->n) : 0;

    for (int64_t i = 0; i < p->n; i++) {
        int64_t at = (from + i) % p->n;

        if (!p->taken[at]) {
            return at;
        }
    }
    return -1;
}
