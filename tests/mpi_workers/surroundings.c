/*
 * A run's scratch folder and host file: theirs alone, and gone afterwards with
 * all that is in them and nothing else.
 */
#include "mpi_workers/surroundings.h"

#include "tests/tri_cmocka.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[] = "/tmp/trireme-around-XXXXXX";
static tri_rendezvous place = {.rank_hosts = (char[]){"n1\nn1\nn2\n"}};

/* root/name */
static const char *at(const char *name)
{
    static char path[8][600];
    static int i;

    i = (i + 1) % 8;
    snprintf(path[i], sizeof path[i], "%s/%s", root, name);
    return path[i];
}

static int is_there(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0;
}

static void write_file(const char *path)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs("x\n", f);
    fclose(f);
}

static tri_study *study_of(const char *model)
{
    char text[700];
    tri_study *study = NULL;

    snprintf(text, sizeof text,
             "study: s\nmodel: {kind: process, command: ['true'], %s}\n"
             "space: {n: {int: [1, 2]}}\nobjective: {minimize: loss}\n",
             model);
    assert_int_equal(tri_study_parse(text, strlen(text), at("s.yaml"), NULL,
                                     NULL, &study),
                     TRI_OK);
    return study;
}

static tri_surroundings make(const tri_study *study, tri_facts *facts)
{
    tri_surroundings s;
    tri_config config[1];

    assert_int_equal(tri_space_parse(study->space, "n=1", config), TRI_OK);
    if (tri_surroundings_make(study, config, &place, NULL, facts, &s) !=
        TRI_OK) {
        fail_msg("%s", tri_error_last()->sentence);
    }
    return s;
}

static void a_scratch_folder_comes_and_goes(void **state)
{
    tri_study *study = study_of("scratch: 'deep/er/{run}.{rank}/'");
    tri_facts facts = {.run = 7, .rank = 1};
    tri_surroundings s = make(study, &facts);

    (void)state;
    assert_string_equal(facts.scratch, at("deep/er/7.1"));
    assert_null(facts.host_file);
    assert_true(is_there(facts.scratch));
    write_file(at("deep/er/7.1/a"));
    mkdir(at("deep/er/7.1/sub"), 0700);
    write_file(at("deep/er/7.1/sub/b"));
    assert_int_equal(chmod(at("deep/er/7.1/sub"), 0500), 0);
    tri_surroundings_remove(&s);
    assert_null(s.scratch);
    assert_false(is_there(at("deep"))); /* made for it */
    tri_surroundings_remove(&s);
    tri_study_destroy(study);
}

static void what_was_there_stays(void **state)
{
    tri_study *study = study_of("scratch: mine");
    tri_facts facts = {.run = 7};
    tri_facts others = {.run = 7, .rank = 1};
    tri_surroundings s;
    tri_surroundings t;

    (void)state;
    mkdir(at("mine"), 0700);
    write_file(at("mine/precious"));
    s = make(study, &facts);
    t = make(study, &others); /* another rank, the same name */
    assert_string_equal(facts.scratch, at("mine.1"));
    assert_string_equal(others.scratch, at("mine.2"));
    /* links are removed, not followed */
    assert_int_equal(symlink(at("mine"), at("mine.1/link")), 0);
    assert_int_equal(symlink(at("mine/precious"), at("mine.1/file")), 0);
    tri_surroundings_remove(&s);
    tri_surroundings_remove(&t);
    assert_true(is_there(at("mine/precious")));
    assert_false(is_there(at("mine.1")) || is_there(at("mine.2")));
    tri_study_destroy(study);
}

/* Other ranks take the folders above it away as soon as they are empty. */
static void shared_parents_come_and_go(void **state)
{
    tri_study *study = study_of("scratch: '{run}/shared/{rank}'");
    tri_facts facts = {.run = 7};
    pid_t other = fork();

    (void)state;
    assert_true(other >= 0);
    for (int i = 0; other == 0 && i < 60000; i++) { /* or until it is killed */
        usleep(1000);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        rmdir(at("7/shared"));
        rmdir(at("7"));
    }
    if (other == 0) {
        _exit(0);
    }
    for (int i = 0; i < 200; i++) {
        tri_surroundings s = make(study, &facts);

        assert_true(is_there(facts.scratch));
        tri_surroundings_remove(&s);
    }
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, NULL, 0), other);
    assert_false(is_there(at("7")));
    tri_study_destroy(study);
}

static void what_cannot_be_made_leaves_nothing(void **state)
{
    tri_study *study = study_of("scratch: new/s.yaml-is-a-file/x/y");
    tri_facts facts = {.run = 7};
    tri_surroundings s = {.scratch = root};
    tri_config config[1];

    (void)state;
    mkdir(at("new"), 0700);
    write_file(at("new/s.yaml-is-a-file"));
    assert_int_equal(tri_space_parse(study->space, "n=1", config), TRI_OK);
    assert_int_equal(
            tri_surroundings_make(study, config, &place, NULL, &facts, &s),
            TRI_EIO);
    assert_non_null(strstr(tri_error_last()->sentence, "Not a directory"));
    assert_ptr_equal(s.scratch, root); /* untouched */
    assert_null(facts.scratch);
    tri_study_destroy(study);
}

static void a_tree_takes_no_longer_than_it_may(void **state)
{
    (void)state;
    mkdir(at("tree"), 0700);
    write_file(at("tree/a"));
    assert_true(tri_remove_tree(at("tree"), -1) != TRI_OK);
    assert_true(is_there(at("tree/a")));
    assert_int_equal(tri_remove_tree(at("tree"), 10), TRI_OK);
    assert_false(is_there(at("tree")));
    assert_int_equal(tri_remove_tree(at("tree"), 10), TRI_OK);
    assert_int_equal(symlink(root, at("tree")), 0);
    assert_int_equal(tri_remove_tree(at("tree"), 10), TRI_OK);
    assert_true(is_there(root));
}

static void leaders_have_a_host_file(void **state)
{
    tri_study *study = study_of("launch: leader");
    tri_facts facts = {.run = 7};
    tri_surroundings s;
    char path[600];
    char text[64] = "";
    FILE *f;

    (void)state;
    setenv("TMPDIR", root, 1);
    s = make(study, &facts);
    assert_null(facts.scratch);
    snprintf(path, sizeof path, "%s", facts.host_file);
    f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    assert_string_equal(text, "n1\nn1\nn2\n");
    tri_surroundings_remove(&s);
    assert_false(is_there(path));
    tri_study_destroy(study);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return tri_remove_tree(root, 10) == TRI_OK ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_scratch_folder_comes_and_goes),
            cmocka_unit_test(what_was_there_stays),
            cmocka_unit_test(shared_parents_come_and_go),
            cmocka_unit_test(what_cannot_be_made_leaves_nothing),
            cmocka_unit_test(a_tree_takes_no_longer_than_it_may),
            cmocka_unit_test(leaders_have_a_host_file),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
