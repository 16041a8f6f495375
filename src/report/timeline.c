/*
 * How busy the ranks were, by node (or by rank, where they are few), over
 * study time: the share of each bin of time in which they were held by runs.
 */
#include "src/report/part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BINS      240
#define CELLS     60000 /* rows x bins, at most */
#define FEW_RANKS 24
#define MAX_ROWS  2000

typedef struct timeline {
    const tri_report_part *p;
    int by_rank;
    const char **hosts; /* by row; by_rank: of its rank */
    int *rank_row;      /* row of a world rank, -1 */
    int *row_ranks;     /* ranks of a row */
    double *busy;       /* rows x bins, rank-seconds */
    double *fresh;      /* rows: world rank (by_rank) */
    int n_rows, n_bins, max_rank;
    double begin, bin, end;
} timeline;

static void fini(timeline *t)
{
    free(t->hosts);
    free(t->rank_row);
    free(t->row_ranks);
    free(t->busy);
    free(t->fresh);
}

static int find_row(const timeline *t, const char *host)
{
    for (int i = 0; i < t->n_rows; i++) {
        if (strcmp(t->hosts[i], host) == 0) {
            return i;
        }
    }
    return -1;
}

/* Rows in the order in which ranks came. */
static void find_rows(timeline *t)
{
    const tri_ledger *ledger = t->p->source->ledger;

    for (int i = 0; i < ledger->n_ranks; i++) {
        const tri_rank_fact *rank = &ledger->ranks[i];
        int row = t->by_rank ? -1 : find_row(t, rank->host ? rank->host : "");

        if (row < 0 && t->n_rows < MAX_ROWS) {
            row = t->n_rows++;
            t->hosts[row] = rank->host ? rank->host : "";
            t->fresh[row] = rank->rank;
        }
        if (row >= 0 && rank->rank >= 0 && rank->rank <= t->max_rank) {
            t->rank_row[rank->rank] = row;
            t->row_ranks[row]++;
        }
    }
}

static int alloc(timeline *t)
{
    const tri_ledger *ledger = t->p->source->ledger;
    size_t n = (size_t)ledger->n_ranks + 1;

    for (int i = 0; i < ledger->n_ranks; i++) {
        if (ledger->ranks[i].rank > t->max_rank) {
            t->max_rank = ledger->ranks[i].rank;
        }
    }
    t->hosts = calloc(n, sizeof *t->hosts);
    t->rank_row = calloc((size_t)t->max_rank + 1, sizeof *t->rank_row);
    t->row_ranks = calloc(n, sizeof *t->row_ranks);
    t->fresh = calloc(n, sizeof *t->fresh);
    if (!t->hosts || !t->rank_row || !t->row_ranks || !t->fresh) {
        return -1;
    }
    for (int i = 0; i <= t->max_rank; i++) {
        t->rank_row[i] = -1;
    }
    find_rows(t);
    t->n_bins = t->n_rows > 0 && CELLS / t->n_rows < BINS ? CELLS / t->n_rows
                                                          : BINS;
    t->busy =
            calloc((size_t)t->n_rows * (size_t)t->n_bins + 1, sizeof *t->busy);
    return t->busy ? 0 : -1;
}

/* A duration that reads well and is not below `s`. */
static double round_up(double s)
{
    static const double steps[] = {1,    2,    5,     10,    20,   30,
                                   60,   120,  300,   600,   1200, 1800,
                                   3600, 7200, 21600, 43200, 86400};
    double scale = 1;

    while (s < 0.5 * scale) { /* 1, 2, 5 tenths, hundredths, ... */
        scale /= 10;
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i] * scale >= s) {
            return steps[i] * scale;
        }
    }
    return ceil(s / 86400) * 86400;
}

/* ---- filling ------------------------------------------------------------ */

/* A rank of `row` was held in [from, to). */
static void hold(timeline *t, int row, double from, double to)
{
    double *busy = t->busy + (size_t)row * (size_t)t->n_bins;
    int first = (int)((from - t->begin) / t->bin);
    int last = (int)((to - t->begin) / t->bin);

    first = first < 0 ? 0 : first;
    last = last >= t->n_bins ? t->n_bins - 1 : last;
    for (int i = first; i <= last; i++) {
        double lo = t->begin + i * t->bin;
        double hi = lo + t->bin;

        lo = lo > from ? lo : from;
        hi = hi < to ? hi : to;
        busy[i] += hi > lo ? hi - lo : 0;
    }
}

static double end_of(const tri_run_view *run, double now)
{
    return run->state == TRI_RUN_ENDED && isfinite(run->end_s) ? run->end_s
                                                               : now;
}

static void fill(timeline *t, double now)
{
    for (int64_t i = 0; i < tri_ctl_n_runs(t->p->ctl); i++) {
        tri_run_view run;

        tri_ctl_run(t->p->ctl, i, &run);
        for (int k = 0; isfinite(run.start_s) && k < run.n_ranks; k++) {
            int rank = run.ranks[k];
            int row = rank >= 0 && rank <= t->max_rank ? t->rank_row[rank] : -1;

            if (row >= 0) {
                hold(t, row, run.start_s, end_of(&run, now));
            }
        }
    }
}

/* ---- as JSON ------------------------------------------------------------ */

static json_t *names(const timeline *t)
{
    json_t *a = json_array();
    char text[300];

    for (int i = 0; i < t->n_rows; i++) {
        const char *host = t->hosts[i][0] ? t->hosts[i] : "host not known";

        if (t->by_rank) {
            snprintf(text, sizeof text, "%.200s rank %d", host,
                     (int)t->fresh[i]);
        } else {
            snprintf(text, sizeof text, "%.200s (%d)", host, t->row_ranks[i]);
        }
        json_array_append_new(a, tri_report_string(text));
    }
    return a;
}

/* Per cent of a row's ranks, or of all where `row` is -1. */
static json_t *shares(const timeline *t, int row)
{
    json_t *a = json_array();

    for (int i = 0; i < t->n_bins; i++) {
        double busy = 0;
        double ranks = 0;
        double left = t->end - t->begin - i * t->bin;
        double length = left < t->bin ? left : t->bin; /* the last is shorter */

        for (int k = row < 0 ? 0 : row; k < (row < 0 ? t->n_rows : row + 1);
             k++) {
            busy += t->busy[(size_t)k * (size_t)t->n_bins + (size_t)i];
            ranks += t->row_ranks[k];
        }
        json_array_append_new(
                a, json_integer(
                           (json_int_t)(0.5 + 100 * busy / (ranks * length))));
    }
    return a;
}

static json_t *timeline_json(const timeline *t)
{
    json_t *o = json_object();
    json_t *rows = json_array();

    for (int i = 0; i < t->n_rows; i++) {
        json_array_append_new(rows, shares(t, i));
    }
    json_object_set_new(o, "by", json_string(t->by_rank ? "rank" : "node"));
    json_object_set_new(o, "begin_s", tri_report_real(t->begin));
    json_object_set_new(o, "bin_s", tri_report_real(t->bin));
    json_object_set_new(o, "rows", names(t));
    json_object_set_new(o, "busy", rows);
    json_object_set_new(o, "pool", shares(t, -1));
    return o;
}

json_t *tri_report_timeline(const tri_report_part *p)
{
    timeline t = {.p = p, .by_rank = p->source->ledger->n_ranks <= FEW_RANKS};
    tri_progress s;
    json_t *o;

    tri_ctl_progress(p->ctl, &s);
    if (p->source->ledger->n_ranks == 0 || !(s.time_s > 0)) {
        return tri_report_because(p, "timeline",
                                  "No time has passed, or no ranks have come.");
    }
    if (alloc(&t) != 0) {
        fini(&t);
        return tri_report_because(p, "timeline", "There was no memory for it.");
    }
    t.bin = round_up(s.time_s / t.n_bins);
    t.n_bins = (int)ceil(s.time_s / t.bin);
    t.end = s.time_s;
    fill(&t, s.time_s);
    o = timeline_json(&t);
    fini(&t);
    return o;
}
