/*
 * Torn tails: the last segment of a broken study cut at every byte of its last
 * 4 KiB, as a writer leaves it that dies, and filled up with zeros from there
 * on, as loss of power may leave it.  Each reads as a torn tail: every whole
 * record is there, nothing is called damaged, the next opening goes on from
 * just that, and what it adds is there for the one after.
 */
#include "tests/tri_cmocka.h"

#include "src/base/little.h"
#include "src/store/record.h"
#include "src/store/sys.h"
#include "tests/store/inspect.h"
#include "tests/store/scratch.h"
#include "tests/store/tiny.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CUTS 4096
/* As many are driven to the end of the study, in a child each. */
#define ENDS 16

typedef struct fixture {
    char dir[256];
    char path[512], segment[600];
    unsigned char *data; /* of the whole segment */
    size_t bytes;
    int64_t before; /* events in earlier segments */
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

/* In a child, for HDF5's sake; an opening that breaks off after `events`. */
static void drive(const fixture *f, int64_t events)
{
    int status = 0;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        tiny_settings settings;

        tiny_defaults(&settings, f->path);
        settings.resume = 1;
        settings.crash_after = events;
        _exit((int)tiny_drive(&settings).status);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), TRI_OK);
}

static void keep(fixture *f, int epoch, int64_t before)
{
    snprintf(f->segment, sizeof f->segment, "%s.journal.%d", f->path, epoch);
    assert_int_equal(tri_sys_read(f->segment, &f->data, &f->bytes), TRI_OK);
    assert_true(f->bytes > CUTS + 512);
    f->before = before;
}

/* Put the segment back, whole up to `length`, then zeros. */
static void cut(const fixture *f, size_t length, int zeros)
{
    FILE *out = fopen(f->segment, "wbe");

    assert_non_null(out);
    assert_int_equal(fwrite(f->data, 1, length, out), length);
    assert_int_equal(fclose(out), 0);
    if (zeros) {
        assert_int_equal(truncate(f->segment, (off_t)f->bytes), 0);
    }
}

/* Whole events in the first `length` bytes, by their lengths alone. */
static int64_t whole_events(const fixture *f, size_t length)
{
    size_t at = 0;
    int64_t n = -1; /* the first record is no event */

    while (at + TRI_RECORD_OVERHEAD <= length) {
        at += (size_t)tri_get_le(f->data + at, 4) + TRI_RECORD_OVERHEAD;
        n += at <= length;
    }
    return n;
}

static int64_t read_whole(const fixture *f, size_t length)
{
    tri_history *h = NULL;
    tri_ctl *ctl = NULL;
    tri_replay counts;
    int64_t n;

    if (tri_history_read(f->path, &h) != TRI_OK) {
        fail_msg("cut to %zu: %s", length, tri_error_last()->sentence);
    }
    if (tri_history_damage(h)) {
        fail_msg("cut to %zu: %s", length, tri_history_damage(h));
    }
    n = tri_history_n(h);
    assert_int_equal(tri_history_replay(h, &ctl, &counts), TRI_OK);
    assert_int_equal(counts.mismatches, 0);
    tri_ctl_destroy(ctl);
    tri_history_destroy(h);
    return n;
}

static tri_event opening(const tri_progress *p, int epoch)
{
    tri_event e;

    memset(&e, 0, sizeof e);
    e.kind = TRI_EV_OPEN;
    e.time_s = p->time_s + 1;
    e.u.open.study_text = (tri_blob){tiny_study, strlen(tiny_study)};
    e.u.open.study_path = "tiny.yaml";
    e.u.open.seed = 5;
    e.u.open.build = e.u.open.deadline_source = e.u.open.pml = "";
    e.u.open.level = "resume";
    e.u.open.machine_class = "test";
    e.u.open.command_line = "";
    e.u.open.epoch = epoch;
    e.u.open.max_time_s = e.u.open.deadline_s = NAN;
    e.u.open.no_timeouts = 1;
    return e;
}

/* The next opening adds one event and breaks off: `n` are before it. */
static void go_on(const fixture *f, int64_t n)
{
    const tri_record_facts facts = {"", "", "", "", "", "", "", "", NULL};
    const tri_record_end end = {4, "broken off", 1};
    tri_commands commands;
    tri_progress p;
    tri_record *r;
    tri_event e;
    tri_ctl *ctl;
    int epoch;

    assert_int_equal(tri_record_open(f->path, 1, &facts, &r, &ctl, &epoch),
                     TRI_OK);
    tri_ctl_progress(ctl, &p);
    e = opening(&p, epoch);
    assert_int_equal(tri_ctl_feed(ctl, &e, &commands), TRI_OK);
    assert_int_equal(tri_record_event(r, &e, &commands, ctl), TRI_OK);
    assert_int_equal(r->journal->seq, n + 1);
    assert_int_equal(tri_record_close(r, ctl, &end, 0), TRI_OK);
    tri_ctl_destroy(ctl);
}

/* What the opening of a cut has added is taken away again. */
static void forget(const fixture *f, int epoch)
{
    char path[600];

    snprintf(path, sizeof path, "%s.journal.%d", f->path, epoch);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s.exit", f->path);
    assert_int_equal(unlink(path), 0);
}

static void check(const fixture *f, size_t length, int zeros, int epoch)
{
    int64_t n = f->before + whole_events(f, length);

    cut(f, length, zeros);
    assert_int_equal(read_whole(f, length), n);
    go_on(f, n);
    assert_int_equal(read_whole(f, length), n + 1);
    forget(f, epoch + 1);
}

static void check_cuts(const fixture *f, int epoch)
{
    size_t i;

    for (i = 1; i <= CUTS; ++i) {
        check(f, f->bytes - i, 0, epoch);
        if (i % 8 == 0) {
            check(f, f->bytes - i, 1, epoch);
        }
    }
}

static void check_end(const fixture *f)
{
    tri_history *h = NULL;

    assert_true(inspect_sound(f->path));
    assert_int_equal(tri_history_read(f->path, &h), TRI_OK);
    assert_int_equal(inspect_rows(f->path, "events"), tri_history_n(h));
    tri_history_destroy(h);
    assert_int_equal(scratch_count(f->dir, "journal"), 0);
}

static void the_first_segment(void **state)
{
    fixture *f = *state;

    drive(f, 80);
    keep(f, 1, 0);
    check_cuts(f, 1);
}

static void a_later_segment(void **state)
{
    fixture *f = *state;

    drive(f, 30);
    drive(f, 70);
    keep(f, 2, 30);
    check_cuts(f, 2);
}

/* Some of them are driven to the end of the study. */
static void to_the_end(void **state)
{
    fixture *f = *state;
    int i;

    drive(f, 80);
    keep(f, 1, 0);
    for (i = 0; i < ENDS; ++i) {
        scratch_empty(f->dir);
        cut(f, f->bytes - 1 - (size_t)i * (CUTS / ENDS), i % 2);
        drive(f, -1);
        check_end(f);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
            TEST(the_first_segment),
            TEST(a_later_segment),
            TEST(to_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
