/*
 * Options that all subcommands share, and how a wrong usage is said: argp
 * parses, but prints nothing by itself, so that --json and the ranks of one
 * job get one sentence.
 */
#include "src/app/app.h"

#include "trireme/expr.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_JSON = 0x1001,
    KEY_HELP = '?'
};

static const struct argp_option common_options[] = {
        {"json", KEY_JSON, NULL, 0, "Results and errors as JSON", 90},
        {"quiet", 'q', NULL, 0, "Only errors and results", 90},
        {"verbose", 'v', NULL, 0, "More of the log; twice: all of it", 90},
        {"help", KEY_HELP, NULL, 0, "This help", 91},
        {0}};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
    tri_app_common *common = state->input;

    (void)arg;
    switch (key) {
    case KEY_JSON:
        common->json = 1;
        return 0;
    case 'q':
        common->quiet = 1;
        return 0;
    case 'v':
        common->verbose++;
        return 0;
    case KEY_HELP:
        common->help = 1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp common_argp = {
        common_options, parse_common, NULL, NULL, NULL, NULL, NULL};

const struct argp_child tri_app_common_child[] = {
        {&common_argp, 0, "Common to all commands:", 90}, {0}};

error_t tri_app_parse_other(int key, char *arg, struct argp_state *state)
{
    tri_app_common *common = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = common;
        return 0;
    case ARGP_KEY_ARG:
        if (!common->file) {
            common->file = arg;
            return 0;
        }
        TRI_FAIL(TRI_EINVAL, "one argument too many: '%s'", arg);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- numbers --------------------------------------------------------- */

error_t tri_app_int(const char *option, const char *text, int64_t lo,
                    int64_t hi, int64_t *out)
{
    char *end = NULL;
    long long v;

    errno = 0;
    v = strtoll(text, &end, 10);
    if (end == text || *end || errno || v < lo || v > hi) {
        TRI_FAIL(TRI_EINVAL,
                 "--%s takes a whole number from %lld to %lld, not '%s'",
                 option, (long long)lo, (long long)hi, text);
        return EINVAL;
    }
    *out = v;
    return 0;
}

error_t tri_app_u64(const char *option, const char *text, uint64_t *out)
{
    char *end = NULL;
    unsigned long long v;

    errno = 0;
    v = strtoull(text, &end, 10);
    if (end == text || *end || errno || strchr(text, '-')) {
        TRI_FAIL(TRI_EINVAL, "--%s takes a whole number from 0, not '%s'",
                 option, text);
        return EINVAL;
    }
    *out = v;
    return 0;
}

error_t tri_app_real(const char *option, const char *text, double lo, double hi,
                     double *out)
{
    char *end = NULL;
    double v = strtod(text, &end);

    if (end == text || *end || !(v >= lo && v <= hi)) {
        TRI_FAIL(TRI_EINVAL, "--%s takes a number from %g to %g, not '%s'",
                 option, lo, hi, text);
        return EINVAL;
    }
    *out = v;
    return 0;
}

error_t tri_app_seconds(const char *option, const char *text, double *out)
{
    double v = 0;
    char kind = 0;

    if (tri_quantity_parse(text, &v, &kind) != TRI_OK ||
        (kind != 't' && kind != 0) || !isfinite(v) || v <= 0) {
        TRI_FAIL(TRI_EINVAL,
                 "--%s takes a duration such as '90 s' or '10min', not '%s'",
                 option, text);
        return EINVAL;
    }
    *out = v;
    return 0;
}

/* ---- parsing --------------------------------------------------------- */

static const struct argp_option *find_option(const struct argp_option *list,
                                             const char *name, size_t len)
{
    for (; list && (list->name || list->key); list++) {
        if (list->name && strlen(list->name) == len &&
            strncmp(list->name, name, len) == 0) {
            return list;
        }
    }
    return NULL;
}

static const char *closest_option(const struct argp *argp, const char *name)
{
    const char *names[64];
    int n = 0;
    const struct argp_option *lists[] = {argp->options, common_options};

    for (int l = 0; l < 2; l++) {
        for (const struct argp_option *o = lists[l];
             o && (o->name || o->key) && n < 64; o++) {
            if (o->name) {
                names[n++] = o->name;
            }
        }
    }
    return tri_closest(name, names, n);
}

/* The sentence for an option that getopt refused. */
static void say_bad_option(const struct argp *argp, const char *word)
{
    const char *name = word + (strncmp(word, "--", 2) == 0 ? 2 : 0);
    size_t len = strcspn(name, "=");
    const struct argp_option *known;
    const char *near;
    char plain[64];

    known = find_option(argp->options, name, len);
    if (!known) {
        known = find_option(common_options, name, len);
    }
    if (known && known->arg && name[len] != '=') {
        TRI_FAIL(TRI_EINVAL, "option --%s needs a value: %s", known->name,
                 known->arg);
        return;
    }
    if (known && !known->arg) {
        TRI_FAIL(TRI_EINVAL, "option --%s takes no value", known->name);
        return;
    }
    snprintf(plain, sizeof plain, "%.*s", (int)len, name);
    near = name == word ? NULL : closest_option(argp, plain);
    TRI_FAIL(TRI_EINVAL, "unknown option '%.80s'%s%s%s", word,
             near ? "; did you mean --" : "", near ? near : "",
             near ? "?" : "");
}

/* The options as given; a word after "--" is none. */
static int asked_for(int argc, char **argv, const char *option)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], option) == 0) {
            return 1;
        }
    }
    return 0;
}

static int bad_usage(const struct argp *argp, char **argv, int next)
{
    if (tri_error_last()->code == TRI_OK) {
        say_bad_option(argp, argv[next > 0 ? next - 1 : 0]);
    }
    return tri_app_fail();
}

/* argp tells where it stopped only to parsers; this one listens. */
typedef struct listener {
    const struct argp *argp;
    void *input;
    int next;
} listener;

static error_t listen(int key, char *arg, struct argp_state *state)
{
    listener *l = state->input;

    (void)arg;
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = l->input;
        return 0;
    }
    if (key == ARGP_KEY_ERROR) {
        l->next = state->next;
    }
    return ARGP_ERR_UNKNOWN;
}

static error_t run_argp(const struct argp *argp, int argc, char **argv,
                        void *input, int *next)
{
    listener l = {argp, input, 0};
    const struct argp_child children[] = {{argp, 0, NULL, 0}, {0}};
    const struct argp outer = {NULL, listen, NULL, NULL, children, NULL, NULL};
    error_t err =
            argp_parse(&outer, argc, argv,
                       ARGP_NO_EXIT | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &l);

    *next = l.next;
    return err;
}

static void print_help(const struct argp *argp, const char *command)
{
    char name[64];

    snprintf(name, sizeof name, "trireme %s", command);
    argp_help(argp, stdout,
              ARGP_HELP_USAGE | ARGP_HELP_LONG | ARGP_HELP_PRE_DOC |
                      ARGP_HELP_POST_DOC,
              name);
}

int tri_app_parse(const struct argp *argp, int argc, char **argv,
                  tri_app_common *common, const char *needs)
{
    int rank = tri_app_launch_rank();
    int next = 0;
    int status = -1;
    error_t err;

    tri_error_clear();
    tri_app_errors(asked_for(argc, argv, "--json"), rank > 0);
    err = run_argp(argp, argc, argv, common, &next);
    tri_app_log_setup(common->quiet, common->verbose, rank);
    if (err) {
        status = bad_usage(argp, argv, next);
    } else if (common->help) {
        if (rank == 0) {
            print_help(argp, argv[0]);
        }
        return TRI_EXIT_DONE;
    } else if (!common->file) {
        TRI_FAIL(TRI_EINVAL, "%s is missing; see trireme %s --help", needs,
                 argv[0]);
        status = tri_app_fail();
    }
    return status > 0 && rank > 0 ? TRI_EXIT_DONE : status;
}
