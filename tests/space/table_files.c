/*
 * Tables of several files, and the key `emit`: what is read, what is refused.
 */
#include "tests/tri_cmocka.h"
#include "trireme/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *path, *text;
} files[] = {
        {"dir/a.csv", "x,y,failed,s0,s1\n1,10,0,1,2\n2,20,0,3,4\n"},
        /* other columns in between, one configuration again */
        {"dir/b.csv", "note,y,x,failed,s1,s0\n-,30,3,0,5,6\n-,12,1,0,7,8\n"},
        {"dir/short.csv", "x,y,failed,s0\n1,10,0,1\n"},
        {"dir/none.csv", "z\n1\n"},
        {"dir/size.csv", "size,x,y\n1,2,3\n"}};

static tri_status give(void *ctx, const char *path, char **data, size_t *bytes)
{
    (void)ctx;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strcmp(files[i].path, path) == 0) {
            *bytes = strlen(files[i].text);
            *data = strdup(files[i].text);
            return TRI_OK;
        }
    }
    return TRI_FAIL(TRI_EIO, "no %s", path);
}

static tri_status read_study(const char *model, const char *more,
                             tri_study **out)
{
    char text[2000];

    snprintf(text, sizeof text,
             "study: t\nmodel: {kind: table, objective: y, %s}\n"
             "space: table\nobjective: {maximize: y}\n%s",
             model, more);
    return tri_study_parse(text, strlen(text), "dir/t.yaml", give, NULL, out);
}

static tri_study *must_read(const char *model, const char *more)
{
    tri_study *s = NULL;

    if (read_study(model, more, &s) != TRI_OK) {
        fail_msg("%s", tri_error_last()->sentence);
    }
    return s;
}

static double at(const tri_study *s, const char *config)
{
    tri_config c[4];
    int64_t i;

    assert_int_equal(tri_space_parse(s->space, config, c), TRI_OK);
    assert_int_equal(tri_space_index(s->space, c, &i), TRI_OK);
    return tri_study_table(s)->objective[i];
}

static void rows_of_all_files(void **state)
{
    tri_study *s = must_read("file: [a.csv, b.csv], parameters: [x]", "");
    const char *path;
    size_t bytes;

    (void)state;
    assert_int_equal(tri_space_count(s->space), 3);
    assert_true(at(s, "x=1") == 11); /* the median of both */
    assert_true(at(s, "x=2") == 20);
    assert_true(at(s, "x=3") == 30);
    assert_int_equal(tri_study_n_files(s), 2);
    assert_string_equal(tri_study_file(s, 1, &path, &bytes), files[1].text);
    assert_string_equal(path, "dir/b.csv");
    assert_int_equal(bytes, strlen(files[1].text));
    assert_null(tri_study_file(s, 2, &path, &bytes));
    tri_study_destroy(s);
}

static void a_column_tells_files_apart(void **state)
{
    tri_study *s = must_read("file: {size: {1B: a.csv, 7: b.csv}}, "
                             "parameters: [x, size], failed: failed",
                             "constraints: [size == '1B' or x > 0]\n");

    (void)state;
    assert_int_equal(tri_space_count(s->space), 4);
    assert_true(at(s, "x=1 size=1B") == 10); /* no number of bytes */
    assert_true(at(s, "x=1 size=7") == 12);
    assert_string_equal(s->model.u.table.by, "size");
    tri_study_destroy(s);
}

static void curves_of_all_files(void **state)
{
    tri_study *s = must_read("file: [a.csv, b.csv], parameters: [x], "
                             "curve: s, second: 2 ms",
                             "");
    const tri_table *t = tri_study_table(s);

    (void)state;
    assert_int_equal(t->n_points, 2);
    assert_true(t->objective[0] == 4.5 && t->objective[1] == 4.5);
    assert_true(s->model.u.table.second_s == 0.002);
    tri_study_destroy(s);
}

static void expect(const char *model, const char *more, tri_status want,
                   const char *needle)
{
    tri_study *s = NULL;
    tri_status st = read_study(model, more, &s);

    if (st != want || !strstr(tri_error_last()->sentence, needle)) {
        print_message("%d: %s\n", (int)st, tri_error_last()->sentence);
    }
    assert_int_equal(st, want);
    assert_non_null(strstr(tri_error_last()->sentence, needle));
    assert_string_equal(tri_error_last()->file, "dir/t.yaml");
    assert_true(tri_error_last()->line > 0);
}

static void bad_files(void **state)
{
    (void)state;
    expect("file: [a.csv, none.csv], parameters: [x]", "", TRI_EUNKNOWN,
           "none.csv: the table has no column \"x\"");
    expect("file: [a.csv, short.csv], parameters: [x], curve: s", "",
           TRI_ERANGE, "curves of short.csv have 1 points, those of a.csv");
    expect("file: {size: {1: a.csv}}, parameters: [x]", "", TRI_EUNKNOWN,
           "\"size\" tells the files apart and is not among the parameters");
    expect("file: {size: {1: size.csv}}, parameters: [x, size]", "", TRI_EEXIST,
           "size.csv has a column \"size\" of its own");
    expect("file: {size: a.csv}, parameters: [x, size]", "", TRI_ETYPE,
           "model.file: found a map, expected a CSV");
    expect("file: {a: {1: a.csv}, b: {1: a.csv}}, parameters: [x]", "",
           TRI_ETYPE, "model.file");
    expect("file: [], parameters: [x]", "", TRI_ERANGE, "found 0 files");
    expect("file: [[a.csv]], parameters: [x]", "", TRI_ETYPE, "found a list");
    expect("file: a.csv, parameters: [x], second: fast", "", TRI_ETYPE,
           "model.second: found \"fast\", expected a time");
}

/* ---- emit ---------------------------------------------------------------- */

#define A "file: a.csv, parameters: [x]"

static void names_are_read(void **state)
{
    tri_study *s = must_read(A, "emit:\n"
                                "  deepspeed: {x: a.b}\n"
                                "  megatron: {x: {1: '', 2: '--two {x}'}}\n");

    (void)state;
    assert_int_equal(s->n_emit, 2);
    assert_string_equal(s->emit[0].format, "deepspeed");
    assert_string_equal(s->emit[0].names[0].value, "a.b");
    assert_int_equal(s->emit[1].n_names, 2);
    assert_string_equal(s->emit[1].names[1].key, "x=2");
    assert_string_equal(s->emit[1].names[1].value, "--two {x}");
    tri_study_destroy(s);
}

static void bad_names(void **state)
{
    (void)state;
    expect(A, "emit: {megatrn: {x: a}}\n", TRI_EUNKNOWN,
           "did you mean \"megatron\"?");
    expect(A, "emit: {slurm: {y: a}}\n", TRI_EUNKNOWN,
           "emit.slurm: unknown parameter \"y\"");
    expect(A, "emit: {slurm: {x: '--a={z}'}}\n", TRI_EUNKNOWN,
           "unknown placeholder \"z\"");
    expect(A, "emit: {slurm: {x: '--a={x'}}\n", TRI_ETYPE, "in braces");
    expect(A, "emit: {slurm: {x: [a]}}\n", TRI_ETYPE, "found a list");
    expect(A, "emit: {slurm: a}\n", TRI_ETYPE, "emit.slurm: found \"a\"");
    expect(A, "emit: slurm\n", TRI_ETYPE, "emit");
}

static void names_may_change(void **state)
{
    tri_study *before = must_read(A, "");
    tri_study *now = must_read(A, "emit: {megatron: {x: --x}}\n");
    tri_study *more = must_read(A, "emit: {megatron: {x: --x}}\nseed: 4\n");
    int changed = 1;

    (void)state;
    assert_null(tri_study_frozen_difference(before, now, &changed));
    assert_false(changed);
    assert_null(tri_study_frozen_difference(now, before, &changed));
    assert_false(changed);
    assert_string_equal(tri_study_frozen_difference(before, more, &changed),
                        "seed");
    assert_true(changed);
    tri_study_destroy(before);
    tri_study_destroy(now);
    tri_study_destroy(more);
}

static void a_name_alone(void **state)
{
    static const char text[] = "model: {kind: table}\nstudy: my one\nx: 1\n";
    char name[16];

    (void)state;
    assert_int_equal(
            tri_study_name(text, strlen(text), "t.yaml", name, sizeof name),
            TRI_OK);
    assert_string_equal(name, "my one");
    assert_int_equal(tri_study_name("a: 1\n", 5, "t.yaml", name, sizeof name),
                     TRI_ENOTFOUND);
    assert_int_equal(tri_study_name("[", 1, "t.yaml", name, sizeof name),
                     TRI_EPARSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(rows_of_all_files),
            cmocka_unit_test(a_column_tells_files_apart),
            cmocka_unit_test(curves_of_all_files),
            cmocka_unit_test(bad_files),
            cmocka_unit_test(names_are_read),
            cmocka_unit_test(bad_names),
            cmocka_unit_test(names_may_change),
            cmocka_unit_test(a_name_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
