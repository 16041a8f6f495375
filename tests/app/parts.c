/*
 * What the program prints: numbers, durations, tables, CSV, JSON, the live
 * line.
 */
#include "src/app/app.h"
#include "src/app/live.h"
#include "src/app/rows.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char buf[512];

static void numbers(void **state)
{
    (void)state;
    assert_string_equal(tri_app_number(NAN, buf, sizeof buf), "-");
    assert_string_equal(tri_app_number(0.00123456, buf, sizeof buf),
                        "0.001235");
    assert_string_equal(tri_app_number(13120.4, buf, sizeof buf), "13120");
    assert_string_equal(tri_app_number(-1e7, buf, sizeof buf), "-10000000");
    assert_string_equal(tri_app_number(9999, buf, sizeof buf), "9999");
    assert_string_equal(tri_app_number(1e20, buf, sizeof buf), "1e+20");
}

static void amounts(void **state)
{
    tri_study study = {.resource = {.unit = TRI_UNIT_STEPS}};

    (void)state;
    assert_string_equal(tri_app_amount(&study, 1, buf, sizeof buf), "1 step");
    assert_string_equal(tri_app_amount(&study, 27, buf, sizeof buf),
                        "27 steps");
}

static void durations(void **state)
{
    static const struct {
        double s;
        const char *text;
    } rows[] = {{0.0854, "85 ms"},
                {0.9999, "1.0 s"},
                {12.46, "12.5 s"},
                {59.96, "1 min 00 s"},
                {185, "3 min 05 s"},
                {3599.6, "1 h 00 min"},
                {7800, "2 h 10 min"},
                {NAN, "-"},
                {-1, "-"},
                {0, "0 ms"}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(tri_app_duration(rows[i].s, buf, sizeof buf),
                            rows[i].text);
    }
}

static void intervals_and_bytes(void **state)
{
    (void)state;
    assert_string_equal(tri_app_interval(1, NAN, buf, sizeof buf), "");
    assert_string_equal(tri_app_interval(1, 2.5, buf, sizeof buf), "[1, 2.5]");
    assert_string_equal(tri_app_bytes(1536, buf, sizeof buf), "1.5 KiB");
    assert_string_equal(tri_app_bytes(512, buf, sizeof buf), "512 B");
    assert_string_equal(tri_app_bytes(200.0 * 1024 * 1024, buf, sizeof buf),
                        "200 MiB");
}

/* What `print` writes.  Owned by the caller. */
static char *printed(void (*print)(FILE *out))
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    assert_non_null(out);
    print(out);
    fclose(out);
    return text;
}

static void print_table(FILE *out)
{
    tri_app_table *t = tri_app_table_create("rll");

    tri_app_table_cell(t, "trial");
    tri_app_table_cell(t, "objective");
    tri_app_table_cell(t, "configuration");
    tri_app_table_int(t, 12);
    tri_app_table_number(t, 0.5);
    tri_app_table_cell(t, "dp=2");
    tri_app_table_print(t, out);
    tri_app_table_destroy(t);
}

static void tables_are_aligned(void **state)
{
    char *text = printed(print_table);

    (void)state;
    assert_string_equal(text, "trial  objective  configuration\n"
                              "   12  0.5        dp=2\n");
    free(text);
}

static void print_csv_fields(FILE *out)
{
    static const char *const fields[] = {"plain", "a,b", "say \"x\"", "two\nl",
                                         ""};

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        tri_app_csv_field(out, fields[i]);
        fputc('|', out);
    }
}

static void csv_is_quoted(void **state)
{
    char *text = printed(print_csv_fields);

    (void)state;
    assert_string_equal(text, "plain|\"a,b\"|\"say \"\"x\"\"\"|\"two\nl\"||");
    free(text);
}

/* A table of two rows, packed as the store packs them. */
typedef struct packed {
    int64_t trial;
    double lo, hi;
    char rule[12];
    int64_t virtual_stages;
    uint64_t digest;
    int32_t rung;
    uint8_t flaky;
} packed;

#define COLUMN(name, kind, member)                                             \
    {                                                                          \
        name, "", kind, (int)sizeof(((packed *)NULL)->member),                 \
                offsetof(packed, member)                                       \
    }

static tri_column columns[] = {
        COLUMN("trial", TRI_COLUMN_I64, trial),
        COLUMN("lo", TRI_COLUMN_F64, lo),
        COLUMN("hi", TRI_COLUMN_F64, hi),
        COLUMN("rule", TRI_COLUMN_STRING, rule),
        COLUMN("virtual", TRI_COLUMN_I64, virtual_stages),
        COLUMN("digest", TRI_COLUMN_U64, digest),
        COLUMN("rung", TRI_COLUMN_I32, rung),
        COLUMN("flaky", TRI_COLUMN_U8, flaky),
};

static void print_rows(FILE *out, tri_app_format format)
{
    const tri_columns table = {"t", columns,
                               (int)(sizeof columns / sizeof *columns),
                               sizeof(packed)};
    packed rows[2];

    memset(rows, 0, sizeof rows);
    for (int i = 0; i < 2; i++) {
        rows[i] =
                (packed){-7,           NAN,       0.1,
                         "a \"b\", c", INT64_MIN, UINT64_C(9223372036854775807),
                         -1,           1};
    }
    tri_app_rows_heading(out, format, &table);
    tri_app_rows_print(out, format, &table, (const unsigned char *)rows,
                       sizeof rows);
}

static void print_rows_csv(FILE *out)
{
    print_rows(out, TRI_APP_CSV);
}

static void print_rows_json(FILE *out)
{
    print_rows(out, TRI_APP_JSON);
}

static void rows_as_csv(void **state)
{
    char *text = printed(print_rows_csv);
    const char *row = "-7,,0.1,\"a \"\"b\"\", c\",,9223372036854775807,-1,1\n";
    char want[512];

    (void)state;
    snprintf(want, sizeof want, "%s%s%s",
             "trial,lo,hi,rule,virtual,digest,rung,flaky\n", row, row);
    assert_string_equal(text, want);
    free(text);
}

static void check_json_row(const json_t *o)
{
    assert_int_equal(json_integer_value(json_object_get(o, "trial")), -7);
    assert_true(json_is_null(json_object_get(o, "lo")));
    assert_true(json_real_value(json_object_get(o, "hi")) == 0.1);
    assert_true(json_is_null(json_object_get(o, "virtual")));
    assert_int_equal(json_integer_value(json_object_get(o, "rung")), -1);
    assert_string_equal(json_string_value(json_object_get(o, "rule")),
                        "a \"b\", c");
}

static void rows_as_json(void **state)
{
    char *text = printed(print_rows_json);
    int n = 0;

    (void)state;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        json_t *o = json_loads(line, 0, NULL);

        assert_non_null(o);
        check_json_row(o);
        json_decref(o);
        n++;
    }
    assert_int_equal(n, 2);
    free(text);
}

static void json_has_no_nan(void **state)
{
    json_t *v = tri_app_json_real(NAN);
    json_t *text = tri_app_json_text("a\xff");

    (void)state;
    assert_true(json_is_null(v));
    assert_string_equal(json_string_value(text), "a?");
    json_decref(v);
    json_decref(text);
    v = tri_app_json_real(-INFINITY);
    assert_true(json_is_null(v));
    json_decref(v);
}

static void statuses_for_the_shell(void **state)
{
    static const struct {
        tri_status st;
        int exit_status;
    } rows[] = {
            {TRI_OK, 0},       {TRI_EINVAL, 1},   {TRI_EPARSE, 1},
            {TRI_EUNKNOWN, 1}, {TRI_EIO, 1},      {TRI_EEXIST, 1},
            {TRI_EOTHER, 1},   {TRI_EUNBUILT, 1}, {TRI_EMALFORMED, 1},
            {TRI_EDATA, 1},    {TRI_ENAN, 1},     {TRI_EINFEASIBLE, 1},
            {TRI_EEMPTY, 2},   {TRI_EOOM, 2},     {TRI_ENOMEM, 4},
            {TRI_ENOSPACE, 4}, {TRI_EPEER, 4},    {TRI_ETIMEOUT, 4},
            {TRI_EJOURNAL, 4}, {TRI_EFENCED, 4},  {TRI_EINTERNAL, 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(tri_status_exit(rows[i].st), rows[i].exit_status);
    }
}

static void errors_as_json(void **state)
{
    json_t *o;

    (void)state;
    TRI_FAIL(TRI_ERANGE, "too %s", "large");
    tri_error_place("s.yaml", 3, 7);
    o = tri_app_error_json();
    assert_string_equal(json_string_value(json_object_get(o, "error")),
                        "too large");
    assert_string_equal(json_string_value(json_object_get(o, "file")),
                        "s.yaml");
    assert_int_equal(json_integer_value(json_object_get(o, "line")), 3);
    assert_int_equal(json_integer_value(json_object_get(o, "column")), 7);
    assert_string_equal(json_string_value(json_object_get(o, "code")), "range");
    json_decref(o);
    TRI_FAIL(TRI_EIO, "gone");
    o = tri_app_error_json();
    assert_true(json_is_null(json_object_get(o, "file")));
    assert_true(json_is_null(json_object_get(o, "line")));
    json_decref(o);
}

static tri_progress some_progress(void)
{
    tri_progress p = {.state = TRI_CTL_SEARCH,
                      .time_s = 10,
                      .deadline_s = NAN,
                      .search_end_s = 82,
                      .trials = 7,
                      .finished = 9,
                      .best_trial = 3,
                      .best = 13120,
                      .best_lo = 12980,
                      .best_hi = 13300,
                      .ranks_total = 4,
                      .ranks_busy = 3};

    return p;
}

static tri_study some_study(void)
{
    tri_study s = {.name = "laptop",
                   .objective = {.metric = TRI_METRIC_TOKENS_PER_S},
                   .budget = {.trials = 40, .runs = TRI_UNLIMITED}};

    return s;
}

static void live_line(void **state)
{
    tri_study study = some_study();
    tri_progress p = some_progress();
    size_t need;

    (void)state;
    need = tri_app_live_text(&study, &p, buf, sizeof buf);
    assert_string_equal(buf, "laptop: 7/40 trials, 9 runs, best 13120 tokens/s "
                             "[12980, 13300] (trial 3), 3/4 ranks busy, "
                             "1 min 12 s left");
    assert_int_equal(need, strlen(buf));
    assert_int_equal(tri_app_live_text(&study, &p, buf, 10), need);
    assert_string_equal(buf, "laptop: 7");
}

static void live_line_of_the_end(void **state)
{
    tri_study study = some_study();
    tri_progress p = some_progress();

    (void)state;
    p.state = TRI_CTL_FINALS;
    p.finals_done = 2;
    p.finals_total = 20;
    p.best_trial = -1;
    tri_app_live_text(&study, &p, buf, sizeof buf);
    assert_string_equal(buf,
                        "laptop: finals 2/20, no result yet, 3/4 ranks busy");
    p.state = TRI_CTL_SEARCH;
    p.deadline_s = 40;
    tri_app_live_text(&study, &p, buf, sizeof buf);
    assert_non_null(strstr(buf, "30.0 s left"));
    p.failed = 15;
    tri_app_live_text(&study, &p, buf, sizeof buf);
    assert_non_null(strstr(buf, "9 runs, 15 failed, no result yet"));
}

static void folders_of_checkpoints(void **state)
{
    static const struct {
        const char *more, *said; /* "": nothing */
    } rows[] = {
            {"checkpoints: {dir: /dev/shm/none/x}",
             "'/dev/shm/none/x' is in this host's memory"},
            {"checkpoints: {dir: /tmp}", "'/tmp' is a temporary folder"},
            {"checkpoints: {dir: /etc/passwd/x}",
             "'/etc/passwd/x' cannot be made: a study that runs here ends with "
             "status 1"},
            {"checkpoints: {dir: /etc/passwd}", "cannot be written"},
            {"checkpoints: {dir: /etc/passwd, policy: never}", ""},
            {"checkpoints: {dir: /etc}", ""}, /* for who may write there */
            {"checkpoints: {dir: /etc/none/x}", "is not there yet"},
    };
    size_t n = sizeof rows / sizeof *rows - (access("/etc", W_OK) ? 2 : 0);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        char text[400];
        tri_study *study;

        snprintf(text, sizeof text,
                 "study: s\nspace: {x: {int: [0, 3]}}\n"
                 "model: {kind: process, command: [t], resume: checkpoint}\n"
                 "objective: {minimize: loss}\n%s\n",
                 rows[i].more);
        assert_int_equal(tri_study_parse(text, strlen(text),
                                         TRI_SOURCE_DIR "/s.yaml", NULL, NULL,
                                         &study),
                         TRI_OK);
        buf[0] = '\0';
        assert_int_equal(tri_app_checkpoints_note(study, buf, sizeof buf),
                         rows[i].said[0] != '\0');
        assert_non_null(strstr(buf, rows[i].said));
        tri_study_destroy(study);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(numbers),
            cmocka_unit_test(amounts),
            cmocka_unit_test(durations),
            cmocka_unit_test(intervals_and_bytes),
            cmocka_unit_test(tables_are_aligned),
            cmocka_unit_test(csv_is_quoted),
            cmocka_unit_test(rows_as_csv),
            cmocka_unit_test(rows_as_json),
            cmocka_unit_test(json_has_no_nan),
            cmocka_unit_test(statuses_for_the_shell),
            cmocka_unit_test(errors_as_json),
            cmocka_unit_test(live_line),
            cmocka_unit_test(live_line_of_the_end),
            cmocka_unit_test(folders_of_checkpoints),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
