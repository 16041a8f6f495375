/*
 * Judges what a process reported.
 */
#include "mpi_workers/process_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A step further beyond the double of the last one to do cannot be meant; a
 * line for many steps may well go a little too far. */
#define STEPS_BEYOND 1000
/* Lines without what the resource is counted by, until it is given up. */
#define LINES_WITHOUT 100

void tri_heard_add(tri_heard *h, const tri_news_line *line)
{
    h->has_own |= !isnan(line->own);
    if (line->steps <= 0) {
        return;
    }
    h->lines++;
    h->steps += line->steps;
    h->step = line->step;
    h->has_tokens |= line->tokens > 0;
    h->has_samples |= line->samples > 0;
    h->has_loss |= !isnan(line->loss);
    h->tokens += (double)line->steps * line->tokens;
    h->samples += (double)line->steps * line->samples;
}

/* The key without which there is no objective; NULL: none is missing. */
static const char *missing_key(const tri_heard *h, const tri_study *study)
{
    switch (study->objective.metric) {
    case TRI_METRIC_TOKENS_PER_S:
        return h->has_tokens ? NULL : "tokens";
    case TRI_METRIC_SAMPLES_PER_S:
        return h->has_samples ? NULL : "samples";
    case TRI_METRIC_LOSS:
        return h->has_loss ? NULL : "loss";
    case TRI_METRIC_OWN:
        return h->has_own ? NULL : study->objective.name;
    default:
        return NULL;
    }
}

/* With as much a step for those that the checkpoint has behind it. */
static double since_start(const tri_heard *h, double amount)
{
    return h->step > h->steps && h->steps > 0
                   ? amount * (double)h->step / (double)h->steps
                   : amount;
}

/* How much of the resource was done, in its unit. */
static double amount(const tri_heard *h, tri_unit unit)
{
    switch (unit) {
    case TRI_UNIT_STEPS:
        return (double)h->step;
    case TRI_UNIT_TOKENS:
        return since_start(h, h->tokens);
    case TRI_UNIT_SAMPLES:
        return since_start(h, h->samples);
    default: /* any will do */
        return INFINITY;
    }
}

/* Whether lines had `key`, as far as names were kept. */
static int had(const tri_heard *h, const char *key)
{
    size_t n = strlen(key);

    for (const char *at = h->names; (at = strstr(at, key)); at += n) {
        if ((at == h->names || at[-1] == ' ') && (!at[n] || at[n] == ',')) {
            return 1;
        }
    }
    return 0;
}

static void say_missing(const tri_heard *h, const char *before, const char *key,
                        const char *purpose, char *why, size_t bytes)
{
    int counts = strcmp(key, "tokens") == 0 || strcmp(key, "samples") == 0;

    if (had(h, key)) {
        snprintf(why, bytes, "%sno \"%.60s\" in its lines was a number%s%s",
                 before, key, counts ? " above 0 and below 1e18" : "", purpose);
        return;
    }
    snprintf(why, bytes, "%sno line had \"%.60s\"%s%s%s", before, key, purpose,
             h->names[0] ? "; they had " : "", h->names);
}

int tri_heard_is_result(const tri_heard *h, const tri_study *study,
                        int64_t resource, int ended, char *why, size_t bytes)
{
    const char *key = missing_key(h, study);
    double done = amount(h, study->resource.unit);
    char what[160] = "";
    int is_short = ended >= 0 && done < (double)resource;

    if (is_short) {
        snprintf(what, sizeof what,
                 "the process of rank %d ended with status 0 after %.0f of "
                 "%lld %s%s",
                 ended, done, (long long)resource,
                 tri_unit_name(study->resource.unit), key ? "; " : "");
        snprintf(why, bytes, "%s", what);
    }
    if (key) {
        say_missing(h, what, key,
                    study->objective.metric <= TRI_METRIC_SAMPLES_PER_S
                            ? ", which the objective needs"
                            : "",
                    why, bytes);
    }
    return !is_short && !key;
}

int tri_heard_is_counted(const tri_heard *h, const tri_study *study, char *why,
                         size_t bytes)
{
    tri_unit unit = study->resource.unit;

    if (h->lines < LINES_WITHOUT ||
        !(unit == TRI_UNIT_TOKENS || unit == TRI_UNIT_SAMPLES) ||
        amount(h, unit) > 0) {
        return 1;
    }
    say_missing(h, "", tri_unit_name(unit),
                ", by which the resource is counted", why, bytes);
    return 0;
}

int64_t tri_heard_step_limit(const tri_study *study, int64_t target,
                             int64_t resource)
{
    int64_t most = target >= 0 ? target : resource;

    if (study->resource.unit == TRI_UNIT_SECONDS || most > INT64_MAX / 4) {
        return INT64_MAX;
    }
    return 2 * most + STEPS_BEYOND;
}
