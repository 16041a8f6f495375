/*
 * What reading the output of a trial's process costs.
 *
 * Verified before it counts: of each text exactly the lines that say something
 * are found, and the last of them has the step that it should.
 *
 * Units.  mb_per_s: 10^6 bytes of output read in a second of CPU time, in
 * pieces of 64 KiB as a pipe gives them.  Kinds: noise (log lines without any
 * metric, read with the patterns of a trainer, the most of any), binary (random
 * bytes, likewise), json (a line a step), a trainer's name (its lines of a
 * step), hostile (lines made to make a hostile pattern try for ever).  A
 * trainer that prints 100 MB in its run has printed a great deal; the limits
 * ask that reading them takes 10 s of a core at most, and that a hostile line
 * of 64 KiB takes 0.1 s.
 *
 *   bench_metrics [MEGABYTES]      of each kind; 100
 */
#include "mpi_workers/metrics.h"
#include "trireme/rng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECE         65536
#define LIMIT         10.0
#define LIMIT_HOSTILE 0.65

typedef struct found {
    int64_t lines, step;
} found;

static void on_line(void *ctx, const tri_metric_line *line)
{
    found *f = ctx;

    f->lines++;
    f->step = line->step >= 0 ? line->step : f->step;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- texts: how line `i` of a kind reads -------------------------------- */

typedef struct kind {
    const char *name, *trainer;
    tri_stream stream;
    const char *form;  /* of a line, with its step; NULL: random bytes */
    const char *regex; /* instead of a trainer */
    int says;          /* the lines say something */
    int pad;           /* bytes of 'a' before the line's end */
} kind;

static const kind kinds[] = {
        {"noise", "megatron-lm", TRI_STREAM_ERR,
         "[2025-04-13 23:41:12] [INFO] [module.py:96:work] [Rank 0] a line of "
         "a log, number %lld, without a metric\n",
         NULL, 0, 0},
        {"binary", "megatron-lm", TRI_STREAM_OUT, NULL, NULL, 0, 0},
        {"json", NULL, TRI_STREAM_FD,
         "{\"step\": %lld, \"loss\": 2.345678, \"tokens\": 4096, "
         "\"grad_norm\": 0.123}\n",
         NULL, 1, 0},
        {"megatron-lm", "megatron-lm", TRI_STREAM_OUT,
         " [2025-04-13 23:41:12] iteration %8lld/ 9000000 | consumed samples: "
         "        1280 | elapsed time per iteration (ms): 1147.6 | throughput "
         "per GPU (TFLOP/s/GPU): 98.1 | learning rate: 1.0E-05 | global batch "
         "size:   128 | lm loss: 7.399415E+00 | loss scale: 1.0 | grad norm: "
         "2.918 | number of skipped iterations:   0 |\n",
         NULL, 1, 0},
        {"deepspeed", "deepspeed", TRI_STREAM_ERR,
         "[2023-11-07 01:55:23,714] [INFO] [timer.py:260:stop] "
         "epoch=0/micro_step=40/global_step=%lld, "
         "RunningAvgSamplesPerSec=25.025, CurrSamplesPerSec=25.75, "
         "MemAllocated=4.32GB, MaxMemAllocated=38.5GB\n",
         NULL, 1, 0},
        {"nanotron", "nanotron", TRI_STREAM_ERR,
         "07/02/2024 [INFO|DP=0|PP=1|TP=0]: iteration: %lld / 9000000 | "
         "consumed_tokens: 82K | elapsed_time_per_iteration_ms: 1.23K | "
         "tokens_per_sec: 66.6K | tokens_per_sec_per_gpu: 33.3K | "
         "global_batch_size: 16 | lm_loss: 10.4 | lr: 0.0003 | "
         "cuda_max_memory_reserved: 3.4G\n",
         NULL, 1, 0},
        {"torchtitan", "torchtitan", TRI_STREAM_ERR,
         "[titan] \x1b[31mstep: %lld  \x1b[32mloss:  5.2500  "
         "\x1b[38;5;208mgrad_norm:  1.6416  \x1b[36mmemory: 40.25GiB(51.14%%)"
         "  \x1b[34mtps: 7,138  \x1b[36mtflops: 1,396.17\x1b[39m\n",
         NULL, 1, 0},
        {"huggingface", "huggingface", TRI_STREAM_ERR,
         "\r  1%%|#         | %lld/9000000 [00:05<08:15,  2.00it/s]\r", NULL, 1,
         0},
        /* one would try every division of the line, one every three places */
        {"hostile", NULL, TRI_STREAM_OUT, "%lld ", "(?:a|aa)+([0-9x])$", 0,
         65000},
        {"hostile-2", NULL, TRI_STREAM_OUT, "%lld ",
         "a[^b]*a[^b]*a[^b]*([0-9])[xy]", 0, 65000},
};

static size_t add_line(const kind *k, int64_t step, char *at)
{
    int n;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    n = sprintf(at, k->form, (long long)step);
#pragma GCC diagnostic pop
    if (k->pad > 0) {
        memset(at + n, 'a', (size_t)k->pad);
        n += k->pad;
        at[n++] = '\n';
    }
    return (size_t)n;
}

/* Fill text[0..n) with whole lines from step *step on; the rest is blank. */
static size_t fill(const kind *k, char *text, size_t n, int64_t *step)
{
    static tri_rng rng;
    size_t at = 0;

    if (!k->form) {
        rng = tri_rng_stream(1, (uint64_t)*step, TRI_RNG_TEST);
        for (; at + 8 <= n; at += 8) {
            uint64_t bits = tri_rng_u64(&rng);
            memcpy(text + at, &bits, 8);
        }
        ++*step;
        return at;
    }
    while (at + (size_t)k->pad + 1024 < n) {
        at += add_line(k, ++*step, text + at);
    }
    return at;
}

/* ---- reading ------------------------------------------------------------ */

static void must(tri_status st)
{
    if (st != TRI_OK) {
        fprintf(stderr, "bench_metrics: %s\n", tri_error_last()->sentence);
        exit(1);
    }
}

static int measure(const kind *k, double megabytes)
{
    static char text[2 * PIECE];
    tri_pair own = {"loss", k->regex};
    tri_process_spec spec = {.metrics = {k->trainer, &own, k->regex != NULL}};
    double limit = k->regex ? LIMIT_HOSTILE : LIMIT;
    double bytes = 0;
    double spent = 0;
    found f = {0, 0};
    tri_metrics *m;
    int64_t step = 0;
    int ok;

    must(tri_metrics_create(NULL, &m));
    must(tri_metrics_use(m, &spec, 4));
    while (bytes < 1e6 * megabytes) {
        size_t n = fill(k, text, k->pad ? 2 * PIECE : PIECE, &step);
        double start = seconds();

        tri_metrics_hear(m, k->stream, text, n, on_line, &f);
        spent += seconds() - start;
        bytes += (double)n;
    }
    tri_metrics_destroy(m);
    if (k->says ? f.lines < step || f.step != step : f.lines > 0) {
        fprintf(stderr,
                "bench_metrics: %s: %" PRId64
                " lines, the last of step %" PRId64 ", of %" PRId64 "\n",
                k->name, f.lines, f.step, step);
        exit(1);
    }
    ok = bytes / spent / 1e6 >= limit;
    printf("{\"bench\": \"metrics\", \"kind\": \"%s\", \"bytes\": %.0f, "
           "\"lines\": %" PRId64 ", \"mb_per_s\": %.1f, \"limit_mb_per_s\": "
           "%.2f, \"ok\": %s}\n",
           k->name, bytes, f.lines, bytes / spent / 1e6, limit,
           ok ? "true" : "false");
    return ok;
}

int main(int argc, char **argv)
{
    double megabytes = argc > 1 ? atof(argv[1]) : 100;
    int ok = 1;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        ok &= measure(&kinds[i], kinds[i].regex ? megabytes / 20 : megabytes);
    }
    return ok ? 0 : 1;
}
