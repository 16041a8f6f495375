/*
 * Scalars, lists and maps of a study file to C values.
 */
#include "src/space/reader.h"

#include "src/space/quantity.h"
#include "src/space/study_priv.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tri_status tri_reader_place(const tri_yaml *at, tri_status st)
{
    tri_error_place(NULL, at->line, at->column);
    return st;
}

/* On one line, whatever it is. */
static void describe(const tri_yaml *at, char *buf, size_t bytes)
{
    if (at->kind == TRI_YAML_SCALAR) {
        snprintf(buf, bytes, *at->text ? "\"%.60s\"" : "nothing", at->text);
        for (; *buf; buf++) {
            *buf = (unsigned char)*buf < ' ' || *buf == 127 ? '?' : *buf;
        }
    } else {
        snprintf(buf, bytes, at->kind == TRI_YAML_MAP ? "a map" : "a list");
    }
}

tri_status tri_reader_wrong(const tri_yaml *at, const char *key,
                            const char *expected)
{
    char found[80];

    describe(at, found, sizeof found);
    return tri_reader_place(at, TRI_FAIL(TRI_ETYPE, "%s: found %s, expected %s",
                                         key, found, expected));
}

tri_status tri_reader_keys(const tri_yaml *map, const char *where,
                           const char *const *keys, int n)
{
    const tri_yaml *e;
    const char *near;
    tri_status st;
    int i;

    if (map->kind != TRI_YAML_MAP) {
        return tri_reader_wrong(map, where, "a map of keys and values");
    }
    for (e = map->first; e; e = e->next) {
        for (i = 0; i < n && strcmp(keys[i], e->key) != 0; i++) {
        }
        if (i < n) {
            continue;
        }
        near = tri_closest(e->key, keys, n);
        if (near) {
            st = TRI_FAIL(TRI_EUNKNOWN,
                          "%s%sunknown key \"%.60s\"; did you mean \"%s\"?",
                          where, *where ? ": " : "", e->key, near);
        } else {
            char list[300] = "";
            size_t len = 0;
            for (i = 0; i < n && len < sizeof list - 40; i++) {
                len += (size_t)snprintf(list + len, sizeof list - len, "%s%s",
                                        i ? ", " : "", keys[i]);
            }
            st = TRI_FAIL(TRI_EUNKNOWN,
                          "%s%sunknown key \"%.60s\"; expected one of %s",
                          where, *where ? ": " : "", e->key, list);
        }
        tri_error_place(NULL, e->key_line, e->key_column);
        return st;
    }
    return TRI_OK;
}

int tri_reader_is(const tri_yaml *at, const char *word)
{
    return at && at->kind == TRI_YAML_SCALAR && strcmp(at->text, word) == 0;
}

/* ---- numbers ----------------------------------------------------------- */

static int to_int(const char *text, int64_t *out)
{
    char *end;
    const char *digits = text + (*text == '-' || *text == '+');

    if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0' ||
        strlen(digits) > 18) {
        return 0;
    }
    *out = strtoll(text, &end, 10);
    return 1;
}

/* A number with a unit of one of `kinds` ('\0' in the text is always
 * accepted).  Returns 0 if it is none. */
static int to_quantity(const tri_yaml *at, char want, double *out, char *kind)
{
    tri_error saved = *tri_error_last();

    *kind = 0;
    if (at->kind != TRI_YAML_SCALAR || *at->text == '\0' ||
        tri_quantity_parse(at->text, out, kind) != TRI_OK) {
        tri_error_set(saved.code, saved.src_file, saved.src_line, "%s",
                      saved.sentence);
        return 0;
    }
    return *kind == 0 || *kind == want;
}

static tri_status out_of(const tri_yaml *at, const char *key, const char *form,
                         double lo, double hi)
{
    char expected[120];

    if (hi < 1e15) {
        snprintf(expected, sizeof expected, "%s from %.10g to %.10g", form, lo,
                 hi);
    } else {
        snprintf(expected, sizeof expected, "%s of at least %.10g", form, lo);
    }
    tri_reader_wrong(at, key, expected);
    return TRI_ERANGE;
}

static tri_status range_error(const tri_yaml *at, const char *key,
                              const char *form, double lo, double hi)
{
    tri_error e;

    out_of(at, key, form, lo, hi);
    e = *tri_error_last();
    tri_error_set(TRI_ERANGE, e.src_file, e.src_line, "%s", e.sentence);
    return tri_reader_place(at, TRI_ERANGE);
}

tri_status tri_reader_int(const tri_yaml *at, const char *key, int64_t lo,
                          int64_t hi, int64_t *out)
{
    int64_t x;
    double d;
    char kind = 0;

    if (!at) {
        return TRI_OK;
    }
    if (at->kind != TRI_YAML_SCALAR || !at->plain) {
        return tri_reader_wrong(at, key, "an integer");
    }
    if (!to_int(at->text, &x)) {
        /* 4 MiB and 1e6 are integers too. */
        if (!to_quantity(at, 'b', &d, &kind) || d != floor(d) ||
            fabs(d) > 9e18) {
            return tri_reader_wrong(at, key, "an integer of at most 18 digits");
        }
        x = (int64_t)d;
    }
    if (x < lo || x > hi) {
        return range_error(at, key, "an integer", (double)lo, (double)hi);
    }
    *out = x;
    return TRI_OK;
}

tri_status tri_reader_small(const tri_yaml *at, const char *key, int lo, int hi,
                            int *out)
{
    int64_t x = *out;

    TRI_TRY(tri_reader_int(at, key, lo, hi, &x));
    *out = (int)x;
    return TRI_OK;
}

tri_status tri_reader_real(const tri_yaml *at, const char *key, double lo,
                           double hi, int open, double *out)
{
    double x;
    char kind;

    if (!at) {
        return TRI_OK;
    }
    if (!at->plain || !to_quantity(at, 0, &x, &kind)) {
        return tri_reader_wrong(at, key, "a number");
    }
    if (x < lo || x > hi || (open && x == lo)) {
        return range_error(at, key,
                           open ? "a number above the first" : "a number", lo,
                           hi);
    }
    *out = x;
    return TRI_OK;
}

tri_status tri_reader_share(const tri_yaml *at, const char *key, double lo,
                            double hi, double *out)
{
    double x;
    char kind;

    if (!at) {
        return TRI_OK;
    }
    if (!to_quantity(at, '%', &x, &kind)) {
        return tri_reader_wrong(at, key, "a share, such as 1 %");
    }
    if (x < lo || x > hi) {
        return range_error(at, key, "a share", lo, hi);
    }
    *out = x;
    return TRI_OK;
}

tri_status tri_reader_bytes(const tri_yaml *at, const char *key, uint64_t *out)
{
    double x;
    char kind;

    if (!at) {
        return TRI_OK;
    }
    if (!to_quantity(at, 'b', &x, &kind)) {
        return tri_reader_wrong(at, key, "a size, such as 2 GiB");
    }
    if (x < 1 || x > 9e18) {
        return range_error(at, key, "a size in bytes", 1, 9e18);
    }
    *out = (uint64_t)x;
    return TRI_OK;
}

tri_status tri_reader_time(const tri_yaml *at, const char *key, double *out)
{
    double x;
    char kind;

    if (!at) {
        return TRI_OK;
    }
    if (!to_quantity(at, 't', &x, &kind)) {
        return tri_reader_wrong(at, key, "a time, such as 10 min or 25 s");
    }
    if (x <= 0 || x > 1e10) {
        return range_error(at, key, "a time in seconds above the first", 0,
                           1e10);
    }
    *out = x;
    return TRI_OK;
}

/* ---- words -------------------------------------------------------------- */

tri_status tri_reader_bool(const tri_yaml *at, const char *key, int *out)
{
    if (!at) {
        return TRI_OK;
    }
    if (!tri_reader_is(at, "true") && !tri_reader_is(at, "false")) {
        return tri_reader_wrong(at, key, "true or false");
    }
    *out = tri_reader_is(at, "true");
    return TRI_OK;
}

tri_status tri_reader_text(const tri_yaml *at, const char *key,
                           const char **out)
{
    if (!at) {
        return TRI_OK;
    }
    if (at->kind != TRI_YAML_SCALAR || *at->text == '\0') {
        return tri_reader_wrong(at, key, "a text");
    }
    *out = at->text;
    return TRI_OK;
}

tri_status tri_reader_name(const tri_yaml *at, const char *key,
                           const char *const *names, int n, int *out)
{
    char expected[300] = "";
    const char *near = NULL;
    size_t len = 0;
    int i;

    if (!at) {
        return TRI_OK;
    }
    for (i = 0; i < n && at->kind == TRI_YAML_SCALAR; i++) {
        if (strcmp(at->text, names[i]) == 0) {
            *out = i;
            return TRI_OK;
        }
    }
    for (i = 0; i < n && len < sizeof expected - 80; i++) {
        len += (size_t)snprintf(expected + len, sizeof expected - len, "%s%s",
                                i == 0       ? ""
                                : i + 1 == n ? " or "
                                             : ", ",
                                names[i]);
    }
    if (at->kind == TRI_YAML_SCALAR) {
        near = tri_closest(at->text, names, n);
    }
    if (near) {
        snprintf(expected + len, sizeof expected - len,
                 "; did you mean \"%s\"?", near);
    }
    return tri_reader_wrong(at, key, expected);
}

tri_status tri_reader_texts(tri_reader *r, const tri_yaml *at, const char *key,
                            const char *const **out, int *n)
{
    const tri_yaml *item;
    const char **list;
    int i = 0;

    if (!at) {
        return TRI_OK;
    }
    list = tri_pile_alloc(r->pile, ((size_t)at->n + 2) * sizeof *list);
    if (!list) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    if (at->kind == TRI_YAML_SCALAR) {
        TRI_TRY(tri_reader_text(at, key, &list[0]));
        i = 1;
    } else if (at->kind == TRI_YAML_MAP) {
        return tri_reader_wrong(at, key, "a list");
    }
    for (item = at->first; item; item = item->next) {
        if (item->kind != TRI_YAML_SCALAR) {
            return tri_reader_wrong(item, key, "a text");
        }
        list[i++] = item->text;
    }
    *out = list;
    *n = i;
    return TRI_OK;
}

tri_status tri_reader_pairs(tri_reader *r, const tri_yaml *at, const char *key,
                            const tri_pair **out, int *n)
{
    const tri_yaml *e;
    tri_pair *list;
    int i = 0;

    if (!at) {
        return TRI_OK;
    }
    if (at->kind != TRI_YAML_MAP) {
        return tri_reader_wrong(at, key, "a map of names and values");
    }
    list = tri_pile_alloc(r->pile, ((size_t)at->n + 1) * sizeof *list);
    if (!list) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    for (e = at->first; e; e = e->next) {
        if (e->kind != TRI_YAML_SCALAR) {
            return tri_reader_wrong(e, key, "a text");
        }
        list[i].key = e->key;
        list[i++].value = e->text;
    }
    *out = list;
    *n = i;
    return TRI_OK;
}

/* ---- values -------------------------------------------------------------- */

/* A unit counts in a value only where it cannot be part of a word: sizes,
 * shares, and times written with a space ("2d" is a word). */
static int has_clear_unit(const char *text, char kind)
{
    return kind == 'b' || kind == '%' || (kind == 't' && strchr(text, ' '));
}

tri_value tri_reader_value(const tri_yaml *at)
{
    tri_value v = {TRI_WORD, {0}};
    double d;
    char kind;

    v.u.word = at->text;
    if (!at->plain) {
        return v;
    }
    if (tri_reader_is(at, "true") || tri_reader_is(at, "false")) {
        v.type = TRI_BOOL;
        v.u.i = at->text[0] == 't';
    } else if (to_int(at->text, &v.u.i)) {
        v.type = TRI_INT;
    } else if (to_quantity(at, 'b', &d, &kind) || kind) {
        if (kind && !has_clear_unit(at->text, kind)) {
            v.u.word = at->text;
            return v;
        }
        v.type = TRI_REAL;
        v.u.d = d;
        if (kind && d == floor(d) && fabs(d) < 9e18) {
            v.type = TRI_INT;
            v.u.i = (int64_t)d;
        }
    } else {
        v.u.word = at->text;
    }
    return v;
}

tri_value tri_reader_cell(const char *text)
{
    tri_yaml cell = {TRI_YAML_SCALAR, NULL, 0, 0, text, 1, 0, NULL, NULL, 0, 0};
    tri_value v = tri_reader_value(&cell);

    if (v.type == TRI_REAL && v.u.d == floor(v.u.d) && fabs(v.u.d) < 9e15) {
        v.type = TRI_INT;
        v.u.i = (int64_t)v.u.d;
    }
    return v;
}

/* ---- notes ---- */

static tri_status push(const char *const **list, int *n, size_t *cap,
                       const char *text)
{
    const char **grown =
            tri_grow((void *)*list, (size_t)*n, cap, sizeof *grown);

    if (!grown) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    grown[(*n)++] = text;
    *list = grown;
    return TRI_OK;
}

tri_status tri_reader_note(tri_reader *r, int unbuilt, const char *fmt, ...)
{
    char buf[400];
    const char *text;
    va_list args;

    va_start(args, fmt);
    vsnprintf(buf, sizeof buf, fmt, args);
    va_end(args);
    text = tri_pile_text(r->pile, buf, strlen(buf));
    if (!text) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the study");
    }
    TRI_TRY(push(&r->study->notes, &r->study->n_notes, &r->cap_notes, text));
    if (unbuilt) {
        TRI_TRY(push(&r->study->unbuilt, &r->study->n_unbuilt, &r->cap_unbuilt,
                     text));
    }
    return TRI_OK;
}
