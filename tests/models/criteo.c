/*
 * Criteo's lines: fields, missing ones, and what is said of a wrong one; and
 * made-up clicks, which are the same in every layout.
 */
#include "models/data/criteo.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char full[] =
        "1\t1\t-2\t\t4\t5\t6\t7\t8\t9\t10\t11\t12\t13\t68fd1e64\t80e26c9b\t"
        "fb936136\t7b4723c4\t25c83c98\t\t0\t1\t2\t3\t4\t5\t6\t7\t8\t9\ta\tb\tc"
        "\td\te\tf\t10\t11\t12\t68FD1E64";

static tri_status read_text(const char *text, tri_criteo *c)
{
    return tri_criteo_read((const unsigned char *)text, strlen(text), "day_0",
                           c);
}

static void fields(void **state)
{
    tri_criteo c;
    char text[1024];
    int i;

    (void)state;
    snprintf(
            text, sizeof text, "%s\n0%s\r\n", full,
            "\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t"
            "\t\t\t\t\t\t");
    assert_int_equal(read_text(text, &c), TRI_OK);
    assert_int_equal(c.n, 2);
    assert_int_equal(c.click[0], 1);
    assert_int_equal(c.click[1], 0);
    assert_true(fabs(c.dense[0] - log(2.0)) < 1e-6);
    assert_true(c.dense[1] == 0); /* below 0 */
    assert_true(c.dense[2] == 0); /* empty */
    assert_true(fabs(c.dense[12] - log(14.0)) < 1e-6);
    assert_true(c.hash[5] == -1);
    assert_true(c.hash[0] >= 0 && c.hash[1] >= 0);
    assert_true(c.hash[25] != c.hash[0]); /* another field, another hash */
    for (i = 0; i < TRI_CRITEO_SPARSE; i++) {
        assert_true(c.hash[TRI_CRITEO_SPARSE + i] == -1);
    }
    for (i = 0; i < TRI_CRITEO_DENSE; i++) {
        assert_true(c.dense[TRI_CRITEO_DENSE + i] == 0);
    }
    tri_criteo_close(&c);
    assert_int_equal(read_text(full, &c), TRI_OK); /* no end of line */
    assert_int_equal(c.n, 1);
    tri_criteo_close(&c);
}

static void refusals(void **state)
{
    static const struct {
        const char *line, *says;
    } rows[] = {
            {"2\t", "day_0:2:1: field 1: found \"2\", expected a label"},
            {"10\t", "field 1: found \"10\", expected a label"},
            {"", "field 1: found \"\", expected a label"},
            {"1\tx", "day_0:2:3: field 2: found \"x\", expected an integer"},
            {"1\t1.5", "field 2: found \"1.5\""},
            {"1\t1234567890123456789", "at most 18 digits"},
            {"1\t1\t2", "day_0:2:6: field 4: found \"\", expected 40 fields"},
            {"0\t\t\t\t\t\t\t\t\t\t\t\t\t\txyz", "field 15: found \"xyz\""},
    };
    tri_criteo c = {0};
    char text[1024];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, "%s\n%s\n", full, rows[i].line);
        assert_int_equal(read_text(text, &c), TRI_EDATA);
        if (!strstr(tri_error_last()->sentence, rows[i].says)) {
            fail_msg("'%s' does not say '%s'", tri_error_last()->sentence,
                     rows[i].says);
        }
        assert_null(c.dense);
    }
    snprintf(text, sizeof text, "%s\t1\n", full);
    assert_int_equal(read_text(text, &c), TRI_EDATA);
    assert_non_null(strstr(tri_error_last()->sentence, "40 fields"));
    assert_int_equal(read_text("", &c), TRI_EDATA);
    assert_non_null(strstr(tri_error_last()->sentence, "found no line"));
}

#define ROWS  1000
#define DRAWS 20000

static void zipf(void **state)
{
    static int count[ROWS];
    int64_t rows[2] = {ROWS, 7};
    tri_clicks c = {.seed = 3,
                    .dense = 4,
                    .tables = 2,
                    .pooling = 1,
                    .rows = rows,
                    .zipf = 1};
    int64_t i;
    int top = 0, clicks = 0, k, used = 0;

    (void)state;
    tri_clicks_prepare(&c);
    for (i = 0; i < DRAWS; i++) {
        tri_real dense[4], again[4];
        int32_t ids[2], same[6];
        int click = tri_clicks_sample(&c, i / 100, i % 100, 1, dense, ids);

        assert_true(ids[0] >= 0 && ids[0] < ROWS && ids[1] >= 0 && ids[1] < 7);
        count[ids[0]]++;
        clicks += click;
        assert_int_equal(
                tri_clicks_sample(&c, i / 100, i % 100, 5, again, same), click);
        assert_true(same[0] == ids[0] && same[5] == ids[1]);
        assert_true(dense[0] == again[0] && dense[3] == again[3]);
    }
    for (k = 0; k < ROWS; k++) {
        top = count[k] > top ? count[k] : top;
        used += count[k] > 0;
    }
    /* P(rank 1) = log 2 / log(rows + 1) */
    print_message("most popular %d, rows used %d, clicks %d\n", top, used,
                  clicks);
    assert_true(fabs((double)top / DRAWS - log(2) / log(ROWS + 1)) < 0.01);
    assert_true(used > ROWS / 2);
    assert_true(clicks > DRAWS / 5 && clicks < DRAWS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fields),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(zipf)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
