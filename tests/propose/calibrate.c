/*
 * Intervals of 95 %: how many hold what was measured, without any noise, of
 * what was proposed because much was expected of it.
 */
#include "trireme/think.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST   60
#define PARAMS 3
#define EARLY  40

typedef double (*function)(double x, double y, int b);

static double waves(double x, double y, int b)
{
    return (x - 0.7) * (x - 0.7) + 2 * (y - 0.2) * (y - 0.2) +
           0.3 * sin(9 * x) * sin(7 * y) + 0.2 * b + 1;
}

static double creases(double x, double y, int b)
{
    return fabs(x - 0.3) + fabs(y - 0.6) * (1 + b) + 0.5 * fabs(y - x) + 0.05;
}

static double cliff(double x, double y, int b)
{
    return pow(10, -3 * x * y) + (x > 0.4 && y < 0.5 ? 0.3 : 0) + 0.1 * b;
}

static const function functions[] = {waves, creases, cliff};

typedef struct story {
    tri_study *study;
    tri_thinker *thinker;
    function f;
    tri_record early[EARLY];
    tri_config early_configs[EARLY][PARAMS];
    tri_warm_records warm;
    int n, n_records;
    tri_record records[3 * MOST];
    uint64_t tried[MOST];
    tri_config configs[MOST][PARAMS];
    int held, told;
} story;

/* Three rungs: what more resource brings differs from one to the next. */
static double cost(const story *s, const tri_config *c, int64_t resource)
{
    double x = (double)c[0].u.i / 63;
    double y = (double)c[1].u.i / 63;
    double more = (1 + 0.3 * sin(5 * x + 3 * y)) / (double)resource;

    return s->f(x, y, strcmp(c[2].u.word, "b") == 0) * (1 + more);
}

static tri_record record_of(const story *s, const tri_config *c, int64_t trial,
                            int64_t resource)
{
    return (tri_record){.config = c,
                        .trial = trial,
                        .resource = resource,
                        .objective = cost(s, c, resource),
                        .peak_bytes = NAN,
                        .ranks = 1};
}

static story *begin(function f, const char *search, uint64_t seed, int n_early)
{
    char text[512];
    story *s = calloc(1, sizeof *s);

    assert_non_null(s);
    s->f = f;
    snprintf(text, sizeof text,
             "study: calibrate\n"
             "model: {kind: synthetic}\n"
             "space:\n"
             "  x: {int: [0, 63]}\n"
             "  y: {int: [0, 63]}\n"
             "  k: {choice: [a, b]}\n"
             "objective: {minimize: score}\n"
             "search: %s\n",
             search);
    assert_int_equal(
            tri_study_parse(text, strlen(text), "t", NULL, NULL, &s->study),
            TRI_OK);
    for (int i = 0; i < n_early; i++) {
        tri_rng rng = tri_rng_stream(seed, (uint64_t)i, TRI_RNG_TEST);
        tri_config *c = s->early_configs[i];

        assert_int_equal(tri_space_sample(s->study->space, &rng, c), TRI_OK);
        s->early[i] = record_of(s, c, -1, 9);
        s->early[i].objective =
                3 * s->early[i].objective + 0.008 * (double)c[0].u.i;
    }
    s->warm = (tri_warm_records){
            .source = "early.h5", .n = n_early, .records = s->early};
    assert_int_equal(tri_thinker_create(s->study, seed, &s->warm, n_early > 0,
                                        &s->thinker),
                     TRI_OK);
    return s;
}

static void end(story *s)
{
    tri_thinker_destroy(s->thinker);
    tri_study_destroy(s->study);
    free(s);
}

/* A third of the trials go on to 3 units, a third of these to 9. */
static void start(story *s, const tri_proposal *p, int rungs)
{
    tri_config *c = s->configs[s->n];
    double value;

    assert_int_equal(tri_space_parse(s->study->space, p->config, c), TRI_OK);
    s->tried[s->n] = tri_space_hash(s->study->space, c);
    value = cost(s, c, 9);
    if (isfinite(p->predicted)) {
        assert_true(p->lo <= p->predicted && p->predicted <= p->hi);
        assert_true(p->predicted > 0 && p->hi > 0);
        s->told++;
        s->held += p->lo <= value && value <= p->hi;
    }
    for (int64_t r = rungs > 1 ? 1 : 9; r <= 9; r *= 3) {
        if (rungs == 1 || s->n % r == 0) {
            s->records[s->n_records++] = record_of(s, c, s->n, r);
        }
    }
    s->n++;
}

static void go(story *s, int trials, int rungs)
{
    for (int64_t number = 1; s->n < trials; number++) {
        tri_ev_proposals out;
        tri_snapshot snapshot = {.number = number,
                                 .wanted = 2,
                                 .n_records = s->n_records,
                                 .records = s->records,
                                 .n_tried = s->n,
                                 .tried = s->tried,
                                 .resource = 9,
                                 .base = 1,
                                 .max_ranks = 1};

        assert_int_equal(tri_thinker_answer(s->thinker, &snapshot, NULL, &out),
                         TRI_OK);
        assert_int_equal(out.n_list, 2);
        for (int i = 0; i < out.n_list; i++) {
            start(s, &out.list[i], rungs);
        }
    }
}

/* The share of intervals that hold, of all functions. */
static double coverage(const char *search, uint64_t seeds, int rungs,
                       int n_early)
{
    int held = 0, told = 0;

    for (uint64_t seed = 1; seed <= seeds; seed++) {
        for (int i = 0; i < 3; i++) {
            story *s = begin(functions[i], search, seed, n_early);

            go(s, n_early > 0 ? 14 : 32, rungs);
            held += s->held;
            told += s->told;
            end(s);
        }
    }
    printf("%s, %d rungs, %d early: %d of %d held\n", search, rungs, n_early,
           held, told);
    return (double)held / told;
}

/* A model that believes itself has 40 to 70 % here. */
static void most_hold(void **state)
{
    (void)state;
    assert_true(coverage("{predictor: gp}", 2, 1, 0) >= 0.85);
    assert_true(coverage("{predictor: trees}", 1, 1, 0) >= 0.85);
}

static void at_the_top_of_several_rungs(void **state)
{
    (void)state;
    assert_true(coverage("{predictor: gp}", 2, 3, 0) >= 0.85);
}

/* By what others measured, and few results of its own. */
static void with_earlier_studies(void **state)
{
    (void)state;
    assert_true(coverage("{predictor: gp}", 2, 1, EARLY) >= 0.75);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(most_hold),
            cmocka_unit_test(at_the_top_of_several_rungs),
            cmocka_unit_test(with_earlier_studies)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
