#include "tests/app/record.h"

#include <stdio.h>
#include <string.h>

static const char study[] =
        "study: proc\n"
        "seed: 2\n"
        "model: {kind: process, command: [sh, '{study_dir}/run.sh', '{dp}',\n"
        "        '{mb}', 'a{act}', '{lr}']}\n"
        "space:\n"
        "  dp: {choice: [1, 2]}\n"
        "  mb: {int: [1, 32], log2: true}\n"
        "  act: {choice: ['x,y', '1B', off], when: mb > 2}\n"
        "  lr: {float: [0.0001, 1], log: true}\n"
        "features: {work: dp * mb}\n"
        "constraints: [dp * mb >= 2]\n"
        "ranks: dp\n"
        "objective: {minimize: loss}\n"
        "baseline: {dp: 2, mb: 4, act: '1B', lr: 0.001}\n"
        "start: [{dp: 2, mb: 32, act: off, lr: 0.1},\n"
        "        {dp: 1, mb: 32, act: 'x,y', lr: 0.01}]\n"
        "resource: {unit: steps, min: 2, max: 18, eta: 3}\n"
        "budget: {trials: 24}\n"
        "finals: {top: 2, repeats: 2}\n";

static const char script[] =
        "awk -v n=\"$TRIREME_RESOURCE\" -v dp=\"$1\" -v mb=\"$2\" -v act=\"$3\""
        " -v lr=\"$4\" 'BEGIN {\n"
        "  if (dp * mb >= 32) { print \"out of room\" > \"/dev/stderr\"\n"
        "                       exit 3 }\n"
        "  f = (log(lr) / log(10) + 2) ^ 2 + 1 / mb + length(act) / 10\n"
        "  for (i = 1; i <= n; i++)\n"
        "    printf \"{\\\"step\\\": %d, \\\"loss\\\": %.6f, \\\"step_s\\\": "
        "0.01}\\n\", i, f + 1 / i }'\n";

void record_make(void)
{
    const cli_ran *ran;

    cli_write("proc.yaml", study);
    cli_write("run.sh", script);
    ran = cli_mpirun(3, "tune proc.yaml -q");
    if (ran->status != 0) {
        print_message("status %d:\n%s%s", ran->status, ran->out, ran->err);
    }
    assert_int_equal(ran->status, 0);
}

json_t *record_at(const json_t *o, const char *key)
{
    json_t *v = json_object_get(o, key);

    if (!v) {
        print_message("no \"%s\"\n", key);
    }
    assert_non_null(v);
    return v;
}

double record_number(const json_t *o, const char *key)
{
    return json_number_value(record_at(o, key));
}

const char *record_text(const json_t *o, const char *key)
{
    const char *text = json_string_value(record_at(o, key));

    return text ? text : "";
}

json_t *record_ask(const char *command)
{
    const cli_ran *ran = cli_run("%s --json", command);

    if (ran->status != 0) {
        print_message("%s: status %d:\n%s%s", command, ran->status, ran->out,
                      ran->err);
    }
    assert_int_equal(ran->status, 0);
    return cli_json(ran);
}
