/*
 * Recorded tables through real MPI: found in full, the same as simulated, told
 * by --table where they lie, and taken from the record at a resume.
 */
#include "tests/app/cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOY_ROWS 103
#define TOY_BEST 12475.6

static const char *const toy =
        "study: %s\n"
        "seed: 5\n"
        "model:\n"
        "  kind: table\n"
        "  file: toy.csv\n"
        "  parameters: [gpus, dp, tp, pp, micro_batch]\n"
        "  objective: tokens_per_s\n"
        "  failed: failed\n"
        "  second: %s\n"
        "space: table\n"
        "ranks: %s\n"
        "objective: {maximize: tokens_per_s, compare: total}\n"
        "search: random\n"
        "resource: {unit: steps, min: 1, max: 1, eta: 4}\n"
        "budget: {trials: %d}\n"
        "finals: none\n";

static void write_toy(const char *name, const char *second, const char *ranks,
                      int trials)
{
    char text[1024];
    char file[64];

    snprintf(text, sizeof text, toy, name, second, ranks, trials);
    snprintf(file, sizeof file, "%s.yaml", name);
    cli_write(file, text);
}

static double number(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static const cli_ran *must_run(const cli_ran *ran)
{
    if (ran->status != 0) {
        print_message("status %d:\n%s%s", ran->status, ran->out, ran->err);
    }
    assert_int_equal(ran->status, 0);
    return ran;
}

/* ---- the whole table ----------------------------------------------------- */

static void finds_the_best(const char *second, int ranks)
{
    json_t *o;

    write_toy("whole", second, "max(1, gpus // 4)", 1000);
    o = cli_json(must_run(cli_mpirun(
            ranks, "tune whole.yaml --json -q --table " TRI_SOURCE_DIR
                   "/models/table/toy.csv")));
    assert_int_equal((int)number(o, "trials"), TOY_ROWS);
    assert_true(fabs(number(json_object_get(o, "winner"), "objective") -
                     TOY_BEST) < 1e-6);
    assert_true(number(json_object_get(o, "failures"), "infeasible") > 0);
    json_decref(o);
    must_run(cli_run("replay whole.h5"));
    unlink("whole.h5");
    unlink("whole.h5.exit");
}

static void the_best_is_found(void **state)
{
    (void)state;
    finds_the_best("0", 5); /* groups of 1 to 4 ranks */
    finds_the_best("1 ms", 6);
}

/* ---- the same as simulated ----------------------------------------------- */

static void one_worker_is_the_simulator(void **state)
{
    json_t *sim, *run, *history;
    char *line;
    size_t i = 0;

    (void)state;
    write_toy("one", "0", "1", 40);
    sim = cli_json(must_run(cli_run("sim one.yaml --workers 1 --json --table "
                                    "'%s/models/table'",
                                    TRI_SOURCE_DIR)));
    history = json_object_get(sim, "history");
    assert_int_equal((int)json_array_size(history), 40);
    must_run(cli_mpirun(2, "tune one.yaml -q --table " TRI_SOURCE_DIR
                           "/models/table/"));
    line = strtok(cli_run("export one.h5 --table runs --format json")->out,
                  "\n");
    for (; line; line = strtok(NULL, "\n"), i++) {
        const json_t *point = json_array_get(history, i);
        double want = json_number_value(json_array_get(point, 4));

        run = json_loads(line, 0, NULL);
        assert_non_null(run);
        assert_true(number(run, "trial") ==
                    json_number_value(json_array_get(point, 2)));
        assert_true(fabs(number(run, "objective") - want) < 1e-9);
        json_decref(run);
    }
    assert_int_equal((int)i, 40);
    json_decref(sim);
}

/* ---- where the table lies ------------------------------------------------ */

static void must_system(const char *command)
{
    assert_int_equal(system(command), 0);
}

static void a_resume_has_its_table(void **state)
{
    const cli_ran *ran;
    json_t *o;

    (void)state;
    write_toy("again", "0", "1", 10);
    must_run(cli_mpirun(3, "tune again.yaml -q --table " TRI_SOURCE_DIR
                           "/models/table"));
    write_toy("again", "0", "1", 30);
    /* from another folder, and without the table */
    assert_int_equal(mkdir("elsewhere", 0755), 0);
    must_system("mv again.yaml elsewhere");
    o = cli_json(must_run(cli_mpirun(
            3, "tune elsewhere/again.yaml -o again.h5 --resume --json -q")));
    assert_int_equal((int)number(o, "trials"), 30);
    json_decref(o);
    must_run(cli_run("replay again.h5"));
    must_run(cli_run("best again.h5 --emit megatron "
                     "--study elsewhere/again.yaml"));
    /* a table that changed */
    must_system("sed '2s/nan/1/' " TRI_SOURCE_DIR
                "/models/table/toy.csv > elsewhere/toy.csv");
    ran = cli_mpirun(3, "tune elsewhere/again.yaml -o again.h5 --resume -q");
    assert_int_equal(ran->status, 1);
    assert_non_null(
            strstr(ran->err, "is not the table that again.h5 was begun with"));
}

static void wrong_tables_are_told(void **state)
{
    (void)state;
    write_toy("wrong", "0", "1", 10);
    cli_expect_sentence(cli_run("check wrong.yaml"), 1,
                        "toy.csv cannot be read");
    cli_expect_sentence(cli_run("check wrong.yaml --table nowhere"), 1,
                        "nowhere cannot be read");
    cli_write("bowl.yaml", cli_synthetic);
    cli_expect_sentence(cli_run("check bowl.yaml --table ."), 1,
                        "--table is for studies of model kind table");
    cli_write("two.yaml",
              "study: two\n"
              "model: {kind: table, file: [a.csv, b.csv], parameters: [x],\n"
              "        objective: y}\n"
              "space: table\n"
              "objective: {minimize: loss}\n");
    cli_write("a.csv", "x,y\n1,2\n");
    cli_expect_sentence(cli_run("check two.yaml --table a.csv"), 1,
                        "name the folder that holds them");
}

/* ---- 1,649 recorded runs ------------------------------------------------- */

static void nanotron_through_mpi(void **state)
{
    const char *shared = getenv("TRI_SHARED_DIR");
    char folder[1024];
    struct stat info;
    json_t *o, *winner;

    (void)state;
    snprintf(folder, sizeof folder, "%s/data/throughput", shared ? shared : "");
    if (stat(folder, &info) != 0) {
        print_message("skipped: no shared data (TRI_SHARED_DIR is %s)\n",
                      shared ? shared : "not set");
        skip();
    }
    must_system("sed 's/trials: .*}/trials: 5000}/; s/second: 10 ms/second: "
                "0/' " TRI_SOURCE_DIR
                "/models/table/nanotron.yaml > nanotron.yaml");
    o = cli_json(must_run(cli_mpirun(
            5, "tune nanotron.yaml -o n.h5 --json -q --table %s", folder)));
    winner = json_object_get(o, "winner");
    /* 1,649 rows, some of them repeats of a configuration */
    assert_int_equal((int)number(o, "trials"), 1630);
    assert_int_equal((int)number(json_object_get(o, "failures"), "infeasible"),
                     503);
    assert_true(fabs(number(winner, "objective") - 46.7) < 1e-9);
    winner = json_object_get(winner, "configuration");
    assert_string_equal(json_string_value(json_object_get(winner, "model")),
                        "3B");
    assert_int_equal((int)number(winner, "dp"), 4);
    json_decref(o);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(the_best_is_found),
            cmocka_unit_test(one_worker_is_the_simulator),
            cmocka_unit_test(a_resume_has_its_table),
            cmocka_unit_test(wrong_tables_are_told),
            cmocka_unit_test(nanotron_through_mpi),
    };
    int failed;

    if (cli_init(argc, argv) != 0) {
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    cli_fini();
    return failed;
}
