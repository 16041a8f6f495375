/*
 * The key `metrics` of a process: patterns over its output, and whether they
 * are of use to the study.
 */
#include "src/space/study_priv.h"
#include "trireme/pattern.h"

#include <string.h>

static tri_status read_trainer(const tri_yaml *at, const char *key,
                               tri_process_spec *p)
{
    const char *names[16];
    int n = tri_n_trainers(), i;

    if (!at) {
        return TRI_OK;
    }
    for (i = 0; i < n && i < TRI_COUNT_OF(names); i++) {
        names[i] = tri_trainer_at(i)->name;
    }
    TRI_TRY(tri_reader_name(at, key, names, i, &n));
    p->metrics.trainer = names[n];
    return TRI_OK;
}

static tri_status read_patterns(tri_reader *r, const tri_yaml *at,
                                tri_process_spec *p)
{
    static const char key[] = "model.metrics.patterns";
    const tri_yaml *e;
    tri_pattern *pattern;
    tri_status st;

    if (at && at->kind == TRI_YAML_SCALAR && !p->metrics.trainer) {
        return read_trainer(at, key, p);
    }
    TRI_TRY(tri_reader_pairs(r, at, key, &p->metrics.patterns,
                             &p->metrics.n_patterns));
    for (e = at ? at->first : NULL; e; e = e->next) {
        st = tri_pattern_create(e->text, &pattern);
        if (st != TRI_OK) {
            return tri_reader_place(e, st);
        }
        tri_pattern_destroy(pattern);
    }
    return TRI_OK;
}

tri_status tri_study_read_metrics(tri_reader *r, const tri_yaml *m,
                                  tri_process_spec *p)
{
    static const char *const keys[] = {"trainer", "patterns"};
    const tri_yaml *at = tri_yaml_get(m, "metrics");

    if (!at || at->kind == TRI_YAML_SCALAR) {
        return read_trainer(at, "model.metrics", p);
    }
    TRI_TRY(tri_reader_keys(at, "model.metrics", keys, 2));
    TRI_TRY(read_trainer(tri_yaml_get(at, "trainer"), "model.metrics.trainer",
                         p));
    return read_patterns(r, tri_yaml_get(at, "patterns"), p);
}

/* ---- what is of use ----------------------------------------------------- */

static tri_status check_names(const tri_reader *r, const char *own)
{
    const tri_yaml *m = tri_yaml_get(r->root, "model"), *e;
    const char *names[TRI_N_KEYS], *near;
    int n = TRI_N_KEYS - 1;

    memcpy(names, tri_key_names(), (size_t)n * sizeof *names);
    if (own) {
        names[n++] = own;
    }
    e = tri_yaml_get(tri_yaml_get(m, "metrics"), "patterns");
    for (e = e ? e->first : NULL; e; e = e->next) {
        if (tri_key_find(e->key, own, 1, NULL) != TRI_KEY_NONE) {
            continue;
        }
        near = tri_closest(e->key, names, n);
        TRI_FAIL(TRI_EUNKNOWN,
                 "model.metrics.patterns: nothing uses \"%.60s\"; expected "
                 "the objective, or one of step, tokens, samples, "
                 "consumed_tokens, consumed_samples, tokens_per_s, "
                 "samples_per_s, step_s, step_ms, loss, bytes%s%s%s",
                 e->key, near ? "; did you mean \"" : "", near ? near : "",
                 near ? "\"?" : "");
        tri_error_place(NULL, e->key_line, e->key_column);
        return TRI_EUNKNOWN;
    }
    return TRI_OK;
}

/* The keys that patterns give, a bit each. */
static unsigned keys_of(const tri_pair *patterns, int n, const char *own)
{
    unsigned keys = 0;
    int i;

    for (i = 0; i < n; i++) {
        keys |= 1u << tri_key_find(patterns[i].key, own, 1, NULL);
    }
    return keys;
}

/* What is needed, and the keys of which one will do. */
static unsigned needed(tri_metric metric, const char *own, const char **name)
{
    switch (metric) {
    case TRI_METRIC_TOKENS_PER_S:
        *name = "tokens";
        return 1u << TRI_KEY_TOKENS | 1u << TRI_KEY_CONSUMED_TOKENS |
               1u << TRI_KEY_TOKENS_PER_S;
    case TRI_METRIC_SAMPLES_PER_S:
        *name = "samples";
        return 1u << TRI_KEY_SAMPLES | 1u << TRI_KEY_CONSUMED_SAMPLES |
               1u << TRI_KEY_SAMPLES_PER_S;
    case TRI_METRIC_LOSS:
        *name = "loss";
        return 1u << TRI_KEY_LOSS;
    case TRI_METRIC_OWN:
        *name = own;
        return 1u << TRI_KEY_OWN;
    default:
        *name = NULL;
        return 0;
    }
}

/* `way_out`: what else would do, "" if nothing. */
static tri_status note_missing(tri_reader *r, unsigned given, tri_metric metric,
                               const char *own, const char *why,
                               const char *way_out)
{
    const char *name;
    unsigned any = needed(metric, own, &name);

    if (any == 0 || given & any) {
        return TRI_OK;
    }
    return tri_reader_note(
            r, 0,
            "model.metrics: no pattern gives %s%s, %s; unless "
            "it comes in JSON lines too, every run fails: add "
            "a pattern%s",
            name, metric <= TRI_METRIC_SAMPLES_PER_S ? " or its rate" : "", why,
            way_out);
}

tri_status tri_study_check_patterns(tri_reader *r)
{
    const tri_study *s = r->study;
    const tri_process_spec *p = &s->model.u.process;
    const char *own =
            s->objective.metric == TRI_METRIC_OWN ? s->objective.name : NULL;
    const tri_trainer *trainer;
    unsigned given;

    if (s->model.kind != TRI_MODEL_PROCESS ||
        (!p->metrics.trainer && p->metrics.n_patterns == 0)) {
        return TRI_OK;
    }
    TRI_TRY(check_names(r, own));
    given = keys_of(p->metrics.patterns, p->metrics.n_patterns, own);
    trainer = p->metrics.trainer ? tri_trainer_find(p->metrics.trainer) : NULL;
    if (trainer) {
        given |= keys_of(trainer->patterns, trainer->n_patterns, own);
    }
    TRI_TRY(note_missing(r, given, s->objective.metric, own,
                         "which the objective needs",
                         s->objective.metric <= TRI_METRIC_SAMPLES_PER_S
                                 ? ", or minimize step_s where a step of "
                                   "every configuration is the same work"
                                 : ""));
    if (s->resource.unit == TRI_UNIT_TOKENS) {
        return note_missing(r, given, TRI_METRIC_TOKENS_PER_S, NULL,
                            "by which the resource is counted",
                            ", or count it in steps");
    }
    if (s->resource.unit == TRI_UNIT_SAMPLES) {
        return note_missing(r, given, TRI_METRIC_SAMPLES_PER_S, NULL,
                            "by which the resource is counted",
                            ", or count it in steps");
    }
    return TRI_OK;
}
