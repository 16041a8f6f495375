/*
 * Standings against a sorted list: places, the best eligible one, and results
 * by place, of several standings in one pool, with ties and with results that
 * are counted only.
 */
#include "src/sched/standings.h"

#include "tests/tri_cmocka.h"
#include "trireme/rng.h"

#define RESULTS   700
#define STANDINGS 3

typedef struct reference {
    uint32_t root;
    uint32_t order[RESULTS];
    int n;
} reference;

static void put_in_order(const tri_nodes *nodes, reference *r, uint32_t node)
{
    int at = r->n++;

    for (; at > 0 &&
           tri_node_before(&nodes->node[node], &nodes->node[r->order[at - 1]]);
         at--) {
        r->order[at] = r->order[at - 1];
    }
    r->order[at] = node;
}

static void check(const tri_nodes *nodes, const reference *r)
{
    uint32_t place = 0;
    uint32_t best = tri_standings_best(nodes, r->root, &place);
    int at = 0;

    while (at < r->n && !nodes->node[r->order[at]].eligible) {
        at++;
    }
    assert_int_equal(best, at < r->n ? r->order[at] : TRI_NODE_NONE);
    assert_true(at == r->n || place == (uint32_t)at);
    for (uint32_t i = 0; i < (uint32_t)r->n; i++) {
        assert_int_equal(tri_standings_at(nodes, r->root, i), r->order[i]);
        assert_int_equal(tri_standings_place(nodes, r->root, r->order[i]), i);
    }
    assert_int_equal(tri_standings_at(nodes, r->root, (uint32_t)r->n),
                     TRI_NODE_NONE);
}

/* `scores`: how many different ones there are. */
static void fill(uint64_t seed, uint64_t scores)
{
    tri_rng rng = tri_rng_stream(seed, scores, TRI_RNG_TEST);
    reference refs[STANDINGS] = {{0}};
    tri_nodes nodes = {0};

    for (int t = 0; t < RESULTS; t++) {
        reference *r = &refs[tri_rng_below(&rng, STANDINGS)];
        double score = (double)tri_rng_below(&rng, scores);
        int last = tri_rng_below(&rng, 5) == 0;
        int other;

        assert_int_equal(tri_nodes_reserve(&nodes, 1), TRI_OK);
        put_in_order(
                &nodes, r,
                tri_standings_insert(&nodes, &r->root, t, score, last, !last));
        other = (int)tri_rng_below(&rng, (uint64_t)r->n);
        tri_standings_set_eligible(&nodes, r->root, r->order[other],
                                   tri_rng_below(&rng, 2) == 0);
        if (t % 10 == 0 || t == RESULTS - 1) {
            check(&nodes, r);
        }
    }
    tri_nodes_fini(&nodes);
}

static void as_a_sorted_list(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        print_message("seed %d\n", (int)seed);
        fill(seed, 1000000);
        fill(seed, 10);
        fill(seed, 1);
    }
}

/* The orders in which pages are filled at one end only. */
static void sorted_already(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        reference r = {0};
        tri_nodes nodes = {0};

        assert_int_equal(tri_nodes_reserve(&nodes, RESULTS), TRI_OK);
        for (int t = 0; t < RESULTS; t++) {
            put_in_order(
                    &nodes, &r,
                    tri_standings_insert(&nodes, &r.root, t, sign * t, 0, 1));
        }
        check(&nodes, &r);
        assert_true(nodes.n_pages <= nodes.page_room);
        tri_nodes_fini(&nodes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_a_sorted_list),
                                       cmocka_unit_test(sorted_already)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
