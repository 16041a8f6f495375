/*
 * Which log files stay: the latest runs, and failed ones apart.
 */
#include "mpi_workers/process_logs.h"

#include "mpi_workers/child_log.h"
#include "tests/tri_cmocka.h"
#include "trireme/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static tri_study *read_study(const char *log)
{
    char text[400];
    char path[128];
    tri_study *s = NULL;

    snprintf(path, sizeof path, "%s/p.yaml", folder);
    snprintf(text, sizeof text,
             "study: s\nspace: {x: {int: [0, 3]}}\n"
             "model: {kind: process, command: [t]%s}\n"
             "objective: {minimize: loss}\n",
             log);
    assert_int_equal(tri_study_parse(text, strlen(text), path, NULL, NULL, &s),
                     TRI_OK);
    return s;
}

static int is_there(int64_t run)
{
    char path[128];

    snprintf(path, sizeof path, "%s/logs/5.%d.0.1.log", folder, (int)run);
    return access(path, F_OK) == 0;
}

/* A run's process, whose log is the path that is asked for. */
static void run(const tri_study *s, int64_t number, int failed)
{
    tri_facts facts = {.trial = 5, .run = number, .rank = 1};
    char path[300];
    FILE *f;

    assert_true(tri_logs_begin(s, &facts, path, sizeof path));
    f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
    assert_true(is_there(number));
    tri_logs_end(s, &facts, failed);
}

static void the_latest_stay(void **state)
{
    tri_study *s = read_study(", log_dir: {dir: logs, keep: 3}");

    (void)state;
    run(s, 1, 0);
    run(s, 2, 1);
    run(s, 4, 0); /* run 3 was another rank's */
    assert_false(is_there(1));
    run(s, 5, 1);
    run(s, 6, 0);
    run(s, 7, 1);
    assert_false(is_there(4));
    assert_true(is_there(2) && is_there(5) && is_there(6) && is_there(7));
    run(s, 20, 1);
    run(s, 21, 0);
    assert_false(is_there(6));
    assert_false(is_there(2)); /* four failed */
    assert_true(is_there(5) && is_there(7) && is_there(20) && is_there(21));
    tri_logs_forget();
    tri_study_destroy(s);
}

/* Its first try was in order, on a port that was taken; then it failed. */
static void started_again(void **state)
{
    tri_study *s = read_study(", log_dir: {dir: logs, keep: 1}");

    (void)state;
    run(s, 40, 0);
    run(s, 40, 1);
    run(s, 50, 0);
    run(s, 60, 0);
    assert_true(is_there(40) && is_there(60));
    assert_false(is_there(50));
    tri_logs_forget();
    tri_study_destroy(s);
}

static void all_or_none(void **state)
{
    tri_study *all = read_study(", log_dir: {dir: logs, keep: all}");
    tri_study *none = read_study("");
    const tri_facts facts = {.run = 1};
    char path[300];

    (void)state;
    for (int i = 100; i < 200; i++) {
        run(all, i, i % 2);
    }
    for (int i = 100; i < 200; i++) {
        assert_true(is_there(i));
    }
    assert_false(tri_logs_begin(none, &facts, path, sizeof path));
    tri_logs_forget();
    tri_study_destroy(all);
    tri_study_destroy(none);
}

static int n_warnings;

static void count_warning(void *ctx, tri_log_level level, int rank,
                          const char *line)
{
    (void)ctx;
    (void)rank;
    (void)line;
    n_warnings += level == TRI_LOG_WARN;
}

/* Each run would say the same. */
static void what_cannot_be_is_said_once(void **state)
{
    tri_study *s = read_study(", log_dir: {dir: p/logs}");
    tri_child_log *log;
    char path[300];

    (void)state;
    n_warnings = 0;
    tri_log_setup(count_warning, NULL, TRI_LOG_WARN, 1);
    snprintf(path, sizeof path, "%s/p", folder); /* a file: no directory */
    log = tri_child_log_open(path, 0);
    assert_non_null(log);
    tri_child_log_close(log);
    for (int i = 0; i < 3; i++) {
        const tri_facts facts = {.run = i};

        assert_false(tri_logs_begin(s, &facts, path, sizeof path));
    }
    assert_int_equal(n_warnings, 1);
    for (int i = 0; i < 3; i++) {
        assert_null(tri_child_log_open(folder, 0));
        log = tri_child_log_open("/dev/full", 0);
        tri_child_log_write(log, "x", 1);
        tri_child_log_close(log);
    }
    assert_int_equal(n_warnings, 2);
    tri_child_log_close(tri_child_log_open("/dev/null", 0));
    assert_null(tri_child_log_open(folder, 0));
    assert_int_equal(n_warnings, 3);
    tri_log_setup(NULL, NULL, TRI_LOG_WARN, 1);
    tri_logs_forget();
    tri_study_destroy(s);
}

static int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/trireme-logs-XXXXXX");
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
            cmocka_unit_test(the_latest_stay),
            cmocka_unit_test(started_again),
            cmocka_unit_test(all_or_none),
            cmocka_unit_test(what_cannot_be_is_said_once),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
