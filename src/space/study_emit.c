/*
 * The key `emit`: what parameters are called by the launchers and trainers
 * that a winner is handed to.  Which names go without saying, and what is made
 * of them, is `best --emit`'s.
 */
#include "src/space/study_priv.h"

#include <stdio.h>
#include <string.h>

static const char *const formats[] = {"torchrun", "megatron", "deepspeed",
                                      "slurm"};

/* ---- names --------------------------------------------------------------- */

static tri_status unknown(const tri_space *s, const char *what,
                          const char *name, const char *where)
{
    const char *names[1000], *near;
    int i, n = tri_space_n_params(s);

    n = n < 1000 ? n : 1000;
    for (i = 0; i < n; i++) {
        names[i] = tri_space_param(s, i)->name;
    }
    near = tri_closest(name, names, n);
    return TRI_FAIL(TRI_EUNKNOWN, "%s: unknown %s \"%.60s\"%s%.60s%s", where,
                    what, name, near ? "; did you mean \"" : "",
                    near ? near : "", near ? "\"?" : "");
}

/* Each {name} of the text is a parameter. */
static tri_status check_braces(const tri_reader *r, const tri_yaml *at,
                               const char *where)
{
    const char *text = at->text, *end;
    char name[128];
    size_t n;

    while ((text = strchr(text, '{'))) {
        end = strchr(text, '}');
        n = end ? (size_t)(end - text) - 1 : 0;
        if (!end || n >= sizeof name) {
            return tri_reader_wrong(at, where,
                                    "a name, or {parameter} in braces");
        }
        memcpy(name, text + 1, n);
        name[n] = '\0';
        if (tri_space_find(r->study->space, name) < 0) {
            return tri_reader_place(
                    at, unknown(r->study->space, "placeholder", name, where));
        }
        text = end;
    }
    return TRI_OK;
}

/* ---- one format ---------------------------------------------------------- */

static tri_status add(tri_reader *r, const tri_yaml *at, const char *key,
                      const char *where, tri_pair *out)
{
    if (at->kind != TRI_YAML_SCALAR) {
        return tri_reader_wrong(at, where, "a name, or a map of values");
    }
    TRI_TRY(check_braces(r, at, where));
    out->key = key;
    out->value = at->text;
    return key ? TRI_OK : TRI_FAIL(TRI_ENOMEM, "no memory for the study");
}

/* `e`: a parameter and its name, or its values each with a name. */
static tri_status add_parameter(tri_reader *r, const tri_yaml *e,
                                const char *where, tri_pair *names, int *n)
{
    const tri_yaml *v;

    if (tri_space_find(r->study->space, e->key) < 0) {
        tri_status st = unknown(r->study->space, "parameter", e->key, where);

        tri_error_place(NULL, e->key_line, e->key_column);
        return st;
    }
    if (e->kind != TRI_YAML_MAP) {
        return add(r, e, e->key, where, &names[(*n)++]);
    }
    for (v = e->first; v; v = v->next) {
        TRI_TRY(add(r, v, tri_pile_printf(r->pile, "%s=%s", e->key, v->key),
                    where, &names[(*n)++]));
    }
    return TRI_OK;
}

static tri_status read_format(tri_reader *r, const tri_yaml *at)
{
    tri_study *s = r->study;
    const tri_yaml *e;
    char where[80];
    tri_pair *names;
    int n = 0;

    snprintf(where, sizeof where, "emit.%s", at->key);
    if (at->kind != TRI_YAML_MAP) {
        return tri_reader_wrong(at, where, "a map of parameters and names");
    }
    for (e = at->first; e; e = e->next) {
        n += e->kind == TRI_YAML_MAP ? e->n : 1;
    }
    names = tri_pile_alloc(r->pile, ((size_t)n + 1) * sizeof *names);
    if (!names) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    n = 0;
    for (e = at->first; e; e = e->next) {
        TRI_TRY(add_parameter(r, e, where, names, &n));
    }
    s->emit[s->n_emit].format = at->key;
    s->emit[s->n_emit].names = names;
    s->emit[s->n_emit++].n_names = n;
    return TRI_OK;
}

tri_status tri_study_read_emit(tri_reader *r)
{
    const tri_yaml *m = tri_yaml_get(r->root, "emit"), *e;

    if (!m) {
        return TRI_OK;
    }
    TRI_TRY(tri_reader_keys(m, "emit", formats, TRI_COUNT_OF(formats)));
    for (e = m->first; e; e = e->next) {
        TRI_TRY(read_format(r, e));
    }
    return TRI_OK;
}
