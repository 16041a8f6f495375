/*
 * Walking the valid set: number to configuration and back, uniform draws and
 * inversion.  Parameters are visited as declared; each component keeps the
 * node that its parameters so far lead to, so the number of completions of a
 * prefix is the product of its components' nodes, and numbers are
 * lexicographic although components interleave.
 */
#include "src/space/space_priv.h"
#include "trireme/num.h"

#include <stdlib.h>
#include <string.h>

/* How the next parameter's path is chosen among `n` completions. */
typedef struct chooser {
    const double *u; /* by parameter, or NULL */
    tri_rng *rng;    /* if u is NULL */
    int64_t *index;  /* if both are: within `total` completions */
    int64_t total;
} chooser;

static int64_t choose(chooser *ch, int param, int64_t n)
{
    int64_t k;

    if (ch->u) {
        k = (int64_t)(ch->u[param] * (double)n);
        return k < 0 ? 0 : k >= n ? n - 1 : k;
    }
    if (ch->rng) {
        return (int64_t)tri_rng_below(ch->rng, (uint64_t)n);
    }
    return ch->index ? *ch->index / (ch->total / n) : 0;
}

/* `before` of the n completions lie to the left, `now` under the choice. */
static void chosen(chooser *ch, int64_t n, int64_t before, int64_t now)
{
    if (ch->index) {
        int64_t others = ch->total / n;
        *ch->index -= before * others;
        ch->total = others * now;
    }
}

static double unit(chooser *ch, int param)
{
    return ch->u ? ch->u[param] : tri_rng_unit(ch->rng);
}

tri_value tri_space_real(const tri_domain *d, double u)
{
    tri_value v = {TRI_REAL, {0}};

    if (d->log) {
        double lo = tri_log(d->flo), hi = tri_log(d->fhi);
        v.u.d = tri_exp(lo + u * (hi - lo));
    } else {
        v.u.d = d->flo + u * (d->fhi - d->flo);
    }
    v.u.d = v.u.d < d->flo ? d->flo : v.u.d > d->fhi ? d->fhi : v.u.d;
    return v;
}

static tri_value value_at(const tri_space *s, int param, int64_t index,
                          chooser *ch)
{
    tri_value inactive = {TRI_INACTIVE, {0}};

    if (index == TRI_DD_INACTIVE) {
        return inactive;
    }
    if (s->n_values[param] < 0) {
        return tri_space_real(&s->params[param].domain, unit(ch, param));
    }
    return tri_domain_at(&s->params[param].domain, index);
}

/* ---- components with constrained floats -------------------------------- */

static void draw_raw(const tri_space *s, int comp, chooser *ch, tri_config *out)
{
    int i;

    for (i = 0; i < s->n_params; i++) {
        if (s->comp_of[i] != comp) {
            continue;
        }
        if (s->n_values[i] < 0) {
            out[i] = tri_space_real(&s->params[i].domain, unit(ch, i));
        } else {
            int64_t k = choose(ch, i, s->n_values[i]);
            out[i] = tri_domain_at(&s->params[i].domain, k);
        }
    }
}

void tri_space_draw_raw(const tri_space *s, tri_rng *rng, tri_config *out)
{
    chooser ch = {NULL, rng, NULL, 0};
    int i;

    for (i = 0; i < s->n_params; i++) {
        out[i] = s->fixed[i];
    }
    for (i = 0; i < s->n_comps; i++) {
        draw_raw(s, i, &ch, out);
    }
}

/* Whether the goals of a component hold; `values` has room for all
 * variables. */
static int goals_hold(const tri_space *s, int comp, const tri_config *c,
                      tri_value *values)
{
    int i;

    tri_space_bind(s, c, values);
    for (i = 0; i < s->n_goals; i++) {
        tri_value v;
        if (s->goal_comp[i] != comp) {
            continue;
        }
        v = tri_expr_value(s->goals[i].expr, s->goals[i].node, values);
        if (v.type != TRI_BOOL || !v.u.i) {
            return 0;
        }
    }
    return 1;
}

/* Draw all parameters of a component, and test, until it is valid.  The first
 * try is the caller's; later ones come from the caller's stream, or from one
 * named by u. */
static tri_status draw_tested(const tri_space *s, int comp, chooser *ch,
                              tri_config *out)
{
    tri_rng own = tri_rng_stream(0, 0, TRI_RNG_QUASI);
    chooser again = {NULL, ch->rng ? ch->rng : &own, NULL, 0};
    tri_value *values = malloc(((size_t)s->n_vars + 1) * sizeof *values);
    int tries, ok = 0;

    if (!values) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    if (ch->u) {
        own.key = tri_rng_hash(ch->u, (size_t)s->n_params * sizeof *ch->u);
    }
    for (tries = 0; tries < TRI_SPACE_DRAWS && !ok; tries++) {
        draw_raw(s, comp, tries == 0 ? ch : &again, out);
        ok = tri_space_settle(s, comp, out) && goals_hold(s, comp, out, values);
    }
    free(values);
    if (!ok) {
        return TRI_FAIL(TRI_EEMPTY, "no valid configuration in %d draws",
                        TRI_SPACE_DRAWS);
    }
    return TRI_OK;
}

tri_status tri_space_probe(const tri_space *s, int comp, tri_rng *rng,
                           int wanted, int *drawn, int *found)
{
    chooser ch = {NULL, rng, NULL, 0};
    tri_config *c = calloc((size_t)s->n_params + 1, sizeof *c);
    tri_value *values = malloc(((size_t)s->n_vars + 1) * sizeof *values);
    tri_status st = TRI_OK;
    int n = 0, ok = 0;

    if (!c || !values) {
        st = TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
        goto done;
    }
    for (; n < TRI_SPACE_DRAWS && ok < wanted; n++) {
        draw_raw(s, comp, &ch, c);
        ok += tri_space_settle(s, comp, c) && goals_hold(s, comp, c, values);
    }
    tri_error_clear();
    *drawn = n;
    *found = ok;
done:
    free(c);
    free(values);
    return st;
}

/* ---- one descent ------------------------------------------------------- */

static void step_free(const tri_space *s, int p, chooser *ch, tri_config *out)
{
    int64_t n = s->n_values[p], k;

    if (n < 0) {
        out[p] = tri_space_real(&s->params[p].domain, unit(ch, p));
        return;
    }
    k = choose(ch, p, n);
    chosen(ch, n, k, 1);
    out[p] = tri_domain_at(&s->params[p].domain, k);
}

static void step_diagram(const tri_space *s, int p, int32_t *node, chooser *ch,
                         tri_config *out)
{
    const tri_dd *dd = &s->comps[s->comp_of[p]].dd;
    int64_t n = dd->nodes[*node].count;
    const tri_dd_arc *arc = tri_dd_arc_at(dd, *node, choose(ch, p, n));

    chosen(ch, n, arc->before, dd->nodes[arc->child].count);
    out[p] = value_at(s, p, arc->value, ch);
    *node = arc->child;
}

/* Components whose nodes find room in a caller's own array. */
#define FEW_COMPS 32

/* Where each component's path starts: in `few`, where they are so few, else
 * owned by the caller; NULL without memory. */
static int32_t *new_nodes(const tri_space *s, int32_t *few)
{
    int32_t *nodes = s->n_comps <= FEW_COMPS
                             ? few
                             : malloc(((size_t)s->n_comps + 1) * sizeof *nodes);
    int i;

    for (i = 0; nodes && i < s->n_comps; i++) {
        nodes[i] = s->comps[i].dd.root;
    }
    return nodes;
}

static void forget_nodes(int32_t *nodes, const int32_t *few)
{
    if (nodes != few) {
        free(nodes);
    }
}

static tri_status descend(const tri_space *s, chooser *ch, tri_config *out)
{
    int32_t few[FEW_COMPS];
    int32_t *nodes;
    tri_status st = TRI_OK;
    int p;

    if (s->count == 0) {
        return TRI_FAIL(TRI_EEMPTY, "no configuration is valid");
    }
    nodes = new_nodes(s, few);
    if (!nodes) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    for (p = 0; p < s->n_params; p++) { /* all of them have some value */
        out[p] = s->fixed[p];
        if (tri_space_varies(s, p)) {
            out[p].type = TRI_INACTIVE;
            out[p].u.i = 0;
        }
    }
    for (p = 0; p < s->n_params && st == TRI_OK; p++) {
        int comp = s->comp_of[p];
        if (comp < 0) {
            continue;
        }
        if (s->comps[comp].kind == TRI_COMP_FREE) {
            step_free(s, p, ch, out);
        } else if (s->comps[comp].kind == TRI_COMP_DIAGRAM) {
            step_diagram(s, p, &nodes[comp], ch, out);
        } else if (s->comps[comp].first == p) {
            st = draw_tested(s, comp, ch, out);
        }
    }
    forget_nodes(nodes, few);
    return st;
}

tri_status tri_space_at(const tri_space *s, int64_t index, tri_config *out)
{
    chooser ch = {NULL, NULL, &index, s->count};

    if (s->count < 0) {
        return TRI_FAIL(TRI_ERANGE, "the space is too large to be numbered");
    }
    if (index < 0 || index >= s->count) {
        return TRI_FAIL(TRI_ERANGE,
                        "no configuration number %lld; there are "
                        "%lld",
                        (long long)index, (long long)s->count);
    }
    return descend(s, &ch, out);
}

tri_status tri_space_sample(const tri_space *s, tri_rng *rng, tri_config *out)
{
    chooser ch = {NULL, rng, NULL, 0};

    return descend(s, &ch, out);
}

tri_status tri_space_from_unit(const tri_space *s, const double *u,
                               tri_config *out)
{
    chooser ch = {u, NULL, NULL, 0};

    return descend(s, &ch, out);
}

/* ---- configuration to number -------------------------------------------- */

static tri_status not_valid(void)
{
    return TRI_FAIL(TRI_ENOTFOUND, "not a valid configuration");
}

/* One step: [out] of the present component's n completions, how many lie to
 * the left and how many under this value.  0 if there is none. */
static int follow(const tri_space *s, const tri_config *c, int p, int32_t *node,
                  int64_t *n, int64_t *before, int64_t *now)
{
    const tri_component *comp = &s->comps[s->comp_of[p]];
    int64_t k = TRI_DD_INACTIVE;
    const tri_dd_arc *arc;

    if (c[p].type != TRI_INACTIVE) {
        k = tri_domain_index(&s->params[p].domain, c[p]);
        if (k < 0) {
            return 0;
        }
    }
    if (comp->kind == TRI_COMP_FREE) {
        *n = s->n_values[p];
        *before = k;
        *now = 1;
        return k >= 0;
    }
    arc = tri_dd_find(&comp->dd, *node, (int32_t)k);
    if (!arc) {
        return 0;
    }
    *n = comp->dd.nodes[*node].count;
    *before = arc->before;
    *now = comp->dd.nodes[arc->child].count;
    *node = arc->child;
    return 1;
}

tri_status tri_space_index(const tri_space *s, const tri_config *c,
                           int64_t *out)
{
    int64_t index = 0, total = s->count, n = 1, before = 0, now = 1;
    int32_t few[FEW_COMPS];
    int32_t *nodes;
    int p, ok = 1;

    if (s->count < 0) {
        return TRI_FAIL(TRI_ERANGE, "the space is too large to be numbered");
    }
    if (s->count == 0) {
        return not_valid();
    }
    nodes = new_nodes(s, few);
    if (!nodes) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    for (p = 0; p < s->n_params && ok; p++) {
        int comp = s->comp_of[p];
        if (comp < 0) {
            ok = tri_value_equal(c[p], s->fixed[p]);
            continue;
        }
        ok = follow(s, c, p, &nodes[comp], &n, &before, &now);
        index += ok ? before * (total / n) : 0;
        total = ok ? total / n * now : 0;
    }
    forget_nodes(nodes, few);
    if (!ok) {
        return not_valid();
    }
    *out = index;
    return TRI_OK;
}
