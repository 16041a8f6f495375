/*
 * Any bytes that a trial's process may print on its streams, cut anywhere: no
 * crash, bounded memory, and a good line after them is still read; what is
 * told of them is a queue of steps that only go up, with finite counts.
 */
#include "mpi_workers/news.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tri_news news;
static int64_t step;

static void on_line(void *ctx, const tri_metric_line *line)
{
    (void)ctx;
    step = line->step;
    if (memchr(line->failure, 0, sizeof line->failure) == NULL ||
        memchr(line->sentence, 0, sizeof line->sentence) == NULL) {
        abort();
    }
    tri_news_hear(&news, line);
}

static void check_news(void)
{
    tri_news_line line;
    int64_t before = 0;

    tri_news_time(&news, 1);
    while (tri_news_next(&news, &line)) {
        if (line.step <= before || line.steps <= 0 || !isfinite(line.step_s) ||
            !isfinite(line.tokens) || line.tokens < 0 ||
            !isfinite(line.samples) || line.samples < 0) {
            abort();
        }
        before = line.step;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char good[] = "\n{\"step\": 12345, \"loss\": 1}\n";
    const char *bytes = (const char *)data;
    size_t cut = size ? data[0] % (size + 1) : 0;
    tri_metrics *m;

    if (tri_metrics_create("own", &m) != TRI_OK) {
        return 0;
    }
    step = -1;
    tri_news_init(&news, 0);
    tri_metrics_hear(m, TRI_STREAM_OUT, bytes, cut, on_line, NULL);
    tri_metrics_hear(m, TRI_STREAM_OUT, bytes + cut, size - cut, on_line, NULL);
    tri_metrics_hear(m, TRI_STREAM_OUT, good, sizeof good - 1, on_line, NULL);
    if (step != 12345) {
        abort();
    }
    tri_metrics_hear(m, TRI_STREAM_ERR, bytes, size, on_line, NULL);
    tri_metrics_hear(m, TRI_STREAM_FD, bytes, size, on_line, NULL);
    tri_metrics_end(m, on_line, NULL);
    tri_metrics_destroy(m);
    check_news();
    return 0;
}
