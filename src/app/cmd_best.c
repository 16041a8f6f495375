/*
 * trireme best: the answer of a study so far, live, broken or ended, for
 * people or for what launches it elsewhere.  Folds the record; never writes.
 */
#include "src/app/app.h"
#include "src/app/emit.h"

#include <errno.h>
#include <inttypes.h>

#define DEFAULT_TOP 5

typedef struct best_options {
    tri_app_common common;
    int64_t top, ranks; /* 0: any */
    int emits;
    tri_emit_format format;
    const char *study;
} best_options;

enum {
    KEY_TOP = 0x2001,
    KEY_RANKS,
    KEY_EMIT,
    KEY_STUDY
};

static const struct argp_option options[] = {
        {"top", KEY_TOP, "K", 0, "How many configurations (5)", 0},
        {"ranks", KEY_RANKS, "N", 0,
         "Only configurations on exactly so many ranks", 0},
        {"emit", KEY_EMIT, "slurm|torchrun|megatron|deepspeed", 0,
         "The winner as a batch script, a launch line, arguments or a "
         "configuration",
         0},
        {"study", KEY_STUDY, "STUDY.yaml", 0,
         "Take the names for --emit from this file, not from the record", 0},
        {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    best_options *o = state->input;

    switch (key) {
    case KEY_TOP:
        return tri_app_int("top", arg, 1, 1000, &o->top);
    case KEY_RANKS:
        return tri_app_int("ranks", arg, 1, INT32_MAX, &o->ranks);
    case KEY_EMIT:
        o->emits = 1;
        return tri_emit_format_of(arg, &o->format) == TRI_OK ? 0 : EINVAL;
    case KEY_STUDY:
        o->study = arg;
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

/* ---- --emit -------------------------------------------------------------- */

static void print_emitted_json(const tri_emit_job *job, tri_emit_format format,
                               const tri_emitted *e)
{
    json_t *o = json_object();

    json_object_set_new(o, "format", json_string(tri_emit_format_name(format)));
    json_object_set_new(o, "trial", json_integer(job->trial));
    json_object_set_new(o, "configuration",
                        tri_app_json_config(job->study->space, job->config));
    json_object_set_new(o, "ranks", json_integer(job->ranks));
    json_object_set_new(o, "nodes", json_integer(job->nodes));
    json_object_set_new(o, "ranks_per_node", json_integer(job->per_node));
    json_object_set_new(o, "text", tri_app_json_text(e->text));
    if (e->arguments) {
        json_object_set(o, "arguments", e->arguments);
    }
    if (e->settings) {
        json_object_set(o, "settings", e->settings);
    }
    json_object_set(o, "notes", e->notes);
    tri_app_json_print(o);
}

static void print_emitted(const tri_emitted *e)
{
    for (size_t i = 0; i < json_array_size(e->notes); i++) {
        TRI_LOG_JOB(TRI_LOG_INFO, "%s",
                    json_string_value(json_array_get(e->notes, i)));
    }
    fputs(e->text, stdout);
}

static tri_status emit_from(const best_options *o, const tri_ctl *ctl,
                            const tri_study *names)
{
    tri_emit_job job;
    tri_emitted e;

    TRI_TRY(tri_emit_job_on(ctl, names, (int)o->ranks, &job));
    TRI_TRY(tri_emit(&job, o->format, &e));
    if (o->common.json) {
        print_emitted_json(&job, o->format, &e);
    } else {
        print_emitted(&e);
    }
    tri_emitted_fini(&e);
    return TRI_OK;
}

static tri_status emit(const best_options *o, const tri_ctl *ctl)
{
    tri_study *study = NULL;
    tri_status st;

    if (o->study) {
        TRI_TRY(tri_app_study_with(o->study, NULL, o->common.file, &study));
    }
    st = emit_from(o, ctl, study ? study : tri_ctl_study(ctl));
    tri_study_destroy(study);
    return st;
}

static void print_answer(const best_options *o, const tri_ctl *ctl,
                         const tri_app_searched *searched)
{
    json_t *answer;
    char text[800];

    if (o->common.json) {
        answer = tri_app_answer_json(ctl, (int)o->top);
        json_object_set_new(answer, "search",
                            tri_app_searched_json(searched, ctl));
        tri_app_json_print(answer);
    } else {
        tri_app_answer_print(ctl, (int)o->top, stdout);
        tri_app_front_print(ctl, stdout);
        printf("search    %s\n",
               tri_app_searched_text(searched, ctl, text, sizeof text));
    }
}

/* The best on so many ranks, which the finals need not have met. */
static void print_on(const best_options *o, const tri_ctl *ctl)
{
    json_t *answer;
    json_t *top;

    if (!o->common.json) {
        tri_app_top_print(ctl, (int)o->ranks, (int)o->top, stdout);
        return;
    }
    answer = json_object();
    top = tri_app_top_json(ctl, (int)o->ranks, (int)o->top);
    json_object_set_new(answer, "ranks", json_integer(o->ranks));
    json_object_set(answer, "winner", json_array_get(top, 0));
    json_object_set_new(answer, "top", top);
    tri_app_json_print(answer);
}

/* That nothing is known of them is told with what is. */
static tri_status check_ranks(const best_options *o, const tri_ctl *ctl)
{
    tri_standing s;
    char counts[400];

    if (o->ranks == 0 || tri_ctl_top_on(ctl, (int)o->ranks, &s, 1) > 0) {
        return TRI_OK;
    }
    tri_app_front_counts(ctl, counts, sizeof counts);
    return TRI_FAIL(TRI_EEMPTY,
                    "study %s has no result on %" PRId64 " rank%s; there are "
                    "some on %s",
                    tri_ctl_study(ctl)->name, o->ranks,
                    o->ranks == 1 ? "" : "s", counts[0] ? counts : "none");
}

static tri_status answer(const best_options *o, const tri_ctl *ctl,
                         const tri_app_searched *searched)
{
    TRI_TRY(check_ranks(o, ctl));
    if (o->emits) {
        return emit(o, ctl);
    }
    if (o->study) {
        return TRI_FAIL(TRI_EINVAL, "--study goes with --emit");
    }
    if (o->ranks > 0) {
        print_on(o, ctl);
    } else {
        print_answer(o, ctl, searched);
    }
    return TRI_OK;
}

int tri_app_best(int argc, char **argv)
{
    best_options o = {.top = DEFAULT_TOP};
    tri_app_searched searched;
    tri_ctl *ctl = NULL;
    int status = tri_app_parse(&argp, argc, argv, &o.common, "FILE.h5");

    if (status >= 0) {
        return status;
    }
    if (tri_app_fold(o.common.file, &ctl, &searched) != TRI_OK) {
        return tri_app_fail();
    }
    status = answer(&o, ctl, &searched) == TRI_OK ? TRI_EXIT_DONE
                                                  : tri_app_fail();
    tri_ctl_destroy(ctl);
    return status;
}
