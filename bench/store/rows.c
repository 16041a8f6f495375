/*
 * What recording costs: a million reports of a made study through the whole
 * record, and how many bytes they take once it is compacted.
 *
 * Verified before it counts: the live tables never fell behind, the ended file
 * holds every row, and its events replay to the same decisions.
 *
 * Units.  rows_per_s: rows of /reports (each with one of /events and its bytes
 * in /blobs) from the first event until the store thread has written the last,
 * wall time, journal and controller included; on a busy machine it says more of
 * that than of the record, so the limit is for rows_per_cpu_s: over the
 * processor time of loop and thread taken together.  thread_ns: processor time
 * of the store thread a report; loop_ns: what the record takes of rank 0's loop
 * a report, one write(2) included: processor time of the loop less that of the
 * same events fed without a record; longest_ms: the longest that one event
 * held the loop, wall time (a busy machine adds to it).  waiting_mb: the most
 * that waited for the thread.  bytes_a_row: what /reports, /events and /blobs
 * take in the ended file together, over the rows of /reports.
 *
 *   bench_store_rows [FOLDER]      a folder on the disk to be measured; /tmp
 */
#include "bench/store/feed.h"
#include "src/store/record.h"

#include <hdf5.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define N           1000000
#define GROUPS      500
#define REPORTS     100
#define LIMIT_ROWS  200000.0
#define LIMIT_BYTES 40.0
/* Of the queue, which holds 64 MiB. */
#define LIMIT_WAITING_MB 68.0

typedef struct figures {
    double rows_per_s, rows_per_cpu_s, loop_ns, thread_ns, longest_ms,
            waiting_mb, close_s;
    double table[TRI_TABLE_COUNT]; /* bytes a row of /reports */
    int64_t rows, runs;
} figures;

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "bench_store_rows: %s\n", what);
        exit(1);
    }
}

/* The same events without a record: processor seconds. */
static double feed_alone(void)
{
    const tri_event *event;
    tri_commands commands;
    bench_feed *feed;
    double start;
    tri_ctl *ctl;

    bench_must(tri_ctl_create(&ctl));
    feed = bench_feed_create(ctl, GROUPS, REPORTS);
    start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    while (bench_feed_reports(feed) < N) {
        bench_feed_next(feed, &event, &commands);
    }
    start = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    bench_feed_destroy(feed);
    tri_ctl_destroy(ctl);
    return start;
}

/* Bytes that wait for the thread. */
static double waiting_of(tri_live *live)
{
    tri_batch *batch = live ? tri_live_begin(live) : NULL;
    double bytes = 0;

    if (batch) {
        bytes = (double)tri_batch_bytes(batch);
        tri_live_end(live);
    }
    check(!live || batch, "the tables fell behind");
    return bytes;
}

static void record_one(tri_record *r, bench_feed *feed, tri_ctl *ctl,
                       figures *out)
{
    double start = bench_seconds(CLOCK_MONOTONIC);
    const tri_event *event;
    tri_commands commands;
    double took;

    bench_feed_next(feed, &event, &commands);
    bench_must(tri_record_event(r, event, &commands, ctl));
    took = bench_seconds(CLOCK_MONOTONIC) - start;
    out->longest_ms = fmax(out->longest_ms, 1e3 * took);
}

static void record_all(tri_record *r, bench_feed *feed, tri_ctl *ctl,
                       figures *out)
{
    double wall = bench_seconds(CLOCK_MONOTONIC);
    double all = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    double loop = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    double waiting = 0;

    while (bench_feed_reports(feed) < N) {
        record_one(r, feed, ctl, out);
        if (bench_feed_reports(feed) % 1024 == 0) {
            waiting = fmax(waiting, waiting_of(r->live));
        }
    }
    loop = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - loop;
    tri_live_stop(r->live, 0);
    r->live = NULL;
    r->no_tables = 1;
    all = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - all;
    wall = bench_seconds(CLOCK_MONOTONIC) - wall;
    out->rows_per_s = N / wall;
    out->rows_per_cpu_s = N / all;
    out->loop_ns = 1e9 * (loop - feed_alone()) / N;
    out->thread_ns = 1e9 * (all - loop) / N;
    out->waiting_mb = waiting / 1e6;
}

static void record(const char *path, figures *out)
{
    const tri_record_facts facts = {"", "", "", "resume", "", "", "", "", NULL};
    const tri_record_end end = {3, "drained", 1};
    tri_ctl *unused;
    bench_feed *feed;
    tri_record *r;
    tri_ctl *ctl;
    int epoch;

    bench_must(tri_record_open(path, 0, &facts, &r, &unused, &epoch));
    tri_ctl_destroy(unused);
    bench_must(tri_ctl_create(&ctl));
    feed = bench_feed_create(ctl, GROUPS, REPORTS);
    record_all(r, feed, ctl, out);
    out->close_s = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    bench_must(tri_record_close(r, ctl, &end, 0));
    out->close_s = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - out->close_s;
    out->runs = tri_ctl_n_runs(ctl);
    bench_feed_destroy(feed);
    tri_ctl_destroy(ctl);
}

static void weigh(const char *path, figures *out)
{
    static const char *const names[] = {"trials", "runs", "reports", "events",
                                        "models", "pool", "epochs",  "blobs"};
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    int i;

    for (i = 0; i < TRI_TABLE_COUNT; ++i) {
        hid_t set = H5Dopen2(file, names[i], H5P_DEFAULT);
        hid_t space = H5Dget_space(set);

        out->table[i] = (double)H5Dget_storage_size(set) / N;
        if (i == TRI_TABLE_REPORTS) {
            out->rows = H5Sget_simple_extent_npoints(space);
        }
        H5Sclose(space);
        H5Dclose(set);
    }
    H5Fclose(file);
}

static void verify(const char *path, const figures *f)
{
    tri_replay counts;
    tri_history *h;
    tri_ctl *ctl;

    check(f->rows == N, "reports are missing");
    bench_must(tri_history_read(path, &h));
    bench_must(tri_history_replay(h, &ctl, &counts));
    check(counts.events > N && counts.mismatches == 0, "events are missing");
    tri_ctl_destroy(ctl);
    tri_history_destroy(h);
}

static int print(const figures *f)
{
    double row = f->table[TRI_TABLE_REPORTS] + f->table[TRI_TABLE_EVENTS] +
                 f->table[TRI_TABLE_BLOBS];
    int ok = f->rows_per_cpu_s >= LIMIT_ROWS && row <= LIMIT_BYTES &&
             f->waiting_mb <= LIMIT_WAITING_MB;

    printf("{\"bench\": \"store_rows\", \"reports\": %d, \"runs\": %" PRId64
           ", \"rows_per_s\": %.0f, \"rows_per_cpu_s\": %.0f, \"loop_ns\": "
           "%.0f, \"thread_ns\": %.0f, "
           "\"longest_ms\": %.2f, \"waiting_mb\": %.1f, \"bytes_a_row\": %.1f, "
           "\"reports_bytes\": %.1f, \"events_bytes\": %.1f, "
           "\"blobs_bytes\": %.1f, \"close_cpu_s\": %.2f, "
           "\"limits\": {\"rows_per_cpu_s\": %.0f, \"bytes_a_row\": %.0f, "
           "\"waiting_mb\": %.0f}, \"ok\": %s}\n",
           N, f->runs, f->rows_per_s, f->rows_per_cpu_s, f->loop_ns,
           f->thread_ns, f->longest_ms, f->waiting_mb, row,
           f->table[TRI_TABLE_REPORTS], f->table[TRI_TABLE_EVENTS],
           f->table[TRI_TABLE_BLOBS], f->close_s, LIMIT_ROWS, LIMIT_BYTES,
           LIMIT_WAITING_MB, ok ? "true" : "false");
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    char dir[1024], path[1100], other[1110];
    figures f;

    memset(&f, 0, sizeof f);
    snprintf(dir, sizeof dir, "%s/tri-bench-XXXXXX",
             argc > 1 ? argv[1] : "/tmp");
    if (!mkdtemp(dir)) {
        perror(dir);
        return 1;
    }
    snprintf(path, sizeof path, "%s/bench.h5", dir);
    record(path, &f);
    weigh(path, &f);
    verify(path, &f);
    unlink(path);
    snprintf(other, sizeof other, "%s.exit", path);
    unlink(other);
    rmdir(dir);
    return print(&f);
}
