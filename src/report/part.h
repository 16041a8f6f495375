/*
 * The parts of a report's data, each an object or an array of its own, and
 * what they share.  Private to src/report.
 */
#ifndef TRI_SRC_REPORT_PART_H
#define TRI_SRC_REPORT_PART_H

#include "src/report/report.h"

typedef struct tri_report_part {
    const tri_report_source *source;
    const tri_ctl *ctl;
    const tri_study *study;
    json_t *why; /* sentences, by section */
} tri_report_part;

/* A number; NaN and infinities are null. */
json_t *tri_report_real(double v);
/* A count or bytes; negative is null. */
json_t *tri_report_count(double v);
/* Text; NULL is null, what is not UTF-8 has '?' in its place. */
json_t *tri_report_text(const char *text, size_t bytes);
json_t *tri_report_string(const char *text);
/* The canonical text of a trial's configuration. */
json_t *tri_report_configuration(const tri_ctl *ctl, int64_t trial);
/* Leave a section out and say why; returns null. */
json_t *tri_report_because(const tri_report_part *p, const char *section,
                           const char *format, ...)
        __attribute__((format(printf, 3, 4)));
/* Rank-seconds that a run has held; 0 where it has not ended. */
double tri_report_rank_seconds(const tri_run_view *run);
/* Whether a run is one that gave the search a result. */
int tri_report_is_result(const tri_run_view *run);
/* Whether `a` is a better objective than `b`; all are better than NaN. */
int tri_report_better(const tri_study *study, double a, double b);

json_t *tri_report_answer(const tri_report_part *p);
json_t *tri_report_top(const tri_report_part *p);
json_t *tri_report_finals(const tri_report_part *p);
json_t *tri_report_params(const tri_report_part *p);
json_t *tri_report_trials(const tri_report_part *p);
json_t *tri_report_calibration(const tri_report_part *p);
json_t *tri_report_results(const tri_report_part *p);
json_t *tri_report_best(const tri_report_part *p);
json_t *tri_report_rungs(const tri_report_part *p);
json_t *tri_report_ladders(const tri_report_part *p);
json_t *tri_report_importance(const tri_report_part *p);
json_t *tri_report_timeline(const tri_report_part *p);
json_t *tri_report_failures(const tri_report_part *p);
json_t *tri_report_facts(const tri_report_part *p);

#endif
