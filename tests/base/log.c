/*
 * Levels, the sink, and the difference between once a job and on each rank.
 */
#include "trireme/log.h"

#include "tests/tri_cmocka.h"

#include <stdio.h>
#include <string.h>

typedef struct seen {
    int n;
    int rank;
    tri_log_level level;
    char line[2048];
} seen;

static void keep(void *ctx, tri_log_level level, int rank, const char *line)
{
    seen *s = ctx;

    s->n++;
    s->rank = rank;
    s->level = level;
    snprintf(s->line, sizeof s->line, "%s", line);
}

static void level_decides(void **state)
{
    seen s = {0};

    (void)state;
    tri_log_setup(keep, &s, TRI_LOG_WARN, 3);
    TRI_LOG(TRI_LOG_INFO, "not shown");
    assert_int_equal(s.n, 0);
    TRI_LOG(TRI_LOG_WARN, "disk %d of %d", 1, 2);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.rank, 3);
    assert_int_equal(s.level, TRI_LOG_WARN);
    assert_string_equal(s.line, "disk 1 of 2");
    TRI_LOG(TRI_LOG_ERROR, "worse");
    assert_int_equal(s.n, 2);
}

static void job_lines_come_once(void **state)
{
    seen s = {0};

    (void)state;
    for (int rank = -1; rank <= 3; rank++) {
        tri_log_setup(keep, &s, TRI_LOG_INFO, rank);
        TRI_LOG_JOB(TRI_LOG_INFO, "hello");
    }
    assert_int_equal(s.n, 2); /* without MPI, and rank 0 */
}

static int evaluated(int *count)
{
    return ++*count;
}

static void silent_lines_cost_nothing(void **state)
{
    int count = 0;

    (void)state;
    tri_log_setup(NULL, NULL, TRI_LOG_TRACE, -1);
    assert_false(tri_log_enabled(TRI_LOG_ERROR));
    TRI_LOG(TRI_LOG_ERROR, "%d", evaluated(&count));
    assert_int_equal(count, 0);
}

static void long_lines_are_cut(void **state)
{
    seen s = {0};
    char text[4000];

    (void)state;
    memset(text, 'y', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    tri_log_setup(keep, &s, TRI_LOG_INFO, -1);
    TRI_LOG(TRI_LOG_INFO, "%s", text);
    assert_int_equal(s.n, 1);
    assert_in_range(strlen(s.line), 100, 1023);
}

static void levels_have_names(void **state)
{
    tri_log_level level = TRI_LOG_ERROR;

    (void)state;
    for (int i = TRI_LOG_ERROR; i <= TRI_LOG_TRACE; i++) {
        assert_int_equal(tri_log_level_parse(
                                 tri_log_level_name((tri_log_level)i), &level),
                         TRI_OK);
        assert_int_equal(level, i);
    }
    assert_int_equal(tri_log_level_parse("loud", &level), TRI_ENOTFOUND);
    assert_int_equal(level, TRI_LOG_TRACE);
    assert_non_null(strstr(tri_error_last()->sentence, "'loud'"));
    assert_null(tri_log_level_name((tri_log_level)77));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(level_decides),
            cmocka_unit_test(job_lines_come_once),
            cmocka_unit_test(silent_lines_cost_nothing),
            cmocka_unit_test(long_lines_are_cut),
            cmocka_unit_test(levels_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
