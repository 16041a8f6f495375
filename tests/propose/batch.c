/*
 * Many at once, or one by one while all before are under way: they spread over
 * what is promising instead of lying around one promise.
 */
#include "tests/propose/world.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N       4
#define BATCH   64
#define RESULTS 40
#define SEEDS   3

static const char text[] = "study: batch\n"
                           "seed: 9\n"
                           "model: {kind: synthetic}\n"
                           "space:\n"
                           "  p0: {int: [0, 6]}\n"
                           "  p1: {int: [0, 6]}\n"
                           "  p2: {int: [0, 6]}\n"
                           "  p3: {choice: [a, b, c, d]}\n"
                           "objective: {minimize: score}\n"
                           "search: {proposer: acquisition, predictor: gp, "
                           "random_share: 0}\n";

typedef struct story {
    tri_study *study;
    tri_thinker *thinker;
    tri_config results[RESULTS][N], pending[BATCH][N];
    tri_record records[RESULTS];
    const tri_config *under_way[BATCH];
    uint64_t tried[RESULTS + BATCH];
    int n_pending;
    int64_t number;
} story;

/* Two valleys, one a little deeper. */
static double cost(const tri_config *c)
{
    double a = 0;
    double b = 0.1;

    for (int k = 0; k < 3; k++) {
        double v = (double)c[k].u.i;

        a += (v - 1) * (v - 1);
        b += (v - 5) * (v - 5);
    }
    return 1 + fmin(a, b) + (c[3].u.i == 2 ? 0 : 2);
}

static void begin(story *s, uint64_t seed)
{
    tri_rng rng = tri_rng_stream(seed, 0, TRI_RNG_TEST);

    memset(s, 0, sizeof *s);
    assert_int_equal(
            tri_study_parse(text, strlen(text), "batch", NULL, NULL, &s->study),
            TRI_OK);
    assert_int_equal(tri_thinker_create(s->study, seed, NULL, 0, &s->thinker),
                     TRI_OK);
    for (int i = 0; i < RESULTS; i++) {
        tri_config *c = s->results[i];

        assert_int_equal(tri_space_sample(s->study->space, &rng, c), TRI_OK);
        s->tried[i] = tri_space_hash(s->study->space, c);
        s->records[i] = (tri_record){.config = c,
                                     .trial = i,
                                     .resource = 1,
                                     .objective = cost(c),
                                     .peak_bytes = NAN,
                                     .ranks = 1};
    }
}

static void end(story *s)
{
    tri_thinker_destroy(s->thinker);
    tri_study_destroy(s->study);
}

/* Ask for so many, which are under way from then on. */
static void ask(story *s, int wanted)
{
    tri_snapshot q = {.number = ++s->number,
                      .wanted = wanted,
                      .n_records = RESULTS,
                      .records = s->records,
                      .n_pending = s->n_pending,
                      .pending = s->under_way,
                      .n_tried = RESULTS + s->n_pending,
                      .tried = s->tried,
                      .resource = 1,
                      .base = 1,
                      .max_ranks = 1};
    tri_ev_proposals p;

    assert_int_equal(tri_thinker_answer(s->thinker, &q, NULL, &p), TRI_OK);
    assert_int_equal(p.n_list, wanted);
    for (int i = 0; i < wanted; i++) {
        tri_config *c = s->pending[s->n_pending];

        assert_int_equal(tri_space_parse(s->study->space, p.list[i].config, c),
                         TRI_OK);
        s->tried[RESULTS + s->n_pending] = tri_space_hash(s->study->space, c);
        s->under_way[s->n_pending++] = c;
    }
}

/* Parameters in which two differ, on the mean over all pairs of the batch. */
static double spread(const story *s)
{
    int sum = 0;

    for (int i = 0; i < BATCH; i++) {
        for (int k = 0; k < i; k++) {
            for (int j = 0; j < N; j++) {
                sum += s->pending[i][j].u.i != s->pending[k][j].u.i;
            }
        }
    }
    return sum / (BATCH * (BATCH - 1) / 2.0);
}

/* How many differ in at most one parameter from what was proposed first. */
static int n_near(const story *s)
{
    int n = 0;

    for (int i = 1; i < BATCH; i++) {
        int differ = 0;

        for (int j = 0; j < N; j++) {
            differ += s->pending[i][j].u.i != s->pending[0][j].u.i;
        }
        n += differ <= 1;
    }
    return n;
}

/* Nothing twice; not around one point (random ones differ in 3.3 of 4); and
 * better than random ones, as the results are. */
static void check(story *s, const char *how, uint64_t seed)
{
    double mean = 0;
    double random = 0;

    for (int i = 0; i < BATCH; i++) {
        for (int k = 0; k < RESULTS + i; k++) {
            assert_true(s->tried[RESULTS + i] != s->tried[k]);
        }
        mean += cost(s->pending[i]) / BATCH;
    }
    for (int i = 0; i < RESULTS; i++) {
        random += s->records[i].objective / RESULTS;
    }
    print_message("%s, seed %d: pairs differ in %.2f of %d parameters, %d near "
                  "the first, mean cost %.2f, of random ones %.2f\n",
                  how, (int)seed, spread(s), N, n_near(s), mean, random);
    assert_true(spread(s) > 2.5);
    assert_true(n_near(s) < BATCH / 4);
    assert_true(mean < 0.75 * random);
}

/* The same where an answer's choices count as those under way do. */
static void a_batch_is_what_one_by_one_gives(void **state)
{
    static story s, t;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        int same = 0;

        begin(&s, seed);
        begin(&t, seed);
        ask(&s, BATCH);
        check(&s, "at once", seed);
        while (t.n_pending < BATCH) {
            ask(&t, 1);
        }
        check(&t, "one by one", seed);
        for (int i = 0; i < BATCH; i++) {
            same += s.tried[RESULTS + i] == t.tried[RESULTS + i];
        }
        print_message("seed %d: %d the same\n", (int)seed, same);
        assert_true(same > BATCH / 2);
        end(&s);
        end(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_batch_is_what_one_by_one_gives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
