/*
 * Splits streams into lines and has them read.
 */
#include "mpi_workers/metrics.h"

#include "mpi_workers/patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct stream {
    size_t n;     /* bytes of the line so far */
    int skipping; /* the line is too long: drop the rest of it */
    int is_bar;   /* a carriage return stands before it */
    char line[TRI_METRICS_LINE_BYTES];
} stream;

struct tri_metrics {
    const char *own;
    int ranks;
    const char *trainer;    /* for sentences */
    tri_patterns *patterns; /* NULL: none */
    int fd_spoke;           /* a metric came on TRIREME_FD */
    int64_t lines, garbled, huge, texts;
    tri_metric_names names;
    stream streams[TRI_STREAM_FD + 1];
};

/* ---- life --------------------------------------------------------------- */

tri_status tri_metrics_create(const char *own, tri_metrics **out)
{
    tri_metrics *m = calloc(1, sizeof *m);

    if (!m) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a reader of metrics");
    }
    m->own = own;
    m->ranks = 1;
    *out = m;
    return TRI_OK;
}

tri_status tri_metrics_use(tri_metrics *m, const tri_process_spec *spec,
                           int ranks)
{
    m->ranks = ranks;
    m->trainer = spec->metrics.trainer;
    return tri_patterns_create(spec, m->own, ranks, &m->patterns);
}

void tri_metrics_destroy(tri_metrics *m)
{
    if (m) {
        tri_patterns_destroy(m->patterns);
        free(m);
    }
}

/* ---- lines -------------------------------------------------------------- */

static int is_json_stream(tri_stream which)
{
    return which == TRI_STREAM_OUT || which == TRI_STREAM_FD;
}

/* A line of JSON, by what tri_metric_json says of it; 1 where it is one. */
static int read_json(tri_metrics *m, tri_stream which, char *text, size_t n,
                     tri_metric_line *line)
{
    char copy[TRI_PATTERN_BYTES];
    size_t kept = n < sizeof copy ? n : sizeof copy;
    int said;

    memcpy(copy, text, kept); /* NaN is written over, which patterns may want */
    said = tri_metric_json(text, n, m->own, m->ranks, &m->names, line);
    if (said < 0 && m->patterns && which == TRI_STREAM_OUT) {
        memcpy(text, copy, kept);
        return tri_patterns_read(m->patterns, text, kept, &m->names, line);
    }
    m->garbled += said < 0;
    return said > 0;
}

/* Whether it is to be passed on. */
static int counts(tri_metrics *m, tri_stream which, tri_metric_line *line)
{
    int is_metric = tri_metric_line_is_metric(line);

    if (which == TRI_STREAM_FD) {
        m->fd_spoke |= is_metric;
    } else if (m->fd_spoke && is_metric) {
        return 0;
    }
    return 1;
}

static void pass_on(tri_metrics *m, tri_stream which, tri_metric_line *line,
                    tri_metric_fn each, void *ctx)
{
    if (counts(m, which, line)) {
        m->lines++;
        each(ctx, line);
    }
}

static void read_line(tri_metrics *m, tri_stream which, tri_metric_fn each,
                      void *ctx)
{
    stream *s = &m->streams[which];
    char *text = s->line;
    size_t n = s->n;
    tri_metric_line line;
    int said = 0;

    for (; n > 0 && (*text == ' ' || *text == '\t'); n--) {
        text++;
    }
    if (n == 0) {
        return;
    }
    if (is_json_stream(which) && *text == '{') {
        said = read_json(m, which, text, n, &line);
    } else if (m->patterns && which != TRI_STREAM_FD) {
        m->texts++;
        said = tri_patterns_read(m->patterns, s->line, s->n, &m->names, &line);
    }
    if (said) {
        pass_on(m, which, &line, each, ctx);
    }
}

/* A progress bar is over only when the next one is drawn over it, a step too
 * late: it is looked at as it stands.  What is found again at its end is said
 * already. */
static void glance(tri_metrics *m, tri_stream which, tri_metric_fn each,
                   void *ctx)
{
    stream *s = &m->streams[which];
    char copy[TRI_PATTERN_BYTES];
    tri_metric_line line;

    if (!m->patterns || !s->is_bar || s->skipping || s->n == 0 ||
        s->n > sizeof copy || which == TRI_STREAM_FD) {
        return;
    }
    memcpy(copy, s->line, s->n);
    if (tri_patterns_read(m->patterns, copy, s->n, &m->names, &line) &&
        line.step >= 0) {
        pass_on(m, which, &line, each, ctx);
    }
}

/* The end of a line in bytes[0..n), NULL if there is none.  Lines of JSON may
 * end with a carriage return and a newline; then the second one is empty. */
static const char *line_end(const char *bytes, size_t n)
{
    const char *newline = memchr(bytes, '\n', n);
    const char *bar =
            memchr(bytes, '\r', newline ? (size_t)(newline - bytes) : n);

    return bar ? bar : newline;
}

void tri_metrics_hear(tri_metrics *m, tri_stream which, const char *bytes,
                      size_t n, tri_metric_fn each, void *ctx)
{
    stream *s = &m->streams[which];

    while (n > 0) {
        const char *end = line_end(bytes, n);
        size_t part = end ? (size_t)(end - bytes) : n;

        if (s->n + part > sizeof s->line) {
            m->huge += !s->skipping;
            s->skipping = 1;
        } else if (!s->skipping) {
            memcpy(s->line + s->n, bytes, part);
            s->n += part;
        }
        if (end) {
            if (!s->skipping) {
                read_line(m, which, each, ctx);
            }
            s->skipping = 0;
            s->n = 0;
            s->is_bar = *end == '\r';
            part++;
        }
        bytes += part;
        n -= part;
    }
    glance(m, which, each, ctx);
}

void tri_metrics_end(tri_metrics *m, tri_metric_fn each, void *ctx)
{
    for (int i = 0; i <= TRI_STREAM_FD; i++) {
        tri_metrics_hear(m, (tri_stream)i, "\n", 1, each, ctx);
    }
}

/* ---- what was heard ----------------------------------------------------- */

int tri_metrics_is_spread(const tri_metrics *m)
{
    return m->patterns != NULL;
}

void tri_metrics_names(const tri_metrics *m, char *buf, size_t bytes)
{
    size_t n = 0;

    buf[0] = 0;
    for (int i = 0; i < m->names.n && n < bytes; i++) {
        n += (size_t)snprintf(buf + n, bytes - n, "%s%s", i ? ", " : "",
                              m->names.at[i]);
    }
}

void tri_metrics_say(const tri_metrics *m, char *buf, size_t bytes)
{
    static const char example[] = "{\"step\": 1, \"loss\": 2.5}";
    char names[160];

    tri_metrics_names(m, names, sizeof names);
    if (m->garbled > 0) {
        snprintf(buf, bytes,
                 "%lld of its lines were ignored: no JSON object, or the step "
                 "is no whole number; expected %s",
                 (long long)m->garbled, example);
    } else if (names[0]) {
        snprintf(buf, bytes, "its lines had %s; expected %s", names, example);
    } else if (m->patterns && m->texts == 0) {
        snprintf(buf, bytes, "it printed nothing");
    } else if (m->patterns) {
        snprintf(buf, bytes,
                 "in none of its %lld lines was a pattern%s%s found%s",
                 (long long)m->texts, m->trainer ? " of " : "",
                 m->trainer ? m->trainer : "",
                 tri_patterns_slow(m->patterns) > 0
                         ? " (in some of them matching took too long)"
                         : "");
    } else {
        snprintf(buf, bytes, "it should print JSON lines such as %s", example);
    }
}

int64_t tri_metrics_slow(const tri_metrics *m)
{
    return m->patterns ? tri_patterns_slow(m->patterns) : 0;
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
