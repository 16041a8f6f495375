/*
 * trireme status: how a study stands, live, broken or ended.  Folds the
 * record; never writes, never locks.
 */
#include "src/app/app.h"
#include "src/app/standing.h"
#include "src/app/summary.h"
#include "src/app/watch.h"
#include "src/store/follow.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How often a watched study is looked at: pages, and text. */
#define SCREEN_S 1.0
#define TEXT_S   10.0

typedef struct status_options {
    tri_app_common common;
    int watches;
    double interval_s; /* NaN: not given */
} status_options;

enum {
    KEY_WATCH = 0x2001
};

static const struct argp_option options[] = {
        {"watch", KEY_WATCH, "T", OPTION_ARG_OPTIONAL,
         "Full screen, looking every T (1 s) until q is pressed; where there "
         "is no terminal once, or with T again and again until the study ends",
         0},
        {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    status_options *o = state->input;

    if (key == KEY_WATCH) {
        o->watches = 1;
        o->interval_s = NAN;
        return arg ? tri_app_seconds("watch", arg, &o->interval_s) : 0;
    }
    return tri_app_parse_other(key, arg, state);
}

static const struct argp argp = {
        options,
        parse,
        "FILE.h5",
        "How a study stands: trials, rungs, ranks, failures.",
        tri_app_common_child,
        NULL,
        NULL};

/* ---- following ------------------------------------------------------- */

/* A study that is followed, and what is noted of it. */
typedef struct following {
    const char *file;
    tri_follow *follow;
    tri_tally tally;
    tri_app_searched searched;
    char damage[320]; /* that was warned of */
} following;

/* Of a tri_follower. */
static void restart(void *ctx)
{
    following *f = ctx;

    tri_tally_fini(&f->tally);
    f->searched = (tri_app_searched){.answers = 0};
}

static tri_status note(void *ctx, const tri_event *event,
                       const tri_commands *commands, const tri_entry *entry,
                       tri_ctl *ctl)
{
    following *f = ctx;

    (void)commands;
    (void)entry;
    if (event->kind == TRI_EV_PROPOSALS) {
        tri_app_searched_note(&f->searched, &event->u.proposals);
    }
    return tri_tally_note(&f->tally, ctl);
}

static tri_status follow(following *f, const char *file)
{
    tri_follower follower = {f, restart, note};

    *f = (following){.file = file};
    tri_tally_init(&f->tally);
    return tri_follow_create(file, &follower, &f->follow);
}

static void unfollow(following *f)
{
    tri_follow_destroy(f->follow);
    tri_tally_fini(&f->tally);
}

/* Of a tri_watch_source: also where it fails, *out is what is known. */
static tri_status look(void *ctx, tri_app_standing *out)
{
    following *f = ctx;
    tri_status st = tri_follow_look(f->follow);
    tri_followed state;

    if (st != TRI_OK) {
        tri_error_place(f->file, 0, 0);
    }
    tri_follow_state(f->follow, &state);
    *out = (tri_app_standing){.ctl = tri_follow_ctl(f->follow),
                              .tally = &f->tally,
                              .searched = &f->searched,
                              .epoch = state.epoch,
                              .is_live = state.is_live,
                              .age_s = state.age_s};
    if (out->ctl) {
        tri_ctl_progress(out->ctl, &out->progress);
        tri_app_standing_find_fault(out, f->file);
    }
    return st;
}

static void warn_of_damage(following *f)
{
    tri_followed state;

    tri_follow_state(f->follow, &state);
    if (state.damage[0] && strcmp(state.damage, f->damage) != 0) {
        fprintf(stderr, "trireme: warning: %s\n", state.damage);
        memcpy(f->damage, state.damage, sizeof f->damage);
    }
}

/* ---- watching -------------------------------------------------------- */

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
    stopped = sig;
}

static void print_standing(const status_options *o, const tri_app_standing *s)
{
    if (o->common.json) {
        tri_app_json_print(tri_app_standing_json(s));
    } else {
        tri_app_standing_print(s, stdout);
    }
    fflush(stdout);
}

static void pause_for(double s)
{
    struct timespec t = {.tv_sec = (time_t)s,
                         .tv_nsec = (long)(1e9 * (s - floor(s)))};

    nanosleep(&t, NULL); /* a signal ends it */
}

/* Print how it stands, again and again until it ends. */
static tri_status watch_text(const status_options *o, following *f)
{
    struct sigaction act = {.sa_handler = stop};
    double interval = isnan(o->interval_s) ? TEXT_S : o->interval_s;
    tri_app_standing s;
    int first = 1;

    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    do {
        TRI_TRY(look(f, &s));
        warn_of_damage(f);
        if (!first && !o->common.json) {
            putchar('\n');
        }
        print_standing(o, &s);
        first = 0;
        if (s.progress.state != TRI_CTL_ENDED && !ferror(stdout)) {
            pause_for(interval);
        }
    } while (!stopped && !ferror(stdout) && s.progress.state != TRI_CTL_ENDED);
    return TRI_OK;
}

static tri_status watch_screen(const status_options *o, following *f)
{
    tri_watch_source source = {look, f};
    tri_app_standing s;
    tri_summary summary;

    if (tri_summary_read(f->file, &summary) == TRI_OK) {
        free(summary.text);
        TRI_LOG_JOB(TRI_LOG_INFO, "reading the journal of %s, which is long",
                    f->file);
    }
    TRI_TRY(look(f, &s)); /* what is no study is said before the screen is */
    return tri_watch_screen(&source,
                            isnan(o->interval_s) ? SCREEN_S : o->interval_s);
}

/* What the writer of a long journal says of it, while it is being written:
 * folding it would take longer than somebody should wait. */
static int print_summary(const status_options *o)
{
    tri_summary summary;
    int printed = 0;

    if (tri_summary_read(o->common.file, &summary) != TRI_OK) {
        return 0;
    }
    if (summary.age_s <= TRI_APP_STALE_S) {
        printed = tri_app_summary_print(&summary, o->common.file,
                                        o->common.json, stdout) == TRI_OK;
    }
    free(summary.text);
    return printed;
}

static tri_status show(const status_options *o, following *f)
{
    const char *lacks = tri_watch_lacks();
    tri_app_standing s;

    if (o->watches && !o->common.json && !lacks) {
        tri_status st = watch_screen(o, f);

        if (st != TRI_EUNBUILT) {
            return st;
        }
        lacks = tri_error_last()->sentence;
    }
    if (o->watches && (isfinite(o->interval_s) || isatty(STDOUT_FILENO))) {
        if (!o->common.json && isatty(STDOUT_FILENO)) {
            TRI_LOG_JOB(TRI_LOG_INFO, "plain text, as %s", lacks);
        }
        return watch_text(o, f);
    }
    if (print_summary(o)) {
        return TRI_OK;
    }
    TRI_TRY(look(f, &s));
    warn_of_damage(f);
    print_standing(o, &s);
    return TRI_OK;
}

int tri_app_status(int argc, char **argv)
{
    status_options o = {.interval_s = NAN};
    following f;
    tri_status st;
    int status = tri_app_parse(&argp, argc, argv, &o.common, "FILE.h5");

    if (status >= 0) {
        return status;
    }
    if (follow(&f, o.common.file) != TRI_OK) {
        return tri_app_fail();
    }
    st = show(&o, &f);
    unfollow(&f);
    return st == TRI_OK ? TRI_EXIT_DONE : tri_app_fail();
}
