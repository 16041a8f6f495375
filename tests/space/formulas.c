/*
 * What a study says of its space before anything runs: empty sets of
 * continuous spaces with their tightest rule, formulas that cannot be computed
 * for some valid configuration, and how many configurations fit some ranks.
 */
#include "tests/tri_cmocka.h"
#include "trireme/study.h"

#include <stdio.h>
#include <string.h>

static tri_status read(const char *middle, tri_study **out)
{
    char text[4096];

    snprintf(text, sizeof text,
             "study: t\nmodel: {kind: synthetic}\n%s\nobjective: {minimize: "
             "loss}\n",
             middle);
    *out = NULL;
    return tri_study_parse(text, strlen(text), "t.yaml", NULL, NULL, out);
}

static tri_study *read_ok(const char *middle)
{
    tri_study *s;

    if (read(middle, &s) != TRI_OK) {
        print_error("%s\n%s\n", middle, tri_error_last()->sentence);
    }
    assert_non_null(s);
    return s;
}

static void expect_says(const char *needle)
{
    if (!strstr(tri_error_last()->sentence, needle)) {
        print_error("%s\n", tri_error_last()->sentence);
    }
    assert_non_null(strstr(tri_error_last()->sentence, needle));
}

/* ---- empty sets -------------------------------------------------------- */

static const struct {
    const char *text, *says;
    int line;
} empties[] = {
        {"space: {a: {float: [0, 1]}}\nconstraints: [a > 1.5]",
         "no configuration is valid; the tightest rule is 'a > 1.5', which "
         "alone refuses 100 %",
         4},
        {"space: {a: {float: [0, 1]}, b: {float: [0, 1]}}\nconstraints:\n  - "
         "a < 0.9\n  - a == b",
         "no valid configuration was found in 100000 draws; the tightest rule "
         "is 'a == b'",
         6},
        {"space: {a: {float: [0, 1]}, n: {int: [1, 4]}}\nconstraints:\n  - "
         "n > 4",
         "the tightest rule is 'n > 4', which alone refuses 100 %", 5},
        {"space: {a: {float: [0, 1]}, n: {int: [1, 4], when: a > 2}}\n"
         "constraints: [\"a < 0.5 and a > 0.5\"]",
         "'a < 0.5 and a > 0.5'", 4},
        {"space: {a: {float: [0, 1]}, b: {float: [0, 1], when: a > 0.5}}\n"
         "constraints:\n  - a < 0.4\n  - b != inactive",
         "no valid configuration was found in 100000 draws; the tightest rule "
         "is 'a < 0.4'",
         5},
        {"space: {a: {int: [1, 4]}}\nconstraints: [a < 4, a > 7]",
         "the tightest rule is 'a > 7', which alone refuses 4 of 4 points", 4},
};

static void empty_sets_are_said(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof empties / sizeof *empties; i++) {
        tri_study *s = read_ok(empties[i].text);
        assert_int_equal(tri_space_count(s->space), 0);
        assert_int_equal(tri_space_not_empty(s->space), TRI_EEMPTY);
        expect_says(empties[i].says);
        assert_int_equal(tri_error_last()->line, empties[i].line);
        tri_study_destroy(s);
    }
}

static void rare_is_not_empty(void **state)
{
    tri_study *s = read_ok("space: {a: {float: [0, 1]}, b: {float: [0, 1], "
                           "when: a > 0.5}}\nconstraints: [a < 0.001]");
    tri_rng rng = tri_rng_stream(3, 0, TRI_RNG_TEST);
    tri_config c[2];

    (void)state;
    assert_int_equal(tri_space_count(s->space), -1);
    assert_int_equal(tri_space_not_empty(s->space), TRI_OK);
    assert_int_equal(tri_space_sample(s->space, &rng, c), TRI_OK);
    assert_true(c[0].u.d < 0.001);
    tri_study_destroy(s);
}

/* ---- formulas ---------------------------------------------------------- */

static const struct {
    const char *text;
    tri_status status;
    int line, column;
    const char *says;
} wrongs[] = {
        {"space: {a: {int: [1, 4]}}\nfeatures: {f: 1/0}", TRI_EDIVZERO, 4, 15,
         "features.f: division by zero in \"1/0\", at a=1"},
        {"space: {a: {int: [1, 4]}}\nfeatures:\n  g: a\n  f: 1 / (a - 3)",
         TRI_EDIVZERO, 6, 6, "at a=3"},
        {"space: {a: {int: [1, 4]}}\nfeatures: {f: \"if(1 // (a - 3) > 0, 1, "
         "2)\"}",
         TRI_EDIVZERO, 4, 16, "at a=3"},
        {"space: {a: {int: [1, 4]}}\nfeatures: {f: log2(a - 2)}", TRI_ERANGE, 4,
         15, "at a=1"},
        {"space: {a: {int: [1, 1000000000]}}\nfeatures: {f: a ** 3}",
         TRI_EOVERFLOW, 4, 15, "overflow in \"a ** 3\", at a="},
        {"space: {a: {float: [-1, 1]}}\nfeatures: {f: sqrt(a)}", TRI_ERANGE, 4,
         15, "at a=-"},
        {"space: {a: {int: [1, 4]}}\nfeatures: {a: a + 1}", TRI_EEXIST, 4, 15,
         "features.a: a feature cannot have this name: it is that of a "
         "parameter"},
        {"space: {a: {int: [1, 4]}, k: 3}\nfeatures: {k: a + 1}", TRI_EEXIST, 4,
         15, "it is that of a parameter"},
        {"space: {a: {int: [1, 4]}}\nfeatures: {f: a, f: a}", TRI_EEXIST, 4, 18,
         "stands twice"},
        {"space: {a: {int: [1, 4]}}\nfeatures: {predicted: a}", TRI_EINVAL, 4,
         12,
         "features.predicted: a feature cannot have this name: it is a "
         "column of /trials"},
        {"space: {a: {int: [1, 4]}}\nfeatures: {if: a}", TRI_EINVAL, 4, 12,
         "expressions use it"},
        {"space: {a: {int: [1, 4]}}\nranks: a * 9000000000000000000",
         TRI_ERANGE, 4, 8, "is 9000000000000000000 at a=1; expected 1 to"},
        {"space: {a: {int: [1, 4]}}\nranks: \"(a * 5000000000000000000) % 3 + "
         "1\"",
         TRI_EOVERFLOW, 4, 9, "overflow in"},
        {"space: {a: {int: [1, 4]}}\nranks: a * 1000000000", TRI_ERANGE, 4, 8,
         "\"a * 1000000000\" is 3000000000 at a=3; expected 1 to 2147483647"},
        {"space: {a: {int: [1, 4]}}\nranks: a - 1", TRI_ERANGE, 4, 8,
         "\"a - 1\" is 0 at a=1"},
        {"space: {a: {int: [1, 4]}}\nranks: a / 2", TRI_ETYPE, 4, 10,
         "an integer"},
        {"space: {x: {float: [0, 1]}}\nranks: floor(4 * x)", TRI_ERANGE, 4, 8,
         "\"floor(4 * x)\" is 0 at x="},
        {"space: {x: {float: [0, 1]}, a: {int: [1, 4]}}\nconstraints: [x * a "
         "> 0.5]\nranks: a * 1000000000",
         TRI_ERANGE, 5, 8, "000000 at x="},
};

static void wrong_formulas_are_found(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        tri_study *s = NULL;
        tri_status st = read(wrongs[i].text, &s);
        const tri_error *e = tri_error_last();
        if (st != wrongs[i].status || e->line != wrongs[i].line ||
            e->column != wrongs[i].column) {
            print_error("%s\n%s at %d:%d\n", wrongs[i].text, e->sentence,
                        e->line, e->column);
        }
        assert_int_equal(st, wrongs[i].status);
        expect_says(wrongs[i].says);
        assert_int_equal(e->line, wrongs[i].line);
        assert_int_equal(e->column, wrongs[i].column);
        assert_null(s);
    }
}

static void constants_have_their_names(void **state)
{
    static const char text[] =
            "study: t\nmodel: {kind: gpt}\nspace: {dp: {int: [1, 4]}}\n"
            "features: {heads: dp}\nobjective: {minimize: loss}\n";
    tri_study *s = NULL;

    (void)state;
    assert_int_equal(
            tri_study_parse(text, strlen(text), "t.yaml", NULL, NULL, &s),
            TRI_EEXIST);
    expect_says("features.heads: a feature cannot have this name: it is that "
                "of a constant");
    assert_int_equal(tri_error_last()->line, 4);
}

/* What fails only where nothing is valid, or not at all, is no error. */
static void right_formulas_pass(void **state)
{
    static const char *const texts[] = {
            "space: {a: {int: [1, 4]}}\nconstraints: [a != 3]\nfeatures: {f: "
            "1 / (a - 3)}\nranks: max(a, 2) - 1",
            "space: {a: {int: [1, 4]}, b: {int: [1, 3], when: a > 1}}\n"
            "features: {f: \"if(a > 1, 1 / b, 0)\"}",
            "space: {a: {int: [0, 1000000000]}}\nfeatures: {f: a ** 2}\nranks: "
            "a + 1",
            "space: {a: {float: [0, 1]}}\nconstraints: [a > 2]\nranks: "
            "floor(a)",
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof texts / sizeof *texts; i++) {
        tri_study_destroy(read_ok(texts[i]));
    }
}

/* ---- how many fit ------------------------------------------------------ */

static const char *const spaces[] = {
        "space: {a: {int: [1, 8]}, b: {choice: [1, 2, 4]}, c: {int: [1, 5]}}\n"
        "constraints: [a * b <= 16]\nranks: a * b",
        "space: {a: {int: [1, 8]}, b: {int: [1, 6], when: a > 3}}\nranks: "
        "if(a > 3, a * b, a)",
        "space: {a: {int: [1, 8]}, b: {int: [1, 6]}}\nranks: a + b",
        "space: {a: {int: [1, 8]}}",
        "space: {a: {int: [1, 8]}, b: {int: [1, 6]}}\nconstraints: [a > b]\n"
        "ranks: 3",
};

static int64_t brute_within(const tri_space *s, int max)
{
    tri_config c[8];
    int64_t i, n = 0;
    int ranks;

    for (i = 0; i < tri_space_count(s); i++) {
        assert_int_equal(tri_space_at(s, i, c), TRI_OK);
        assert_int_equal(tri_space_ranks(s, c, &ranks), TRI_OK);
        n += ranks <= max;
    }
    return n;
}

static void counts_within(void **state)
{
    size_t i;
    int max;

    (void)state;
    for (i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        tri_study *s = read_ok(spaces[i]);
        for (max = 0; max < 60; max++) {
            assert_int_equal(tri_space_count_within(s->space, max),
                             brute_within(s->space, max));
        }
        tri_study_destroy(s);
    }
}

/* 10^15 configurations, of which the diagram knows those of a few ranks. */
static void counts_within_large_sets(void **state)
{
    tri_study *s = read_ok("space: {a: {int: [1, 1000]}, b: {int: [1, "
                           "1000000]}, c: {int: [1, 1000000]}}\nranks: a");

    (void)state;
    assert_int_equal(tri_space_count_within(s->space, 3),
                     INT64_C(3000000000000));
    tri_study_destroy(s);
    s = read_ok("space: {a: {int: [1, 1000]}, x: {float: [0, 1]}}\nranks: a");
    assert_int_equal(tri_space_count_within(s->space, 3), -1);
    tri_study_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(empty_sets_are_said),
            cmocka_unit_test(rare_is_not_empty),
            cmocka_unit_test(wrong_formulas_are_found),
            cmocka_unit_test(constants_have_their_names),
            cmocka_unit_test(right_formulas_pass),
            cmocka_unit_test(counts_within),
            cmocka_unit_test(counts_within_large_sets)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
