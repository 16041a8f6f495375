/*
 * Following a study: after every look what is known is what reading all of it
 * would give, whatever was journalled, torn, begun or folded in since.
 */
#include "tests/tri_cmocka.h"

#include "tests/store/scratch.h"
#include "tests/store/tiny.h"

#include "src/store/follow.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 61 /* bytes that arrive at once: no multiple of any record */

typedef struct fixture {
    char dir[256];
    char path[512];
    tri_follow *follow;
    int64_t told; /* events since all was read anew */
} fixture;

static void forget(void *ctx)
{
    ((fixture *)ctx)->told = 0;
}

static tri_status count(void *ctx, const tri_event *event,
                        const tri_commands *commands, const tri_entry *entry,
                        tri_ctl *ctl)
{
    fixture *f = ctx;

    (void)event;
    (void)commands;
    (void)ctl;
    assert_int_equal(entry->seq, f->told);
    f->told += 1;
    return TRI_OK;
}

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    tri_follower follower = {f, forget, count};

    assert_non_null(f);
    scratch_make(f->dir);
    snprintf(f->path, sizeof f->path, "%s/tiny.h5", f->dir);
    assert_int_equal(tri_follow_create(f->path, &follower, &f->follow), TRI_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    tri_follow_destroy(f->follow);
    scratch_remove(f->dir);
    free(f);
    return 0;
}

/* What was followed is what is there. */
static tri_followed expect_all(const fixture *f)
{
    tri_history *h = NULL;
    tri_progress mine;
    tri_progress whole;
    tri_ctl *ctl = NULL;
    tri_followed state;

    tri_follow_state(f->follow, &state);
    assert_int_equal(tri_history_read(f->path, &h), TRI_OK);
    assert_int_equal(state.events, tri_history_n(h));
    assert_int_equal(f->told, tri_history_n(h));
    assert_int_equal(state.epoch, tri_history_epoch(h));
    assert_int_equal(state.is_live, tri_history_is_live(h));
    assert_int_equal(tri_history_replay(h, &ctl, NULL), TRI_OK);
    tri_ctl_progress(ctl, &whole);
    tri_ctl_progress(tri_follow_ctl(f->follow), &mine);
    assert_int_equal(mine.runs, whole.runs);
    assert_int_equal(mine.finished, whole.finished);
    assert_int_equal(mine.best_trial, whole.best_trial);
    assert_int_equal(mine.state, whole.state);
    tri_ctl_destroy(ctl);
    tri_history_destroy(h);
    return state;
}

static void drive(const fixture *f, int64_t events, int resume)
{
    tiny_settings settings;

    tiny_defaults(&settings, f->path);
    settings.crash_after = events;
    settings.resume = resume;
    assert_int_equal(tiny_drive(&settings).status, TRI_OK);
}

static unsigned char *load(const char *path, size_t *bytes)
{
    struct stat info;
    unsigned char *data;
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &info), 0);
    data = malloc((size_t)info.st_size + 1);
    assert_non_null(data);
    *bytes = (size_t)info.st_size;
    assert_int_equal(read(fd, data, *bytes), info.st_size);
    close(fd);
    return data;
}

/* ---- tests ----------------------------------------------------------- */

static void nothing_is_there_yet(void **state)
{
    fixture *f = *state;

    assert_int_equal(tri_follow_look(f->follow), TRI_ENOTFOUND);
    assert_null(tri_follow_ctl(f->follow));
    drive(f, 5, 0);
    assert_int_equal(tri_follow_look(f->follow), TRI_OK);
    expect_all(f);
}

/* A segment that arrives in pieces, torn nearly always. */
static void a_torn_tail_is_left_for_later(void **state)
{
    fixture *f = *state;
    char path[560];
    tri_followed now = {.events = 0};
    unsigned char *data;
    size_t bytes;
    int fd;

    drive(f, 60, 0);
    snprintf(path, sizeof path, "%s.journal.1", f->path);
    data = load(path, &bytes);
    scratch_empty(f->dir);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    for (size_t at = 0; at < bytes; at += PIECE) {
        size_t n = bytes - at < PIECE ? bytes - at : PIECE;

        assert_int_equal(write(fd, data + at, n), n);
        if (tri_follow_look(f->follow) == TRI_OK) {
            now = expect_all(f);
        } else {
            assert_int_equal(now.events, 0);
        }
    }
    assert_int_equal(now.looks_anew, 1);
    close(fd);
    free(data);
}

static void only_what_is_new_is_read(void **state)
{
    fixture *f = *state;
    tri_followed before;

    drive(f, 40, 0);
    assert_int_equal(tri_follow_look(f->follow), TRI_OK);
    before = expect_all(f);
    assert_int_equal(before.looks_anew, 1);
    assert_int_equal(tri_follow_look(f->follow), TRI_OK);
    assert_int_equal(expect_all(f).looks_anew, 1);
}

static void the_next_opening_is_picked_up(void **state)
{
    fixture *f = *state;

    drive(f, 40, 0);
    assert_int_equal(tri_follow_look(f->follow), TRI_OK);
    expect_all(f);
    drive(f, 30, 1);
    assert_int_equal(tri_follow_look(f->follow), TRI_OK);
    assert_int_equal(expect_all(f).epoch, 2);
    drive(f, -1, 1); /* to its end: folded in */
    assert_int_equal(tri_follow_look(f->follow), TRI_OK);
    assert_int_equal(expect_all(f).is_live, 0);
    assert_int_equal(tri_follow_look(f->follow), TRI_OK);
    assert_int_equal(expect_all(f).looks_anew, 3);
}

/* A study that was drained, its segments folded in, and is opened again. */
static void a_drained_study_goes_on(void **state)
{
    fixture *f = *state;
    tiny_settings settings;

    tiny_defaults(&settings, f->path);
    settings.drain_after = 30;
    assert_int_equal(tiny_drive(&settings).status, TRI_OK);
    assert_int_equal(tri_follow_look(f->follow), TRI_OK);
    assert_int_equal(expect_all(f).is_live, 0);
    drive(f, 20, 1);
    assert_int_equal(tri_follow_look(f->follow), TRI_OK);
    assert_int_equal(expect_all(f).epoch, 2);
}

/* What was known stays while the study cannot be read. */
static void a_study_that_vanishes_stays_known(void **state)
{
    fixture *f = *state;
    tri_followed now;

    drive(f, 40, 0);
    assert_int_equal(tri_follow_look(f->follow), TRI_OK);
    now = expect_all(f);
    scratch_empty(f->dir);
    assert_int_equal(tri_follow_look(f->follow), TRI_ENOTFOUND);
    assert_non_null(tri_follow_ctl(f->follow));
    assert_int_equal(f->told, now.events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test_setup_teardown(nothing_is_there_yet, set_up,
                                            tear_down),
            cmocka_unit_test_setup_teardown(a_torn_tail_is_left_for_later,
                                            set_up, tear_down),
            cmocka_unit_test_setup_teardown(only_what_is_new_is_read, set_up,
                                            tear_down),
            cmocka_unit_test_setup_teardown(the_next_opening_is_picked_up,
                                            set_up, tear_down),
            cmocka_unit_test_setup_teardown(a_drained_study_goes_on, set_up,
                                            tear_down),
            cmocka_unit_test_setup_teardown(a_study_that_vanishes_stays_known,
                                            set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
