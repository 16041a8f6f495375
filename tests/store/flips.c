/*
 * Journals with one wrong bit, at seeded places: whatever is lost is said, no
 * damaged study is opened for writing, recovery keeps every byte and goes back
 * to what is whole.  With the live tables beside the journal and without.
 */
#include "tests/tri_cmocka.h"

#include "src/store/sys.h"
#include "tests/store/inspect.h"
#include "tests/store/scratch.h"
#include "tests/store/tiny.h"
#include "trireme/rng.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEED  20261130
#define FLIPS 100

typedef struct fixture {
    char dir[256], start[256];
    char path[512];
    int64_t events; /* of the good study */
    int silent;     /* flips after which all was read */
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    scratch_make(f->dir);
    scratch_make(f->start);
    snprintf(f->path, sizeof f->path, "%s/tiny.h5", f->dir);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    scratch_remove(f->dir);
    scratch_remove(f->start);
    free(f);
    return 0;
}

/* In a child, for HDF5's sake: its status, 99 where it was killed after
 * `stop_after` events. */
static int drive(const fixture *f, int64_t stop_after)
{
    int status = 0;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        tiny_settings settings;

        tiny_defaults(&settings, f->path);
        settings.resume = 1;
        settings.stop_after = stop_after;
        settings.pause_ms = stop_after > 0;
        _exit((int)tiny_drive(&settings).status);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    if (WIFSTOPPED(status)) {
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        return 99;
    }
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static tri_history *read_it(const fixture *f)
{
    tri_history *h = NULL;

    if (tri_history_read(f->path, &h) != TRI_OK) {
        fail_msg("%s", tri_error_last()->sentence);
    }
    return h;
}

/* Two openings that were killed; keeps their files as the start. */
static void begin(fixture *f, int with_tables)
{
    tri_history *h;

    assert_int_equal(drive(f, 40), 99);
    assert_int_equal(drive(f, 40), 99);
    if (!with_tables) {
        assert_int_equal(unlink(f->path), 0);
    }
    h = read_it(f);
    f->events = tri_history_n(h);
    assert_int_equal(f->events, 80);
    tri_history_destroy(h);
    scratch_copy(f->dir, f->start);
}

static void name_segment(const fixture *f, const char *what, int epoch,
                         char out[600])
{
    snprintf(out, 600, "%s.%s.%d", f->path, what, epoch);
}

static void flip(const fixture *f, int epoch, tri_rng *rng)
{
    unsigned char *data = NULL;
    size_t bytes = 0, at;
    char path[600];
    FILE *out;

    name_segment(f, "journal", epoch, path);
    assert_int_equal(tri_sys_read(path, &data, &bytes), TRI_OK);
    at = (size_t)tri_rng_below(rng, bytes);
    data[at] ^= (unsigned char)(1u << tri_rng_below(rng, 8));
    out = fopen(path, "wbe");
    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, bytes, out), bytes);
    assert_int_equal(fclose(out), 0);
    free(data);
}

static void expect_same(const char *a, const char *b)
{
    unsigned char *x = NULL, *y = NULL;
    size_t n = 0, m = 0;

    assert_int_equal(tri_sys_read(a, &x, &n), TRI_OK);
    assert_int_equal(tri_sys_read(b, &y, &m), TRI_OK);
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    free(x);
    free(y);
}

static void check_replay(const tri_history *h)
{
    tri_ctl *ctl = NULL;
    tri_replay counts;

    assert_int_equal(tri_history_replay(h, &ctl, &counts), TRI_OK);
    assert_int_equal(counts.mismatches, 0);
    tri_ctl_destroy(ctl);
}

/* Recover it, and go on to the end.  `n` events are whole. */
static void recover(const fixture *f, int64_t n, const char *held)
{
    tri_status st = tri_record_recover(f->path, 0, NULL);
    char kept[600], before[600];
    tri_history *h;
    int epoch;

    assert_int_equal(st, n > 0 ? TRI_OK : TRI_EMALFORMED);
    assert_int_equal(scratch_count(f->dir, "journal"), 0);
    for (epoch = 1; epoch <= 2; ++epoch) {
        name_segment(f, "damaged", epoch, kept);
        snprintf(before, sizeof before, "%s/tiny.h5.journal.%d", held, epoch);
        expect_same(kept, before);
    }
    if (n > 0) {
        h = read_it(f);
        assert_null(tri_history_damage(h));
        assert_int_equal(tri_history_n(h), n);
        check_replay(h);
        tri_history_destroy(h);
        assert_true(inspect_sound(f->path));
    }
    assert_int_equal(drive(f, -1), TRI_OK);
    assert_true(inspect_sound(f->path));
    assert_int_equal(scratch_count(f->dir, "damaged"), 2);
}

/* Returns whether something is lost. */
static void check(fixture *f)
{
    tri_history *h = read_it(f);
    int64_t n = tri_history_n(h);
    char held[256];

    if (!tri_history_damage(h)) {
        assert_int_equal(n, f->events);
        f->silent += 1;
        tri_history_destroy(h);
        return;
    }
    if (n > 0) {
        check_replay(h);
    }
    tri_history_destroy(h);
    scratch_make(held);
    scratch_copy(f->dir, held);
    assert_true(tri_record_exists(f->path));
    assert_int_equal(drive(f, -1), TRI_EJOURNAL);
    assert_int_equal(scratch_count(f->dir, ""), scratch_count(held, ""));
    recover(f, n, held);
    scratch_remove(held);
}

static void check_flips(fixture *f, int with_tables)
{
    tri_rng rng = tri_rng_stream(SEED, (uint64_t)with_tables, 0);
    int i;

    print_message("seed %d\n", SEED);
    begin(f, with_tables);
    for (i = 0; i < FLIPS; ++i) {
        scratch_copy(f->start, f->dir);
        flip(f, 1 + i % 2, &rng);
        check(f);
    }
    assert_true(f->silent <= (with_tables ? 2 : 0));
}

static void without_tables(void **state)
{
    check_flips(*state, 0);
}

static void beside_live_tables(void **state)
{
    check_flips(*state, 1);
}

/* Truncated where it was sealed. */
static void a_sealed_segment_that_is_cut(void **state)
{
    fixture *f = *state;
    char path[600];

    begin(f, 0);
    name_segment(f, "journal", 1, path);
    assert_int_equal(truncate(path, 500), 0);
    check(f);
    assert_int_equal(f->silent, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
            TEST(without_tables),
            TEST(beside_live_tables),
            TEST(a_sealed_segment_that_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
