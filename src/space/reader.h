/*
 * Typed reading of YAML nodes with errors that say where, what was found and
 * what was expected.  Knows the forms of values (counts, shares, sizes,
 * times), not the keys of a study.
 */
#ifndef TRI_SPACE_READER_H
#define TRI_SPACE_READER_H

#include "src/space/yaml_tree.h"
#include "trireme/study.h"

typedef struct tri_reader {
    tri_pile *pile;
    tri_study *study;
    const tri_yaml *root;
    tri_read_fn read;
    void *ctx;
    size_t cap_notes, cap_unbuilt;
} tri_reader;

/* Fail at a node: found, expected.  `key` is dotted ("resource.min"). */
tri_status tri_reader_wrong(const tri_yaml *at, const char *key,
                            const char *expected);
/* Give the thread's error the place of `at`, and return st. */
tri_status tri_reader_place(const tri_yaml *at, tri_status st);
/* A map with no keys but keys[0..n).  `where` names it ("resource"). */
tri_status tri_reader_keys(const tri_yaml *map, const char *where,
                           const char *const *keys, int n);

/* Each reads node `at` if it is there (else leaves *out). */
tri_status tri_reader_int(const tri_yaml *at, const char *key, int64_t lo,
                          int64_t hi, int64_t *out);
tri_status tri_reader_small(const tri_yaml *at, const char *key, int lo, int hi,
                            int *out);
/* A real in [lo, hi]; `open` excludes lo. */
tri_status tri_reader_real(const tri_yaml *at, const char *key, double lo,
                           double hi, int open, double *out);
/* A share: "1 %" or 0.01. */
tri_status tri_reader_share(const tri_yaml *at, const char *key, double lo,
                            double hi, double *out);
tri_status tri_reader_bytes(const tri_yaml *at, const char *key, uint64_t *out);
/* Seconds above 0: "10 min", "25s", 60. */
tri_status tri_reader_time(const tri_yaml *at, const char *key, double *out);
tri_status tri_reader_bool(const tri_yaml *at, const char *key, int *out);
tri_status tri_reader_text(const tri_yaml *at, const char *key,
                           const char **out);
/* One of names[0..n).  [out] its number. */
tri_status tri_reader_name(const tri_yaml *at, const char *key,
                           const char *const *names, int n, int *out);
/* A list of texts (or one text). */
tri_status tri_reader_texts(tri_reader *r, const tri_yaml *at, const char *key,
                            const char *const **out, int *n);
/* A map of texts, in order. */
tri_status tri_reader_pairs(tri_reader *r, const tri_yaml *at, const char *key,
                            const tri_pair **out, int *n);
/* Whether `at` is the plain word. */
int tri_reader_is(const tri_yaml *at, const char *word);

/* A scalar as a value of a parameter: integer, real (with a unit, perhaps),
 * boolean or word; the word is borrowed from the node. */
tri_value tri_reader_value(const tri_yaml *at);
/* The same of a table's cell, where 8.0 is the integer 8. */
tri_value tri_reader_cell(const char *text);

/* Add a sentence to the study's notes; also to `unbuilt` where running the
 * study would not do what it says. */
tri_status tri_reader_note(tri_reader *r, int unbuilt, const char *fmt, ...)
        TRI_PRINTF(3, 4);

/* Parts of the study, one file each. */
tri_status tri_study_read_model(tri_reader *r);
tri_status tri_study_read_space(tri_reader *r);
tri_status tri_study_read_table(tri_reader *r);
tri_status tri_study_finish_table(tri_reader *r);
tri_status tri_study_read_conditions(tri_reader *r);
tri_status tri_study_read_run(tri_reader *r);

#endif
