/*
 * Any bytes that a trial's process may print, cut anywhere: no crash, bounded
 * memory, and a good line after them is still read.
 */
#include "mpi_workers/metrics.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_line(void *ctx, const tri_metric_line *line)
{
    *(int64_t *)ctx = line->step;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char good[] = "\n{\"step\": 12345, \"loss\": 1}\n";
    const char *bytes = (const char *)data;
    size_t cut = size ? data[0] % (size + 1) : 0;
    int64_t step = -1;
    tri_metrics *m;

    if (tri_metrics_create("own", &m) != TRI_OK) {
        return 0;
    }
    tri_metrics_feed(m, bytes, cut, on_line, &step);
    tri_metrics_feed(m, bytes + cut, size - cut, on_line, &step);
    tri_metrics_feed(m, good, sizeof good - 1, on_line, &step);
    if (step != 12345) {
        abort();
    }
    tri_metrics_destroy(m);
    return 0;
}
