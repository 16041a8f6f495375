/*
 * Splits a stream into lines and reads metrics from those that are JSON.
 */
#include "mpi_workers/metrics.h"

#include <jansson.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of keys that are kept, and of each. */
#define NAMES      8
#define NAME_BYTES 32
/* No step is beyond what a double counts exactly. */
#define MOST_STEPS 9007199254740992.0

struct tri_metrics {
    const char *own;
    size_t n;     /* bytes of the line so far */
    int skipping; /* the line is too long: drop the rest of it */
    int64_t lines, garbled, huge;
    int n_names; /* of keys seen */
    char names[NAMES][NAME_BYTES];
    char line[TRI_METRICS_LINE_BYTES];
};

tri_status tri_metrics_create(const char *own, tri_metrics **out)
{
    tri_metrics *m = calloc(1, sizeof *m);

    if (!m) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a reader of metrics");
    }
    m->own = own;
    *out = m;
    return TRI_OK;
}

void tri_metrics_destroy(tri_metrics *m)
{
    free(m);
}

int64_t tri_metrics_lines(const tri_metrics *m)
{
    return m->lines;
}

int64_t tri_metrics_garbled(const tri_metrics *m)
{
    return m->garbled;
}

int64_t tri_metrics_huge(const tri_metrics *m)
{
    return m->huge;
}

/* Length of a bare NaN or Infinity at `s`, 0 if there is none. */
static size_t word_at(const char *s, size_t n)
{
    static const char *const words[] = {"-Infinity", "Infinity", "NaN"};

    for (int w = 0; w < 3; w++) {
        size_t bytes = strlen(words[w]);

        if (n >= bytes && memcmp(s, words[w], bytes) == 0) {
            return bytes;
        }
    }
    return 0;
}

/* Bare NaN and Infinity, which JSON has not but Python prints, become the
 * empty text, which number_at takes for "no number". */
static void blank_words(char *line, size_t n)
{
    int quoted = 0;

    for (size_t i = 0; i < n; i++) {
        size_t bytes = quoted ? 0 : word_at(line + i, n - i);

        if (bytes > 0) {
            memset(line + i, ' ', bytes);
            memset(line + i, '"', 2);
            i += bytes - 1;
        } else if (quoted && line[i] == '\\') {
            i++;
        } else if (line[i] == '"') {
            quoted = !quoted;
        }
    }
}

/* The number at `key`, NaN for null, an empty text or where there is none;
 * *found: whether the key is there with one of these. */
static double number_at(const json_t *object, const char *key, int *found)
{
    const json_t *v = json_object_get(object, key);

    if (json_is_number(v)) {
        *found = 1;
        return json_number_value(v);
    }
    if (json_is_null(v) || (json_is_string(v) && !json_string_length(v))) {
        *found = 1;
    }
    return NAN;
}

static double plain_number(const json_t *object, const char *key, int *any)
{
    int found = 0;
    double x = number_at(object, key, &found);

    *any = *any || (found && !isnan(x));
    return x;
}

/* A step is a whole number; *out is -1 where there is none.  Returns 0 where
 * there is one that cannot be. */
static int read_step(const json_t *object, int64_t *out)
{
    const json_t *v = json_object_get(object, "step");
    double x = json_number_value(v);

    *out = -1;
    if (!v) {
        return 1;
    }
    if (json_is_integer(v) && json_integer_value(v) > (json_int_t)MOST_STEPS) {
        return 0; /* which x may not tell */
    }
    if (!json_is_number(v) || !(x >= 0 && x <= MOST_STEPS) || x != floor(x)) {
        return 0;
    }
    *out = (int64_t)x;
    return 1;
}

static int read_object(const tri_metrics *m, const json_t *object,
                       tri_metric_line *out)
{
    int any = out->step >= 0;

    out->tokens = plain_number(object, "tokens", &any);
    out->samples = plain_number(object, "samples", &any);
    out->bytes = plain_number(object, "bytes", &any);
    out->has_loss = 0;
    out->loss = number_at(object, "loss", &out->has_loss);
    out->own = m->own ? plain_number(object, m->own, &any) : NAN;
    return any || out->has_loss;
}

/* As it may stand in a sentence. */
static void clean_name(const char *key, char *out)
{
    size_t n = 0;

    for (; *key && n + 1 < NAME_BYTES; key++) {
        unsigned char c = (unsigned char)*key;

        out[n++] = (char)(c <= ' ' || c == '"' || c >= 127 ? '?' : c);
    }
    out[n] = 0;
}

static int is_known(const tri_metrics *m, const char *name)
{
    for (int i = 0; i < m->n_names; i++) {
        if (strcmp(m->names[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

static void note_names(tri_metrics *m, json_t *object)
{
    const char *key;
    json_t *value;
    char name[NAME_BYTES];

    json_object_foreach(object, key, value)
    {
        if (m->n_names == NAMES) {
            return;
        }
        clean_name(key, name);
        if (!is_known(m, name)) {
            memcpy(m->names[m->n_names++], name, sizeof name);
        }
    }
}

static void read_line(tri_metrics *m, tri_metric_fn each, void *ctx)
{
    tri_metric_line line;
    size_t lead = 0;
    json_t *object;

    while (lead < m->n && (m->line[lead] == ' ' || m->line[lead] == '\t')) {
        lead++;
    }
    if (lead == m->n || m->line[lead] != '{') {
        return;
    }
    object = json_loadb(m->line + lead, m->n - lead, 0, NULL);
    if (!object) {
        blank_words(m->line + lead, m->n - lead);
        object = json_loadb(m->line + lead, m->n - lead, 0, NULL);
    }
    note_names(m, object);
    if (!object || !read_step(object, &line.step)) {
        m->garbled++;
    } else if (read_object(m, object, &line)) {
        m->lines++;
        each(ctx, &line);
    }
    json_decref(object);
}

void tri_metrics_names(const tri_metrics *m, char *buf, size_t bytes)
{
    size_t n = 0;

    buf[0] = 0;
    for (int i = 0; i < m->n_names && n < bytes; i++) {
        n += (size_t)snprintf(buf + n, bytes - n, "%s%s", i ? ", " : "",
                              m->names[i]);
    }
}

void tri_metrics_feed(tri_metrics *m, const char *bytes, size_t n,
                      tri_metric_fn each, void *ctx)
{
    while (n > 0) {
        const char *end = memchr(bytes, '\n', n);
        size_t part = end ? (size_t)(end - bytes) : n;

        if (m->n + part > sizeof m->line) {
            m->huge += !m->skipping;
            m->skipping = 1;
        } else if (!m->skipping) {
            memcpy(m->line + m->n, bytes, part);
            m->n += part;
        }
        if (end) {
            if (!m->skipping) {
                read_line(m, each, ctx);
            }
            m->skipping = 0;
            m->n = 0;
            part++;
        }
        bytes += part;
        n -= part;
    }
}
