/*
 * Patterns over lines of output.
 */
#include "mpi_workers/patterns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct one {
    const char *name;
    tri_key key;
    double scale;
    tri_pattern *pattern;
} one;

struct tri_patterns {
    int has_step; /* one was found */
    int n;
    one at[];
};

/* ---- values ------------------------------------------------------------- */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether `c` can be the next byte of the number in buf[0..len). */
static int continues(char c, const char *buf, size_t len, int digits)
{
    if (c == '-' || c == '+') {
        return len == 0 || buf[len - 1] == 'e' || buf[len - 1] == 'E';
    }
    return is_digit(c) || c == '.' || ((c == 'e' || c == 'E') && digits);
}

/* A number for strtod, without the commas of thousands.  Returns how many
 * bytes of the text it takes; 0 where there is none. */
static size_t copy_number(const char *text, size_t n, char *buf, size_t bytes)
{
    size_t at = 0;
    size_t len = 0;
    int digits = 0;

    for (; at < n && len + 1 < bytes; at++) {
        char c = text[at];

        if ((c == ',' || c == '_') && digits && at + 1 < n &&
            is_digit(text[at + 1])) {
            continue;
        }
        if (!continues(c, buf, len, digits)) {
            break;
        }
        digits |= is_digit(c);
        buf[len++] = c;
    }
    buf[len] = 0;
    return digits ? at : 0;
}

static int is_word(const char *text, size_t n, const char *word)
{
    size_t i = 0;

    while (i < n && word[i] && (text[i] | 32) == word[i]) {
        i++;
    }
    return i == n && !word[i];
}

/* "nan", "-Infinity": no number, but a value. */
static int read_word(const char *text, size_t n, double *out)
{
    size_t sign = n > 0 && (text[0] == '-' || text[0] == '+');

    if (is_word(text + sign, n - sign, "nan")) {
        *out = NAN;
    } else if (is_word(text + sign, n - sign, "inf") ||
               is_word(text + sign, n - sign, "infinity")) {
        *out = sign && text[0] == '-' ? -INFINITY : INFINITY;
    } else {
        return 0;
    }
    return 1;
}

/* K, M, B, G, T as powers of `base`; 0 where it is none of them. */
static double power_of(char c, double base)
{
    switch (c) {
    case 'k':
    case 'K':
        return base;
    case 'M':
        return base * base;
    case 'B':
    case 'G':
        return base * base * base;
    case 'T':
        return base * base * base * base;
    default:
        return 0;
    }
}

/* What a unit multiplies by; 0 where it is none. */
static double unit_of(const char *unit, size_t n, int is_bytes)
{
    if (n == 0 || (n == 1 && unit[0] == 's')) {
        return 1;
    }
    if (n == 1 && unit[0] == '%') {
        return 0.01;
    }
    if (n == 2 && unit[1] == 's' && (unit[0] == 'm' || unit[0] == 'u')) {
        return unit[0] == 'm' ? 1e-3 : 1e-6;
    }
    if (n == 1 && unit[0] == 'B' && is_bytes) {
        return 1;
    }
    if (n == 3 && unit[1] == 'i' && unit[2] == 'B' && unit[0] != 'B') {
        return power_of(unit[0], 1024);
    }
    if (n == 2 && unit[1] == 'B' && unit[0] != 'B') {
        return power_of(unit[0], 1000);
    }
    return n == 1 ? power_of(unit[0], 1000) : 0;
}

int tri_value_read(const char *text, size_t n, int is_bytes, double *out)
{
    char buf[64];
    char *end;
    size_t used;
    double value;
    double unit;

    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t')) {
        n--;
    }
    for (; n > 0 && (*text == ' ' || *text == '\t'); n--) {
        text++;
    }
    if (read_word(text, n, out)) {
        return 1;
    }
    used = copy_number(text, n, buf, sizeof buf);
    if (used == 0) {
        return 0;
    }
    value = strtod(buf, &end);
    for (; used < n && text[used] == ' ';) {
        used++;
    }
    unit = unit_of(text + used, n - used, is_bytes);
    if (*end || unit == 0) {
        return 0;
    }
    *out = value * unit;
    return 1;
}

/* ---- patterns ----------------------------------------------------------- */

static tri_status add(tri_patterns *p, const tri_pair *from, int n,
                      const char *own, int ranks)
{
    for (int i = 0; i < n; i++) {
        one *o = &p->at[p->n];

        o->name = from[i].key;
        o->key = tri_key_find(from[i].key, own, ranks, &o->scale);
        if (o->key != TRI_KEY_NONE) { /* a trainer's, and not the objective */
            TRI_TRY(tri_pattern_create(from[i].value, &o->pattern));
            p->n++;
        }
    }
    return TRI_OK;
}

tri_status tri_patterns_create(const tri_process_spec *spec, const char *own,
                               int ranks, tri_patterns **out)
{
    const tri_trainer *trainer =
            spec->metrics.trainer ? tri_trainer_find(spec->metrics.trainer)
                                  : NULL;
    int n = spec->metrics.n_patterns + (trainer ? trainer->n_patterns : 0);
    tri_patterns *p;
    tri_status st;

    if (n == 0) {
        *out = NULL;
        return TRI_OK;
    }
    p = calloc(1, sizeof *p + (size_t)n * sizeof p->at[0]);
    if (!p) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for patterns");
    }
    st = add(p, spec->metrics.patterns, spec->metrics.n_patterns, own, ranks);
    if (st == TRI_OK && trainer) {
        st = add(p, trainer->patterns, trainer->n_patterns, own, ranks);
    }
    if (st != TRI_OK) {
        tri_patterns_destroy(p);
        return st;
    }
    *out = p;
    return TRI_OK;
}

void tri_patterns_destroy(tri_patterns *p)
{
    for (int i = 0; p && i < p->n; i++) {
        tri_pattern_destroy(p->at[i].pattern);
    }
    free(p);
}

int64_t tri_patterns_slow(const tri_patterns *p)
{
    int64_t slow = 0;

    for (int i = 0; i < p->n; i++) {
        slow += tri_pattern_slow(p->at[i].pattern);
    }
    return slow;
}

/* ---- lines -------------------------------------------------------------- */

/* Length of the escape sequence at s[0], which is ESC. */
static size_t escape_length(const char *s, size_t n)
{
    size_t i = 2;

    if (n < 2 || s[1] != '[') {
        return n < 2 ? n : 2;
    }
    while (i < n && (s[i] < '@' || s[i] > '~')) { /* parameters */
        i++;
    }
    return i < n ? i + 1 : n;
}

/* Take escape sequences out of line[0..n).  Returns what is left. */
static size_t strip(char *line, size_t n)
{
    char *escape = memchr(line, 27, n);
    size_t to = escape ? (size_t)(escape - line) : n;

    for (size_t i = to; i < n;) {
        if (line[i] == 27) {
            i += escape_length(line + i, n - i);
        } else {
            line[to++] = line[i++];
        }
    }
    return to;
}

int tri_patterns_read(tri_patterns *p, char *line, size_t n,
                      tri_metric_names *names, tri_metric_line *out)
{
    unsigned done = 0; /* a bit a key */
    size_t from;
    size_t to;
    double value;

    tri_metric_line_clear(out);
    n = strip(line, n);
    for (int i = 0; i < p->n; i++) {
        one *o = &p->at[i];

        if (!(done >> o->key & 1) &&
            tri_pattern_find(o->pattern, line, n, &from, &to) &&
            tri_value_read(line + from, to - from, o->key == TRI_KEY_BYTES,
                           &value) &&
            tri_metric_line_set(out, o->key, value * o->scale)) {
            done |= 1u << o->key;
            tri_metric_names_add(names, o->name);
        }
    }
    p->has_step |= out->step >= 0;
    out->belongs = p->has_step && out->step < 0;
    return done != 0;
}
