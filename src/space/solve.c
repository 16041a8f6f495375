/*
 * The search.  At each level the goals that are still open (some variables
 * known, some not) are walked once: the walk prunes what can no longer be
 * true, and its trace (the known numbers that the rest depends on) is the key
 * of the sub-problem.  Keys are 128-bit hashes; two different sub-problems
 * share one with probability below 1e-20 at any size that is solved here.
 */
#include "src/space/solve.h"

#include "src/space/memo.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define KEY_BYTES 65536
#define MAX_ARCS  60000000u

typedef struct root {
    int node;
    int goal;
    int first, last; /* levels between which it is open */
} root;

typedef struct solver {
    const tri_solve_in *in;
    tri_forest forest;
    root *roots;
    int n_roots;
    int objective; /* node, -1: none */
    int *program;  /* node ids by level, */
    int *starts;   /* from starts[level] to starts[level + 1] */
    tri_dd *dd;
    tri_memo memo;
    tri_dd_arc *scratch; /* arcs of all open nodes, a stack */
    size_t n_scratch, cap_scratch;
    unsigned char *key;
    size_t n_key;
    int failing;     /* root that is an error on this path, -1: none */
    tri_value error; /* its value */
    int blame;       /* goal, on failure */
    int64_t work;
} solver;

static tri_status no_memory(void)
{
    return TRI_FAIL(TRI_ENOMEM, "no memory for solving the space");
}

/* ---- the key --------------------------------------------------------- */

static void put(solver *s, const void *data, size_t n)
{
    /* A key that is too long is cut, but its length and position still enter:
     * see key_fits. */
    if (s->n_key + n <= KEY_BYTES) {
        memcpy(s->key + s->n_key, data, n);
    }
    s->n_key += n;
}

static void put_tag(solver *s, unsigned char tag)
{
    put(s, &tag, 1);
}

static void put_value(solver *s, tri_value v)
{
    unsigned char type = (unsigned char)v.type;

    put(s, &type, 1);
    if (v.type != TRI_INACTIVE) {
        put(s, &v.u, sizeof v.u);
    }
}

/* ---- the walk over what is still open -------------------------------- */

enum {
    OPEN,
    FOLDED,
    SECOND,
    THIRD
};

static tri_abstract walk(solver *s, int at, int level);

/* Leave only the branch `at` of the node whose trace began at `mark`. */
static tri_abstract take(solver *s, size_t mark, unsigned char tag, int at,
                         int level, int may_fail)
{
    tri_abstract r;

    s->n_key = mark;
    put_tag(s, tag);
    r = walk(s, at, level);
    r.may_fail |= may_fail;
    return r;
}

static tri_abstract walk_logic(solver *s, const tri_cnode *n, int level,
                               size_t mark)
{
    int neutral = n->op == TRI_OP_AND;
    tri_abstract a = walk(s, n->a, level), b;
    tri_value decided = {TRI_BOOL, {0}};

    decided.u.i = !neutral;
    if (a.known && a.value.type == TRI_BOOL) {
        if (a.value.u.i != neutral) {
            return a;
        }
        if (!a.may_fail) {
            return take(s, mark, SECOND, n->b, level, 0);
        }
    }
    b = walk(s, n->b, level);
    b.may_fail |= a.may_fail;
    if (b.known && b.value.type == TRI_BOOL && b.value.u.i != neutral) {
        a = tri_abstract_of(decided);
        a.may_fail = b.may_fail;
        return a;
    }
    if (!(a.known && b.known)) {
        b.known = 0;
    }
    b.types = TRI_BIT(TRI_BOOL);
    return b;
}

static tri_abstract walk_if(solver *s, const tri_cnode *n, int level,
                            size_t mark)
{
    tri_abstract a = walk(s, n->a, level), b, c, r;

    if (a.known && a.value.type == TRI_BOOL && !a.may_fail) {
        int yes = a.value.u.i != 0;
        return take(s, mark, yes ? SECOND : THIRD, yes ? n->b : n->c, level, 0);
    }
    b = walk(s, n->b, level);
    c = walk(s, n->c, level);
    r = tri_abstract_join(&b, &c);
    r.may_fail |= a.may_fail;
    return r;
}

static tri_abstract walk_in(solver *s, const tri_cnode *n, int level)
{
    tri_value v = {TRI_BOOL, {0}};
    tri_abstract x = walk(s, n->a, level), item, r = tri_abstract_of(v);
    int at, may_fail = x.may_fail, can = 0, must = 0;

    for (at = n->b; at >= 0; at = s->forest.nodes[at].b) {
        item = walk(s, s->forest.nodes[at].a, level);
        may_fail |= item.may_fail;
        can |= tri_abstract_meet(&x, &item);
        must |= x.known && item.known && tri_value_equal(x.value, item.value);
    }
    r.value.u.i = must;
    r.known = must || !can;
    r.may_fail = may_fail;
    return r;
}

static tri_abstract walk(solver *s, int at, int level)
{
    const tri_cnode *n = &s->forest.nodes[at];
    size_t mark = s->n_key;
    tri_abstract r, a, b;

    if (n->level < level) {
        if (n->level >= 0) {
            put_value(s, s->forest.value[at]);
        }
        return tri_abstract_of(s->forest.value[at]);
    }
    if (n->op == TRI_OP_VAR) {
        return s->in->levels[n->a].any;
    }
    put_tag(s, OPEN);
    switch (n->op) {
    case TRI_OP_AND:
    case TRI_OP_OR:
        r = walk_logic(s, n, level, mark);
        break;
    case TRI_OP_IF:
        r = walk_if(s, n, level, mark);
        break;
    case TRI_OP_IN:
        r = walk_in(s, n, level);
        break;
    default:
        a = walk(s, n->a, level);
        if (n->b >= 0) {
            b = walk(s, n->b, level);
        }
        r = tri_abstract_op(n->op, &a, n->b < 0 ? NULL : &b);
        break;
    }
    if (r.known && !r.may_fail) {
        s->n_key = mark;
        put_tag(s, FOLDED);
        put_value(s, r.value);
    }
    return r;
}

/* Walk what is open at `level`; whether it can still be true. */
static int open_goals(solver *s, int level)
{
    int i;

    s->n_key = 0;
    for (i = 0; i < s->n_roots; i++) {
        const root *r = &s->roots[i];
        tri_abstract a;
        if (r->first >= level || r->last < level) {
            continue;
        }
        a = walk(s, r->node, level);
        if (a.known && a.value.type == TRI_BOOL && !a.value.u.i) {
            return 0;
        }
    }
    if (s->objective >= 0) {
        walk(s, s->objective, level);
    }
    put(s, &s->failing, sizeof s->failing);
    put(s, &level, sizeof level);
    return 1;
}

/* ---- the search ------------------------------------------------------ */

static void run_program(solver *s, int level)
{
    int i;

    for (i = s->starts[level]; i < s->starts[level + 1]; i++) {
        int at = s->program[i];
        s->forest.value[at] = tri_forest_apply(&s->forest, at);
    }
}

/* A value of the wrong type is an error too. */
static tri_value as_error(tri_value v)
{
    if (v.type != TRI_VALUE_ERROR) {
        v.type = TRI_VALUE_ERROR;
        v.u.i = TRI_ETYPE;
    }
    return v;
}

/* Judge the goals whose last variable is this level's: 0 if one is false.  One
 * that fails to evaluate is kept in s->failing, until it is known whether the
 * others allow the point. */
static int closed_goals(solver *s, int level)
{
    int i;

    for (i = 0; i < s->n_roots; i++) {
        tri_value v;
        if (s->roots[i].last != level) {
            continue;
        }
        v = s->forest.value[s->roots[i].node];
        if (v.type == TRI_BOOL && v.u.i) {
            continue;
        }
        if (v.type == TRI_BOOL || s->in->errors_refuse) {
            return 0;
        }
        if (s->failing < 0) {
            s->failing = i;
            s->error = as_error(v);
        }
    }
    return 1;
}

static tri_status reach_end(solver *s, int32_t *out)
{
    tri_value v;

    if (s->failing >= 0) {
        const tri_goal *g = &s->in->goals[s->roots[s->failing].goal];
        s->blame = s->roots[s->failing].goal;
        return tri_value_fail(s->error, g->expr->text);
    }
    if (s->objective < 0) {
        return tri_dd_end(s->dd, 0, out);
    }
    v = s->forest.value[s->objective];
    if (v.type != TRI_INT) {
        return tri_value_fail(as_error(v), s->in->objective->text);
    }
    return tri_dd_end(s->dd, v.u.i, out);
}

static tri_status too_large(solver *s)
{
    int i, widest = 0;

    for (i = 0; i < s->n_roots; i++) {
        const root *r = &s->roots[i], *w = &s->roots[widest];
        if (r->last - r->first > w->last - w->first) {
            widest = i;
        }
    }
    s->blame = s->n_roots ? s->roots[widest].goal : -1;
    return TRI_FAIL(TRI_ETOOLARGE,
                    "the space cannot be solved exactly: \"%.200s\" joins too "
                    "many points",
                    s->blame >= 0 ? s->in->goals[s->blame].expr->text : "");
}

static tri_status push_arc(solver *s, int32_t value, int32_t child)
{
    tri_dd_arc arc = {0, value, child};
    tri_dd_arc *grown =
            tri_grow(s->scratch, s->n_scratch, &s->cap_scratch, sizeof arc);

    if (!grown) {
        return no_memory();
    }
    s->scratch = grown;
    s->scratch[s->n_scratch++] = arc;
    return TRI_OK;
}

static tri_status expand(solver *s, int level, int32_t *out);

static tri_status try_value(solver *s, int level, int32_t index, tri_value v)
{
    int failing = s->failing;
    int32_t child = TRI_DD_NONE;

    s->work += 1 + (s->starts[level + 1] - s->starts[level]) / 64;
    if (s->work > s->in->max_work || s->dd->n_arcs > MAX_ARCS) {
        return too_large(s);
    }
    s->forest.value[level] = v;
    run_program(s, level);
    if (closed_goals(s, level)) {
        TRI_TRY(expand(s, level + 1, &child));
    }
    s->failing = failing;
    return child == TRI_DD_NONE ? TRI_OK : push_arc(s, index, child);
}

static tri_status try_all(solver *s, int level)
{
    const tri_level *l = &s->in->levels[level];
    tri_value inactive = {TRI_INACTIVE, {0}};
    int64_t i;

    if (l->may_inactive) {
        TRI_TRY(try_value(s, level, TRI_DD_INACTIVE, inactive));
    }
    if (l->placeholder) {
        inactive.type = TRI_REAL; /* any */
        return try_value(s, level, 0, inactive);
    }
    if (l->n > s->in->max_work) {
        return too_large(s);
    }
    for (i = 0; i < l->n; i++) {
        TRI_TRY(try_value(s, level, (int32_t)i, tri_domain_at(l->domain, i)));
    }
    return TRI_OK;
}

static int64_t weight_of(const solver *s, int level)
{
    int64_t n = s->in->levels[level].n;

    return s->in->weighted && n > 0 ? n : 1;
}

static tri_status expand(solver *s, int level, int32_t *out)
{
    XXH128_hash_t hash;
    size_t base = s->n_scratch;
    int32_t node = TRI_DD_NONE;
    int cut;

    if (level == s->in->n_levels) {
        return reach_end(s, out);
    }
    if (!open_goals(s, level)) {
        *out = TRI_DD_NONE;
        return TRI_OK;
    }
    cut = s->n_key > KEY_BYTES; /* then nothing is known to be equal to it */
    hash = XXH3_128bits(s->key, cut ? 0 : s->n_key);
    if (!cut && tri_memo_get(&s->memo, hash.low64, hash.high64, out)) {
        return TRI_OK;
    }
    TRI_TRY(try_all(s, level));
    if (s->n_scratch > base) {
        tri_status st = tri_dd_node_of(s->dd, s->scratch + base,
                                       (uint32_t)(s->n_scratch - base),
                                       weight_of(s, level), &node);
        if (st != TRI_OK) {
            return st == TRI_EOVERFLOW ? too_large(s) : st;
        }
    }
    s->n_scratch = base;
    if (!cut) {
        TRI_TRY(tri_memo_put(&s->memo, hash.low64, hash.high64, node));
    }
    *out = node;
    return TRI_OK;
}

/* ---- preparation ----------------------------------------------------- */

static int first_level(const tri_forest *f, int at)
{
    const tri_cnode *n;
    int first = INT32_MAX, each;

    if (at < 0 || f->nodes[at].level < 0) {
        return INT32_MAX;
    }
    n = &f->nodes[at];
    if (n->op == TRI_OP_VAR) {
        return n->level;
    }
    first = first_level(f, n->a);
    each = first_level(f, n->b);
    first = each < first ? each : first;
    each = n->op == TRI_OP_LIST ? INT32_MAX : first_level(f, n->c);
    return each < first ? each : first;
}

static tri_status add_goal(solver *s, int i)
{
    const tri_goal *g = &s->in->goals[i];
    const unsigned types = TRI_BIT(TRI_BOOL);
    tri_value inactive = {TRI_INACTIVE, {0}};
    root *r = &s->roots[s->n_roots];
    int at, none;

    TRI_TRY(tri_forest_add(&s->forest, &s->in->bind, g->expr, g->node, &at));
    if (g->when_level >= 0) {
        TRI_TRY(tri_forest_const(&s->forest, inactive, &none));
        TRI_TRY(tri_forest_op(&s->forest, TRI_OP_NE, g->when_level, none, -1,
                              types, &none));
        TRI_TRY(tri_forest_op(&s->forest, TRI_OP_EQ, at, none, -1, types, &at));
    }
    r->node = at;
    r->goal = i;
    r->first = first_level(&s->forest, at);
    r->last = s->forest.nodes[at].level;
    s->n_roots++;
    return TRI_OK;
}

/* Order nodes by level; within one they stand children first already. */
static tri_status make_program(solver *s)
{
    int n_levels = s->in->n_levels, level, n = 0;
    size_t i;

    s->program = malloc((s->forest.n + 1) * sizeof *s->program);
    s->starts = malloc(((size_t)n_levels + 1) * sizeof *s->starts);
    if (!s->program || !s->starts) {
        return no_memory();
    }
    for (level = 0; level < n_levels; level++) {
        s->starts[level] = n;
        for (i = (size_t)n_levels; i < s->forest.n; i++) {
            if (s->forest.nodes[i].level == level &&
                s->forest.nodes[i].op != TRI_OP_LIST) {
                s->program[n++] = (int)i;
            }
        }
    }
    s->starts[n_levels] = n;
    return TRI_OK;
}

static tri_status prepare(solver *s)
{
    int i;

    TRI_TRY(tri_forest_init(&s->forest, s->in->n_levels));
    s->roots = calloc((size_t)s->in->n_goals + 1, sizeof *s->roots);
    s->key = malloc(KEY_BYTES);
    if (!s->roots || !s->key) {
        return no_memory();
    }
    for (i = 0; i < s->in->n_goals; i++) {
        TRI_TRY(add_goal(s, i));
    }
    if (s->in->objective) {
        TRI_TRY(tri_forest_add(&s->forest, &s->in->bind, s->in->objective,
                               s->in->objective->root, &s->objective));
    }
    return make_program(s);
}

static void release(solver *s)
{
    tri_forest_fini(&s->forest);
    free(s->roots);
    free(s->program);
    free(s->starts);
    tri_memo_fini(&s->memo);
    free(s->scratch);
    free(s->key);
}

tri_status tri_solve(const tri_solve_in *in, tri_dd *out, int *rule)
{
    solver s;
    tri_status st;

    memset(&s, 0, sizeof s);
    s.in = in;
    s.dd = out;
    s.objective = s.failing = s.blame = -1;
    tri_dd_init(out);
    st = prepare(&s);
    if (st == TRI_OK && closed_goals(&s, -1)) {
        st = expand(&s, 0, &out->root);
    }
    if (st != TRI_OK) {
        *rule = s.blame < 0 ? -1 : in->goals[s.blame].rule;
        tri_dd_fini(out);
    }
    tri_dd_freeze(out);
    release(&s);
    return st;
}
