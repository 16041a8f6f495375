/*
 * trireme status: how a study stands, live, broken or ended.  Folds the
 * record; never writes, never locks.
 */
#include "src/app/app.h"
#include "src/app/standing.h"
#include "src/app/watch.h"
#include "src/store/follow.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
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

/* ---- JSON ------------------------------------------------------------ */

static json_t *best_json(const tri_app_standing *s)
{
    tri_standing best;
    int finals = tri_app_standing_best(s, &best);
    tri_trial_view v;
    json_t *o;

    if (best.trial < 0) {
        return json_null();
    }
    tri_ctl_trial(s->ctl, best.trial, &v);
    o = json_object();
    json_object_set_new(o, "trial", json_integer(best.trial));
    json_object_set_new(o, "objective", tri_app_json_real(best.objective));
    json_object_set_new(o, "lo", tri_app_json_real(best.lo));
    json_object_set_new(o, "hi", tri_app_json_real(best.hi));
    json_object_set_new(o, "from", json_string(finals ? "finals" : "search"));
    json_object_set_new(
            o, "configuration",
            tri_app_json_config(tri_ctl_study(s->ctl)->space, v.config));
    return o;
}

static json_t *rungs_json(const tri_app_standing *s)
{
    tri_rung_view rungs[TRI_APP_RUNGS];
    int n = tri_app_standing_rungs(s, rungs, TRI_APP_RUNGS);
    json_t *a = json_array();

    for (int i = 0; i < n; i++) {
        json_t *o = json_object();

        json_object_set_new(o, "bracket", json_integer(rungs[i].bracket));
        json_object_set_new(o, "rung", json_integer(rungs[i].rung));
        json_object_set_new(o, "resource", json_integer(rungs[i].resource));
        json_object_set_new(o, "results", json_integer(rungs[i].results));
        json_object_set_new(o, "promoted", json_integer(rungs[i].promoted));
        json_object_set_new(o, "running", json_integer(rungs[i].running));
        json_array_append_new(a, o);
    }
    return a;
}

static void print_json(const tri_app_standing *s)
{
    const tri_progress *p = &s->progress;
    json_t *o = json_object();
    json_t *ranks = json_object();

    json_object_set_new(ranks, "total", json_integer(p->ranks_total));
    json_object_set_new(ranks, "busy", json_integer(p->ranks_busy));
    json_object_set_new(ranks, "struck", json_integer(p->ranks_struck));
    json_object_set_new(ranks, "lost", json_integer(p->ranks_lost));
    json_object_set_new(ranks, "benched", json_integer(p->ranks_benched));
    json_object_set_new(o, "study",
                        tri_app_json_text(tri_ctl_study(s->ctl)->name));
    json_object_set_new(o, "state", json_string(tri_app_standing_state(s)));
    json_object_set_new(o, "epoch", json_integer(s->epoch));
    json_object_set_new(o, "age_s", tri_app_json_real(s->age_s));
    json_object_set_new(o, "time_s", tri_app_json_real(p->time_s));
    json_object_set_new(o, "trials", json_integer(p->trials));
    json_object_set_new(o, "runs", json_integer(p->runs));
    json_object_set_new(o, "finished",
                        json_integer(s->tally->ended[TRI_RUN_FINISHED]));
    json_object_set_new(o, "running", json_integer(p->running));
    json_object_set_new(o, "failed", json_integer(p->failed));
    json_object_set_new(o, "parked", json_integer(p->parked));
    json_object_set_new(o, "repeated_steps", json_integer(p->repeated_steps));
    json_object_set_new(o, "search",
                        tri_app_searched_json(s->searched, s->ctl));
    json_object_set_new(o, "best", best_json(s));
    json_object_set_new(o, "rungs", rungs_json(s));
    json_object_set_new(o, "ranks", ranks);
    json_object_set_new(o, "failures", tri_app_failures_json(p));
    json_object_set_new(
            o, "deadline_s",
            tri_app_json_real(p->state == TRI_CTL_ENDED ? NAN : p->deadline_s));
    json_object_set_new(o, "fault",
                        s->fault[0] ? tri_app_json_text(s->fault)
                                    : json_null());
    json_object_set_new(o, "why",
                        p->state == TRI_CTL_ENDED
                                ? tri_app_json_text(p->end_why)
                                : json_null());
    tri_app_json_print(o);
}

/* ---- for people ------------------------------------------------------ */

static void print_rungs(const tri_app_standing *s)
{
    tri_rung_view rungs[TRI_APP_RUNGS];
    int n = tri_app_standing_rungs(s, rungs, TRI_APP_RUNGS);
    tri_app_table *t = tri_app_table_create("rrrrrr");
    static const char *const heads[] = {"bracket", "rung",     "resource",
                                        "results", "promoted", "running"};

    for (int i = 0; t && i < 6; i++) {
        tri_app_table_cell(t, heads[i]);
    }
    for (int i = 0; t && i < n; i++) {
        tri_app_table_int(t, rungs[i].bracket);
        tri_app_table_int(t, rungs[i].rung);
        tri_app_table_int(t, rungs[i].resource);
        tri_app_table_int(t, rungs[i].results);
        tri_app_table_int(t, rungs[i].promoted);
        tri_app_table_int(t, rungs[i].running);
    }
    if (t && n > 0) {
        tri_app_table_print(t, stdout);
    }
    tri_app_table_destroy(t);
}

static void print_best(const tri_app_standing *s)
{
    tri_standing best;
    int finals = tri_app_standing_best(s, &best);
    char value[160];
    char config[1024];

    if (best.trial < 0) {
        puts("best      none yet");
        return;
    }
    tri_app_objective(tri_ctl_study(s->ctl), best.objective, best.lo, best.hi,
                      value, sizeof value);
    printf("best      trial %" PRId64 ": %s (%s)\n          %s\n", best.trial,
           value, finals ? "winner of the finals" : "best result of the search",
           tri_app_config_brief(s->ctl, best.trial, config, sizeof config));
}

static void print_text(const tri_app_standing *s)
{
    const tri_progress *p = &s->progress;
    char search[800];
    char age[32];
    char time[32];

    printf("study     %s: %s, opening %d\n", tri_ctl_study(s->ctl)->name,
           tri_app_standing_state(s), s->epoch);
    if (p->state == TRI_CTL_ENDED && p->end_why && p->end_why[0]) {
        printf("end       %s\n", p->end_why);
    }
    if (s->fault[0]) {
        printf("fault     %s; tune --resume goes on\n", s->fault);
    }
    printf("time      %s of study time, last change %s ago\n",
           tri_app_duration(p->time_s, time, sizeof time),
           tri_app_duration(s->age_s, age, sizeof age));
    printf("search    %s\n",
           tri_app_searched_text(s->searched, s->ctl, search, sizeof search));
    printf("trials    %" PRId64 ", %" PRId64 " failed, %" PRId64 " parked\n",
           p->trials, p->failed, p->parked);
    printf("runs      %" PRId64 ": %" PRId64 " finished, %" PRId64
           " failed, %" PRId64 " lost or interrupted, %" PRId64
           " stopped, %" PRId64 " running\n",
           p->runs, s->tally->ended[TRI_RUN_FINISHED],
           s->tally->ended[TRI_RUN_FAILED],
           s->tally->ended[TRI_RUN_LOST] + s->tally->ended[TRI_RUN_INTERRUPTED],
           s->tally->ended[TRI_RUN_STOPPED], p->running);
    if (p->repeated_steps > 0) {
        printf("waste     %" PRId64 " steps done again after interruptions and "
               "losses\n",
               p->repeated_steps);
    }
    printf("ranks     %d busy of %d, %d struck, %d lost", p->ranks_busy,
           p->ranks_total, p->ranks_struck, p->ranks_lost);
    if (p->ranks_benched > 0) {
        printf(", %d slow and benched", p->ranks_benched);
    }
    printf("\n");
    print_best(s);
    print_rungs(s);
    tri_app_failures_print(s->ctl, stdout);
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
        print_json(s);
    } else {
        print_text(s);
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

    TRI_TRY(look(f, &s)); /* what is no study is said before the screen is */
    return tri_watch_screen(&source,
                            isnan(o->interval_s) ? SCREEN_S : o->interval_s);
}

static tri_status show(const status_options *o, following *f)
{
    tri_app_standing s;

    if (o->watches && !o->common.json && tri_watch_has_screen()) {
        return watch_screen(o, f);
    }
    if (o->watches && (isfinite(o->interval_s) || isatty(STDOUT_FILENO))) {
        return watch_text(o, f);
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
