/*
 * The treap behind a rung: insertion by splitting, marks by walking down from
 * the root.  Knows nothing of what is promoted or why.
 */
#include "src/sched/standings.h"

#include "trireme/rng.h"

#include <assert.h>
#include <stdlib.h>

tri_status tri_nodes_reserve(tri_nodes *nodes, uint32_t more)
{
    uint32_t need = nodes->n + more + 1;
    uint32_t room = nodes->room ? nodes->room : 64;
    tri_node *grown;

    if (need < more || need > UINT32_MAX / 2) {
        return TRI_FAIL(TRI_ENOMEM, "a scheduler holds 2^31 results at most");
    }
    if (need <= nodes->room) {
        return TRI_OK;
    }
    while (room < need) {
        room *= 2;
    }
    grown = realloc(nodes->node, room * sizeof *grown);
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
    *nodes = (tri_nodes){0};
}

static uint64_t priority(const tri_node *n)
{
    uint64_t x = (uint64_t)n->trial + 0x9e3779b97f4a7c15u;

    /* splitmix64's finish: no two trials share one */
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

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

static void count(tri_node *node, uint32_t at)
{
    tri_node *n = &node[at];

    n->size = 1 + node[n->left].size + node[n->right].size;
    n->n_eligible =
            n->eligible + node[n->left].n_eligible + node[n->right].n_eligible;
}

/* Split the tree `at` into what stands before `key` and the rest. */
static void split(tri_node *node, uint32_t at, uint32_t key, uint32_t *left,
                  uint32_t *right)
{
    if (!at) {
        *left = *right = TRI_NODE_NONE;
        return;
    }
    if (before(&node[at], &node[key])) {
        split(node, node[at].right, key, &node[at].right, right);
        *left = at;
    } else {
        split(node, node[at].left, key, left, &node[at].left);
        *right = at;
    }
    count(node, at);
}

/* Where the fresh node belongs: below nodes of higher priority, which each
 * have one more below them then; what stands there is split around it. */
static void insert(tri_node *node, uint32_t *link, uint32_t fresh)
{
    uint64_t mine = priority(&node[fresh]);

    while (*link && priority(&node[*link]) >= mine) {
        tri_node *n = &node[*link];

        n->size++;
        n->n_eligible += node[fresh].eligible;
        link = before(&node[fresh], n) ? &n->left : &n->right;
    }
    split(node, *link, fresh, &node[fresh].left, &node[fresh].right);
    count(node, fresh);
    *link = fresh;
}

uint32_t tri_standings_insert(tri_nodes *nodes, uint32_t *root, int64_t trial,
                              double score, int last, int eligible)
{
    uint32_t fresh = nodes->n++;

    assert(fresh < nodes->room);
    nodes->node[fresh] = (tri_node){.score = score,
                                    .trial = trial,
                                    .size = 1,
                                    .last = last != 0,
                                    .eligible = eligible != 0};
    insert(nodes->node, root, fresh);
    return fresh;
}

void tri_standings_set_eligible(tri_nodes *nodes, uint32_t root, uint32_t node,
                                int eligible)
{
    tri_node *all = nodes->node;
    tri_node *n = &all[node];
    uint32_t change = eligible ? 1u : (uint32_t)-1;

    if (n->eligible == (eligible != 0)) {
        return;
    }
    n->eligible = eligible != 0;
    for (uint32_t at = root; at != node;) {
        assert(at);
        all[at].n_eligible += change;
        at = before(n, &all[at]) ? all[at].left : all[at].right;
    }
    n->n_eligible += change;
}

uint32_t tri_standings_best(const tri_nodes *nodes, uint32_t root,
                            uint32_t *place)
{
    const tri_node *node = nodes->node;
    uint32_t at = root;
    uint32_t passed = 0;

    if (!at || !node[at].n_eligible) {
        return TRI_NODE_NONE;
    }
    for (;;) {
        if (node[node[at].left].n_eligible) {
            at = node[at].left;
            continue;
        }
        passed += node[node[at].left].size;
        if (node[at].eligible) {
            *place = passed;
            return at;
        }
        passed++;
        at = node[at].right;
    }
}

uint32_t tri_standings_place(const tri_nodes *nodes, uint32_t root,
                             uint32_t node)
{
    const tri_node *all = nodes->node;
    uint32_t passed = 0;
    uint32_t at = root;

    while (at != node) {
        assert(at);
        if (before(&all[node], &all[at])) {
            at = all[at].left;
        } else {
            passed += all[all[at].left].size + 1;
            at = all[at].right;
        }
    }
    return passed + all[all[at].left].size;
}

uint32_t tri_standings_at(const tri_nodes *nodes, uint32_t root, uint32_t place)
{
    const tri_node *node = nodes->node;
    uint32_t at = root;

    while (at) {
        uint32_t left = node[node[at].left].size;

        if (place == left) {
            return at;
        }
        if (place < left) {
            at = node[at].left;
        } else {
            place -= left + 1;
            at = node[at].right;
        }
    }
    return TRI_NODE_NONE;
}
