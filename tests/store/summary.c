/*
 * The summary beside a long journal: written by the record, read whole or not
 * at all, of the newest opening only, and gone with its segment.
 */
#include "tests/tri_cmocka.h"

#include "tests/store/scratch.h"
#include "tests/store/tiny.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct fixture {
    char dir[256];
    char path[512];
    char file[560]; /* of the first opening */
    tri_record_summary maker;
    int64_t noted, most; /* fails at the `most`-th, if above 0 */
} fixture;

static tri_status note(void *ctx, const tri_event *event, const tri_ctl *ctl)
{
    fixture *f = ctx;

    (void)event;
    (void)ctl;
    if (++f->noted == f->most) {
        return TRI_FAIL(TRI_ENOMEM, "no memory, as the test has it");
    }
    return TRI_OK;
}

static tri_status write_text(void *ctx, const tri_ctl *ctl, char **text)
{
    char buf[64];

    (void)ctl;
    snprintf(buf, sizeof buf, "%lld events",
             (long long)((fixture *)ctx)->noted);
    *text = strdup(buf);
    return *text ? TRI_OK : TRI_FAIL(TRI_ENOMEM, "no memory");
}

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    scratch_make(f->dir);
    snprintf(f->path, sizeof f->path, "%s/tiny.h5", f->dir);
    snprintf(f->file, sizeof f->file, "%s.status.1", f->path);
    f->maker = (tri_record_summary){f, 1, note, write_text};
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

static tiny_result drive(fixture *f, int64_t crash_after, int resume)
{
    tiny_settings settings;
    tiny_result result;

    tiny_defaults(&settings, f->path);
    settings.crash_after = crash_after;
    settings.resume = resume;
    settings.summary = &f->maker;
    result = tiny_drive(&settings);
    assert_int_equal(result.status, TRI_OK);
    return result;
}

static int has_summary(const fixture *f)
{
    tri_summary s;

    if (tri_summary_read(f->path, &s) != TRI_OK) {
        assert_int_equal(tri_error_last()->code, TRI_ENOTFOUND);
        return 0;
    }
    free(s.text);
    return 1;
}

/* ---- tests ----------------------------------------------------------- */

static void it_says_what_it_stands_for(void **state)
{
    fixture *f = *state;
    struct stat journal;
    char path[560];
    tri_summary s;
    char text[64];

    drive(f, 20, 0);
    assert_int_equal(tri_summary_read(f->path, &s), TRI_OK);
    snprintf(text, sizeof text, "%lld events", (long long)s.events);
    assert_string_equal(s.text, text);
    snprintf(path, sizeof path, "%s.journal.1", f->path);
    assert_int_equal(stat(path, &journal), 0);
    assert_true(s.behind_bytes < (uint64_t)journal.st_size);
    assert_true(s.age_s >= 0 && s.age_s < 1000);
    free(s.text);
}

/* Cut anywhere, or with any byte changed, it is none. */
static void half_a_summary_is_none(void **state)
{
    fixture *f = *state;
    unsigned char byte;
    struct stat info;
    int fd;

    drive(f, 20, 0);
    assert_true(has_summary(f));
    assert_int_equal(stat(f->file, &info), 0);
    fd = open(f->file, O_RDWR);
    assert_true(fd >= 0);
    for (off_t at = 0; at < info.st_size; at++) {
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= 0x20;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        assert_false(has_summary(f));
        byte ^= 0x20;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    assert_true(has_summary(f));
    for (off_t n = info.st_size - 1; n >= 0; n--) {
        assert_int_equal(ftruncate(fd, n), 0);
        assert_false(has_summary(f));
    }
    close(fd);
}

/* A journal shorter than what it sums up is another one. */
static void it_is_of_its_journal(void **state)
{
    fixture *f = *state;
    char path[560];

    drive(f, 20, 0);
    snprintf(path, sizeof path, "%s.journal.1", f->path);
    assert_int_equal(truncate(path, 10), 0);
    assert_false(has_summary(f));
    assert_int_equal(unlink(path), 0);
    assert_false(has_summary(f));
}

static void the_next_opening_takes_it_away(void **state)
{
    fixture *f = *state;
    tiny_result last;

    drive(f, 20, 0);
    assert_int_equal(scratch_count(f->dir, ".status."), 1);
    f->noted = 0;
    last = drive(f, 1, 1);
    assert_int_equal(f->noted, 20 + last.events); /* those before as well */
    assert_int_equal(access(f->file, F_OK), -1);
    drive(f, -1, 1); /* to its end */
    assert_int_equal(scratch_count(f->dir, ".status."), 0);
    assert_false(has_summary(f));
}

static void where_it_fails_the_record_goes_on(void **state)
{
    fixture *f = *state;

    f->most = 7;
    assert_int_equal(drive(f, -1, 0).end_status, 0);
    assert_int_equal(f->noted, 7);
    assert_int_equal(scratch_count(f->dir, ".status."), 0);
}

static void a_short_journal_has_none(void **state)
{
    fixture *f = *state;

    f->maker.from_bytes = 0;
    drive(f, 20, 0);
    assert_int_equal(scratch_count(f->dir, ".status."), 0);
    assert_false(has_summary(f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test_setup_teardown(it_says_what_it_stands_for, set_up,
                                            tear_down),
            cmocka_unit_test_setup_teardown(half_a_summary_is_none, set_up,
                                            tear_down),
            cmocka_unit_test_setup_teardown(it_is_of_its_journal, set_up,
                                            tear_down),
            cmocka_unit_test_setup_teardown(the_next_opening_takes_it_away,
                                            set_up, tear_down),
            cmocka_unit_test_setup_teardown(where_it_fails_the_record_goes_on,
                                            set_up, tear_down),
            cmocka_unit_test_setup_teardown(a_short_journal_has_none, set_up,
                                            tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
