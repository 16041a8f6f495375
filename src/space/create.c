/*
 * Solving a space: components by the constraints that join parameters, a
 * diagram for each, counts, and the range of ranks.
 */
#include "src/space/space_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_POINTS 1e8 /* components of up to so many are always solved */

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

/* ---- components ------------------------------------------------------- */

static int find(int *parent, int i)
{
    while (parent[i] != i) {
        i = parent[i] = parent[parent[i]];
    }
    return i;
}

/* Join all that is marked, and `with` unless it is -1. */
static void join(const tri_space *s, int *parent, const unsigned char *named,
                 int with)
{
    int i;

    for (i = 0; i < s->n_params; i++) {
        if (named[i]) {
            if (with >= 0) {
                int a = find(parent, i), b = find(parent, with);
                parent[a > b ? a : b] = a > b ? b : a;
            }
            with = i;
        }
    }
}

/* [out] in_goal: parameters that some constraint or `when` names. */
static void join_all(const tri_space *s, int *parent, unsigned char *named,
                     unsigned char *in_goal)
{
    int i, j;

    for (i = 0; i < s->n_goals + s->n_params; i++) {
        const tri_expr *e =
                i < s->n_goals ? s->goals[i].expr : s->whens[i - s->n_goals];
        if (!e) {
            continue;
        }
        memset(named, 0, (size_t)s->n_params);
        tri_space_mark(s, e, i < s->n_goals ? s->goals[i].node : e->root,
                       named);
        join(s, parent, named, i < s->n_goals ? -1 : i - s->n_goals);
        for (j = 0; j < s->n_params; j++) {
            in_goal[j] |= named[j];
        }
    }
}

static void make_components(tri_space *s, int *parent,
                            const unsigned char *in_goal)
{
    int i;

    for (i = 0; i < s->n_params; i++) {
        tri_component *c;
        int top = find(parent, i);
        s->comp_of[i] = -1;
        if (!tri_space_varies(s, i)) {
            continue;
        }
        if (top == i) {
            c = &s->comps[s->n_comps];
            s->comp_of[i] = s->n_comps++;
            c->kind = TRI_COMP_FREE;
            c->first = i;
            tri_dd_init(&c->dd);
        } else {
            s->comp_of[i] = s->comp_of[top];
            c = &s->comps[s->comp_of[i]];
        }
        c->has_float |= s->n_values[i] < 0;
        if (s->n_values[i] < 0 && in_goal[i]) {
            c->kind = TRI_COMP_REJECT;
        } else if (c->kind == TRI_COMP_FREE &&
                   (in_goal[i] || s->whens[i] || top != i)) {
            c->kind = TRI_COMP_DIAGRAM;
        }
    }
}

/* Which component each goal belongs to. */
static void place_goals(tri_space *s, unsigned char *named)
{
    int i, j;

    for (i = 0; i < s->n_goals; i++) {
        memset(named, 0, (size_t)s->n_params);
        tri_space_mark(s, s->goals[i].expr, s->goals[i].node, named);
        s->goal_comp[i] = -1;
        for (j = 0; j < s->n_params; j++) {
            if (named[j]) {
                s->goal_comp[i] = s->comp_of[j];
            }
        }
    }
}

static tri_status split(tri_space *s)
{
    size_t n = (size_t)s->n_params + 1;
    int *parent = malloc(n * sizeof *parent), i;
    unsigned char *named = calloc(n, 1), *in_goal = calloc(n, 1);
    tri_status st = parent && named && in_goal ? TRI_OK : no_memory();

    if (st == TRI_OK) {
        for (i = 0; i < s->n_params; i++) {
            parent[i] = i;
        }
        join_all(s, parent, named, in_goal);
        make_components(s, parent, in_goal);
        place_goals(s, named);
    }
    free(parent);
    free(named);
    free(in_goal);
    return st;
}

static tri_status blame_rule(const tri_space *s, int rule, tri_status st)
{
    if (rule >= 0) {
        tri_space_blame(s->rules[rule].line, s->rules[rule].column);
    }
    return st;
}

static tri_status solve_component(tri_space *s, int k, unsigned char *set)
{
    tri_subset sub = {set, 0, s->n_rules, NULL, NULL, 0, 0, 0};
    int i, rule = -1;
    tri_status st;

    for (i = 0; i < s->n_params; i++) {
        set[i] = s->comp_of[i] == k;
    }
    st = tri_space_subsolve(s, &sub, &s->comps[k].dd, &rule);
    return st == TRI_OK ? st : blame_rule(s, rule, st);
}

/* ---- rows of a table -------------------------------------------------- */

typedef struct row_set {
    tri_space *s;
    int32_t *rows; /* value indices, n rows of n_params, sorted */
    int64_t n;
    const int *vary; /* parameters that vary */
    int n_vary;
    tri_dd *dd;
} row_set;

static _Thread_local int row_width; /* for qsort's comparison */

static int by_row(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    int i;

    for (i = 0; i < row_width; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

/* The node for rows [lo, hi), which agree up to `level`. */
static tri_status row_node(row_set *r, int level, int64_t lo, int64_t hi,
                           int32_t *out)
{
    tri_dd_arc *arcs;
    int64_t at = lo, end;
    uint32_t n = 0;
    tri_status st = TRI_OK;

    if (level == r->n_vary) {
        return tri_dd_end(r->dd, 0, out);
    }
    arcs = calloc((size_t)(hi - lo), sizeof *arcs);
    if (!arcs) {
        return no_memory();
    }
    while (at < hi && st == TRI_OK) {
        int p = r->vary[level];
        int32_t v = r->rows[at * r->s->n_params + p];
        for (end = at; end < hi && r->rows[end * r->s->n_params + p] == v;) {
            end++;
        }
        arcs[n].value = v;
        st = row_node(r, level + 1, at, end, &arcs[n].child);
        n++;
        at = end;
    }
    if (st == TRI_OK) {
        st = tri_dd_node_of(r->dd, arcs, n, 1, out);
    }
    free(arcs);
    return st;
}

static int row_allowed(tri_space *s, const tri_value *row)
{
    tri_value v;
    int i;

    for (i = 0; i < s->n_rules; i++) {
        if (tri_space_eval(s, s->rules[i].expr, row, &v) != TRI_OK || !v.u.i) {
            return 0;
        }
    }
    return 1;
}

static tri_status index_rows(row_set *r, const tri_value *rows, int64_t n)
{
    int n_params = r->s->n_params, p;
    int64_t i;

    for (i = 0; i < n; i++) {
        const tri_value *row = rows + i * n_params;
        int32_t *to = r->rows + r->n * n_params;
        for (p = 0; p < n_params; p++) {
            to[p] = (int32_t)tri_domain_index(&r->s->params[p].domain, row[p]);
            if (to[p] < 0) {
                return TRI_FAIL(TRI_ERANGE,
                                "a row has a value of \"%s\" that "
                                "is not one of its domain",
                                r->s->params[p].name);
            }
        }
        r->n += row_allowed(r->s, row);
    }
    row_width = n_params;
    qsort(r->rows, (size_t)r->n, (size_t)n_params * sizeof *r->rows, by_row);
    return TRI_OK;
}

static tri_status solve_rows(tri_space *s, const tri_value *rows, int64_t n)
{
    row_set r = {s, NULL, 0, NULL, 0, &s->comps[0].dd};
    size_t cells = (size_t)n * (size_t)s->n_params + 1;
    int *vary = calloc((size_t)s->n_params + 1, sizeof *vary), i;
    tri_status st = TRI_OK;

    s->has_rows = s->n_comps = 1;
    s->comps[0].kind = TRI_COMP_DIAGRAM;
    tri_dd_init(&s->comps[0].dd);
    r.rows = malloc(cells * sizeof *r.rows);
    if (!r.rows || !vary) {
        st = no_memory();
        goto done;
    }
    for (i = 0; i < s->n_params; i++) {
        s->comp_of[i] = tri_space_varies(s, i) ? 0 : -1;
        if (tri_space_varies(s, i)) {
            vary[r.n_vary++] = i;
        }
    }
    r.vary = vary;
    TRI_TRY_GOTO(st, index_rows(&r, rows, n), done);
    if (r.n > 0) {
        st = row_node(&r, 0, 0, r.n, &s->comps[0].dd.root);
    }
    s->n_rows = n;
done:
    tri_dd_freeze(&s->comps[0].dd);
    free(r.rows);
    free(vary);
    return st;
}

/* ---- the whole -------------------------------------------------------- */

/* Constraints that name nothing that varies: 0 if one is false. */
static tri_status constant_goals(tri_space *s, unsigned char *set, int *hold)
{
    tri_subset sub = {set, 0, s->n_rules, NULL, NULL, 0, 0, 0};
    tri_dd dd;
    int rule = -1;
    tri_status st;

    memset(set, 0, (size_t)s->n_params);
    st = tri_space_subsolve(s, &sub, &dd, &rule);
    if (st != TRI_OK) {
        return blame_rule(s, rule, st);
    }
    *hold = dd.root != TRI_DD_NONE;
    tri_dd_fini(&dd);
    return TRI_OK;
}

static void count(tri_space *s, int hold)
{
    int i, infinite = 0, empty = !hold, over = 0;
    int64_t n = 1;

    s->raw = 1;
    for (i = 0; i < s->n_params; i++) {
        s->raw *= s->n_values[i] < 0 ? HUGE_VAL : (double)s->n_values[i];
    }
    for (i = 0; i < s->n_comps; i++) {
        const tri_component *c = &s->comps[i];
        int64_t each = c->kind == TRI_COMP_FREE
                               ? s->n_values[c->first]
                               : tri_dd_count(&c->dd, c->dd.root);
        infinite |= c->has_float;
        if (c->kind != TRI_COMP_REJECT) {
            empty |= each == 0;
            over |= each > 0 && __builtin_mul_overflow(n, each, &n);
        }
    }
    s->count = empty ? 0 : infinite || over ? -1 : n;
    if (s->has_rows) {
        s->raw = (double)s->n_rows;
    }
}

tri_abstract tri_space_enclose(const tri_space *s, const tri_expr *e, int at)
{
    const tri_node *n = &e->nodes[at];
    tri_abstract a, b;

    if (n->op == TRI_OP_CONST) {
        return tri_abstract_of(n->value);
    }
    if (n->op == TRI_OP_VAR) {
        return n->a >= s->n_params || !tri_space_varies(s, n->a)
                       ? tri_abstract_of(s->fixed[n->a])
                       : tri_abstract_domain(&s->params[n->a].domain,
                                             s->n_values[n->a], 0);
    }
    if (n->op == TRI_OP_IF) {
        a = tri_space_enclose(s, e, n->b);
        b = tri_space_enclose(s, e, n->c);
        return tri_abstract_join(&a, &b);
    }
    a = tri_space_enclose(s, e, n->a);
    if (n->b < 0) {
        return tri_abstract_op(n->op, &a, NULL);
    }
    b = tri_space_enclose(s, e, n->b);
    return tri_abstract_op(n->op, &a, &b);
}

static tri_status take_ranks(tri_space *s, int64_t lo, int64_t hi)
{
    if (lo < 1 && hi < 1) {
        return TRI_FAIL(TRI_ERANGE, "configurations ask for %lld ranks",
                        (long long)hi);
    }
    s->rank_lo = lo < 1 ? 1 : lo > INT32_MAX ? INT32_MAX : (int)lo;
    s->rank_hi = hi > INT32_MAX ? INT32_MAX : hi < 1 ? 1 : (int)hi;
    return TRI_OK;
}

/* The range of ranks over the rows of a table, one by one. */
static tri_status find_row_ranks(tri_space *s)
{
    tri_config *c = malloc(((size_t)s->n_params + 1) * sizeof *c);
    int64_t i, lo = INT64_MAX, hi = INT64_MIN;
    tri_value v;
    tri_status st = c ? TRI_OK : no_memory();

    for (i = 0; i < s->count && st == TRI_OK; i++) {
        st = tri_space_at(s, i, c);
        st = st == TRI_OK ? tri_space_eval(s, s->ranks, c, &v) : st;
        if (st == TRI_OK) {
            lo = v.u.i < lo ? v.u.i : lo;
            hi = v.u.i > hi ? v.u.i : hi;
        }
    }
    free(c);
    return st == TRI_OK ? take_ranks(s, lo, hi) : st;
}

/* The range of ranks over all components that ranks depends on. */
static tri_status find_ranks(tri_space *s, unsigned char *set)
{
    tri_subset sub = {set, 0, s->n_rules, NULL, s->ranks, 0, 0, 20000000};
    tri_abstract a;
    tri_dd dd;
    int i, j, rule, exact = 1;
    tri_status st = TRI_ETOOLARGE;

    memset(set, 0, (size_t)s->n_params);
    tri_space_mark(s, s->ranks, s->ranks->root, set);
    for (i = 0; i < s->n_params; i++) {
        for (j = 0; set[i] == 1 && j < s->n_params; j++) {
            if (!set[j] && s->comp_of[j] == s->comp_of[i]) {
                set[j] = 2;
            }
        }
    }
    for (i = 0; i < s->n_params; i++) {
        exact &= !set[i] || s->comps[s->comp_of[i]].kind != TRI_COMP_REJECT;
    }
    if (exact) {
        st = tri_space_subsolve(s, &sub, &dd, &rule);
    }
    if (st == TRI_OK && dd.root != TRI_DD_NONE) {
        int64_t lo = dd.nodes[dd.root].lo, hi = dd.nodes[dd.root].hi;
        tri_dd_fini(&dd);
        if (lo < 1) {
            return TRI_FAIL(TRI_ERANGE,
                            "a valid configuration asks for %lld ranks",
                            (long long)lo);
        }
        return take_ranks(s, lo, hi);
    }
    if (st != TRI_OK && st != TRI_ETOOLARGE && st != TRI_EOVERFLOW) {
        return st;
    }
    tri_error_clear();
    a = tri_space_enclose(s, s->ranks, s->ranks->root);
    return take_ranks(s, a.lo, a.hi);
}

tri_status tri_space_solve(tri_space *s, const tri_value *rows, int64_t n_rows)
{
    unsigned char *set = calloc((size_t)s->n_params + 1, 1);
    tri_status st;
    int i, hold = 1;

    if (!set) {
        return no_memory();
    }
    if (n_rows >= 0) {
        TRI_TRY_GOTO(st, solve_rows(s, rows, n_rows), done);
    } else {
        TRI_TRY_GOTO(st, constant_goals(s, set, &hold), done);
        TRI_TRY_GOTO(st, split(s), done);
        for (i = 0; i < s->n_comps; i++) {
            if (s->comps[i].kind == TRI_COMP_DIAGRAM) {
                TRI_TRY_GOTO(st, solve_component(s, i, set), done);
            }
        }
    }
    count(s, hold);
    s->rank_lo = s->rank_hi = s->count != 0;
    st = TRI_OK;
    if (s->ranks && s->count != 0) {
        st = s->has_rows ? find_row_ranks(s) : find_ranks(s, set);
    }
done:
    free(set);
    return st;
}
