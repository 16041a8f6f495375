/*
 * trireme best: the answer of a study so far, live, broken or ended.  Folds
 * the record; never writes.
 */
#include "src/app/app.h"

#include <errno.h>

#define DEFAULT_TOP 5

typedef struct best_options {
    tri_app_common common;
    int64_t top;
    const char *emit;
} best_options;

enum {
    KEY_TOP = 0x2001,
    KEY_EMIT
};

static const struct argp_option options[] = {
        {"top", KEY_TOP, "K", 0, "How many configurations (5)", 0},
        {"emit", KEY_EMIT, "slurm|torchrun|megatron|deepspeed", 0,
         "A launch line for the winner (not built yet)", 0},
        {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    best_options *o = state->input;

    switch (key) {
    case KEY_TOP:
        return tri_app_int("top", arg, 1, 1000, &o->top);
    case KEY_EMIT:
        o->emit = arg;
        return 0;
    default:
        return tri_app_parse_other(key, arg, state);
    }
}

static const struct argp argp = {
        options,
        parse,
        "FILE.h5",
        "The best configurations, and the finals against the baseline.",
        tri_app_common_child,
        NULL,
        NULL};

int tri_app_best(int argc, char **argv)
{
    best_options o = {.top = DEFAULT_TOP};
    tri_ctl *ctl = NULL;
    int status = tri_app_parse(&argp, argc, argv, &o.common, "FILE.h5");

    if (status >= 0) {
        return status;
    }
    if (o.emit) {
        TRI_FAIL(TRI_EUNBUILT, "best --emit is not built yet");
        return tri_app_fail();
    }
    if (tri_app_fold(o.common.file, &ctl) != TRI_OK) {
        return tri_app_fail();
    }
    if (o.common.json) {
        tri_app_json_print(tri_app_answer_json(ctl, (int)o.top));
    } else {
        tri_app_answer_print(ctl, (int)o.top, stdout);
    }
    tri_ctl_destroy(ctl);
    return TRI_EXIT_DONE;
}
