/*
 * Recovering: what a study that is being run, that broke off, or that ended is
 * told, with its journal and without.
 */
#include "tests/tri_cmocka.h"

#include "tests/store/inspect.h"
#include "tests/store/scratch.h"
#include "tests/store/tiny.h"

#include "src/store/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct fixture {
    char dir[256];
    char path[512];
    char journal[TRI_PATH_BYTES];
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    tri_files files;

    assert_non_null(f);
    scratch_make(f->dir);
    snprintf(f->path, sizeof f->path, "%s/tiny.h5", f->dir);
    assert_int_equal(tri_files_init(&files, f->path), TRI_OK);
    tri_files_name(&files, TRI_FILE_JOURNAL, 1, f->journal);
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

static void drive(const fixture *f, int64_t crash_after)
{
    tiny_settings settings;

    tiny_defaults(&settings, f->path);
    settings.crash_after = crash_after;
    assert_int_equal(tiny_drive(&settings).status, TRI_OK);
}

static tri_recovered recover(const fixture *f)
{
    tri_recovered r;

    assert_int_equal(tri_record_recover(f->path, 0, &r), TRI_OK);
    return r;
}

/* ended_s of the only opening. */
static double ended_s(const fixture *f)
{
    char text[64];

    inspect_value(f->path, "epochs", 0, "ended_s", text, sizeof text);
    return strtod(text, NULL);
}

/* An opening that lives, in this program. */
static void a_study_that_is_run_is_left_alone(void **state)
{
    fixture *f = *state;
    tri_record_end end = {4, "broken", 1};
    tri_record_facts facts;
    tri_record *record;
    tri_ctl *ctl;
    int epoch;

    drive(f, 60);
    memset(&facts, 0, sizeof facts);
    assert_int_equal(tri_record_open(f->path, 1, &facts, &record, &ctl, &epoch),
                     TRI_OK);
    assert_int_equal(tri_record_recover(f->path, 0, NULL), TRI_EINVAL);
    assert_non_null(strstr(tri_error_last()->sentence, "is being run"));
    assert_int_equal(tri_record_recover(f->path, 1, NULL), TRI_EINVAL);
    assert_int_equal(tri_record_close(record, ctl, &end, 1), TRI_OK);
    tri_ctl_destroy(ctl);
    assert_int_equal(recover(f).is_needed, 1);
}

static void an_orderly_end_needs_nothing(void **state)
{
    fixture *f = *state;
    tri_recovered r;

    drive(f, -1);
    r = recover(f);
    assert_false(r.is_needed || r.broke_off || r.has_journal);
    assert_true(isfinite(ended_s(f)));
}

static void one_that_broke_off_says_so(void **state)
{
    fixture *f = *state;
    tri_recovered r;

    drive(f, 60);
    r = recover(f);
    assert_true(r.is_needed && r.broke_off && r.has_journal);
    assert_true(isnan(ended_s(f)));
    assert_int_equal(unlink(f->journal), 0);
    r = recover(f);
    assert_true(r.is_needed && r.broke_off && !r.has_journal);
    assert_int_equal(r.rows[2 + 1], 60);
    assert_true(inspect_sound(f->path));
    assert_true(isfinite(ended_s(f)));
    r = recover(f); /* nothing is left to be done, and it did not end */
    assert_true(!r.is_needed && r.broke_off && !r.has_journal);
    assert_int_equal(r.rows[2 + 1], 60);
}

static void so_does_one_with_an_empty_journal(void **state)
{
    fixture *f = *state;
    tri_recovered r;

    drive(f, 60);
    assert_int_equal(recover(f).rows[2 + 1], 60);
    assert_int_equal(truncate(f->journal, 0), 0);
    r = recover(f);
    assert_true(r.is_needed && r.broke_off);
    assert_int_equal(r.rows[2 + 1], 60);
    assert_true(inspect_sound(f->path));
    r = recover(f);
    assert_true(!r.is_needed && r.broke_off);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(a_study_that_is_run_is_left_alone),
                                       TEST(an_orderly_end_needs_nothing),
                                       TEST(one_that_broke_off_says_so),
                                       TEST(so_does_one_with_an_empty_journal)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
