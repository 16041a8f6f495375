/*
 * What the study reader refuses: each error with its place, what was found,
 * what was expected and the closest key.
 */
#include "tests/tri_cmocka.h"
#include "trireme/study.h"

#include <stdio.h>
#include <string.h>

static const char head[] =
        "study: t\n"
        "model: {kind: gpt, layers: 4, hidden: 128, heads: 4, sequence: 64,"
        " vocab: 256, data: builtin}\n";

static const struct {
    const char *text; /* after `head` (two lines) */
    tri_status status;
    int line, column;
    const char *says;
} errors[] = {
        {"space: {dp: {int: [1, 2]}}\nobjective: {minimize: step_s}\nbugdet: "
         "{trials: 3}\n",
         TRI_EUNKNOWN, 5, 1, "did you mean \"budget\""},
        {"space: {dp: {int: [1, 2]}}\nobjective: {minimize: step_s}\nbudget: "
         "{trails: 3}\n",
         TRI_EUNKNOWN, 5, 10, "did you mean \"trials\""},
        {"space: {dp: {int: [1, 2]}}\nobjective: {minimize: step_s}\nbudget: "
         "{trials: many}\n",
         TRI_ETYPE, 5, 18, "found \"many\", expected an integer"},
        {"space: {dp: {int: [1, 2]}}\nobjective: {minimize: step_s}\nbudget: "
         "{trials: 0}\n",
         TRI_ERANGE, 5, 18, "found \"0\""},
        {"space: {dp: {int: [1, 2]}}\nobjective: {minimize: step_s}\nbudget: "
         "{time: 3 GiB}\n",
         TRI_ETYPE, 5, 16, "expected a time"},
        {"space: {dp: {int: [1, 2]}}\nobjective: {minimize: step_s}\nbudget: "
         "{time: 3 s, time: 4 s}\n",
         TRI_EEXIST, 5, 21, "stands twice"},
        {"space: {dp: {int: [1, 2]}}\nobjective: {minimize: step_s}\nspace: "
         "{}\n",
         TRI_EEXIST, 5, 1, "stands twice"},
        {"space: {dp: {int: [1, 2]}}\n", TRI_ENOTFOUND, 1, 1,
         "\"objective\" is missing"},
        {"space: {dp: {int: [3, 2]}}\nobjective: {minimize: step_s}\n",
         TRI_ERANGE, 3, 13, "is empty"},
        {"space: {dp: {int: [0, 2]}}\nobjective: {minimize: step_s}\n",
         TRI_ERANGE, 3, 13, "expected an integer from 1"},
        {"space: {dp: {ints: [1, 2]}}\nobjective: {minimize: step_s}\n",
         TRI_EUNKNOWN, 3, 14, "did you mean \"int\""},
        {"space: {dp: [1, 2]}\nobjective: {minimize: step_s}\n", TRI_ETYPE, 3,
         13, "choice"},
        {"space: {x: {choice: [1, 1]}}\nobjective: {minimize: step_s}\n",
         TRI_EEXIST, 3, 12, "stands twice"},
        {"space: {schedule: {choice: [gpipe, pipedream]}}\nobjective: "
         "{minimize: step_s}\n",
         TRI_ERANGE, 3, 19, "one of gpipe, 1f1b, interleaved"},
        {"space: {ranks: {int: [1, 2]}}\nobjective: {minimize: step_s}\n",
         TRI_EINVAL, 3, 9, "column of /trials"},
        {"space: {predicted_bytes: 3}\nobjective: {minimize: step_s}\n",
         TRI_EINVAL, 3, 9, "column of /trials"},
        {"space: {dp: 1, hidden: {choice: [64, 128]}}\nobjective: {minimize: "
         "step_s}\n",
         TRI_EINVAL, 3, 16, "sizes stand under"},
        {"space: {dp: 1, \xff\xfe: 3}\nobjective: {minimize: step_s}\n",
         TRI_EPARSE, 3, 16, "not UTF-8"},
        {"space: {dp: 1}\nobjective: {minimize: loss}\nresource: {unit: "
         "seconds, min: 1500 ms}\n",
         TRI_ETYPE, 5, 32, "whole seconds"},
        {"space: {min: {int: [1, 2]}}\nobjective: {minimize: step_s}\n",
         TRI_EINVAL, 3, 9, "expressions use it"},
        {"space: {x-y: {int: [1, 2]}}\nobjective: {minimize: step_s}\n",
         TRI_EINVAL, 3, 9, "letters, digits"},
        {"space:\n  dp: {int: [1, 2]}\nconstraints:\n  - dp < 3\n  - dpp < "
         "3\nobjective: {minimize: step_s}\n",
         TRI_EUNKNOWN, 7, 5, "did you mean \"dp\""},
        {"space:\n  dp: {int: [1, 2]}\nconstraints:\n  - dp * 2\nobjective: "
         "{minimize: step_s}\n",
         TRI_ETYPE, 6, 8, "expected a condition, found an integer"},
        {"space:\n  dp: {int: [1, 2]}\n  s: {choice: [a, b], when: dp > 1}\n"
         "  n: {int: [1, 4], when: s == a}\nconstraints:\n  - n > "
         "2\nobjective: {minimize: step_s}\n",
         TRI_ETYPE, 8, 5, "may be inactive"},
        {"space:\n  x: {int: [1, 2], when: y > 1}\n  y: {int: [1, 2], when: x "
         "> 1}\nobjective: {minimize: step_s}\n",
         TRI_ETYPE, 4, 26, "may be inactive"},
        {"space:\n  x: {int: [1, 2], when: y == 1}\n  y: {int: [1, 2], when: x "
         "== 1}\nobjective: {minimize: step_s}\n",
         TRI_EINVAL, 4, 26, "depends on itself"},
        {"space: {dp: {int: [1, 2]}}\nranks: dp / 1\nobjective: {minimize: "
         "step_s}\n",
         TRI_ETYPE, 4, 11, "expected an integer, found a real"},
        {"space: {dp: {int: [1, 2]}}\nobjective: {maximize: tokens_per_s}\n",
         TRI_EINVAL, 4, 12, "compare"},
        {"space: {dp: {int: [1, 2]}}\nobjective: {maximize: token_per_s}\n",
         TRI_ETYPE, 4, 23, "did you mean \"tokens_per_s\""},
        {"space: {dp: {int: [1, 2]}}\nobjective: {minimize: loss, maximize: "
         "loss}\n",
         TRI_ETYPE, 4, 12, "one of maximize and minimize"},
        {"space: {dp: {int: [1, 2]}}\nobjective: {minimize: loss, subject_to: "
         "[peak_byte < 3]}\n",
         TRI_EUNKNOWN, 4, 42, "did you mean \"peak_bytes\""},
        {"space: {dp: {int: [1, 2]}, tp: {choice: [1, 3]}}\nobjective: "
         "{minimize: loss}\nbaseline: {dp: 1, tp: 3}\n",
         TRI_EINVAL, 5, 11, "refused by \"heads % tp\" (tp=3 heads=4)"},
        {"space: {dp: {int: [1, 2]}, tp: {choice: [1, 2]}}\nobjective: "
         "{minimize: loss}\nbaseline: {dp: 1}\n",
         TRI_ENOTFOUND, 5, 11, "no value is given for \"tp\""},
        {"space: {dp: {int: [1, 2]}, tp: {choice: [1, 2]}}\nobjective: "
         "{minimize: loss}\nbaseline: {dp: 1, tp: 7}\n",
         TRI_ERANGE, 5, 23, "cannot be 7; expected 1, 2"},
        {"space: {dp: {int: [1, 2]}}\nobjective: {minimize: loss}\nstart: "
         "[{dp: 1}, {pd: 1}]\n",
         TRI_EUNKNOWN, 5, 23, "no parameter is named \"pd\""},
        {"space: {dp: {int: [1, 2]}}\nobjective: {minimize: loss}\nresource: "
         "{min: 9, max: 3}\n",
         TRI_ETYPE, 5, 25, "at least resource.min"},
        {"space: {dp: {int: [1, 2]}}\nobjective: {minimize: loss}\nscheduler: "
         "ashes\n",
         TRI_ETYPE, 5, 12, "did you mean \"asha\""},
        {"space: {dp: {int: [1, 2]}}\nobjective: {minimize: loss}\nscheduler: "
         "{kind: hyperband, bracket: 1}\n",
         TRI_ETYPE, 5, 39, "expected no such key with hyperband"},
        {"space: {dp: {int: [1, 2]}}\nobjective: {minimize: loss}\nresource: "
         "{min: 1}\nscheduler: asha-stop\n",
         TRI_ETYPE, 6, 12, "expected resource.max with it"},
        {"space: {dp: {int: [1, 2]}}\nobjective: {minimize: loss}\nmeasure: "
         "{precision: 300 %}\n",
         TRI_ERANGE, 5, 22, "from 0 to 1"},
        {"space: table\nobjective: {minimize: loss}\n", TRI_ETYPE, 3, 8,
         "model kind table"},
        {"space: {x: &a 1, y: *a}\nobjective: {minimize: loss}\n", TRI_EPARSE,
         3, 12, "anchors"},
        {"space: {x: !!int 1}\nobjective: {minimize: loss}\n", TRI_EPARSE, 3,
         12, "tags"},
        {"space: {x: [1, 2}\nobjective: {minimize: loss}\n", TRI_EPARSE, 3, 17,
         "malformed YAML"},
        {"space: {x: 1}\nobjective: {minimize: loss}\n---\nstudy: b\n",
         TRI_EPARSE, 5, 1, "second document"},
        {"space: {x: {int: [1, 4]}}\nconstraints: [10 // (x - 2) > "
         "0]\nobjective: {minimize: loss}\n",
         TRI_EDIVZERO, 4, 15, "division by zero"},
};

static void errors_have_places(void **state)
{
    char text[4096];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof errors / sizeof *errors; i++) {
        tri_study *s = NULL;
        const tri_error *e = tri_error_last();
        tri_status st;
        snprintf(text, sizeof text, "%s%s", head, errors[i].text);
        st = tri_study_parse(text, strlen(text), "dir/t.yaml", NULL, NULL, &s);
        if (st != errors[i].status || e->line != errors[i].line ||
            e->column != errors[i].column ||
            !strstr(e->sentence, errors[i].says)) {
            print_error("%s\n%s at %d:%d: %s\n", errors[i].text,
                        tri_status_name(st), e->line, e->column, e->sentence);
        }
        assert_int_equal(st, errors[i].status);
        assert_null(s);
        assert_int_equal(e->line, errors[i].line);
        assert_int_equal(e->column, errors[i].column);
        assert_string_equal(e->file, "dir/t.yaml");
        assert_non_null(strstr(e->sentence, errors[i].says));
    }
}

/* Files are named for the study. */
static void names_are_names_of_files(void **state)
{
    static const char *const bad[] = {"a/b",       "../../evil", ".",
                                      ".hidden",   "-o",         "\"a\\nb\"",
                                      "\"\\x7f\"", "/tmp/x"};
    static const char *const good[] = {"gpt 2.7b", "a.b-c_d", "3",
                                       "\xc3\xa9t\xc3\xa9"};
    char text[500];
    char name[300];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "seed: 1\nstudy: %s\n", bad[i]);
        assert_int_equal(
                tri_study_name(text, strlen(text), "t", name, sizeof name),
                TRI_ETYPE);
        assert_int_equal(tri_error_last()->line, 2);
        assert_int_equal(tri_error_last()->column, 8);
        assert_non_null(strstr(tri_error_last()->sentence, "no control"));
        assert_null(strchr(tri_error_last()->sentence, '\n'));
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(text, sizeof text, "study: %s\n", good[i]);
        assert_int_equal(
                tri_study_name(text, strlen(text), "t", name, sizeof name),
                TRI_OK);
        assert_string_equal(name, good[i]);
    }
    snprintf(text, sizeof text, "study: %0201d\n", 7);
    assert_int_equal(tri_study_name(text, strlen(text), "t", name, sizeof name),
                     TRI_ETYPE);
    assert_non_null(strstr(tri_error_last()->sentence, "200 bytes"));
    snprintf(text, sizeof text, "study: %0200d\n", 7);
    assert_int_equal(tri_study_name(text, strlen(text), "t", name, sizeof name),
                     TRI_OK);
}

static void ranks_must_be_ranks(void **state)
{
    static const char *const formulas[] = {"x - 3", "10 // (x - 1)"};
    static const tri_status statuses[] = {TRI_ERANGE, TRI_EDIVZERO};
    char text[500];
    size_t i;

    (void)state;
    for (i = 0; i < 2; i++) {
        tri_study *s = NULL;
        snprintf(text, sizeof text,
                 "study: t\nmodel: {kind: synthetic}\nspace: {x: {int: [1, "
                 "4]}}\nranks: %s\nobjective: {minimize: loss}\n",
                 formulas[i]);
        assert_int_equal(
                tri_study_parse(text, strlen(text), "t", NULL, NULL, &s),
                statuses[i]);
        assert_int_equal(tri_error_last()->line, 4);
        assert_int_equal(tri_error_last()->column, 8);
    }
}

static void bounded_nesting(void **state)
{
    char text[3000] = "study: ";
    tri_study *s = NULL;
    int i;

    (void)state;
    for (i = 0; i < 1000; i++) {
        strcat(text, i % 2 ? "[" : "{a: ");
    }
    assert_int_equal(tri_study_parse(text, strlen(text), "t", NULL, NULL, &s),
                     TRI_ERANGE);
    assert_int_equal(tri_study_parse("", 0, "t", NULL, NULL, &s), TRI_EPARSE);
    assert_int_equal(tri_study_parse("\xff\xfe\x01", 3, "t", NULL, NULL, &s),
                     TRI_EPARSE);
    assert_null(s);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(errors_have_places),
            cmocka_unit_test(names_are_names_of_files),
            cmocka_unit_test(ranks_must_be_ranks),
            cmocka_unit_test(bounded_nesting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
