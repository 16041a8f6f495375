/*
 * A product of 24 parameters, of which no pool holds a fair share: what the
 * searcher finds with a Gaussian process, beside acquisition over a drawn pool
 * and chance, at equal numbers of trials.
 */
#include "src/propose/reinforce.h"

#include "tests/propose/world.h"
#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N     24
#define EACH  8
#define FIRST 10
#define LAST  106

typedef enum method {
    CHANCE,
    POOL,
    POLICY
} method;

typedef struct game {
    tri_story s;
    tri_reinforce *r;
    tri_belief_model belief;
} game;

/* The lowest value believed of what was tried. */
static double believed(const tri_model *model, const tri_knowledge *k)
{
    double *mean = malloc((size_t)k->n * sizeof *mean);
    double best = INFINITY;

    tri_predictor_gp.predict(model, k->x, k->n, 1, mean, NULL);
    for (int i = 0; i < k->n; i++) {
        best = fmin(best, mean[i]);
    }
    free(mean);
    return best;
}

#define NEAR 10

/* The best records, the best first. */
static void best_of(const tri_story *s, const tri_config **out)
{
    unsigned char used[TRI_STORY_MOST] = {0};

    for (int k = 0; k < NEAR; k++) {
        int best = -1;

        for (int i = 0; i < s->n; i++) {
            if (!used[i] && (best < 0 || s->records[i].objective <
                                                 s->records[best].objective)) {
                best = i;
            }
        }
        used[best] = 1;
        out[k] = s->records[best].config;
    }
}

static int propose(game *t, method how, uint64_t seed, tri_model **model,
                   tri_choice *out)
{
    tri_story *s = &t->s;
    const tri_config *near[NEAR];
    tri_knowledge k;
    tri_model *next;
    int n;

    assert_int_equal(tri_knowledge_init(&k, s->encoding, &s->snapshot, 0, 0),
                     TRI_OK);
    best_of(s, near);
    assert_int_equal(tri_pool_refresh(&s->pool, &s->snapshot, seed, near, NEAR),
                     TRI_OK);
    assert_int_equal(tri_predictor_gp.fit(s->encoding,
                                          &(tri_samples){.n = k.n,
                                                         .width = k.width,
                                                         .x = k.x,
                                                         .y = k.y},
                                          seed, *model, &next),
                     TRI_OK);
    if (*model) {
        tri_predictor_gp.destroy(*model);
    }
    *model = next;
    t->belief = (tri_belief_model){.ops = &tri_predictor_gp,
                                   .model = next,
                                   .resource = 1,
                                   .best = believed(next, &k)};
    if (how == POOL) {
        assert_int_equal(tri_acquire(&s->pool, &t->belief, TRI_ACQ_EI, EACH,
                                     seed, NULL, out, &n),
                         TRI_OK);
    } else {
        assert_int_equal(tri_reinforce_answer(t->r, &s->pool, &s->snapshot,
                                              &t->belief, TRI_ACQ_EI, EACH,
                                              seed, NULL, out, &n),
                         TRI_OK);
    }
    tri_knowledge_fini(&k);
    return n;
}

/* The best of LAST trials, in deviations of random ones. */
static double search(method how, uint64_t seed)
{
    tri_rng rng = tri_rng_stream(seed, 1, TRI_RNG_TEST);
    tri_choice choices[EACH];
    tri_config c[N];
    tri_model *model = NULL;
    double best;
    game t;
    tri_space *space = tri_world_product(N);

    tri_story_init(&t.s, space);
    assert_int_equal(tri_reinforce_create(space, t.s.encoding, &t.r), TRI_OK);
    while (t.s.n < LAST) {
        int n = 1;
        int draws = how == CHANCE || t.s.n < FIRST;

        if (!draws) {
            tri_story_ask(&t.s, EACH);
            n = propose(&t, how, seed, &model, choices);
            assert_int_equal(n, EACH);
        }
        for (int i = 0; i < n; i++) {
            if (draws) {
                assert_int_equal(tri_space_sample(t.s.space, &rng, c), TRI_OK);
            } else {
                tri_story_get(&t.s, choices[i].at, c);
            }
            tri_story_add(&t.s, c, tri_world_cost(c, N, 0.5, seed));
        }
    }
    best = t.s.best;
    if (model) {
        tri_predictor_gp.destroy(model);
    }
    tri_reinforce_destroy(t.r);
    tri_story_fini(&t.s);
    return best;
}

/* A product of 2e16 points, its parts independent but for neighbours. */
static void it_beats_chance_and_a_pool(void **state)
{
    double sum[3] = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        double best[3];

        for (int how = CHANCE; how <= POLICY; how++) {
            best[how] = search((method)how, seed);
            sum[how] += best[how] / 3;
        }
        printf("seed %d: random %.2f, pool %.2f, policy %.2f\n", (int)seed,
               best[CHANCE], best[POOL], best[POLICY]);
    }
    assert_true(sum[POLICY] < sum[CHANCE] - 1);
    assert_true(sum[POLICY] < sum[POOL] + 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(it_beats_chance_and_a_pool)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
