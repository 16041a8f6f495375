/*
 * Collecting a space: parameters, constants, constraints, each checked as far
 * as it can be alone.
 */
#include "src/space/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for the space");
}

tri_status tri_space_builder_create(tri_space_builder **out)
{
    tri_space_builder *b = calloc(1, sizeof *b);

    if (!b) {
        return no_memory();
    }
    *out = b;
    return TRI_OK;
}

void tri_space_builder_destroy(tri_space_builder *b)
{
    if (b) {
        free(b->params);
        free(b->constants);
        free(b->rules);
        free(b->features);
        free((void *)b->words);
        free(b->word_slots);
        free(b->rows);
        tri_pile_fini(&b->pile);
        free(b);
    }
}

void tri_space_blame(int line, int column)
{
    tri_error e = *tri_error_last();

    if (line > 0) {
        tri_error_set(e.code, e.src_file, e.src_line, "%s", e.sentence);
        tri_error_place(
                e.file[0] ? e.file : NULL, line,
                column + (e.line == 1 && e.column > 0 ? e.column - 1 : 0));
    }
}

/* ---- words ------------------------------------------------------------ */

static size_t slot_of(const tri_space_builder *b, const char *word)
{
    size_t at = tri_rng_hash(word, strlen(word)) & (b->n_slots - 1);

    while (b->word_slots[at] >= 0 &&
           strcmp(b->words[b->word_slots[at]], word) != 0) {
        at = (at + 1) & (b->n_slots - 1);
    }
    return at;
}

/* Room for one more word, at most half full. */
static int grow_words(tri_space_builder *b)
{
    size_t n = b->n_slots ? b->n_slots * 2 : 64, i;
    const char **words;
    int *slots;

    words = tri_grow((void *)b->words, b->n_words, &b->cap_words,
                     sizeof *words);
    if (!words) {
        return 0;
    }
    b->words = words;
    if (b->n_words * 2 < b->n_slots) {
        return 1;
    }
    slots = malloc(n * sizeof *slots);
    if (!slots) {
        return 0;
    }
    memset(slots, 0xff, n * sizeof *slots);
    free(b->word_slots);
    b->word_slots = slots;
    b->n_slots = n;
    for (i = 0; i < b->n_words; i++) {
        slots[slot_of(b, b->words[i])] = (int)i;
    }
    return 1;
}

static const char *intern(tri_space_builder *b, const char *word)
{
    size_t at;

    if (!grow_words(b)) {
        return NULL;
    }
    at = slot_of(b, word);
    if (b->word_slots[at] >= 0) {
        return b->words[b->word_slots[at]];
    }
    word = tri_pile_text(&b->pile, word, strlen(word));
    if (word) {
        b->word_slots[at] = (int)b->n_words;
        b->words[b->n_words++] = word;
    }
    return word;
}

static tri_status intern_value(tri_space_builder *b, tri_value *v)
{
    if (v->type == TRI_WORD) {
        v->u.word = intern(b, v->u.word);
        if (!v->u.word) {
            return no_memory();
        }
    }
    return TRI_OK;
}

/* ---- adding ----------------------------------------------------------- */

int tri_space_builder_find(const tri_space_builder *b, const char *name)
{
    size_t i;

    for (i = 0; i < b->n_params; i++) {
        if (strcmp(b->params[i].param.name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static tri_status check_numbers(const char *name, const tri_domain *d)
{
    if (d->kind == TRI_DOMAIN_INT) {
        if (d->lo > d->hi) {
            return TRI_FAIL(TRI_ERANGE,
                            "\"%s\": the range [%lld, %lld] is "
                            "empty",
                            name, (long long)d->lo, (long long)d->hi);
        }
        if (d->step < 1) {
            return TRI_FAIL(TRI_ERANGE,
                            "\"%s\": a step of %lld; expected at "
                            "least 1",
                            name, (long long)d->step);
        }
        if ((uint64_t)d->hi - (uint64_t)d->lo >= (uint64_t)INT64_MAX) {
            return TRI_FAIL(TRI_ERANGE, "\"%s\": a range too wide to count",
                            name);
        }
        if ((d->log2 || d->log) && d->lo < 1) {
            return TRI_FAIL(TRI_ERANGE,
                            "\"%s\": a logarithmic range starts "
                            "at 1 or above, not at %lld",
                            name, (long long)d->lo);
        }
        if (d->log2 && tri_domain_count(d) == 0) {
            return TRI_FAIL(TRI_ERANGE,
                            "\"%s\": no power of two in [%lld, "
                            "%lld]",
                            name, (long long)d->lo, (long long)d->hi);
        }
    }
    if (d->kind == TRI_DOMAIN_FLOAT) {
        if (!(d->flo < d->fhi) || !(d->fhi - d->flo < 1e308)) {
            return TRI_FAIL(TRI_ERANGE,
                            "\"%s\": the range [%g, %g] is not "
                            "one of low and high",
                            name, d->flo, d->fhi);
        }
        if (d->log && !(d->flo > 0)) {
            return TRI_FAIL(TRI_ERANGE,
                            "\"%s\": a logarithmic range starts "
                            "above 0, not at %g",
                            name, d->flo);
        }
    }
    return TRI_OK;
}

static tri_status check_values(const char *name, const tri_domain *d)
{
    char text[80];
    int i, j;

    if (d->n_values < 1) {
        return TRI_FAIL(TRI_ERANGE, "\"%s\": a choice of nothing", name);
    }
    for (i = 0; i < d->n_values; i++) {
        if (d->values[i].type == TRI_WORD &&
            strcmp(d->values[i].u.word, "inactive") == 0) {
            return TRI_FAIL(TRI_EINVAL,
                            "\"%s\": \"inactive\" is no value of "
                            "a parameter",
                            name);
        }
        /* Long lists are checked against their neighbours only. */
        for (j = i > 1000 ? i - 1000 : 0; j < i; j++) {
            if (tri_value_equal(d->values[i], d->values[j])) {
                tri_value_print(d->values[i], text, sizeof text);
                return TRI_FAIL(TRI_EEXIST,
                                "\"%s\": the value %s stands "
                                "twice",
                                name, text);
            }
        }
    }
    return TRI_OK;
}

static tri_status copy_values(tri_space_builder *b, const tri_domain *from,
                              tri_domain *to)
{
    size_t n = (size_t)from->n_values;
    tri_value *copy = tri_pile_alloc(&b->pile, n * sizeof *copy);
    size_t i;

    if (!copy) {
        return no_memory();
    }
    for (i = 0; i < n; i++) {
        copy[i] = from->values[i];
        TRI_TRY(intern_value(b, &copy[i]));
    }
    to->values = copy;
    return TRI_OK;
}

static tri_status list_ints(tri_space_builder *b, tri_domain *d)
{
    int64_t n, i;
    tri_value *list;

    d->values = NULL;
    n = tri_domain_count(d);
    d->n_values = n > INT32_MAX ? INT32_MAX : (int)n;
    if (n > TRI_SPACE_LISTED) {
        return TRI_OK;
    }
    list = tri_pile_alloc(&b->pile, (size_t)n * sizeof *list);
    if (!list) {
        return no_memory();
    }
    for (i = 0; i < n; i++) {
        list[i] = tri_domain_at(d, i);
    }
    d->values = list;
    return TRI_OK;
}

static tri_status add_param(tri_space_builder *b, const char *name,
                            const tri_domain *domain, const char *when,
                            int line, int column)
{
    tri_built_param p = {
            {NULL, *domain, NULL, (int)b->n_params}, NULL, line, column};
    tri_built_param *grown;

    if (b->n_params >= TRI_SPACE_PARAMS) {
        return TRI_FAIL(TRI_ERANGE, "more than %d parameters",
                        TRI_SPACE_PARAMS);
    }
    if (tri_space_builder_find(b, name) >= 0) {
        return TRI_FAIL(TRI_EEXIST, "the parameter \"%.60s\" stands twice",
                        name);
    }
    if (strcmp(name, "inactive") == 0 || strcmp(name, "true") == 0 ||
        strcmp(name, "false") == 0) {
        return TRI_FAIL(TRI_EINVAL, "\"%s\" cannot be a parameter's name",
                        name);
    }
    if (domain->kind == TRI_DOMAIN_CHOICE || domain->kind == TRI_DOMAIN_CONST) {
        TRI_TRY(check_values(name, domain));
        TRI_TRY(copy_values(b, domain, &p.param.domain));
    } else {
        TRI_TRY(check_numbers(name, domain));
    }
    if (domain->kind == TRI_DOMAIN_INT) {
        TRI_TRY(list_ints(b, &p.param.domain));
    }
    p.param.name = tri_pile_text(&b->pile, name, strlen(name));
    p.when = when ? tri_pile_text(&b->pile, when, strlen(when)) : NULL;
    grown = tri_grow(b->params, b->n_params, &b->cap_params, sizeof p);
    if (!grown || !p.param.name || (when && !p.when)) {
        return no_memory();
    }
    b->params = grown;
    b->params[b->n_params++] = p;
    return TRI_OK;
}

tri_status tri_space_add_param(tri_space_builder *b, const char *name,
                               const tri_domain *domain, const char *when,
                               int line, int column)
{
    tri_status st = add_param(b, name, domain, when, line, column);

    if (st != TRI_OK) {
        tri_space_blame(line, column);
    }
    return st;
}

tri_status tri_space_add_constant(tri_space_builder *b, const char *name,
                                  tri_value value)
{
    tri_built_constant c = {tri_pile_text(&b->pile, name, strlen(name)), value};
    tri_built_constant *grown =
            tri_grow(b->constants, b->n_constants, &b->cap_constants, sizeof c);

    if (!grown || !c.name) {
        return no_memory();
    }
    b->constants = grown;
    TRI_TRY(intern_value(b, &c.value));
    b->constants[b->n_constants++] = c;
    return TRI_OK;
}

tri_status tri_space_add_word(tri_space_builder *b, const char *word)
{
    return intern(b, word) ? TRI_OK : no_memory();
}

static tri_status make_item(tri_space_builder *b, const char *name,
                            const char *text, int line, int column,
                            tri_built_item *out)
{
    tri_built_item it = {NULL, NULL, 0, line, column};

    it.text = tri_pile_text(&b->pile, text, strlen(text));
    it.name = name ? tri_pile_text(&b->pile, name, strlen(name)) : it.text;
    if (!it.text || !it.name) {
        return no_memory();
    }
    *out = it;
    return TRI_OK;
}

tri_status tri_space_add_constraint(tri_space_builder *b, const char *text,
                                    const char *rule, int built_in, int line,
                                    int column)
{
    tri_built_item it, *grown;

    if (b->n_rules >= TRI_SPACE_RULES) {
        return TRI_FAIL(TRI_ERANGE, "more than %d constraints",
                        TRI_SPACE_RULES);
    }
    TRI_TRY(make_item(b, rule, text, line, column, &it));
    it.built_in = built_in;
    grown = tri_grow(b->rules, b->n_rules, &b->cap_rules, sizeof it);
    if (!grown) {
        return no_memory();
    }
    b->rules = grown;
    b->rules[b->n_rules++] = it;
    return TRI_OK;
}

tri_status tri_space_add_feature(tri_space_builder *b, const char *name,
                                 const char *text, int line, int column)
{
    tri_built_item it, *grown;
    size_t i;

    for (i = 0; i < b->n_features; i++) {
        if (strcmp(b->features[i].name, name) == 0) {
            TRI_FAIL(TRI_EEXIST, "the feature \"%.60s\" stands twice", name);
            tri_space_blame(line, column);
            return TRI_EEXIST;
        }
    }
    TRI_TRY(make_item(b, name, text, line, column, &it));
    grown = tri_grow(b->features, b->n_features, &b->cap_features, sizeof it);
    if (!grown) {
        return no_memory();
    }
    b->features = grown;
    b->features[b->n_features++] = it;
    return TRI_OK;
}

tri_status tri_space_set_ranks(tri_space_builder *b, const char *text, int line,
                               int column)
{
    return make_item(b, "ranks", text, line, column, &b->ranks);
}

tri_status tri_space_set_rows(tri_space_builder *b, const tri_value *rows,
                              int64_t n_rows)
{
    size_t n = (size_t)n_rows * b->n_params, i;
    tri_value *copy = malloc((n + 1) * sizeof *copy);

    if (!copy) {
        return no_memory();
    }
    for (i = 0; i < n; i++) {
        copy[i] = rows[i];
    }
    free(b->rows);
    b->rows = copy;
    b->n_rows = n_rows;
    return TRI_OK;
}
