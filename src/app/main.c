/*
 * The program: one table of subcommands.  Knows their names and nothing of
 * what they do.
 */
#include "src/app/app.h"

#include "trireme/expr.h"

#include <string.h>

typedef struct command {
    const char *name;
    tri_app_fn run; /* NULL: not built yet */
    const char *synopsis, *what;
} command;

/* clang-format off */
static const command commands[] = {
    {"tune", tri_app_tune, "STUDY.yaml [-o FILE.h5] [--resume] ...",
     "search, under mpirun or srun"},
    {"check", tri_app_check, "STUDY.yaml [--ranks N] [--why ASSIGNMENTS] ...",
     "validate, count and plan a study"},
    {"train", tri_app_train, "STUDY.yaml --set dp=2,tp=2 [--steps N]",
     "one configuration by hand"},
    {"sim", tri_app_sim, "STUDY.yaml --workers N [--straggle S] ...",
     "the same search on a virtual cluster"},
    {"replay", tri_app_replay, "FILE.h5 [--with SETTINGS]",
     "verify a record; or what if"},
    {"status", tri_app_status, "FILE.h5", "how a study stands"},
    {"best", tri_app_best, "FILE.h5 [--top K]", "the answer so far"},
    {"export", tri_app_export,
     "FILE.h5 --table trials|runs|reports|events ...", "tables as CSV or JSON"},
    {"recover", tri_app_recover, "FILE.h5",
     "rebuild the tables of a broken study"},
    {"guard", tri_app_guard, "[--] COMMAND [ARG...]",
     "run a command of which nothing is left behind (workers do)"},
    {"report", tri_app_report, "FILE.h5 [-o REPORT.html]",
     "a page about a study, for a browser"},
    {"explain", tri_app_explain, "FILE.h5 [TRIAL]",
     "why a trial stands where it does; what comes next"},
    {"predict", tri_app_predict, "FILE.h5 --set tp=4,...",
     "what a configuration would do"},
    {"probe", NULL, "[-o machine.yaml]", "measure this machine"},
};
/* clang-format on */

#define N_COMMANDS (sizeof commands / sizeof *commands)

static void print_help(FILE *out)
{
    fputs("Usage: trireme COMMAND [OPTION...] FILE\n"
          "Finds the fastest way to run a distributed training, in one MPI "
          "job.\n\n",
          out);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        fprintf(out, "  %-8s %s%s\n", commands[i].name, commands[i].what,
                commands[i].run ? "" : " (not built yet)");
    }
    fputs("\ntrireme COMMAND --help says more; --json works with every "
          "command.\n"
          "Exit status: 0 done, 1 bad usage or input, 2 nothing feasible, "
          "3 interrupted\n"
          "(resumable), 4 internal or system fault.\n",
          out);
}

static int asks_json(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            return 1;
        }
    }
    return 0;
}

static int unknown_command(const char *name)
{
    const char *names[N_COMMANDS];
    const char *near;

    for (size_t i = 0; i < N_COMMANDS; i++) {
        names[i] = commands[i].name;
    }
    near = tri_closest(name, names, (int)N_COMMANDS);
    TRI_FAIL(TRI_EINVAL, "unknown command '%.80s'%s%s%s", name,
             near ? "; did you mean " : "; see trireme --help",
             near ? near : "", near ? "?" : "");
    return tri_app_fail();
}

static int run_command(const command *c, int argc, char **argv)
{
    int help = argc > 1 && strcmp(argv[1], "--help") == 0;

    if (c->run) {
        return c->run(argc, argv);
    }
    if (help) {
        printf("Usage: trireme %s %s\n%s; not built yet\n", c->name,
               c->synopsis, c->what);
        return TRI_EXIT_DONE;
    }
    TRI_FAIL(TRI_EUNBUILT, "trireme %s is not built yet", c->name);
    return tri_app_fail();
}

static int print_version(int json)
{
    if (json) {
        json_t *o = json_object();

        json_object_set_new(o, "version", json_string(TRI_VERSION));
        tri_app_json_print(o);
    } else {
        puts("trireme " TRI_VERSION);
    }
    return TRI_EXIT_DONE;
}

static int dispatch(int argc, char **argv)
{
    int json = asks_json(argc, argv);

    tri_app_errors(json, tri_app_launch_rank() > 0);
    if (argc < 2 || (argc == 2 && strcmp(argv[1], "--json") == 0)) {
        TRI_FAIL(TRI_EINVAL, "a command is missing; see trireme --help");
        return tri_app_fail();
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return TRI_EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        return print_version(json);
    }
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return run_command(&commands[i], argc - 1, argv + 1);
        }
    }
    return unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
    int status = dispatch(argc, argv);

    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("trireme: standard output cannot be written\n", stderr);
        return status == TRI_EXIT_DONE ? TRI_EXIT_FAULT : status;
    }
    return status;
}
