/*
 * The status table is complete and the last error belongs to its thread.
 */
#include "trireme/status.h"

#include "tests/tri_cmocka.h"

#include <pthread.h>
#include <string.h>

static void every_code_has_a_row(void **state)
{
    (void)state;
    for (int i = 0; i < TRI_STATUS_COUNT; i++) {
        tri_status st = (tri_status)i;

        assert_true(strlen(tri_status_name(st)) > 0);
        assert_true(strlen(tri_status_sentence(st)) > 0);
        assert_int_equal(tri_status_scope(st) == TRI_SCOPE_NONE, st == TRI_OK);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(tri_status_name(st),
                                    tri_status_name((tri_status)j));
        }
    }
}

/* Containment relies on it: later codes never reach less far. */
static void scopes_are_ranges(void **state)
{
    (void)state;
    for (int i = 1; i < TRI_STATUS_COUNT; i++) {
        assert_true(tri_status_scope((tri_status)i) >=
                    tri_status_scope((tri_status)(i - 1)));
    }
}

static void unknown_codes_are_fatal(void **state)
{
    (void)state;
    assert_string_equal(tri_status_name((tri_status)999), "unknown");
    assert_string_equal(tri_status_name((tri_status)-1), "unknown");
    assert_int_equal(tri_status_scope((tri_status)999), TRI_SCOPE_RUN);
}

static tri_status detect(int value)
{
    if (value < 0) {
        return TRI_FAIL(TRI_ERANGE, "%d is below zero", value);
    }
    return TRI_OK;
}

static tri_status pass_on(int value, int *reached)
{
    TRI_TRY(detect(value));
    *reached = 1;
    return TRI_OK;
}

static tri_status unwind(int value, int *undone)
{
    tri_status st;

    TRI_TRY_GOTO(st, detect(value), undo);
    return TRI_OK;

undo:
    *undone = 1;
    return st;
}

static void errors_pass_unchanged(void **state)
{
    int reached = 0;
    int undone = 0;

    (void)state;
    assert_int_equal(pass_on(1, &reached), TRI_OK);
    assert_int_equal(reached, 1);
    reached = 0;
    assert_int_equal(pass_on(-7, &reached), TRI_ERANGE);
    assert_int_equal(reached, 0);
    assert_string_equal(tri_error_last()->sentence, "-7 is below zero");
    assert_int_equal(tri_error_last()->code, TRI_ERANGE);
    assert_non_null(strstr(tri_error_last()->src_file, "status.c"));
    assert_int_equal(unwind(-1, &undone), TRI_ERANGE);
    assert_int_equal(undone, 1);
}

static void place_of_the_detector_stays(void **state)
{
    (void)state;
    (void)detect(-1);
    tri_error_place(NULL, 3, 9);
    tri_error_place("study.yaml", 1, 1);
    assert_string_equal(tri_error_last()->file, "study.yaml");
    assert_int_equal(tri_error_last()->line, 3);
    assert_int_equal(tri_error_last()->column, 9);
    (void)detect(-2);
    assert_int_equal(tri_error_last()->line, 0);
    assert_string_equal(tri_error_last()->file, "");
}

static void long_sentences_are_cut(void **state)
{
    char text[2 * TRI_ERROR_BYTES];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(TRI_FAIL(TRI_EPARSE, "%s", text), TRI_EPARSE);
    assert_int_equal(strlen(tri_error_last()->sentence), TRI_ERROR_BYTES - 1);
}

static void *fail_in_thread(void *seen)
{
    (void)TRI_FAIL(TRI_EIO, "elsewhere");
    *(tri_status *)seen = tri_error_last()->code;
    return NULL;
}

static void threads_have_their_own(void **state)
{
    pthread_t thread;
    tri_status seen = TRI_OK;

    (void)state;
    (void)detect(-5);
    assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, &seen), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(seen, TRI_EIO);
    assert_string_equal(tri_error_last()->sentence, "-5 is below zero");
    tri_error_clear();
    assert_int_equal(tri_error_last()->code, TRI_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(every_code_has_a_row),
            cmocka_unit_test(scopes_are_ranges),
            cmocka_unit_test(unknown_codes_are_fatal),
            cmocka_unit_test(errors_pass_unchanged),
            cmocka_unit_test(place_of_the_detector_stays),
            cmocka_unit_test(long_sentences_are_cut),
            cmocka_unit_test(threads_have_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
