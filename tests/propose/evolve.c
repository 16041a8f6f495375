/*
 * Regularised evolution: who may be a parent, what a child is, and that it
 * finds more than chance.
 */
#include "src/propose/evolve.h"

#include "tests/propose/world.h"
#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64 /* parameters, and proposals of one answer */

/* One answer, its configurations checked and put into out[n][n_params]. */
static int answer(tri_story *s, int wanted, uint64_t seed, tri_config *out,
                  int *children)
{
    int params = tri_space_n_params(s->space);
    tri_caution none = {NULL, 1};
    int64_t at[MOST];
    int n;

    tri_story_ask(s, wanted);
    assert_int_equal(tri_evolve(&s->pool, &s->snapshot, 0, &none, seed, wanted,
                                at, children, &n),
                     TRI_OK);
    assert_true(n <= wanted && *children <= n);
    for (int i = 0; i < n; i++) {
        tri_story_get(s, at[i], out + i * params);
        for (int k = 0; k < i; k++) {
            assert_true(at[k] != at[i]);
        }
    }
    return n;
}

static int differences(const tri_config *a, const tri_config *b, int n)
{
    int d = 0;

    for (int i = 0; i < n; i++) {
        d += !tri_value_equal(a[i], b[i]);
    }
    return d;
}

/* A point of a product with all values v. */
static void all_equal(tri_config *c, int n, int v)
{
    for (int i = 0; i < n; i++) {
        c[i] = (tri_value){TRI_INT, {.i = v}};
    }
}

/* ---- children ----------------------------------------------------------- */

static void check_children(tri_space *space, int draws)
{
    tri_rng rng = tri_rng_stream(3, 0, TRI_RNG_TEST);
    tri_config parent[MOST];
    tri_config child[MOST];
    tri_walk *w;

    assert_int_equal(tri_walk_create(space, &w), TRI_OK);
    assert_int_equal(tri_space_sample(space, &rng, parent), TRI_OK);
    for (int i = 0; i < draws; i++) {
        assert_int_equal(tri_evolve_mutate(w, space, parent, &rng, child),
                         TRI_OK);
        assert_true(tri_space_valid(space, child, NULL));
        assert_false(tri_space_equal(space, parent, child));
        memcpy(parent, child, sizeof parent);
    }
    tri_walk_destroy(w);
    tri_space_destroy(space);
}

static void children_are_valid_and_new(void **state)
{
    (void)state;
    check_children(tri_world_product(12), 200);
    check_children(tri_world_mesh(), 500);
    check_children(tri_world_floats(), 500);
}

static void a_free_parameter_changes_alone(void **state)
{
    tri_space *space = tri_world_product(12);
    tri_rng rng = tri_rng_stream(4, 0, TRI_RNG_TEST);
    tri_config parent[MOST];
    tri_config child[MOST];
    tri_walk *w;

    (void)state;
    assert_int_equal(tri_walk_create(space, &w), TRI_OK);
    assert_int_equal(tri_space_sample(space, &rng, parent), TRI_OK);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(tri_evolve_mutate(w, space, parent, &rng, child),
                         TRI_OK);
        assert_int_equal(differences(parent, child, 12), 1);
    }
    tri_walk_destroy(w);
    tri_space_destroy(space);
}

/* Changes lead from any configuration to any other. */
static void all_of_a_space_is_reached(void **state)
{
    tri_space *space = tri_world_mesh();
    tri_rng rng = tri_rng_stream(5, 0, TRI_RNG_TEST);
    int64_t count = tri_space_count(space);
    unsigned char *seen = calloc((size_t)count, 1);
    tri_config c[MOST];
    tri_config child[MOST];
    int64_t left = count;
    int64_t at;
    tri_walk *w;

    (void)state;
    assert_int_equal(tri_walk_create(space, &w), TRI_OK);
    assert_int_equal(tri_space_at(space, 0, c), TRI_OK);
    for (int i = 0; i < 60 * (int)count && left > 0; i++) {
        assert_int_equal(tri_evolve_mutate(w, space, c, &rng, child), TRI_OK);
        assert_int_equal(tri_space_index(space, child, &at), TRI_OK);
        memcpy(c, child, sizeof c);
        left -= !seen[at];
        seen[at] = 1;
    }
    assert_int_equal(left, 0);
    free(seen);
    tri_walk_destroy(w);
    tri_space_destroy(space);
}

static void a_single_point_has_no_child(void **state)
{
    tri_space_builder *b;
    tri_domain one = {.kind = TRI_DOMAIN_INT, .lo = 2, .hi = 2, .step = 1};
    tri_config c[1];
    tri_config child[1];
    tri_rng rng = tri_rng_stream(6, 0, TRI_RNG_TEST);
    tri_space *space;
    tri_walk *w;

    (void)state;
    assert_int_equal(tri_space_builder_create(&b), TRI_OK);
    assert_int_equal(tri_space_add_param(b, "x", &one, NULL, 0, 0), TRI_OK);
    assert_int_equal(tri_space_create(b, &space), TRI_OK);
    tri_space_builder_destroy(b);
    assert_int_equal(tri_walk_create(space, &w), TRI_OK);
    assert_int_equal(tri_space_at(space, 0, c), TRI_OK);
    assert_int_equal(tri_evolve_mutate(w, space, c, &rng, child),
                     TRI_ENOTFOUND);
    tri_walk_destroy(w);
    tri_space_destroy(space);
}

/* ---- parents ------------------------------------------------------------ */

#define N 12

/* Points of two kinds: about all zeros, and about all threes. */
static void add_kind(tri_story *s, int v, int i, double cost, int failed)
{
    tri_config c[N];
    tri_record *r;

    all_equal(c, N, v);
    c[i % N].u.i = v == 0 ? 1 + i / N : 2 - i / N;
    r = tri_story_add(s, c, failed ? NAN : cost);
    r->failed = failed;
}

/* All children stand near kind v. */
static void assert_children_near(tri_story *s, int v)
{
    tri_config out[MOST * N];
    tri_config kind[N];
    int children;
    int n = answer(s, 16, 9, out, &children);

    assert_int_equal(n, 16);
    assert_int_equal(children, 16);
    all_equal(kind, N, v);
    for (int i = 0; i < n; i++) {
        assert_true(differences(out + i * N, kind, N) <= 2);
    }
}

static void failures_are_no_parents(void **state)
{
    tri_story s;

    (void)state;
    tri_story_init(&s, tri_world_product(N));
    for (int i = 0; i < TRI_EVOLVE_FIRST; i++) {
        add_kind(&s, 0, i, 5, 0);
    }
    for (int i = 0; i < 20; i++) {
        add_kind(&s, 3, i, 1, 3); /* of some reason */
    }
    assert_children_near(&s, 0);
    tri_story_fini(&s);
}

/* A trial that failed above a good result is none either. */
static void a_late_failure_counts(void **state)
{
    tri_story s;

    (void)state;
    tri_story_init(&s, tri_world_product(N));
    for (int i = 0; i < TRI_EVOLVE_FIRST; i++) {
        add_kind(&s, 0, i, 5, 0);
    }
    for (int i = 0; i < 10; i++) {
        add_kind(&s, 3, i, 1, 0);
        add_kind(&s, 3, i, 1, 3);
        s.records[s.n - 1].trial = s.records[s.n - 2].trial;
    }
    assert_children_near(&s, 0);
    tri_story_fini(&s);
}

static void the_oldest_die(void **state)
{
    tri_story s;
    tri_config c[N];

    (void)state;
    tri_story_init(&s, tri_world_product(N));
    for (int i = 0; i < 10; i++) {
        add_kind(&s, 3, i, 1, 0);
    }
    for (int i = 0; i < TRI_EVOLVE_POPULATION; i++) {
        all_equal(c, N, 0);
        c[i % N].u.i = 1 + i / N % 3;
        c[(i + 1) % N].u.i = i / N / 3;
        tri_story_add(&s, c, 5);
    }
    assert_children_near(&s, 0);
    tri_story_fini(&s);
}

/* A small cost at a small resource proves nothing against one that went on:
 * the two are compared where both were. */
static void results_are_compared_at_one_resource(void **state)
{
    tri_story s;

    (void)state;
    tri_story_init(&s, tri_world_product(N));
    for (int i = 0; i < 12; i++) {
        add_kind(&s, 3, i, 4, 0); /* at resource 1 only */
    }
    for (int i = 0; i < 12; i++) {
        add_kind(&s, 0, i, 3, 0);
        add_kind(&s, 0, i, 9, 0); /* grew dear later */
        s.records[s.n - 1].trial = s.records[s.n - 2].trial;
        s.records[s.n - 1].resource = 4;
    }
    assert_children_near(&s, 0);
    tri_story_fini(&s);
}

/* ---- answers ------------------------------------------------------------ */

static void a_few_results_are_followed_by_chance(void **state)
{
    tri_story s;
    tri_config out[MOST * N];
    int children;

    (void)state;
    tri_story_init(&s, tri_world_product(N));
    assert_int_equal(answer(&s, 8, 1, out, &children), 8);
    assert_int_equal(children, 0);
    for (int i = 0; i < TRI_EVOLVE_FIRST; i++) {
        add_kind(&s, 0, i, 5, 0);
    }
    assert_int_equal(answer(&s, 8, 1, out, &children), 8);
    assert_int_equal(children, 8);
    tri_story_fini(&s);
}

static void answers_depend_on_seed_and_question(void **state)
{
    tri_story s;
    tri_config a[MOST * N];
    tri_config b[MOST * N];
    int children;

    (void)state;
    tri_story_init(&s, tri_world_product(N));
    for (int i = 0; i < 20; i++) {
        add_kind(&s, 0, i, 5 + i, 0);
    }
    assert_int_equal(answer(&s, 16, 1, a, &children), 16);
    s.snapshot.number--;
    assert_int_equal(answer(&s, 4, 1, b, &children), 4);
    assert_int_equal(differences(a, b, 4 * N), 0);
    s.snapshot.number--;
    assert_int_equal(answer(&s, 4, 2, b, &children), 4);
    assert_true(differences(a, b, 4 * N) > 0);
    assert_int_equal(answer(&s, 4, 1, b, &children), 4);
    assert_true(differences(a, b, 4 * N) > 0);
    tri_story_fini(&s);
}

/* Until nothing is left, and then nothing. */
static void a_small_space_is_exhausted(void **state)
{
    tri_story s;
    tri_config out[MOST * 16];
    int params, n, children, rounds = 0;
    int64_t count;

    (void)state;
    tri_story_init(&s, tri_world_mesh());
    s.max_ranks = 8;
    params = tri_space_n_params(s.space);
    count = tri_space_count_within(s.space, 8);
    assert_true(count > 100 && count < TRI_STORY_MOST);
    while ((n = answer(&s, 16, 1, out, &children)) > 0) {
        for (int i = 0; i < n; i++) {
            const tri_config *c = out + i * params;

            tri_story_add(&s, c, (double)c[3].u.i);
        }
        assert_true(++rounds < 1000);
    }
    assert_int_equal(s.n, count);
    tri_story_fini(&s);
}

static double search(uint64_t seed, int evolve)
{
    tri_rng rng = tri_rng_stream(seed, 1, TRI_RNG_TEST);
    tri_story s;
    tri_config out[MOST * N];
    double best;
    int children;

    tri_story_init(&s, tri_world_product(N));
    while (s.n < 200) {
        int n = 10;

        if (evolve) {
            n = answer(&s, n, seed, out, &children);
        } else {
            for (int i = 0; i < n; i++) {
                assert_int_equal(tri_space_sample(s.space, &rng, out + i * N),
                                 TRI_OK);
            }
        }
        for (int i = 0; i < n; i++) {
            tri_story_add(&s, out + i * N,
                          tri_world_cost(out + i * N, N, 0.5, seed));
        }
    }
    best = s.best;
    tri_story_fini(&s);
    return best;
}

/* In 200 trials of a product of twelve: a standard deviation better. */
static void it_beats_chance(void **state)
{
    double gain = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        double chance = search(seed, 0);
        double found = search(seed, 1);

        printf("seed %d: evolution %.2f, random %.2f\n", (int)seed, found,
               chance);
        gain += (chance - found) / 4;
    }
    assert_true(gain > 0.7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(children_are_valid_and_new),
            cmocka_unit_test(a_free_parameter_changes_alone),
            cmocka_unit_test(all_of_a_space_is_reached),
            cmocka_unit_test(a_single_point_has_no_child),
            cmocka_unit_test(failures_are_no_parents),
            cmocka_unit_test(a_late_failure_counts),
            cmocka_unit_test(the_oldest_die),
            cmocka_unit_test(results_are_compared_at_one_resource),
            cmocka_unit_test(a_few_results_are_followed_by_chance),
            cmocka_unit_test(answers_depend_on_seed_and_question),
            cmocka_unit_test(a_small_space_is_exhausted),
            cmocka_unit_test(it_beats_chance)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
