/*
 * The pieces of plugin trials that need no MPI: loading a library, what it is
 * given, what its reports and codes mean.
 */
#include "mpi_workers/plugin_call.h"
#include "mpi_workers/plugin_load.h"
#include "mpi_workers/plugin_probe.h"
#include "mpi_workers/plugin_report.h"
#include "mpi_workers/plugin_values.h"

#include "tests/survivors.h"
#include "tests/tri_cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tri_study *read_study(const char *library, const char *objective,
                             const char *unit)
{
    char text[1024];
    tri_study *s = NULL;

    snprintf(text, sizeof text,
             "study: p\n"
             "model:\n"
             "  kind: plugin\n"
             "  library: %s\n"
             "  options: {size: 2 GiB, share: 0.5, name: a b, quoted: \"12\","
             " on: true, n: -3}\n"
             "space:\n"
             "  x: {int: [0, 3]}\n"
             "  lr: {float: [0.0, 1.0]}\n"
             "  flag: {choice: [true, false]}\n"
             "  how: {choice: [fast, slow]}\n"
             "  deep: {int: [1, 9], when: x > 2}\n"
             "objective: {%s}\n"
             "resource: {unit: %s, min: 5}\n",
             library, objective, unit);
    assert_int_equal(tri_study_parse(text, strlen(text), "p", NULL, NULL, &s),
                     TRI_OK);
    return s;
}

/* ---- loading ----------------------------------------------------------- */

static void expect_refused(const char *path, tri_status st, const char *said)
{
    tri_plugin p;

    assert_int_equal(tri_plugin_load(path, &p), st);
    if (!strstr(tri_error_last()->sentence, said)) {
        print_error("said: %s\n", tri_error_last()->sentence);
    }
    assert_non_null(strstr(tri_error_last()->sentence, said));
    assert_non_null(strstr(tri_error_last()->sentence, path));
}

static void a_library_is_checked(void **state)
{
    char text[] = "/tmp/trireme-plugin-XXXXXX";
    int fd = mkstemp(text);
    tri_plugin p = {0};

    (void)state;
    assert_int_equal(tri_plugin_load(TRI_PLUGINS "/ways.so", &p), TRI_OK);
    assert_true(p.open && p.run_until && p.checkpoint && p.close);
    assert_int_equal(tri_plugin_load(TRI_PLUGINS "/ways_unsaved.so", &p),
                     TRI_OK);
    assert_true(p.open && !p.checkpoint);
    expect_refused(TRI_PLUGINS "/no_close.so", TRI_EINVAL,
                   "has no function trireme_trial_close");
    expect_refused(TRI_PLUGINS "/next_version.so", TRI_EVERSION,
                   "is built for version 2 of trireme/trial.h");
    expect_refused(TRI_PLUGINS "/other_mpi.so", TRI_EINVAL,
                   "is built with another MPI library");
    expect_refused(TRI_PLUGINS "/none.so", TRI_EIO,
                   "cannot be read: No such file");
    expect_refused(TRI_PLUGINS, TRI_EIO, "is no file");
    assert_true(fd >= 0 && write(fd, "int main;\n", 10) == 10);
    close(fd);
    expect_refused(text, TRI_EIO, "cannot be loaded: file too short");
    unlink(text);
}

/* A library that does not survive its loading costs a sentence. */
static void loading_is_tried(void **state)
{
    static const struct {
        const char *library;
        double limit_s;
        const char *said;
    } bad[] = {
            {"loads_crash", 60, "crashed as it was loaded: signal 11"},
            {"loads_hang", 0.05, "was not loaded in 0.05 s"},
            {"loads_exit", 60, "called exit as it was loaded"},
            {"loads_exit_at_once", 60,
             "ended the process as it was loaded, with status 3"},
    };

    int before = tri_descriptors();
    int saves = -1;

    (void)state;
    assert_int_equal(tri_plugin_probe(TRI_PLUGINS "/ways.so", 60, &saves),
                     TRI_OK);
    assert_int_equal(saves, 1);
    assert_int_equal(
            tri_plugin_probe(TRI_PLUGINS "/ways_unsaved.so", 60, &saves),
            TRI_OK);
    assert_int_equal(saves, 0);
    assert_int_equal(
            tri_plugin_probe(TRI_PLUGINS "/next_version.so", 60, &saves),
            TRI_EVERSION);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char path[512];

        snprintf(path, sizeof path, TRI_PLUGINS "/%s.so", bad[i].library);
        assert_int_equal(tri_plugin_probe(path, bad[i].limit_s, &saves),
                         TRI_EINVAL);
        if (!strstr(tri_error_last()->sentence, bad[i].said)) {
            print_error("said: %s\n", tri_error_last()->sentence);
        }
        assert_non_null(strstr(tri_error_last()->sentence, bad[i].said));
        assert_non_null(strstr(tri_error_last()->sentence, path));
    }
    assert_int_equal(tri_descriptors(), before);
}

/* Whether a checked library has checkpoints is asked without loading it. */
static void a_check_is_remembered(void **state)
{
    char library[] = "/tmp/trireme-plugin-XXXXXX";
    int fd = mkstemp(library);
    tri_study *s = read_study(library, "minimize: loss", "steps");

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    unlink(library);
    assert_int_equal(tri_plugin_saves(s), 0);
    assert_int_equal(symlink(TRI_PLUGINS "/ways.so", library), 0);
    assert_int_equal(tri_plugin_check(s), TRI_OK);
    unlink(library);
    assert_int_equal(tri_plugin_saves(s), 1);
    tri_study_destroy(s);
}

static void a_path_is_relative_to_the_study(void **state)
{
    tri_study *s = read_study("libc.so.6", "minimize: loss", "steps");
    tri_plugin p;

    (void)state; /* not where the loader would look for it */
    assert_int_equal(tri_plugin_of(s, &p), TRI_EIO);
    assert_non_null(strstr(tri_error_last()->sentence, "./libc.so.6"));
    assert_int_equal(tri_plugin_check(s), TRI_EIO);
    tri_study_destroy(s);
}

/* ---- what it is given -------------------------------------------------- */

static void expect_given(const trireme_trial_setup *setup, const char *name,
                         int32_t type, int64_t integer, double real,
                         const char *text)
{
    const trireme_trial_value *v = trireme_trial_find(setup, name);

    assert_non_null(v);
    assert_int_equal(v->struct_bytes, sizeof *v);
    assert_int_equal(v->type, type);
    assert_int_equal(v->integer, integer);
    assert_true(v->real == real);
    assert_string_equal(v->text, text);
    assert_int_equal(trireme_trial_integer(setup, name, 77), integer);
    assert_true(trireme_trial_real(setup, name, 77) == real);
    assert_string_equal(trireme_trial_text(setup, name, ""), text);
}

static void values_have_types(void **state)
{
    tri_study *s = read_study("x.so", "minimize: loss", "steps");
    trireme_trial_setup setup = {.struct_bytes = sizeof setup};
    tri_plugin_values *v = NULL;
    tri_config c[5];

    (void)state;
    assert_int_equal(
            tri_space_parse(s->space, "x=2 lr=0.25 flag=true how=slow", c),
            TRI_OK);
    assert_int_equal(tri_plugin_values_create(s, c, &v), TRI_OK);
    tri_plugin_values_give(v, &setup);
    assert_int_equal(setup.n_parameters, 5);
    assert_int_equal(setup.n_options, 6);
    expect_given(&setup, "x", TRIREME_TRIAL_INTEGER, 2, 2, "2");
    expect_given(&setup, "lr", TRIREME_TRIAL_REAL, 0, 0.25, "0.25");
    expect_given(&setup, "flag", TRIREME_TRIAL_BOOLEAN, 1, 1, "true");
    expect_given(&setup, "how", TRIREME_TRIAL_TEXT, 0, 0, "slow");
    assert_int_equal(setup.parameters[4]->type, TRIREME_TRIAL_INACTIVE);
    assert_null(trireme_trial_find(&setup, "deep"));
    assert_int_equal(trireme_trial_integer(&setup, "deep", 4), 4);
    assert_null(trireme_trial_find(&setup, "nothing"));
    expect_given(&setup, "size", TRIREME_TRIAL_INTEGER, 2147483648,
                 2147483648.0, "2147483648");
    expect_given(&setup, "share", TRIREME_TRIAL_REAL, 0, 0.5, "0.5");
    expect_given(&setup, "name", TRIREME_TRIAL_TEXT, 0, 0, "a b");
    expect_given(&setup, "on", TRIREME_TRIAL_BOOLEAN, 1, 1, "true");
    expect_given(&setup, "n", TRIREME_TRIAL_INTEGER, -3, -3, "-3");
    tri_plugin_values_destroy(v);
    tri_plugin_values_destroy(NULL);
    tri_study_destroy(s);
}

static void options_are_plain(void **state)
{
    static const char *const texts[] = {
            "study: p\nmodel: {kind: plugin, library: x.so, options: {n: "
            "[1]}}\n"
            "space: {x: 1}\nobjective: {minimize: loss}\n",
            "study: p\nmodel: {kind: plugin, library: x.so, options: fast}\n"
            "space: {x: 1}\nobjective: {minimize: loss}\n",
            "study: p\nmodel: {kind: plugin}\n"
            "space: {x: 1}\nobjective: {minimize: loss}\n"};
    static const char *const said[] = {"expected a plain value",
                                       "expected a map of names and values",
                                       "the path of the plugin's shared"};

    (void)state;
    for (int i = 0; i < 3; i++) {
        tri_study *s = NULL;

        assert_int_equal(tri_study_parse(texts[i], strlen(texts[i]), "p", NULL,
                                         NULL, &s),
                         TRI_ETYPE);
        assert_int_equal(tri_error_last()->line, 2);
        assert_non_null(strstr(tri_error_last()->sentence, said[i]));
    }
}

/* ---- reports ----------------------------------------------------------- */

static tri_plugin_heard hear(const tri_study *s, int64_t from, int64_t asked)
{
    tri_plugin_heard h;

    tri_plugin_heard_init(&h, s, from);
    tri_plugin_heard_begin(&h, asked);
    return h;
}

static int step(tri_plugin_heard *h, int64_t step, double samples, double loss)
{
    trireme_trial_report r = {.struct_bytes = sizeof r,
                              .step = step,
                              .samples = samples,
                              .has_loss = !isnan(loss),
                              .loss = loss};

    return tri_plugin_heard_add(h, &r);
}

static void expect_judged(const tri_plugin_heard *h, int ended, int over,
                          tri_status st, const char *said)
{
    tri_error_clear();
    assert_int_equal(tri_plugin_heard_judge(h, ended, over, 5, -1), st);
    if (strcmp(tri_error_last()->sentence, said) != 0) {
        print_error("said: %s\n", tri_error_last()->sentence);
    }
    assert_string_equal(tri_error_last()->sentence, said);
}

static void reports_of_a_call_are_taken_together(void **state)
{
    tri_study *s = read_study("x.so", "maximize: samples_per_s", "samples");
    tri_plugin_heard h = hear(s, 0, 3);

    (void)state;
    assert_int_equal(step(&h, 1, 4, 3.0), 0);
    assert_int_equal(step(&h, 3, 10, NAN), 1);
    assert_int_equal(tri_plugin_heard_steps(&h), 3);
    assert_true(h.samples == 24 && h.loss == 3.0);
    expect_judged(&h, 0, 0, TRI_OK, "");
    expect_judged(&h, 1, 0, TRI_OK, ""); /* 24 samples are more than 5 */
    tri_plugin_heard_begin(&h, 4);
    assert_true(h.samples == 0 && isnan(h.loss));
    assert_int_equal(step(&h, 6, 2, NAN), 1); /* further than asked */
    assert_int_equal(tri_plugin_heard_steps(&h), 3);
    expect_judged(&h, 0, 0, TRI_OK, "");
    tri_study_destroy(s);
}

static void reports_that_cannot_be(void **state)
{
    tri_study *s = read_study("x.so", "minimize: loss", "steps");
    trireme_trial_report old = {.struct_bytes = 16, .step = 1, .samples = 5};
    trireme_trial_report none = {.step = 1};
    tri_plugin_heard h = hear(s, 0, 1);

    (void)state;
    expect_judged(&h, 0, 0, TRI_ETRIAL,
                  "the plugin's run_until came back without a report of step "
                  "1; the last one was of step 0");
    assert_int_equal(tri_plugin_heard_add(&h, &old), 1);
    assert_true(h.samples == 0); /* beyond what it says it has */
    tri_plugin_heard_begin(&h, 2);
    assert_int_equal(tri_plugin_heard_add(&h, &none), 1);
    expect_judged(&h, 0, 0, TRI_ETRIAL,
                  "of the plugin: a report has struct_bytes 0; expected "
                  "sizeof(trireme_trial_report)");
    tri_plugin_heard_begin(&h, 2);
    step(&h, 0, 1, 1);
    expect_judged(&h, 0, 0, TRI_ETRIAL,
                  "of the plugin: a report of step 0 came after a later one");
    tri_plugin_heard_begin(&h, 2);
    step(&h, 1006, 1, 1);
    expect_judged(&h, 0, 0, TRI_ETRIAL,
                  "of the plugin: a report of step 1006 is far beyond the one "
                  "asked for");
    tri_plugin_heard_begin(&h, 2);
    step(&h, 2, 1, INFINITY);
    expect_judged(&h, 0, 0, TRI_ENAN,
                  "what the plugin reported of step 2 is not a number");
    tri_study_destroy(s);
}

static void what_the_objective_needs(void **state)
{
    static const char *const names[] = {"gflops", "error"};
    static const double values[] = {2, 0};
    tri_study *s = read_study("x.so", "maximize: score", "steps");
    trireme_trial_report r = {.struct_bytes = sizeof r,
                              .step = 1,
                              .n_metrics = 2,
                              .names = names,
                              .values = values};
    tri_plugin_heard h = hear(s, 0, 1);

    (void)state;
    assert_int_equal(tri_plugin_heard_add(&h, &r), 1);
    assert_int_equal(tri_plugin_heard_add(&h, &r), 1); /* names come once */
    expect_judged(&h, 0, 0, TRI_OK, "");
    expect_judged(&h, 0, 1, TRI_ETRIAL,
                  "the plugin never reported score, which the objective "
                  "needs; it reported gflops, error");
    expect_judged(&h, 1, 0, TRI_ETRIAL,
                  "the plugin ended by itself after 1 of 5 steps");
    tri_study_destroy(s);
    s = read_study("x.so", "minimize: step_s", "tokens");
    h = hear(s, 0, 100);
    step(&h, 100, 8, NAN);
    expect_judged(&h, 0, 0, TRI_ETRIAL,
                  "the plugin reported no tokens in 100 steps; the resource "
                  "is counted by them");
    tri_study_destroy(s);
}

/* ---- codes ------------------------------------------------------------- */

static void codes_have_classes(void **state)
{
    static const struct {
        int code;
        tri_status st;
        tri_reason reason;
    } all[] = {
            {TRIREME_TRIAL_FAILED, TRI_ETRIAL, TRI_REASON_BAD_EXIT},
            {TRIREME_TRIAL_INFEASIBLE, TRI_EINFEASIBLE, TRI_REASON_INFEASIBLE},
            {TRIREME_TRIAL_HOST_MEMORY, TRI_ETRIAL, TRI_REASON_OOM_HOST},
            {TRIREME_TRIAL_DEVICE_MEMORY, TRI_ETRIAL, TRI_REASON_OOM_DEVICE},
            {TRIREME_TRIAL_OVER_QUOTA, TRI_EOOM, TRI_REASON_OOM},
            {TRIREME_TRIAL_NAN, TRI_ENAN, TRI_REASON_NAN},
            {TRIREME_TRIAL_DIVERGED, TRI_EDIVERGED, TRI_REASON_DIVERGED},
            {TRIREME_TRIAL_COMMUNICATION, TRI_ECOMM, TRI_REASON_RENDEZVOUS},
            {-1, TRI_ETRIAL, TRI_REASON_BAD_EXIT},
    };
    tri_plugin_words words = {""};
    tri_reason reason;

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_int_equal(
                tri_plugin_outcome(all[i].code, "open", 1, &words, &reason),
                all[i].st);
        assert_int_equal(reason, all[i].reason);
    }
    tri_plugin_say(&words, "first");
    tri_plugin_say(&words, "then\tthis");
    tri_plugin_outcome(TRIREME_TRIAL_FAILED, "open", 1, &words, &reason);
    assert_string_equal(tri_error_last()->sentence,
                        "the plugin's open failed on rank 1: then this");
    assert_string_equal(words.said, "");
    assert_int_equal(tri_plugin_outcome(0, "open", 1, &words, &reason), TRI_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_library_is_checked),
            cmocka_unit_test(loading_is_tried),
            cmocka_unit_test(a_check_is_remembered),
            cmocka_unit_test(a_path_is_relative_to_the_study),
            cmocka_unit_test(values_have_types),
            cmocka_unit_test(options_are_plain),
            cmocka_unit_test(reports_of_a_call_are_taken_together),
            cmocka_unit_test(reports_that_cannot_be),
            cmocka_unit_test(what_the_objective_needs),
            cmocka_unit_test(codes_have_classes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
