/*
 * Commands of process models as a study gives them: groups, what placeholders
 * may name, what is said of parameters that may be inactive, of keys without
 * effect and of conditions that are not met.
 */
#include "tests/tri_cmocka.h"
#include "trireme/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static tri_status read(const char *model, tri_study **out)
{
    char text[2048];

    snprintf(text, sizeof text,
             "study: p\n"
             "model:\n"
             "  kind: process\n"
             "%s\n"
             "space:\n"
             "  lr: {choice: [0.1, 0.2]}\n"
             "  zero: {choice: [0, 1]}\n"
             "  bucket: {choice: [1, 2], when: zero > 0}\n"
             "objective: {minimize: loss}\n",
             model);
    *out = NULL;
    return tri_study_parse(text, strlen(text), "p.yaml", NULL, NULL, out);
}

static tri_study *read_ok(const char *model)
{
    tri_study *s;

    if (read(model, &s) != TRI_OK) {
        print_error("%s\n%s\n", model, tri_error_last()->sentence);
    }
    assert_non_null(s);
    return s;
}

static void groups(void **state)
{
    static const int expected[] = {0, 1, 2, 2, 3, 4, 4};
    tri_study *s =
            read_ok("  command: [python3, train.py, [--bucket, \"{bucket}\"], "
                    "\"--lr={lr}\", [a, b]]");
    const tri_process_spec *p = &s->model.u.process;
    int i;

    (void)state;
    assert_int_equal(p->n_argv, 7);
    assert_string_equal(p->argv[2], "--bucket");
    assert_string_equal(p->argv[3], "{bucket}");
    for (i = 0; i < p->n_argv; i++) {
        assert_int_equal(p->argv_group[i], expected[i]);
    }
    assert_int_equal(s->n_notes, 0);
    tri_study_destroy(s);
    s = read_ok("  shell: true\n  command: \"train --bucket={bucket}\"");
    assert_null(s->model.u.process.argv_group);
    assert_int_equal(s->n_notes, 0);
    tri_study_destroy(s);
}

static void flags_without_values_are_noted(void **state)
{
    static const struct {
        const char *command, *note;
    } rows[] = {
            {"[train, --bucket, \"{bucket}\"]",
             "line 4: where \"bucket\" is inactive, \"{bucket}\" is left out "
             "of the command but \"--bucket\" before it is not; put it with "
             "its flag in a list to leave out both"},
            {"[train, --bucket, \"{zero}\"]", NULL},
            {"[train, \"--bucket={bucket}\"]", NULL},
            {"[train, --fast, \"--bucket={bucket}\"]", NULL},
            {"[train, --lr=1, \"{bucket}\"]", NULL},
            {"[train, [--bucket, \"{bucket}\"]]", NULL},
            {"[train, [--bucket], \"{bucket}\"]", NULL},
            {"[train, --bucket, \"{{bucket}\"]", NULL},
    };
    char model[200];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        tri_study *s;
        snprintf(model, sizeof model, "  command: %s", rows[i].command);
        s = read_ok(model);
        assert_int_equal(s->n_notes, rows[i].note != NULL);
        if (rows[i].note) {
            assert_string_equal(s->notes[0], rows[i].note);
            assert_int_equal(s->n_unbuilt, 0);
        }
        tri_study_destroy(s);
    }
}

static void wrong_commands(void **state)
{
    static const struct {
        const char *model;
        tri_status status;
        int line, column;
        const char *says;
    } rows[] = {
            {"  command: [train, \"{bukket}\"]", TRI_EUNKNOWN, 4, 20,
             "unknown placeholder {bukket}"},
            {"  command: [train, \"{bukket}\"]", TRI_EUNKNOWN, 4, 20,
             "did you mean \"bucket\"?"},
            {"  command: [train,\n    [--lr, \"${HOME}\"]]", TRI_EUNKNOWN, 5,
             12, "{HOME}"},
            {"  command: [train]\n  env: {A: \"{world}\"}", TRI_EUNKNOWN, 5, 12,
             "{world}"},
            {"  command: \"train {nosuch}\"\n  shell: true", TRI_EUNKNOWN, 4,
             12, "{nosuch}"},
            {"  command: [train, \"{lr\"]", TRI_EPARSE, 4, 20, "not closed"},
            {"  command: [train, \"{}\"]", TRI_EUNKNOWN, 4, 20, "{}"},
            {"  command: [\"{bucket}\"]", TRI_EINVAL, 4, 13, "may be inactive"},
            {"  command: [train, []]", TRI_ETYPE, 4, 20,
             "at least one argument"},
            {"  command: [train, [[a]]]", TRI_ETYPE, 4, 21, "a text"},
            {"  command: [train, {a: b}]", TRI_ETYPE, 4, 20, "a text"},
            {"  command: [[a, b]]\n  shell: true", TRI_ETYPE, 4, 13, "a text"},
            {"  command: []", TRI_ETYPE, 4, 12, "at least one argument"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        tri_study *s;
        tri_status st = read(rows[i].model, &s);
        const tri_error *e = tri_error_last();
        if (st != rows[i].status || e->line != rows[i].line ||
            e->column != rows[i].column || !strstr(e->sentence, rows[i].says)) {
            print_error("%s\n%d:%d: %s\n", rows[i].model, e->line, e->column,
                        e->sentence);
        }
        assert_int_equal(st, rows[i].status);
        assert_int_equal(e->line, rows[i].line);
        assert_int_equal(e->column, rows[i].column);
        assert_non_null(strstr(e->sentence, rows[i].says));
        assert_null(s);
    }
}

static void keys_without_effect(void **state)
{
    static const struct {
        const char *key, *note;
        int unbuilt;
    } rows[] = {
            {"log_dir: logs", NULL, 0},
            {"scratch: /tmp", NULL, 0},
            {"resume: checkpoint", NULL, 0},
            {"devices: [0]", NULL, 0},
            {"launch: leader", NULL, 0},
            {"setup: make", NULL, 0},
            {"metrics: {patterns: {loss: (x)}}", NULL, 0},
            {"resume: none\nmemory: 2 GiB", "memory is not enforced", 0},
            {"resume: none\noptimizer: {lr: 1}", "optimizer is for", 0},
            {"resume: none\ncheckpoints: {policy: always}",
             "checkpoints are kept of processes only with model.resume: "
             "checkpoint",
             0},
            {"resume: checkpoint\ncheckpoints: {policy: always}", NULL, 0},
            {"resume: none\nmemory: auto", NULL, 0},
            {"resume: none", NULL, 0},
            {"launch: ranks", NULL, 0},
            {"cwd: /tmp", NULL, 0},
            {"env: {A: b}", NULL, 0},
            {"keep_env: [SLURM_PROCID]", NULL, 0},
    };
    char model[200];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        tri_study *s;
        snprintf(model, sizeof model, "  command: [train]\n  %s", rows[i].key);
        s = read_ok(model);
        assert_int_equal(s->n_notes, rows[i].note != NULL);
        assert_int_equal(s->n_unbuilt, rows[i].unbuilt);
        if (rows[i].note) {
            assert_non_null(strstr(s->notes[0], rows[i].note));
        }
        tri_study_destroy(s);
    }
}

static tri_status read_space(const char *kind, const char *name)
{
    char text[400];
    tri_study *s = NULL;
    tri_status st;

    snprintf(text, sizeof text,
             "study: p\nmodel: {kind: %s}\nspace:\n  x: {int: [0, 3]}\n"
             "  %s: {int: [0, 3]}\nobjective: {minimize: loss}\n",
             kind, name);
    st = tri_study_parse(text, strlen(text), "p.yaml", NULL, NULL, &s);
    tri_study_destroy(s);
    return st;
}

/* What a template or TRIREME_NAME already means is no parameter. */
static void names_of_the_run(void **state)
{
    static const char *const more[] = {"fd", "checkpoint", "config", "Seed",
                                       "RANK"};
    const char *const *facts = tri_study_facts();
    char process[] = "process, command: [train]";
    int i;

    (void)state;
    for (i = 0; facts[i]; i++) {
        assert_int_equal(read_space(process, facts[i]), TRI_EINVAL);
        assert_int_equal(tri_error_last()->line, 5);
        assert_int_equal(tri_error_last()->column, 3);
        if (strcmp(facts[i], "trial") != 0) { /* a column of /trials */
            assert_non_null(strstr(tri_error_last()->sentence, "TRIREME_"));
            assert_int_equal(read_space("synthetic", facts[i]), TRI_OK);
        }
    }
    for (i = 0; i < 5; i++) {
        assert_int_equal(read_space(process, more[i]), TRI_EINVAL);
    }
    assert_int_equal(read_space(process, "seeds"), TRI_OK);
    assert_int_equal(read_space(process, "local"), TRI_OK);
}

static tri_study *with_condition(const char *metric, const char *condition,
                                 tri_status expected)
{
    char text[400];
    tri_study *s = NULL;

    snprintf(text, sizeof text,
             "study: p\nmodel: {kind: process, command: [train]}\n"
             "space: {x: {int: [0, 3]}}\n"
             "objective: {maximize: %s, subject_to: [%s]}\n",
             metric, condition);
    assert_int_equal(
            tri_study_parse(text, strlen(text), "p.yaml", NULL, NULL, &s),
            expected);
    return s;
}

static void conditions_name_what_is_measured(void **state)
{
    (void)state;
    with_condition("loss", "accuracy >= 0.8", TRI_EUNKNOWN);
    assert_string_equal(
            tri_error_last()->sentence,
            "objective.subject_to: \"accuracy\" is neither a parameter nor "
            "measured; measured are tokens_per_s, samples_per_s, step_s, "
            "loss, peak_bytes, rss_bytes (and a metric of the trial's own "
            "where it is the objective)");
    assert_int_equal(tri_error_last()->line, 4);
    with_condition("f1", "step < 1", TRI_EUNKNOWN);
    assert_non_null(strstr(tri_error_last()->sentence,
                           "rss_bytes, f1; did you mean \"step_s\"?"));
    tri_study_destroy(with_condition("accuracy", "accuracy >= x", TRI_OK));
}

static void refusals_say_what_was_measured(void **state)
{
    static const char *const conditions[] = {
            "accuracy >= 0.8", "peak_bytes < 1 GiB and step_s < 1",
            "loss < x / 7"};
    static const char *const said[] = {
            "subject_to \"accuracy >= 0.8\" is not met; accuracy was 0.25",
            "subject_to \"peak_bytes < 1 GiB and step_s < 1\" is not met; "
            "step_s was 0.5; peak_bytes was 2147483648",
            "subject_to \"loss < x / 7\" is not met; loss was not measured"};
    const tri_value x = {TRI_INT, {.i = 3}};
    tri_measured m = {.step_s = 0.5,
                      .loss = NAN,
                      .own = 0.25,
                      .peak_bytes = 2147483648.0,
                      .rss_bytes = 1};
    char buf[200];
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        tri_study *s = with_condition("accuracy", conditions[i], TRI_OK);
        const char *text = NULL;
        assert_false(tri_study_admits(s, &x, &m, &text));
        tri_study_say_refused(s, &m, text, buf, sizeof buf);
        assert_string_equal(buf, said[i]);
        tri_study_say_refused(s, &m, text, buf, 20);
        assert_int_equal(strlen(buf), 19);
        tri_study_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(groups),
            cmocka_unit_test(flags_without_values_are_noted),
            cmocka_unit_test(wrong_commands),
            cmocka_unit_test(keys_without_effect),
            cmocka_unit_test(names_of_the_run),
            cmocka_unit_test(conditions_name_what_is_measured),
            cmocka_unit_test(refusals_say_what_was_measured)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
