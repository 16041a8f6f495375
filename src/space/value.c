/*
 * Equality and text of values.  The text is what a study file would hold:
 * a word is quoted where it could be read as something else.
 */
#include "trireme/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tri_value_equal(tri_value a, tri_value b)
{
    if (a.type != b.type) {
        return tri_value_is_number(a) && tri_value_is_number(b) &&
               tri_value_number(a) == tri_value_number(b);
    }
    switch (a.type) {
    case TRI_INACTIVE:
        return 1;
    case TRI_INT:
    case TRI_BOOL:
        return a.u.i == b.u.i;
    case TRI_REAL:
        return a.u.d == b.u.d;
    case TRI_WORD:
        return a.u.word == b.u.word || strcmp(a.u.word, b.u.word) == 0;
    }
    return 0;
}

static size_t print_real(double d, char *buf, size_t bytes)
{
    char text[40];
    int digits;

    for (digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, d);
        if (isnan(d) || strtod(text, NULL) == d) {
            break;
        }
    }
    if (isfinite(d) && !strpbrk(text, ".e")) {
        strcat(text, ".0");
    }
    return (size_t)snprintf(buf, bytes, "%s", text);
}

/* Whether a word can stand bare: letters, digits, _ - . only, and nothing
 * that reads as a number, a boolean or `inactive`. */
static int stands_bare(const char *word)
{
    static const char *const taken[] = {"true", "false", "inactive", "null",
                                        "",     "nan",   "inf"};
    size_t i;
    char *end;

    for (i = 0; i < sizeof taken / sizeof *taken; i++) {
        if (strcmp(word, taken[i]) == 0) {
            return 0;
        }
    }
    strtod(word, &end);
    if (*end == '\0') {
        return 0;
    }
    return strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_-.") == strlen(word);
}

static size_t print_word(const char *word, char *buf, size_t bytes)
{
    size_t n = 0, i;

    if (stands_bare(word)) {
        return (size_t)snprintf(buf, bytes, "%s", word);
    }
#define PUT(c)                                                                 \
    do {                                                                       \
        if (n + 1 < bytes) {                                                   \
            buf[n] = (c);                                                      \
        }                                                                      \
        n++;                                                                   \
    } while (0)
    PUT('"');
    for (i = 0; word[i]; i++) {
        if (word[i] == '"' || word[i] == '\\') {
            PUT('\\');
        }
        PUT(word[i]);
    }
    PUT('"');
#undef PUT
    if (bytes > 0) {
        buf[n < bytes ? n : bytes - 1] = '\0';
    }
    return n;
}

size_t tri_value_print(tri_value v, char *buf, size_t bytes)
{
    switch (v.type) {
    case TRI_INACTIVE:
        return (size_t)snprintf(buf, bytes, "inactive");
    case TRI_INT:
        return (size_t)snprintf(buf, bytes, "%lld", (long long)v.u.i);
    case TRI_REAL:
        return print_real(v.u.d, buf, bytes);
    case TRI_BOOL:
        return (size_t)snprintf(buf, bytes, "%s", v.u.i ? "true" : "false");
    case TRI_WORD:
        return print_word(v.u.word, buf, bytes);
    }
    return (size_t)snprintf(buf, bytes, "?");
}
