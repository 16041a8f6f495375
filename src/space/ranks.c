/*
 * How many ranks the valid configurations ask for: the range, and how many
 * configurations need at most so many.  From a diagram over the components
 * that `ranks` names, whose ends are the numbers of ranks.
 */
#include "src/space/space_priv.h"

#include <stdlib.h>
#include <string.h>

#define MAX_WORK 20000000 /* of the diagram */
#define MAX_EACH 2000000  /* configurations counted one by one */

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for solving the space");
}

/* Mark all parameters of the components that ranks names; 0 where one of them
 * has no diagram. */
static int mark_components(const tri_space *s, unsigned char *set)
{
    int i, j, exact = 1;

    tri_space_mark(s, s->ranks, s->ranks->root, set);
    for (i = 0; i < s->n_params; i++) {
        for (j = 0; set[i] == 1 && j < s->n_params; j++) {
            if (!set[j] && s->comp_of[j] == s->comp_of[i]) {
                set[j] = 2;
            }
        }
    }
    for (i = 0; i < s->n_params; i++) {
        exact &= !set[i] || s->comps[s->comp_of[i]].kind != TRI_COMP_REJECT;
    }
    return exact;
}

/* The diagram of ranks.  [out] `dd` owned on success; `set`: what it spans.
 * TRI_ETOOLARGE where there is none. */
static tri_status solve_ranks(const tri_space *s, unsigned char *set,
                              tri_dd *dd)
{
    tri_subset sub = {set, 0, s->n_rules, NULL, s->ranks, 0, 0, MAX_WORK};
    int rule;

    memset(set, 0, (size_t)s->n_params);
    if (s->has_rows || !mark_components(s, set)) {
        return TRI_FAIL(TRI_ETOOLARGE, "ranks has no diagram");
    }
    return tri_space_subsolve(s, &sub, dd, &rule);
}

/* ---- the range -------------------------------------------------------- */

static int clamp(int64_t n)
{
    return n < 1 ? 1 : n > INT32_MAX ? INT32_MAX : (int)n;
}

static int fits(int64_t lo, int64_t hi)
{
    return lo >= 1 && hi <= INT32_MAX;
}

/* The range over configurations, one by one. */
static tri_status range_by_each(const tri_space *s, int64_t *lo, int64_t *hi)
{
    tri_config *c = malloc(((size_t)s->n_params + 1) * sizeof *c);
    tri_status st = c ? TRI_OK : no_memory();
    int64_t i;
    int n;

    *lo = INT64_MAX;
    *hi = INT64_MIN;
    for (i = 0; i < s->count && st == TRI_OK; i++) {
        st = tri_space_at(s, i, c);
        st = st == TRI_OK ? tri_space_ranks(s, c, &n) : st;
        if (st == TRI_OK) {
            *lo = n < *lo ? n : *lo;
            *hi = n > *hi ? n : *hi;
        }
    }
    free(c);
    return st;
}

/* [out] the range; TRI_ETOOLARGE where only an enclosure can be had. */
static tri_status exact_range(const tri_space *s, unsigned char *set,
                              int64_t *lo, int64_t *hi)
{
    tri_dd dd;

    if (s->has_rows) {
        return range_by_each(s, lo, hi);
    }
    TRI_TRY(solve_ranks(s, set, &dd));
    if (dd.root == TRI_DD_NONE) {
        return TRI_FAIL(TRI_ETOOLARGE, "ranks has no diagram");
    }
    *lo = dd.nodes[dd.root].lo;
    *hi = dd.nodes[dd.root].hi;
    tri_dd_fini(&dd);
    return TRI_OK;
}

tri_status tri_space_find_ranks(tri_space *s, unsigned char *set)
{
    tri_error first;
    int64_t lo = 0, hi = 0;
    tri_status st = exact_range(s, set, &lo, &hi);
    tri_abstract a;

    if (st == TRI_ENOMEM) {
        return st;
    }
    if (st == TRI_OK && fits(lo, hi)) {
        s->rank_lo = (int)lo;
        s->rank_hi = (int)hi;
        return TRI_OK;
    }
    if (st == TRI_OK) {
        TRI_FAIL(TRI_ERANGE, "ranks: \"%.200s\" is from %lld to %lld",
                 s->ranks->text, (long long)lo, (long long)hi);
    }
    first = *tri_error_last();
    tri_error_clear();
    TRI_TRY(tri_space_verify_ranks(s)); /* names a configuration */
    if (st != TRI_ETOOLARGE) {
        tri_error_set(first.code, first.src_file, first.src_line, "%s",
                      first.sentence);
        return first.code;
    }
    a = tri_space_enclose(s, s->ranks, s->ranks->root);
    s->rank_lo = clamp(a.lo);
    s->rank_hi = clamp(a.hi);
    return TRI_OK;
}

/* ---- how many fit ----------------------------------------------------- */

static int64_t times(int64_t a, int64_t b)
{
    int64_t r;

    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &r) ? -1 : r;
}

/* Paths from each node to ends of at most `max` ranks, children first: nodes
 * are made that way.  -1: no memory. */
static int64_t paths_within(const tri_dd *dd, int64_t max)
{
    int64_t *n = calloc(dd->n_nodes + 1, sizeof *n), at_root;
    size_t i;
    uint32_t k;

    if (!n || dd->root == TRI_DD_NONE) {
        free(n);
        return n ? 0 : -1;
    }
    for (i = 0; i < dd->n_nodes; i++) {
        const tri_dd_node *node = &dd->nodes[i];
        n[i] = node->n == 0 && node->lo <= max;
        for (k = 0; k < node->n; k++) {
            n[i] += n[dd->arcs[node->first + k].child];
        }
    }
    at_root = n[dd->root];
    free(n);
    return at_root;
}

/* Configurations of the components that the diagram does not span. */
static int64_t count_others(const tri_space *s, const unsigned char *set)
{
    int64_t n = 1;
    int i;

    for (i = 0; i < s->n_comps; i++) {
        const tri_component *c = &s->comps[i];
        if (!set[c->first]) {
            n = times(n, c->kind == TRI_COMP_FREE
                                 ? s->n_values[c->first]
                                 : tri_dd_count(&c->dd, c->dd.root));
        }
    }
    return n;
}

static int64_t within_by_each(const tri_space *s, int max)
{
    tri_config *c = malloc(((size_t)s->n_params + 1) * sizeof *c);
    int64_t i, n = 0;
    int ranks;

    for (i = 0; c && i < s->count && n >= 0; i++) {
        if (tri_space_at(s, i, c) != TRI_OK ||
            tri_space_ranks(s, c, &ranks) != TRI_OK) {
            n = -1;
        } else {
            n += ranks <= max;
        }
    }
    free(c);
    return c ? n : -1;
}

static int64_t within(const tri_space *s, int max)
{
    unsigned char *set = calloc((size_t)s->n_params + 1, 1);
    int64_t n = -1;
    tri_dd dd;

    if (set && solve_ranks(s, set, &dd) == TRI_OK) {
        n = times(paths_within(&dd, max), count_others(s, set));
        tri_dd_fini(&dd);
    } else if (set && s->count <= MAX_EACH) {
        n = within_by_each(s, max);
    }
    free(set);
    tri_error_clear();
    return n;
}

int64_t tri_space_count_within(const tri_space *s, int max_ranks)
{
    if (s->count == 0 || max_ranks < s->rank_lo) {
        return 0;
    }
    if (s->count < 0 || max_ranks >= s->rank_hi) {
        return s->count;
    }
    return within(s, max_ranks);
}
