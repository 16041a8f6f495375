/*
 * The lexer of expressions.  A word may start with a digit (1f1b) where the
 * caller knows it as a word; a unit after a number is part of the number.
 * What is wholly a number is one, even where a word is spelt so ("3"): else a
 * value of one parameter would change what rules on others say.
 */
#include "src/space/lex.h"

#include "src/space/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_CHARS                                                             \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static tri_status fail_at(const tri_lexer *lx, const char *at, tri_status st,
                          const char *sentence)
{
    st = TRI_FAIL(st, "%s at \"%.20s\"", sentence, at);
    tri_error_place(NULL, 1, (int)(at - lx->text) + 1);
    return st;
}

static int is_word(const tri_lexer *lx, const char *at, size_t n)
{
    int i;

    for (i = 0; i < lx->n_words; i++) {
        if (strlen(lx->words[i]) == n && memcmp(lx->words[i], at, n) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Whether a % at `at`, after a number, is the unit and not the operator:
 * nothing that could be an operand follows. */
static int is_percent(const char *at)
{
    const char *s = at + 1 + strspn(at + 1, " \t\n");
    size_t n = strspn(s, NAME_CHARS);

    if (*s == '\0' || strchr(")],<>=!+*/", *s)) {
        return 1;
    }
    return (n == 3 && memcmp(s, "and", 3) == 0) ||
           (n == 2 && (memcmp(s, "or", 2) == 0 || memcmp(s, "in", 2) == 0));
}

/* The unit that follows a number, if one does: its factor, and moves *s. */
static double read_unit(const char **s, int *has)
{
    const char *at = *s + strspn(*s, " \t\n");
    size_t n = strspn(at, NAME_CHARS);
    double factor = 1;
    char kind;

    *has = 0;
    if (*at == '%') {
        n = is_percent(at) ? 1 : 0;
    }
    if (n > 0 && tri_unit_find(at, n, &factor, &kind)) {
        *has = 1;
        *s = at + n;
    }
    return factor;
}

static int to_int(const char *at, size_t n, int64_t *out)
{
    int64_t x = 0;
    size_t i;

    for (i = 0; i < n; i++) {
        if (!is_digit(at[i])) {
            return 0;
        }
        if (__builtin_mul_overflow(x, (int64_t)10, &x) ||
            __builtin_add_overflow(x, (int64_t)(at[i] - '0'), &x)) {
            return -1;
        }
    }
    *out = x;
    return 1;
}

static tri_status lex_number(tri_lexer *lx, tri_token *t)
{
    const char *s = lx->at;
    size_t n = tri_number_span(s);
    int whole = to_int(s, n, &t->value.u.i), has;
    double x = strtod(s, NULL), factor;

    t->kind = TRI_TOK_NUMBER;
    t->value.type = TRI_INT;
    s += n;
    factor = read_unit(&s, &has);
    if (!has && strspn(s, NAME_CHARS) > 0) {
        return fail_at(lx, lx->at, TRI_EPARSE,
                       "neither a number, nor a number with a unit, nor a "
                       "word that some parameter can be,");
    }
    if (whole < 0 || !isfinite(x)) {
        return fail_at(lx, lx->at, TRI_EOVERFLOW, "a number is too large");
    }
    x = tri_unit_apply(x, factor);
    if (has && floor(x) == x && fabs(x) < 9e18 && factor != 0.01) {
        t->value.u.i = (int64_t)x;
    } else if (has || whole == 0) {
        t->value.type = TRI_REAL;
        t->value.u.d = x;
    }
    t->n = (size_t)(s - lx->at);
    lx->at = s;
    return TRI_OK;
}

static tri_status lex_string(tri_lexer *lx, tri_token *t)
{
    const char *end = strchr(lx->at + 1, *lx->at);

    if (!end) {
        return fail_at(lx, lx->at, TRI_EPARSE, "a quote that is not closed");
    }
    t->kind = TRI_TOK_STRING;
    t->at = lx->at + 1;
    t->n = (size_t)(end - t->at);
    lx->at = end + 1;
    return TRI_OK;
}

static tri_status lex_punct(tri_lexer *lx, tri_token *t)
{
    static const char *const two[] = {"//", "**", "==", "!=", "<=", ">="};
    size_t i;

    t->kind = TRI_TOK_PUNCT;
    t->n = 1;
    for (i = 0; i < sizeof two / sizeof *two; i++) {
        if (strncmp(lx->at, two[i], 2) == 0) {
            t->n = 2;
        }
    }
    if (t->n == 1 && !strchr("+-*/%<>()[],", *lx->at)) {
        return fail_at(lx, lx->at, TRI_EPARSE,
                       *lx->at == '=' ? "a single = (equality is ==)"
                                      : "an unexpected character");
    }
    lx->at += t->n;
    return TRI_OK;
}

tri_status tri_lex(tri_lexer *lx, tri_token *out)
{
    tri_token t = {TRI_TOK_END, NULL, 0, 0, {TRI_INACTIVE, {0}}};
    size_t n;

    lx->at += strspn(lx->at, " \t\r\n");
    t.at = lx->at;
    t.column = (int)(lx->at - lx->text) + 1;
    n = strspn(lx->at, NAME_CHARS);
    if (*lx->at == '\0') {
        /* the end */
    } else if (*lx->at == '"' || *lx->at == '\'') {
        TRI_TRY(lex_string(lx, &t));
    } else if (is_digit(*lx->at) &&
               (tri_number_span(lx->at) >= n || !is_word(lx, lx->at, n))) {
        TRI_TRY(lex_number(lx, &t));
    } else if (*lx->at == '.' && is_digit(lx->at[1])) {
        TRI_TRY(lex_number(lx, &t));
    } else if (n > 0) {
        t.kind = TRI_TOK_NAME;
        t.n = n;
        lx->at += n;
    } else {
        TRI_TRY(lex_punct(lx, &t));
    }
    *out = t;
    return TRI_OK;
}
