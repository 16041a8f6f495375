/*
 * Configurations as text, their identity, and `--why`.
 */
#include "src/space/space_priv.h"

#include "src/space/quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- identity ---------------------------------------------------------- */

int tri_space_equal(const tri_space *s, const tri_config *a,
                    const tri_config *b)
{
    int i;

    for (i = 0; i < s->n_params; i++) {
        if (!tri_value_equal(a[i], b[i])) {
            return 0;
        }
    }
    return 1;
}

uint64_t tri_space_hash_name(const char *name)
{
    char text[400];
    int n = snprintf(text, sizeof text, "%.300s=", name);

    return tri_rng_hash(text, (size_t)n);
}

/* An integer's hash is that of the equal real, as the two are equal values. */
static uint64_t hash_value(uint64_t h, tri_value v)
{
    if (v.type == TRI_WORD) {
        return h ^ tri_rng_hash(v.u.word, strlen(v.u.word)) * 3;
    }
    if (v.type == TRI_REAL && v.u.d >= -9e18 && v.u.d <= 9e18 &&
        v.u.d == (double)(int64_t)v.u.d) {
        v.type = TRI_INT;
        v.u.i = (int64_t)v.u.d;
    }
    return h ^ tri_rng_hash_u64((uint64_t)v.u.i) * (v.type == TRI_BOOL ? 7 : 5);
}

uint64_t tri_space_hash(const tri_space *s, const tri_config *c)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    int i;

    /* A sum, so that the order of declaration does not matter. */
    for (i = 0; i < s->n_params; i++) {
        if (c[i].type != TRI_INACTIVE) {
            h += tri_rng_hash_u64(hash_value(s->name_hashes[i], c[i]));
        }
    }
    return tri_rng_hash_u64(h);
}

/* ---- printing ---------------------------------------------------------- */

static size_t append(char *buf, size_t bytes, size_t n, const char *name,
                     tri_value v)
{
    char *at = n < bytes ? buf + n : NULL;
    size_t left = n < bytes ? bytes - n : 0;
    size_t head = (size_t)snprintf(at, left, "%s%s=", n ? " " : "", name);

    at = head < left ? at + head : NULL;
    left = head < left ? left - head : 0;
    return n + head + tri_value_print(v, at, left);
}

size_t tri_space_print(const tri_space *s, const tri_config *c, char *buf,
                       size_t bytes)
{
    size_t n = 0;
    int i;

    if (bytes > 0) {
        buf[0] = '\0';
    }
    for (i = 0; i < s->n_params; i++) {
        if (c[i].type != TRI_INACTIVE &&
            s->params[i].domain.kind != TRI_DOMAIN_CONST) {
            n = append(buf, bytes, n, s->params[i].name, c[i]);
        }
    }
    return n;
}

/* ---- reading assignments ------------------------------------------------ */

typedef struct assignment {
    char name[128];
    char value[512];
    int quoted;
} assignment;

static int is_gap(char c)
{
    return c == ' ' || c == ',' || c == '\t' || c == '\n';
}

/* Move *text over one assignment.  TRI_EPARSE. */
static tri_status next_assignment(const char **text, assignment *a)
{
    const char *s = *text;
    size_t n = strcspn(s, "= ,\t\n"), i = 0;

    if (n == 0 || n >= sizeof a->name || s[n] != '=') {
        return TRI_FAIL(TRI_EPARSE, "expected name=value, found \"%.60s\"", s);
    }
    memcpy(a->name, s, n);
    a->name[n] = '\0';
    s += n + 1;
    a->quoted = *s == '"';
    s += a->quoted;
    while (*s && (a->quoted ? *s != '"' : !is_gap(*s))) {
        s += a->quoted && s[0] == '\\' && s[1];
        if (i + 1 >= sizeof a->value) {
            return TRI_FAIL(TRI_EPARSE, "the value of \"%s\" is too long",
                            a->name);
        }
        a->value[i++] = *s++;
    }
    a->value[i] = '\0';
    if (a->quoted && *s++ != '"') {
        return TRI_FAIL(TRI_EPARSE, "the value of \"%s\" has no closing quote",
                        a->name);
    }
    if (i == 0 && !a->quoted) {
        return TRI_FAIL(TRI_EPARSE, "\"%s\" has no value", a->name);
    }
    *text = s;
    return TRI_OK;
}

/* Text as a number, if all of it is one (with a unit, perhaps). */
static int as_number(const char *text, tri_value *out)
{
    char *end, kind;
    tri_error saved = *tri_error_last();
    long long i = strtoll(text, &end, 10);
    double d;

    if (*end == '\0' && end != text && strlen(text) < 19) {
        out->type = TRI_INT;
        out->u.i = i;
        return 1;
    }
    if (tri_quantity_parse(text, &d, &kind) != TRI_OK) {
        tri_error_set(saved.code, saved.src_file, saved.src_line, "%s",
                      saved.sentence);
        return 0;
    }
    out->type = TRI_REAL;
    out->u.d = d;
    return 1;
}

static tri_status unknown_param(const tri_space *s, const char *name)
{
    const char *names[256], *near;
    int i, n = s->n_params < 256 ? s->n_params : 256;

    for (i = 0; i < n; i++) {
        names[i] = s->params[i].name;
    }
    near = tri_closest(name, names, n);
    return near ? TRI_FAIL(TRI_EUNKNOWN,
                           "no parameter is named \"%s\"; did you mean "
                           "\"%s\"?",
                           name, near)
                : TRI_FAIL(TRI_EUNKNOWN, "no parameter is named \"%s\"", name);
}

static const char *intern(const tri_space *s, const char *word)
{
    int i;

    for (i = 0; i < s->n_words; i++) {
        if (strcmp(s->words[i], word) == 0) {
            return s->words[i];
        }
    }
    return NULL;
}

static tri_status out_of_domain(const tri_space *s, int p, const char *value)
{
    const tri_domain *d = &s->params[p].domain;
    char list[300] = "", one[80];
    size_t n = 0;
    int i;

    if (d->kind == TRI_DOMAIN_FLOAT) {
        snprintf(list, sizeof list, "a number in [%g, %g]", d->flo, d->fhi);
    } else if (d->kind == TRI_DOMAIN_INT) {
        snprintf(list, sizeof list, "%s in [%lld, %lld]",
                 d->log2 ? "a power of two" : "an integer", (long long)d->lo,
                 (long long)d->hi);
    } else {
        for (i = 0; i < d->n_values && n < sizeof list - 90; i++) {
            tri_value_print(d->values[i], one, sizeof one);
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%s",
                                  i ? ", " : "", one);
        }
    }
    return TRI_FAIL(TRI_ERANGE, "\"%s\" cannot be %.100s; expected %s",
                    s->params[p].name, value, list);
}

static tri_status to_value(const tri_space *s, int p, const assignment *a,
                           tri_value *out)
{
    const tri_domain *d = &s->params[p].domain;
    tri_value v = {TRI_INACTIVE, {0}};
    int64_t k;

    if (!a->quoted && strcmp(a->value, "inactive") == 0) {
        if (!s->whens[p]) {
            return TRI_FAIL(TRI_ERANGE, "\"%s\" is never inactive",
                            s->params[p].name);
        }
        *out = v;
        return TRI_OK;
    }
    v.type = TRI_WORD;
    v.u.word = intern(s, a->value);
    if (!a->quoted &&
        (strcmp(a->value, "true") == 0 || strcmp(a->value, "false") == 0)) {
        v.type = TRI_BOOL;
        v.u.i = a->value[0] == 't';
    } else if (!v.u.word || tri_domain_index(d, v) < 0) {
        if (a->quoted || !as_number(a->value, &v)) {
            return out_of_domain(s, p, a->value);
        }
    }
    k = tri_domain_index(d, v);
    if (k < 0) {
        return out_of_domain(s, p, a->value);
    }
    if (d->kind == TRI_DOMAIN_FLOAT) {
        if (v.type == TRI_INT) {
            v.type = TRI_REAL;
            v.u.d = (double)v.u.i;
        }
        *out = v;
    } else {
        *out = tri_domain_at(d, k); /* an equal value, in the domain's type */
    }
    return TRI_OK;
}

/* Fill `out` from text; parameters that it does not name are errors in the
 * sense of TRI_VALUE_ERROR. */
static tri_status parse_partial(const tri_space *s, const char *text,
                                tri_config *out)
{
    assignment a;
    int i;

    for (i = 0; i < s->n_params; i++) {
        out[i].type = TRI_VALUE_ERROR;
    }
    for (;;) {
        while (is_gap(*text)) {
            text++;
        }
        if (*text == '\0') {
            return TRI_OK;
        }
        TRI_TRY(next_assignment(&text, &a));
        i = tri_space_find(s, a.name);
        if (i < 0) {
            return unknown_param(s, a.name);
        }
        if (out[i].type != TRI_VALUE_ERROR) {
            return TRI_FAIL(TRI_EEXIST, "\"%s\" is given twice", a.name);
        }
        TRI_TRY(to_value(s, i, &a, &out[i]));
    }
}

/* Give values to what the text left out and that has only one: constants,
 * and what is inactive.  [out] `missing`: one that has not, -1 if none. */
static void complete(const tri_space *s, tri_config *c, int *missing)
{
    tri_value v;
    int i;

    *missing = -1;
    for (i = 0; i < s->n_params; i++) {
        if (c[i].type == TRI_VALUE_ERROR && !tri_space_varies(s, i)) {
            c[i] = s->fixed[i];
        }
    }
    for (i = 0; i < s->n_params; i++) {
        int p = s->when_order[i];
        if (c[p].type != TRI_VALUE_ERROR) {
            continue;
        }
        if (s->whens[p]) {
            tri_error saved = *tri_error_last();
            tri_status st = tri_space_eval(s, s->whens[p], c, &v);
            if (st == TRI_OK && v.type == TRI_BOOL && !v.u.i) {
                c[p].type = TRI_INACTIVE;
                c[p].u.i = 0;
            } else if (st == TRI_OK && s->n_values[p] == 1) {
                c[p] = tri_domain_at(&s->params[p].domain, 0);
            }
            if (st != TRI_OK) {
                tri_error_clear();
                (void)saved;
            }
        }
        if (c[p].type == TRI_VALUE_ERROR && (*missing < 0 || p < *missing)) {
            *missing = p;
        }
    }
}

tri_status tri_space_parse(const tri_space *s, const char *text,
                           tri_config *out)
{
    tri_config *c = calloc((size_t)s->n_params + 1, sizeof *c);
    tri_status st;
    int missing;

    if (!c) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    TRI_TRY_GOTO(st, parse_partial(s, text, c), done);
    complete(s, c, &missing);
    if (missing >= 0) {
        st = TRI_FAIL(TRI_ENOTFOUND, "no value is given for \"%s\"",
                      s->params[missing].name);
        goto done;
    }
    memcpy(out, c, (size_t)s->n_params * sizeof *c);
done:
    free(c);
    return st;
}

/* ---- why ---------------------------------------------------------------- */

/* The values of the expression's variables, behind that of parameter `first`
 * (-1: none). */
static void show_values(const tri_space *s, const tri_expr *e,
                        const tri_config *c, int first, tri_why *why)
{
    size_t n = 0;
    int i;

    why->values[0] = '\0';
    if (first >= 0) {
        n = append(why->values, sizeof why->values, n, s->vars[first].name,
                   c[first]);
    }
    for (i = 0; i < s->n_vars; i++) {
        tri_value v = i < s->n_params ? c[i] : s->fixed[i];
        if (e && i != first && tri_expr_uses(e, i) &&
            v.type != TRI_VALUE_ERROR) {
            n = append(why->values, sizeof why->values, n, s->vars[i].name, v);
        }
    }
}

static void refuse(const tri_space *s, int rule, const tri_config *c,
                   tri_why *why)
{
    why->valid = 0;
    why->rule = rule >= 0 ? s->rules[rule].name : "";
    why->line = rule >= 0 ? tri_space_rule_line(s, rule) : 0;
    show_values(s, rule >= 0 ? s->rules[rule].expr : NULL, c, -1, why);
}

/* A value is there where there should be none, or the other way round. */
static void refuse_activity(const tri_space *s, const tri_config *c,
                            tri_why *why)
{
    tri_value v;
    int i;

    refuse(s, -1, c, why);
    why->rule = s->has_rows ? "rows of the table" : "domains";
    for (i = 0; i < s->n_params; i++) {
        if (s->whens[i] && c[i].type != TRI_VALUE_ERROR &&
            tri_space_eval(s, s->whens[i], c, &v) == TRI_OK &&
            (v.u.i != 0) != (c[i].type != TRI_INACTIVE)) {
            why->rule = s->whens[i]->text;
            why->line = s->when_lines[i];
            show_values(s, s->whens[i], c, i, why);
            return;
        }
    }
}

/* Whether rules first..last (none: last < first) allow some completion of the
 * parameters in `set`; -1: not known. */
static int set_completes(const tri_space *s, const tri_config *c,
                         const unsigned char *set, int first, int last)
{
    tri_subset sub = {set, first, last, c, NULL, 0, 1, 0};
    int i, blame, ok;
    tri_dd dd;

    for (i = 0; i < s->n_params; i++) {
        if (set[i] && s->comps[s->comp_of[i]].kind == TRI_COMP_REJECT) {
            return -1;
        }
    }
    if (tri_space_subsolve(s, &sub, &dd, &blame) != TRI_OK) {
        tri_error_clear();
        return -1;
    }
    ok = dd.root != TRI_DD_NONE;
    tri_dd_fini(&dd);
    return ok;
}

/* Whether rule i alone allows some completion of `c`. */
static int rule_completes(const tri_space *s, const tri_config *c, int i,
                          unsigned char *set)
{
    memset(set, 0, (size_t)s->n_params);
    tri_space_mark(s, s->rules[i].expr, s->rules[i].expr->root, set);
    tri_space_close(s, set);
    return set_completes(s, c, set, i, i);
}

/* Whether rules 0..last do, component by component. */
static int rules_complete(const tri_space *s, const tri_config *c, int last,
                          unsigned char *set)
{
    int k, i, ok = 1;

    for (k = 0; k < s->n_comps && ok != 0; k++) {
        for (i = 0; i < s->n_params; i++) {
            set[i] = s->comp_of[i] == k;
        }
        if (s->comps[k].kind != TRI_COMP_FREE) {
            ok = set_completes(s, c, set, 0, last);
        }
    }
    memset(set, 0, (size_t)s->n_params); /* and those that name nothing */
    return ok != 0 ? set_completes(s, c, set, 0, last) : ok;
}

/* The first rule that alone allows no completion, else the first that does
 * not together with those before it; -1 if there is none. */
static int refusing_rule(const tri_space *s, const tri_config *c,
                         unsigned char *set)
{
    int i, lo = 0, hi = s->n_rules;

    for (i = 0; i < s->n_rules; i++) {
        if (rule_completes(s, c, i, set) == 0) {
            return i;
        }
    }
    if (rules_complete(s, c, -1, set) == 0) {
        return -1; /* some `when` stands against it, and no rule */
    }
    while (lo < hi) { /* rules 0..k get tighter with k */
        int mid = lo + (hi - lo) / 2;
        if (rules_complete(s, c, mid, set) == 0) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo < s->n_rules ? lo : -1;
}

/* Whether all that `e` names has a value. */
static int is_assigned(const tri_space *s, const tri_expr *e,
                       const tri_config *c)
{
    int i;

    for (i = 0; i < s->n_params; i++) {
        if (tri_expr_uses(e, i) && c[i].type == TRI_VALUE_ERROR) {
            return 0;
        }
    }
    return 1;
}

/* What the assigned values decide by themselves: a `when` or a rule that they
 * go against.  Returns 0 if there is none. */
static int refused_already(const tri_space *s, const tri_config *c,
                           tri_why *why)
{
    tri_value v;
    int i;

    for (i = 0; i < s->n_params; i++) {
        if (s->whens[i] && c[i].type != TRI_VALUE_ERROR &&
            is_assigned(s, s->whens[i], c) &&
            tri_space_eval(s, s->whens[i], c, &v) == TRI_OK &&
            (v.u.i != 0) != (c[i].type != TRI_INACTIVE)) {
            refuse_activity(s, c, why);
            return 1;
        }
    }
    for (i = 0; i < s->n_rules; i++) {
        if (is_assigned(s, s->rules[i].expr, c) &&
            (tri_space_eval(s, s->rules[i].expr, c, &v) != TRI_OK || !v.u.i)) {
            refuse(s, i, c, why);
            return 1;
        }
    }
    return 0;
}

static tri_status why_partial(const tri_space *s, const tri_config *c,
                              tri_why *why)
{
    unsigned char *set = calloc((size_t)s->n_params + 1, 1);
    int rule;

    if (!set) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    if (!refused_already(s, c, why) && !s->has_rows &&
        rules_complete(s, c, s->n_rules - 1, set) == 0) {
        rule = refusing_rule(s, c, set);
        if (rule < 0) {
            refuse_activity(s, c, why);
        } else {
            refuse(s, rule, c, why);
        }
    }
    free(set);
    return TRI_OK;
}

tri_status tri_space_why(const tri_space *s, const char *text, tri_why *out)
{
    tri_config *c = calloc((size_t)s->n_params + 1, sizeof *c);
    tri_why why = {1, NULL, 0, ""};
    tri_status st;
    int missing, rule = -1;

    if (!c) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    TRI_TRY_GOTO(st, parse_partial(s, text, c), done);
    complete(s, c, &missing);
    if (missing >= 0) {
        TRI_TRY_GOTO(st, why_partial(s, c, &why), done);
    } else if (!tri_space_valid(s, c, &rule)) {
        if (rule >= 0) {
            refuse(s, rule, c, &why);
        } else {
            refuse_activity(s, c, &why);
        }
    }
    tri_error_clear();
    *out = why;
done:
    free(c);
    return st;
}
