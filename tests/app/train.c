/*
 * trireme train: one object a step, the same losses in every layout, and what
 * it refuses.
 */
#include "tests/app/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEPS 8

static void write_files(void)
{
    char text[2001];

    for (int i = 0; i < 2000; i++) {
        text[i] = (char)('a' + (i * i + i / 7) % 26);
    }
    text[2000] = '\0';
    cli_write("text.txt", text);
    cli_write("gpt.yaml", cli_gpt);
}

/* What is predicted of each kind is what came to be, and they are all. */
static void judge_memory(const json_t *memory)
{
    const json_t *predicted = json_object_get(memory, "predicted");
    json_t *actual = json_object_get(memory, "actual"), *bytes;
    json_int_t sum = 0, total;
    const char *kind;

    assert_true(json_is_object(predicted) && json_is_object(actual));
    assert_true(json_equal(predicted, actual));
    total = json_integer_value(json_object_get(actual, "total"));
    assert_true(total > 0);
    assert_true(json_object_get(actual, "parameters") &&
                json_object_get(actual, "gradients") &&
                json_object_get(actual, "optimizer state") &&
                json_object_get(actual, "activations"));
    json_object_foreach(actual, kind, bytes)
    {
        sum += json_integer_value(bytes);
    }
    assert_int_equal(sum, 2 * total);
}

/* Losses of the objects on standard output; returns how many. */
static int losses(const cli_ran *ran, double *out)
{
    char *text = ran->out;
    int n = 0, told = 0;

    if (ran->status != 0) {
        print_message("status %d: %s", ran->status, ran->err);
    }
    assert_int_equal(ran->status, 0);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        json_t *o = json_loads(line, 0, NULL);

        assert_non_null(o);
        assert_false(told); /* it is the last one */
        told = json_object_get(o, "memory") != NULL;
        if (told) {
            judge_memory(json_object_get(o, "memory"));
            json_decref(o);
            continue;
        }
        assert_true(n < MAX_STEPS);
        assert_int_equal(json_integer_value(json_object_get(o, "step")), n + 1);
        assert_true(json_real_value(json_object_get(o, "step_s")) > 0);
        assert_int_equal(json_integer_value(json_object_get(o, "samples")), 4);
        assert_int_equal(json_integer_value(json_object_get(o, "tokens")), 32);
        assert_true(json_integer_value(json_object_get(o, "bytes")) > 0);
        out[n++] = json_real_value(json_object_get(o, "loss"));
        json_decref(o);
    }
    assert_true(told);
    return n;
}

static void steps_are_objects(void **state)
{
    double alone[MAX_STEPS];
    double split[MAX_STEPS];

    (void)state;
    write_files();
    assert_int_equal(
            losses(cli_run("train gpt.yaml --set dp=1 --steps 3 --json"),
                   alone),
            3);
    assert_int_equal(losses(cli_mpirun(4, "train gpt.yaml --set dp=2,tp=2 "
                                          "--steps 3 --json"),
                            split),
                     3);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(alone[i] - split[i]) < 1e-3 * fabs(alone[i]));
    }
}

static void default_steps(void **state)
{
    double loss[MAX_STEPS];

    (void)state;
    write_files();
    assert_int_equal(losses(cli_run("train gpt.yaml --set dp=1 --json"), loss),
                     2);
}

static void refusals(void **state)
{
    const cli_ran *ran;

    (void)state;
    write_files();
    cli_expect_sentence(cli_run("train gpt.yaml --set dp=2"), 1,
                        "needs exactly 2 ranks, and this job has 1");
    ran = cli_mpirun(3, "train gpt.yaml --set dp=2");
    assert_int_equal(ran->status, 1);
    assert_non_null(strstr(ran->err, "needs exactly 2 ranks"));
    cli_expect_sentence(cli_run("train gpt.yaml --set dq=2"), 1, "dq");
    cli_expect_sentence(cli_run("train gpt.yaml --set tp=3"), 1, "tp");
    cli_expect_json_error(cli_run("train gpt.yaml --set dp=2 --json"), 1,
                          "invalid", "needs exactly 2 ranks");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(steps_are_objects),
            cmocka_unit_test(default_steps),
            cmocka_unit_test(refusals),
    };
    int failed;

    if (cli_init(argc, argv) != 0) {
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    cli_fini();
    return failed;
}
