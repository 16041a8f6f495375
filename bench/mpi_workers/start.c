/*
 * What the guard costs: a process started, awaited and cleared away through it,
 * against a bare posix_spawn and waitpid of the same program, by turns in one
 * run.
 *
 * Verified before it counts: each process says its word and ends with its
 * status, and nobody is left.
 *
 * Units.  bare_us, guarded_us: medians of wall time, from before the start to
 * when the end is known and all is freed (guarded: pipes, the guard, memory
 * evidence before and after, and whoever is left killed).  start_us: of that,
 * until the command runs.  cost_us: guarded less bare.  A trial's process lives
 * for seconds: the limit is 10 ms.
 *
 *   bench_process_start [N]        processes of each kind; 300
 */
#include "mpi_workers/child.h"
#include "mpi_workers/pause.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST     10000
#define LIMIT_US 10000.0

static char *argv_of[] = {(char[]){"/bin/echo"}, (char[]){"word"}, NULL};
static char *env_of[] = {(char[]){"PATH=/usr/bin:/bin"}, NULL};

static void fail(const char *what)
{
    fprintf(stderr, "bench_process_start: %s\n", what);
    exit(1);
}

static double bare(void)
{
    posix_spawn_file_actions_t files;
    double start = tri_now();
    int pair[2];
    int status;
    char text[16];
    pid_t pid;

    if (pipe(pair) != 0) {
        fail("no pipe");
    }
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, pair[1], 1);
    posix_spawn_file_actions_addclose(&files, pair[0]);
    if (posix_spawn(&pid, argv_of[0], &files, NULL, argv_of, env_of) != 0) {
        fail("no process");
    }
    posix_spawn_file_actions_destroy(&files);
    close(pair[1]);
    if (read(pair[0], text, sizeof text) != 5 || waitpid(pid, &status, 0) < 0 ||
        status != 0) {
        fail("a process went wrong");
    }
    close(pair[0]);
    return tri_now() - start;
}

static void count(void *ctx, tri_stream stream, const char *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)ctx += stream == TRI_STREAM_OUT ? n : 0;
}

static double guarded(double *start_s)
{
    tri_child_spec spec = {.argv = argv_of, .env = env_of};
    double start = tri_now();
    tri_child_end end = {.wait_status = -1};
    size_t n = 0;
    tri_child *c;

    if (tri_child_spawn(&spec, &c) != TRI_OK) {
        fail(tri_error_last()->sentence);
    }
    *start_s = tri_now() - start;
    while (!tri_child_ended(c, &end)) {
        tri_child_hear(c, 1, count, &n);
    }
    tri_child_destroy(c, 0);
    if (n != 5 || end.wait_status != 0) {
        fail("a guarded process went wrong");
    }
    return tri_now() - start;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_us(double *s, int n)
{
    qsort(s, (size_t)n, sizeof *s, compare);
    return 1e6 * s[n / 2];
}

int main(int argc, char **argv)
{
    static double bare_s[MOST], guarded_s[MOST], start_s[MOST];
    int n = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 300;
    double bare_us, guarded_us;
    int ok;

    if (n < 1 || n > MOST) {
        fail("N is from 1 to 10000");
    }
    for (int i = 0; i < n; i++) {
        bare_s[i] = bare();
        guarded_s[i] = guarded(&start_s[i]);
    }
    if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD) {
        fail("somebody is left");
    }
    bare_us = median_us(bare_s, n);
    guarded_us = median_us(guarded_s, n);
    ok = guarded_us - bare_us < LIMIT_US;
    printf("{\"bench\": \"process_start\", \"n\": %d, \"bare_us\": %.0f, "
           "\"guarded_us\": %.0f, \"start_us\": %.0f, \"cost_us\": %.0f, "
           "\"ratio\": %.2f, \"limit_us\": %.0f, \"ok\": %s}\n",
           n, bare_us, guarded_us, median_us(start_s, n), guarded_us - bare_us,
           guarded_us / bare_us, LIMIT_US, ok ? "true" : "false");
    return ok ? 0 : 1;
}
