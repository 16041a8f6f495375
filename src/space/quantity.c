/*
 * Numbers with units, and the closest name to a misspelt one.
 */
#include "src/space/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct unit_row {
    const char *name;
    double factor;
    char kind;
} unit_row;

static const unit_row units[] = {
        {"B", 1, 'b'},
        {"KiB", 1024, 'b'},
        {"MiB", 1048576, 'b'},
        {"GiB", 1073741824, 'b'},
        {"TiB", 1099511627776, 'b'},
        {"kB", 1e3, 'b'},
        {"MB", 1e6, 'b'},
        {"GB", 1e9, 'b'},
        {"TB", 1e12, 'b'},
        {"ms", 0.001, 't'},
        {"s", 1, 't'},
        {"min", 60, 't'},
        {"h", 3600, 't'},
        {"d", 86400, 't'},
        {"%", 0.01, '%'},
};

int tri_unit_find(const char *name, size_t n, double *factor, char *kind)
{
    size_t i;

    for (i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) == n && memcmp(units[i].name, name, n) == 0) {
            *factor = units[i].factor;
            *kind = units[i].kind;
            return 1;
        }
    }
    return 0;
}

size_t tri_number_span(const char *s)
{
    size_t n = 0, digits, save;

    digits = strspn(s, "0123456789");
    n = digits;
    if (s[n] == '.') {
        size_t frac = strspn(s + n + 1, "0123456789");
        digits += frac;
        n += 1 + frac;
    }
    if (digits == 0) {
        return 0;
    }
    if (s[n] == 'e' || s[n] == 'E') {
        save = n++;
        if (s[n] == '+' || s[n] == '-') {
            n++;
        }
        digits = strspn(s + n, "0123456789");
        n = digits ? n + digits : save;
    }
    return n;
}

double tri_unit_apply(double x, double factor)
{
    /* 1 % as x / 100, so that it is the double nearest to 0.01. */
    if (factor == 0.01) {
        return x / 100;
    }
    return factor == 0.001 ? x / 1000 : x * factor;
}

tri_status tri_quantity_parse(const char *text, double *out, char *kind)
{
    const char *s = text + strspn(text, " \t");
    int negative = *s == '-';
    double x, factor = 1;
    char unit = 0;
    size_t n;

    s += negative || *s == '+';
    n = tri_number_span(s);
    if (n == 0) {
        return TRI_FAIL(TRI_EPARSE, "\"%.80s\" is not a number", text);
    }
    x = strtod(s, NULL);
    s += n;
    s += strspn(s, " \t");
    n = strcspn(s, " \t");
    if (n > 0 && !tri_unit_find(s, n, &factor, &unit)) {
        return TRI_FAIL(TRI_EPARSE,
                        "\"%.*s\" is not a unit (B, KiB, MiB, GiB, TiB, kB, "
                        "MB, GB, TB, ms, s, min, h, d or %%)",
                        (int)(n < 40 ? n : 40), s);
    }
    s += n;
    if (s[strspn(s, " \t")]) {
        return TRI_FAIL(TRI_EPARSE, "unexpected text after \"%.80s\"", text);
    }
    x = tri_unit_apply(negative ? -x : x, factor);
    if (!isfinite(x)) {
        return TRI_FAIL(TRI_EOVERFLOW, "\"%.80s\" is too large", text);
    }
    *out = x;
    *kind = unit;
    return TRI_OK;
}

#define CLOSEST_MAX 32

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Damerau-Levenshtein (adjacent transposition counts one), case ignored. */
static int distance(const char *a, const char *b)
{
    int d[CLOSEST_MAX + 1][CLOSEST_MAX + 1];
    int n = (int)strlen(a), m = (int)strlen(b), i, j;

    if (n > CLOSEST_MAX || m > CLOSEST_MAX) {
        return 2 * CLOSEST_MAX;
    }
    for (i = 0; i <= n; i++) {
        for (j = 0; j <= m; j++) {
            int change;
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            change = lower(a[i - 1]) != lower(b[j - 1]);
            d[i][j] = smaller(d[i - 1][j - 1] + change,
                              smaller(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
                a[i - 2] == b[j - 1]) {
                d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[n][m];
}

const char *tri_closest(const char *name, const char *const *names, int n)
{
    const char *best = NULL;
    int limit = (int)(strlen(name) + 2) / 3 + 1, i;

    for (i = 0; i < n; i++) {
        int d = distance(name, names[i]);
        if (d < limit && d < (int)strlen(names[i])) {
            limit = d;
            best = names[i];
        }
    }
    return best;
}
