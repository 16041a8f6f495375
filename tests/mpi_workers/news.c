/*
 * What is told of the steps that a process reported: their times, counts by
 * rates and totals, and what comes in a line of its own.
 */
#include "mpi_workers/news.h"

#include "mpi_workers/metric_line.h"
#include "tests/tri_cmocka.h"

#include <math.h>

static void hear(tri_news *n, int64_t step, double loss)
{
    tri_metric_line line;

    tri_metric_line_clear(&line);
    line.step = step;
    line.has_loss = 1;
    line.loss = loss;
    line.samples = 8;
    tri_news_hear(n, &line);
}

static void lines_in_one_breath_share_the_time(void **state)
{
    static tri_news n;
    tri_news_line line;

    (void)state;
    tri_news_init(&n, 100);
    hear(&n, 1, 5);
    tri_news_time(&n, 103);
    hear(&n, 2, 4);
    hear(&n, 4, 3); /* two steps */
    hear(&n, 4, 9); /* said again: no new step */
    assert_int_equal(n.n_back, 0);
    hear(&n, 3, 9); /* nor is one from before */
    assert_int_equal(n.n_back, 1);
    tri_news_time(&n, 109);
    assert_int_equal(tri_news_peek(&n), 1);
    assert_true(tri_news_next(&n, &line));
    assert_true(line.step == 1 && line.steps == 1 && line.step_s == 3);
    assert_true(tri_news_next(&n, &line));
    assert_true(line.step == 2 && line.step_s == 2 && line.loss == 4);
    assert_false(line.joins);
    assert_true(tri_news_next(&n, &line));
    assert_true(line.step == 4 && line.steps == 2 && line.step_s == 2);
    assert_true(line.joins); /* what each took is not known */
    assert_int_equal(tri_news_peek(&n), -1);
    assert_false(tri_news_next(&n, &line));
    assert_true(tri_news_is_empty(&n));
    hear(&n, 5, 1);
    hear(&n, 6, 1);
    tri_news_drop(&n);
    assert_true(tri_news_is_empty(&n));
    hear(&n, 7, 1);
    assert_true(tri_news_next(&n, &line));
    assert_true(line.step == 7 && line.steps == 1);
}

static void hear_own(tri_news *n, double own)
{
    tri_metric_line line;

    tri_metric_line_clear(&line);
    line.own = own;
    tri_news_hear(n, &line);
}

/* A metric belongs to the step before it, told already or not. */
static void own_is_of_the_step_before(void **state)
{
    static tri_news n;
    tri_news_line line;

    (void)state;
    tri_news_init(&n, 0);
    hear(&n, 1, 5);
    hear_own(&n, 0.1);
    hear(&n, 2, 5);
    assert_true(isnan(n.own));
    assert_true(tri_news_next(&n, &line) && line.own == 0.1);
    assert_true(tri_news_next(&n, &line) && isnan(line.own));
    hear_own(&n, 0.2);
    hear(&n, 3, 5);
    assert_true(n.own == 0.2);
    assert_false(tri_news_is_empty(&n));
    assert_true(tri_news_next(&n, &line) && isnan(line.own));
}

/* What came before a bad loss can still be told; nothing after it is heard. */
static void nothing_after_a_bad_loss(void **state)
{
    static tri_news n;
    tri_news_line line;

    (void)state;
    tri_news_init(&n, 0);
    hear(&n, 1, 5);
    hear(&n, 2, NAN);
    hear(&n, 3, 5);
    hear_own(&n, 1);
    assert_true(n.is_bad);
    assert_true(tri_news_next(&n, &line) && line.step == 1 && isnan(line.own));
    assert_true(tri_news_is_empty(&n));
}

static void a_flood_is_merged(void **state)
{
    static tri_news n;
    tri_news_line line;
    int64_t steps = 0;
    int lines = 0;

    (void)state;
    tri_news_init(&n, 0);
    for (int64_t step = 1; step <= 5 * TRI_NEWS_LINES; step++) {
        hear(&n, step, 1.0 / (double)step);
    }
    tri_news_time(&n, 5 * TRI_NEWS_LINES);
    while (tri_news_next(&n, &line)) {
        assert_true(line.step_s == 1);
        steps += line.steps;
        lines++;
    }
    assert_int_equal(lines, TRI_NEWS_LINES);
    assert_int_equal(steps, 5 * TRI_NEWS_LINES);
    assert_int_equal(line.step, 5 * TRI_NEWS_LINES);
    assert_false(n.is_bad);
    hear(&n, 1 << 20, NAN);
    assert_true(n.is_bad);
}

static tri_metric_line empty(int64_t step)
{
    tri_metric_line line;

    tri_metric_line_clear(&line);
    line.step = step;
    return line;
}

/* The time that a process says goes before the clock's. */
static void a_time_that_is_said(void **state)
{
    static tri_news n;
    tri_news_line line;
    tri_metric_line said = empty(2);

    (void)state;
    tri_news_init(&n, 0);
    said.step_s = 0.25;
    said.tokens_per_s = 1000;
    said.samples_per_s = 33;
    tri_news_hear(&n, &said);
    hear(&n, 3, 1);
    tri_news_time(&n, 9);
    assert_true(tri_news_next(&n, &line));
    assert_true(line.steps == 2 && line.step_s == 0.25 && !line.joins);
    assert_true(line.tokens == 250 && line.samples == 8.25);
    assert_true(tri_news_next(&n, &line) && line.step_s == 3 && !line.joins);
    said = empty(4);
    said.step_s = -1; /* no time */
    said.tokens_per_s = 10;
    tri_news_hear(&n, &said);
    tri_news_time(&n, 11);
    assert_true(tri_news_next(&n, &line) && line.step_s == 2);
    assert_true(line.tokens == 20 && line.samples == 0);
}

static tri_news_line total(tri_news *n, int64_t step, double tokens,
                           double samples)
{
    tri_metric_line said = empty(step);
    tri_news_line line = {0};

    said.consumed_tokens = tokens;
    said.consumed_samples = samples;
    tri_news_hear(n, &said);
    tri_news_time(n, (double)step);
    assert_true(tri_news_next(n, &line));
    return line;
}

static void totals_are_taken_apart(void **state)
{
    static tri_news n;
    tri_news_line line;

    (void)state;
    tri_news_init(&n, 0);
    line = total(&n, 1, 4096, NAN);
    assert_true(line.tokens == 4096 && line.samples == 0);
    line = total(&n, 3, 8192, 6);
    assert_true(line.tokens == 2048 && line.samples == 2);
    line = total(&n, 4, NAN, 16);
    assert_true(line.tokens == 0 && line.samples == 10);
    line = total(&n, 5, 8192 + 2000, 16); /* of two steps; nothing new */
    assert_true(line.tokens == 1000 && line.samples == 0);
    line = total(&n, 6, 100, -5); /* counted anew; nonsense */
    assert_true(line.tokens == 0 && line.samples == 0);
    assert_true(total(&n, 7, 300, NAN).tokens == 200);
    /* a process that goes on from a checkpoint counts from step 0, too */
    tri_news_start(&n, 100, 0);
    hear(&n, 100, 1); /* known */
    assert_true(tri_news_is_empty(&n));
    line = total(&n, 101, 1010, NAN);
    assert_true(line.steps == 1 && line.tokens == 10);
}

/* One step in several lines, in any order. */
static void lines_of_one_step(void **state)
{
    static tri_news n;
    tri_news_line line;
    tri_metric_line said = empty(5);

    (void)state;
    tri_news_init(&n, 0);
    tri_news_hear(&n, &said);
    tri_news_time(&n, 10);
    assert_false(tri_news_is_settled(&n, 10.05));
    said.samples_per_s = 2;
    tri_news_hear(&n, &said);
    said = empty(-1);
    said.belongs = said.has_loss = 1;
    said.loss = 0.5;
    said.tokens = 7;
    tri_news_hear(&n, &said);
    said.loss = 0.75; /* of another rank: the first stays */
    said.tokens = 8;
    tri_news_hear(&n, &said);
    tri_news_time(&n, 10.06);
    assert_false(tri_news_is_settled(&n, 10.12));
    assert_true(tri_news_is_settled(&n, 10.17));
    said = empty(6);
    tri_news_hear(&n, &said);
    assert_true(tri_news_is_settled(&n, 10.06));
    tri_news_time(&n, 10.2);
    assert_true(tri_news_next(&n, &line));
    assert_true(line.step == 5 && line.steps == 5 && line.step_s == 2);
    assert_true(line.samples == 4 && line.tokens == 7 && line.loss == 0.5);
    assert_true(tri_news_next(&n, &line) && line.step == 6);
    assert_true(isnan(line.loss) && line.tokens == 0);
    /* too late */
    said = empty(-1);
    said.belongs = said.has_loss = 1;
    said.loss = 3;
    tri_news_hear(&n, &said);
    assert_true(tri_news_is_empty(&n) && !n.is_bad);
    said.loss = NAN;
    tri_news_hear(&n, &said);
    assert_true(n.is_bad);
}

/* A checkpoint or a failure is no step. */
static void what_is_no_metric(void **state)
{
    static tri_news n;
    tri_metric_line said = empty(-1);

    (void)state;
    tri_news_init(&n, 0);
    said.checkpoint = 5;
    tri_news_hear(&n, &said);
    said.bytes = 100;
    tri_news_hear(&n, &said);
    assert_true(tri_news_is_empty(&n));
    assert_int_equal(n.step, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(lines_in_one_breath_share_the_time),
            cmocka_unit_test(own_is_of_the_step_before),
            cmocka_unit_test(nothing_after_a_bad_loss),
            cmocka_unit_test(a_flood_is_merged),
            cmocka_unit_test(a_time_that_is_said),
            cmocka_unit_test(totals_are_taken_apart),
            cmocka_unit_test(lines_of_one_step),
            cmocka_unit_test(what_is_no_metric),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
