/*
 * The report: one HTML file about a study, for people, that opens from disk
 * with no network.
 *
 *   controller and ledger (a folded record)  ->  data, one JSON object
 *   data + our page + ECharts                ->  report.html
 *
 * The data say what there is to see and decide nothing about its look; the
 * page (page.html, page.css, tables.js, charts.js, draw.js) lays it out, each
 * chart a declarative option of ECharts.  Page and library are embedded when
 * the program is built; a program built without the library makes the same page
 * with all its tables, which says what is missing.
 *
 * What a study does not have is said, not left out: where a section's data are
 * null, data.why.SECTION is a sentence with the reason.
 *
 * The data, format 1 (NaN is null; times are seconds of study time; memory is
 * bytes of the largest rank; an objective is as the study compares it):
 *   study      name, objective {name, unit, maximize, learned, per_rank},
 *              resource {unit, min, max, eta}, scheduler, search, model, text
 *   state      state, why, openings, time_s, trials, runs, finished, failed,
 *              parked, ranks, measured (runs that finished),
 *              oversubscribed (those of them with more ranks than cores)
 *   cost       rank-hours: search, finals, wasted (failed, lost, interrupted),
 *              total
 *   answer     winner, baseline, challenger {trial, objective, lo, hi, ranks,
 *              repeats, resource, configuration}, speedup {value, lo, hi,
 *              significant}
 *   top        the best: as winner, with origin and rung
 *   params     [{name, kind, log, levels}]; levels: words that columns of
 *              trials count from 0
 *   trials     {total, shown, columns}: a row is a trial, a column an array;
 *              a column without any value is left out
 *   results    {total, shown, time_s, objective, rung, trial}: finished runs
 *              of the search in the order of their ends
 *   best       [[time_s, rank_hours, objective, trial, rung]]: when the best
 *              changed
 *   rungs      [{bracket, rung, resource, results, promoted, failed, running,
 *              best, median, worst}]
 *   ladders    [{trial, points: [[resource, objective]]}]: trials with results
 *              at several rungs, those that came highest
 *   importance {method, records, tau, resource, parameters: [{name, share}],
 *              pairs: [{a, b, share, labels_a, labels_b, mean: [[..]], n}]}
 *   calibration {same, inside, other}: of trials with a prediction and a
 *              result at the resource predicted at, how many lie in the
 *              interval
 *   memory     {limit}
 *   timeline   {begin_s, bin_s, rows: [name], busy: [[share]], pool: [share]}
 *   failures   [{class, runs, trials, examples: [{sentence, runs, run, trial,
 *              configuration, stderr}]}]
 *   finals     [{trial, objective, lo, hi, repeats: [..], ranks, baseline}]
 *   facts      {machine: [[name, value]], record: [[name, value]],
 *              openings: [[...]], hosts: [[...]]}
 */
#ifndef TRI_SRC_REPORT_REPORT_H
#define TRI_SRC_REPORT_REPORT_H

#include "src/store/ledger.h"
#include "trireme/store.h"

#include <jansson.h>

#include <stdio.h>

/* Rows of trials and of results in a page, at most: the best, the promoted and
 * then the latest trials; an even choice of results, with all that were a new
 * best. */
#define TRI_REPORT_ROWS 10000

typedef struct tri_report_source { /* all borrowed */
    const tri_ctl *ctl;            /* at the end of the record */
    const tri_ledger *ledger;      /* likewise */
    const tri_replay *replay;      /* what the replay said; NULL */
    uint64_t seed;                 /* of its first opening */
    const char *file;              /* the record's name, for the page */
    const char *state;             /* of the study: "done", "search", ... */
    const char *unit;              /* of the objective: "tokens/s" */
    const char *made;              /* date for the page; NULL: none */
    double limit_bytes; /* memory of a rank; 0: what the study says */
} tri_report_source;

/* How predictions that were made before their runs did.  They are made for the
 * top rung: of a loss only what came there is compared; a speed is the same
 * after any number of steps. */
typedef struct tri_report_covered {
    int64_t same, inside; /* compared, of which in the interval */
    int64_t other;        /* ended at a lower rung */
} tri_report_covered;
tri_report_covered tri_report_coverage(const tri_ctl *ctl);

/* [out] *out: the data, owned.  TRI_ENOMEM. */
tri_status tri_report_data(const tri_report_source *source, json_t **out);

/* The page about `data`, into `out`.  Characters of data that mean something
 * to HTML are escaped.  TRI_ENOMEM; TRI_EIO where it cannot be written. */
tri_status tri_report_write(const json_t *data, FILE *out);

/* Name and version of the library of charts that was embedded, "ECharts
 * 5.6.0"; NULL: none. */
const char *tri_report_library(void);

#endif
