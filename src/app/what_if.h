/*
 * What if: the search of a record again, in the simulator, on what the record
 * measured, as it was set and with other settings.
 *
 *   what_if_settings.c  what the record was set to, and what --with changes
 *   what_if_study.c     the text that is simulated: a study whose space are the
 *                       configurations that the record measured, or, of a table
 *                       or synthetic curves, the recorded study
 *   what_if_source.c    what answers for its trials
 *   what_if_course.c    how a search went, recorded or simulated
 *   what_if.c           simulations, several seeds each, and the comparison
 */
#ifndef TRI_SRC_APP_WHAT_IF_H
#define TRI_SRC_APP_WHAT_IF_H

#include "src/app/app.h"

#include "trireme/curve.h"

#define TRI_WHAT_IF_MOST 8

/* What `replay --with` is asked. */
typedef struct tri_what_if {
    const char *file;
    const char *with[TRI_WHAT_IF_MOST]; /* "eta=2,search=random" */
    int n;
    int repeats; /* seeds of each */
    int json;
} tri_what_if;

tri_status tri_app_what_if(const tri_what_if *asked);

/* ---- settings ----------------------------------------------------------- */

typedef struct tri_what_if_settings {
    char scheduler[32];
    int64_t bracket, brackets, n; /* 0: by default */
    int64_t eta, min, max;        /* max 0: unbounded */
    char proposer[32], predictor[32], acquisition[32];
    double random_share;
    uint64_t seed;
    int64_t workers;
} tri_what_if_settings;

/* Those of the record.  `seed`: of its first opening. */
void tri_what_if_recorded(const tri_ctl *ctl, uint64_t seed,
                          tri_what_if_settings *out);
/* Take "key=value,key=value" in.  TRI_EUNKNOWN with the closest key, TRI_EINVAL
 * for a value that is none. */
tri_status tri_what_if_parse(const char *with, tri_what_if_settings *s);
json_t *tri_what_if_settings_json(const tri_what_if_settings *s);

/* ---- what is simulated ----------------------------------------------- */

typedef struct tri_what_if_source {
    const tri_ctl *ctl;
    const tri_study *study; /* of the record */
    int whole; /* the record holds all answers: a table, or synthetic curves */
    char *csv; /* else what was measured, as a table, */
    int64_t n; /* of so many configurations, */
    int64_t to_top;        /* of which so many were measured to the end */
    int64_t n_trials;      /* of the record */
    int64_t *top_resource; /* a configuration, by its number in the space: the
                            * largest that was measured; NULL where whole */
    double best;           /* of what was measured as far as any, `top`; NaN */
    int64_t top;           /* where whole, see tri_curve_top */
} tri_what_if_source;

/* One study that can be simulated. */
typedef struct tri_what_if_run {
    tri_study *study;
    tri_curve *curve;
} tri_what_if_run;

/* [out] `out`: ended with fini; borrows `ctl`.  TRI_EEMPTY where the record
 * measured nothing. */
tri_status tri_what_if_source_init(const tri_ctl *ctl, tri_what_if_source *out);
void tri_what_if_source_fini(tri_what_if_source *s);
/* The study with these settings, and what answers for its trials.  [out] ended
 * with fini.  The source learns its best configuration with the first. */
tri_status tri_what_if_run_init(tri_what_if_source *source,
                                const tri_what_if_settings *s,
                                tri_what_if_run *out);
void tri_what_if_run_fini(tri_what_if_run *r);

/* What a run of the search measured, as tri_app_recorded_point: the finals
 * measure anew what no search gets to see. */
int tri_what_if_point(const tri_what_if_source *s, int64_t i,
                      tri_recorded_point *out);
/* The parts of that: the record's results as a table (s->csv, n, to_top); the
 * study; and a trial's configuration as assignments in its space (owned). */
tri_status tri_what_if_table(tri_what_if_source *s);
tri_status tri_what_if_study(tri_what_if_source *s,
                             const tri_what_if_settings *set, tri_study **out);
tri_status tri_what_if_assignments(const tri_what_if_source *s, int64_t trial,
                                   char **out);

/* ---- how a search went --------------------------------------------------- */

#define TRI_WHAT_IF_SHARES 3 /* 1, 2 and 5 % of the best */

/* One way to search; of each number one a seed, infinite where never. */
typedef struct tri_what_if_way {
    char name[200];
    const char *with; /* NULL: as recorded */
    tri_what_if_settings set;
    double *evaluations[TRI_WHAT_IF_SHARES], *rank_s[TRI_WHAT_IF_SHARES];
    double *runs, *all_rank_s, *virtual_s, *best;
    double *best_at;  /* the resource that the best was measured after */
    double *numbers;  /* all of those in one piece, owned */
    int64_t stood_in; /* runs longer than what is recorded of them, of all */
    int64_t all_runs; /* that were simulated */
    int n;            /* seeds */
} tri_what_if_way;

/* Room for so many seeds.  TRI_ENOMEM. */
tri_status tri_what_if_way_init(tri_what_if_way *w, int repeats);
/* One more seed: the search that `ctl` went through. */
tri_status tri_what_if_way_add(const tri_what_if_source *s, tri_what_if_way *w,
                               const tri_ctl *ctl);

/* What a run says of its configuration, as --curves has it (curves.c); 0:
 * nothing. */
int tri_app_recorded_point(const tri_ctl *ctl, const tri_study *study,
                           int64_t i, tri_recorded_point *out);

#endif
