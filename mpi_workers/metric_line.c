/*
 * What lines of metrics have in common.
 */
#include "mpi_workers/metric_line.h"

#include <math.h>
#include <string.h>

/* No step is beyond what a double counts exactly. */
#define MOST_STEPS 9007199254740992.0

void tri_metric_line_clear(tri_metric_line *line)
{
    memset(line, 0, sizeof *line);
    line->step = line->checkpoint = -1;
    line->tokens = line->samples = line->loss = line->own = NAN;
    line->bytes = line->consumed_tokens = line->consumed_samples = NAN;
    line->tokens_per_s = line->samples_per_s = line->step_s = NAN;
}

static double *place_of(tri_metric_line *line, tri_key key)
{
    switch (key) {
    case TRI_KEY_TOKENS:
        return &line->tokens;
    case TRI_KEY_SAMPLES:
        return &line->samples;
    case TRI_KEY_CONSUMED_TOKENS:
        return &line->consumed_tokens;
    case TRI_KEY_CONSUMED_SAMPLES:
        return &line->consumed_samples;
    case TRI_KEY_TOKENS_PER_S:
        return &line->tokens_per_s;
    case TRI_KEY_SAMPLES_PER_S:
        return &line->samples_per_s;
    case TRI_KEY_STEP_S:
        return &line->step_s;
    case TRI_KEY_LOSS:
        return &line->loss;
    case TRI_KEY_BYTES:
        return &line->bytes;
    case TRI_KEY_OWN:
        return &line->own;
    default:
        return NULL;
    }
}

int tri_metric_line_set(tri_metric_line *line, tri_key key, double value)
{
    double *place = place_of(line, key);

    if (key == TRI_KEY_STEP) {
        if (!(value >= 0 && value <= MOST_STEPS) || value != floor(value)) {
            return 0;
        }
        line->step = (int64_t)value;
    } else if (place) {
        *place = key == TRI_KEY_OWN && isnan(value) ? INFINITY : value;
        line->has_loss |= key == TRI_KEY_LOSS;
    }
    return 1;
}

int tri_metric_line_is_metric(const tri_metric_line *line)
{
    return line->step >= 0 || line->has_loss || !isnan(line->tokens) ||
           !isnan(line->samples) || !isnan(line->own) || !isnan(line->bytes) ||
           !isnan(line->consumed_tokens) || !isnan(line->consumed_samples) ||
           !isnan(line->tokens_per_s) || !isnan(line->samples_per_s) ||
           !isnan(line->step_s);
}

/* ---- texts -------------------------------------------------------------- */

void tri_metric_clean(const char *from, char *out, size_t bytes)
{
    size_t n = 0;

    for (; *from && n + 1 < bytes; from++) {
        unsigned char c = (unsigned char)*from;

        out[n++] = (char)(c < ' ' || c == 127 ? ' ' : c);
    }
    out[n] = 0;
}

void tri_metric_names_add(tri_metric_names *names, const char *name)
{
    char clean[TRI_METRIC_NAME_BYTES];
    size_t n = 0;

    if (names->n == TRI_METRIC_NAMES) {
        return;
    }
    for (; *name && n + 1 < sizeof clean; name++) {
        unsigned char c = (unsigned char)*name;

        clean[n++] = (char)(c <= ' ' || c == '"' || c >= 127 ? '?' : c);
    }
    clean[n] = 0;
    for (int i = 0; i < names->n; i++) {
        if (strcmp(names->at[i], clean) == 0) {
            return;
        }
    }
    memcpy(names->at[names->n++], clean, n + 1);
}
