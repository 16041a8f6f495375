/*
 * Wrong usage: one clear sentence, status 1; and help.
 */
#include "tests/app/cli.h"

#include <string.h>

static void commands_are_checked(void **state)
{
    (void)state;
    cli_expect_sentence(cli_run("%s", ""), 1, "a command is missing");
    cli_expect_sentence(cli_run("tnue"), 1, "did you mean tune?");
    cli_expect_sentence(cli_run("xyzzy"), 1, "unknown command 'xyzzy'");
    cli_expect_json_error(cli_run("xyzzy --json"), 1, "invalid", "xyzzy");
}

static void options_are_checked(void **state)
{
    (void)state;
    cli_expect_sentence(cli_run("check s.yaml --bogus"), 1,
                        "unknown option '--bogus'");
    cli_expect_sentence(cli_run("check s.yaml --ranks"), 1,
                        "option --ranks needs a value: N");
    cli_expect_sentence(cli_run("check s.yaml --lisst"), 1,
                        "did you mean --list?");
    cli_expect_sentence(cli_run("check s.yaml --json=3"), 1,
                        "option --json takes no value");
    cli_expect_sentence(cli_run("check s.yaml -Z"), 1, "unknown option '-Z'");
    cli_expect_sentence(cli_run("check s.yaml --ranks=many"), 1,
                        "--ranks takes a whole number");
    cli_expect_sentence(cli_run("check s.yaml --ranks=0"), 1, "from 1 to");
    cli_expect_sentence(cli_run("check a.yaml b.yaml"), 1,
                        "one argument too many: 'b.yaml'");
    cli_expect_sentence(cli_run("check"), 1, "STUDY.yaml is missing");
    cli_expect_sentence(cli_run("status"), 1, "FILE.h5 is missing");
    cli_expect_sentence(cli_run("tune s.yaml --max-time=soon"), 1,
                        "--max-time takes a duration");
    cli_expect_sentence(cli_run("tune s.yaml --seed=-1"), 1,
                        "--seed takes a whole number from 0");
    cli_expect_sentence(cli_run("sim s.yaml --drop=2 --workers=4"), 1,
                        "--drop takes a number from 0 to 1");
    cli_expect_sentence(cli_run("export f.h5"), 1, "--table");
    cli_expect_sentence(
            cli_run("export f.h5 --table=tables"), 1,
            "trials, runs, reports, events, models, pool or epochs, not "
            "'tables'");
    cli_expect_sentence(cli_run("export f.h5 --table=runs --format=xml"), 1,
                        "'xml'");
    cli_expect_json_error(cli_run("check --json --bogus"), 1, "invalid",
                          "unknown option '--bogus'");
}

static void later_features_say_so(void **state)
{
    static const char *const later[] = {"probe"};

    (void)state;
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        cli_expect_sentence(cli_run("%s", later[i]), 1, "is not built yet");
        cli_expect_json_error(cli_run("%s --json", later[i]), 1, "not-built",
                              "is not built yet");
    }
}

static void help_is_no_error(void **state)
{
    const cli_ran *ran = cli_run("--help");

    (void)state;
    assert_int_equal(ran->status, 0);
    assert_non_null(strstr(ran->out, "recover"));
    assert_non_null(strstr(ran->out, "(not built yet)"));
    ran = cli_run("tune --help");
    assert_int_equal(ran->status, 0);
    assert_non_null(strstr(ran->out, "Usage: trireme tune"));
    assert_non_null(strstr(ran->out, "--max-time"));
    assert_string_equal(ran->err, "");
    ran = cli_run("--version");
    assert_int_equal(ran->status, 0);
    assert_memory_equal(ran->out, "trireme ", 8);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(commands_are_checked),
            cmocka_unit_test(options_are_checked),
            cmocka_unit_test(later_features_say_so),
            cmocka_unit_test(help_is_no_error),
    };
    int failed;

    if (cli_init(argc, argv) != 0) {
        return 1;
    }
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    cli_fini();
    return failed;
}
