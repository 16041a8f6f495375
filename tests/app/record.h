/*
 * A record to ask of: a study of processes with conditional parameters, words
 * that need quotes, a feature, failures that the feature tells and a loss that
 * is learned; tuned once through MPI in a second or two.
 */
#ifndef TRI_TESTS_APP_RECORD_H
#define TRI_TESTS_APP_RECORD_H

#include "tests/app/cli.h"

#define RECORD_TRIALS 24

/* Write proc.yaml and its script, and tune it: proc.h5. */
void record_make(void);
/* A member of an object that must be there. */
json_t *record_at(const json_t *o, const char *key);
double record_number(const json_t *o, const char *key);
const char *record_text(const json_t *o, const char *key);
/* The JSON of a command that must end well; owned. */
json_t *record_ask(const char *command);

#endif
