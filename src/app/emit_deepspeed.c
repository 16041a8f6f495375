/*
 * The winner as a DeepSpeed configuration.  A name is a path into it,
 * "zero_optimization.stage"; "path=text" sets a value of its own.
 */
#include "src/app/emit.h"

#include <stdlib.h>
#include <string.h>

static tri_status contradicts(const char *path)
{
    return TRI_FAIL(TRI_EINVAL,
                    "emit.deepspeed: \"%.200s\" is set twice, to different "
                    "values",
                    path);
}

/* Set o[path] = value, sections made on the way; takes `value`. */
static tri_status set_at(json_t *o, const char *path, json_t *value)
{
    const char *key = path;
    char part[128];
    json_t *old;

    for (const char *dot; (dot = strchr(key, '.')); key = dot + 1) {
        snprintf(part, sizeof part, "%.*s", (int)(dot - key), key);
        old = json_object_get(o, part);
        if (!old) {
            old = json_object();
            json_object_set_new(o, part, old);
        }
        o = old;
        if (!json_is_object(o)) {
            json_decref(value);
            return contradicts(path);
        }
    }
    old = json_object_get(o, key);
    if (old && !json_equal(old, value)) {
        json_decref(value);
        return contradicts(path);
    }
    json_object_set_new(o, key, value);
    return TRI_OK;
}

/* "cpu" is a text, 3, 0.1 and true are what they are. */
static json_t *read_text(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

    return value ? value : tri_app_json_text(text);
}

/* One word of a name, filled in: "path" or "path=text". */
static tri_status set_word(json_t *o, char *word, tri_value v)
{
    char *equals = strchr(word, '=');

    if (equals) {
        *equals = '\0';
        return set_at(o, word, read_text(equals + 1));
    }
    return set_at(o, word, tri_app_json_value(v));
}

static tri_status set_named(const tri_emit_job *job, const char *text,
                            tri_value v, json_t *o)
{
    const char *word;
    size_t n;

    while ((word = tri_emit_next_word(&text, &n))) {
        char *filled = NULL;
        size_t bytes = 0;
        FILE *f = open_memstream(&filled, &bytes);
        tri_status st;

        if (!f) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
        }
        tri_emit_fill(job, word, n, f);
        fclose(f);
        st = set_word(o, filled, v);
        free(filled);
        TRI_TRY(st);
    }
    return TRI_OK;
}

/* Figures that every number of the winner needs to be read back the same. */
static int figures(const tri_emit_job *job)
{
    char buf[64];

    for (int i = 0; i < tri_space_n_params(job->study->space); i++) {
        double v = job->config[i].u.d;

        if (job->config[i].type != TRI_REAL) {
            continue;
        }
        snprintf(buf, sizeof buf, "%.15g", v);
        if (strtod(buf, NULL) < v || strtod(buf, NULL) > v) {
            return 17;
        }
    }
    return 15;
}

static tri_status fill(const tri_emit_job *job, json_t *o, json_t *notes)
{
    const tri_space *space = job->study->space;

    for (int i = 0; i < tri_space_n_params(space); i++) {
        const tri_param *p = tri_space_param(space, i);
        tri_value v = job->config[p->column];
        tri_emit_name name;

        if (v.type == TRI_INACTIVE) {
            continue;
        }
        if (tri_emit_find_name(job, TRI_EMIT_DEEPSPEED, p->name, v, &name)) {
            TRI_TRY(set_named(job, name.text, v, o));
        } else {
            tri_emit_note_unnamed(notes, TRI_EMIT_DEEPSPEED, p->name, v);
        }
    }
    tri_emit_note(notes, "for %d rank%s: %s", job->ranks,
                  job->ranks == 1 ? "" : "s", job->assumed);
    return TRI_OK;
}

tri_status tri_emit_deepspeed(const tri_emit_job *job, FILE *out,
                              tri_emitted *e)
{
    e->settings = json_object();
    if (!e->settings) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    TRI_TRY(fill(job, e->settings, e->notes));
    json_dumpf(e->settings, out,
               JSON_INDENT(2) | JSON_REAL_PRECISION(figures(job)));
    fputc('\n', out);
    return TRI_OK;
}
