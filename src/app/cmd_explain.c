/*
 * trireme explain: why a trial stands where it does; what a study would run
 * next and why.  Folds the record, live, broken or ended; never writes.
 */
#include "src/app/explain.h"

#include <errno.h>
#include <stdlib.h>

#define DEFAULT_TOP 5

typedef struct explain_options {
    tri_app_common common;
    int64_t trial; /* -1: of the study */
    int64_t top;
} explain_options;

enum {
    KEY_TOP = 0x2001
};

static const struct argp_option options[] = {
        {"top", KEY_TOP, "K", 0,
         "Of a study: how many configurations it would try (5)", 0},
        {0}};

static error_t parse_trial(const char *arg, int64_t *out)
{
    char *end = NULL;
    long long v;

    errno = 0;
    v = strtoll(arg, &end, 10);
    if (end == arg || *end || errno || v < 0) {
        TRI_FAIL(TRI_EINVAL, "TRIAL is a trial's number from 0, not '%s'", arg);
        return EINVAL;
    }
    *out = v;
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    explain_options *o = state->input;

    if (key == KEY_TOP) {
        return tri_app_int("top", arg, 1, 100, &o->top);
    }
    if (key == ARGP_KEY_ARG && o->common.file && o->trial < 0) {
        return parse_trial(arg, &o->trial);
    }
    return tri_app_parse_other(key, arg, state);
}

static const struct argp argp = {
        options,
        parse,
        "FILE.h5 [TRIAL]",
        "Why a trial was proposed, what its rungs decided, what it cost and "
        "why it stopped; without TRIAL what the study would run next and why.",
        tri_app_common_child,
        NULL,
        NULL};

static tri_status explain(const explain_options *o)
{
    tri_story story;
    tri_status st = TRI_OK;

    TRI_TRY(tri_story_read(o->common.file, o->trial, &story));
    if (o->trial >= 0) {
        tri_explain_trial(&story, o->common.json);
    } else {
        st = tri_explain_study(&story, (int)o->top, o->common.json);
    }
    tri_story_fini(&story);
    return st;
}

int tri_app_explain(int argc, char **argv)
{
    explain_options o = {.trial = -1, .top = DEFAULT_TOP};
    int status = tri_app_parse(&argp, argc, argv, &o.common, "FILE.h5");

    if (status >= 0) {
        return status;
    }
    return explain(&o) == TRI_OK ? TRI_EXIT_DONE : tri_app_fail();
}
