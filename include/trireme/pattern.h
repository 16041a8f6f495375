/*
 * What is read from the output of a trainer: names of metrics, regular
 * expressions that find them, and ready ones for well-known trainers.
 *
 * Pure: no files, no clock.  A pattern is used by one thread at a time.
 * Matching is bounded in time and memory whatever pattern and text are.
 */
#ifndef TRIREME_PATTERN_H
#define TRIREME_PATTERN_H

#include "trireme/study.h"

/* ---- names of metrics --------------------------------------------------- */

typedef enum tri_key {
    TRI_KEY_STEP,
    TRI_KEY_TOKENS,           /* of the step, over all ranks */
    TRI_KEY_SAMPLES,          /* likewise */
    TRI_KEY_CONSUMED_TOKENS,  /* since the start of the process, or earlier */
    TRI_KEY_CONSUMED_SAMPLES, /* likewise */
    TRI_KEY_TOKENS_PER_S,     /* over all ranks */
    TRI_KEY_SAMPLES_PER_S,    /* likewise */
    TRI_KEY_STEP_S,           /* seconds of the step */
    TRI_KEY_LOSS,
    TRI_KEY_BYTES, /* of memory, of the rank that says it */
    TRI_KEY_OWN,   /* the objective, where it is a metric of the trial's own */
    TRI_N_KEYS,
    TRI_KEY_NONE = TRI_N_KEYS
} tri_key;

/*
 * The key that `name` means; TRI_KEY_NONE if it means none.  `own`: name of
 * the objective where it is a metric of the trial's own, else NULL.  Beside
 * its plain name a time in seconds ("step_s") may be given in milliseconds
 * ("step_ms"), memory in units of 2^20 or 2^30 bytes ("mib", "gib"), and a rate
 * of one rank by "..._per_rank".
 * [out] `scale` (may be NULL): what a value is to be multiplied by, beside
 * `ranks`.
 */
TRI_API tri_key tri_key_find(const char *name, const char *own, int ranks,
                             double *scale);
/* The plain names of keys but OWN, in order; TRI_N_KEYS - 1. */
TRI_API const char *const *tri_key_names(void);

/* ---- patterns ----------------------------------------------------------- */

/* Text behind this is not looked at. */
#define TRI_PATTERN_BYTES 4096

typedef struct tri_pattern tri_pattern;

/* A Perl-compatible regular expression with one group, which is the value.
 * Text is bytes.  [out] owned.  TRI_EPARSE: what is wrong with it, and where;
 * TRI_ENOMEM. */
TRI_API tri_status tri_pattern_create(const char *regex, tri_pattern **out);
TRI_API void tri_pattern_destroy(tri_pattern *p);
/* The first match in text[0..n).  Returns 1 with the group's place in
 * [*from, *to), else 0, also where matching would take too long. */
TRI_API int tri_pattern_find(tri_pattern *p, const char *text, size_t n,
                             size_t *from, size_t *to);
/* How many texts took too long. */
TRI_API int64_t tri_pattern_slow(const tri_pattern *p);

/* ---- trainers ----------------------------------------------------------- */

typedef struct tri_trainer {  /* the lines of one trainer */
    const char *name;         /* "megatron-lm" */
    const tri_pair *patterns; /* metric, regex; the first of a metric that
                               * matches is used */
    int n_patterns;
} tri_trainer;

TRI_API int tri_n_trainers(void);
/* Number `i`, or NULL.  Static storage. */
TRI_API const tri_trainer *tri_trainer_at(int i);
/* That of a name, NULL if there is none. */
TRI_API const tri_trainer *tri_trainer_find(const char *name);

#endif
