/*
 * The pages that are lists, longer than the screen maybe: rungs, ranks by
 * host, runs under way, runs that ended, failures.
 */
#include "src/app/watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rungs ----------------------------------------------------------- */

static const char *const rung_heads =
        "bracket  rung      resource   results  promoted   running";

static void draw_rung(const tri_app_standing *s, tri_canvas *c, int row,
                      const tri_rung_view *r, int64_t most)
{
    char amount[40];
    int width = c->columns - 62;
    int at;

    tri_app_amount(tri_ctl_study(s->ctl), r->resource, amount, sizeof amount);
    at = tri_canvas_print(
            c, row, 1, r->running ? TRI_STYLE_BOLD : TRI_STYLE_PLAIN,
            "%7d %5d %13s %9" PRId64 " %9" PRId64 " %9" PRId64, r->bracket,
            r->rung, amount, r->results, r->promoted, r->running);
    if (width >= 4 && most > 0) {
        tri_canvas_bar(c, row, at + 2, width < 24 ? width : 24,
                       (double)r->results / (double)most, TRI_STYLE_CHART);
    }
}

static int64_t most_results(const tri_rung_view *rungs, int n)
{
    int64_t most = 0;

    for (int i = 0; i < n; i++) {
        most = rungs[i].results > most ? rungs[i].results : most;
    }
    return most;
}

void tri_watch_rungs(const tri_app_standing *s, tri_canvas *c, int row,
                     int room, int first)
{
    tri_rung_view rungs[TRI_APP_RUNGS];
    int n = tri_app_standing_rungs(s, rungs, TRI_APP_RUNGS);
    int64_t most = most_results(rungs, n);

    tri_canvas_text(c, row, 1, TRI_STYLE_DIM, rung_heads);
    for (int i = 0; i + 1 < room && first + i < n; i++) {
        int rest = n - first - i;

        if (i + 2 == room && rest > 1) {
            tri_canvas_print(c, row + 1 + i, 1, TRI_STYLE_DIM, "%7s %d more",
                             "", rest);
            return;
        }
        draw_rung(s, c, row + 1 + i, &rungs[first + i], most);
    }
}

/* ---- ranks ----------------------------------------------------------- */

static int host_of(tri_watch_host *hosts, int n, const char *name)
{
    for (int i = n - 1; i >= 0; i--) { /* ranks stand host by host */
        if (strcmp(hosts[i].name, name) == 0) {
            return i;
        }
    }
    return n;
}

static int is_down(const tri_rank_view *r)
{
    return r->state != TRI_RANK_UP && r->state != TRI_RANK_BENCHED;
}

tri_watch_host *tri_watch_hosts(const tri_ctl *ctl, int *n)
{
    int ranks = tri_ctl_n_ranks(ctl);
    tri_watch_host *hosts = calloc((size_t)ranks + 1, sizeof *hosts);
    tri_rank_view r;

    *n = 0;
    for (int i = 0; hosts && i < ranks; i++) {
        int at;

        tri_ctl_rank(ctl, i, &r);
        at = host_of(hosts, *n, r.host);
        if (at == *n) {
            hosts[(*n)++] = (tri_watch_host){.name = r.host, .first = i};
        }
        hosts[at].down += is_down(&r);
        hosts[at].benched += r.state == TRI_RANK_BENCHED;
        hosts[at].busy += r.state == TRI_RANK_UP && r.run >= 0;
        hosts[at].idle += r.state == TRI_RANK_UP && r.run < 0;
    }
    return hosts;
}

static int draw_rank(const tri_rank_view *r, tri_canvas *c, int row, int at)
{
    if (is_down(r)) {
        return tri_canvas_text(c, row, at, TRI_STYLE_BAD, "x");
    }
    if (r->state == TRI_RANK_BENCHED) {
        return tri_canvas_text(c, row, at, TRI_STYLE_WARN, "b");
    }
    return r->run >= 0 ? tri_canvas_text(c, row, at, TRI_STYLE_GOOD,
                                         c->utf8 ? "\u25a0" : "#")
                       : tri_canvas_text(c, row, at, TRI_STYLE_DIM,
                                         c->utf8 ? "\u25a1" : ".");
}

int tri_watch_host_ranks(const tri_ctl *ctl, const tri_watch_host *host,
                         tri_canvas *c, int row, int column, int most)
{
    int n = host->busy + host->idle + host->down + host->benched;
    tri_rank_view r;

    if (n > most) {
        int up = n - host->down;
        int at = tri_canvas_bar(c, row, column, most > 10 ? most - 8 : 4,
                                up ? (double)host->busy / up : 0,
                                TRI_STYLE_GOOD);

        return tri_canvas_print(c, row, at + 1,
                                host->down ? TRI_STYLE_BAD : TRI_STYLE_PLAIN,
                                "%d/%d", host->busy, up);
    }
    for (int i = host->first; n > 0 && i < tri_ctl_n_ranks(ctl); i++) {
        tri_ctl_rank(ctl, i, &r);
        if (strcmp(r.host, host->name) == 0) {
            column = draw_rank(&r, c, row, column);
            n--;
        }
    }
    return column;
}

static void draw_hosts(const tri_app_standing *s, tri_canvas *c, int first)
{
    int n = 0;
    tri_watch_host *hosts = tri_watch_hosts(s->ctl, &n);

    tri_canvas_text(c, 1, 1, TRI_STYLE_DIM,
                    c->utf8 ? "\u25a0 busy   \u25a1 idle   x down   b benched"
                            : "# busy   . idle   x down   b benched");
    tri_canvas_print(c, 2, 1, TRI_STYLE_DIM, "%-24s %5s %5s %5s %8s  %s",
                     "host", "busy", "idle", "down", "benched", "ranks");
    for (int i = 0; first + i < n && 3 + i < c->rows - 1; i++) {
        const tri_watch_host *h = &hosts[first + i];
        int at = tri_canvas_print(c, 3 + i, 1, TRI_STYLE_PLAIN, "%.24s",
                                  h->name);

        at = at < 26 ? 26 : at;
        at = tri_canvas_print(c, 3 + i, at, TRI_STYLE_PLAIN,
                              "%5d %5d %5d %8d  ", h->busy, h->idle, h->down,
                              h->benched);
        tri_watch_host_ranks(s->ctl, h, c, 3 + i, at, c->columns - at - 1);
    }
    free(hosts);
}

/* ---- runs under way -------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static const char *state_name(tri_run_state state)
{
    return state == TRI_RUN_FORMING   ? "forming"
           : state == TRI_RUN_RUNNING ? "running"
                                      : "leaving";
}

static void draw_flying(const tri_app_standing *s, tri_canvas *c, int row,
                        int64_t run)
{
    char hosts[256];
    char lasts[32];
    tri_run_view v;
    int at;

    tri_ctl_run(s->ctl, run, &v);
    tri_ctl_run_hosts(s->ctl, run, hosts, sizeof hosts);
    at = tri_canvas_print(
            c, row, 1, TRI_STYLE_PLAIN,
            "%7" PRId64 " %7" PRId64 " %5d %-8s %5d %8" PRId64 " %12s  ", v.run,
            v.trial, v.rung,
            v.phase == TRI_PHASE_FINALS ? "finals" : state_name(v.state),
            v.n_ranks, v.last_step,
            tri_app_duration(tri_app_standing_now(s) - v.start_s, lasts,
                             sizeof lasts));
    tri_canvas_text(c, row, at, TRI_STYLE_DIM, hosts);
}

static void draw_running(const tri_app_standing *s, tri_canvas *c, int first)
{
    int n = s->tally->n_flying;
    int64_t *runs = malloc(((size_t)n + 1) * sizeof *runs);

    tri_canvas_print(c, 2, 1, TRI_STYLE_DIM,
                     "%7s %7s %5s %-8s %5s %8s %12s  %s", "run", "trial",
                     "rung", "state", "ranks", "step", "since", "hosts");
    if (runs && n > 0) {
        memcpy(runs, s->tally->flying, (size_t)n * sizeof *runs);
        qsort(runs, (size_t)n, sizeof *runs, by_number);
        for (int i = 0; first + i < n && 3 + i < c->rows - 1; i++) {
            draw_flying(s, c, 3 + i, runs[first + i]);
        }
    } else if (n == 0) {
        tri_canvas_text(c, 3, 1, TRI_STYLE_PLAIN, "nothing is running");
    }
    free(runs);
}

/* ---- runs that ended ------------------------------------------------- */

static const char *outcome_of(const tri_run_view *v, tri_style *style)
{
    static const char *const names[] = {[TRI_RUN_FINISHED] = "finished",
                                        [TRI_RUN_FAILED] = "failed",
                                        [TRI_RUN_LOST] = "lost",
                                        [TRI_RUN_INTERRUPTED] = "interr.",
                                        [TRI_RUN_STOPPED] = "stopped"};

    *style = v->status == TRI_RUN_FAILED ? TRI_STYLE_BAD
             : v->status == TRI_RUN_LOST || v->status == TRI_RUN_INTERRUPTED
                     ? TRI_STYLE_WARN
                     : TRI_STYLE_PLAIN;
    return v->status == TRI_RUN_FAILED ? tri_reason_name(v->reason)
                                       : names[v->status];
}

static void draw_result(const tri_app_standing *s, tri_canvas *c, int row,
                        int64_t run)
{
    char config[1024];
    char number[32];
    char ago[32];
    tri_style style;
    tri_run_view v;
    const char *outcome;
    int at;

    tri_ctl_run(s->ctl, run, &v);
    outcome = outcome_of(&v, &style);
    at = tri_canvas_print(
            c, row, 1, TRI_STYLE_PLAIN, "%6" PRId64 " %6" PRId64 " %6s ", v.run,
            v.trial,
            v.phase == TRI_PHASE_FINALS
                    ? "finals"
                    : (snprintf(number, sizeof number, "%d", v.rung), number));
    at = tri_canvas_print(c, row, at, style, "%-10.10s ", outcome);
    at = tri_canvas_print(c, row, at,
                          v.trial == s->progress.best_trial ? TRI_STYLE_GOOD
                                                            : TRI_STYLE_PLAIN,
                          "%12s ",
                          tri_app_number(v.objective, number, sizeof number));
    at = tri_canvas_print(
            c, row, at, TRI_STYLE_PLAIN, "%11s  ",
            tri_app_duration(fmax(tri_app_standing_now(s) - v.end_s, 0), ago,
                             sizeof ago));
    tri_canvas_text(
            c, row, at, TRI_STYLE_DIM,
            tri_app_config_brief(s->ctl, v.trial, config, sizeof config));
}

void tri_watch_results(const tri_app_standing *s, tri_canvas *c, int row,
                       int room, int first)
{
    const char *unit = tri_app_objective_unit(tri_ctl_study(s->ctl));

    tri_canvas_print(c, row, 1, TRI_STYLE_DIM,
                     "%6s %6s %6s %-10s %12.12s %11s  %s", "run", "trial",
                     "rung", "ended", unit, "ago", "configuration");
    for (int i = 0; i + 1 < room; i++) {
        int64_t run = tri_tally_recent(s->tally, first + i);

        if (run < 0) {
            break;
        }
        draw_result(s, c, row + 1 + i, run);
    }
}

/* ---- failures -------------------------------------------------------- */

/* What status prints of them, a line a row; returns how many. */
static int draw_lines(tri_canvas *c, char *text, int first)
{
    char *rest = text;
    char *line;
    int n = 0;

    while ((line = strsep(&rest, "\n"))) {
        if (n >= first && 2 + n - first < c->rows - 1) {
            tri_canvas_text(c, 2 + n - first, 1,
                            line[0] == ' ' && line[2] != ' ' ? TRI_STYLE_BAD
                                                             : TRI_STYLE_PLAIN,
                            line);
        }
        n++;
    }
    return n;
}

static void draw_failures(const tri_app_standing *s, tri_canvas *c, int first)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    if (!out) {
        return;
    }
    tri_app_failures_print(s->ctl, out);
    fclose(out);
    if (bytes == 0) {
        tri_canvas_text(c, 2, 1, TRI_STYLE_PLAIN, "nothing has failed");
    } else {
        draw_lines(c, text + strspn(text, "\n") + strlen("failures\n"), first);
    }
    free(text);
}

/* ---- the list that a page has ---------------------------------------- */

static int length_of(const tri_watch *w, const tri_app_standing *s)
{
    tri_rung_view rungs[1];
    int n = 0;

    switch (w->page) {
    case TRI_WATCH_RUNGS:
        return tri_sched_rungs(tri_ctl_sched(s->ctl), rungs, 1);
    case TRI_WATCH_RANKS:
        free(tri_watch_hosts(s->ctl, &n));
        return n;
    case TRI_WATCH_RUNNING:
        return s->tally->n_flying;
    case TRI_WATCH_RESULTS:
        return (int)(s->tally->n_ended < TRI_TALLY_RECENT ? s->tally->n_ended
                                                          : TRI_TALLY_RECENT);
    default: /* a few lines a class */
        return 4 * TRI_REASON_COUNT;
    }
}

void tri_watch_draw_list(tri_watch *w, const tri_app_standing *s, tri_canvas *c)
{
    int room = c->rows - 4;
    int last = length_of(w, s) - (room > 1 ? room : 1);

    w->scroll = w->scroll < last ? w->scroll : last;
    w->scroll = w->scroll > 0 ? w->scroll : 0;
    if (w->notice) {
        tri_canvas_text(c, 1, 1, TRI_STYLE_BAD, w->notice);
    }
    switch (w->page) {
    case TRI_WATCH_RUNGS:
        tri_watch_rungs(s, c, 2, room + 1, w->scroll);
        break;
    case TRI_WATCH_RANKS:
        draw_hosts(s, c, w->scroll);
        break;
    case TRI_WATCH_RUNNING:
        draw_running(s, c, w->scroll);
        break;
    case TRI_WATCH_RESULTS:
        tri_watch_results(s, c, 2, room + 1, w->scroll);
        break;
    default:
        draw_failures(s, c, w->scroll);
        break;
    }
}
