/*
 * Solving any set of a space's parameters under any run of its rules: a
 * component, one rule alone, what an assignment leaves open.
 */
#include "src/space/space_priv.h"

#include <stdlib.h>
#include <string.h>

#define EXACT_POINTS 1e8 /* sets of up to so many are always solved */

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for solving the space");
}

int tri_space_varies(const tri_space *s, int i)
{
    return s->fixed[i].type == TRI_VALUE_ERROR;
}

void tri_space_mark(const tri_space *s, const tri_expr *e, int at,
                    unsigned char *set)
{
    const tri_node *n;

    if (at < 0) {
        return;
    }
    n = &e->nodes[at];
    if (n->op == TRI_OP_CONST) {
        return;
    }
    if (n->op == TRI_OP_VAR) {
        if (n->a < s->n_params && tri_space_varies(s, n->a)) {
            set[n->a] = 1;
        }
        return;
    }
    tri_space_mark(s, e, n->a, set);
    tri_space_mark(s, e, n->b, set);
    tri_space_mark(s, e, n->c, set);
}

void tri_space_close(const tri_space *s, unsigned char *set)
{
    int i;

    /* Each comes behind what it depends on, so one pass backwards does. */
    for (i = s->n_params - 1; i >= 0; i--) {
        int p = s->when_order[i];
        if (set[p] && s->whens[p]) {
            tri_space_mark(s, s->whens[p], s->whens[p]->root, set);
        }
    }
}
/* ---- one set of parameters -------------------------------------------- */

typedef struct subproblem {
    tri_level *levels;
    int n_levels;
    tri_domain *pins; /* domains of pinned parameters */
    tri_goal *goals;
    int n_goals;
    int *level_of;               /* by variable */
    unsigned char *named, *seen; /* scratch and result, by parameter */
} subproblem;

static void free_subproblem(subproblem *p)
{
    free(p->levels);
    free(p->pins);
    free(p->goals);
    free(p->level_of);
    free(p->named);
    free(p->seen);
}

static tri_status alloc_subproblem(const tri_space *s, subproblem *p)
{
    size_t n = (size_t)s->n_params + 1;

    memset(p, 0, sizeof *p);
    p->levels = calloc(n, sizeof *p->levels);
    p->pins = calloc(n, sizeof *p->pins);
    p->goals = calloc((size_t)s->n_goals + n, sizeof *p->goals);
    p->level_of = malloc(((size_t)s->n_vars + 1) * sizeof *p->level_of);
    p->named = calloc(n, 1);
    p->seen = calloc(n, 1);
    return p->levels && p->pins && p->goals && p->level_of && p->named &&
                           p->seen
                   ? TRI_OK
                   : no_memory();
}

/* Whether all that is marked in `named` is in `set`. */
static int within(const tri_space *s, const unsigned char *named,
                  const unsigned char *set)
{
    int i;

    for (i = 0; i < s->n_params; i++) {
        if (named[i] && !set[i]) {
            return 0;
        }
    }
    return 1;
}

static void choose_goals(const tri_space *s, const tri_subset *sub,
                         subproblem *p)
{
    int i, j;

    for (i = 0; i < s->n_goals; i++) {
        const tri_goal *g = &s->goals[i];
        if (g->rule < sub->first_rule || g->rule > sub->last_rule) {
            continue;
        }
        memset(p->named, 0, (size_t)s->n_params);
        tri_space_mark(s, g->expr, g->node, p->named);
        if (within(s, p->named, sub->set)) {
            p->goals[p->n_goals++] = *g;
            for (j = 0; j < s->n_params; j++) {
                p->seen[j] |= p->named[j];
            }
        }
    }
    for (i = 0; i < s->n_params; i++) {
        if (sub->set[i] && s->whens[i]) {
            tri_goal g = {s->whens[i], s->whens[i]->root, -1, i};
            p->goals[p->n_goals++] = g;
            tri_space_mark(s, s->whens[i], s->whens[i]->root, p->seen);
        }
    }
}

static void pin(subproblem *p, int level, const tri_value *v)
{
    tri_domain *d = &p->pins[level];

    d->kind = TRI_DOMAIN_CONST;
    d->values = v;
    d->n_values = v->type == TRI_INACTIVE ? 0 : 1;
    p->levels[level].domain = d;
    p->levels[level].n = d->n_values;
    p->levels[level].may_inactive = v->type == TRI_INACTIVE;
    p->levels[level].placeholder = 0;
}

static void make_levels(const tri_space *s, const tri_subset *sub,
                        subproblem *p)
{
    int i;

    for (i = 0; i < s->n_vars; i++) {
        p->level_of[i] = -1;
    }
    for (i = 0; i < s->n_params; i++) {
        tri_level *l = &p->levels[p->n_levels];
        if (!sub->set[i]) {
            continue;
        }
        l->param = i;
        l->domain = &s->params[i].domain;
        l->n = s->n_values[i];
        l->may_inactive = s->whens[i] != NULL;
        l->placeholder = l->n < 0 && !p->seen[i];
        if (sub->pinned && sub->pinned[i].type != TRI_VALUE_ERROR &&
            !l->placeholder) {
            pin(p, p->n_levels, &sub->pinned[i]);
        }
        l->any = tri_abstract_domain(l->domain, l->n, l->may_inactive);
        p->level_of[i] = p->n_levels++;
    }
    for (i = 0; i < p->n_goals; i++) {
        if (p->goals[i].when_level >= 0) {
            p->goals[i].when_level = p->level_of[p->goals[i].when_level];
        }
    }
}

static double points(const subproblem *p)
{
    double n = 1;
    int i;

    for (i = 0; i < p->n_levels; i++) {
        n *= p->levels[i].placeholder ? 1 : (double)p->levels[i].n;
        n *= p->levels[i].may_inactive && p->levels[i].n < 1 ? -1 : 1;
    }
    return n < 0 ? -n : n;
}

tri_status tri_space_subsolve(const tri_space *s, const tri_subset *sub,
                              tri_dd *out, int *rule)
{
    subproblem p;
    tri_solve_in in = {0};
    tri_status st;

    TRI_TRY_GOTO(st, alloc_subproblem(s, &p), done);
    choose_goals(s, sub, &p);
    make_levels(s, sub, &p);
    in.levels = p.levels;
    in.n_levels = p.n_levels;
    in.goals = p.goals;
    in.n_goals = p.n_goals;
    in.bind.level_of = p.level_of;
    in.bind.fixed = s->fixed;
    in.objective = sub->objective;
    in.weighted = sub->weighted;
    in.errors_refuse = sub->errors_refuse;
    in.max_work = sub->max_work;
    if (in.max_work == 0) {
        in.max_work = points(&p) <= EXACT_POINTS ? 500000000 : 30000000;
    }
    st = tri_solve(&in, out, rule);
done:
    free_subproblem(&p);
    return st;
}
