/*
 * What was measured, as a study judges it: its objective, and the conditions
 * of subject_to.
 */
#include "src/space/study_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double tri_study_objective(const tri_study *study, const tri_measured *m,
                           int ranks)
{
    const double values[] = {m->tokens_per_s, m->samples_per_s, m->step_s,
                             m->loss, m->own};
    double x = values[study->objective.metric];

    if (study->objective.per_rank &&
        study->objective.metric <= TRI_METRIC_SAMPLES_PER_S) {
        x /= ranks;
    }
    return x;
}

static const char *const metric_names[] = {"tokens_per_s", "samples_per_s",
                                           "step_s",       "loss",
                                           "peak_bytes",   "rss_bytes"};
#define N_METRICS TRI_COUNT_OF(metric_names)

/* Metrics, the trial's own, then the space's parameters. */
static tri_status declare(tri_reader *r)
{
    struct tri_study_private *p = r->study->priv;
    int n = tri_space_n_params(r->study->space), i;

    p->vars = tri_pile_alloc(r->pile,
                             ((size_t)n + N_METRICS + 1) * sizeof *p->vars);
    if (!p->vars) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    for (i = 0; i < N_METRICS; i++) {
        tri_var v = {metric_names[i], 1u << TRI_REAL, 0, NULL};
        p->vars[p->n_vars++] = v;
    }
    if (r->study->objective.metric == TRI_METRIC_OWN) {
        tri_var v = {r->study->objective.name, 1u << TRI_REAL, 0, NULL};
        p->vars[p->n_vars++] = v;
    }
    for (i = 0; i < n; i++) {
        const tri_param *param = tri_space_param(r->study->space, i);
        tri_var v = {param->name, 0, param->when != NULL, NULL};
        const tri_domain *d = &param->domain;
        unsigned types = 0;
        int k;
        v.types = d->kind == TRI_DOMAIN_FLOAT ? 1u << TRI_REAL
                  : d->kind == TRI_DOMAIN_INT ? 1u << TRI_INT
                                              : 0;
        for (k = 0; !v.types && k < d->n_values; k++) {
            types |= 1u << d->values[k].type;
        }
        v.types |= types;
        p->vars[p->n_vars++] = v;
    }
    return TRI_OK;
}

/* All words of the space's choices, for expressions. */
static tri_status list_words(tri_reader *r, const char ***out, int *n)
{
    const tri_space *s = r->study->space;
    const char **words;
    size_t count = 1;
    int i, k;

    for (i = 0; i < tri_space_n_params(s); i++) {
        count += (size_t)tri_space_param(s, i)->domain.n_values;
    }
    words = tri_pile_alloc(r->pile, count * sizeof *words);
    if (!words) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    *n = 0;
    for (i = 0; i < tri_space_n_params(s); i++) {
        const tri_domain *d = &tri_space_param(s, i)->domain;
        for (k = 0; d->kind != TRI_DOMAIN_INT && k < d->n_values; k++) {
            if (d->values[k].type == TRI_WORD) {
                words[(*n)++] = d->values[k].u.word;
            }
        }
    }
    *out = words;
    return TRI_OK;
}

/* Names that conditions may use beside parameters, as a list. */
static void list_measured(const tri_study *s, char *buf, size_t bytes)
{
    int own = s->objective.metric == TRI_METRIC_OWN, i;
    size_t n = 0;

    for (i = 0; i < N_METRICS + own && n < bytes; i++) {
        n += (size_t)snprintf(buf + n, bytes - n, "%s%.60s", i ? ", " : "",
                              s->priv->vars[i].name);
    }
}

/* An expression's error, in the words of conditions and at its place. */
static tri_status refuse_condition(const tri_reader *r, const tri_yaml *at,
                                   tri_status st)
{
    static const char other[] = "a value of one";
    tri_error e = *tri_error_last();
    const char *found = strstr(e.sentence, other);
    int hints = r->study->model.kind == TRI_MODEL_PROCESS &&
                r->study->objective.metric != TRI_METRIC_OWN;
    char names[200];

    if (st == TRI_EUNKNOWN && found) {
        list_measured(r->study, names, sizeof names);
        tri_error_set(st, e.src_file, e.src_line,
                      "objective.subject_to: %.*smeasured; measured are %s%s%s",
                      (int)(found - e.sentence), e.sentence, names,
                      hints ? " (and a metric of the trial's own where it "
                              "is the objective)"
                            : "",
                      found + sizeof other - 1);
    } else {
        tri_error_set(st, e.src_file, e.src_line,
                      "objective.subject_to: %.450s", e.sentence);
    }
    tri_error_place(NULL, at->line,
                    at->column + !at->plain +
                            (e.column > 0 ? e.column - 1 : 0));
    return st;
}

static tri_status read_condition(tri_reader *r, const tri_yaml *at,
                                 const char **words, int n_words)
{
    struct tri_study_private *p = r->study->priv;
    tri_condition *c = &p->conditions[r->study->objective.n_subject_to];
    int i, own = r->study->objective.metric == TRI_METRIC_OWN;
    tri_status st;

    if (at->kind != TRI_YAML_SCALAR) {
        return tri_reader_wrong(at, "objective.subject_to", "a condition");
    }
    st = tri_expr_parse(at->text, p->vars, p->n_vars, words, n_words, TRI_BOOL,
                        &c->expr);
    if (st != TRI_OK) {
        return refuse_condition(r, at, st);
    }
    c->text = at->text;
    for (i = N_METRICS + own; i < p->n_vars; i++) {
        c->needs_config |= tri_expr_uses(c->expr, i);
    }
    r->study->objective.n_subject_to++;
    return TRI_OK;
}

tri_status tri_study_read_conditions(tri_reader *r)
{
    const tri_yaml *list =
            tri_yaml_get(tri_yaml_get(r->root, "objective"), "subject_to");
    struct tri_study_private *p = r->study->priv;
    const tri_yaml *item;
    const char **words;
    int n_words;

    if (!list) {
        return TRI_OK;
    }
    TRI_TRY(declare(r));
    TRI_TRY(list_words(r, &words, &n_words));
    p->conditions = tri_pile_alloc(r->pile, ((size_t)list->n + 2) *
                                                    sizeof *p->conditions);
    if (!p->conditions) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    if (list->kind == TRI_YAML_SCALAR) {
        return read_condition(r, list, words, n_words);
    }
    if (list->kind == TRI_YAML_MAP) {
        return tri_reader_wrong(list, "objective.subject_to",
                                "a list of conditions");
    }
    for (item = list->first; item; item = item->next) {
        TRI_TRY(read_condition(r, item, words, n_words));
    }
    return TRI_OK;
}

static void bind_measured(const tri_study *s, const tri_config *c,
                          const tri_measured *m, tri_value *out)
{
    const double values[] = {m->tokens_per_s, m->samples_per_s, m->step_s,
                             m->loss,         m->peak_bytes,    m->rss_bytes,
                             m->own};
    int own = s->objective.metric == TRI_METRIC_OWN, i;
    int n = N_METRICS + own;

    for (i = 0; i < n; i++) {
        out[i].type = TRI_REAL;
        out[i].u.d = values[i];
    }
    for (; c && i < s->priv->n_vars; i++) {
        out[i] = c[i - n];
    }
}

/* What was not measured meets no condition. */
static int measured(const tri_study *s, const tri_condition *c,
                    const tri_value *values)
{
    int own = s->objective.metric == TRI_METRIC_OWN, i;

    for (i = 0; i < N_METRICS + own; i++) {
        if (tri_expr_uses(c->expr, i) && isnan(values[i].u.d)) {
            return 0;
        }
    }
    return 1;
}

int tri_study_admits(const tri_study *study, const tri_config *c,
                     const tri_measured *m, const char **text)
{
    struct tri_study_private *p = study->priv;
    tri_value *values, v;
    int i, ok = 1;

    if (study->objective.n_subject_to == 0) {
        return 1;
    }
    values = malloc(((size_t)p->n_vars + 1) * sizeof *values);
    if (!values) {
        return 0;
    }
    bind_measured(study, c, m, values);
    for (i = 0; i < study->objective.n_subject_to && ok; i++) {
        const tri_condition *cond = &p->conditions[i];
        if (cond->needs_config && !c) {
            continue;
        }
        ok = measured(study, cond, values) &&
             tri_expr_eval(cond->expr, values, &v) == TRI_OK && v.u.i;
        if (!ok && text) {
            *text = cond->text;
        }
    }
    free(values);
    return ok;
}

int tri_study_subject_to(const tri_study *study, const tri_measured *m,
                         const char **text)
{
    return tri_study_admits(study, NULL, m, text);
}

void tri_study_say_refused(const tri_study *study, const tri_measured *m,
                           const char *text, char *buf, size_t bytes)
{
    const struct tri_study_private *p = study->priv;
    tri_value values[N_METRICS + 1];
    char number[40];
    size_t n;
    int i, k, own = study->objective.metric == TRI_METRIC_OWN;

    bind_measured(study, NULL, m, values);
    n = (size_t)snprintf(buf, bytes, "subject_to \"%.100s\" is not met", text);
    for (k = 0; k < study->objective.n_subject_to; k++) {
        if (p->conditions[k].text == text) {
            break;
        }
    }
    for (i = 0; k < study->objective.n_subject_to && i < N_METRICS + own; i++) {
        if (!tri_expr_uses(p->conditions[k].expr, i) || n >= bytes) {
            continue;
        }
        snprintf(number, sizeof number,
                 values[i].u.d == floor(values[i].u.d) ? "was %.15g"
                                                       : "was %.6g",
                 values[i].u.d);
        n += (size_t)snprintf(buf + n, bytes - n, "; %.60s %s", p->vars[i].name,
                              isnan(values[i].u.d) ? "was not measured"
                                                   : number);
    }
}
