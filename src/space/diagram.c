/*
 * Nodes and arcs in two arrays, the table of unique nodes, and descent by
 * binary search.
 */
#include "src/space/diagram.h"

#include "src/space/pile.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

void tri_dd_init(tri_dd *dd)
{
    memset(dd, 0, sizeof *dd);
    dd->root = TRI_DD_NONE;
}

void tri_dd_freeze(tri_dd *dd)
{
    free(dd->unique);
    dd->unique = NULL;
    dd->n_unique = 0;
}

void tri_dd_fini(tri_dd *dd)
{
    tri_dd_freeze(dd);
    free(dd->nodes);
    free(dd->arcs);
    tri_dd_init(dd);
}

static uint64_t hash_arcs(const tri_dd_arc *arcs, uint32_t n, uint64_t seed)
{
    return XXH3_64bits_withSeed(arcs, n * sizeof *arcs, seed);
}

static uint64_t hash_node(const tri_dd *dd, const tri_dd_node *node)
{
    if (node->n == 0) {
        return XXH3_64bits(&node->lo, sizeof node->lo);
    }
    return hash_arcs(dd->arcs + node->first, node->n, node->n);
}

static void insert(tri_dd *dd, int32_t id)
{
    size_t at = hash_node(dd, &dd->nodes[id]) & (dd->n_unique - 1);

    while (dd->unique[at] != TRI_DD_NONE) {
        at = (at + 1) & (dd->n_unique - 1);
    }
    dd->unique[at] = id;
}

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for the diagram of the space");
}

static tri_status rehash(tri_dd *dd)
{
    size_t n = dd->n_unique ? dd->n_unique * 2 : 64, i;
    int32_t *table;

    if (dd->n_nodes * 2 < dd->n_unique) {
        return TRI_OK;
    }
    table = malloc(n * sizeof *table);
    if (!table) {
        return no_memory();
    }
    memset(table, 0xff, n * sizeof *table);
    free(dd->unique);
    dd->unique = table;
    dd->n_unique = n;
    for (i = 0; i < dd->n_nodes; i++) {
        insert(dd, (int32_t)i);
    }
    return TRI_OK;
}

static int same_arcs(const tri_dd *dd, const tri_dd_node *node,
                     const tri_dd_arc *arcs, uint32_t n)
{
    return node->n == n &&
           memcmp(dd->arcs + node->first, arcs, n * sizeof *arcs) == 0;
}

static tri_status add_node(tri_dd *dd, tri_dd_node node, int32_t *out)
{
    tri_dd_node *grown;

    if (dd->n_nodes >= INT32_MAX) {
        return no_memory();
    }
    grown = tri_grow(dd->nodes, dd->n_nodes, &dd->cap_nodes, sizeof node);
    if (!grown) {
        return no_memory();
    }
    dd->nodes = grown;
    dd->nodes[dd->n_nodes] = node;
    *out = (int32_t)dd->n_nodes++;
    insert(dd, *out);
    return TRI_OK;
}

tri_status tri_dd_end(tri_dd *dd, int64_t objective, int32_t *out)
{
    tri_dd_node node = {1, objective, objective, 0, 0};
    size_t at;

    TRI_TRY(rehash(dd));
    at = hash_node(dd, &node) & (dd->n_unique - 1);
    for (; dd->unique[at] != TRI_DD_NONE; at = (at + 1) & (dd->n_unique - 1)) {
        const tri_dd_node *old = &dd->nodes[dd->unique[at]];
        if (old->n == 0 && old->lo == objective) {
            *out = dd->unique[at];
            return TRI_OK;
        }
    }
    return add_node(dd, node, out);
}

static tri_status sum_arcs(const tri_dd *dd, tri_dd_arc *arcs, uint32_t n,
                           int64_t weight, tri_dd_node *node)
{
    uint32_t i;

    for (i = 0; i < n; i++) {
        const tri_dd_node *child = &dd->nodes[arcs[i].child];
        int64_t w = arcs[i].value == TRI_DD_INACTIVE ? weight : 1, c;
        arcs[i].before = node->count;
        if (__builtin_mul_overflow(child->count, w, &c) ||
            __builtin_add_overflow(node->count, c, &node->count)) {
            return TRI_FAIL(TRI_EOVERFLOW,
                            "more valid configurations than can be counted");
        }
        node->lo = i == 0 || child->lo < node->lo ? child->lo : node->lo;
        node->hi = i == 0 || child->hi > node->hi ? child->hi : node->hi;
    }
    return TRI_OK;
}

static tri_status add_arcs(tri_dd *dd, const tri_dd_arc *arcs, uint32_t n)
{
    while (dd->n_arcs + n > dd->cap_arcs) {
        tri_dd_arc *grown =
                tri_grow(dd->arcs, dd->cap_arcs, &dd->cap_arcs, sizeof *arcs);
        if (!grown) {
            return no_memory();
        }
        dd->arcs = grown;
    }
    memcpy(dd->arcs + dd->n_arcs, arcs, n * sizeof *arcs);
    dd->n_arcs += n;
    return TRI_OK;
}

/* Nodes of different levels never have the same children, so the level needs
 * no place in the comparison. */
tri_status tri_dd_node_of(tri_dd *dd, tri_dd_arc *arcs, uint32_t n,
                          int64_t weight, int32_t *out)
{
    tri_dd_node node = {0, 0, 0, (uint32_t)dd->n_arcs, n};
    size_t at;

    TRI_TRY(rehash(dd));
    TRI_TRY(sum_arcs(dd, arcs, n, weight, &node));
    at = hash_arcs(arcs, n, n) & (dd->n_unique - 1);
    for (; dd->unique[at] != TRI_DD_NONE; at = (at + 1) & (dd->n_unique - 1)) {
        if (same_arcs(dd, &dd->nodes[dd->unique[at]], arcs, n)) {
            *out = dd->unique[at];
            return TRI_OK;
        }
    }
    if (dd->n_arcs + n > UINT32_MAX) {
        return no_memory();
    }
    TRI_TRY(add_arcs(dd, arcs, n));
    return add_node(dd, node, out);
}

const tri_dd_arc *tri_dd_find(const tri_dd *dd, int32_t node, int32_t value)
{
    const tri_dd_arc *arcs = dd->arcs + dd->nodes[node].first;
    uint32_t lo = 0, hi = dd->nodes[node].n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (arcs[mid].value < value) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo < dd->nodes[node].n && arcs[lo].value == value ? &arcs[lo] : NULL;
}

const tri_dd_arc *tri_dd_arc_at(const tri_dd *dd, int32_t node, int64_t index)
{
    const tri_dd_arc *arcs = dd->arcs + dd->nodes[node].first;
    uint32_t lo = 0, hi = dd->nodes[node].n;

    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (arcs[mid].before <= index) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return &arcs[lo];
}
