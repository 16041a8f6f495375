/*
 * Walking the valid set by choice: at each parameter what may still be chosen,
 * and with how many completions.
 */
#include "src/space/space_priv.h"
#include "trireme/num.h"

#include <stdlib.h>
#include <string.h>

struct tri_walk {
    const tri_space *s;
    int param;      /* whose turn it is; n_params: the end */
    int32_t *nodes; /* by component, where its path is */
    tri_config *c;
    int is_tested; /* whether it fits is not known before the end */
};

static const tri_component *component(const tri_walk *w)
{
    return &w->s->comps[w->s->comp_of[w->param]];
}

/* The node of a diagram, NULL where all values are equal. */
static const tri_dd_node *node_of(const tri_walk *w)
{
    const tri_component *comp = component(w);

    if (comp->kind != TRI_COMP_DIAGRAM) {
        return NULL;
    }
    return &comp->dd.nodes[w->nodes[w->s->comp_of[w->param]]];
}

/* To the next parameter from `p` on that varies. */
static void turn(tri_walk *w, int p)
{
    while (p < w->s->n_params && w->s->comp_of[p] < 0) {
        p++;
    }
    w->param = p;
}

tri_status tri_walk_create(const tri_space *s, tri_walk **out)
{
    tri_walk *w;

    if (s->count == 0) {
        return TRI_FAIL(TRI_EEMPTY, "no configuration is valid");
    }
    w = calloc(1, sizeof *w);
    if (w) {
        w->s = s;
        w->nodes = malloc(((size_t)s->n_comps + 1) * sizeof *w->nodes);
        w->c = malloc(((size_t)s->n_params + 1) * sizeof *w->c);
    }
    if (!w || !w->nodes || !w->c) {
        tri_walk_destroy(w);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    for (int i = 0; i < s->n_comps; i++) {
        w->is_tested |= s->comps[i].kind == TRI_COMP_REJECT;
    }
    tri_walk_begin(w);
    *out = w;
    return TRI_OK;
}

void tri_walk_destroy(tri_walk *w)
{
    if (w) {
        free(w->nodes);
        free(w->c);
        free(w);
    }
}

void tri_walk_begin(tri_walk *w)
{
    const tri_space *s = w->s;
    int i;

    for (i = 0; i < s->n_comps; i++) {
        w->nodes[i] = s->comps[i].dd.root;
    }
    for (i = 0; i < s->n_params; i++) {
        w->c[i] = s->fixed[i];
    }
    turn(w, 0);
}

int tri_walk_param(const tri_walk *w)
{
    return w->param < w->s->n_params ? w->param : -1;
}

int64_t tri_walk_n(const tri_walk *w)
{
    return w->s->n_values[w->param];
}

/* ---- shares ------------------------------------------------------------- */

/* How many of the node's completions have a value index below `index`, those
 * where it is inactive included. */
static int64_t before(const tri_walk *w, const tri_dd_node *node, int64_t index)
{
    const tri_dd_arc *arcs = component(w)->dd.arcs + node->first;
    uint32_t lo = 0, hi = node->n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (arcs[mid].value < index) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo < node->n ? arcs[lo].before : node->count;
}

double tri_walk_inactive(const tri_walk *w)
{
    const tri_dd_node *node = node_of(w);

    return node ? (double)before(w, node, 0) / (double)node->count : 0;
}

double tri_walk_share(const tri_walk *w, int64_t lo, int64_t hi)
{
    const tri_dd_node *node = node_of(w);
    int64_t n = w->s->n_values[w->param];

    if (n < 0) {
        lo = 0;
        hi = n = 1;
    }
    if (node) {
        return (double)(before(w, node, hi) - before(w, node, lo)) /
               (double)node->count;
    }
    return (double)(hi - lo) / (double)n;
}

int64_t tri_walk_pick(const tri_walk *w, int64_t lo, int64_t hi, double u)
{
    const tri_dd_node *node = node_of(w);
    int64_t from = node ? before(w, node, lo) : lo;
    int64_t n = (node ? before(w, node, hi) : hi) - from;
    int64_t k = (int64_t)(u * (double)n);

    k = from + (k < 0 ? 0 : k >= n ? n - 1 : k);
    return node ? tri_dd_arc_at(&component(w)->dd,
                                w->nodes[w->s->comp_of[w->param]], k)
                           ->value
                : k;
}

/* ---- choices ------------------------------------------------------------ */

/* Along the arc of `index`, which there is. */
static void follow(tri_walk *w, int64_t index)
{
    int comp = w->s->comp_of[w->param];

    if (w->s->comps[comp].kind == TRI_COMP_DIAGRAM) {
        w->nodes[comp] = tri_dd_find(&w->s->comps[comp].dd, w->nodes[comp],
                                     (int32_t)index)
                                 ->child;
    }
}

void tri_walk_take(tri_walk *w, int64_t index)
{
    const tri_domain *d = &w->s->params[w->param].domain;
    tri_value inactive = {TRI_INACTIVE, {0}};

    follow(w, index);
    w->c[w->param] =
            index == TRI_WALK_INACTIVE ? inactive : tri_domain_at(d, index);
    turn(w, w->param + 1);
}

void tri_walk_take_real(tri_walk *w, double place)
{
    follow(w, 0);
    w->c[w->param] = tri_space_real(&w->s->params[w->param].domain, place);
    turn(w, w->param + 1);
}

static double place_of(const tri_domain *d, tri_value v)
{
    double x = v.type == TRI_INT ? (double)v.u.i : v.u.d;
    double lo = d->flo, hi = d->fhi;

    if (!(hi > lo)) {
        return 0;
    }
    if (d->log) {
        return (tri_log(x) - tri_log(lo)) / (tri_log(hi) - tri_log(lo));
    }
    return (x - lo) / (hi - lo);
}

int64_t tri_walk_find(const tri_walk *w, tri_value v, double *place)
{
    const tri_domain *d = &w->s->params[w->param].domain;
    const tri_dd_node *node = node_of(w);
    int64_t index = TRI_WALK_INACTIVE;

    if (v.type != TRI_INACTIVE) {
        index = tri_domain_index(d, v);
        if (index < 0) {
            return -2;
        }
        if (d->kind == TRI_DOMAIN_FLOAT) {
            *place = place_of(d, v);
        }
    }
    if (node) {
        return tri_dd_find(&component(w)->dd, w->nodes[w->s->comp_of[w->param]],
                           (int32_t)index)
                       ? index
                       : -2;
    }
    return index == TRI_WALK_INACTIVE ? -2 : index;
}

tri_status tri_walk_end(tri_walk *w, tri_config *out)
{
    size_t bytes = (size_t)w->s->n_params * sizeof *out;

    if (w->is_tested && (!tri_space_settle(w->s, -1, w->c) ||
                         !tri_space_valid(w->s, w->c, NULL))) {
        tri_error_clear();
        return TRI_FAIL(TRI_ENOTFOUND, "not a valid configuration");
    }
    memcpy(out, w->c, bytes);
    return TRI_OK;
}
