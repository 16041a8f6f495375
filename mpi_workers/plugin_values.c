/*
 * Parameters and options for a plugin.
 */
#include "mpi_workers/plugin_values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tri_plugin_values {
    int n_parameters, n_options;
    trireme_trial_value *values; /* parameters, then options */
    const trireme_trial_value **list;
    char **texts;
};

/* Towards zero, within the range. */
static int64_t whole(double x)
{
    if (isnan(x)) {
        return 0;
    }
    if (x >= 9223372036854775807.0) {
        return INT64_MAX;
    }
    return x <= -9223372036854775808.0 ? INT64_MIN : (int64_t)x;
}

static void put_integer(trireme_trial_value *v, int32_t type, int64_t i)
{
    v->type = type;
    v->integer = i;
    v->real = (double)i;
}

static void put_real(trireme_trial_value *v, double d)
{
    v->type = TRIREME_TRIAL_REAL;
    v->integer = whole(d);
    v->real = d;
}

static char *text_of(tri_value value)
{
    char text[64];

    if (value.type == TRI_WORD) { /* printing may quote it */
        return strdup(value.u.word);
    }
    if (value.type == TRI_INACTIVE) {
        return strdup("");
    }
    tri_value_print(value, text, sizeof text);
    return strdup(text);
}

/* A parameter's value; 0 where memory is short. */
static int put_parameter(trireme_trial_value *v, const char *name,
                         tri_value value, char **text)
{
    *v = (trireme_trial_value){.struct_bytes = sizeof *v, .name = name};
    switch (value.type) {
    case TRI_INACTIVE:
        v->type = TRIREME_TRIAL_INACTIVE;
        break;
    case TRI_INT:
        put_integer(v, TRIREME_TRIAL_INTEGER, value.u.i);
        break;
    case TRI_BOOL:
        put_integer(v, TRIREME_TRIAL_BOOLEAN, value.u.i);
        break;
    case TRI_REAL:
        put_real(v, value.u.d);
        break;
    case TRI_WORD:
        v->type = TRIREME_TRIAL_TEXT;
        break;
    }
    v->text = *text = text_of(value);
    return *text != NULL;
}

/* An option's text is what it looks like. */
static int put_option(trireme_trial_value *v, const tri_pair *option,
                      char **text)
{
    const char *s = option->value;
    char *end = NULL;
    long long i;
    double d;

    *v = (trireme_trial_value){.struct_bytes = sizeof *v,
                               .name = option->key,
                               .type = TRIREME_TRIAL_TEXT};
    errno = 0;
    i = strtoll(s, &end, 10);
    if (*s && !*end && errno == 0) {
        put_integer(v, TRIREME_TRIAL_INTEGER, i);
    } else if (strcmp(s, "true") == 0 || strcmp(s, "false") == 0) {
        put_integer(v, TRIREME_TRIAL_BOOLEAN, s[0] == 't');
    } else {
        d = strtod(s, &end);
        if (*s && !*end && isfinite(d)) {
            put_real(v, d);
        }
    }
    v->text = *text = strdup(s);
    return *text != NULL;
}

static int fill(tri_plugin_values *v, const tri_study *study,
                const tri_config *config)
{
    int ok = 1;

    for (int i = 0; i < v->n_parameters; i++) {
        const char *name = tri_space_param(study->space, i)->name;

        ok = ok && put_parameter(&v->values[i], name, config[i], &v->texts[i]);
    }
    for (int i = 0; i < v->n_options; i++) {
        int at = v->n_parameters + i;

        ok = ok && put_option(&v->values[at], &study->model.u.plugin.options[i],
                              &v->texts[at]);
    }
    return ok;
}

tri_status tri_plugin_values_create(const tri_study *study,
                                    const tri_config *config,
                                    tri_plugin_values **out)
{
    tri_plugin_values *v = calloc(1, sizeof *v);
    size_t n;

    if (!v) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    v->n_parameters = config ? tri_space_n_params(study->space) : 0;
    v->n_options = study->model.u.plugin.n_options;
    n = (size_t)(v->n_parameters + v->n_options) + 1;
    v->values = calloc(n, sizeof *v->values);
    v->list = calloc(n, sizeof *v->list);
    v->texts = calloc(n, sizeof *v->texts);
    if (!v->values || !v->list || !v->texts || !fill(v, study, config)) {
        tri_plugin_values_destroy(v);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    for (int i = 0; i < v->n_parameters + v->n_options; i++) {
        v->list[i] = &v->values[i];
    }
    *out = v;
    return TRI_OK;
}

void tri_plugin_values_destroy(tri_plugin_values *v)
{
    if (!v) {
        return;
    }
    for (int i = 0; v->texts && i < v->n_parameters + v->n_options; i++) {
        free(v->texts[i]);
    }
    free(v->texts);
    free(v->list);
    free(v->values);
    free(v);
}

void tri_plugin_values_give(const tri_plugin_values *v,
                            trireme_trial_setup *setup)
{
    setup->n_parameters = v->n_parameters;
    setup->n_options = v->n_options;
    setup->parameters = v->list;
    setup->options = v->list + v->n_parameters;
}
