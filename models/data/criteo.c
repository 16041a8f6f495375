/*
 * Criteo's lines, and clicks that are made up.
 */
#include "models/data/criteo.h"

#include "trireme/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines --------------------------------------------------------------- */

typedef struct scan {
    const unsigned char *at, *end, *line; /* here, behind all, this line */
    const char *name;
    int64_t number; /* of this line, from 1 */
    int field;      /* from 1 */
} scan;

static tri_status wrong(const scan *s, const char *expected)
{
    size_t n = 0;

    while (s->at + n < s->end && n < 24 && s->at[n] != '\t' &&
           s->at[n] != '\n') {
        n++;
    }
    return TRI_FAIL(TRI_EDATA,
                    "%s:%lld:%d: field %d: found \"%.*s\", "
                    "expected %s",
                    s->name, (long long)s->number, (int)(s->at - s->line) + 1,
                    s->field, (int)n, (const char *)s->at, expected);
}

static int at_field_end(const scan *s)
{
    return s->at == s->end || *s->at == '\t' || *s->at == '\n' ||
           (*s->at == '\r' && s->at + 1 < s->end && s->at[1] == '\n');
}

/* Over the tab before a field. */
static tri_status next_field(scan *s)
{
    s->field++;
    if (s->at == s->end || *s->at != '\t') {
        return wrong(s, "40 fields apart by tabs: label, 13 integers and 26 "
                        "categories");
    }
    s->at++;
    return TRI_OK;
}

/* An integer of at most 18 digits; *empty where there is none. */
static tri_status read_integer(scan *s, int64_t *out, int *empty)
{
    const unsigned char *start = s->at;
    int negative = s->at < s->end && *s->at == '-', digits = 0;
    int64_t x = 0;

    *empty = at_field_end(s);
    s->at += negative;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9' && digits < 18) {
        x = 10 * x + (*s->at++ - '0');
        digits++;
    }
    if (!*empty && (digits == 0 || !at_field_end(s))) {
        s->at = start;
        return wrong(s, "an integer of at most 18 digits, or nothing");
    }
    *out = negative ? -x : x;
    return TRI_OK;
}

static int hex_digit(int c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static tri_status read_category(scan *s, int field, int64_t *out)
{
    const unsigned char *start = s->at;
    uint64_t x = 0;
    int digits = 0, d;

    while (s->at < s->end && (d = hex_digit(*s->at)) >= 0 && digits < 16) {
        x = x << 4 | (uint64_t)d;
        s->at++;
        digits++;
    }
    if (!at_field_end(s)) {
        s->at = start;
        return wrong(s, "a category of at most 16 hexadecimal digits, or "
                        "nothing");
    }
    *out = digits ? (int64_t)(tri_rng_hash_u64(x ^ (uint64_t)field << 56) >> 1)
                  : -1;
    return TRI_OK;
}

static tri_status read_line(scan *s, tri_criteo *c)
{
    float *dense = c->dense + c->n * TRI_CRITEO_DENSE;
    int64_t *hash = c->hash + c->n * TRI_CRITEO_SPARSE;
    int64_t x = 0;
    int i, empty;

    s->line = s->at;
    s->field = 1;
    if (*s->at != '0' && *s->at != '1') {
        return wrong(s, "a label, 0 or 1");
    }
    c->click[c->n] = (signed char)(*s->at++ - '0');
    if (!at_field_end(s)) {
        s->at--;
        return wrong(s, "a label, 0 or 1");
    }
    for (i = 0; i < TRI_CRITEO_DENSE; i++) {
        TRI_TRY(next_field(s));
        TRI_TRY(read_integer(s, &x, &empty));
        dense[i] = empty || x < 0 ? 0.0F : (float)log1p((double)x);
    }
    for (i = 0; i < TRI_CRITEO_SPARSE; i++) {
        TRI_TRY(next_field(s));
        TRI_TRY(read_category(s, i, &hash[i]));
    }
    s->field++;
    if (s->at < s->end && *s->at == '\t') {
        return wrong(s, "the end of the line behind 40 fields");
    }
    s->at += s->at < s->end && *s->at == '\r';
    s->at += s->at < s->end;
    c->n++;
    return TRI_OK;
}

static int64_t count_lines(const unsigned char *text, size_t bytes)
{
    int64_t n = bytes > 0 && text[bytes - 1] != '\n';
    size_t i;

    for (i = 0; i < bytes; i++) {
        n += text[i] == '\n';
    }
    return n;
}

void tri_criteo_close(tri_criteo *c)
{
    free(c->dense);
    free(c->hash);
    free(c->click);
    *c = (tri_criteo){0};
}

tri_status tri_criteo_read(const unsigned char *text, size_t bytes,
                           const char *name, tri_criteo *out)
{
    size_t lines = (size_t)count_lines(text, bytes);
    tri_criteo c = {0};
    scan s = {.at = text, .end = text + bytes, .line = text, .name = name};
    tri_status st = TRI_OK;

    if (lines == 0) {
        return TRI_FAIL(TRI_EDATA, "%s: found no line, expected samples", name);
    }
    c.dense = malloc(lines * TRI_CRITEO_DENSE * sizeof *c.dense);
    c.hash = malloc(lines * TRI_CRITEO_SPARSE * sizeof *c.hash);
    c.click = malloc(lines);
    if (!c.dense || !c.hash || !c.click) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for the %zu samples of %s", lines,
                      name);
    }
    while (st == TRI_OK && s.at < s.end) {
        s.number++;
        st = read_line(&s, &c);
    }
    if (st != TRI_OK) {
        tri_criteo_close(&c);
        return st;
    }
    *out = c;
    return TRI_OK;
}

/* ---- made up ------------------------------------------------------------- */

/* A rank from 0 with weight about 1 / (rank + 1)^a, by inversion of the
 * continuous distribution on [1, n + 1). */
static int64_t zipf_rank(double u, double a, int64_t n, double power)
{
    double x = a == 1 ? exp(u * log((double)n + 1))
                      : pow(1 + u * (power - 1), 1 / (1 - a));
    int64_t rank;

    rank = (int64_t)x - 1;
    return rank < 0 ? 0 : rank < n ? rank : n - 1;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;

        a = b;
        b = r;
    }
    return a;
}

/* Neighbours in popularity are far apart in the table, as hashed ids are:
 * multiplication by about the golden section, coprime to n. */
static int64_t apart(int64_t n)
{
    int64_t step = (int64_t)(0.6180339887 * (double)n) | 1;

    while (common_divisor(step, n) != 1) {
        step += 2;
    }
    return step;
}

void tri_clicks_prepare(tri_clicks *c)
{
    int t;

    for (t = 0; t < c->tables; t++) {
        c->apart[t] = apart(c->rows[t]);
        c->power[t] = pow((double)c->rows[t] + 1, 1 - c->zipf);
    }
}

/* How much an id speaks for a click: in [-1, 1], and each its own. */
static double opinion(uint64_t seed, int table, int64_t id)
{
    uint64_t h = tri_rng_hash_u64(seed ^ (uint64_t)id ^ (uint64_t)table << 48);

    return (double)(h >> 11) * 0x1p-52 - 1;
}

int tri_clicks_sample(const tri_clicks *c, int64_t step, int64_t sample,
                      int64_t stride, tri_real *dense, int32_t *ids)
{
    tri_rng rng = tri_rng_stream(c->seed, (uint64_t)sample, TRI_RNG_DATA);
    int64_t each = c->dense + (int64_t)c->tables * c->pooling + 1;
    double score = -0.5, features = sqrt(c->dense);
    double lookups = sqrt((double)c->tables * c->pooling);
    int i, t;

    rng.next = (uint64_t)(step * each);
    for (i = 0; i < c->dense; i++) {
        dense[i] = (tri_real)tri_rng_normal(&rng);
        score += (i % 2 ? 0.5 : -0.5) * (double)dense[i] / features;
    }
    for (t = 0; t < c->tables; t++) {
        for (i = 0; i < c->pooling; i++) {
            int64_t n = c->rows[t];
            int64_t rank =
                    zipf_rank(tri_rng_unit(&rng), c->zipf, n, c->power[t]);
            int64_t id = rank * c->apart[t] % n;

            ids[t * stride + i] = (int32_t)id;
            score += 3 * opinion(c->seed, t, id) / lookups;
        }
    }
    return tri_rng_unit(&rng) < 1 / (1 + exp(-score));
}
