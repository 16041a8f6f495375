/*
 * trireme status: how a study stands, live, broken or ended.  Folds the
 * record; never writes, never locks.
 */
#include "src/app/app.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_RUNGS 256
/* A study whose journal has not grown for so long is not being run. */
#define STALE_S 120.0

typedef struct status_options {
    tri_app_common common;
    int watch;
} status_options;

enum {
    KEY_WATCH = 0x2001
};

static const struct argp_option options[] = {
        {"watch", KEY_WATCH, NULL, 0, "Again and again (not built yet)", 0},
        {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    status_options *o = state->input;

    if (key == KEY_WATCH) {
        o->watch = 1;
        return 0;
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

typedef struct standing {
    tri_ctl *ctl;
    tri_progress progress;
    tri_app_searched searched;
    int64_t ended[TRI_RUN_STOPPED + 1]; /* runs, finals included, by status */
    int epoch, live;
    double age_s;
    char fault[320]; /* that its last opening ended with; "" */
} standing;

static const char *state_of(const standing *s)
{
    if (s->progress.state == TRI_CTL_ENDED) {
        return s->progress.end_status == TRI_EXIT_INTERRUPTED ? "interrupted"
                                                              : "done";
    }
    if (!s->live || s->age_s > STALE_S) {
        return "broken";
    }
    switch (s->progress.state) {
    case TRI_CTL_FINALS:
        return "finals";
    case TRI_CTL_DRAINING:
        return "draining";
    default:
        return "search";
    }
}

/* An opening may end by a fault after its search did, where its tables found no
 * room: that is in FILE.h5.exit alone. */
static void find_fault(const char *file, standing *s)
{
    char path[4096];
    const char *reason = NULL;
    int status = 0;
    int epoch = 0;
    json_t *o;

    snprintf(path, sizeof path, "%s.exit", file);
    o = json_load_file(path, 0, NULL);
    if (o &&
        json_unpack(o, "{s:i, s:s, s:i}", "status", &status, "reason", &reason,
                    "epoch", &epoch) == 0 &&
        status == TRI_EXIT_FAULT && epoch == s->epoch) {
        snprintf(s->fault, sizeof s->fault, "%s", reason);
    }
    json_decref(o);
}

static void count_runs(standing *s)
{
    for (int64_t i = 0; i < tri_ctl_n_runs(s->ctl); i++) {
        tri_run_view v;

        tri_ctl_run(s->ctl, i, &v);
        if (v.state == TRI_RUN_ENDED) {
            s->ended[v.status]++;
        }
    }
}

static tri_status look(const char *path, standing *out)
{
    tri_history *history = NULL;
    tri_status st;

    TRI_TRY(tri_app_history(path, &history));
    out->epoch = tri_history_epoch(history);
    out->live = tri_history_is_live(history);
    out->age_s = tri_history_age_s(history);
    st = tri_app_fold_history(history, &out->ctl, &out->searched);
    tri_history_destroy(history);
    if (st == TRI_OK) {
        tri_ctl_progress(out->ctl, &out->progress);
        count_runs(out);
    }
    return st;
}

/* [out] the finals' winner once they are over, else the best result of the
 * search (trial -1: none); returns whether it comes from finals. */
static int find_best(const standing *s, tri_standing *out)
{
    const tri_progress *p = &s->progress;
    tri_answer a;

    tri_ctl_answer(s->ctl, &a);
    if (a.finals && p->state == TRI_CTL_ENDED) {
        *out = a.winner;
        return 1;
    }
    *out = (tri_standing){.trial = p->best_trial,
                          .objective = p->best,
                          .lo = p->best_lo,
                          .hi = p->best_hi};
    return 0;
}

static int is_in_flight(const tri_run_view *run, const tri_rung_view *rung)
{
    return run->state != TRI_RUN_ENDED && run->phase == TRI_PHASE_SEARCH &&
           run->bracket == rung->bracket && run->rung == rung->rung;
}

/* [out] rungs[MAX_RUNGS], where running are runs in flight: to the scheduler
 * those that wait for ranks, or for the next opening, are running too. */
static int list_rungs(const tri_ctl *ctl, tri_rung_view *rungs)
{
    int n = tri_sched_rungs(tri_ctl_sched(ctl), rungs, MAX_RUNGS);

    n = n < MAX_RUNGS ? n : MAX_RUNGS;
    for (int i = 0; i < n; i++) {
        rungs[i].running = 0;
    }
    for (int64_t r = 0; r < tri_ctl_n_runs(ctl); r++) {
        tri_run_view run;

        tri_ctl_run(ctl, r, &run);
        for (int i = 0; i < n; i++) {
            rungs[i].running += is_in_flight(&run, &rungs[i]);
        }
    }
    return n;
}

/* ---- JSON ------------------------------------------------------------ */

static json_t *best_json(const standing *s)
{
    tri_standing best;
    int finals = find_best(s, &best);
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

static json_t *rungs_json(const tri_ctl *ctl)
{
    tri_rung_view rungs[MAX_RUNGS];
    int n = list_rungs(ctl, rungs);
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

static void print_json(const standing *s)
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
    json_object_set_new(o, "state", json_string(state_of(s)));
    json_object_set_new(o, "epoch", json_integer(s->epoch));
    json_object_set_new(o, "age_s", tri_app_json_real(s->age_s));
    json_object_set_new(o, "time_s", tri_app_json_real(p->time_s));
    json_object_set_new(o, "trials", json_integer(p->trials));
    json_object_set_new(o, "runs", json_integer(p->runs));
    json_object_set_new(o, "finished",
                        json_integer(s->ended[TRI_RUN_FINISHED]));
    json_object_set_new(o, "running", json_integer(p->running));
    json_object_set_new(o, "failed", json_integer(p->failed));
    json_object_set_new(o, "parked", json_integer(p->parked));
    json_object_set_new(o, "repeated_steps", json_integer(p->repeated_steps));
    json_object_set_new(o, "search",
                        tri_app_searched_json(&s->searched, s->ctl));
    json_object_set_new(o, "best", best_json(s));
    json_object_set_new(o, "rungs", rungs_json(s->ctl));
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

static void print_rungs(const tri_ctl *ctl)
{
    tri_rung_view rungs[MAX_RUNGS];
    int n = list_rungs(ctl, rungs);
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

static void print_best(const standing *s)
{
    tri_standing best;
    int finals = find_best(s, &best);
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

static void print_text(const standing *s)
{
    const tri_progress *p = &s->progress;
    char search[800];
    char age[32];
    char time[32];

    printf("study     %s: %s, opening %d\n", tri_ctl_study(s->ctl)->name,
           state_of(s), s->epoch);
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
           tri_app_searched_text(&s->searched, s->ctl, search, sizeof search));
    printf("trials    %" PRId64 ", %" PRId64 " failed, %" PRId64 " parked\n",
           p->trials, p->failed, p->parked);
    printf("runs      %" PRId64 ": %" PRId64 " finished, %" PRId64
           " failed, %" PRId64 " lost or interrupted, %" PRId64
           " stopped, %" PRId64 " running\n",
           p->runs, s->ended[TRI_RUN_FINISHED], s->ended[TRI_RUN_FAILED],
           s->ended[TRI_RUN_LOST] + s->ended[TRI_RUN_INTERRUPTED],
           s->ended[TRI_RUN_STOPPED], p->running);
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
    print_rungs(s->ctl);
    tri_app_failures_print(s->ctl, stdout);
}

int tri_app_status(int argc, char **argv)
{
    status_options o = {.watch = 0};
    standing s = {.ctl = NULL};
    int status = tri_app_parse(&argp, argc, argv, &o.common, "FILE.h5");

    if (status >= 0) {
        return status;
    }
    if (o.watch) {
        TRI_FAIL(TRI_EUNBUILT, "status --watch is not built yet");
        return tri_app_fail();
    }
    if (look(o.common.file, &s) != TRI_OK) {
        return tri_app_fail();
    }
    find_fault(o.common.file, &s);
    if (o.common.json) {
        print_json(&s);
    } else {
        print_text(&s);
    }
    tri_ctl_destroy(s.ctl);
    return TRI_EXIT_DONE;
}
