/*
 * What a model of kind mlp refuses: the engine runs it data parallel only, and
 * the space says so before anything is launched.
 */
#include "trireme/study.h"

#include "tests/tri_cmocka.h"

#include <string.h>

static tri_study *read_study(void)
{
    static const char text[] =
            "study: t\n"
            "model: {kind: mlp, inputs: 8, hidden: 16, layers: 3, outputs: 2}\n"
            "space: {dp: {choice: [1, 2]}, tp: {choice: [1, 2]}, pp: {choice: "
            "[1, 2]}, micro_batch: 2, global_batch: 8}\n"
            "objective: {maximize: samples_per_s, compare: total}\n";
    tri_study *s = NULL;

    assert_int_equal(
            tri_study_parse(text, strlen(text), "t.yaml", NULL, NULL, &s),
            TRI_OK);
    return s;
}

static void only_data_parallel_is_valid(void **state)
{
    tri_study *s = read_study();
    int lo, hi;

    (void)state;
    assert_int_equal(tri_space_count(s->space), 2);
    tri_space_rank_range(s->space, &lo, &hi);
    assert_int_equal(lo, 1);
    assert_int_equal(hi, 2);
    tri_study_destroy(s);
}

static void each_refusal_names_its_rule(void **state)
{
    static const struct {
        const char *set, *rule;
    } rows[] = {
            {"tp=2", "tp == 1"},
            {"pp=2", "pp == 1"},
            {"virtual=2", "virtual == 1"},
            {"sequence_parallel=true", "sequence_parallel == false"},
            {"dp=3", "global_batch % (dp * micro_batch)"},
    };
    tri_study *s = read_study();
    tri_layout l;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(tri_study_layout_parse(s, rows[i].set, &l),
                         TRI_EINFEASIBLE);
        assert_non_null(strstr(tri_error_last()->sentence, rows[i].rule));
    }
    assert_int_equal(tri_study_layout_parse(s, "dp=4", &l), TRI_OK);
    tri_study_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(only_data_parallel_is_valid),
            cmocka_unit_test(each_refusal_names_its_rule)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
