/*
 * Metrics in a JSON object.
 */
#include "mpi_workers/metric_line.h"

#include <jansson.h>

#include <math.h>
#include <string.h>

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
 * empty text, which number_of takes for "no number". */
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
    if (own && !isnan(value) &&
        tri_key_find(name, own, ranks, &scale) == TRI_KEY_OWN) {
        out->own = value * scale;
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
        blank_words(text, n);
        object = json_loadb(text, n, 0, NULL);
    }
    if (json_is_object(object)) {
        said = read_object(object, own, ranks, names, out);
    }
    json_decref(object);
    return said;
}
