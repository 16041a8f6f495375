/*
 * Makes a live journal of a given size, as a study in full swing has it, for
 * what reads such: real events of a made study, through the record itself.
 *
 *   bench_store_journal FILE.h5 MEGABYTES [REPORTS_A_RUN]
 *
 * Ends as a program does that is killed: the segments and the summary stay.
 * Prints JSON: bytes of the journal, events and runs in it, and how long it
 * took.
 */
#include "bench/store/feed.h"
#include "src/app/summary.h"
#include "src/store/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define GROUPS  500
#define REPORTS 100

static void fill(tri_record *r, bench_feed *feed, tri_ctl *ctl, double bytes)
{
    const tri_event *event;
    tri_commands commands;

    while ((double)r->journal->bytes < bytes) {
        bench_feed_next(feed, &event, &commands);
        bench_must(tri_record_event(r, event, &commands, ctl));
    }
    bench_must(tri_record_sync(r, 1));
}

int main(int argc, char **argv)
{
    tri_app_summary summary;
    const tri_record_facts facts = {"", "", "", "resume",      "",
                                    "", "", "", &summary.maker};
    double start = bench_seconds(CLOCK_MONOTONIC);
    bench_feed *feed;
    tri_record *r;
    tri_ctl *ctl, *unused;
    int epoch;

    if (argc < 3) {
        fprintf(stderr, "usage: bench_store_journal FILE.h5 MEGABYTES "
                        "[REPORTS_A_RUN]\n");
        return 1;
    }
    tri_app_summary_init(&summary);
    bench_must(tri_record_open(argv[1], 0, &facts, &r, &unused, &epoch));
    tri_ctl_destroy(unused);
    bench_must(tri_ctl_create(&ctl));
    feed = bench_feed_create(ctl, GROUPS, argc > 3 ? atoi(argv[3]) : REPORTS);
    r->no_tables = 1; /* only the journal counts here */
    fill(r, feed, ctl, 1e6 * atof(argv[2]));
    printf("{\"bytes\": %" PRIu64 ", \"events\": %" PRId64
           ", \"runs\": %" PRId64 ", \"seconds\": %.1f}\n",
           r->journal->bytes, r->journal->seq, tri_ctl_n_runs(ctl),
           bench_seconds(CLOCK_MONOTONIC) - start);
    fflush(stdout);
    _exit(0); /* killed, as far as the record can tell */
}
