/*
 * Every recorded event script for asha, checked answer by answer: what is
 * handed out, what is ignored, and the standings at the end.  The scripts and
 * their answers were made by two independent implementations.
 */
#include "trireme/sched.h"

#include "tests/tri_cmocka.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER TRI_SOURCE_DIR "/tests/sched/traces"
#define MOST   100000

typedef struct script {
    json_t *root;
    tri_sched *sched;
    int base, sign, count_failed;
    int64_t created, max_configs; /* -1: no limit */
    int64_t uncounted[64];        /* failures that no rung counts */
    int prev[MOST];
} script;

static int64_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));

    return s ? s : "";
}

static void start(script *s, const char *path)
{
    json_error_t error;
    const json_t *set;
    tri_sched_settings settings = {.kind = TRI_SCHED_ASHA, .brackets = 1};

    memset(s, 0, sizeof *s);
    s->root = json_load_file(path, 0, &error);
    assert_non_null(s->root);
    set = json_object_get(s->root, "settings");
    settings.min = number(set, "r");
    settings.max = number(set, "R");
    settings.eta = (int)number(set, "eta");
    s->base = settings.bracket = (int)number(set, "bracket");
    s->sign = strcmp(text(set, "mode"), "max") == 0 ? -1 : 1;
    s->count_failed = json_is_true(json_object_get(set, "count_failed"));
    s->max_configs = json_is_null(json_object_get(set, "max_configs"))
                             ? -1
                             : number(set, "max_configs");
    assert_int_equal(tri_sched_create(&settings, &s->sched), TRI_OK);
}

static void check_ladder(const script *s)
{
    const json_t *set = json_object_get(s->root, "settings");
    const json_t *rungs = json_object_get(set, "rungs");
    size_t n = json_array_size(rungs);

    assert_int_equal(tri_sched_n_rungs(s->sched), (int)n + s->base);
    for (size_t k = 0; k < n; k++) {
        assert_int_equal(tri_sched_resource(s->sched, (int)k + s->base),
                         json_integer_value(json_array_get(rungs, k)));
    }
    assert_int_equal(tri_sched_resource(s->sched, (int)n + s->base), 0);
}

static void check_get(script *s, const json_t *expect)
{
    int may = s->max_configs < 0 || s->created < s->max_configs;
    tri_job job, again;
    int64_t trial;

    tri_sched_peek(s->sched, may, &job);
    tri_sched_peek(s->sched, may, &again);
    assert_memory_equal(&job, &again, sizeof job);
    if (json_is_null(expect)) {
        assert_int_equal(job.kind, TRI_JOB_NONE);
        return;
    }
    assert_int_equal(job.kind, strcmp(text(expect, "kind"), "new") == 0
                                       ? TRI_JOB_NEW
                                       : TRI_JOB_PROMOTE);
    trial = job.kind == TRI_JOB_NEW ? s->created++ : job.trial;
    assert_int_equal(trial, number(expect, "config"));
    assert_int_equal(job.rung - s->base, number(expect, "rung"));
    assert_int_equal(job.resource, number(expect, "resource"));
    assert_int_equal(s->prev[trial], number(expect, "prev"));
    s->prev[trial] = (int)job.resource;
    assert_int_equal(tri_sched_take(s->sched, &job, trial), TRI_OK);
}

static tri_status give(script *s, const json_t *event, int *failed)
{
    const json_t *value = json_object_get(event, "value");
    int64_t trial = number(event, "config");
    int rung = (int)number(event, "rung");
    tri_status st;

    *failed = !json_is_number(value);
    if (!*failed) {
        return tri_sched_result(s->sched, trial, rung + s->base, TRI_RESULT_OK,
                                s->sign * json_number_value(value));
    }
    if (s->count_failed) {
        return tri_sched_result(s->sched, trial, rung + s->base,
                                TRI_RESULT_COUNTED, NAN);
    }
    st = tri_sched_drop(s->sched, trial, rung + s->base);
    s->uncounted[rung] += st == TRI_OK;
    return st;
}

static void check_report(script *s, const json_t *event)
{
    const char *expect = text(event, "expect");
    int failed;
    tri_status st = give(s, event, &failed);

    if (strcmp(expect, "ignored") == 0) {
        assert_int_equal(st, TRI_ENOTFOUND);
        return;
    }
    assert_int_equal(st, TRI_OK);
    assert_int_equal(failed, strcmp(expect, "failed") == 0);
}

static void check_drop(script *s, const json_t *event)
{
    tri_status st = tri_sched_drop(s->sched, number(event, "config"),
                                   (int)number(event, "rung") + s->base);

    assert_int_equal(st == TRI_OK,
                     json_is_true(json_object_get(event, "expect")));
}

static int64_t results_of(const script *s, int rung)
{
    tri_rung_view rungs[64];
    int n = tri_sched_rungs(s->sched, rungs, 64);

    for (int i = 0; i < n; i++) {
        if (rungs[i].rung == rung) {
            return rungs[i].results;
        }
    }
    return 0;
}

static void check_promoted(const script *s, int rung, const json_t *expect)
{
    size_t n = 0;

    for (int64_t trial = 0; trial < s->created; trial++) {
        if (tri_sched_was_promoted(s->sched, trial, rung)) {
            assert_int_equal(json_integer_value(json_array_get(expect, n)),
                             trial);
            n++;
        }
    }
    assert_int_equal(n, json_array_size(expect));
}

static void check_final(const script *s)
{
    const json_t *final = json_object_get(s->root, "final");
    static int64_t trials[MOST];
    size_t k;
    const json_t *rung;

    json_array_foreach(final, k, rung)
    {
        const json_t *best = json_object_get(rung, "best_first");
        int64_t n = tri_sched_ranking(s->sched, s->base, (int)k + s->base,
                                      trials, MOST);

        assert_int_equal(results_of(s, (int)k + s->base) + s->uncounted[k],
                         number(rung, "reported"));
        assert_int_equal(n, (int64_t)json_array_size(best));
        for (int64_t i = 0; i < n; i++) {
            assert_int_equal(trials[i], json_integer_value(json_array_get(
                                                best, (size_t)i)));
        }
        check_promoted(s, (int)k + s->base, json_object_get(rung, "promoted"));
    }
}

static void check_script(const char *path)
{
    static script s;
    const json_t *event;
    size_t i;

    start(&s, path);
    check_ladder(&s);
    json_array_foreach(json_object_get(s.root, "events"), i, event)
    {
        const char *op = text(event, "op");

        if (strcmp(op, "get") == 0) {
            check_get(&s, json_object_get(event, "expect"));
        } else if (strcmp(op, "report") == 0) {
            check_report(&s, event);
        } else {
            assert_string_equal(op, "drop");
            check_drop(&s, event);
        }
    }
    check_final(&s);
    tri_sched_destroy(s.sched);
    json_decref(s.root);
}

static void all_scripts(void **state)
{
    DIR *folder = opendir(FOLDER);
    const struct dirent *entry;
    int n = 0;

    (void)state;
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        char path[4096];

        if (!strstr(entry->d_name, ".json")) {
            continue;
        }
        snprintf(path, sizeof path, FOLDER "/%s", entry->d_name);
        print_message("%s\n", entry->d_name);
        check_script(path);
        n++;
    }
    closedir(folder);
    assert_int_equal(n, 31);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_scripts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
