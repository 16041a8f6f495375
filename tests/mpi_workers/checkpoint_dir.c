/*
 * The folder of checkpoints: whose names they are, who claims it, and trees
 * that are weighed and removed.
 */
#include "mpi_workers/checkpoint_dir.h"
#include "mpi_workers/pause.h"

#include "mpi_workers/tree.h"
#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static tri_study *read_study(const char *more)
{
    char text[512];
    char path[128];
    tri_study *s = NULL;

    snprintf(path, sizeof path, "%s/p.yaml", folder);
    snprintf(text, sizeof text, "study: s.r1\nspace: {x: {int: [0, 3]}}\n%s",
             more);
    assert_int_equal(tri_study_parse(text, strlen(text), path, NULL, NULL, &s),
                     TRI_OK);
    return s;
}

static tri_study *usual(void)
{
    return read_study("model: {kind: process, command: [t], resume: "
                      "checkpoint}\nobjective: {minimize: loss}\n"
                      "checkpoints: {dir: a/b}\n");
}

static const char *at(const char *name)
{
    static char path[300];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(at(name), "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void which_studies(void **state)
{
    static const struct {
        const char *text;
        int may_be;
    } rows[] = {
            {"model: {kind: process, command: [t], resume: checkpoint}\n"
             "objective: {minimize: loss}\n",
             1},
            {"model: {kind: process, command: [t], resume: checkpoint}\n"
             "objective: {minimize: loss}\ncheckpoints: {policy: never}\n",
             0},
            {"model: {kind: process, command: [t]}\n"
             "objective: {minimize: loss}\n",
             0},
            {"model: {kind: process, command: [t], resume: checkpoint}\n"
             "objective: {minimize: step_s}\n",
             0},
            {"model: {kind: process, command: [t], resume: checkpoint}\n"
             "objective: {minimize: step_s}\ncheckpoints: {policy: always}\n",
             1},
            {"model: {kind: synthetic}\nobjective: {minimize: loss}\n", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tri_study *s = read_study(rows[i].text);

        assert_int_equal(tri_checkpoint_may_be(s), rows[i].may_be);
        tri_study_destroy(s);
    }
}

static void names(void **state)
{
    static const char *const others[] = {
            "",
            "s.r1",
            "s.r1.r2.a0.ckpt",
            "s.r1.r2.a0.e1",
            "s.r1.r.a0.e1.ckpt",
            "s.r1.r2.a0.e1.ckpt.old",
            "s.r1.r2.a0.e1.ckpt/x",
            "s.r2.r2.a0.e1.ckpt",
            "as.r1.r2.a0.e1.ckpt",
            "s.r1.r-2.a0.e1.ckpt",
            "s.r1.r2.a0.e1.ckpt.gone.gone",
            "s.r1.r2.a0.e1.ckpt.part.part",
    };
    static const char bare[] = "study: s\nmodel: {kind: synthetic}\n"
                               "space: {x: {int: [0, 3]}}\n"
                               "objective: {minimize: loss}\n";
    tri_study *s = usual();
    char name[256];
    char path[512];

    (void)state;
    tri_checkpoint_name(s, 17, 2, 3, name, sizeof name);
    assert_string_equal(name, "s.r1.r17.a2.e3.ckpt");
    assert_true(tri_checkpoint_is_name(s, name));
    assert_true(tri_checkpoint_is_name(s, "s.r1.r17.a2.e3.ckpt" TRI_GONE));
    assert_true(tri_checkpoint_is_name(s, "s.r1.r17.a2.e3.ckpt" TRI_PART));
    assert_true(
            tri_checkpoint_is_name(s, "s.r1.r17.a2.e3.ckpt" TRI_PART TRI_GONE));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_false(tri_checkpoint_is_name(s, others[i]));
    }
    tri_checkpoint_path(s, name, path, sizeof path);
    assert_string_equal(path, at("a/b/s.r1.r17.a2.e3.ckpt"));
    tri_study_destroy(s);
    assert_int_equal(
            tri_study_parse(bare, strlen(bare), "p.yaml", NULL, NULL, &s),
            TRI_OK);
    assert_int_equal(chdir(folder), 0);
    tri_checkpoint_path(s, "x", path, sizeof path); /* whatever the cwd */
    assert_int_equal(path[0], '/');
    assert_non_null(strstr(path, folder));
    tri_study_destroy(s);
}

static int is_there;

static int exists(const char *path)
{
    assert_string_equal(path, "/x/one.h5");
    return is_there;
}

static void claims(void **state)
{
    tri_study *s = usual();

    (void)state;
    assert_false(tri_checkpoint_sees(s, 1.5, 0));
    assert_int_equal(tri_checkpoint_claim(s, "/x/one.h5", 1.5, exists), TRI_OK);
    assert_true(tri_checkpoint_sees(s, 1.5, 0));
    assert_false(tri_checkpoint_sees(s, 2.5, 0)); /* of an earlier opening */
    assert_int_equal(tri_checkpoint_claim(s, "/x/one.h5", 2.5, exists), TRI_OK);
    assert_true(tri_checkpoint_sees(s, 2.5, 0));
    is_there = 1;
    assert_int_equal(tri_checkpoint_claim(s, "/x/two.h5", 3.5, exists),
                     TRI_EINVAL);
    assert_non_null(strstr(tri_error_last()->sentence, "/x/one.h5"));
    assert_true(tri_checkpoint_sees(s, 2.5, 0));
    is_there = 0;
    assert_int_equal(tri_checkpoint_claim(s, "/x/two.h5", 3.5, exists), TRI_OK);
    assert_true(tri_checkpoint_sees(s, 3.5, 0));
    tri_checkpoint_disclaim(s);
    assert_false(tri_checkpoint_sees(s, 3.5, 0));
    tri_study_destroy(s);
}

static void claims_that_are_no_claims(void **state)
{
    static const char *const texts[] = {"", "one\n", "one\ntwo\n",
                                        "one\ntwo\nthree\n"};
    tri_study *s = usual();

    (void)state;
    assert_int_equal(tri_tree_make_parents(at("a/b/x")), 0);
    is_there = 1;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_file("a/b/s.r1.ckpt.claim", texts[i]);
        assert_false(tri_checkpoint_sees(s, 1.5, 0));
        assert_int_equal(tri_checkpoint_claim(s, "/x/one.h5", 1.5, exists),
                         TRI_OK);
    }
    tri_study_destroy(s);
    s = read_study("model: {kind: process, command: [t], resume: "
                   "checkpoint}\nobjective: {minimize: loss}\n"
                   "checkpoints: {dir: a/file/c}\n");
    write_file("a/file", "");
    assert_int_equal(tri_checkpoint_claim(s, "/x/one.h5", 1.5, exists),
                     TRI_EINVAL);
    assert_non_null(strstr(tri_error_last()->sentence,
                           "checkpoints.dir: 'a/file/c' cannot be made"));
    tri_study_destroy(s);
}

static void a_tree_goes_in_the_background(void **state)
{
    tri_remover *r;
    uint64_t bytes;
    int64_t n;

    (void)state;
    assert_int_equal(tri_tree_make_parents(at("t/u/v/x")), 0);
    write_file("t/one", "12345");
    write_file("t/u/v/two", "678");
    write_file("outside", "stays");
    assert_int_equal(symlink("../outside", at("t/link")), 0);
    assert_int_equal(symlink(folder, at("t/u/up")), 0);
    assert_int_equal(tri_tree_weigh(at("t"), 60, &bytes, &n), 0);
    assert_int_equal(n, 4);
    assert_true(bytes >= 8);
    /* where there is no time, what was seen */
    assert_int_equal(tri_tree_weigh(at("t"), -1, &bytes, &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(tri_remover_create(&r), TRI_OK);
    assert_true(tri_remover_is_idle(r));
    tri_remover_destroy(r, 1); /* with nothing to do */
    assert_int_equal(tri_remover_create(&r), TRI_OK);
    tri_remover_add(r, at("t"));
    assert_int_equal(access(at("t"), F_OK), -1); /* at once */
    tri_remover_add(r, at("none"));
    write_file("u" TRI_GONE, "");
    tri_remover_add(r, at("u" TRI_GONE));
    while (!tri_remover_is_idle(r)) { /* ctest has a limit */
        tri_sleep(0.001);
    }
    assert_int_equal(access(at("t" TRI_GONE), F_OK), -1);
    tri_remover_destroy(r, 20);
    assert_int_equal(access(at("t" TRI_GONE), F_OK), -1);
    assert_int_equal(access(at("u" TRI_GONE), F_OK), -1);
    assert_int_equal(access(at("outside"), F_OK), 0);
    assert_int_equal(tri_tree_weigh(at("t"), 60, &bytes, &n), -1);
}

static int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/trireme-dir-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    char command[100];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(which_studies),
            cmocka_unit_test(names),
            cmocka_unit_test(claims),
            cmocka_unit_test(claims_that_are_no_claims),
            cmocka_unit_test(a_tree_goes_in_the_background),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
