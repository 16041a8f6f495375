/*
 * What the failed have in common: of each class, few conditions on single
 * parameters and features (at least, at most, is) that all of its trials meet
 * and that the fewest of those that ran meet.
 */
#include "src/app/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CONDITIONS 3
#define CONDITION_BYTES 160

typedef enum how {
    AT_LEAST,
    AT_MOST,
    IS
} how;

typedef struct condition {
    const char *name; /* NULL: no condition */
    int column;       /* of a parameter; after them the features */
    how how;
    tri_value value;
} condition;

typedef struct common {
    tri_reason reason;
    int64_t trials; /* that failed so */
    int64_t ran;    /* that have a result, */
    int64_t alike;  /* and of them those that meet the conditions too */
    condition list[MOST_CONDITIONS];
    int n;
} common;

/* ---- conditions --------------------------------------------------------- */

static tri_value value_of(const tri_ctl *ctl, const condition *c,
                          const tri_config *config)
{
    const tri_space *space = tri_ctl_study(ctl)->space;
    int n = tri_space_n_params(space);
    tri_value v = {.type = TRI_REAL};

    if (c->column < n) {
        return config[c->column];
    }
    if (tri_space_feature(space, config, c->column - n, &v.u.d) != TRI_OK) {
        v.type = TRI_INACTIVE;
    }
    return v;
}

static int meets(const tri_ctl *ctl, const condition *c,
                 const tri_config *config)
{
    tri_value v = value_of(ctl, c, config);

    if (c->how == IS) {
        return tri_value_equal(v, c->value);
    }
    if (!tri_value_is_number(v)) {
        return 0;
    }
    return c->how == AT_LEAST
                   ? tri_value_number(v) >= tri_value_number(c->value)
                   : tri_value_number(v) <= tri_value_number(c->value);
}

static int meets_all(const tri_ctl *ctl, const common *m,
                     const tri_config *config)
{
    for (int i = 0; i < m->n; i++) {
        if (!meets(ctl, &m->list[i], config)) {
            return 0;
        }
    }
    return 1;
}

static int failed_so(const tri_ctl *ctl, int64_t i, tri_reason reason)
{
    tri_trial_view v;

    tri_ctl_trial(ctl, i, &v);
    return v.state == TRI_TRIAL_FAILED && v.reason == reason;
}

static int has_run(const tri_ctl *ctl, int64_t i)
{
    tri_trial_view v;

    tri_ctl_trial(ctl, i, &v);
    return v.state != TRI_TRIAL_FAILED && v.top_rung >= 0;
}

/* The tightest condition of that kind that all of the class meet; 0: none. */
static int tighten(const tri_ctl *ctl, tri_reason reason, condition *c)
{
    int any = 0;

    for (int64_t i = 0; i < tri_ctl_n_trials(ctl); i++) {
        tri_value v;

        if (!failed_so(ctl, i, reason)) {
            continue;
        }
        v = value_of(ctl, c, tri_ctl_config(ctl, i));
        if (c->how != IS && !tri_value_is_number(v)) {
            return 0;
        }
        if (!any ||
            (c->how == AT_LEAST &&
             tri_value_number(v) < tri_value_number(c->value)) ||
            (c->how == AT_MOST &&
             tri_value_number(v) > tri_value_number(c->value))) {
            c->value = v;
        } else if (c->how == IS && !tri_value_equal(v, c->value)) {
            return 0;
        }
        any = 1;
    }
    return any;
}

/* How many that ran meet what is there and one condition more. */
static int64_t count_alike(const tri_ctl *ctl, const common *m,
                           const condition *more)
{
    int64_t n = 0;

    for (int64_t i = 0; i < tri_ctl_n_trials(ctl); i++) {
        const tri_config *c = tri_ctl_config(ctl, i);

        n += has_run(ctl, i) && meets_all(ctl, m, c) &&
             (!more || meets(ctl, more, c));
    }
    return n;
}

/* The parameter or feature of that number. */
static condition condition_on(const tri_space *space, int i, how h)
{
    int n = tri_space_n_params(space);

    return i < n ? (condition){.name = tri_space_param(space, i)->name,
                               .column = tri_space_param(space, i)->column,
                               .how = h}
                 : (condition){.name = tri_space_feature_name(space, i - n),
                               .column = i,
                               .how = h};
}

/* Add the condition that leaves the fewest; 0 where none leaves fewer. */
static int add_condition(const tri_ctl *ctl, common *m)
{
    const tri_space *space = tri_ctl_study(ctl)->space;
    condition best = {0};
    int64_t fewest = m->alike;

    for (int i = 0; i < tri_space_n_params(space) + tri_space_n_features(space);
         i++) {
        for (int h = AT_LEAST; h <= IS; h++) {
            condition c = condition_on(space, i, (how)h);
            int64_t n;

            if (!tighten(ctl, m->reason, &c)) {
                continue;
            }
            n = count_alike(ctl, m, &c);
            if (n < fewest) {
                fewest = n;
                best = c;
            }
        }
    }
    if (!best.name) {
        return 0;
    }
    m->list[m->n++] = best;
    m->alike = fewest;
    return 1;
}

static void find_common(const tri_ctl *ctl, tri_reason reason, common *m)
{
    *m = (common){.reason = reason};
    for (int64_t i = 0; i < tri_ctl_n_trials(ctl); i++) {
        m->trials += failed_so(ctl, i, reason);
    }
    m->ran = m->alike = count_alike(ctl, m, NULL);
    while (m->trials > 1 && m->alike > 0 && m->n < MOST_CONDITIONS &&
           add_condition(ctl, m)) {
    }
}

/* ---- told --------------------------------------------------------------- */

static char *condition_text(const condition *c, char *buf, size_t bytes)
{
    static const char *const signs[] = {">=", "<=", "="};
    char value[80];

    if (c->value.type == TRI_INACTIVE) {
        snprintf(buf, bytes, "%.60s inactive", c->name);
        return buf;
    }
    if (c->value.type == TRI_REAL) { /* to be read */
        tri_app_number(c->value.u.d, value, sizeof value);
    } else {
        tri_value_print(c->value, value, sizeof value);
    }
    snprintf(buf, bytes, "%.60s %s %s", c->name, signs[c->how], value);
    return buf;
}

static void print_common(const tri_ctl *ctl, const common *m, FILE *out)
{
    char text[CONDITION_BYTES];

    (void)ctl;
    fprintf(out, "  %s, %" PRId64 " trial%s: %s\n", tri_reason_name(m->reason),
            m->trials, m->trials == 1 ? "" : "s",
            tri_explain_reason(m->reason));
    if (m->n == 0) {
        if (m->trials > 1 && m->ran > 0) {
            fputs("    no range of a parameter sets them apart from those "
                  "that ran\n",
                  out);
        }
        return;
    }
    fputs("    all have ", out);
    for (int i = 0; i < m->n; i++) {
        fprintf(out, "%s%s", i > 0 ? " and " : "",
                condition_text(&m->list[i], text, sizeof text));
    }
    fprintf(out, "; so have %" PRId64 " of the %" PRId64 " that ran\n",
            m->alike, m->ran);
}

void tri_explain_failures(const tri_ctl *ctl, FILE *out)
{
    int any = 0;

    for (int r = 1; r < TRI_REASON_COUNT; r++) {
        common m;

        find_common(ctl, (tri_reason)r, &m);
        if (m.trials > 0) {
            fputs(any ? "" : "\nwhat failed\n", out);
            print_common(ctl, &m, out);
            any = 1;
        }
    }
}

static json_t *common_json(const common *m)
{
    json_t *o = json_object();
    json_t *list = json_array();
    char text[CONDITION_BYTES];

    for (int i = 0; i < m->n; i++) {
        json_array_append_new(list, tri_app_json_text(condition_text(
                                            &m->list[i], text, sizeof text)));
    }
    json_object_set_new(o, "class", json_string(tri_reason_name(m->reason)));
    json_object_set_new(o, "trials", json_integer(m->trials));
    json_object_set_new(o, "ran", json_integer(m->ran));
    json_object_set_new(o, "alike", json_integer(m->n ? m->alike : m->ran));
    json_object_set_new(o, "conditions", list);
    return o;
}

json_t *tri_explain_failures_json(const tri_ctl *ctl)
{
    json_t *a = json_array();

    for (int r = 1; r < TRI_REASON_COUNT; r++) {
        common m;

        find_common(ctl, (tri_reason)r, &m);
        if (m.trials > 0) {
            json_array_append_new(a, common_json(&m));
        }
    }
    return a;
}
