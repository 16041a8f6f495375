/*
 * The B-tree behind a rung: insertion splits full pages on its way down, so
 * that it never turns back; everything else is one walk down from the root.
 * Knows nothing of what is promoted or why.
 */
#include "src/sched/standings.h"

#include "src/base/grow.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HALF (TRI_PAGE_ITEMS / 2)

/* ---- room ---------------------------------------------------------------- */

/* A standing of n results has at most n / 7 pages and its root: every page but
 * that has 8 items or more. */
static uint64_t pages_for(const tri_nodes *nodes, uint32_t more)
{
    return (uint64_t)(nodes->n + more) / (HALF - 1) + nodes->n_roots + more + 2;
}

static tri_status reserve_pages(tri_nodes *nodes, uint32_t more)
{
    uint64_t need = pages_for(nodes, more);
    uint64_t room = nodes->page_room ? nodes->page_room : 8;
    tri_page *grown;

    if (need <= nodes->page_room) {
        return TRI_OK;
    }
    while (room < need) {
        room *= 2;
    }
    grown = room <= UINT32_MAX
                    ? tri_rows_grow(nodes->page, nodes->n_pages * sizeof *grown,
                                    (size_t)room * sizeof *grown)
                    : NULL;
    if (!grown) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %u results",
                        nodes->n + more);
    }
    if (!nodes->page) {
        nodes->n_pages = 1;
    }
    nodes->page = grown;
    nodes->page_room = (uint32_t)room;
    return TRI_OK;
}

tri_status tri_nodes_reserve(tri_nodes *nodes, uint32_t more)
{
    uint32_t need = nodes->n + more + 1;
    uint32_t room = nodes->room ? nodes->room : 64;
    tri_node *grown;

    if (need < more || need > UINT32_MAX / 2) {
        return TRI_FAIL(TRI_ENOMEM, "a scheduler holds 2^31 results at most");
    }
    TRI_TRY(reserve_pages(nodes, more));
    if (need <= nodes->room) {
        return TRI_OK;
    }
    while (room < need) {
        room *= 2;
    }
    grown = tri_rows_grow(nodes->node, nodes->n * sizeof *grown,
                          room * sizeof *grown);
    if (!grown) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %u results", room);
    }
    if (!nodes->node) {
        grown[0] = (tri_node){0};
        nodes->n = 1;
    }
    nodes->node = grown;
    nodes->room = room;
    return TRI_OK;
}

void tri_nodes_fini(tri_nodes *nodes)
{
    free(nodes->node);
    free(nodes->page);
    *nodes = (tri_nodes){0};
}

static uint32_t new_page(tri_nodes *nodes, int is_leaf)
{
    tri_page *p;

    assert(nodes->n_pages < nodes->page_room);
    p = &nodes->page[nodes->n_pages];
    p->n = 0;
    p->is_leaf = (uint8_t)is_leaf;
    for (int i = 0; i < TRI_PAGE_ITEMS; i++) {
        p->score[i] = INFINITY;
    }
    return nodes->n_pages++;
}

/* ---- order --------------------------------------------------------------- */

static int before(const tri_node *a, const tri_node *b)
{
    if (a->last != b->last) {
        return b->last;
    }
    if (!a->last && (a->score < b->score || a->score > b->score)) {
        return a->score < b->score;
    }
    return a->trial < b->trial;
}

int tri_node_before(const tri_node *a, const tri_node *b)
{
    return before(a, b);
}

static double key_of(const tri_node *n)
{
    return n->last ? INFINITY : n->score;
}

/* How many scores of a page, which are in order, are less than `key`: by
 * quarters, then within one, without a branch to guess at. */
static int n_less(const double *score, double key)
{
    enum {
        QUARTER = TRI_PAGE_ITEMS / 4
    };
    int i = QUARTER *
            ((score[QUARTER - 1] < key) + (score[2 * QUARTER - 1] < key) +
             (score[3 * QUARTER - 1] < key));
    int n = i;

    for (int k = 0; k < QUARTER; k++) {
        n += score[i + k] < key;
    }
    return n;
}

/* How many items of a page begin at `node` or before it. */
static int n_up_to(const tri_nodes *nodes, const tri_page *p, uint32_t node)
{
    const tri_node *n = &nodes->node[node];
    double key = key_of(n);
    int i = n_less(p->score, key);

    while (i < p->n && !(p->score[i] > key) &&
           !before(n, &nodes->node[p->first[i]])) {
        i++;
    }
    return i;
}

/* The item that `node` is in, or belongs to. */
static int item_of(const tri_nodes *nodes, const tri_page *p, uint32_t node)
{
    int n = n_up_to(nodes, p, node);

    return n ? n - 1 : 0;
}

/* ---- inserting ----------------------------------------------------------- */

/* Make room for an item before item `at`. */
static void open_gap(tri_page *p, int at)
{
    size_t n = (size_t)(p->n - at);

    assert(p->n < TRI_PAGE_ITEMS);
    memmove(p->score + at + 1, p->score + at, n * sizeof *p->score);
    memmove(p->first + at + 1, p->first + at, n * sizeof *p->first);
    memmove(p->size + at + 1, p->size + at, n * sizeof *p->size);
    memmove(p->n_eligible + at + 1, p->n_eligible + at,
            n * sizeof *p->n_eligible);
    if (!p->is_leaf) {
        memmove(p->page + at + 1, p->page + at, n * sizeof *p->page);
    }
    p->n++;
}

/* The upper half of a full page becomes a page of its own. */
static uint32_t cut(tri_nodes *nodes, uint32_t full)
{
    uint32_t fresh = new_page(nodes, nodes->page[full].is_leaf);
    tri_page *from = &nodes->page[full];
    tri_page *to = &nodes->page[fresh];

    memcpy(to->score, from->score + HALF, HALF * sizeof *to->score);
    memcpy(to->first, from->first + HALF, HALF * sizeof *to->first);
    memcpy(to->size, from->size + HALF, HALF * sizeof *to->size);
    memcpy(to->n_eligible, from->n_eligible + HALF,
           HALF * sizeof *to->n_eligible);
    if (!from->is_leaf) {
        memcpy(to->page, from->page + HALF, HALF * sizeof *to->page);
    }
    for (int i = HALF; i < TRI_PAGE_ITEMS; i++) {
        from->score[i] = INFINITY;
    }
    from->n = to->n = HALF;
    return fresh;
}

/* Item `at` of `parent` becomes two. */
static void split(tri_nodes *nodes, uint32_t parent, int at)
{
    uint32_t fresh = cut(nodes, nodes->page[parent].page[at]);
    tri_page *p = &nodes->page[parent];
    const tri_page *right = &nodes->page[fresh];
    uint32_t size = 0, n_eligible = 0;

    for (int i = 0; i < HALF; i++) {
        size += right->size[i];
        n_eligible += right->n_eligible[i];
    }
    open_gap(p, at + 1);
    p->score[at + 1] = right->score[0];
    p->first[at + 1] = right->first[0];
    p->page[at + 1] = fresh;
    p->size[at + 1] = size;
    p->n_eligible[at + 1] = n_eligible;
    p->size[at] -= size;
    p->n_eligible[at] -= n_eligible;
}

/* A root above the present one, which is full. */
static void raise_root(tri_nodes *nodes, uint32_t *root)
{
    uint32_t above = new_page(nodes, 0);
    const tri_page *old = &nodes->page[*root];
    tri_page *p = &nodes->page[above];

    p->n = 1;
    p->score[0] = -INFINITY;
    p->first[0] = old->first[0];
    p->page[0] = *root;
    p->size[0] = p->n_eligible[0] = 0;
    for (int i = 0; i < old->n; i++) {
        p->size[0] += old->size[i];
        p->n_eligible[0] += old->n_eligible[i];
    }
    *root = above;
}

/* The page below that `fresh` belongs to, which has room then. */
static uint32_t step_down(tri_nodes *nodes, uint32_t at, uint32_t fresh)
{
    tri_page *p = &nodes->page[at];
    int i = item_of(nodes, p, fresh);

    if (nodes->page[p->page[i]].n == TRI_PAGE_ITEMS) {
        split(nodes, at, i);
        i += !before(&nodes->node[fresh], &nodes->node[p->first[i + 1]]);
    }
    p->size[i]++;
    p->n_eligible[i] += nodes->node[fresh].eligible;
    return p->page[i];
}

static void insert(tri_nodes *nodes, uint32_t *root, uint32_t fresh)
{
    const tri_node *n = &nodes->node[fresh];
    uint32_t at;
    tri_page *leaf;
    int i;

    if (!*root) {
        *root = new_page(nodes, 1);
        nodes->n_roots++;
    }
    if (nodes->page[*root].n == TRI_PAGE_ITEMS) {
        raise_root(nodes, root);
    }
    for (at = *root; !nodes->page[at].is_leaf;) {
        at = step_down(nodes, at, fresh);
    }
    leaf = &nodes->page[at];
    i = n_up_to(nodes, leaf, fresh);
    open_gap(leaf, i);
    leaf->score[i] = key_of(n);
    leaf->first[i] = fresh;
    leaf->size[i] = 1;
    leaf->n_eligible[i] = n->eligible;
}

uint32_t tri_standings_insert(tri_nodes *nodes, uint32_t *root, int64_t trial,
                              double score, int last, int eligible)
{
    uint32_t fresh = nodes->n++;

    assert(fresh < nodes->room);
    nodes->node[fresh] = (tri_node){.score = score,
                                    .trial = trial,
                                    .last = last != 0,
                                    .eligible = eligible != 0};
    insert(nodes, root, fresh);
    return fresh;
}

/* ---- walks --------------------------------------------------------------- */

void tri_standings_set_eligible(tri_nodes *nodes, uint32_t root, uint32_t node,
                                int eligible)
{
    tri_node *n = &nodes->node[node];
    uint32_t change = eligible ? 1u : (uint32_t)-1;
    uint32_t at = root;

    if (n->eligible == (eligible != 0)) {
        return;
    }
    n->eligible = eligible != 0;
    for (;;) {
        tri_page *p = &nodes->page[at];
        int i = item_of(nodes, p, node);

        p->n_eligible[i] += change;
        if (p->is_leaf) {
            assert(p->first[i] == node);
            return;
        }
        at = p->page[i];
    }
}

uint32_t tri_standings_best(const tri_nodes *nodes, uint32_t root,
                            uint32_t *place)
{
    uint32_t passed = 0;

    for (uint32_t at = root; at;) {
        const tri_page *p = &nodes->page[at];
        int i = 0;

        for (; i < p->n && !p->n_eligible[i]; i++) {
            passed += p->size[i];
        }
        if (i == p->n) {
            assert(at == root);
            return TRI_NODE_NONE;
        }
        if (p->is_leaf) {
            *place = passed;
            return p->first[i];
        }
        at = p->page[i];
    }
    return TRI_NODE_NONE;
}

uint32_t tri_standings_place(const tri_nodes *nodes, uint32_t root,
                             uint32_t node)
{
    uint32_t passed = 0;
    uint32_t at = root;

    for (;;) {
        const tri_page *p = &nodes->page[at];
        int item = item_of(nodes, p, node);

        for (int i = 0; i < item; i++) {
            passed += p->size[i];
        }
        if (p->is_leaf) {
            assert(p->first[item] == node);
            return passed;
        }
        at = p->page[item];
    }
}

uint32_t tri_standings_at(const tri_nodes *nodes, uint32_t root, uint32_t place)
{
    for (uint32_t at = root; at;) {
        const tri_page *p = &nodes->page[at];
        int i = 0;

        for (; i < p->n && place >= p->size[i]; i++) {
            place -= p->size[i];
        }
        if (i == p->n) {
            return TRI_NODE_NONE;
        }
        if (p->is_leaf) {
            return p->first[i];
        }
        at = p->page[i];
    }
    return TRI_NODE_NONE;
}
