/*
 * Disks that are sick from some call on: syncs that fail, a file system that
 * has become read-only, a folder that is gone, no room for the tables.  The
 * program goes on or ends by itself; it never dies, what it recorded is there,
 * and once the disk is well the study goes on to its end.
 *
 * HDF5 writes by itself: pwrite is replaced for it in this program.
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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum sickness {
    SYNC_EIO,    /* every sync fails */
    SYNC_ENOSPC, /* as where a quota is judged late */
    READ_ONLY,   /* as a file system after an error of its device */
    GONE,        /* the folder has another name */
    TABLES_FULL, /* HDF5's writes find no room */
    TABLES_EIO,
    SICKNESSES
} sickness;

typedef struct shared { /* with the child */
    int64_t returned;   /* events whose recording returned */
    int64_t calls;      /* that count for this sickness */
    tri_status status;  /* of the record */
} shared;

static shared *seen;
static sickness kind;
static int64_t at; /* the call from which it is sick, from 1; 0: never */
static char home[256], away[300]; /* the folder's two names */

/* ---- the table --------------------------------------------------------- */

/* Count a call; whether the disk is sick by now. */
static int is_sick(void)
{
    int64_t n = __atomic_add_fetch(&seen->calls, 1, __ATOMIC_RELAXED);

    return at > 0 && n >= at;
}

static int is_of_tables(void)
{
    return kind == TABLES_FULL || kind == TABLES_EIO;
}

/* Whether this call of the table fails; [out] errno. */
static int fails(int is_sync)
{
    int counts = !is_of_tables() && (is_sync || kind >= READ_ONLY);

    if (!counts || !is_sick()) {
        return 0;
    }
    if (kind == GONE) {
        rename(home, away); /* the first time */
        return 0;
    }
    errno = kind == SYNC_ENOSPC ? ENOSPC : is_sync ? EIO : EROFS;
    return 1;
}

/* Is pwrite in this program, HDF5's too; the table goes past it. */
ssize_t any_pwrite(int fd, const void *data, size_t bytes,
                   off_t to) __asm__("pwrite")
        __attribute__((visibility("default")));
ssize_t any_pwrite(int fd, const void *data, size_t bytes, off_t to)
{
    if (seen && is_of_tables() && is_sick()) {
        errno = kind == TABLES_FULL ? ENOSPC : EIO;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, data, bytes, to);
}

static ssize_t sick_pwrite(int fd, const void *data, size_t bytes, off_t to)
{
    return fails(0) ? -1 : syscall(SYS_pwrite64, fd, data, bytes, to);
}

static int sick_fsync(int fd)
{
    return fails(1) ? -1 : fsync(fd);
}

static int sick_ftruncate(int fd, off_t bytes)
{
    return fails(0) ? -1 : ftruncate(fd, bytes);
}

static int sick_rename(const char *from, const char *to)
{
    return fails(0) ? -1 : rename(from, to);
}

static int sick_unlink(const char *path)
{
    return fails(0) ? -1 : unlink(path);
}

static int sick_create(const char *path, int exclusive)
{
    return fails(0) ? -1 : tri_sys_real.create(path, exclusive);
}

static const tri_sys sick = {sick_create,    sick_pwrite, sick_fsync,
                             sick_ftruncate, sick_rename, sick_unlink};

/* ---- one child --------------------------------------------------------- */

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
    snprintf(home, sizeof home, "%s", f->dir);
    snprintf(away, sizeof away, "%s.away", f->dir);
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
    seen = NULL;
    scratch_remove(f->dir);
    free(f);
    return 0;
}

/* Its exit status: the study's, 99 where the record failed. */
static int drive(const fixture *f, int64_t from)
{
    int status = 0;
    pid_t pid;

    fflush(NULL);
    seen->calls = 0;
    at = from;
    pid = fork();
    if (pid == 0) {
        tiny_settings settings;
        tiny_result r;

        tiny_defaults(&settings, f->path);
        settings.resume = 1;
        settings.returned = &seen->returned;
        tri_sys_now = &sick;
        r = tiny_drive(&settings);
        seen->status = r.status;
        _exit(r.status != TRI_OK ? 99 : r.end_status);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status)) {
        fail_msg("sickness %d: signal %d at call %lld", (int)kind,
                 WTERMSIG(status), (long long)from);
    }
    return WEXITSTATUS(status);
}

/* Only what is whole is said to be; and nobody else is to blame.  (A segment
 * that went out of sight as it was to be removed does no harm.) */
static void check_claim(const fixture *f, int result, int64_t n)
{
    if (result == 0 && kind != GONE) {
        expect_end(f->dir, f->path, n);
    }
    if (seen->status == TRI_EFENCED) {
        fail_msg("call %lld: nobody else has begun", (long long)n);
    }
}

/* Returns whether the call was reached. */
static int try_from(const fixture *f, int64_t n)
{
    int result;

    scratch_empty(f->dir);
    seen->returned = 0;
    result = drive(f, n);
    if (seen->calls < n) {
        assert_int_equal(result, 0);
        return 0;
    }
    if (kind == GONE) {
        assert_int_equal(rename(away, home), 0);
    }
    check_claim(f, result, n);
    expect_history(f->path, seen->returned, n);
    result = drive(f, 0);
    if (result != 0) {
        fail_msg("sickness %d, call %lld: the resumed study ended with %d",
                 (int)kind, (long long)n, result);
    }
    expect_end(f->dir, f->path, n);
    return 1;
}

static void sick_with(void **state)
{
    fixture *f = *state;

    for (int i = 0; i < SICKNESSES; ++i) {
        int64_t n = 1;

        kind = (sickness)i;
        while (try_from(f, n)) {
            ++n;
        }
        print_message("sickness %d: %lld calls\n", i, (long long)(n - 1));
        assert_true(n > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test_setup_teardown(sick_with, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
