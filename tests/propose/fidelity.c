/*
 * Results at several resources: their scores, what counts as progress, and a
 * search by halving that a model leads to the best of made curves.
 */
#include "src/propose/think_internal.h"
#include "tests/propose/world.h"
#include "trireme/rng.h"
#include "trireme/sim.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- scores ------------------------------------------------------------- */

static void scores_are_of_places(void **state)
{
    double cost[] = {3, 0.69, 1e7, 0.69, 0.5, 0.69};
    double y[6];
    tri_scores s;

    (void)state;
    memcpy(y, cost, sizeof y);
    assert_int_equal(tri_scores_init(&s, y, 6), TRI_OK);
    assert_int_equal(s.n, 4);
    assert_true(y[4] < y[1] && y[1] < y[0] && y[0] < y[2]);
    assert_true(y[1] == y[3] && y[1] == y[5]);
    assert_true(fabs(y[2] + y[4]) < 1e-9); /* the two ends */
    for (int i = 0; i < 6; i++) {
        assert_true(fabs(tri_scores_invert(&s, y[i]) - cost[i]) <
                    1e-9 * cost[i]);
    }
    tri_scores_fini(&s);
}

static void scores_go_on_beyond_their_ends(void **state)
{
    double y[] = {5, 1, 2, 4, 3, 8, 7, 6};
    double last = -INFINITY;
    tri_scores s;

    (void)state;
    assert_int_equal(tri_scores_init(&s, y, 8), TRI_OK);
    for (int i = -32; i <= 32; i++) {
        double cost = tri_scores_invert(&s, i / 8.0);

        assert_true(isfinite(cost) && cost > last);
        last = cost;
    }
    tri_scores_fini(&s);
}

static void equal_costs_have_one_score(void **state)
{
    double y[] = {2, 2, 2};
    tri_scores s;

    (void)state;
    assert_int_equal(tri_scores_init(&s, y, 3), TRI_OK);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(y[i]) < 1e-12);
    }
    assert_true(tri_scores_invert(&s, 1) == 2);
    tri_scores_fini(&s);
}

/* ---- knowledge ---------------------------------------------------------- */

static void know(tri_story *s, int resources, tri_knowledge *k)
{
    tri_config c[4];

    for (int i = 0; i < 12; i++) {
        tri_record *r;

        assert_int_equal(tri_space_at(s->space, i, c), TRI_OK);
        r = tri_story_add(s, c, i == 7 ? 0.1 : 10 + i);
        r->resource = i % resources ? 9 : 3;
    }
    tri_story_ask(s, 1);
    assert_int_equal(tri_knowledge_init(k, s->encoding, &s->snapshot, 0, 0),
                     TRI_OK);
}

/* One resource is warped as ever; the best of a lower one is progress though
 * a higher one has lower values. */
static void resources_share_one_order(void **state)
{
    tri_knowledge k;
    tri_story s;

    (void)state;
    tri_story_init(&s, tri_world_product(3));
    know(&s, 1, &k);
    assert_int_equal(k.scores.n, 0);
    assert_int_equal(k.n_best, 7);
    assert_true(fabs(tri_knowledge_cost(&k, k.y[3]) - 13) < 1e-6);
    tri_knowledge_fini(&k);
    tri_story_fini(&s);

    tri_story_init(&s, tri_world_product(3));
    know(&s, 2, &k);
    assert_int_equal(k.n_rungs, 2);
    assert_int_equal(k.scores.n, 12);
    assert_int_equal(k.n_best, 7);
    assert_true(k.best == 0.1);
    for (int i = 0; i < k.n; i++) {
        assert_true(fabs(tri_knowledge_cost(&k, k.y[i]) -
                         (i == 7 ? 0.1 : 10 + i)) < 1e-9);
    }
    tri_knowledge_fini(&k);
    tri_story_fini(&s);
}

/* ---- made curves -------------------------------------------------------- */

#define CONFIGS 300
#define POINTS  9
#define SEEDS   5
#define TRIALS  100

static const char study_format[] =
        "study: curves\n"
        "seed: %d\n"
        "model: {kind: table, file: curves.csv, parameters: [rate, momentum,"
        " decay, width], objective: step_8, curve: step_}\n"
        "space: table\n"
        "ranks: 1\n"
        "objective: {minimize: loss}\n"
        "search: %s\n"
        "resource: {unit: steps, min: 1, max: 9, eta: 3}\n"
        "budget: {trials: %d}\n"
        "finals: none\n";

typedef struct made {
    char text[CONFIGS * 160];
    size_t n;
} made;

static void add_curve(made *m, tri_rng *rng, const double *best)
{
    double u[4];
    double far = 0;
    double rate, end;

    for (int i = 0; i < 4; i++) {
        u[i] = tri_rng_unit(rng);
        far += (i == 3 ? 0.2 : 1.0) * (u[i] - best[i]) * (u[i] - best[i]);
    }
    /* small rates are slow: curves cross; too large ones all but diverge */
    rate = 0.4 + u[0] + 0.3 * tri_rng_unit(rng);
    end = u[0] > 0.85 ? 5 * exp(3 * tri_rng_unit(rng)) : 0.5 + far;
    m->n += (size_t)snprintf(m->text + m->n, sizeof m->text - m->n,
                             "%.4g,%.6g,%.4g,%.4g", pow(10, 6 * u[0] - 6),
                             1 - pow(10, -4 * u[1]), u[2], u[3]);
    for (int t = 1; t <= POINTS; t++) {
        m->n += (size_t)snprintf(m->text + m->n, sizeof m->text - m->n, ",%.6g",
                                 end + pow(t, -rate) +
                                         0.002 * tri_rng_normal(rng));
    }
    m->n += (size_t)snprintf(m->text + m->n, sizeof m->text - m->n, "\n");
}

static void make(made *m, int seed)
{
    tri_rng rng = tri_rng_stream((uint64_t)seed, 0, TRI_RNG_TEST);
    double best[4];

    for (int i = 0; i < 4; i++) {
        best[i] = 0.2 + 0.6 * tri_rng_unit(&rng);
    }
    m->n = (size_t)snprintf(m->text, sizeof m->text,
                            "rate,momentum,decay,width");
    for (int t = 0; t < POINTS; t++) {
        m->n += (size_t)snprintf(m->text + m->n, sizeof m->text - m->n,
                                 ",step_%d", t);
    }
    m->n += (size_t)snprintf(m->text + m->n, sizeof m->text - m->n, "\n");
    for (int i = 0; i < CONFIGS; i++) {
        add_curve(m, &rng, best);
    }
}

static tri_status give(void *ctx, const char *path, char **text, size_t *bytes)
{
    const made *m = ctx;

    (void)path;
    *text = malloc(m->n + 1);
    assert_non_null(*text);
    memcpy(*text, m->text, m->n + 1);
    *bytes = m->n;
    return TRI_OK;
}

static tri_status answer(void *ctx, const tri_snapshot *s,
                         tri_ev_proposals *out)
{
    return tri_thinker_answer(ctx, s, NULL, out);
}

/* Full trainings until the best was found, or all that were paid. */
static double needed(made *m, const char *search, int seed)
{
    char yaml[1024];
    tri_study *study;
    tri_thinker *t;
    tri_curve *source;
    tri_sim_settings set;
    tri_sim_result r;
    double spent;

    snprintf(yaml, sizeof yaml, study_format, seed, search, TRIALS);
    assert_int_equal(
            tri_study_parse(yaml, strlen(yaml), "curves.yaml", give, m, &study),
            TRI_OK);
    assert_int_equal(tri_thinker_create(study, study->seed, NULL, 0, &t),
                     TRI_OK);
    tri_sim_defaults(&set);
    set.workers = 1;
    set.think = answer;
    set.think_ctx = t;
    assert_int_equal(tri_curve_create(study, 1, &source), TRI_OK);
    assert_int_equal(tri_sim_run(study, source, &set, &r, NULL), TRI_OK);
    spent = isnan(r.rank_seconds_to[0]) ? r.rank_seconds : r.rank_seconds_to[0];
    tri_sim_result_fini(&r);
    tri_curve_destroy(source);
    tri_thinker_destroy(t);
    tri_study_destroy(study);
    return spent / POINTS;
}

static void a_model_needs_half(void **state)
{
    made *m = malloc(sizeof *m);
    double model = 0, quasi = 0;

    (void)state;
    assert_non_null(m);
    for (int seed = 1; seed <= SEEDS; seed++) {
        double a, b;

        make(m, seed);
        a = needed(m, "{predictor: gp}", seed);
        b = needed(m, "quasi", seed);
        print_message("seed %d: %.1f trainings, quasi %.1f\n", seed, a, b);
        model += a;
        quasi += b;
    }
    free(m);
    assert_true(2 * model < quasi);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(scores_are_of_places),
            cmocka_unit_test(scores_go_on_beyond_their_ends),
            cmocka_unit_test(equal_costs_have_one_score),
            cmocka_unit_test(resources_share_one_order),
            cmocka_unit_test(a_model_needs_half),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
