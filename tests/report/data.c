/*
 * The data of a report: the same keys for every study, sizes, what is said
 * where there is nothing, and names that would be markup.
 */
#include "src/report/part.h"
#include "tests/report/world.h"

#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const keys[] = {
        "format",   "program",    "library",     "file",   "made",
        "study",    "state",      "cost",        "answer", "top",
        "params",   "trials",     "results",     "best",   "rungs",
        "ladders",  "importance", "calibration", "memory", "timeline",
        "failures", "finals",     "facts",       "why"};

#define N_KEYS (sizeof keys / sizeof *keys)

static json_t *at(json_t *o, const char *key)
{
    json_t *value = json_object_get(o, key);

    if (!value) {
        fail_msg("there is no %s", key);
    }
    return value;
}

static int64_t whole(json_t *o, const char *key)
{
    assert_true(json_is_integer(at(o, key)));
    return json_integer_value(at(o, key));
}

/* Where a section is null, a sentence says why. */
static void check_sections(json_t *data)
{
    static const char *const sections[] = {
            "results", "rungs",    "ladders",  "importance", "calibration",
            "memory",  "timeline", "failures", "finals"};

    assert_int_equal(json_object_size(data), N_KEYS);
    for (size_t i = 0; i < N_KEYS; i++) {
        at(data, keys[i]);
    }
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (json_is_null(at(data, sections[i]))) {
            json_t *why = json_object_get(at(data, "why"), sections[i]);

            if (!json_is_string(why) || json_string_length(why) < 12) {
                fail_msg("nothing says why there is no %s", sections[i]);
            }
        }
    }
}

/* All columns of trials are of one length. */
static void check_columns(json_t *data)
{
    json_t *trials = at(data, "trials");
    size_t n = (size_t)whole(trials, "shown");
    json_t *columns = at(trials, "columns");
    const char *name;
    json_t *column;
    size_t i;

    json_object_foreach(columns, name, column)
    {
        if (strcmp(name, "params") != 0) {
            assert_int_equal(json_array_size(column), n);
        }
    }
    assert_int_equal(json_array_size(at(columns, "params")),
                     json_array_size(at(data, "params")));
    json_array_foreach(at(columns, "params"), i, column)
    {
        json_t *param = json_array_get(at(data, "params"), i);

        assert_int_equal(json_array_size(column),
                         json_is_true(at(param, "constant")) ? 0 : n);
    }
}

static char *page_of(const json_t *data, size_t *bytes)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, bytes);

    assert_non_null(f);
    assert_int_equal(tri_report_write(data, f), TRI_OK);
    fclose(f);
    return text;
}

static json_t *live(const char *name, int workers)
{
    json_t *data;
    world w;

    world_live(&w, world_text(name), workers, NULL);
    data = world_data(&w);
    world_fini(&w);
    check_sections(data);
    check_columns(data);
    return data;
}

/* ---- tests -------------------------------------------------------------- */

static void one_run(void **state)
{
    json_t *data = live("one", 1);

    (void)state;
    assert_int_equal(whole(at(data, "state"), "runs"), 1);
    assert_int_equal(json_array_size(at(data, "best")), 1);
    assert_true(json_is_null(at(data, "finals")));
    assert_null(strstr(json_string_value(at(at(data, "why"), "finals")),
                       "yet")); /* the study has ended */
    assert_true(json_is_null(at(data, "importance")));
    assert_true(json_is_null(at(data, "ladders")));
    assert_true(json_is_null(at(at(data, "answer"), "speedup")));
    json_decref(data);
}

static void thirty_runs(void **state)
{
    json_t *data = live("thirty", 8);
    json_t *finals = at(data, "finals");
    json_t *speedup = at(at(data, "answer"), "speedup");
    json_t *best = at(data, "best");
    json_t *last = json_array_get(best, json_array_size(best) - 1);

    (void)state;
    assert_int_equal(json_array_size(finals), 4);
    assert_int_equal(json_array_size(at(json_array_get(finals, 0), "repeats")),
                     5);
    assert_true(json_is_real(at(speedup, "value")));
    assert_true(json_is_real(at(speedup, "lo")));
    assert_true(json_is_boolean(at(speedup, "significant")));
    assert_int_equal(json_array_size(at(data, "rungs")), 3);
    assert_true(json_array_size(at(data, "ladders")) > 3);
    assert_int_equal(json_array_size(last), 5);
    assert_int_equal(json_integer_value(json_array_get(last, 4)), 2);
    assert_true(json_is_object(at(data, "importance")));
    json_decref(data);
}

/* Costs are the parts' sum, and the timeline holds as much as the runs. */
static void costs_add_up(void **state)
{
    json_t *data = live("thirty", 8);
    json_t *cost = at(data, "cost");
    double total = json_number_value(at(cost, "total"));
    json_t *pool = at(at(data, "timeline"), "pool");
    double bin = json_number_value(at(at(data, "timeline"), "bin_s"));
    double end = json_number_value(at(at(data, "state"), "time_s"));
    double held = 0;
    json_t *share;
    size_t i;

    (void)state;
    assert_true(fabs(total - json_number_value(at(cost, "search")) -
                     json_number_value(at(cost, "finals")) -
                     json_number_value(at(cost, "wasted"))) < 1e-9);
    json_array_foreach(pool, i, share)
    {
        double left = end - (double)i * bin; /* the last bin is shorter */

        held += json_number_value(share) / 100 * fmin(bin, left) * 8 / 3600;
    }
    assert_true(fabs(held / total - 1) < 0.02);
    json_decref(data);
}

static void thousand_runs(void **state)
{
    json_t *data = live("thousand", 64);
    json_t *importance = at(data, "importance");
    json_t *p;
    double sum = 0;
    size_t i;

    (void)state;
    assert_true(whole(at(data, "state"), "runs") > 900);
    assert_int_equal(json_array_size(at(importance, "parameters")), 6);
    assert_true(json_number_value(at(importance, "tau")) > 0.3);
    json_array_foreach(at(importance, "parameters"), i, p)
    {
        double share = json_number_value(at(p, "share"));

        assert_true(share >= 0 && share <= 1);
        sum += share;
    }
    assert_true(sum > 0.2 && sum < 1.1);
    assert_int_equal(json_array_size(at(importance, "pairs")), 15);
    json_decref(data);
}

static void ten_thousand_runs(void **state)
{
    json_t *data = live("ten-thousand", 500);
    size_t bytes = 0;
    char *page = page_of(data, &bytes);

    (void)state;
    assert_true(whole(at(data, "state"), "runs") > 9900);
    assert_int_equal(whole(at(data, "trials"), "shown"), 7500);
    assert_true(bytes < 3 * 1000 * 1000);
    free(page);
    json_decref(data);
}

static void led_by_a_model(void **state)
{
#ifndef TRI_HAVE_SEARCH
    (void)state;
    skip();
#else
    json_t *data = live("model", 4);
    json_t *calibration = at(data, "calibration");
    json_t *columns = at(at(data, "trials"), "columns");

    (void)state;
    assert_true(whole(calibration, "same") + whole(calibration, "other") > 20);
    assert_true(whole(calibration, "inside") <= whole(calibration, "same"));
    at(columns, "predicted");
    at(columns, "predicted_lo");
    assert_null(json_object_get(columns, "mib"));
    json_decref(data);
#endif
}

static void only_failures(void **state)
{
    json_t *data = live("failures", 4);
    json_t *first = json_array_get(at(data, "failures"), 0);

    (void)state;
    assert_true(json_is_null(at(at(data, "answer"), "winner")));
    assert_true(json_is_string(at(at(data, "why"), "answer")));
    assert_int_equal(json_array_size(at(data, "top")), 0);
    assert_true(whole(first, "runs") >= 20);
    assert_true(json_array_size(at(first, "examples")) > 0);
    json_decref(data);
}

static int count_of(const char *text, const char *needle)
{
    int n = 0;

    for (; (text = strstr(text, needle)); text++) {
        n++;
    }
    return n;
}

/* No name of a study ends a script or begins an element; all come through. */
static void odd_names(void **state)
{
    json_t *data = live("odd", 4);
    json_t *plain = live("thirty", 4);
    size_t bytes = 0;
    size_t plain_bytes = 0;
    char *page = page_of(data, &bytes);
    char *other = page_of(plain, &plain_bytes);
    const char *name = json_string_value(at(at(data, "study"), "name"));

    (void)state;
    assert_non_null(strstr(name, "<script>alert(1) \"quoted\" &"));
    assert_non_null(strstr(name, "三段櫂船"));
    assert_int_equal(count_of(page, "</script>"), count_of(other, "</script>"));
    assert_int_equal(count_of(page, "<img"), count_of(other, "<img"));
    assert_int_equal(count_of(page, "<b>"), count_of(other, "<b>"));
    assert_non_null(strstr(page, "\\u003c/script>"));
    assert_int_equal(strlen(page), bytes);
    free(page);
    free(other);
    json_decref(data);
    json_decref(plain);
}

static void expect_text(const char *from, const char *to)
{
    json_t *s = tri_report_string(from);

    assert_string_equal(json_string_value(s), to);
    json_decref(s);
}

/* What is no character is told as such, and takes nothing else with it. */
static void texts_keep_what_is_whole(void **state)
{
    (void)state;
    expect_text("größer 三\n", "größer 三\n");
    expect_text("größ\xff"
                "er",
                "größ?er");
    expect_text("a\x01"
                "b\x7f",
                "a?b?");
    expect_text("\x89\xe4\xb8\x89", "三"); /* cut at the start */
    expect_text("ö\xe4\xb8", "ö??");       /* and at the end */
    expect_text("\xc0\xafx\xed\xa0\x80", "??x???");
    expect_text("\xf4\x90\x80\x80\xf0\x9f\x98\x80", "????😀");
    expect_text("", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(texts_keep_what_is_whole),
            cmocka_unit_test(one_run),
            cmocka_unit_test(thirty_runs),
            cmocka_unit_test(costs_add_up),
            cmocka_unit_test(thousand_runs),
            cmocka_unit_test(led_by_a_model),
            cmocka_unit_test(only_failures),
            cmocka_unit_test(odd_names),
            cmocka_unit_test(ten_thousand_runs)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
