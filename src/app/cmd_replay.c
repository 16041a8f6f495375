/*
 * trireme replay: feed a record to a fresh controller and compare the digest
 * of every decision; or what if it had been set otherwise.
 */
#include "src/app/app.h"
#include "src/app/thinker.h"
#include "src/app/what_if.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#define DEFAULT_REPEATS 5

typedef struct replay_options {
    tri_app_common common;
    int refit;
    tri_what_if what_if; /* n 0: not asked */
} replay_options;

enum {
    KEY_REFIT = 0x2001,
    KEY_WITH,
    KEY_REPEATS
};

static const struct argp_option options[] = {
        {"refit", KEY_REFIT, NULL, 0,
         "Think again, and say how much of it is proposed again", 0},
        {"with", KEY_WITH, "SETTINGS", 0,
         "What if: scheduler=sha,eta=2,search=random,seed=7,workers=64; "
         "may be repeated",
         0},
        {"repeats", KEY_REPEATS, "N", 0,
         "With --with: seeds of each, whose medians are shown (5)", 0},
        {0}};

static error_t add_with(tri_what_if *w, const char *arg)
{
    if (w->n == TRI_WHAT_IF_MOST) {
        TRI_FAIL(TRI_EINVAL, "--with is given more than %d times",
                 TRI_WHAT_IF_MOST);
        return EINVAL;
    }
    w->with[w->n++] = arg;
    return 0;
}

static error_t parse_repeats(const char *arg, int *out)
{
    int64_t n;
    error_t e = tri_app_int("repeats", arg, 1, 1000, &n);

    *out = e ? *out : (int)n;
    return e;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    replay_options *o = state->input;

    switch (key) {
    case KEY_REFIT:
        o->refit = 1;
        return 0;
    case KEY_WITH:
        return add_with(&o->what_if, arg);
    case KEY_REPEATS:
        return parse_repeats(arg, &o->what_if.repeats);
    default:
        return tri_app_parse_other(key, arg, state);
    }
}

static const struct argp argp = {
        options,
        parse,
        "FILE.h5",
        "Verify a record: replay its events and compare every decision; or "
        "search again, in the simulator, on what it measured, with other "
        "settings.",
        tri_app_common_child,
        NULL,
        NULL};

/* [out] *damaged: not all that was recorded could be read. */
static tri_status replay(const replay_options *o, tri_replay *out,
                         tri_app_refit *refit, int *damaged)
{
    tri_history *history = NULL;
    tri_ctl *ctl = NULL;
    tri_status st;

    TRI_TRY(tri_app_history(o->common.file, &history));
    *damaged = tri_history_damage(history) != NULL;
    if (o->refit) {
        st = tri_app_refit_history(history, out, refit);
    } else {
        st = tri_history_replay(history, &ctl, out);
    }
    tri_ctl_destroy(ctl);
    tri_history_destroy(history);
    return st;
}

/* The share of what was recorded; NaN if nothing was. */
static double share_of(const tri_app_refit *f)
{
    return f->proposals ? (double)f->same / (double)f->proposals : NAN;
}

static json_t *refit_json(const tri_app_refit *f)
{
    json_t *o = json_object();

    json_object_set_new(o, "questions", json_integer(f->questions));
    json_object_set_new(o, "proposals", json_integer(f->proposals));
    json_object_set_new(o, "same", json_integer(f->same));
    json_object_set_new(o, "share", tri_app_json_real(share_of(f)));
    json_object_set_new(o, "tau", tri_app_json_real(f->tau));
    return o;
}

static void print_json(const tri_replay *r, const tri_app_refit *refit)
{
    json_t *o = json_object();

    json_object_set_new(o, "events", json_integer(r->events));
    json_object_set_new(o, "commands", json_integer(r->commands));
    json_object_set_new(o, "mismatches", json_integer(r->mismatches));
    json_object_set_new(o, "first_mismatch",
                        r->first_mismatch < 0
                                ? json_null()
                                : json_integer(r->first_mismatch));
    if (refit) {
        json_object_set_new(o, "refit", refit_json(refit));
    }
    tri_app_json_print(o);
}

static void print_refit(const tri_app_refit *f)
{
    if (f->questions == 0) {
        puts("no question to a thinker is on record");
        return;
    }
    printf("thought again about %" PRId64 " questions: %" PRId64 " of %" PRId64
           " proposals (each answer brings a batch, of which few are run) are "
           "the same",
           f->questions, f->same, f->proposals);
    if (isnan(f->tau)) {
        puts("");
    } else {
        printf(", their predictions in the same order to %.3f (Kendall)\n",
               f->tau);
    }
}

static void print_text(const tri_replay *r, const tri_app_refit *refit)
{
    printf("%" PRId64 " events, %" PRId64 " commands: ", r->events,
           r->commands);
    if (r->mismatches == 0) {
        puts("every decision is the same");
    } else {
        printf("%" PRId64 " differ, the first at event %" PRId64 "\n",
               r->mismatches, r->first_mismatch);
    }
    if (refit) {
        print_refit(refit);
    }
}

static int what_if(replay_options *o)
{
    if (o->refit) {
        TRI_FAIL(TRI_EINVAL, "--refit and --with are two questions");
        return tri_app_fail();
    }
    o->what_if.file = o->common.file;
    o->what_if.json = o->common.json;
    return tri_app_what_if(&o->what_if) == TRI_OK ? TRI_EXIT_DONE
                                                  : tri_app_fail();
}

int tri_app_replay(int argc, char **argv)
{
    replay_options o = {.what_if = {.repeats = DEFAULT_REPEATS}};
    tri_replay r = {0, 0, 0, -1};
    tri_app_refit refit = {0};
    int damaged = 0;
    int status = tri_app_parse(&argp, argc, argv, &o.common, "FILE.h5");

    if (status >= 0) {
        return status;
    }
    if (o.what_if.n > 0) {
        return what_if(&o);
    }
    if (replay(&o, &r, &refit, &damaged) != TRI_OK) {
        return tri_app_fail();
    }
    if (o.common.json) {
        print_json(&r, o.refit ? &refit : NULL);
    } else {
        print_text(&r, o.refit ? &refit : NULL);
    }
    return r.mismatches || damaged ? TRI_EXIT_FAULT : TRI_EXIT_DONE;
}
