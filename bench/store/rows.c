/*
 * What recording costs: events into a journal segment, and their rows through
 * the store thread into a live HDF5 file.
 *
 * Verified before it counts: all events are read back from the segment, and
 * all rows are in the closed file.
 *
 * Units.  events_per_s: reports appended by write(2), one call each, synced
 * once at the end; wall time.  rows_per_s: reports pushed as rows of /reports,
 * /events and /blobs, until the file is closed; wall time, the loop and the
 * thread together.  loop_ns: CPU time that one event's rows cost the loop.
 * A thousand ranks that report twice a second give 2000 of either; the limit
 * asks for ten times that.
 *
 *   bench_store_rows [FOLDER]      a folder on the disk to be measured; /tmp
 */
#include "src/store/live.h"
#include "src/store/tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define N     200000
#define LIMIT 20000.0

static const char study_text[] =
        "study: bench\nmodel: {kind: synthetic}\nspace: {a: {int: [1, 8]}}\n"
        "objective: {minimize: loss}\n";

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(tri_status st)
{
    if (st != TRI_OK) {
        fprintf(stderr, "bench_store_rows: %s\n", tri_error_last()->sentence);
        exit(1);
    }
}

static tri_event report(int i)
{
    tri_event e;

    memset(&e, 0, sizeof e);
    e.kind = TRI_EV_REPORT;
    e.time_s = i;
    e.u.report.run = i / 100;
    e.u.report.seq = i % 100;
    e.u.report.step_s = 0.5;
    e.u.report.loss = 2;
    return e;
}

static tri_ctl *controller(void)
{
    tri_commands commands;
    tri_event e;
    tri_ctl *ctl;

    memset(&e, 0, sizeof e);
    e.kind = TRI_EV_OPEN;
    e.u.open.study_text = (tri_blob){study_text, sizeof study_text - 1};
    e.u.open.study_path = e.u.open.build = e.u.open.deadline_source = "";
    e.u.open.level = e.u.open.pml = e.u.open.machine_class = "";
    e.u.open.command_line = "";
    e.u.open.epoch = 1;
    e.u.open.max_time_s = e.u.open.deadline_s = NAN;
    must(tri_ctl_create(&ctl));
    must(tri_ctl_feed(ctl, &e, &commands));
    return ctl;
}

static double bench_journal(const tri_files *files)
{
    tri_buffer packed;
    tri_history *h;
    tri_journal *j;
    double start;
    int i;

    tri_buffer_init(&packed);
    must(tri_journal_create(files, 1, NULL, 0, NULL, 0, &j));
    start = seconds(CLOCK_MONOTONIC);
    for (i = 0; i < N; ++i) {
        tri_event e = report(i);

        tri_buffer_clear(&packed);
        must(tri_event_pack(&e, &packed));
        must(tri_journal_append(j, packed.data, packed.bytes, 0));
    }
    must(tri_journal_sync(j));
    start = seconds(CLOCK_MONOTONIC) - start;
    must(tri_history_load(files, &h));
    if (tri_history_n(h) != N) {
        fprintf(stderr, "bench_store_rows: events are missing\n");
        exit(1);
    }
    tri_history_destroy(h);
    unlink(j->path);
    tri_journal_destroy(j);
    tri_buffer_fini(&packed);
    return N / start;
}

/* Push all reports; returns the loop's CPU seconds. */
static double push_all(tri_live *live, const tri_schema *schema)
{
    double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    tri_stream stream = {0, 0, 0, 0};
    tri_buffer packed;
    int i;

    tri_buffer_init(&packed);
    for (i = 0; i < N; ++i) {
        tri_event e = report(i);
        tri_batch *batch = tri_live_begin(live);

        if (!batch) {
            fprintf(stderr, "bench_store_rows: the tables fell behind\n");
            exit(1);
        }
        tri_buffer_clear(&packed);
        must(tri_event_pack(&e, &packed));
        must(tri_rows_event(batch, schema, &stream, &e, packed.data,
                            packed.bytes, 0));
        tri_live_end(live);
    }
    tri_buffer_fini(&packed);
    return seconds(CLOCK_THREAD_CPUTIME_ID) - start;
}

static double bench_tables(const tri_files *files, double *loop_ns)
{
    tri_record_facts facts;
    tri_ctl *ctl = controller();
    tri_h5facts h5facts = {tri_ctl_study(ctl), &facts, 1, 0};
    tri_history *h;
    tri_schema schema;
    tri_h5file *file;
    tri_live *live;
    double start;
    int folded;

    memset(&facts, 0, sizeof facts);
    must(tri_h5_start());
    must(tri_schema_init(&schema, ctl, &tri_widths_live));
    must(tri_h5file_create(files->path, &schema, &h5facts, 0, &file));
    must(tri_h5file_swmr(file));
    must(tri_live_start(file, &live));
    start = seconds(CLOCK_MONOTONIC);
    *loop_ns = 1e9 * push_all(live, &schema) / N;
    tri_live_stop(live, 0);
    start = seconds(CLOCK_MONOTONIC) - start;
    must(tri_history_create(&h));
    must(tri_h5file_read_events(files->path, h, &folded));
    if (tri_history_n(h) != N) {
        fprintf(stderr, "bench_store_rows: rows are missing\n");
        exit(1);
    }
    tri_history_destroy(h);
    tri_schema_fini(&schema);
    tri_ctl_destroy(ctl);
    unlink(files->path);
    return N / start;
}

int main(int argc, char **argv)
{
    char dir[1024], path[1100];
    tri_files files;
    double events, rows, loop_ns;
    int ok;

    snprintf(dir, sizeof dir, "%s/tri-bench-XXXXXX",
             argc > 1 ? argv[1] : "/tmp");
    if (!mkdtemp(dir)) {
        perror(dir);
        return 1;
    }
    snprintf(path, sizeof path, "%s/bench.h5", dir);
    must(tri_files_init(&files, path));
    events = bench_journal(&files);
    rows = bench_tables(&files, &loop_ns);
    rmdir(dir);
    ok = events >= LIMIT && rows >= LIMIT;
    printf("{\"bench\": \"store_rows\", \"n\": %d, \"events_per_s\": %.0f, "
           "\"rows_per_s\": %.0f, \"loop_ns\": %.0f, \"limit_per_s\": %.0f, "
           "\"ok\": %s}\n",
           N, events, rows, loop_ns, LIMIT, ok ? "true" : "false");
    return ok ? 0 : 1;
}
