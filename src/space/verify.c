/*
 * What must hold of a solved space's formulas: ranks is a number of ranks and
 * every feature can be computed, for each valid configuration.  Intervals
 * prove it; else the configurations are tried, all or a sample of them.
 */
#include "src/space/space_priv.h"

#include <stdio.h>
#include <stdlib.h>

/* Sets of up to so many are tried one by one, of others a sample. */
#define MAX_TRIED 200000
#define N_SAMPLES 10000
/* Values of parameters that one formula may cost to set. */
#define MAX_WORK 4000000

typedef struct formula {
    const tri_space *space;
    const tri_expr *expr;
    const char *group, *name; /* "features." and "f"; "ranks" and "" */
    int is_ranks;
} formula;

static int in_range(double lo, double hi)
{
    return lo >= 1 && hi <= INT32_MAX;
}

/* By intervals, where no `if` is in the way: tri_space_enclose looks at both
 * branches and at no condition. */
static int is_proven(const formula *f)
{
    tri_abstract a;
    int i;

    for (i = 0; i < f->expr->n_nodes; i++) {
        if (f->expr->nodes[i].op >= TRI_OP_AND) {
            return 0;
        }
    }
    a = tri_space_enclose(f->space, f->expr, f->expr->root);
    if (a.may_fail || !a.types || a.types & ~TRI_BITS_NUM) {
        return 0;
    }
    return !f->is_ranks ||
           (a.types == TRI_BIT(TRI_INT) && a.lo >= 1 && a.hi <= INT32_MAX);
}

/* Fail for `c`, whose value is wrong or (st) cannot be had. */
static tri_status refuse(const formula *f, const tri_config *c, tri_status st,
                         const tri_value *v)
{
    char at[400], found[80];
    const tri_error *e = tri_error_last();
    tri_error said = *e;

    tri_space_print(f->space, c, at, sizeof at);
    if (st == TRI_ENOMEM) {
        return st;
    }
    if (st != TRI_OK) {
        return TRI_FAIL(st, "%s%.60s: %.300s, at %s", f->group, f->name,
                        said.sentence, at);
    }
    tri_value_print(*v, found, sizeof found);
    return TRI_FAIL(TRI_ERANGE,
                    "%s%.60s: \"%.200s\" is %s at %s; expected 1 to %d",
                    f->group, f->name, f->expr->text, found, at, INT32_MAX);
}

static tri_status try_one(const formula *f, const tri_config *c)
{
    tri_value v = {TRI_INACTIVE, {0}};
    tri_status st = tri_space_eval(f->space, f->expr, c, &v);

    if (st != TRI_OK ||
        (f->is_ranks && !in_range((double)v.u.i, (double)v.u.i))) {
        return refuse(f, c, st, &v);
    }
    return TRI_OK;
}

/* How many draws: fewer where a draw costs many tries. */
static int64_t n_samples(const tri_space *s)
{
    double n = N_SAMPLES * s->drawn_share;
    double most = (double)MAX_WORK / (s->n_params + 1);

    n = n < most ? n : most;
    return n < 16 ? 16 : (int64_t)n;
}

static tri_status try_all(const formula *f, tri_config *c)
{
    const tri_space *s = f->space;
    tri_rng rng = tri_rng_stream(0, 0, TRI_RNG_RANDOM);
    int each = s->count >= 0 && s->count <= MAX_TRIED &&
               s->count * (s->n_params + 1) <= MAX_WORK;
    int64_t i, n = each ? s->count : n_samples(s);

    for (i = 0; i < n; i++) {
        tri_status st =
                each ? tri_space_at(s, i, c) : tri_space_sample(s, &rng, c);
        if (st == TRI_EEMPTY) { /* rare ones, and none was met */
            tri_error_clear();
            return TRI_OK;
        }
        TRI_TRY(st);
        TRI_TRY(try_one(f, c));
    }
    return TRI_OK;
}

static tri_status verify(const formula *f)
{
    tri_config *c;
    tri_status st;

    if (is_proven(f)) {
        return TRI_OK;
    }
    c = calloc((size_t)f->space->n_params + 1, sizeof *c);
    if (!c) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a configuration");
    }
    st = try_all(f, c);
    free(c);
    return st;
}

tri_status tri_space_verify_ranks(const tri_space *s)
{
    formula f = {s, s->ranks, "ranks", "", 1};

    return verify(&f);
}

tri_status tri_space_verify_features(const tri_space *s)
{
    int i;

    for (i = 0; i < s->n_features && s->count != 0; i++) {
        const tri_named_expr *e = &s->features[i];
        formula f = {s, e->expr, "features.", e->name, 0};
        tri_status st = verify(&f);
        if (st != TRI_OK) {
            tri_space_blame(e->line, e->column);
            return st;
        }
    }
    return TRI_OK;
}
