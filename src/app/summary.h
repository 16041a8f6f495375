/*
 * The summary that a tuner writes beside a long journal
 * (tri_record_summary): status's object and text, so that status has nothing
 * to fold.
 */
#ifndef TRI_APP_SUMMARY_H
#define TRI_APP_SUMMARY_H

#include "src/app/standing.h"

typedef struct tri_app_summary {
    tri_tally tally;
    tri_app_searched searched;
    tri_record_summary maker; /* for the record, as long as this lives */
} tri_app_summary;

void tri_app_summary_init(tri_app_summary *s);
void tri_app_summary_fini(tri_app_summary *s);

/* Print what a summary says of the study at `file`, as status does.
 * TRI_EMALFORMED: it is none. */
tri_status tri_app_summary_print(const tri_summary *summary, const char *file,
                                 int json, FILE *out);

#endif
