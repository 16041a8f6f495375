/*
 * Pages as text: the canvas, and what is tallied of a study as its events
 * come.
 */
#include "src/app/canvas.h"
#include "src/app/tally.h"

#include "tests/tri_cmocka.h"

#include <locale.h>
#include <math.h>
#include <string.h>

static char row[256];

static tri_canvas blank(int rows, int columns, int utf8)
{
    tri_canvas c;

    assert_int_equal(tri_canvas_init(&c, rows, columns, utf8), 0);
    return c;
}

static void text_is_clipped(void **state)
{
    tri_canvas c = blank(2, 8, 0);

    (void)state;
    assert_int_equal(tri_canvas_text(&c, 0, 5, TRI_STYLE_PLAIN, "abcdef"), 11);
    assert_string_equal(tri_canvas_row(&c, 0, row, sizeof row), "     abc");
    assert_int_equal(tri_canvas_text(&c, 2, 0, TRI_STYLE_PLAIN, "below"), 5);
    assert_int_equal(tri_canvas_right(&c, 1, 8, TRI_STYLE_PLAIN, "end"), 5);
    assert_string_equal(tri_canvas_row(&c, 1, row, sizeof row), "     end");
    assert_int_equal(tri_canvas_right(&c, 1, 8, TRI_STYLE_PLAIN, "0123456789"),
                     -2);
    assert_string_equal(tri_canvas_row(&c, 1, row, sizeof row), "23456789");
    tri_canvas_fini(&c);
}

static void letters_of_all_kinds(void **state)
{
    tri_canvas c = blank(1, 12, 1);

    (void)state;
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    /* a wide one takes two cells, and none is cut in half */
    assert_int_equal(
            tri_canvas_text(&c, 0, 0, TRI_STYLE_PLAIN, "\u03c3 \u4e09x"), 5);
    assert_string_equal(tri_canvas_row(&c, 0, row, sizeof row),
                        "\u03c3 \u4e09x");
    tri_canvas_text(&c, 0, 11, TRI_STYLE_PLAIN, "\u4e09");
    assert_string_equal(tri_canvas_row(&c, 0, row, sizeof row),
                        "\u03c3 \u4e09x");
    tri_canvas_text(&c, 0, 0, TRI_STYLE_PLAIN, "a\x1b[2\xff\xc3");
    assert_string_equal(tri_canvas_row(&c, 0, row, sizeof row), "a?[2??");
    tri_canvas_fini(&c);
    c = blank(1, 12, 0);
    tri_canvas_text(&c, 0, 0, TRI_STYLE_PLAIN, "\u03c3 \u4e09x");
    assert_string_equal(tri_canvas_row(&c, 0, row, sizeof row), "? ?x");
    tri_canvas_fini(&c);
}

static void charts(void **state)
{
    static const double values[] = {NAN, 1, 2, 8, 4.5};
    tri_canvas c = blank(3, 12, 0);

    (void)state;
    tri_canvas_bar(&c, 0, 0, 8, 0.5, TRI_STYLE_CHART);
    assert_string_equal(tri_canvas_row(&c, 0, row, sizeof row), "####....");
    tri_canvas_bar(&c, 0, 0, 8, 0, TRI_STYLE_CHART);
    tri_canvas_bar(&c, 0, 0, 4, 7.0, TRI_STYLE_CHART);
    assert_string_equal(tri_canvas_row(&c, 0, row, sizeof row), "####....");
    tri_canvas_bar(&c, 0, 0, 8, NAN, TRI_STYLE_CHART);
    tri_canvas_spark(&c, 1, 0, values, 5, TRI_STYLE_CHART);
    assert_string_equal(tri_canvas_row(&c, 1, row, sizeof row), " _.#+");
    tri_canvas_fini(&c);
    c = blank(2, 12, 1);
    tri_canvas_bar(&c, 0, 0, 2, 0.75, TRI_STYLE_CHART);
    assert_string_equal(tri_canvas_row(&c, 0, row, sizeof row), "\u2588\u258c");
    tri_canvas_spark(&c, 1, 0, values + 1, 1, TRI_STYLE_CHART);
    assert_string_equal(tri_canvas_row(&c, 1, row, sizeof row), "\u2584");
    tri_canvas_fini(&c);
}

static void an_empty_canvas_is_one_cell(void **state)
{
    tri_canvas c = blank(0, -3, 1);

    (void)state;
    tri_canvas_text(&c, 0, 0, TRI_STYLE_PLAIN, "x");
    assert_string_equal(tri_canvas_row(&c, 0, row, sizeof row), "x");
    tri_canvas_fini(&c);
}

static void history_is_a_staircase(void **state)
{
    tri_tally t;
    double values[5];

    (void)state;
    tri_tally_init(&t);
    t.n_ended = 10;
    t.best[t.n_best++] = (tri_tally_point){1, 5, 0, 3};
    t.best[t.n_best++] = (tri_tally_point){2, 4, 1, 6};
    tri_tally_history(&t, values, 5);
    assert_true(isnan(values[0]));
    assert_true(values[1] == 5 && values[2] == 4 && values[4] == 4);
    assert_int_equal(tri_tally_recent(&t, 10), -1);
    assert_true(isnan(tri_tally_busy(&t, 5)));
    t.up = 4;
    t.busy = 1;
    assert_true(tri_tally_busy(&t, 5) == 0.25);
    tri_tally_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(text_is_clipped),
            cmocka_unit_test(letters_of_all_kinds),
            cmocka_unit_test(charts),
            cmocka_unit_test(an_empty_canvas_is_one_cell),
            cmocka_unit_test(history_is_a_staircase),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
