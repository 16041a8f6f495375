/*
 * A study for the benchmarks of the record: a controller and a made world of
 * groups of one rank each, whose runs report a fixed number of times and end.
 * Times and measurements vary in all the digits that rank 0 records of them,
 * since a file of round numbers would say nothing on compression.
 *
 * One feed makes the same events every time.  Fails by exit: what goes wrong
 * here is the benchmark's own fault.
 */
#ifndef TRI_BENCH_STORE_FEED_H
#define TRI_BENCH_STORE_FEED_H

#include "trireme/ctl.h"

#include <time.h>

typedef struct bench_feed bench_feed;

/* End the program with a sentence where `st` is no success. */
void bench_must(tri_status st);
/* Seconds of a clock. */
double bench_seconds(clockid_t clock);

/* `groups` ranks, each run reporting `reports` times; feeds `ctl`, borrowed. */
bench_feed *bench_feed_create(tri_ctl *ctl, int groups, int reports);
void bench_feed_destroy(bench_feed *f);
/* Make the next event and feed it to the controller.  [out] both are valid
 * until the next call. */
void bench_feed_next(bench_feed *f, const tri_event **event,
                     tri_commands *commands);
int64_t bench_feed_reports(const bench_feed *f); /* so far */

#endif
