/*
 * Several openings of one study at once: a program that was thought dead goes
 * on (a zombie), two begin at the same moment, a folder cannot be written, a
 * disk is too small for the tables.
 */
#include "tests/tri_cmocka.h"

#include "tests/store/inspect.h"
#include "tests/store/scratch.h"
#include "tests/store/tiny.h"

#include "trireme/log.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK     0
#define FENCED (10 + TRI_EFENCED)

typedef struct fixture {
    char dir[256];
    char path[512];
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    scratch_make(f->dir);
    snprintf(f->path, sizeof f->path, "%s/tiny.h5", f->dir);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    scratch_remove(f->dir);
    free(f);
    return 0;
}

static int status_of(tiny_result r)
{
    return r.status != TRI_OK ? 10 + (int)r.status
           : r.end_status < 0 ? 4
                              : r.end_status;
}

/* Drive in a child that first calls `prepare`. */
static pid_t start(const tiny_settings *settings, void (*prepare)(void *),
                   void *ctx)
{
    tiny_result result;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        if (prepare) {
            prepare(ctx);
        }
        result = tiny_drive(settings);
        if (result.status != TRI_OK && result.status != TRI_EFENCED) {
            print_message("%s\n", tri_error_last()->sentence);
        }
        fflush(NULL);
        _exit(status_of(result));
    }
    assert_true(pid > 0);
    return pid;
}

static int wait_for(pid_t pid)
{
    int status = 0;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status)) {
        fail_msg("a child was ended by signal %d", WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}

static int drive(fixture *f, int64_t crash_after)
{
    tiny_settings settings;

    tiny_defaults(&settings, f->path);
    settings.resume = 1;
    settings.crash_after = crash_after;
    return wait_for(start(&settings, NULL, NULL));
}

static int64_t events_in(fixture *f)
{
    tri_history *h = NULL;
    tri_replay replay;
    tri_ctl *ctl;
    int64_t n;

    assert_int_equal(tri_history_read(f->path, &h), TRI_OK);
    assert_int_equal(tri_history_replay(h, &ctl, &replay), TRI_OK);
    assert_int_equal(replay.mismatches, 0);
    n = tri_history_n(h);
    tri_ctl_destroy(ctl);
    tri_history_destroy(h);
    return n;
}

/* Start one that stops itself (as a machine that hangs would) after `events`
 * events, and wait until it has. */
static pid_t start_zombie(fixture *f, int64_t events)
{
    tiny_settings settings;
    int status = 0;
    pid_t pid;

    tiny_defaults(&settings, f->path);
    settings.stop_after = events;
    pid = start(&settings, NULL, NULL);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    return pid;
}

static int wake(pid_t zombie)
{
    assert_int_equal(kill(zombie, SIGCONT), 0);
    return wait_for(zombie);
}

static void a_zombie_is_fenced_by_a_live_opening(void **state)
{
    fixture *f = *state;
    pid_t zombie = start_zombie(f, 40);
    int64_t before;

    assert_int_equal(drive(f, 30), 4); /* left open, as by kill -9 */
    before = events_in(f);
    assert_int_equal(before, 70);
    assert_int_equal(wake(zombie), FENCED);
    assert_int_equal(events_in(f), before);
    assert_int_equal(drive(f, -1), OK);
    assert_true(inspect_sound(f->path));
    assert_int_equal(scratch_count(f->dir, "journal"), 0);
}

static void a_zombie_is_fenced_by_an_ended_opening(void **state)
{
    fixture *f = *state;
    pid_t zombie = start_zombie(f, 40);
    struct stat before, after;
    int64_t events;

    assert_int_equal(drive(f, -1), OK);
    events = events_in(f);
    assert_int_equal(stat(f->path, &before), 0);
    assert_int_equal(wake(zombie), FENCED);
    assert_int_equal(stat(f->path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(events_in(f), events);
    assert_true(inspect_sound(f->path));
    assert_int_equal(scratch_count(f->dir, ""), 2);
}

/* Stopped before it made its live file: the first rename is too late too. */
static void an_early_zombie_renames_nothing(void **state)
{
    fixture *f = *state;
    pid_t zombie = start_zombie(f, 1);
    struct stat before, after;

    assert_int_equal(drive(f, -1), OK);
    assert_int_equal(stat(f->path, &before), 0);
    assert_int_equal(wake(zombie), FENCED);
    assert_int_equal(stat(f->path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_true(inspect_sound(f->path));
}

/* The next sync tells it, not the end of its budget. */
static void a_running_opening_notices_that_it_is_overtaken(void **state)
{
    fixture *f = *state;
    int64_t *returned = mmap(NULL, sizeof *returned, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    tiny_settings settings;
    int status = 0;
    pid_t pid;

    assert_true(returned != MAP_FAILED);
    tiny_defaults(&settings, f->path);
    settings.stop_after = 40;
    settings.sync_every = 10;
    settings.returned = returned;
    pid = start(&settings, NULL, NULL);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_int_equal(*returned, 40);
    assert_int_equal(drive(f, 10), 4);
    assert_int_equal(wake(pid), FENCED);
    assert_in_range(*returned, 41, 50);
    munmap(returned, sizeof *returned);
}

static int abandon(fixture *f, int64_t after)
{
    tiny_settings settings;

    tiny_defaults(&settings, f->path);
    settings.resume = 1;
    settings.abandon_after = after;
    return wait_for(start(&settings, NULL, NULL));
}

/* Begun and failed before anything was decided: as if it had not been. */
static void an_abandoned_beginning_leaves_nothing(void **state)
{
    fixture *f = *state;

    assert_int_equal(abandon(f, 0), 4);
    assert_int_equal(scratch_count(f->dir, ""), 0);
    assert_int_equal(abandon(f, 1 + TINY_RANKS), 4);
    assert_int_equal(scratch_count(f->dir, ""), 0);
    assert_int_equal(abandon(f, 20), 4); /* that one has searched */
    assert_int_equal(scratch_count(f->dir, ".exit"), 1);
    assert_true(events_in(f) >= 20);
    assert_int_equal(drive(f, -1), OK);
    assert_true(inspect_sound(f->path));
}

/* A study that was there before stays, whatever its next opening comes to. */
static void an_abandoned_resume_keeps_the_study(void **state)
{
    fixture *f = *state;
    int64_t before;

    assert_int_equal(drive(f, 30), 4);
    before = events_in(f);
    assert_int_equal(abandon(f, 1 + TINY_RANKS), 4);
    assert_int_equal(events_in(f), before + 1 + TINY_RANKS);
    assert_int_equal(scratch_count(f->dir, ".exit"), 1);
    assert_int_equal(drive(f, -1), OK);
    assert_true(inspect_sound(f->path));
}

/* ---- what the log says ------------------------------------------------ */

static int n_warnings;

static void count_warning(void *ctx, tri_log_level level, int rank,
                          const char *line)
{
    (void)ctx;
    (void)rank;
    n_warnings += level == TRI_LOG_WARN && strstr(line, "it is overtaken");
}

/* 1 where opening the study for writing warns. */
static int warns(fixture *f)
{
    static const tri_record_facts facts;
    tri_record_end end = {4, "", 1};
    tri_record *record;
    tri_ctl *ctl;
    int epoch;

    n_warnings = 0;
    tri_log_setup(count_warning, NULL, TRI_LOG_WARN, 0);
    assert_int_equal(tri_record_open(f->path, 1, &facts, &record, &ctl, &epoch),
                     TRI_OK);
    tri_record_close(record, ctl, &end, 1);
    tri_log_setup(NULL, NULL, TRI_LOG_WARN, 0);
    tri_ctl_destroy(ctl);
    return n_warnings;
}

static void make_old(fixture *f)
{
    const struct timespec times[2] = {{1700000000, 0}, {1700000000, 0}};
    char path[600];

    snprintf(path, sizeof path, "%s.journal.1", f->path);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, f->path, times, 0), 0);
}

static void overtaking_a_fresh_journal_warns(void **state)
{
    fixture *f = *state;
    pid_t zombie;

    assert_int_equal(warns(f), 0); /* nothing there */
    scratch_empty(f->dir);
    zombie = start_zombie(f, 40);
    assert_int_equal(kill(zombie, SIGKILL), 0);
    assert_int_equal(waitpid(zombie, NULL, 0), zombie);
    assert_int_equal(warns(f), 1);
    assert_int_equal(warns(f), 0); /* the last one has left its .exit */
    scratch_empty(f->dir);
    zombie = start_zombie(f, 40);
    assert_int_equal(kill(zombie, SIGKILL), 0);
    assert_int_equal(waitpid(zombie, NULL, 0), zombie);
    make_old(f);
    assert_int_equal(warns(f), 0);
}

static int is_expected(int status)
{
    return status == OK || status == FENCED || status == 10 + TRI_EEXIST;
}

/* Begin at the same moment, many times: at most one goes on to the end, and
 * the record is whole whatever happens. */
static void of_two_at_once_one_holds_the_study(void **state)
{
    fixture *f = *state;
    int round;

    for (round = 0; round < 20; ++round) {
        tiny_settings settings;
        pid_t a, b;
        int first, second;

        tiny_defaults(&settings, f->path);
        settings.resume = round % 2;
        a = start(&settings, NULL, NULL);
        b = start(&settings, NULL, NULL);
        first = wait_for(a);
        second = wait_for(b);
        if (!is_expected(first) || !is_expected(second)) {
            fail_msg("round %d: %d and %d", round, first, second);
        }
        assert_int_equal(drive(f, -1), OK);
        assert_true(inspect_sound(f->path));
        events_in(f);
        scratch_empty(f->dir);
    }
}

static void become_nobody(void *ctx)
{
    if (geteuid() == 0 && seteuid(65534) != 0) {
        _exit(77);
    }
}

static void a_folder_that_cannot_be_written_is_an_error(void **state)
{
    fixture *f = *state;
    tiny_settings settings;

    tiny_defaults(&settings, f->path);
    assert_int_equal(chmod(f->dir, 0555), 0);
    assert_int_equal(wait_for(start(&settings, become_nobody, NULL)),
                     10 + TRI_EJOURNAL);
    settings.resume = 1;
    assert_int_equal(wait_for(start(&settings, become_nobody, NULL)),
                     10 + TRI_EJOURNAL);
    assert_int_equal(chmod(f->dir, 0755), 0);
    assert_int_equal(scratch_count(f->dir, ""), 0);
}

/* Files may not grow past *ctx bytes: HDF5 fails where the journal may not. */
static void limit_files(void *ctx)
{
    struct rlimit limit = {*(rlim_t *)ctx, *(rlim_t *)ctx};

    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        _exit(77);
    }
}

static void tables_that_do_not_fit_leave_the_journal(void **state)
{
    fixture *f = *state;
    rlim_t bytes;

    for (bytes = 2000; bytes < 130000; bytes += bytes / 2) {
        tiny_settings settings;
        int result;

        tiny_defaults(&settings, f->path);
        result = wait_for(start(&settings, limit_files, &bytes));
        assert_true(result == OK || result >= 10);
        if (result != OK && tri_record_exists(f->path)) {
            events_in(f);
        }
        assert_int_equal(drive(f, -1), OK);
        assert_true(inspect_sound(f->path));
        assert_int_equal(scratch_count(f->dir, ""), 2);
        scratch_empty(f->dir);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
            TEST(a_zombie_is_fenced_by_a_live_opening),
            TEST(a_zombie_is_fenced_by_an_ended_opening),
            TEST(an_early_zombie_renames_nothing),
            TEST(a_running_opening_notices_that_it_is_overtaken),
            TEST(an_abandoned_beginning_leaves_nothing),
            TEST(an_abandoned_resume_keeps_the_study),
            TEST(overtaking_a_fresh_journal_warns),
            TEST(of_two_at_once_one_holds_the_study),
            TEST(a_folder_that_cannot_be_written_is_an_error),
            TEST(tables_that_do_not_fit_leave_the_journal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
