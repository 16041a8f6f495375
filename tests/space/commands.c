/*
 * Commands of process models as a study gives them: groups, what placeholders
 * may name, and what is said of parameters that may be inactive.
 */
#include "tests/tri_cmocka.h"
#include "trireme/study.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(groups),
            cmocka_unit_test(flags_without_values_are_noted),
            cmocka_unit_test(wrong_commands)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
