/*
 * Study files that are damaged, cut short, or no files at all: reading one
 * ends with its events or with an error, soon, and never by a signal.
 */
#include "tests/tri_cmocka.h"

#include "src/store/h5file.h"
#include "src/store/sys.h"
#include "tests/store/scratch.h"
#include "tests/store/tiny.h"
#include "trireme/rng.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Long beyond what any of these may take, on a busy machine too. */
#define LIMIT_S    20
#define SEED       20240611
#define FLIPS      100
#define CUTS       50
#define SUPERBLOCK 48

typedef struct fixture {
    char dir[256];
    char path[512];
    unsigned char *data; /* of a good file */
    size_t bytes;
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
    free(f->data);
    free(f);
    return 0;
}

/* Everything that a command asks a file for. */
static tri_status read_everything(const char *path)
{
    tri_history *h = NULL;
    tri_ctl *ctl = NULL;
    tri_status st;

    free(tri_h5file_read_text(path, "hostnames"));
    TRI_TRY(tri_history_read(path, &h));
    st = tri_history_replay(h, &ctl, NULL);
    if (st == TRI_OK) {
        tri_ctl_destroy(ctl);
    }
    tri_history_destroy(h);
    return st;
}

static int is_silent(void)
{
    return !tri_error_last()->sentence[0];
}

/* What may not be read is said to be just that; checked where we can be
 * somebody else than root. */
static void what_may_not_be_read(void **state)
{
    fixture *f = *state;
    tri_history *h = NULL;
    int fd = tri_sys_now->create(f->path, 1);
    int is_root = geteuid() == 0;
    tri_status st;

    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(chmod(f->path, 0), 0);
    assert_int_equal(chmod(f->dir, 0755), 0);
    assert_true(!is_root || seteuid(65534) == 0);
    st = tri_history_read(f->path, &h);
    assert_true(!is_root || seteuid(0) == 0);
    assert_int_equal(st, TRI_EIO);
    assert_non_null(strstr(tri_error_last()->sentence, "Permission denied"));
}

/* In a child with an alarm: 0 read, 1 refused, 2 refused without a word; 3 by
 * a signal. */
static int outcome_of(const char *path)
{
    int status = 0;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        tri_status st;

        alarm(LIMIT_S);
        st = read_everything(path);
        _exit(st == TRI_OK ? 0 : is_silent() ? 2 : 1);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

static void keep_good(fixture *f)
{
    assert_int_equal(tri_sys_read(f->path, &f->data, &f->bytes), TRI_OK);
    assert_true(f->bytes > 4096);
    scratch_empty(f->dir);
}

/* Make the good file in a child, which may stop itself after `stop_after`
 * events; [out] what became of it. */
static int make(fixture *f, int64_t stop_after)
{
    int status = 0;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        tiny_settings settings;

        tiny_defaults(&settings, f->path);
        settings.stop_after = stop_after;
        settings.pause_ms = stop_after > 0;
        _exit(tiny_drive(&settings).status != TRI_OK);
    }
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    if (WIFSTOPPED(status)) {
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }
    return status;
}

/* As the good one but `bytes` long and with `mask` at `at`. */
static void check(fixture *f, size_t bytes, size_t at, unsigned char mask)
{
    FILE *out = fopen(f->path, "wbe");
    int outcome;

    assert_non_null(out);
    f->data[at] ^= mask;
    assert_int_equal(fwrite(f->data, 1, bytes, out), bytes);
    f->data[at] ^= mask;
    assert_int_equal(fclose(out), 0);
    outcome = outcome_of(f->path);
    if (outcome > 1) {
        fail_msg("%zu of %zu bytes, byte %zu by %02x: outcome %d", bytes,
                 f->bytes, at, mask, outcome);
    }
}

static unsigned char one_bit(tri_rng *rng)
{
    return (unsigned char)(1u << tri_rng_below(rng, 8));
}

static void check_damages(fixture *f)
{
    tri_rng rng = tri_rng_stream(SEED, 0, 0);

    print_message("seed %d\n", SEED);
    assert_int_equal(outcome_of(f->path), 1); /* nothing there */
    check(f, f->bytes, 0, 0);
    assert_int_equal(outcome_of(f->path), 0);
    for (size_t at = 0; at < SUPERBLOCK; at++) {
        check(f, f->bytes, at, one_bit(&rng));
    }
    for (int i = 0; i < FLIPS; i++) {
        size_t at = (size_t)tri_rng_below(&rng, f->bytes);

        check(f, f->bytes, at, one_bit(&rng));
    }
    for (int i = 0; i < CUTS; i++) {
        check(f, (size_t)tri_rng_below(&rng, f->bytes), 0, 0);
    }
}

static void an_ended_file(void **state)
{
    fixture *f = *state;

    assert_int_equal(make(f, -1), 0);
    keep_good(f);
    check_damages(f);
}

/* As a writer in SWMR mode left it, and its journal lost. */
static void a_file_that_was_never_closed(void **state)
{
    fixture *f = *state;

    assert_true(WIFSTOPPED(make(f, 60)));
    keep_good(f);
    check_damages(f);
}

static void what_is_no_file(void **state)
{
    fixture *f = *state;

    assert_int_equal(mkfifo(f->path, 0600), 0);
    assert_int_equal(outcome_of(f->path), 1);
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(mkdir(f->path, 0700), 0);
    assert_int_equal(outcome_of(f->path), 1);
    assert_int_equal(rmdir(f->path), 0);
    assert_int_equal(symlink("/dev/zero", f->path), 0);
    assert_int_equal(outcome_of(f->path), 1);
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(symlink(f->path, f->path), 0);
    assert_int_equal(outcome_of(f->path), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
            TEST(an_ended_file),
            TEST(a_file_that_was_never_closed),
            TEST(what_is_no_file),
            TEST(what_may_not_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
