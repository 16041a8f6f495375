/*
 * Recorded tables as spaces: distinct rows, medians of repeats, failed rows,
 * curves, and the order of rows and numbers.
 */
#include "tests/tri_cmocka.h"
#include "trireme/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tri_status give(void *ctx, const char *path, char **data, size_t *bytes)
{
    const char *text = ctx;

    assert_string_equal(path, "dir/runs.csv");
    *bytes = strlen(text);
    *data = malloc(*bytes + 1);
    memcpy(*data, text, *bytes + 1);
    return TRI_OK;
}

static tri_status read_table(const char *csv, const char *model,
                             const char *more, tri_study **out)
{
    char text[2000];

    snprintf(text, sizeof text,
             "study: t\nmodel: {kind: table, file: runs.csv, %s}\nspace: "
             "table\n%s",
             model, more);
    return tri_study_parse(text, strlen(text), "dir/t.yaml", give, (void *)csv,
                           out);
}

static const char csv[] = "\xef\xbb\xbf"
                          "dp,algo,speed,failed,note\n"
                          "8,ring,10,0,\n"
                          "2,ring,4,0,\"a, quoted \"\"note\"\"\"\n"
                          "2,tree,nan,1,\r\n"
                          "8,ring,30,0,\n"
                          "8,ring,nan,1,\n"
                          "8,ring,20,0,\n"
                          "4,tree,7,0,\n"
                          "\n"
                          "2,ring,6,0,\n";

static void rows_are_merged(void **state)
{
    tri_study *s = NULL;
    const tri_table *t;
    tri_config c[2];
    int64_t at;

    (void)state;
    assert_int_equal(read_table(csv,
                                "parameters: [dp, algo], objective: speed, "
                                "failed: failed",
                                "objective: {maximize: tokens_per_s}\n", &s),
                     TRI_OK);
    t = tri_study_table(s);
    assert_int_equal(tri_space_count(s->space), 4);
    assert_int_equal(tri_space_raw(s->space), 4);
    assert_int_equal(t->n_rows, 4);
    assert_int_equal(t->n_points, 1);
    assert_true(t->optimum == 20);
    assert_int_equal(tri_space_parse(s->space, "dp=8 algo=ring", c), TRI_OK);
    assert_int_equal(tri_space_index(s->space, c, &at), TRI_OK);
    assert_int_equal(at, 3);
    assert_true(t->objective[at] == 20);
    assert_int_equal(t->failed[at], 0); /* failed once of four times */
    assert_int_equal(tri_space_at(s->space, 1, c), TRI_OK);
    assert_int_equal(c[0].u.i, 2);
    assert_string_equal(c[1].u.word, "tree");
    assert_true(isnan(t->objective[1]) && t->failed[1]);
    assert_true(t->objective[0] == 5);
    assert_int_equal(tri_space_parse(s->space, "dp=4 algo=ring", c), TRI_OK);
    assert_false(tri_space_valid(s->space, c, NULL));
    tri_study_destroy(s);
}

static void curves_and_constraints(void **state)
{
    static const char curves[] = "x,y,c_0,c_1,c_2,final\n"
                                 "1,0.5,9,5,3,3\n"
                                 "2,0.5,9,nan,nan,nan\n"
                                 "2,0.75,nan,nan,nan,nan\n"
                                 "3,0.25,8,4,1,1\n";
    tri_study *s = NULL;
    const tri_table *t;
    int lo, hi;

    (void)state;
    assert_int_equal(read_table(curves,
                                "parameters: [x, y], objective: final, curve: "
                                "c_",
                                "objective: {minimize: loss}\n"
                                "ranks: x * 2\nconstraints: [x < 3]\n",
                                &s),
                     TRI_OK);
    t = tri_study_table(s);
    assert_int_equal(t->n_rows, 3);
    assert_int_equal(t->n_points, 3);
    assert_true(t->objective[0] == 9 && t->objective[1] == 5 &&
                t->objective[2] == 3);
    /* it diverges on the way: not to be known before a run comes there */
    assert_true(t->objective[3] == 9 && isnan(t->objective[5]) &&
                !t->failed[1]);
    assert_true(t->optimum == 3); /* of the rows that are valid */
    tri_space_rank_range(s->space, &lo, &hi);
    assert_true(lo == 2 && hi == 4);
    tri_study_destroy(s);
}

/* As R, Excel and people write it. */
static void words_for_failed(void **state)
{
    static const char words[] = "a,b,f\n1,9,TRUE\n2,9,yes\n3,9,1\n4,9,True\n"
                                "5,1,FALSE\n6,1,No\n7,1,0\n8,1,\n";
    const tri_table *t;
    tri_study *s = NULL;

    (void)state;
    assert_int_equal(read_table(words,
                                "parameters: [a], objective: b, failed: f",
                                "objective: {maximize: b}\n", &s),
                     TRI_OK);
    t = tri_study_table(s);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(t->failed[i], i < 4);
    }
    assert_true(t->optimum == 1);
    tri_study_destroy(s);
}

/* A row may say in many ways that it has no result, and what one that failed
 * has in its place is its own matter. */
static void no_result(void **state)
{
    static const char cells[] = "a,b,f\n1,nan,0\n2,,0\n3,NA,0\n4,inf,0\n"
                                "5,OOM,1\n6,\"7\" ,0\n9007199254740991,8,0\n";
    const tri_table *t;
    tri_study *s = NULL;

    (void)state;
    assert_int_equal(read_table(cells,
                                "parameters: [a], objective: b, failed: f",
                                "objective: {maximize: b}\n", &s),
                     TRI_OK);
    t = tri_study_table(s);
    for (int i = 0; i < 5; i++) {
        assert_true(isnan(t->objective[i]));
    }
    assert_true(t->failed[4] && !t->failed[5] && t->objective[5] == 7);
    assert_int_equal(t->n_rows, 7);
    tri_study_destroy(s);
}

/* The line that an error names is the one to look at. */
static void errors_have_lines(void **state)
{
    static const struct {
        const char *csv;
        int line;
    } rows[] = {{"a,b\n1,2\n2,4ms\n", 3},
                {"a,b\n\"1\n\",2\n2,\"4\n5,6\n7,8\n", 4},
                {"a,b\n1,2\n\"2\"x,4\n", 3},
                {"a,b\n1,2\n2,3\n9007199254740992,4\n", 4}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tri_study *s = NULL;

        assert_int_not_equal(read_table(rows[i].csv,
                                        "parameters: [a], objective: b",
                                        "objective: {minimize: b}\n", &s),
                             TRI_OK);
        assert_string_equal(tri_error_last()->file, "dir/runs.csv");
        assert_int_equal(tri_error_last()->line, rows[i].line);
    }
}

static void bad_tables(void **state)
{
    static const struct {
        const char *csv, *model;
        tri_status status;
        const char *says;
    } rows[] = {
            {"a,b\n1,2\n", "parameters: [a, x], objective: b", TRI_EUNKNOWN,
             "no column \"x\""},
            {"alpha,b\n1,2\n", "parameters: [alhpa], objective: b",
             TRI_EUNKNOWN, "did you mean \"alpha\""},
            {"a,b\n1\n", "parameters: [a], objective: b", TRI_EPARSE,
             "1 cells where the header has 2"},
            {"a,b\n", "parameters: [a], objective: b", TRI_EPARSE, "no rows"},
            {"", "parameters: [a], objective: b", TRI_EPARSE, ""},
            {"a,b,f\n1,2,no\n2,9,OOM\n",
             "parameters: [a], objective: b, failed: f", TRI_ETYPE,
             "column \"f\": found \"OOM\", expected true or false"},
            {"a,b,f\n1,2,nan\n", "parameters: [a], objective: b, failed: f",
             TRI_ETYPE, "found \"nan\""},
            {"a,b,a\n1,2,3\n", "parameters: [a], objective: b", TRI_EEXIST,
             "column \"a\" twice"},
            {"ranks,b\n1,2\n", "parameters: [ranks], objective: b", TRI_EINVAL,
             "column of /trials"},
            {"a,b\n1,2\n", "parameters: [a], objective: b, curve: s_",
             TRI_EUNKNOWN, "\"s_0\""},
            {"a,b\n1,2\n", "parameters: [a]", TRI_ETYPE, "objective"},
            {"a,b\n1,2\n2,4ms\n", "parameters: [a], objective: b", TRI_ETYPE,
             "column \"b\": found \"4ms\", expected a number"},
            {"a,b,s_0\n1,2,x\n", "parameters: [a], objective: b, curve: s_",
             TRI_ETYPE, "column \"s_0\": found \"x\""},
            {"a,b\n18014398509481984,2\n18014398509481985,3\n",
             "parameters: [a], objective: b", TRI_ERANGE,
             "found 18014398509481984, expected an integer below 2^53"},
            {"a,b\n1,2\n-4611686018427387905,3\n",
             "parameters: [a], objective: b", TRI_ERANGE, "below 2^53"},
            {"a,b\n\"1\"2,2\n", "parameters: [a], objective: b", TRI_EPARSE,
             "found \"2,2"},
            {"a,b\n1,\"2\n3,4\n", "parameters: [a], objective: b", TRI_EPARSE,
             "quote (\") is not closed"},
            {"a,\"b\n1,2\n", "parameters: [a], objective: b", TRI_EPARSE,
             "quote (\") is not closed"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        tri_study *s = NULL;
        tri_status st = read_table(rows[i].csv, rows[i].model,
                                   "objective: {minimize: loss}\n", &s);
        if (!strstr(tri_error_last()->sentence, rows[i].says)) {
            print_error("%s\n", tri_error_last()->sentence);
        }
        assert_int_equal(st, rows[i].status);
        assert_non_null(strstr(tri_error_last()->sentence, rows[i].says));
        assert_null(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_merged),
                                       cmocka_unit_test(curves_and_constraints),
                                       cmocka_unit_test(words_for_failed),
                                       cmocka_unit_test(no_result),
                                       cmocka_unit_test(errors_have_lines),
                                       cmocka_unit_test(bad_tables)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
