/*
 * Whether anything is valid where constraints name continuous parameters:
 * proof by intervals, else by drawing; and the sentence that says which rule
 * is the tightest.  Knows nothing of ranks or features.
 */
#include "src/space/space_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* So many valid draws tell well enough how many there are. */
#define ENOUGH 16

/* ---- by intervals ----------------------------------------------------- */

/* Whether tri_space_enclose speaks for node `at`: it takes parameters to be
 * active, and knows no lists. */
static int is_enclosed(const tri_space *s, const tri_expr *e, int at)
{
    const tri_node *n;

    if (at < 0) {
        return 1;
    }
    n = &e->nodes[at];
    switch (n->op) {
    case TRI_OP_CONST:
        return 1;
    case TRI_OP_VAR:
        return n->a >= s->n_params || !s->whens[n->a];
    case TRI_OP_AND:
    case TRI_OP_OR:
    case TRI_OP_IN:
    case TRI_OP_LIST:
        return 0;
    default:
        return is_enclosed(s, e, n->a) && is_enclosed(s, e, n->b) &&
               is_enclosed(s, e, n->c);
    }
}

static int can_hold(const tri_space *s, const tri_goal *g)
{
    tri_abstract a;

    if (!is_enclosed(s, g->expr, g->node)) {
        return 1;
    }
    a = tri_space_enclose(s, g->expr, g->node);
    return !a.known || a.value.type != TRI_BOOL || a.value.u.i;
}

/* Whether a single goal of the component can never hold. */
static int is_refuted(const tri_space *s, int comp)
{
    int i;

    for (i = 0; i < s->n_goals; i++) {
        if (s->goal_comp[i] == comp && !can_hold(s, &s->goals[i])) {
            return 1;
        }
    }
    return 0;
}

/* ---- by draws --------------------------------------------------------- */

static tri_status judge(tri_space *s, int comp)
{
    tri_rng rng = tri_rng_stream(0, (uint64_t)comp, TRI_RNG_RANDOM);
    int drawn = 0, found = 0;

    if (is_refuted(s, comp)) {
        s->count = 0;
        return TRI_OK;
    }
    TRI_TRY(tri_space_probe(s, comp, &rng, ENOUGH, &drawn, &found));
    if (found == 0) {
        s->count = 0;
        s->not_found = 1;
    } else if ((double)found / drawn < s->drawn_share) {
        s->drawn_share = (double)found / drawn;
    }
    return TRI_OK;
}

tri_status tri_space_find_empty(tri_space *s)
{
    int i;

    s->drawn_share = 1;
    for (i = 0; i < s->n_comps && s->count != 0; i++) {
        if (s->comps[i].kind == TRI_COMP_REJECT) {
            TRI_TRY(judge(s, i));
        }
    }
    return TRI_OK;
}

/* ---- the tightest rule ------------------------------------------------ */

/* Refused shares of the rules over draws of all points; `c` is scratch. */
static void draw_shares(const tri_space *s, tri_config *c, double *share)
{
    tri_rng rng = tri_rng_stream(0, 0, TRI_RNG_RANDOM);
    tri_value v;
    int i, k, n = 0;

    for (k = 0; k < TRI_SPACE_SHARES; k++) {
        tri_space_draw_raw(s, &rng, c);
        if (!tri_space_settle(s, -1, c)) {
            continue;
        }
        n++;
        for (i = 0; i < s->n_rules; i++) {
            share[i] += tri_space_eval(s, s->rules[i].expr, c, &v) != TRI_OK ||
                        !v.u.i;
        }
    }
    for (i = 0; i < s->n_rules && n > 0; i++) {
        share[i] /= n;
    }
    tri_error_clear();
}

static int largest(const double *v, int n)
{
    int i, at = -1;

    for (i = 0; i < n; i++) {
        if (v[i] >= 0 && (at < 0 || v[i] > v[at])) {
            at = i;
        }
    }
    return at;
}

static tri_status say_counted(const tri_space *s, double *refused)
{
    int i;

    for (i = 0; i < s->n_rules; i++) {
        refused[i] = tri_space_rule_refused(s, i);
    }
    tri_error_clear();
    i = largest(refused, s->n_rules);
    if (i < 0) {
        return TRI_FAIL(TRI_EEMPTY, "no configuration is valid");
    }
    TRI_FAIL(TRI_EEMPTY,
             "no configuration is valid; the tightest rule is '%.200s', which "
             "alone refuses %.0f of %.0f points",
             s->rules[i].name, refused[i], s->raw);
    tri_space_blame(tri_space_rule_line(s, i), 1);
    return TRI_EEMPTY;
}

static tri_status say_drawn(const tri_space *s, double *share)
{
    tri_config *c = calloc((size_t)s->n_params + 1, sizeof *c);
    char head[80] = "no configuration is valid";
    int i;

    if (!c) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    draw_shares(s, c, share);
    free(c);
    i = largest(share, s->n_rules);
    if (s->not_found) {
        snprintf(head, sizeof head,
                 "no valid configuration was found in %d draws",
                 TRI_SPACE_DRAWS);
    }
    if (i < 0) {
        return TRI_FAIL(TRI_EEMPTY, "%s", head);
    }
    TRI_FAIL(TRI_EEMPTY,
             "%s; the tightest rule is '%.200s', which alone refuses %.4g %% "
             "of the points",
             head, s->rules[i].name, 100 * share[i]);
    tri_space_blame(tri_space_rule_line(s, i), 1);
    return TRI_EEMPTY;
}

tri_status tri_space_not_empty(const tri_space *s)
{
    double *of_rule;
    tri_status st;

    if (s->count != 0) {
        return TRI_OK;
    }
    of_rule = calloc((size_t)s->n_rules + 1, sizeof *of_rule);
    if (!of_rule) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for the space");
    }
    st = isfinite(s->raw) || s->has_rows ? say_counted(s, of_rule)
                                         : say_drawn(s, of_rule);
    free(of_rule);
    return st;
}
