/*
 * A study recorded from begin to end by the tiny driver: the finished file's
 * tables, resuming from segments and from a folded file, edits, recovery, and
 * what is refused.
 */
#include "tests/tri_cmocka.h"

#include "src/store/history.h"
#include "tests/store/inspect.h"
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
    char text[600];
    tri_files files;
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

static const char *value(fixture *f, const char *dataset, int64_t row,
                         const char *column)
{
    inspect_value(f->path, dataset, row, column, f->text, sizeof f->text);
    return f->text;
}

static const char *exit_text(fixture *f)
{
    char path[600];
    FILE *file;
    size_t n;

    snprintf(path, sizeof path, "%s.exit", f->path);
    file = fopen(path, "r");
    if (!file) {
        return "";
    }
    n = fread(f->text, 1, sizeof f->text - 1, file);
    f->text[n] = '\0';
    fclose(file);
    return f->text;
}

static tiny_result drive_to_end(fixture *f, int resume)
{
    tiny_settings settings;

    tiny_defaults(&settings, f->path);
    settings.resume = resume;
    return tiny_drive(&settings);
}

static void check_replay(fixture *f, tri_replay *out)
{
    tri_history *h = NULL;
    tri_ctl *ctl = NULL;

    assert_int_equal(tri_history_read(f->path, &h), TRI_OK);
    assert_int_equal(tri_history_replay(h, &ctl, out), TRI_OK);
    assert_int_equal(out->mismatches, 0);
    assert_int_equal(out->first_mismatch, -1);
    assert_int_equal(out->events, tri_history_n(h));
    tri_ctl_destroy(ctl);
    tri_history_destroy(h);
}

static void a_study_ends_in_one_file(void **state)
{
    fixture *f = *state;
    tiny_result r = drive_to_end(f, 0);
    tri_replay replay;

    assert_int_equal(r.status, TRI_OK);
    assert_int_equal(r.end_status, 0);
    assert_int_equal(r.epoch, 1);
    assert_int_equal(scratch_count(f->dir, ""), 2);
    assert_string_equal(exit_text(f),
                        "{\"status\": 0, \"reason\": \"it \\\"ended\\\"\", "
                        "\"epoch\": 1, \"resumable\": true}\n");
    assert_true(inspect_sound(f->path));
    check_replay(f, &replay);
    assert_int_equal(inspect_rows(f->path, "events"), replay.events);
    assert_int_equal(inspect_rows(f->path, "trials"), 12);
    assert_int_equal(inspect_rows(f->path, "pool"), TINY_RANKS);
    assert_int_equal(inspect_rows(f->path, "epochs"), 1);
    assert_true(inspect_rows(f->path, "runs") >= 12);
    assert_true(inspect_rows(f->path, "reports") >= 24);
}

static void the_tables_say_what_happened(void **state)
{
    fixture *f = *state;
    int64_t row, n;
    int failed = 0;

    assert_int_equal(drive_to_end(f, 0).status, TRI_OK);
    assert_string_equal(value(f, "trials", 0, "trial"), "0");
    assert_string_equal(value(f, "trials", 0, "origin"), "quasi");
    assert_string_equal(value(f, "trials", 0, "k"), "64");
    assert_string_equal(value(f, "trials", 4, "state"), "failed");
    assert_string_equal(value(f, "pool", 2, "host"), "h2");
    assert_string_equal(value(f, "pool", 2, "state"), "up");
    assert_string_equal(value(f, "pool", 2, "core"), "3");
    assert_string_equal(value(f, "pool", 2, "binding"), "applied");
    assert_string_equal(value(f, "pool", 2, "cpus"), "3");
    assert_string_equal(value(f, "epochs", 0, "version"), "test");
    assert_string_equal(value(f, "events", 0, "kind"), "open");
    assert_int_equal(inspect_rows(f->path, "models"), 1);
    assert_string_equal(value(f, "models", 0, "predictor"), "trees");
    assert_string_equal(value(f, "models", 0, "n"), "7");
    assert_string_equal(value(f, "models", 0, "tau"), "0.5");
    n = inspect_rows(f->path, "runs");
    for (row = 0; row < n; ++row) {
        if (strcmp(value(f, "runs", row, "status"), "failed") == 0) {
            ++failed;
            assert_string_equal(value(f, "runs", row, "reason"), "nan");
            assert_string_equal(value(f, "runs", row, "stderr_bytes"), "14");
            assert_string_equal(value(f, "runs", row, "objective"), "nan");
        } else {
            assert_string_equal(f->text, "finished");
            assert_string_not_equal(value(f, "runs", row, "loss"), "nan");
        }
        assert_string_equal(value(f, "runs", row, "level"), "resume");
        assert_string_equal(value(f, "runs", row, "phase"), "search");
    }
    assert_true(failed >= 2);
    inspect_attribute(f->path, "runs", "end_s.unit", f->text, 64);
    assert_string_equal(f->text, "s");
    inspect_attribute(f->path, "runs", "resource.unit", f->text, 64);
    assert_string_equal(f->text, "steps");
    inspect_attribute(f->path, "study", "hostnames", f->text, 64);
    assert_string_equal(f->text, "h1,h2");
}

/* The bytes that a run's row points to are its standard error. */
static void standard_error_is_found_in_blobs(void **state)
{
    fixture *f = *state;
    tri_history *h = NULL;
    tri_entry entry;
    int64_t row, at = 0, i, offset;
    int found = 0;

    assert_int_equal(drive_to_end(f, 0).status, TRI_OK);
    assert_int_equal(tri_history_read(f->path, &h), TRI_OK);
    for (row = 0; row < inspect_rows(f->path, "runs"); ++row) {
        offset = atoll(value(f, "runs", row, "stderr_offset"));
        for (i = 0, at = 0; offset >= 0 && i < tri_history_n(h); ++i) {
            tri_history_entry(h, i, &entry);
            if (offset >= at && offset < at + (int64_t)entry.bytes) {
                assert_memory_equal((const char *)entry.packed + offset - at,
                                    "nan at step 1\n", 14);
                ++found;
            }
            at += (int64_t)entry.bytes;
        }
    }
    assert_true(found >= 2);
    tri_history_destroy(h);
}

static void columns_fit_the_parameters(void **state)
{
    fixture *f = *state;
    int64_t row;

    assert_int_equal(drive_to_end(f, 0).status, TRI_OK);
    for (row = 0; row < 12; ++row) {
        int a = atoi(value(f, "trials", row, "a"));

        assert_true(a >= 1 && a <= 8);
        assert_true(strlen(value(f, "trials", row, "b")) == 1);
        assert_true(atof(value(f, "trials", row, "c")) >= 0.5);
        assert_true(atof(value(f, "trials", row, "d")) >= 1);
        value(f, "trials", row, "e");
        assert_true(a > 3 ? strlen(f->text) == 3 : f->text[0] == '\0');
        value(f, "trials", row, "f");
        if (a > 4) {
            assert_true(atoi(f->text) >= 1 && atoi(f->text) <= 4);
        } else {
            assert_string_equal(f->text, "-9223372036854775808");
        }
        value(f, "trials", row, "g");
        assert_true(strcmp(f->text, "true") == 0 ||
                    strcmp(f->text, "false") == 0);
    }
}

static void a_drained_study_is_resumed_from_its_file(void **state)
{
    fixture *f = *state;
    tiny_settings settings;
    tri_replay replay;
    tiny_result r;

    tiny_defaults(&settings, f->path);
    settings.drain_after = 40;
    r = tiny_drive(&settings);
    assert_int_equal(r.status, TRI_OK);
    assert_int_equal(r.end_status, 3);
    assert_int_equal(scratch_count(f->dir, "journal"), 0);
    settings.resume = 1;
    r = tiny_drive(&settings);
    assert_int_equal(r.status, TRI_OK);
    assert_int_equal(r.end_status, 3);
    assert_int_equal(r.epoch, 2);
    r = drive_to_end(f, 1);
    assert_int_equal(r.status, TRI_OK);
    assert_int_equal(r.end_status, 0);
    assert_int_equal(r.epoch, 3);
    assert_true(inspect_sound(f->path));
    assert_int_equal(inspect_rows(f->path, "epochs"), 3);
    check_replay(f, &replay);
    assert_int_equal(inspect_rows(f->path, "events"), replay.events);
    assert_int_equal(scratch_count(f->dir, ""), 2);
}

static void a_broken_study_is_resumed_from_its_segments(void **state)
{
    fixture *f = *state;
    tiny_settings settings;
    tri_history *h = NULL;
    int i;

    tiny_defaults(&settings, f->path);
    settings.crash_after = 30; /* ends with status 4: segments stay */
    for (i = 0; i < 3; ++i) {
        settings.resume = i > 0;
        assert_int_equal(tiny_drive(&settings).status, TRI_OK);
        assert_int_equal(scratch_count(f->dir, "journal"), i + 1);
        assert_int_equal(tri_history_read(f->path, &h), TRI_OK);
        assert_int_equal(tri_history_n(h), 30 * (i + 1));
        assert_true(tri_history_is_live(h));
        assert_int_equal(tri_history_epoch(h), i + 1);
        tri_history_destroy(h);
    }
    assert_non_null(strstr(exit_text(f), "\"status\": 4"));
    assert_int_equal(drive_to_end(f, 1).end_status, 0);
    assert_int_equal(scratch_count(f->dir, "journal"), 0);
    assert_true(inspect_sound(f->path));
    assert_int_equal(inspect_rows(f->path, "epochs"), 4);
}

static void opening_a_finished_study_changes_nothing(void **state)
{
    fixture *f = *state;
    struct stat before, after;

    assert_int_equal(drive_to_end(f, 0).end_status, 0);
    assert_int_equal(stat(f->path, &before), 0);
    assert_int_equal(drive_to_end(f, 1).end_status, 0);
    assert_int_equal(stat(f->path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    assert_int_equal(scratch_count(f->dir, ""), 2);
}

static void edited_ranges_keep_the_old_rows(void **state)
{
    fixture *f = *state;
    tiny_settings settings;
    char before[sizeof f->text];

    tiny_defaults(&settings, f->path);
    settings.drain_after = 40;
    assert_int_equal(tiny_drive(&settings).end_status, 3);
    snprintf(before, sizeof before, "%s", value(f, "trials", 1, "c"));
    settings.resume = 1;
    settings.study = tiny_study_edited;
    settings.drain_after = -1;
    assert_int_equal(tiny_drive(&settings).end_status, 0);
    assert_true(inspect_sound(f->path));
    assert_string_equal(value(f, "trials", 1, "c"), before);
    assert_int_equal(inspect_rows(f->path, "trials"), 12);
}

static void the_live_file_can_be_recovered(void **state)
{
    fixture *f = *state;
    tiny_settings settings;
    tri_replay replay;

    tiny_defaults(&settings, f->path);
    settings.crash_after = 60;
    assert_int_equal(tiny_drive(&settings).status, TRI_OK);
    assert_int_equal(tri_record_recover(f->path, 0, NULL), TRI_OK);
    inspect_attribute(f->path, "study", "hostnames", f->text, 64);
    assert_string_equal(f->text, "h1,h2");
    assert_int_equal(truncate(f->path, 100), 0);
    assert_int_equal(tri_record_recover(f->path, 0, NULL), TRI_OK);
    assert_true(inspect_sound(f->path));
    assert_int_equal(inspect_rows(f->path, "events"), 60);
    assert_int_equal(scratch_count(f->dir, "journal"), 1);
    check_replay(f, &replay);
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(tri_record_recover(f->path, 0, NULL), TRI_OK);
    assert_true(inspect_sound(f->path));
    assert_int_equal(drive_to_end(f, 1).end_status, 0);
}

/* An hour since anybody wrote. */
static void make_old(const char *path)
{
    struct stat info;
    struct timespec at[2];

    assert_int_equal(stat(path, &info), 0);
    at[0] = at[1] = info.st_mtim;
    at[0].tv_sec = at[1].tv_sec -= 3600;
    assert_int_equal(utimensat(AT_FDCWD, path, at, 0), 0);
}

/* Tables that are made anew are no sign that somebody runs the study. */
static void recovery_makes_no_study_young(void **state)
{
    fixture *f = *state;
    char journal[TRI_PATH_BYTES];
    tiny_settings settings;
    tri_history *h;

    tiny_defaults(&settings, f->path);
    settings.crash_after = 60;
    assert_int_equal(tiny_drive(&settings).status, TRI_OK);
    assert_int_equal(tri_files_init(&f->files, f->path), TRI_OK);
    tri_files_name(&f->files, TRI_FILE_JOURNAL, 1, journal);
    make_old(journal);
    assert_int_equal(tri_record_recover(f->path, 0, NULL), TRI_OK);
    assert_int_equal(tri_history_read(f->path, &h), TRI_OK);
    assert_true(tri_history_is_live(h));
    assert_true(tri_history_age_s(h) >= 3600);
    tri_history_destroy(h);
}

/* Every row of a table, some columns of it, as one text. */
static char *dump(const char *path)
{
    static const char *const columns[][2] = {
            {"trials", "state"},   {"trials", "c"},
            {"trials", "e"},       {"runs", "run"},
            {"runs", "status"},    {"runs", "end_s"},
            {"runs", "objective"}, {"runs", "rank_set"},
            {"runs", "hosts"},     {"runs", "stderr_offset"},
            {"reports", "run"},    {"reports", "seq"},
            {"events", "kind"},    {"events", "offset"},
            {"pool", "host"},      {"pool", "state"},
            {"models", "hyper"},   {"epochs", "epoch"}};
    char *text = calloc(1, 1 << 18);
    size_t used = 0, i;
    int64_t row;

    assert_non_null(text);
    for (i = 0; i < sizeof columns / sizeof columns[0]; ++i) {
        int64_t n = inspect_rows(path, columns[i][0]);

        used += (size_t)snprintf(text + used, 64, "%s %s:", columns[i][0],
                                 columns[i][1]);
        for (row = 0; row < n; ++row) {
            char cell[300];

            inspect_value(path, columns[i][0], row, columns[i][1], cell,
                          sizeof cell);
            used += (size_t)snprintf(text + used, sizeof cell + 2, " %s", cell);
            assert_true(used < (1 << 18) - 1000);
        }
        used += (size_t)snprintf(text + used, 2, "\n");
    }
    return text;
}

/* Rows written one by one as things happened, against rows made at once. */
static void live_tables_equal_rebuilt_ones(void **state)
{
    fixture *f = *state;
    tiny_settings settings;
    char *live, *rebuilt;

    tiny_defaults(&settings, f->path);
    settings.drain_after = 30;
    assert_int_equal(tiny_drive(&settings).end_status, 3);
    settings.resume = 1;
    settings.drain_after = -1;
    settings.crash_after = 70;
    assert_int_equal(tiny_drive(&settings).status, TRI_OK);
    live = dump(f->path);
    assert_int_equal(tri_record_recover(f->path, 0, NULL), TRI_OK);
    rebuilt = dump(f->path);
    assert_string_equal(live, rebuilt);
    assert_non_null(strstr(live, "runs status: "));
    free(live);
    free(rebuilt);
}

static void an_existing_study_is_not_overwritten(void **state)
{
    fixture *f = *state;

    assert_false(tri_record_exists(f->path));
    assert_int_equal(drive_to_end(f, 0).status, TRI_OK);
    assert_true(tri_record_exists(f->path));
    assert_int_equal(drive_to_end(f, 0).status, TRI_EEXIST);
    assert_int_equal(scratch_count(f->dir, ""), 2);
}

static void resume_begins_where_there_is_nothing(void **state)
{
    fixture *f = *state;
    tiny_result r = drive_to_end(f, 1);

    assert_int_equal(r.status, TRI_OK);
    assert_int_equal(r.epoch, 1);
    assert_int_equal(r.end_status, 0);
}

/* Of a record that goes on: read from its file, with what it holds left out
 * where `own` says that it is the study itself. */
static int warm_rows(fixture *f, int is_own)
{
    tri_history *h = NULL;
    tri_ctl *ctl = NULL;
    tri_warm w = {0};
    int n;

    assert_int_equal(tri_history_read(f->path, &h), TRI_OK);
    assert_int_equal(tri_history_replay(h, &ctl, NULL), TRI_OK);
    tri_history_destroy(h);
    assert_int_equal(
            tri_warm_read(f->path, tri_ctl_study(ctl), is_own ? ctl : NULL, &w),
            TRI_OK);
    n = w.n;
    tri_warm_fini(&w);
    tri_ctl_destroy(ctl);
    return n;
}

static void a_study_is_no_earlier_one_of_itself(void **state)
{
    fixture *f = *state;

    assert_int_equal(drive_to_end(f, 0).status, TRI_OK);
    assert_true(warm_rows(f, 0) >= 10);
    assert_int_equal(warm_rows(f, 1), 0);
}

static void foreign_files_are_refused(void **state)
{
    fixture *f = *state;
    tri_history *h = NULL;
    FILE *file = fopen(f->path, "w");

    assert_non_null(file);
    fputs("this is not HDF5", file);
    fclose(file);
    assert_int_equal(tri_history_read(f->path, &h), TRI_EMALFORMED);
    assert_int_equal(drive_to_end(f, 1).status, TRI_EMALFORMED);
    assert_int_equal(drive_to_end(f, 0).status, TRI_EEXIST);
    assert_int_equal(truncate(f->path, 0), 0);
    assert_int_equal(drive_to_end(f, 1).status, TRI_EMALFORMED);
    assert_int_equal(scratch_count(f->dir, ""), 1);
    assert_int_equal(tri_history_read("/nowhere/x.h5", &h), TRI_ENOTFOUND);
    assert_int_equal(tri_history_read("", &h), TRI_EINVAL);
    assert_int_equal(tri_history_read(f->dir, &h), TRI_EMALFORMED);
    assert_null(h);
}

static void another_format_is_refused(void **state)
{
    fixture *f = *state;
    tri_history *h = NULL;

    assert_int_equal(drive_to_end(f, 0).status, TRI_OK);
    inspect_set_version(f->path, 2);
    assert_int_equal(tri_history_read(f->path, &h), TRI_EVERSION);
    assert_int_equal(drive_to_end(f, 1).status, TRI_EVERSION);
    inspect_set_version(f->path, 1);
    assert_int_equal(drive_to_end(f, 1).status, TRI_OK);
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
    tiny_settings settings;

    tiny_defaults(&settings, "/nowhere/at/all/tiny.h5");
    assert_int_equal(tiny_drive(&settings).status, TRI_EIO);
    settings.resume = 1;
    assert_int_equal(tiny_drive(&settings).status, TRI_EIO);
}

/* Another segment with one event more, as an opening would leave it. */
static void add_segment(fixture *f, const void *packed, size_t bytes)
{
    tri_history *h = NULL;
    tri_journal *j = NULL;

    assert_int_equal(tri_history_read(f->path, &h), TRI_OK);
    assert_int_equal(tri_journal_create(&f->files, h->epoch + 1, h->seals,
                                        h->n_seals, NULL, h->n, &j),
                     TRI_OK);
    assert_int_equal(tri_journal_append(j, packed, bytes, 1), TRI_OK);
    tri_journal_destroy(j);
    tri_history_destroy(h);
}

static void leave_thirty_events(fixture *f)
{
    tiny_settings settings;

    tiny_defaults(&settings, f->path);
    settings.crash_after = 30;
    assert_int_equal(tiny_drive(&settings).status, TRI_OK);
    assert_int_equal(tri_files_init(&f->files, f->path), TRI_OK);
}

static void other_commands_than_recorded_are_seen(void **state)
{
    fixture *f = *state;
    tri_event clock = {TRI_EV_CLOCK, 1e6, {.clock = {0}}};
    tri_history *h = NULL;
    tri_ctl *ctl = NULL;
    tri_replay replay;
    tri_buffer packed;

    leave_thirty_events(f);
    tri_buffer_init(&packed);
    assert_int_equal(tri_event_pack(&clock, &packed), TRI_OK);
    add_segment(f, packed.data, packed.bytes);
    tri_buffer_fini(&packed);
    assert_int_equal(tri_history_read(f->path, &h), TRI_OK);
    assert_int_equal(tri_history_replay(h, &ctl, &replay), TRI_OK);
    assert_int_equal(replay.mismatches, 1);
    assert_int_equal(replay.first_mismatch, 30);
    tri_ctl_destroy(ctl);
    tri_history_destroy(h);
    assert_int_equal(drive_to_end(f, 1).status, TRI_EINTERNAL);
    assert_int_equal(scratch_count(f->dir, "journal"), 2);
}

static void an_unreadable_event_is_malformed(void **state)
{
    fixture *f = *state;
    tri_history *h = NULL;
    tri_ctl *ctl = NULL;

    leave_thirty_events(f);
    add_segment(f, "no event", 8);
    assert_int_equal(tri_history_read(f->path, &h), TRI_OK);
    assert_int_equal(tri_history_replay(h, &ctl, NULL), TRI_EMALFORMED);
    assert_null(ctl);
    tri_history_destroy(h);
    assert_int_equal(drive_to_end(f, 1).status, TRI_EMALFORMED);
}

static void in_a_hurry_the_segments_stay(void **state)
{
    fixture *f = *state;
    tiny_settings settings;

    tiny_defaults(&settings, f->path);
    settings.hurry = 1;
    assert_int_equal(tiny_drive(&settings).end_status, 0);
    assert_int_equal(scratch_count(f->dir, "journal"), 1);
    assert_non_null(strstr(exit_text(f), "\"status\": 0"));
    assert_int_equal(drive_to_end(f, 1).end_status, 0);
    assert_int_equal(scratch_count(f->dir, "journal"), 0);
    assert_true(inspect_sound(f->path));
}

/* Under the thread sanitizer: the store thread is told to discard while it
 * writes. */
static void in_a_hurry_rows_under_way_are_discarded(void **state)
{
    fixture *f = *state;
    tiny_settings settings;

    for (int64_t n = 1; n <= 6; ++n) {
        tiny_defaults(&settings, f->path);
        settings.drain_after = n;
        settings.hurry = 1;
        settings.resume = n > 1;
        assert_int_equal(tiny_drive(&settings).end_status, 3);
    }
    assert_int_equal(drive_to_end(f, 1).end_status, 0);
    assert_true(inspect_sound(f->path));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
            TEST(a_study_ends_in_one_file),
            TEST(the_tables_say_what_happened),
            TEST(standard_error_is_found_in_blobs),
            TEST(columns_fit_the_parameters),
            TEST(a_drained_study_is_resumed_from_its_file),
            TEST(a_broken_study_is_resumed_from_its_segments),
            TEST(opening_a_finished_study_changes_nothing),
            TEST(edited_ranges_keep_the_old_rows),
            TEST(the_live_file_can_be_recovered),
            TEST(recovery_makes_no_study_young),
            TEST(live_tables_equal_rebuilt_ones),
            TEST(an_existing_study_is_not_overwritten),
            TEST(resume_begins_where_there_is_nothing),
            TEST(a_study_is_no_earlier_one_of_itself),
            TEST(foreign_files_are_refused),
            TEST(another_format_is_refused),
            TEST(a_folder_that_is_not_there_is_an_error),
            TEST(other_commands_than_recorded_are_seen),
            TEST(an_unreadable_event_is_malformed),
            TEST(in_a_hurry_the_segments_stay),
            TEST(in_a_hurry_rows_under_way_are_discarded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
