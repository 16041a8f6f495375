/*
 * Studies from text, and simulations of them, for the tests of this folder.
 * Everything asserts that it succeeds, printing the error's sentence.
 */
#ifndef TRI_TESTS_SIM_FIXTURE_H
#define TRI_TESTS_SIM_FIXTURE_H

#include "trireme/sim.h"

#include "tests/tri_cmocka.h"

/* Fail the test with the last error's sentence unless `st` is TRI_OK. */
void must(tri_status st);
/* A study from its text; files that it names are read from the disk. */
tri_study *read_study(const char *yaml);
/* A study whose table is `csv`, whatever its name. */
tri_study *read_table_study(const char *yaml, const char *csv);
/* Simulate `study` to its end; the caller finishes the result. */
void simulate(const tri_study *study, const tri_sim_settings *settings,
              tri_sim_result *out, tri_ctl **ctl);
/* As both, for one-off studies. */
void simulate_text(const char *yaml, const tri_sim_settings *settings,
                   tri_sim_result *out);
/* Virtual time of the first result at `rung`, NaN if there is none; *n (may be
 * NULL): how many there are. */
double first_at(const tri_sim_result *r, int rung, int *n);
/* The folder of shared data; skips the test, with a printed reason, where
 * there is none. */
const char *shared_dir(void);

#endif
