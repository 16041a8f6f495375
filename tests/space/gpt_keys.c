/*
 * The keys of a model of kind gpt: what is read, and what is refused with
 * which sentence.
 */
#include "trireme/study.h"

#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <string.h>

static tri_status parse(const char *keys, tri_study **out)
{
    char text[1024];

    snprintf(text, sizeof text,
             "study: t\nmodel: {kind: gpt%s}\nspace: {dp: {int: [1, 2]}}\n"
             "objective: {maximize: tokens_per_s, compare: total}\n",
             keys);
    return tri_study_parse(text, strlen(text), "t.yaml", NULL, NULL, out);
}

static void forms(void **state)
{
    tri_study *s = NULL;

    (void)state;
    assert_int_equal(parse("", &s), TRI_OK);
    assert_false(s->model.u.gpt.rms || s->model.u.gpt.swiglu ||
                 s->model.u.gpt.rope || s->model.u.gpt.no_bias);
    assert_int_equal(s->model.u.gpt.ffn, 512);
    tri_study_destroy(s);
    assert_int_equal(parse(", norm: rms, mlp: swiglu, positions: rope, "
                           "bias: false, ffn: 344, dropout: 10 %",
                           &s),
                     TRI_OK);
    assert_true(s->model.u.gpt.rms && s->model.u.gpt.swiglu &&
                s->model.u.gpt.rope && s->model.u.gpt.no_bias);
    assert_true(s->model.u.gpt.dropout == 0.1);
    tri_study_destroy(s);
    assert_int_equal(parse(", norm: layer, mlp: gelu, positions: learned, "
                           "bias: true",
                           &s),
                     TRI_OK);
    assert_false(s->model.u.gpt.rms || s->model.u.gpt.swiglu ||
                 s->model.u.gpt.rope || s->model.u.gpt.no_bias);
    tri_study_destroy(s);
}

static void refusals(void **state)
{
    static const struct {
        const char *keys, *says;
    } rows[] = {
            {", norm: batch", "expected layer or rms"},
            {", mlp: relu", "expected gelu or swiglu"},
            {", positions: alibi", "expected learned or rope"},
            {", dropout: 1.5", "dropout"},
            {", bias: some", "true or false"},
            {", hidden: 60, positions: rope", "even hidden / heads"},
            {", nrom: rms", "did you mean \"norm\""},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tri_study *s = NULL;

        assert_int_not_equal(parse(rows[i].keys, &s), TRI_OK);
        assert_null(s);
        if (!strstr(tri_error_last()->sentence, rows[i].says)) {
            fail_msg("'%s' does not say '%s'", tri_error_last()->sentence,
                     rows[i].says);
        }
    }
}

/* A word that is spelt as a number changes no rule, built in or not, that has
 * that number; and is met quoted. */
static void words_like_numbers(void **state)
{
    static const char text[] =
            "study: t\nmodel: {kind: gpt, layers: 4}\n"
            "space:\n"
            "  dp: {choice: [1, 2, 4]}\n"
            "  zero: {choice: [0, 1, 2, 3]}\n"
            "  overlap: {choice: [none, poke, shm]}\n"
            "  tag: {choice: [\"0\", \"1\", \"2\", \"3\", \"1e3\"]}\n"
            "  global_batch: 8\n"
            "constraints: [dp != 2 or zero < 3, tag == \"3\" or tag == "
            "\"1e3\"]\n"
            "objective: {maximize: tokens_per_s, compare: total}\n";
    tri_study *s = NULL;
    tri_status st =
            tri_study_parse(text, strlen(text), "t.yaml", NULL, NULL, &s);

    (void)state;
    if (st != TRI_OK) {
        fail_msg("%s", tri_error_last()->sentence);
    }
    /* dp 1: zero 0, none; dp 2: zero 0, 1 with three, 2 with one; dp 4: and 3
     * with two; each with two tags */
    assert_int_equal((int)tri_space_count(s->space), 2 * (1 + 7 + 9));
    tri_study_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms),
                                       cmocka_unit_test(refusals),
                                       cmocka_unit_test(words_like_numbers)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
