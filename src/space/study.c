/*
 * The study reader: top-level keys in their order of dependence, defaults,
 * and what must hold between keys.
 */
#include "src/space/study_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS(m, where, keys) tri_reader_keys(m, where, keys, TRI_COUNT_OF(keys))
#define GET(r, key)          tri_yaml_get((r)->root, key)

/* ---- objective ---- */

/* Names that mean something else where a trial's own metrics are read. */
static tri_status check_own(const tri_reader *r, const tri_yaml *at)
{
    static const char *const taken[] = {"step",     "checkpoint", "failure",
                                        "sentence", "peak_bytes", "rss_bytes"};
    const tri_study *s = r->study;

    if (s->model.kind != TRI_MODEL_PROCESS &&
        s->model.kind != TRI_MODEL_PLUGIN) {
        return TRI_OK;
    }
    for (int i = 0; i < TRI_COUNT_OF(taken); i++) {
        if (strcmp(taken[i], s->objective.name) == 0) {
            return tri_reader_wrong(at, "objective",
                                    i < 4 ? "a metric that the trial reports; "
                                            "this name says something else"
                                          : "a metric that the trial reports; "
                                            "memory is for subject_to");
        }
    }
    if (tri_space_find(s->space, s->objective.name) >= 0) {
        return tri_reader_wrong(at, "objective",
                                "a metric; a parameter has this name");
    }
    return TRI_OK;
}

static tri_status read_metric(tri_reader *r, const tri_yaml *at)
{
    static const char *const metrics[] = {"tokens_per_s", "samples_per_s",
                                          "step_s", "loss"};
    tri_study *s = r->study;
    int k = 0;

    TRI_TRY(tri_reader_text(at, "objective", &s->objective.name));
    while (k < TRI_METRIC_OWN && strcmp(metrics[k], s->objective.name) != 0) {
        k++;
    }
    if (k == TRI_METRIC_OWN && tri_model_is_built_in(s->model.kind)) {
        return tri_reader_name(at, "objective", metrics, TRI_COUNT_OF(metrics),
                               &k);
    }
    s->objective.metric = (tri_metric)k;
    s->objective.learned = k >= TRI_METRIC_LOSS;
    return k == TRI_METRIC_OWN ? check_own(r, at) : TRI_OK;
}

static tri_status read_objective(tri_reader *r)
{
    static const char *const keys[] = {"maximize", "minimize", "subject_to",
                                       "compare"};
    static const char *const compares[] = {"total", "per_rank"};
    const tri_yaml *o = GET(r, "objective");
    const tri_yaml *max = tri_yaml_get(o, "maximize");
    const tri_yaml *min = tri_yaml_get(o, "minimize");
    const tri_yaml *compare = tri_yaml_get(o, "compare");
    int lo, hi, rate;

    TRI_TRY(KEYS(o, "objective", keys));
    if (!max == !min) {
        return tri_reader_wrong(o, "objective", "one of maximize and minimize");
    }
    r->study->objective.maximize = max != NULL;
    TRI_TRY(read_metric(r, max ? max : min));
    TRI_TRY(tri_reader_name(compare, "objective.compare", compares, 2,
                            &r->study->objective.per_rank));
    rate = r->study->objective.metric <= TRI_METRIC_SAMPLES_PER_S;
    tri_space_rank_range(r->study->space, &lo, &hi);
    if (rate && lo != hi && !compare) {
        return tri_reader_place(
                o, TRI_FAIL(TRI_EINVAL,
                            "objective: the points have from %d to %d ranks, "
                            "so a rate needs \"compare: total\" or \"compare: "
                            "per_rank\"",
                            lo, hi));
    }
    return TRI_OK;
}

/* ---- baseline and start ---- */

/* One entry as an assignment "name=value"; an engine parameter that is not in
 * the space may be named with its default. */
static tri_status append_entry(tri_reader *r, const tri_yaml *e,
                               const char *key, char *text, size_t bytes)
{
    const tri_space *s = r->study->space;
    tri_value v, fixed;
    size_t n = strlen(text);

    if (e->kind != TRI_YAML_SCALAR) {
        return tri_reader_wrong(e, key, "a value");
    }
    v = tri_reader_value(e);
    if (tri_space_find(s, e->key) < 0 && tri_engine_find(e->key) &&
        tri_space_lookup(s, NULL, e->key, &fixed) == TRI_OK) {
        if (!tri_value_equal(v, fixed)) {
            return tri_reader_wrong(e, key,
                                    "a parameter of the space, or the "
                                    "engine's default");
        }
        return TRI_OK;
    }
    if (n + strlen(e->key) + strlen(e->text) * 2 + 8 > bytes) {
        return tri_reader_wrong(e, key, "a shorter value");
    }
    n += (size_t)snprintf(text + n, bytes - n, " %s=", e->key);
    if (tri_reader_is(e, "inactive")) {
        snprintf(text + n, bytes - n, "inactive");
    } else {
        tri_value_print(v, text + n, bytes - n);
    }
    return TRI_OK;
}

static tri_status read_config(tri_reader *r, const tri_yaml *at,
                              const char *key, tri_config *out)
{
    char text[8192] = "";
    const tri_yaml *e;
    tri_why why;
    tri_status st;

    if (at->kind != TRI_YAML_MAP) {
        return tri_reader_wrong(at, key, "a map of parameters and values");
    }
    for (e = at->first; e; e = e->next) {
        char one[8192] = "";
        TRI_TRY(append_entry(r, e, key, one, sizeof one));
        st = one[0] ? tri_space_why(r->study->space, one, &why) : TRI_OK;
        if (st != TRI_OK) {
            return tri_reader_place(e, st);
        }
        if (strlen(text) + strlen(one) + 1 > sizeof text) {
            return tri_reader_wrong(at, key, "a shorter configuration");
        }
        strcat(text, one);
    }
    st = tri_space_parse(r->study->space, text, out);
    if (st != TRI_OK) {
        return tri_reader_place(at, st);
    }
    TRI_TRY(tri_space_why(r->study->space, text, &why));
    if (!why.valid) {
        return tri_reader_place(at, TRI_FAIL(TRI_EINVAL,
                                             "%s: refused by \"%.160s\" (%s)",
                                             key, why.rule, why.values));
    }
    return TRI_OK;
}

static tri_status read_configs(tri_reader *r)
{
    const tri_yaml *base = GET(r, "baseline"), *start = GET(r, "start"), *item;
    int n = tri_space_n_params(r->study->space), k = 0;
    tri_config *all;

    if (start && start->kind != TRI_YAML_LIST) {
        return tri_reader_wrong(start, "start", "a list of configurations");
    }
    all = tri_pile_alloc(r->pile, sizeof *all * (size_t)(n + 1) *
                                          (size_t)(start ? start->n + 1 : 1));
    if (!all) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    r->study->baseline = all;
    r->study->start = all + n;
    if (base && !tri_reader_is(base, "none")) {
        TRI_TRY(read_config(r, base, "baseline", all));
        r->study->has_baseline = 1;
    }
    for (item = start ? start->first : NULL; item; item = item->next) {
        TRI_TRY(read_config(r, item, "start", all + n * ++k));
    }
    r->study->n_start = k;
    return TRI_OK;
}

/* ---- the whole ---- */

/* The record, checkpoints and reports are files of this name and more. */
#define NAME_BYTES 200

static int has_control(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == 127) {
            return 1;
        }
    }
    return 0;
}

static tri_status read_study_name(const tri_yaml *at, const char **out)
{
    const char *name = NULL;

    TRI_TRY(tri_reader_text(at, "study", &name));
    if (!name) {
        return TRI_OK;
    }
    if (strlen(name) > NAME_BYTES) {
        return tri_reader_wrong(at, "study",
                                "a name of at most 200 bytes, since files are "
                                "named for it");
    }
    if (strchr(name, '/') || *name == '.' || *name == '-' ||
        has_control(name)) {
        return tri_reader_wrong(at, "study",
                                "a name that files can have: no / and no "
                                "control character in it, no . or - at its "
                                "beginning");
    }
    *out = name;
    return TRI_OK;
}

static tri_status read_head(tri_reader *r)
{
    static const char *const keys[] = {
            "study",       "seed",      "model",     "space",    "features",
            "constraints", "ranks",     "objective", "baseline", "start",
            "resource",    "scheduler", "search",    "budget",   "finals",
            "measure",     "memory",    "exclusive", "timeouts", "checkpoints",
            "failures",    "optimizer", "emit"};
    static const char *const needed[] = {"study", "model", "space",
                                         "objective"};
    int64_t seed = 0;
    int i;

    if (r->root->kind != TRI_YAML_MAP) {
        return tri_reader_wrong(r->root, "study", "a map of keys and values");
    }
    TRI_TRY(KEYS(r->root, "", keys));
    for (i = 0; i < TRI_COUNT_OF(needed); i++) {
        if (!GET(r, needed[i])) {
            return tri_reader_place(
                    r->root, TRI_FAIL(TRI_ENOTFOUND,
                                      "the key \"%s\" is missing", needed[i]));
        }
    }
    TRI_TRY(read_study_name(GET(r, "study"), &r->study->name));
    TRI_TRY(tri_reader_int(GET(r, "seed"), "seed", 0, INT64_MAX, &seed));
    r->study->seed = (uint64_t)seed;
    return TRI_OK;
}

static tri_status read_all(tri_reader *r)
{
    static tri_status (*const parts[])(tri_reader *) = {
            read_head,
            tri_study_read_model,
            tri_study_read_table,
            tri_study_read_space,
            tri_study_check_templates,
            read_objective,
            tri_study_read_conditions,
            read_configs,
            tri_study_read_emit,
            tri_study_read_run,
            tri_study_check_patterns,
            tri_study_finish_table};
    size_t i;

    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        TRI_TRY(parts[i](r));
    }
    return TRI_OK;
}

static tri_status new_study(const char *text, size_t bytes, const char *path,
                            tri_study **out)
{
    tri_study *s = calloc(1, sizeof *s);
    struct tri_study_private *p = calloc(1, sizeof *p);

    if (!s || !p) {
        free(s);
        free(p);
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    s->priv = p;
    s->text = tri_pile_text(&p->pile, text, bytes);
    s->path =
            tri_pile_text(&p->pile, path ? path : "", path ? strlen(path) : 0);
    if (!s->text || !s->path) {
        tri_study_destroy(s);
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    *out = s;
    return TRI_OK;
}

tri_status tri_study_parse(const char *text, size_t bytes, const char *path,
                           tri_read_fn read, void *ctx, tri_study **out)
{
    tri_reader r = {NULL, NULL, NULL, read, ctx, 0, 0};
    tri_status st;

    TRI_TRY(new_study(text, bytes, path, &r.study));
    r.pile = &r.study->priv->pile;
    st = tri_yaml_read(text, bytes, r.pile, &r.study->priv->root);
    if (st == TRI_OK) {
        r.root = r.study->priv->root;
        st = read_all(&r);
    }
    if (st != TRI_OK) {
        tri_error_place(r.study->path, 0, 0);
        tri_study_destroy(r.study);
        return st;
    }
    *out = r.study;
    return TRI_OK;
}

tri_status tri_study_name(const char *text, size_t bytes, const char *path,
                          char *buf, size_t buf_bytes)
{
    tri_pile pile = {NULL, 0};
    const tri_yaml *root;
    const char *name = NULL;
    tri_status st = tri_yaml_read(text, bytes, &pile, &root);

    if (st == TRI_OK) {
        st = read_study_name(tri_yaml_get(root, "study"), &name);
    }
    if (st == TRI_OK && !name) {
        st = TRI_FAIL(TRI_ENOTFOUND, "the key \"study\" is missing");
    }
    if (st == TRI_OK) {
        snprintf(buf, buf_bytes, "%s", name);
    } else {
        tri_error_place(path, 0, 0);
    }
    tri_pile_fini(&pile);
    return st;
}

void tri_study_destroy(tri_study *s)
{
    struct tri_study_private *p;
    int i;

    if (!s) {
        return;
    }
    p = s->priv;
    for (i = 0; p->conditions && i < s->objective.n_subject_to; i++) {
        tri_expr_destroy(p->conditions[i].expr);
    }
    tri_space_destroy(s->space);
    free((void *)s->notes);
    free((void *)s->unbuilt);
    tri_pile_fini(&p->pile);
    free(p);
    free(s);
}
