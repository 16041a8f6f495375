/*
 * Recorded results from CSV texts: columns by the names of parameters, cells
 * as a study file has them, rows outside the space left out, and sentences
 * with lines for what cannot be read.
 */
#include "trireme/recorded.h"
#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char yaml[] = "study: t\n"
                           "model: {kind: process, command: [./train]}\n"
                           "space:\n"
                           "  dp: {int: [1, 8], log2: true}\n"
                           "  algo: {choice: [ring, \"two trees\", \"10\"]}\n"
                           "  bucket: {choice: [1 MiB, 2 MiB], when: dp > 1}\n"
                           "  lr: {choice: [0.001, 0.01]}\n"
                           "  zero: 1\n"
                           "objective: {minimize: loss}\n"
                           "resource: {unit: steps, min: 1, max: 4, eta: 2}\n"
                           "budget: {trials: 10}\n"
                           "finals: none\n";

#define HEAD "dp,algo,bucket,lr"

static tri_study *study(void)
{
    tri_study *s = NULL;

    if (tri_study_parse(yaml, strlen(yaml), "t.yaml", NULL, NULL, &s) !=
        TRI_OK) {
        print_error("%s\n", tri_error_last()->sentence);
        fail();
    }
    return s;
}

static tri_status read_text(const tri_study *s, const char *text,
                            tri_recorded *out)
{
    tri_recorded_init(out, s);
    return tri_recorded_read(out, text, strlen(text), "r.csv");
}

static void expect_row(const tri_recorded *r, int64_t row, const char *text)
{
    char buf[256];

    tri_space_print(r->study->space, r->configs + row * r->n_params, buf,
                    sizeof buf);
    assert_string_equal(buf, text);
}

static void cells_read_as_in_a_study(void **state)
{
    tri_study *s = study();
    tri_recorded r;

    (void)state;
    assert_int_equal(read_text(s,
                               "note,loss," HEAD "\r\n"
                               "x,2.5,2.0,ring,1 MiB,1e-3\r\n"
                               "\"a\nb\",nan,1,two trees,inactive,0.01\r\n"
                               "\r\n"
                               "x,1.5,1,10,,0.010\r\n"
                               "x,7,4,ring,2097152,0.01\r\n",
                               &r),
                     TRI_OK);
    assert_int_equal(r.n_rows, 4);
    assert_int_equal(r.n_points, 4);
    assert_int_equal(r.outside, 0);
    expect_row(&r, 0, "dp=2 algo=ring bucket=1048576 lr=0.001");
    expect_row(&r, 1, "dp=1 algo=\"two trees\" lr=0.01");
    expect_row(&r, 2, "dp=1 algo=\"10\" lr=0.01");
    expect_row(&r, 3, "dp=4 algo=ring bucket=2097152 lr=0.01");
    assert_true(r.points[0].objective == 2.5 && !r.points[0].failed);
    assert_true(isnan(r.points[1].objective) && r.points[1].failed);
    assert_int_equal(r.points[3].row, 3);
    assert_int_equal(r.points[3].resource, 1);
    tri_recorded_fini(&r);
    tri_study_destroy(s);
}

static void curves_go_before_the_objective(void **state)
{
    tri_study *s = study();
    tri_recorded r;

    (void)state;
    assert_int_equal(read_text(s,
                               HEAD ",loss,step_0,step_1,step_3,failed\n"
                                    "1,ring,,0.01,0,9,5,1,False\n"
                                    "1,10,,0.01,0,9,nan,1,0\n"
                                    "2,10,1 MiB,0.01,0,9,NA,1,true\n",
                               &r),
                     TRI_OK);
    assert_int_equal(r.n_rows, 3);
    assert_int_equal(r.n_points, 6);
    assert_true(r.points[0].objective == 9 && r.points[0].resource == 1);
    assert_true(r.points[1].objective == 5 && r.points[1].resource == 2);
    /* it diverged, which is no failure of the configuration */
    assert_true(isnan(r.points[3].objective) && !r.points[3].failed);
    assert_true(r.points[4].objective == 9 && r.points[4].failed);
    tri_recorded_fini(&r);
    tri_study_destroy(s);
}

/* Values outside a domain, and other values of a constant. */
static void other_spaces_are_left_out(void **state)
{
    tri_study *s = study();
    tri_recorded r;

    (void)state;
    assert_int_equal(read_text(s,
                               HEAD ",zero,loss\n"
                                    "1,ring,,0.01,1,3\n"
                                    "1,ring,,0.01,2,4\n"
                                    "16,ring,1 MiB,0.01,1,5\n"
                                    "1,mesh,,0.01,1,6\n",
                               &r),
                     TRI_OK);
    assert_int_equal(r.n_rows, 1);
    assert_int_equal(r.n_points, 1);
    assert_int_equal(r.outside, 3);
    tri_recorded_fini(&r);
    tri_study_destroy(s);
}

static void bad_texts(void **state)
{
    static const struct {
        const char *text;
        tri_status status;
        int line;
        const char *says;
    } rows[] = {
            {"dp,algo,bucet,lr,loss\n1,ring,,0.01,1\n", TRI_EUNKNOWN, 1,
             "no column \"bucket\"; did you mean \"bucet\"?"},
            {HEAD ",losss\n1,ring,,0.01,1\n", TRI_EUNKNOWN, 1,
             "neither a column \"loss\" nor \"step_0\"; did you mean "
             "\"losss\"?"},
            {HEAD ",loss,note\n1,ring,,0.01,1,\"two\nlines\"\n\n"
                  "1,ring,,0.01,1 s,x\n",
             TRI_ETYPE, 5, "column \"loss\": found \"1 s\", expected a number"},
            {HEAD ",step_0,step_1\n1,ring,,0.01,1,x\n", TRI_ETYPE, 2,
             "column \"step_1\": found \"x\""},
            {HEAD ",loss,failed\n1,ring,,0.01,1,0\n1,ring,,0.01,1,perhaps\n",
             TRI_ETYPE, 3, "column \"failed\": found \"perhaps\""},
            {HEAD ",loss\n1,ring,,0.01,1\n,ring,,0.01,1\n", TRI_EPARSE, 3,
             "\"dp\" has no value"},
            {HEAD ",loss\n1,ring,,0.01\n", TRI_EPARSE, 2,
             "4 cells where the header has 5"},
            {HEAD ",loss\n1,ring,,0.01,1\n1,\"ring\"s,,0.01,1\n", TRI_EPARSE, 3,
             "found \"s,,0.01,1"},
            {HEAD ",loss\n9007199254740993,ring,,0.01,1\n", TRI_ERANGE, 2,
             "below 2^53"},
            {HEAD ",loss\n", TRI_EPARSE, 1, "no rows"},
            {HEAD ",loss\n3,ring,1 MiB,0.01,2\n", TRI_EEMPTY, 0,
             "r.csv records no configuration of study 't'"},
    };
    tri_study *s = study();

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tri_recorded r;
        tri_status st = read_text(s, rows[i].text, &r);

        if (!strstr(tri_error_last()->sentence, rows[i].says)) {
            print_error("%s\n", tri_error_last()->sentence);
        }
        assert_int_equal(st, rows[i].status);
        assert_non_null(strstr(tri_error_last()->sentence, rows[i].says));
        assert_int_equal(tri_error_last()->line, rows[i].line);
        tri_recorded_fini(&r);
    }
    tri_study_destroy(s);
}

static void bytes_are_no_text(void **state)
{
    static const char bytes[] = "dp\0algo";
    tri_study *s = study();
    tri_recorded r;

    (void)state;
    tri_recorded_init(&r, s);
    assert_int_equal(tri_recorded_read(&r, bytes, sizeof bytes, "r.csv"),
                     TRI_EPARSE);
    assert_string_equal(tri_error_last()->file, "r.csv");
    tri_recorded_fini(&r);
    tri_study_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(cells_read_as_in_a_study),
            cmocka_unit_test(curves_go_before_the_objective),
            cmocka_unit_test(other_spaces_are_left_out),
            cmocka_unit_test(bad_texts),
            cmocka_unit_test(bytes_are_no_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
