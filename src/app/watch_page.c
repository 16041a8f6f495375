/*
 * The frame of a page, and the overview: all that matters within 80 by 24.
 */
#include "src/app/watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From here on it is said that nothing was written, in seconds. */
#define QUIET_S 10.0
#define LABEL   10 /* where the text of a line begins */
#define LEAST   3  /* rows of results that are kept free */
#define CELL    26 /* columns of a host */
#define BAR     24
#define SIGNS   12 /* ranks of a host that are shown one by one */

/* ---- the frame ------------------------------------------------------- */

/* What of a study's name fits. */
static void draw_title(const tri_app_standing *s, tri_canvas *c)
{
    char right[64];
    char age[32];
    int end;

    if (s->ctl && tri_app_standing_is_run(s) && s->age_s <= QUIET_S) {
        snprintf(right, sizeof right, "changed %s ago ",
                 tri_app_duration(s->age_s, age, sizeof age));
    } else if (s->ctl && s->progress.state != TRI_CTL_ENDED) {
        snprintf(right, sizeof right, "no update for %s ",
                 tri_app_duration(s->age_s, age, sizeof age));
    } else {
        snprintf(right, sizeof right, "%s",
                 s->ctl ? "" : "waiting for a study ");
    }
    end = s->ctl ? tri_canvas_print(c, 0, 1, TRI_STYLE_BOLD,
                                    "%s: %s, opening %d",
                                    tri_ctl_study(s->ctl)->name,
                                    tri_app_standing_state(s), s->epoch)
                 : tri_canvas_text(c, 0, 1, TRI_STYLE_BOLD, "trireme status");
    if (end + 1 < c->columns - (int)strlen(right) || s->age_s > QUIET_S) {
        tri_canvas_right(c, 0, c->columns, TRI_STYLE_BOLD, right);
    }
    tri_canvas_paint(c, 0, TRI_STYLE_TITLE);
}

static void draw_keys(const tri_watch *w, tri_canvas *c)
{
    static const char *const names[] = {"overview", "rungs",   "ranks",
                                        "running",  "results", "failures"};
    int row = c->rows - 1;
    int at = 0;
    int narrow = c->columns < 76;
    int ends[TRI_WATCH_PAGES];

    for (int i = 0; i < TRI_WATCH_PAGES; i++) {
        at = tri_canvas_print(c, row, at, TRI_STYLE_PLAIN,
                              narrow && i != (int)w->page ? " %d " : " %d %s ",
                              i + 1, names[i]);
        ends[i] = at;
    }
    tri_canvas_right(c, row, c->columns, TRI_STYLE_PLAIN, "q quit ");
    tri_canvas_paint(c, row, TRI_STYLE_TITLE);
    for (int i = w->page > 0 ? ends[w->page - 1] : 0;
         i < ends[w->page] && i < c->columns; i++) {
        c->cells[(size_t)row * (size_t)c->columns + (size_t)i].style =
                TRI_STYLE_CHOSEN;
    }
}

/* ---- the overview ---------------------------------------------------- */

typedef struct overview {
    const tri_app_standing *s;
    tri_canvas *c;
    int row;
} overview;

static int label(overview *o, const char *text)
{
    tri_canvas_text(o->c, o->row, 1, TRI_STYLE_DIM, text);
    return LABEL;
}

static void gap(overview *o)
{
    o->row += o->c->rows >= 24;
}

static void draw_trouble(overview *o, const char *notice)
{
    const tri_progress *p = &o->s->progress;

    if (notice) {
        label(o, "notice");
        tri_canvas_text(o->c, o->row++, LABEL, TRI_STYLE_BAD, notice);
    }
    if (o->s->fault[0]) {
        label(o, "fault");
        tri_canvas_print(o->c, o->row++, LABEL, TRI_STYLE_BAD,
                         "%s; tune --resume goes on", o->s->fault);
    }
    if (p->state == TRI_CTL_ENDED && p->end_why && p->end_why[0]) {
        label(o, "end");
        tri_canvas_text(o->c, o->row++, LABEL,
                        p->end_status ? TRI_STYLE_WARN : TRI_STYLE_GOOD,
                        p->end_why);
    } else if (!tri_app_standing_is_run(o->s)) {
        label(o, "broken");
        tri_canvas_text(o->c, o->row++, LABEL, TRI_STYLE_BAD,
                        "nobody seems to run it; tune --resume goes on");
    }
}

static void draw_best(overview *o)
{
    const tri_study *study = tri_ctl_study(o->s->ctl);
    tri_standing best;
    tri_answer a;
    char text[1024];
    int finals = tri_app_standing_best(o->s, &best);
    int at = label(o, "best");

    if (best.trial < 0) {
        tri_canvas_text(o->c, o->row++, at, TRI_STYLE_PLAIN, "none yet");
        return;
    }
    tri_app_objective(study, best.objective, best.lo, best.hi, text,
                      sizeof text);
    at = tri_canvas_text(o->c, o->row, at, TRI_STYLE_GOOD, text);
    at = tri_canvas_print(o->c, o->row, at, TRI_STYLE_PLAIN,
                          "  trial %" PRId64 ", %d rank%s%s", best.trial,
                          best.ranks, best.ranks == 1 ? "" : "s",
                          finals ? ", finals" : "");
    tri_ctl_answer(o->s->ctl, &a);
    if (finals && isfinite(a.speedup)) {
        tri_canvas_print(o->c, o->row, at, TRI_STYLE_PLAIN,
                         a.significant ? ", %.4g x baseline"
                                       : ", not significant (%.4g)",
                         a.speedup);
    }
    tri_canvas_text(
            o->c, o->row + 1, LABEL, TRI_STYLE_PLAIN,
            tri_app_config_brief(o->s->ctl, best.trial, text, sizeof text));
    o->row += 2;
}

/* From the first result to the best, over the runs that ended. */
static void draw_history(overview *o)
{
    const tri_tally *t = o->s->tally;
    int width = o->c->columns - LABEL - 26;
    double values[256];
    char from[32];
    char to[32];
    int at = label(o, "history");

    width = width > 256 ? 256 : width;
    if (t->n_best == 0 || width < 4) {
        tri_canvas_text(o->c, o->row++, at, TRI_STYLE_DIM, "no result yet");
        return;
    }
    tri_tally_history(t, values, width);
    at = tri_canvas_spark(o->c, o->row, at, values, width, TRI_STYLE_CHART);
    tri_canvas_print(
            o->c, o->row++, at + 1, TRI_STYLE_PLAIN, "%s to %s",
            tri_app_number(t->best[0].objective, from, sizeof from),
            tri_app_number(t->best[t->n_best - 1].objective, to, sizeof to));
}

/* "trials 31 of 200 [bar]" of what is counted. */
static void draw_share(overview *o, const char *name, int64_t done,
                       int64_t limit)
{
    int at = label(o, name);

    at = tri_canvas_bar(o->c, o->row, at, BAR,
                        limit > 0 ? (double)done / (double)limit : 1,
                        TRI_STYLE_CHART);
    tri_canvas_print(o->c, o->row++, at + 1, TRI_STYLE_PLAIN,
                     "%" PRId64 " of %" PRId64, done, limit);
}

static void draw_time(overview *o)
{
    const tri_study *study = tri_ctl_study(o->s->ctl);
    double now = tri_app_standing_now(o->s);
    double left = tri_app_standing_left(o->s);
    double limit = isfinite(left)             ? now + left
                   : study->budget.time_s > 0 ? study->budget.time_s
                                              : NAN;
    char text[32];
    int at = label(o, "time");

    if (isfinite(limit) && o->s->progress.state != TRI_CTL_ENDED) {
        at = 1 + tri_canvas_bar(o->c, o->row, at, BAR, now / limit,
                                TRI_STYLE_CHART);
    }
    at = tri_canvas_text(o->c, o->row, at, TRI_STYLE_PLAIN,
                         tri_app_duration(now, text, sizeof text));
    if (isfinite(left)) {
        tri_canvas_print(o->c, o->row, at, TRI_STYLE_PLAIN, ", %s left%s",
                         tri_app_duration(left, text, sizeof text),
                         o->s->progress.state == TRI_CTL_SEARCH &&
                                         study->finals.top > 0
                                 ? " for the search"
                                 : "");
    }
    o->row++;
}

static void draw_budget(overview *o)
{
    const tri_study *study = tri_ctl_study(o->s->ctl);
    const tri_progress *p = &o->s->progress;

    if (p->state == TRI_CTL_FINALS) {
        draw_share(o, "finals", p->finals_done, p->finals_total);
    } else if (study->budget.trials != TRI_UNLIMITED) {
        draw_share(o, "trials", p->trials, study->budget.trials);
    } else if (study->budget.runs != TRI_UNLIMITED) {
        draw_share(o, "runs", p->finished, study->budget.runs);
    }
    draw_time(o);
}

/* Runs a minute, to be read. */
static char *rate(double v, char *buf, size_t bytes)
{
    snprintf(buf, bytes, v < 10 ? "%.2g" : "%.0f", v);
    return isfinite(v) ? buf : strcpy(buf, "-");
}

static void draw_rate(overview *o)
{
    const tri_progress *p = &o->s->progress;
    double now = tri_app_standing_now(o->s);
    char text[32];
    int at = label(o, "runs");

    tri_canvas_print(o->c, o->row, at, TRI_STYLE_PLAIN,
                     "%" PRId64 " of %" PRId64 " trials: %" PRId64
                     " finished, %" PRId64 " running, %s a minute",
                     p->runs, p->trials, o->s->tally->ended[TRI_RUN_FINISHED],
                     p->running,
                     rate(tri_tally_rate(o->s->tally, o->s->ctl, now), text,
                          sizeof text));
    o->row++;
    if (p->head >= 0) {
        tri_trial_view v;

        tri_ctl_trial(o->s->ctl, p->head, &v);
        at = label(o, "queue");
        tri_canvas_print(
                o->c, o->row++, at, TRI_STYLE_WARN,
                "trial %" PRId64 " waits for %d ranks since %s, "
                "%" PRId64 " behind it",
                p->head, v.ranks,
                tri_app_duration(now - p->head_since_s, text, sizeof text),
                p->queued);
    }
}

static void draw_failures(overview *o)
{
    const tri_progress *p = &o->s->progress;
    int at = label(o, "failed");
    int any = 0;

    for (int r = 1; r < TRI_REASON_COUNT; r++) {
        if (p->failures[r] > 0) {
            at = tri_canvas_print(o->c, o->row, at, TRI_STYLE_BAD,
                                  "%s%s %" PRId64, any ? ", " : "",
                                  tri_reason_name((tri_reason)r),
                                  p->failures[r]);
            any = 1;
        }
    }
    if (!any) {
        tri_canvas_text(o->c, o->row, at, TRI_STYLE_PLAIN, "none");
    }
    o->row++;
}

static void draw_ranks(overview *o, int room)
{
    const tri_progress *p = &o->s->progress;
    int up = p->ranks_total - p->ranks_struck - p->ranks_lost;
    double share = tri_tally_busy(o->s->tally, tri_app_standing_now(o->s));
    int n = 0;
    tri_watch_host *hosts = tri_watch_hosts(o->s->ctl, &n);
    int across = (o->c->columns - LABEL) / CELL;
    int at = label(o, "ranks");

    at = tri_canvas_print(o->c, o->row, at, TRI_STYLE_PLAIN,
                          "%d busy, %d idle, ", p->ranks_busy,
                          up - p->ranks_busy - p->ranks_benched);
    at = tri_canvas_print(o->c, o->row, at,
                          up < p->ranks_total ? TRI_STYLE_BAD : TRI_STYLE_PLAIN,
                          "%d down", p->ranks_total - up);
    at = tri_canvas_print(o->c, o->row, at,
                          p->ranks_benched ? TRI_STYLE_WARN : TRI_STYLE_PLAIN,
                          ", %d benched", p->ranks_benched);
    at = tri_canvas_print(o->c, o->row, at, TRI_STYLE_PLAIN, " of %d",
                          p->ranks_total);
    if (isfinite(share)) {
        tri_canvas_print(o->c, o->row, at, TRI_STYLE_PLAIN,
                         "; busy %.0f %% of the time so far", 100 * share);
    }
    o->row++;
    across = across > 0 ? across : 1;
    for (int i = 0; i < n && i / across < room; i++) {
        int column = LABEL + i % across * CELL;
        int last = i / across == room - 1 && i % across == across - 1;

        if (last && n > i + 1) {
            tri_canvas_print(o->c, o->row + i / across, column, TRI_STYLE_DIM,
                             "%d more: press 3", n - i);
            break;
        }
        tri_canvas_print(o->c, o->row + i / across, column, TRI_STYLE_PLAIN,
                         "%.*s", CELL - SIGNS - 2, hosts[i].name);
        tri_watch_host_ranks(o->s->ctl, &hosts[i], o->c, o->row + i / across,
                             column + CELL - SIGNS - 1, SIGNS);
    }
    n = (n + across - 1) / across;
    o->row += n < room ? n : room;
    free(hosts);
}

static void draw_overview(overview *o, const tri_watch *w)
{
    tri_rung_view rungs[TRI_APP_RUNGS];
    int n = tri_app_standing_rungs(o->s, rungs, TRI_APP_RUNGS);
    int end = o->c->rows - 1;
    int free_rows;

    draw_trouble(o, w->notice);
    draw_best(o);
    draw_history(o);
    gap(o);
    draw_budget(o);
    draw_rate(o);
    draw_failures(o);
    /* ranks, and headings of rungs and results */
    free_rows = end - o->row - 3 - 2 * (o->c->rows >= 24) - LEAST;
    free_rows = free_rows > 0 ? free_rows : 0;
    n = n < free_rows ? n : free_rows;
    draw_ranks(o, o->c->rows >= 30 ? 4 : free_rows - n > 0 ? free_rows - n : 1);
    gap(o);
    if (n > 0) {
        n = n < end - o->row - 2 - LEAST ? n : end - o->row - 2 - LEAST;
        tri_watch_rungs(o->s, o->c, o->row, n + 1, 0);
        o->row += n + 1;
        gap(o);
    }
    tri_watch_results(o->s, o->c, o->row, end - o->row, 0);
}

void tri_watch_draw(tri_watch *w, const tri_app_standing *s, tri_canvas *c)
{
    overview o = {s, c, 1};

    if (!s->ctl) {
        draw_trouble(&o, w->notice);
    } else if (w->page == TRI_WATCH_OVERVIEW) {
        draw_overview(&o, w);
    } else {
        tri_watch_draw_list(w, s, c);
    }
    draw_title(s, c);
    draw_keys(w, c);
}
