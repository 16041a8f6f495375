/*
 * What a study says once it is read: layouts for the engine, and which edits a
 * resume allows.
 */
#include "src/space/study_priv.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Between assignments. */
#define GAPS " ,\t\n"

/* ---- paths ---- */

void tri_study_resolve(const tri_study *study, const char *name, char *buf,
                       size_t bytes)
{
    const char *slash = strrchr(study->path, '/');

    if (name[0] == '/' || !slash) {
        snprintf(buf, bytes, "%s", name);
    } else {
        snprintf(buf, bytes, "%.*s/%s", (int)(slash - study->path), study->path,
                 name);
    }
}

/* ---- layouts ---- */

static int word_index(const tri_engine_param *p, tri_value v)
{
    int i;

    for (i = 0; p->words[i]; i++) {
        if (v.type == TRI_WORD && strcmp(p->words[i], v.u.word) == 0) {
            return i;
        }
    }
    return 0;
}

static void set_layout(tri_layout *l, const tri_engine_param *p, tri_value v)
{
    const struct {
        const char *name;
        int *at;
    } ints[] = {{"dp", &l->dp},
                {"tp", &l->tp},
                {"pp", &l->pp},
                {"virtual", &l->virtual_stages},
                {"micro_batch", &l->micro_batch},
                {"global_batch", &l->global_batch},
                {"zero", &l->zero},
                {"schedule", &l->schedule},
                {"recompute", &l->recompute},
                {"sequence_parallel", &l->sequence_parallel},
                {"split", &l->split},
                {"overlap", &l->overlap},
                {"planner", &l->planner},
                {"threads", &l->threads}};
    int i;

    if (strncmp(p->name, "placement", 9) == 0) { /* of all, then of one */
        int one = p->name[9] ? atoi(p->name + 10) : -1;

        for (i = 0; i < TRI_MAX_TABLES; i++) {
            l->placing[i] =
                    one < 0 || one == i ? word_index(p, v) : l->placing[i];
        }
    }
    if (strcmp(p->name, "bucket") == 0) {
        l->bucket_bytes = (uint64_t)v.u.i;
    } else if (strcmp(p->name, "gemm") == 0) {
        snprintf(l->gemm, sizeof l->gemm, "%.15s", v.u.word);
    }
    for (i = 0; i < TRI_COUNT_OF(ints); i++) {
        if (strcmp(ints[i].name, p->name) == 0) {
            *ints[i].at = p->words ? word_index(p, v) : (int)v.u.i;
        }
    }
}

/* values[] by engine parameter; inactive ones take their defaults. */
static tri_status to_layout(const tri_value *values, tri_layout *out)
{
    tri_layout l;
    char expected[120], found[80];
    int i;

    memset(&l, 0, sizeof l);
    for (i = 0; i < tri_n_engine_params; i++) {
        const tri_engine_param *p = &tri_engine_params[i];
        tri_value v = values[i].type == TRI_INACTIVE ? p->preset : values[i];
        if (v.type == TRI_INACTIVE) {
            continue; /* global_batch: below */
        }
        if (!tri_engine_accepts(p, v, expected, sizeof expected)) {
            tri_value_print(v, found, sizeof found);
            return TRI_FAIL(TRI_ETYPE, "%s: found %s, expected %s", p->name,
                            found, expected);
        }
        set_layout(&l, p, v);
    }
    if (l.global_batch == 0) { /* the smallest that the layout allows */
        l.global_batch = l.dp * l.micro_batch;
    }
    *out = l;
    return TRI_OK;
}

tri_status tri_study_layout(const tri_study *study, const tri_config *c,
                            tri_layout *out)
{
    tri_value values[TRI_ENGINE_MOST];
    int i, at;

    for (i = 0; i < tri_n_engine_params; i++) {
        const tri_engine_param *p = &tri_engine_params[i];
        values[i] = p->preset;
        at = tri_space_find(study->space, p->name);
        if (at >= 0 && tri_engine_is_for(p, &study->model)) {
            values[i] = c[at];
        }
    }
    return to_layout(values, out);
}

static int all_known(void *ctx, const char *name)
{
    (void)ctx;
    (void)name;
    return 1;
}

static int never_inactive(void *ctx, const char *name)
{
    (void)ctx;
    (void)name;
    return 0;
}

static tri_status add_rule(void *ctx, const char *name, const char *text)
{
    return tri_space_add_constraint(ctx, text, name, 1, 0, 0);
}

static int is_named(const char *text, const char *name)
{
    size_t n = strlen(name);
    const char *at = text;

    while ((at = strstr(at, name))) {
        int before =
                at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
        int after = isalnum((unsigned char)at[n]) || at[n] == '_';

        if (!before && !after) {
            return 1;
        }
        at += n;
    }
    return 0;
}

static tri_status refuse(const char *rule, const tri_value *values)
{
    char given[256] = "", value[64];
    size_t used = 0;

    for (int i = 0; i < tri_n_engine_params && used < sizeof given; i++) {
        const char *name = tri_engine_params[i].name;

        if (is_named(rule, name)) {
            tri_value_print(values[i], value, sizeof value);
            used += (size_t)snprintf(given + used, sizeof given - used,
                                     "%s%s=%s", used ? " " : "", name, value);
        }
    }
    return TRI_FAIL(TRI_EINFEASIBLE,
                    "the layout is refused by the model's rule \"%s\" (%s)",
                    rule, given);
}

/* Judge a layout by the model's rules: a space of constants. */
static tri_status judge(const tri_study *study, const tri_value *values)
{
    tri_rule_names names = {NULL, all_known, never_inactive};
    tri_space_builder *b;
    tri_space *s = NULL;
    tri_status st;
    int i, rule = -1;

    TRI_TRY(tri_space_builder_create(&b));
    TRI_TRY_GOTO(st, tri_engine_add_sizes(b, &study->model), done);
    for (i = 0; i < tri_n_engine_params; i++) {
        const tri_engine_param *p = &tri_engine_params[i];

        if (values[i].type != TRI_INACTIVE &&
            tri_engine_is_for(p, &study->model)) {
            TRI_TRY_GOTO(st, tri_space_add_constant(b, p->name, values[i]),
                         done);
        }
    }
    TRI_TRY_GOTO(st,
                 tri_engine_add_rules(study->model.kind, &names, add_rule, b),
                 done);
    TRI_TRY_GOTO(st, tri_space_create(b, &s), done);
    if (!tri_space_valid(s, NULL, &rule) && rule >= 0) {
        st = refuse(tri_space_rule(s, rule), values);
    }
    tri_space_destroy(s);
done:
    tri_space_builder_destroy(b);
    return st;
}

/* One assignment of `train --set`. */
static tri_status set_value(const tri_study *study, const char *name,
                            const char *text, tri_value *values)
{
    const tri_engine_param *p = tri_engine_find(name);
    tri_yaml node = {TRI_YAML_SCALAR, NULL, 0, 0, text, 1, 0, NULL, NULL, 0, 0};
    char expected[120];
    const char *names[TRI_ENGINE_MOST], *near;
    int i, n = 0;

    if (p && !tri_engine_is_for(p, &study->model)) {
        p = NULL;
    }
    if (!p && tri_space_find(study->space, name) >= 0) {
        return TRI_OK; /* a helper of the user's expressions */
    }
    if (!p) {
        for (i = 0; i < tri_n_engine_params; i++) {
            if (tri_engine_is_for(&tri_engine_params[i], &study->model)) {
                names[n++] = tri_engine_params[i].name;
            }
        }
        near = tri_closest(name, names, n);
        return TRI_FAIL(TRI_EUNKNOWN, "\"%s\" is no engine parameter%s%s%s",
                        name, near ? "; did you mean \"" : "", near ? near : "",
                        near ? "\"?" : "");
    }
    values[p - tri_engine_params] = tri_reader_value(&node);
    if (!tri_engine_accepts(p, values[p - tri_engine_params], expected,
                            sizeof expected)) {
        return TRI_FAIL(TRI_ERANGE, "%s: found \"%.60s\", expected %s", name,
                        text, expected);
    }
    return TRI_OK;
}

/* Whether the words of text[0..n) assign to `name`. */
static int is_given(const char *text, size_t n, const char *name)
{
    size_t length = strlen(name);
    const char *end = text + n;

    while ((text += strspn(text, GAPS)) < end) {
        if (strncmp(text, name, length) == 0 && text[length] == '=') {
            return 1;
        }
        text += strcspn(text, GAPS);
    }
    return 0;
}

static tri_status set_values(const tri_study *study, const char *text,
                             tri_value *values, tri_pile *pile)
{
    const char *all = text;

    while (*(text += strspn(text, GAPS))) {
        size_t n = strcspn(text, GAPS);
        char *one = tri_pile_text(pile, text, n), *value;
        if (!one) {
            return TRI_FAIL(TRI_ENOMEM, "no memory for a layout");
        }
        value = strchr(one, '=');
        if (!value || value == one || !value[1]) {
            return TRI_FAIL(TRI_EPARSE, "expected name=value, found \"%.60s\"",
                            one);
        }
        *value = '\0';
        if (is_given(all, (size_t)(text - all), one)) {
            return TRI_FAIL(TRI_EEXIST, "\"%.60s\" is given twice", one);
        }
        TRI_TRY(set_value(study, one, value + 1, values));
        text += n;
    }
    return TRI_OK;
}

tri_status tri_study_layout_parse(const tri_study *study, const char *text,
                                  tri_layout *out)
{
    tri_value values[TRI_ENGINE_MOST];
    tri_pile pile = {NULL, 0};
    tri_layout l;
    tri_status st;
    int i, at;

    for (i = 0; i < tri_n_engine_params; i++) {
        values[i] = tri_engine_params[i].preset;
        at = tri_space_find(study->space, tri_engine_params[i].name);
        if (at >= 0 &&
            tri_engine_is_for(&tri_engine_params[i], &study->model)) {
            /* what the study fixes */
            const tri_domain *d = &tri_space_param(study->space, at)->domain;
            values[i] = d->kind == TRI_DOMAIN_CONST ? d->values[0] : values[i];
        }
    }
    TRI_TRY_GOTO(st, set_values(study, text, values, &pile), done);
    TRI_TRY_GOTO(st, to_layout(values, &l), done);
    for (i = 0; i < tri_n_engine_params; i++) {
        if (strcmp(tri_engine_params[i].name, "global_batch") == 0) {
            values[i] = tri_value_of_int(l.global_batch);
        }
    }
    TRI_TRY_GOTO(st, judge(study, values), done);
    *out = l;
done:
    tri_pile_fini(&pile);
    return st;
}

/* ---- edits at a resume ---- */

/* Whether two parameters differ in nothing but their ranges. */
static int same_but_range(const tri_yaml *a, const tri_yaml *b)
{
    static const char *const forms[] = {"int", "choice", "float"};
    int i, differ = 0;

    if (a->kind != TRI_YAML_MAP || b->kind != TRI_YAML_MAP) {
        return tri_yaml_equal(a, b);
    }
    for (i = 0; i < TRI_COUNT_OF(forms); i++) {
        differ |= !tri_yaml_get(a, forms[i]) != !tri_yaml_get(b, forms[i]);
    }
    return !differ &&
           tri_yaml_equal(tri_yaml_get(a, "when"), tri_yaml_get(b, "when"));
}

static const char *dotted(const tri_study *now, const char *top,
                          const char *key)
{
    return tri_pile_printf(&now->priv->pile, "%s.%s", top, key);
}

/* The first key below `top` that differs; `ranges` allows ranges to. */
static const char *below(const tri_study *now, const char *top,
                         const tri_yaml *a, const tri_yaml *b, int ranges)
{
    const tri_yaml *e, *other;

    if (!a || !b || a->kind != TRI_YAML_MAP || b->kind != TRI_YAML_MAP) {
        return tri_yaml_equal(a, b) ? NULL : top;
    }
    for (e = b->first; e; e = e->next) {
        other = tri_yaml_get(a, e->key);
        if (!other ||
            (ranges ? !same_but_range(other, e) : !tri_yaml_equal(other, e))) {
            return dotted(now, top, e->key);
        }
    }
    for (e = a->first; e; e = e->next) {
        if (!tri_yaml_get(b, e->key)) {
            return dotted(now, top, e->key);
        }
    }
    return NULL;
}

/* What may change at a resume, whatever it was. */
static int is_free(const char *key)
{
    return strcmp(key, "budget") == 0 || strcmp(key, "finals") == 0 ||
           strcmp(key, "emit") == 0;
}

/* Whether what is searched and how is the same; keys in any order. */
static int same_search(const tri_yaml *a, const tri_yaml *b)
{
    const tri_yaml *e;

    for (e = a->first; e; e = e->next) {
        const tri_yaml *other = tri_yaml_get(b, e->key);

        if (strcmp(e->key, "emit") != 0 &&
            (!other || !tri_yaml_equal(e, other))) {
            return 0;
        }
    }
    return 1;
}

const char *tri_study_frozen_difference(const tri_study *before,
                                        const tri_study *now, int *changed)
{
    const tri_yaml *a = before->priv->root, *b = now->priv->root, *e;
    const char *found = NULL;

    *changed = !same_search(a, b) || !same_search(b, a);
    for (e = b->first; e && !found; e = e->next) {
        if (!is_free(e->key)) {
            found = below(now, e->key, tri_yaml_get(a, e->key), e,
                          strcmp(e->key, "space") == 0);
        }
    }
    for (e = a->first; e && !found; e = e->next) {
        if (!is_free(e->key) && !tri_yaml_get(b, e->key)) {
            found = dotted(now, e->key, "");
            if (found) {
                ((char *)found)[strlen(found) - 1] = '\0';
            }
        }
    }
    return found;
}
