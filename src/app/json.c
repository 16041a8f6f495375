/*
 * Numbers, texts and configurations as JSON (jansson); NaN is null.
 */
#include "src/app/app.h"

#include "src/base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *tri_app_json_real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

json_t *tri_app_json_count(double v)
{
    if (isfinite(v) && v >= 0 && v < 9.0e15) {
        return json_integer((json_int_t)v);
    }
    return tri_app_json_real(v < 0 ? NAN : v);
}

json_t *tri_app_json_text(const char *text)
{
    json_t *s;
    char *copy;

    if (!text) {
        return json_null();
    }
    s = json_string(text);
    if (s) {
        return s;
    }
    copy = strdup(text); /* not UTF-8: keep what is */
    for (char *p = copy; p && *p;) {
        size_t n = tri_utf8_length(p, strnlen(p, 4));

        if (n == 0) {
            *p = '?';
        }
        p += n > 0 ? n : 1;
    }
    s = copy ? json_string(copy) : json_null();
    free(copy);
    return s;
}

json_t *tri_app_json_value(tri_value v)
{
    switch (v.type) {
    case TRI_INT:
        return json_integer(v.u.i);
    case TRI_REAL:
        return tri_app_json_real(v.u.d);
    case TRI_BOOL:
        return json_boolean(v.u.i);
    case TRI_WORD:
        return tri_app_json_text(v.u.word);
    default:
        return json_null();
    }
}

json_t *tri_app_json_config(const tri_space *space, const tri_config *c)
{
    json_t *o = json_object();

    for (int i = 0; i < tri_space_n_params(space); i++) {
        const tri_param *p = tri_space_param(space, i);

        if (c[p->column].type != TRI_INACTIVE) {
            json_object_set_new(o, p->name, tri_app_json_value(c[p->column]));
        }
    }
    return o;
}

void tri_app_json_print(json_t *object)
{
    json_dumpf(object, stdout, JSON_COMPACT | JSON_ENCODE_ANY);
    fputc('\n', stdout);
    json_decref(object);
}
