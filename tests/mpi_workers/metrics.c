/*
 * Metric lines among partial lines, noise, huge lines and numbers that JSON
 * has not.
 */
#include "mpi_workers/metrics.h"

#include "tests/tri_cmocka.h"
#include "trireme/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 31u

static tri_metric_line last;
static int n_lines;

static void on_line(void *ctx, const tri_metric_line *line)
{
    (void)ctx;
    last = *line;
    n_lines++;
}

static tri_metrics *fresh(const char *own)
{
    tri_metrics *m;

    assert_int_equal(tri_metrics_create(own, &m), TRI_OK);
    n_lines = 0;
    return m;
}

static void feed(tri_metrics *m, const char *text)
{
    tri_metrics_hear(m, TRI_STREAM_OUT, text, strlen(text), on_line, NULL);
}

static void a_line_is_read(void **state)
{
    tri_metrics *m = fresh("accuracy");

    (void)state;
    feed(m, "{\"step\": 3, \"tokens\": 512, \"samples\": 8, \"loss\": 2.5, "
            "\"bytes\": 1e9, \"accuracy\": 0.25, \"other\": \"text\"}\n");
    assert_int_equal(n_lines, 1);
    assert_int_equal(last.step, 3);
    assert_true(last.tokens == 512 && last.samples == 8);
    assert_true(last.has_loss && last.loss == 2.5);
    assert_true(last.bytes == 1e9 && last.own == 0.25);
    feed(m, "  {\"loss\": 1}\r\n");
    assert_int_equal(n_lines, 2);
    assert_true(last.step == -1 && isnan(last.tokens) && last.loss == 1);
    tri_metrics_destroy(m);
}

/* Whatever the pieces, the lines are the same. */
static void partial_lines_wait(void **state)
{
    static const char text[] = "starting\n{\"step\": 1}\nnoise {\"step\": 9}\n"
                               "{\"step\": 2, \"loss\": 3}\n{\"step\": 3}";
    tri_metrics *m;

    (void)state;
    for (size_t piece = 1; piece < sizeof text; piece++) {
        m = fresh(NULL);
        for (size_t at = 0; at < sizeof text - 1; at += piece) {
            size_t n =
                    sizeof text - 1 - at < piece ? sizeof text - 1 - at : piece;

            tri_metrics_hear(m, TRI_STREAM_OUT, text + at, n, on_line, NULL);
        }
        assert_int_equal(n_lines, 2); /* the third has no end yet */
        assert_int_equal(last.step, 2);
        feed(m, "\n");
        assert_int_equal(n_lines, 3);
        tri_metrics_destroy(m);
    }
}

static void python_nan_is_a_loss(void **state)
{
    static const char *const texts[] = {
            "{\"step\": 4, \"loss\": NaN}\n", "{\"step\": 4, \"loss\": null}\n",
            "{\"step\": 4, \"loss\": Infinity}\n",
            "{\"loss\": -Infinity, \"step\": 4, \"note\": \"a \\\" NaN\"}\n",
            /* as C, C++ and Fortran print it */
            "{\"step\": 4, \"loss\": nan}\n", "{\"step\": 4, \"loss\": -nan}\n",
            "{\"step\": 4, \"loss\":-nan(0x8)}\n",
            "{\"step\": 4, \"loss\": -nan(ind), \"x\": \"nan(\"}\n",
            "{\"step\":4,\"loss\":inf}\n", "{\"loss\": -inf, \"step\": 4}\n",
            "{\"loss\":+Infinity, \"step\": +4.}\n",
            "{\"loss\": NAN ,\"step\": 0.04D+02}\n"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tri_metrics *m = fresh(NULL);

        feed(m, texts[i]);
        assert_int_equal(n_lines, 1);
        assert_int_equal(last.step, 4);
        assert_true(last.has_loss && isnan(last.loss));
        tri_metrics_destroy(m);
    }
}

/* What JSON does not take, but Fortran prints. */
static void numbers_are_mended(void **state)
{
    static const char *const numbers[] = {"  .5",    " .5",    " -.5",
                                          " +.5",    " 2.",    "+3.25",
                                          " .5D-01", " 1.5d+2"};
    static const double values[] = {.5, .5, -.5, .5, 2, 3.25, .05, 150};
    char text[100];

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        tri_metrics *m = fresh(NULL);

        snprintf(text, sizeof text, "{\"loss\":%s, \"step\": 4}\n", numbers[i]);
        feed(m, text);
        assert_int_equal(n_lines, 1);
        assert_int_equal(last.step, 4);
        assert_true(last.loss == values[i]);
        tri_metrics_destroy(m);
    }
}

/* A metric of the trial's own that is no number was given all the same, null
 * is how it is said to be not known. */
static void own_may_be_no_number(void **state)
{
    static const char *const texts[] = {"NaN",  "-nan", "Infinity", "\"\"",
                                        "null", "true", "\"high\""};
    char text[100];

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tri_metrics *m = fresh("acc");

        snprintf(text, sizeof text, "{\"step\": 4, \"acc\": %s}\n", texts[i]);
        feed(m, text);
        assert_int_equal(n_lines, 1);
        assert_true(i < 4 ? isinf(last.own) : isnan(last.own));
        tri_metrics_destroy(m);
    }
}

static void noise_is_counted(void **state)
{
    tri_metrics *m = fresh(NULL);

    (void)state;
    feed(m, "{\"step\": \n{nonsense}\n{\"name\": \"x\"}\n[1, 2]\n{}\n");
    assert_int_equal(n_lines, 0);
    assert_int_equal(tri_metrics_garbled(m), 2);
    assert_int_equal(tri_metrics_lines(m), 0);
    tri_metrics_destroy(m);
}

/* A step that cannot be makes the whole line none, whatever else it says. */
static void impossible_steps_are_garbage(void **state)
{
    static const char *const steps[] = {"-5",
                                        "1e300",
                                        "9007199254740993",
                                        "99999999999999999999999",
                                        "1.5",
                                        "NaN",
                                        "null",
                                        "\"3\"",
                                        "true",
                                        "[1]"};
    char text[100];
    tri_metrics *m = fresh(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        snprintf(text, sizeof text, "{\"step\": %s, \"loss\": 1}\n", steps[i]);
        feed(m, text);
        if (tri_metrics_garbled(m) != (int64_t)i + 1) {
            print_error("step %s is taken\n", steps[i]);
        }
        assert_int_equal(tri_metrics_garbled(m), i + 1);
    }
    assert_int_equal(n_lines, 0);
    feed(m, "{\"step\": 3.0}\n");
    assert_int_equal(last.step, 3);
    feed(m, "{\"step\": 9007199254740992}\n{\"step\": 0, \"loss\": 1}\n");
    assert_int_equal(n_lines, 3);
    tri_metrics_destroy(m);
}

static void names_are_kept(void **state)
{
    tri_metrics *m = fresh(NULL);
    char names[200];

    (void)state;
    tri_metrics_names(m, names, sizeof names);
    assert_string_equal(names, "");
    feed(m, "{\"step\": 1, \"foo\": 2}\n{\"step\": 2, \"a b\\n\": \"x\"}\n");
    tri_metrics_names(m, names, sizeof names);
    assert_string_equal(names, "step, foo, a?b?");
    tri_metrics_names(m, names, 8);
    assert_string_equal(names, "step, f");
    feed(m, "{\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1}\n");
    tri_metrics_names(m, names, sizeof names);
    assert_string_equal(names, "step, foo, a?b?, c, d, e, f, g");
    tri_metrics_destroy(m);
}

static void huge_lines_are_dropped(void **state)
{
    size_t n = 3 * TRI_METRICS_LINE_BYTES;
    char *text = malloc(n);
    tri_metrics *m = fresh(NULL);

    (void)state;
    memset(text, '{', n);
    tri_metrics_hear(m, TRI_STREAM_OUT, text, n, on_line, NULL);
    tri_metrics_hear(m, TRI_STREAM_OUT, text, n, on_line, NULL);
    feed(m, "\n{\"step\": 7}\n");
    assert_int_equal(tri_metrics_huge(m), 1);
    assert_int_equal(n_lines, 1);
    assert_int_equal(last.step, 7);
    /* nested as deep as a line can: refused, not a crash */
    memset(text, '[', TRI_METRICS_LINE_BYTES - 10);
    memcpy(text, "{\"a\":", 5);
    tri_metrics_hear(m, TRI_STREAM_OUT, text, TRI_METRICS_LINE_BYTES - 10,
                     on_line, NULL);
    feed(m, "\n");
    assert_int_equal(tri_metrics_garbled(m), 1);
    free(text);
    tri_metrics_destroy(m);
}

static void binary_noise_does_no_harm(void **state)
{
    static const char alphabet[] = "{}[]\":,\\\n0123456789.eE+-NaInfity steplo";
    tri_rng rng = tri_rng_stream(SEED, 1, TRI_RNG_TEST);
    tri_metrics *m = fresh("x");
    char text[512];

    (void)state;
    for (int round = 0; round < 4000; round++) {
        size_t n = tri_rng_below(&rng, sizeof text);

        for (size_t i = 0; i < n; i++) {
            text[i] = round % 2
                              ? (char)tri_rng_u64(&rng)
                              : alphabet[tri_rng_below(&rng, sizeof alphabet)];
        }
        tri_metrics_hear(m, TRI_STREAM_OUT, text, n, on_line, NULL);
    }
    feed(m, "\n{\"step\": 5}\n");
    assert_int_equal(last.step, 5);
    tri_metrics_destroy(m);
}

/* Names with a unit, rates, totals, and a rate of one rank. */
static void more_names(void **state)
{
    tri_process_spec spec = {.resume = 0};
    tri_metrics *m = fresh("latency_s");

    (void)state;
    assert_int_equal(tri_metrics_use(m, &spec, 8), TRI_OK);
    feed(m, "{\"step_ms\": 250, \"gib\": 2, \"tokens_per_s_per_rank\": 10, "
            "\"consumed_samples\": 64, \"latency_ms\": 500}\n");
    assert_int_equal(n_lines, 1);
    assert_true(last.step_s == 0.25 && last.bytes == 2147483648.0);
    assert_true(last.tokens_per_s == 80 && last.consumed_samples == 64);
    assert_true(last.own == 0.5 && isnan(last.samples_per_s));
    feed(m, "{\"samples_per_s\": 3, \"step_s\": null}\n");
    assert_true(last.samples_per_s == 3 && isnan(last.step_s));
    tri_metrics_destroy(m);
    m = fresh("bytes"); /* a known key as the objective is both */
    feed(m, "{\"bytes\": 7}\n");
    assert_true(last.bytes == 7 && last.own == 7);
    tri_metrics_destroy(m);
}

static void what_is_no_metric_is_passed_on(void **state)
{
    tri_metrics *m = fresh(NULL);
    static const char *const none[] = {
            "{\"checkpoint\": -1}\n",
            "{\"checkpoint\": \"x\"}\n",
            "{\"checkpoint\": 1.5}\n",
            "{\"failure\": 3}\n",
            "{\"failure\": \"\", \"sentence\": \"x\"}\n",
            "{\"sentence\": \"x\"}\n"};

    (void)state;
    feed(m, "{\"checkpoint\": 12}\n");
    assert_true(n_lines == 1 && last.checkpoint == 12 && last.step == -1);
    feed(m, "{\"failure\": \"oom-device\", \"sentence\": \"no\\nroom\"}\n");
    assert_true(n_lines == 2 && last.checkpoint == -1);
    assert_string_equal(last.failure, "oom-device");
    assert_string_equal(last.sentence, "no room");
    feed(m, "{\"failure\": \"nan\"}\n");
    assert_string_equal(last.failure, "nan");
    assert_string_equal(last.sentence, "");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        feed(m, none[i]);
        assert_int_equal(n_lines, 3);
    }
    feed(m, "{\"step\": 4, \"checkpoint\": 4}\n");
    assert_true(n_lines == 4 && last.checkpoint == 4 && last.step == 4);
    tri_metrics_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(a_line_is_read),
            cmocka_unit_test(partial_lines_wait),
            cmocka_unit_test(python_nan_is_a_loss),
            cmocka_unit_test(numbers_are_mended),
            cmocka_unit_test(own_may_be_no_number),
            cmocka_unit_test(noise_is_counted),
            cmocka_unit_test(impossible_steps_are_garbage),
            cmocka_unit_test(names_are_kept),
            cmocka_unit_test(huge_lines_are_dropped),
            cmocka_unit_test(binary_noise_does_no_harm),
            cmocka_unit_test(more_names),
            cmocka_unit_test(what_is_no_metric_is_passed_on),
    };

    print_message("seed %u\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
