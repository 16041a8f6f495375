/*
 * Metrics in a JSON object.
 */
#include "mpi_workers/metric_line.h"

#include <jansson.h>

#include <math.h>
#include <string.h>

/* ---- numbers that JSON has not ------------------------------------------ */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether a word or a number may go on with `c`. */
static int is_inner(char c)
{
    return is_digit(c) || c == '_' || c == '.' || c == '+' || c == '-' ||
           ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* Length of `word`, in any case, at `s`; 0 if it is not there. */
static size_t word_at(const char *s, size_t n, const char *word)
{
    size_t i = 0;

    while (word[i]) {
        if (i == n || (s[i] | 32) != word[i]) {
            return 0;
        }
        i++;
    }
    return i;
}

/* Length of what stands for no finite number at `s`, as C, C++, Fortran and
 * Python print it: nan, -nan, NaN, nan(0x1), inf, +Infinity; 0 if there is
 * none. */
static size_t infinite_at(const char *s, size_t n)
{
    size_t sign = n > 0 && (*s == '-' || *s == '+');
    size_t bytes = word_at(s + sign, n - sign, "nan");
    size_t end;

    if (bytes > 0 && sign + bytes < n && s[sign + bytes] == '(') {
        end = sign + bytes;
        while (end < n && s[end] != ')' && s[end] != '"') {
            end++;
        }
        bytes += end < n && s[end] == ')' ? end + 1 - sign - bytes : 0;
    }
    if (bytes == 0) {
        bytes = word_at(s + sign, n - sign, "infinity");
    }
    if (bytes == 0) {
        bytes = word_at(s + sign, n - sign, "inf");
    }
    return bytes == 0 || (sign + bytes < n && is_inner(s[sign + bytes]))
                   ? 0
                   : sign + bytes;
}

/* The number at s[0..bytes), which JSON may not take: a plus before it, no
 * digit before its point (there is a blank to put it in) or behind it, a
 * Fortran exponent. */
static void mend_number(char *s, size_t bytes, int has_blank)
{
    size_t sign = *s == '-' || *s == '+';

    if (has_blank && sign < bytes && s[sign] == '.') {
        s[-1] = sign ? *s : '0';
        s[0] = sign ? '0' : '.';
        s--;
        bytes++;
    }
    if (*s == '+') {
        *s = ' ';
    }
    for (size_t i = sign; i < bytes; i++) {
        if ((s[i] | 32) == 'd' && i > 0 &&
            (is_digit(s[i - 1]) || s[i - 1] == '.')) {
            s[i] = 'e';
        }
    }
    if (bytes > 1 && s[bytes - 1] == '.' && is_digit(s[bytes - 2])) {
        s[bytes - 1] = ' ';
    }
}

/* One bare word or number at line[at..n).  Returns its length. */
static size_t mend_word(char *line, size_t at, size_t n)
{
    size_t bytes = infinite_at(line + at, n - at);

    if (bytes > 0) {
        memset(line + at, ' ', bytes);
        memset(line + at, '"', 2);
        return bytes;
    }
    while (at + bytes < n && is_inner(line[at + bytes])) {
        bytes++;
    }
    if (bytes > 0 && (is_digit(line[at]) || memchr("+-.", line[at], 3))) {
        mend_number(line + at, bytes, at > 0 && line[at - 1] == ' ');
    }
    return bytes;
}

/* What JSON has not but programs print is made JSON, in place: what stands for
 * no finite number becomes the empty text, which number_of takes for that. */
static void mend(char *line, size_t n)
{
    int quoted = 0;

    for (size_t i = 0; i < n; i++) {
        size_t bytes = quoted ? 0 : mend_word(line, i, n);

        if (bytes > 0) {
            i += bytes - 1;
        } else if (quoted && line[i] == '\\') {
            i++;
        } else if (line[i] == '"') {
            quoted = !quoted;
        }
    }
}

/* ---- an object ----------------------------------------------------------- */

/* Whether `v` is a number, or stands for none: null, an empty text. */
static int number_of(const json_t *v, double *out)
{
    *out = json_is_number(v) ? json_number_value(v) : NAN;
    return json_is_number(v) || json_is_null(v) ||
           (json_is_string(v) && !json_string_length(v));
}

/* A step beyond what a double counts, which the double may not tell. */
static int is_too_far(const json_t *v)
{
    return json_is_integer(v) &&
           json_integer_value(v) > (json_int_t)9007199254740992;
}

/* Returns 0 where the step cannot be. */
static int read_key(const json_t *v, const char *name, const char *own,
                    int ranks, tri_metric_line *out)
{
    double scale;
    double value;
    tri_key key = tri_key_find(name, NULL, ranks, &scale);

    if (key == TRI_KEY_STEP) {
        return json_is_number(v) && !is_too_far(v) &&
               tri_metric_line_set(out, key, json_number_value(v));
    }
    if (!number_of(v, &value)) {
        return 1;
    }
    if (key != TRI_KEY_NONE && (key == TRI_KEY_LOSS || !isnan(value))) {
        tri_metric_line_set(out, key, value * scale);
    }
    /* null is how a metric is said not to be known at this step */
    if (own && !json_is_null(v) &&
        tri_key_find(name, own, ranks, &scale) == TRI_KEY_OWN) {
        tri_metric_line_set(out, TRI_KEY_OWN, value * scale);
    }
    return 1;
}

/* What is not a metric: a step that was saved, why the process fails. */
static int read_news(const json_t *object, tri_metric_line *out)
{
    const json_t *saved = json_object_get(object, "checkpoint");
    const char *failure = json_string_value(json_object_get(object, "failure"));
    const char *sentence =
            json_string_value(json_object_get(object, "sentence"));

    if (json_is_integer(saved) && json_integer_value(saved) >= 0 &&
        !is_too_far(saved)) {
        out->checkpoint = json_integer_value(saved);
    }
    if (failure) {
        tri_metric_clean(failure, out->failure, sizeof out->failure);
        tri_metric_clean(sentence ? sentence : "", out->sentence,
                         sizeof out->sentence);
    }
    return out->checkpoint >= 0 || out->failure[0];
}

static int read_object(json_t *object, const char *own, int ranks,
                       tri_metric_names *names, tri_metric_line *out)
{
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value)
    {
        tri_metric_names_add(names, name);
        if (!read_key(value, name, own, ranks, out)) {
            return -1;
        }
    }
    return read_news(object, out) || tri_metric_line_is_metric(out);
}

int tri_metric_json(char *text, size_t n, const char *own, int ranks,
                    tri_metric_names *names, tri_metric_line *out)
{
    json_t *object = json_loadb(text, n, 0, NULL);
    int said = -1;

    tri_metric_line_clear(out);
    if (!object) {
        mend(text, n);
        object = json_loadb(text, n, 0, NULL);
    }
    if (json_is_object(object)) {
        said = read_object(object, own, ranks, names, out);
    }
    json_decref(object);
    return said;
}
