/*
 * Runs cases inside one mpirun.
 */
#include "tests/net/harness.h"

#include "mpi_workers/worker.h"
#include "tests/tri_cmocka.h"
#include "trireme/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tri_case_ranks;

/* Ranks were lost, or this one was: MPI_Finalize would wait for them. */
static int must_exit;

static char folder[64], file[128];
static const tri_case *now;

static void log_line(void *ctx, tri_log_level level, int rank, const char *line)
{
    (void)ctx;
    fprintf(stderr, "[%d] %s: %s\n", rank, tri_log_level_name(level), line);
}

static void serve(const tri_case *cases, int n)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < cases[i].openings; j++) {
            int leaving;

            tri_worker_main(&leaving);
            tri_worker_forget_signals();
            must_exit = must_exit || leaving;
        }
    }
}

static void run_case(void **state)
{
    now = *state;
    snprintf(folder, sizeof folder, "/tmp/trireme-net-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/study.h5", folder);
    now->run();
}

static int lead(const tri_case *cases, int n)
{
    int failed = 0;

    for (int i = 0; i < n && !failed; i++) {
        struct CMUnitTest test = {cases[i].name, run_case, NULL, NULL,
                                  (void *)(uintptr_t)&cases[i]};
        const struct CMUnitTest tests[] = {test};
        char command[160];

        failed = cmocka_run_group_tests_name(cases[i].name, tests, NULL, NULL);
        snprintf(command, sizeof command, "rm -rf '%s'", folder);
        if (!failed && system(command) != 0) {
            failed = 1;
        }
    }
    return failed;
}

int tri_cases_run(int argc, char **argv, const tri_case *cases, int n)
{
    int provided;
    int rank;
    int failed = 0;

    MPI_Initialized(&provided);
    if (!provided) {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &tri_case_ranks);
    tri_log_setup(log_line, NULL, TRI_LOG_INFO, rank);
    if (rank > 0) {
        serve(cases, n);
    } else {
        failed = lead(cases, n);
    }
    fflush(stdout);
    if (failed) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (must_exit && getenv("OMPI_MCA_orte_enable_recovery")) {
        fflush(stderr);
        _exit(0); /* as src/app does */
    }
    MPI_Finalize();
    return failed;
}

const char *tri_case_file(void)
{
    return file;
}

tri_tuned tri_case_tune(const char *text, const char *path, int resume,
                        void (*view)(void *ctx, const tri_ctl *ctl), void *ctx)
{
    tri_tuned t = {.st = TRI_OK};
    tri_net_settings settings = {.output = path,
                                 .resume = resume,
                                 .max_time_s = NAN,
                                 .command_line = "test",
                                 .view = view,
                                 .ctx = ctx};
    char where[160];

    snprintf(where, sizeof where, "%s/study.yaml", folder);
    if (tri_study_parse(text, strlen(text), where, NULL, NULL, &t.study) !=
        TRI_OK) {
        print_error("%d: %s\n", tri_error_last()->line,
                    tri_error_last()->sentence);
        assert_true(0);
    }
    tri_worker_forget_signals();
    t.st = tri_net_tune(t.study, &settings, &t.end, &t.ctl);
    must_exit = must_exit || t.end.must_exit;
    if (t.st != TRI_OK) {
        print_message("tune: %s\n", tri_error_last()->sentence);
    }
    return t;
}

void tri_tuned_fini(tri_tuned *t)
{
    tri_ctl_destroy(t->ctl);
    tri_study_destroy(t->study);
    memset(t, 0, sizeof *t);
}

void tri_case_verify(const char *path, int64_t at_least)
{
    tri_history *history;
    tri_replay replay;
    tri_ctl *ctl;

    assert_int_equal(tri_history_read(path, &history), TRI_OK);
    assert_int_equal(tri_history_replay(history, &ctl, &replay), TRI_OK);
    assert_int_equal(replay.mismatches, 0);
    assert_true(replay.events >= at_least);
    tri_ctl_destroy(ctl);
    tri_history_destroy(history);
}
