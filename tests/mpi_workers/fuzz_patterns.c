/*
 * Any bytes under the patterns of every trainer, and any bytes as a pattern of
 * the user's: no crash, no stall, and a good line after them is still read.
 */
#include "mpi_workers/patterns.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_line(void *ctx, const tri_metric_line *line)
{
    *(int64_t *)ctx = line->step;
}

static void hear(tri_metrics *m, const char *bytes, size_t size, int64_t *step)
{
    size_t cut = size ? (unsigned char)bytes[0] % (size + 1) : 0;

    tri_metrics_hear(m, TRI_STREAM_ERR, bytes, cut, on_line, step);
    tri_metrics_hear(m, TRI_STREAM_ERR, bytes + cut, size - cut, on_line, step);
    tri_metrics_hear(m, TRI_STREAM_OUT, bytes, size, on_line, step);
}

/* Patterns of a trainer are compiled once. */
static tri_metrics *reader_of(const char *trainer)
{
    tri_process_spec spec = {.metrics = {.trainer = trainer}};
    tri_metrics *m;

    if (tri_metrics_create("mfu", &m) != TRI_OK ||
        tri_metrics_use(m, &spec, 2) != TRI_OK) {
        abort();
    }
    return m;
}

/* Up to the first newline a pattern, behind it what it is looked for in. */
static void run_as_pattern(const char *bytes, size_t size)
{
    tri_process_spec spec = {.metrics = {.n_patterns = 1}};
    tri_pair pair = {"loss", NULL};
    const char *end = memchr(bytes, '\n', size);
    size_t n = end ? (size_t)(end - bytes) : size;
    char *regex = malloc(n + 1);
    int64_t step = -1;
    tri_metrics *m;

    if (!regex) {
        return;
    }
    memcpy(regex, bytes, n);
    regex[n] = 0;
    pair.value = regex;
    spec.metrics.patterns = &pair;
    if (tri_metrics_create(NULL, &m) == TRI_OK) {
        if (tri_metrics_use(m, &spec, 1) == TRI_OK) {
            hear(m, bytes + n, size - n, &step);
            tri_metrics_end(m, on_line, &step);
        }
        tri_metrics_destroy(m);
    }
    free(regex);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct {
        const char *trainer, *good;
        tri_metrics *m;
    } rows[] = {{"megatron-lm", "\n iteration 12345/ 99999 |\n", NULL},
                {"deepspeed", "\n[Rank 0] step=12345, skipped=0\n", NULL},
                {"nanotron", "\niteration: 12345 / 99999 | x\n", NULL},
                {"torchtitan", "\nstep: 12345  loss:  1.0\n", NULL},
                {"huggingface", "\n 10%|#  | 12345/99999 [00:00\n", NULL}};
    int64_t step;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!rows[i].m) {
            rows[i].m = reader_of(rows[i].trainer);
        }
        step = -1;
        hear(rows[i].m, (const char *)data, size, &step);
        tri_metrics_end(rows[i].m, on_line, &step);
        tri_metrics_hear(rows[i].m, TRI_STREAM_ERR, rows[i].good,
                         strlen(rows[i].good), on_line, &step);
        if (step != 12345) {
            abort();
        }
    }
    run_as_pattern((const char *)data, size);
    return 0;
}
