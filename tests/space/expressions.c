/*
 * The expression language by examples: values, precedence, units, and every
 * class of error with its column.
 */
#include "src/space/node.h"
#include "tests/tri_cmocka.h"
#include "trireme/expr.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTS   (1u << TRI_INT)
#define WORDS  (1u << TRI_WORD)
#define BOOLS  (1u << TRI_BOOL)
#define N_VARS 7

static tri_expr *when_s, *when_v;
static tri_var vars[N_VARS] = {
        {"dp", INTS, 0, NULL},           {"pp", INTS, 0, NULL},
        {"lr", 1u << TRI_REAL, 0, NULL}, {"flag", BOOLS, 0, NULL},
        {"word", WORDS, 0, NULL},        {"sched", WORDS, 1, NULL},
        {"virt", INTS, 1, NULL}};
static const char *const words[] = {"red", "1f1b", "none", "two words"};
static tri_value values[N_VARS];

static int set_up(void **state)
{
    (void)state;
    values[0].type = values[1].type = TRI_INT;
    values[0].u.i = 4;
    values[1].u.i = 2;
    values[2].type = TRI_REAL;
    values[2].u.d = 0.25;
    values[3].type = TRI_BOOL;
    values[3].u.i = 1;
    values[4].type = values[5].type = TRI_WORD;
    values[4].u.word = "red";
    values[5].u.word = "1f1b";
    values[6].type = TRI_INT;
    values[6].u.i = 3;
    return tri_expr_parse("pp > 1", vars, N_VARS, words, 4, TRI_BOOL,
                          &when_s) ||
           tri_expr_parse("sched == 1f1b", vars, N_VARS, words, 4, TRI_BOOL,
                          &when_v);
}

static int tear_down(void **state)
{
    (void)state;
    tri_expr_destroy(when_s);
    tri_expr_destroy(when_v);
    return 0;
}

typedef struct example {
    const char *text, *value;
} example;

static const example numbers[] = {
        {"1 + 2 * 3", "7"},
        {"(1 + 2) * 3", "9"},
        {"7 - 2 - 1", "4"},
        {"2 ** 3 ** 2", "512"},
        {"-2 ** 2", "-4"},
        {"2 ** -1.0", "0.5"},
        {"2.0 ** -1", "0.5"},
        {"7 / 2", "3.5"},
        {"6 / 2", "3.0"},
        {"7 // 2", "3"},
        {"-7 // 2", "-4"},
        {"7 // -2", "-4"},
        {"-7 % 3", "2"},
        {"7 % -3", "-2"},
        {"-7.5 % 2", "0.5"},
        {"7.5 // 2", "3.0"},
        {"1 + 0.5", "1.5"},
        {"min(3, 1, 2)", "1"},
        {"max(3, dp, 2)", "4"},
        {"max(1, 2.5)", "2.5"},
        {"abs(-3)", "3"},
        {"ceil(7 / 2)", "4"},
        {"floor(-7 / 2)", "-4"},
        {"log2(8)", "3.0"},
        {"sqrt(16)", "4.0"},
        {"if(pp > 1, 10, 20)", "10"},
        {"if(pp > 2, 10, 1 // 0)", NULL},
        {"if(pp > 1, 10, 1 // 0)", "10"},
        {"2 GiB", "2147483648"},
        {"2GiB", "2147483648"},
        {"1.5 GiB", "1610612736"},
        {"10 min", "600"},
        {"25s", "25"},
        {"5 ms", "0.005"},
        {"1 %", "0.01"},
        {"max(1 %, 0)", "0.01"},
        {"10 % dp", "2"},
        {"10 %dp", "2"},
        {"10 % -3", "-2"},
        {"10 % 4", "2"},
        {"1e3", "1000.0"},
        {".5 + 1.", "1.5"},
        {"--3", "3"},
        {"dp * pp", "8"},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775807 - 1", "-9223372036854775808"},
};

static const example truths[] = {
        {"1 < 2 and 2 < 3", "true"},
        {"1 < 2 and not 2 < 3", "false"},
        {"true or 1 // 0 == 1", "true"},
        {"false and 1 // 0 == 1", "false"},
        {"1 == 1.0", "true"},
        {"not dp == 4 or flag", "true"},
        {"dp in [1, 2, 4]", "true"},
        {"dp not in [1, 2, 4]", "false"},
        {"dp in []", "false"},
        {"word == red", "true"},
        {"word == \"red\"", "true"},
        {"word != 'two words'", "true"},
        {"sched == 1f1b", "true"},
        {"sched in [none, 1f1b]", "true"},
        {"flag == true", "true"},
        {"word == red and flag", "true"},
        {"dp != inactive", "true"},
        {"2 GiB == 2 * 1024 MiB", "true"},
        {"lr <= 25 %", "true"},
        {"50 % < 1", "true"},
};

static void check_all(const example *rows, size_t n, tri_type want)
{
    char text[100];
    tri_value v;
    size_t i;

    for (i = 0; i < n; i++) {
        tri_expr *e = NULL;
        tri_status st =
                tri_expr_parse(rows[i].text, vars, N_VARS, words, 4, want, &e);
        if (st != TRI_OK) {
            print_error("%s: %s\n", rows[i].text, tri_error_last()->sentence);
        }
        assert_int_equal(st, TRI_OK);
        st = tri_expr_eval(e, values, &v);
        if (!rows[i].value) {
            assert_int_not_equal(st, TRI_OK);
        } else {
            assert_int_equal(st, TRI_OK);
            tri_value_print(v, text, sizeof text);
            if (strcmp(text, rows[i].value) != 0) {
                print_error("%s\n", rows[i].text);
            }
            assert_string_equal(text, rows[i].value);
        }
        tri_expr_destroy(e);
    }
}

static void values_of_examples(void **state)
{
    (void)state;
    check_all(numbers, sizeof numbers / sizeof *numbers, TRI_REAL);
    check_all(truths, sizeof truths / sizeof *truths, TRI_BOOL);
}

typedef struct refusal {
    const char *text;
    tri_type want;
    tri_status status;
    int column; /* 0: any */
} refusal;

static const refusal refusals[] = {
        {"1 +", TRI_REAL, TRI_EPARSE, 4},
        {"(1", TRI_REAL, TRI_EPARSE, 3},
        {"1 2", TRI_REAL, TRI_EPARSE, 3},
        {"dp = 2", TRI_BOOL, TRI_EPARSE, 4},
        {"1 < dp < 3", TRI_BOOL, TRI_EPARSE, 8},
        {"min()", TRI_REAL, TRI_EPARSE, 1},
        {"if(flag, 1)", TRI_REAL, TRI_EPARSE, 1},
        {"log2(1, 2)", TRI_REAL, TRI_EPARSE, 1},
        {"3 dogs", TRI_REAL, TRI_EPARSE, 3},
        {"3dogs", TRI_REAL, TRI_EPARSE, 1},
        {"'open", TRI_BOOL, TRI_EPARSE, 1},
        {"dp $ 2", TRI_REAL, TRI_EPARSE, 4},
        {"99999999999999999999", TRI_REAL, TRI_EOVERFLOW, 1},
        {"", TRI_REAL, TRI_EPARSE, 1},
        {"dpp * 2", TRI_REAL, TRI_EUNKNOWN, 1},
        {"word == rad", TRI_BOOL, TRI_EUNKNOWN, 9},
        {"dp + 1", TRI_BOOL, TRI_ETYPE, 0},
        {"dp > 1", TRI_REAL, TRI_ETYPE, 0},
        {"dp / 2", TRI_INT, TRI_ETYPE, 0},
        {"dp * lr", TRI_INT, TRI_ETYPE, 0},
        {"dp * 2.0", TRI_INT, TRI_ETYPE, 0},
        {"sqrt(dp)", TRI_INT, TRI_ETYPE, 0},
        {"2 ** -1", TRI_REAL, TRI_ETYPE, 0},
        {"word + 1", TRI_REAL, TRI_ETYPE, 1},
        {"word < red", TRI_BOOL, TRI_ETYPE, 1},
        {"dp == red", TRI_BOOL, TRI_ETYPE, 7},
        {"flag == 1", TRI_BOOL, TRI_ETYPE, 9},
        {"dp in [1, red]", TRI_BOOL, TRI_ETYPE, 0},
        {"dp and flag", TRI_BOOL, TRI_ETYPE, 1},
        {"not dp", TRI_BOOL, TRI_ETYPE, 5},
        {"-flag", TRI_REAL, TRI_ETYPE, 2},
        {"inactive + 1", TRI_REAL, TRI_ETYPE, 1},
        {"virt + 1", TRI_REAL, TRI_ETYPE, 1},
        {"virt > 1", TRI_BOOL, TRI_ETYPE, 1},
        {"virt", TRI_REAL, TRI_ETYPE, 1},
};

static void errors_have_class_and_column(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *r = &refusals[i];
        tri_expr *e = NULL;
        tri_status st =
                tri_expr_parse(r->text, vars, N_VARS, words, 4, r->want, &e);
        if (st != r->status ||
            (r->column && tri_error_last()->column != r->column)) {
            print_error("%s: %s at %d: %s\n", r->text, tri_status_name(st),
                        tri_error_last()->column, tri_error_last()->sentence);
        }
        assert_int_equal(st, r->status);
        assert_null(e);
        if (r->column) {
            assert_int_equal(tri_error_last()->column, r->column);
        }
    }
}

static const struct {
    const char *text;
    tri_status status;
} failures[] = {
        {"9223372036854775807 + dp", TRI_EOVERFLOW},
        {"-9223372036854775807 - 1 - dp", TRI_EOVERFLOW},
        {"9223372036854775807 * dp", TRI_EOVERFLOW},
        {"dp ** 40", TRI_EOVERFLOW},
        {"1e308 * dp", TRI_EOVERFLOW},
        {"floor(1e300)", TRI_EOVERFLOW},
        {"abs(-9223372036854775807 - 1)", TRI_EOVERFLOW},
        {"(-9223372036854775807 - 1) // (pp - 3)", TRI_EOVERFLOW},
        {"1 / (dp - 4)", TRI_EDIVZERO},
        {"1 // (dp - 4)", TRI_EDIVZERO},
        {"1 % (dp - 4)", TRI_EDIVZERO},
        {"lr / 0.0", TRI_EDIVZERO},
        {"0.0 ** (0 - dp / 1)", TRI_EDIVZERO},
        {"log2(dp - 4)", TRI_ERANGE},
        {"sqrt(0 - dp)", TRI_ERANGE},
        {"pp ** (0 - dp)", TRI_ERANGE},
};

static void failures_of_evaluation(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof failures / sizeof *failures; i++) {
        tri_expr *e = NULL;
        tri_value v;
        assert_int_equal(tri_expr_parse(failures[i].text, vars, N_VARS, words,
                                        4, TRI_REAL, &e),
                         TRI_OK);
        if (tri_expr_eval(e, values, &v) != failures[i].status) {
            print_error("%s\n", failures[i].text);
        }
        assert_int_equal(tri_expr_eval(e, values, &v), failures[i].status);
        tri_expr_destroy(e);
    }
}

/* sched is active where pp > 1, virt where sched == 1f1b. */
static const struct {
    const char *text;
    int allowed;
} guards[] = {
        {"if(sched == 1f1b, virt, 1) > 0", 1},
        {"if(sched == none, virt, 1) > 0", 0},
        {"if(not sched == 1f1b, 1, virt) > 0", 1},
        {"if(sched != 1f1b, 1, virt) > 0", 1},
        {"if(virt == inactive, 1, virt) > 0", 1},
        {"if(virt != inactive, virt, 1) > 0", 1},
        {"if(virt != inactive, 1, virt) > 0", 0},
        {"sched == 1f1b and virt > 1", 1},
        {"virt > 1 and sched == 1f1b", 0},
        {"sched != 1f1b or virt > 1", 1},
        {"sched == 1f1b or virt > 1", 0},
        {"virt == inactive or virt > 1", 1},
        {"virt == 1 or virt > 1", 0},
        {"virt in [2, 3] and virt * 2 > 1", 1},
        {"virt not in [2, 3] and virt * 2 > 1", 0},
        {"sched in [1f1b] and virt > 1", 1},
        {"sched in [1f1b, none] and virt > 1", 0},
        {"flag and sched == 1f1b and virt > 1", 1},
        {"(flag or sched == 1f1b) and virt > 1", 0},
        {"not (flag or sched != 1f1b) and virt > 1", 1},
        {"virt == 2", 1},
        {"sched == none", 1},
};

static void guards_are_understood(void **state)
{
    size_t i;

    (void)state;
    vars[5].when = when_s;
    vars[6].when = when_v;
    for (i = 0; i < sizeof guards / sizeof *guards; i++) {
        tri_expr *e = NULL;
        tri_status st = tri_expr_parse(guards[i].text, vars, N_VARS, words, 4,
                                       TRI_BOOL, &e);
        if ((st == TRI_OK) != guards[i].allowed) {
            print_error("%s\n", guards[i].text);
        }
        assert_int_equal(st, guards[i].allowed ? TRI_OK : TRI_ETYPE);
        tri_expr_destroy(e);
    }
}

/* A numeric parameter that is active where pp > 1. */
static void bounds_imply_bounds(void **state)
{
    static const struct {
        const char *text;
        int allowed;
    } rows[] = {
            {"pp > 1 and virt > 1", 1},       {"pp >= 2 and virt > 1", 1},
            {"pp == 4 and virt > 1", 1},      {"2 <= pp and virt > 1", 1},
            {"pp > 5 and virt > 1", 1},       {"pp in [2, 4] and virt > 1", 1},
            {"pp <= 1 or virt > 1", 1},       {"pp < 2 or virt > 1", 1},
            {"pp != 1 and virt > 1", 0},      {"pp > 0 and virt > 1", 0},
            {"pp in [1, 4] and virt > 1", 0}, {"if(pp > 1, virt, 1) > 0", 1},
            {"if(pp == 1, 1, virt) > 0", 0},
    };
    size_t i;

    (void)state;
    vars[6].when = when_s;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        tri_expr *e = NULL;
        tri_status st = tri_expr_parse(rows[i].text, vars, N_VARS, words, 4,
                                       TRI_BOOL, &e);
        if ((st == TRI_OK) != rows[i].allowed) {
            print_error("%s\n", rows[i].text);
        }
        assert_int_equal(st == TRI_OK, rows[i].allowed);
        tri_expr_destroy(e);
    }
}

static void inactive_equals_only_itself(void **state)
{
    static const example rows[] = {
            {"virt == inactive", "true"}, {"virt == 1", "false"},
            {"virt != 1", "true"},        {"virt in [1, 2]", "false"},
            {"sched == none", "false"},   {"sched == virt", NULL},
    };
    tri_value saved = values[6], sched = values[5];

    (void)state;
    values[6].type = values[5].type = TRI_INACTIVE;
    check_all(rows, 5, TRI_BOOL);
    values[6] = saved;
    values[5] = sched;
}

static void hostile_depth_is_bounded(void **state)
{
    enum {
        N = 8000
    };
    static const char *const bits[] = {"(",   "-",    "not ",    "1+",
                                       "1**", "min(", "if(flag,"};
    char *text = malloc(N * 10);
    size_t i;
    int k;

    (void)state;
    for (i = 0; i < sizeof bits / sizeof *bits; i++) {
        tri_expr *e = NULL;
        text[0] = '\0';
        for (k = 0; k < 1500; k++) {
            strcat(text, bits[i]);
        }
        strcat(text, "1");
        assert_int_not_equal(
                tri_expr_parse(text, vars, N_VARS, words, 4, TRI_REAL, &e),
                TRI_OK);
        assert_null(e);
    }
    memset(text, '1', 9 * N);
    text[9 * N] = '\0';
    assert_int_equal(tri_expr_read(text, vars, N_VARS, words, 4, NULL),
                     TRI_ERANGE);
    free(text);
}

static void quantities(void **state)
{
    static const struct {
        const char *text;
        double value;
        char kind;
    } rows[] = {{"2 GiB", 2147483648.0, 'b'},
                {"2GiB", 2147483648.0, 'b'},
                {"1 kB", 1000, 'b'},
                {"3B", 3, 'b'},
                {"1 TiB", 1099511627776.0, 'b'},
                {"10 min", 600, 't'},
                {"25s", 25, 't'},
                {"1.5 h", 5400, 't'},
                {"2 d", 172800, 't'},
                {"250 ms", 0.25, 't'},
                {"1 %", 0.01, '%'},
                {"50%", 0.5, '%'},
                {"-3", -3, 0},
                {"1e6", 1e6, 0}};
    static const char *const bad[] = {"",    "GiB",   "2 gib", "1 2", "1 s s",
                                      "--1", "1e999", "0x10",  "nan"};
    double x;
    char kind;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(tri_quantity_parse(rows[i].text, &x, &kind), TRI_OK);
        assert_true(x == rows[i].value);
        assert_int_equal(kind, rows[i].kind);
    }
    for (i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_not_equal(tri_quantity_parse(bad[i], &x, &kind), TRI_OK);
    }
}

static void closest_names(void **state)
{
    static const char *const names[] = {"micro_batch", "global_batch", "dp",
                                        "constraints"};

    (void)state;
    assert_string_equal(tri_closest("micro_btach", names, 4), "micro_batch");
    assert_string_equal(tri_closest("constraint", names, 4), "constraints");
    assert_string_equal(tri_closest("dpp", names, 4), "dp");
    assert_null(tri_closest("zebra", names, 4));
    assert_null(tri_closest("x", names, 0));
}

static void values_print_as_they_read(void **state)
{
    static const double reals[] = {0.1, 1e300, -2.5, 3, 1.0 / 3, 5e-324};
    char text[80];
    tri_value v = {TRI_REAL, {0}};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof reals / sizeof *reals; i++) {
        v.u.d = reals[i];
        tri_value_print(v, text, sizeof text);
        assert_true(strtod(text, NULL) == reals[i]);
        assert_non_null(strpbrk(text, ".e"));
    }
    v.type = TRI_WORD;
    v.u.word = "two \"words\"";
    assert_int_equal(tri_value_print(v, text, sizeof text), 15);
    assert_string_equal(text, "\"two \\\"words\\\"\"");
    v.u.word = "12";
    tri_value_print(v, text, sizeof text);
    assert_string_equal(text, "\"12\"");
    assert_int_equal(tri_value_print(v, text, 3), 4);
    assert_string_equal(text, "\"1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(values_of_examples),
            cmocka_unit_test(errors_have_class_and_column),
            cmocka_unit_test(failures_of_evaluation),
            cmocka_unit_test(guards_are_understood),
            cmocka_unit_test(bounds_imply_bounds),
            cmocka_unit_test(inactive_equals_only_itself),
            cmocka_unit_test(hostile_depth_is_bounded),
            cmocka_unit_test(quantities),
            cmocka_unit_test(closest_names),
            cmocka_unit_test(values_print_as_they_read)};

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
