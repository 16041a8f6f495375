/*
 * Durability, exhaustively: a study is driven in a child process that dies at
 * its n-th write, sync, truncation, rename, removal or creation, for every n;
 * or whose disk is full from the n-th on.  Whatever happened: no event whose
 * recording had returned is lost, every digest holds, and the study resumed
 * ends with whole tables.
 *
 * A call dies before it is made, after it was made, or, if it writes, with
 * half of it written.
 */
#include "tests/tri_cmocka.h"

#include "src/store/sys.h"
#include "tests/store/expect.h"
#include "tests/store/scratch.h"
#include "tests/store/tiny.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DIED 99

typedef enum fault {
    FAULT_BEFORE, /* dies before the call */
    FAULT_HALF,   /* dies with half of it written; else as before */
    FAULT_AFTER,  /* dies when the call is done */
    FAULT_FULL    /* from the n-th write on, the disk is full */
} fault;

/* Shared with the child. */
typedef struct shared {
    int64_t returned; /* events whose recording returned */
    int64_t calls;    /* of the table */
} shared;

static shared *seen;
static fault kind;
static int64_t at; /* the call that fails, from 1; 0: none */

/* ---- the table -------------------------------------------------------- */

static int is_now(void)
{
    return ++seen->calls == at && kind != FAULT_FULL;
}

static int is_full(void)
{
    return kind == FAULT_FULL && at > 0 && seen->calls >= at;
}

static void die_if(int now)
{
    if (now) {
        _exit(DIED);
    }
}

static int full(void)
{
    errno = ENOSPC;
    return -1;
}

static ssize_t faulty_pwrite(int fd, const void *data, size_t bytes, off_t to)
{
    int now = is_now();
    struct stat info;
    ssize_t n;

    if (is_full() &&
        !(fstat(fd, &info) == 0 && to + (off_t)bytes <= info.st_size)) {
        /* what is left of the room takes a part of the first one */
        if (seen->calls == at && bytes > 1) {
            return pwrite(fd, data, bytes / 2, to);
        }
        return full();
    }
    die_if(now && kind == FAULT_BEFORE);
    if (now && kind == FAULT_HALF) {
        bytes = (bytes + 1) / 2;
    }
    n = pwrite(fd, data, bytes, to);
    die_if(now);
    return n;
}

static int faulty_fsync(int fd)
{
    int now = is_now();
    int result;

    die_if(now && kind != FAULT_AFTER);
    result = fsync(fd);
    die_if(now);
    return result;
}

static int faulty_ftruncate(int fd, off_t bytes)
{
    int now = is_now();
    int result;

    die_if(now && kind != FAULT_AFTER);
    result = ftruncate(fd, bytes);
    die_if(now);
    return result;
}

static int faulty_rename(const char *from, const char *to)
{
    int now = is_now();
    int result;

    die_if(now && kind != FAULT_AFTER);
    result = rename(from, to);
    die_if(now);
    return result;
}

static int faulty_unlink(const char *path)
{
    int now = is_now();
    int result;

    die_if(now && kind != FAULT_AFTER);
    result = unlink(path);
    die_if(now);
    return result;
}

static int faulty_create(const char *path, int exclusive)
{
    int now = is_now();
    int fd;

    if (is_full()) {
        return full();
    }
    die_if(now && kind != FAULT_AFTER);
    fd = tri_sys_real.create(path, exclusive);
    die_if(now);
    return fd;
}

static const tri_sys faulty = {faulty_create,    faulty_pwrite, faulty_fsync,
                               faulty_ftruncate, faulty_rename, faulty_unlink};

/* ---- one child --------------------------------------------------------- */

/* Drive in a child; returns its exit status: DIED, or 10 + the status of the
 * record, or the study's end status where that is TRI_OK. */
static int drive(const tiny_settings *settings, fault how, int64_t n)
{
    int status = 0;
    pid_t pid;

    fflush(NULL);
    seen->calls = 0;
    kind = how;
    at = n;
    pid = fork();
    if (pid == 0) {
        tiny_result r;

        tri_sys_now = &faulty;
        r = tiny_drive(settings);
        _exit(r.status != TRI_OK ? 10 + (int)r.status
              : r.end_status < 0 ? 50
                                 : r.end_status);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status)) {
        fail_msg("the child was ended by signal %d at call %lld",
                 WTERMSIG(status), (long long)n);
    }
    return WEXITSTATUS(status);
}

/* ---- scenarios --------------------------------------------------------- */

typedef struct fixture {
    char dir[256], start[256];
    char path[512];
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    scratch_make(f->dir);
    scratch_make(f->start);
    snprintf(f->path, sizeof f->path, "%s/tiny.h5", f->dir);
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(seen != MAP_FAILED);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    munmap(seen, sizeof *seen);
    scratch_remove(f->dir);
    scratch_remove(f->start);
    free(f);
    return 0;
}

/* From the files in `start`: fail at call n, then resume to the end.  Returns
 * whether the call was reached. */
static int try_at(fixture *f, const tiny_settings *settings, fault how,
                  int64_t n, int64_t before)
{
    tiny_settings again;
    int result;

    scratch_copy(f->start, f->dir);
    seen->returned = before;
    result = drive(settings, how, n);
    if (result != DIED && seen->calls < n) {
        return 0;
    }
    if (how != FAULT_FULL && result != DIED) {
        fail_msg("call %lld: the child ended with %d", (long long)n, result);
    }
    expect_history(f->path, seen->returned, n);
    if (how == FAULT_FULL && seen->returned > before) {
        expect_exit(f->path, n);
    }
    tiny_defaults(&again, f->path);
    again.resume = 1;
    result = drive(&again, FAULT_BEFORE, 0);
    if (result != 0) {
        fail_msg("call %lld: the resumed study ended with %d", (long long)n,
                 result);
    }
    expect_end(f->dir, f->path, n);
    return 1;
}

static void try_all(fixture *f, const tiny_settings *settings, fault how,
                    int64_t least)
{
    tri_history *h = NULL;
    int64_t n, before = 0;

    scratch_copy(f->start, f->dir);
    if (tri_record_exists(f->path)) {
        assert_int_equal(tri_history_read(f->path, &h), TRI_OK);
        before = tri_history_n(h);
        tri_history_destroy(h);
    }
    for (n = 1; try_at(f, settings, how, n, before); ++n) {
    }
    print_message("%lld calls\n", (long long)(n - 1));
    assert_true(n > least);
}

static void begin(fixture *f, tiny_settings *settings, int64_t drain_after,
                  int64_t crash_after)
{
    tiny_settings first;

    tiny_defaults(&first, f->path);
    first.drain_after = drain_after;
    first.crash_after = crash_after;
    if (drain_after >= 0 || crash_after >= 0) {
        drive(&first, FAULT_BEFORE, 0);
    }
    scratch_copy(f->dir, f->start);
    scratch_empty(f->dir);
    tiny_defaults(settings, f->path);
    settings->resume = 1;
}

static void a_new_study(void **state)
{
    fixture *f = *state;
    tiny_settings settings;
    int how;

    begin(f, &settings, -1, -1);
    for (how = FAULT_BEFORE; how <= FAULT_FULL; ++how) {
        try_all(f, &settings, (fault)how, 60);
    }
}

static void resumed_from_segments(void **state)
{
    fixture *f = *state;
    tiny_settings settings;
    int how;

    begin(f, &settings, -1, 70);
    for (how = FAULT_BEFORE; how <= FAULT_FULL; ++how) {
        try_all(f, &settings, (fault)how, 20);
    }
}

static void resumed_from_a_folded_file(void **state)
{
    fixture *f = *state;
    tiny_settings settings;
    int how;

    begin(f, &settings, 60, -1);
    for (how = FAULT_BEFORE; how <= FAULT_FULL; ++how) {
        try_all(f, &settings, (fault)how, 20);
    }
}

/* A drain in the middle of faults: folded half-way, at every call. */
static void drained(void **state)
{
    fixture *f = *state;
    tiny_settings settings;
    int how;

    begin(f, &settings, -1, 40);
    settings.drain_after = 5;
    for (how = FAULT_BEFORE; how <= FAULT_FULL; ++how) {
        try_all(f, &settings, (fault)how, 10);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
            TEST(a_new_study),
            TEST(resumed_from_segments),
            TEST(resumed_from_a_folded_file),
            TEST(drained),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
