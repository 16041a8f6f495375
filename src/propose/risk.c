/*
 * How likely a new run may fail, and draws that keep to that.
 *
 * The first failures cost little and teach most: until there are FREE of them
 * only what more likely fails than not is left for last.  From then on failures
 * are paid from an account, so that of all launches fewer than one in twenty
 * fail: each launch adds SHARE of a failure, each failure takes one, and what
 * is under way takes what it will cost by belief.  As much as is in it may be
 * risked; with nothing in it as much as a launch adds.  What was launched
 * before the FREEth failure was known could not have been chosen by it and is
 * in no account, whether it has ended or is still under way: else the first
 * wave of many workers is paid for by all that come after it.
 */
#include "src/propose/think_internal.h"

#include <math.h>
#include <stdlib.h>

#define FREE       10
#define RISK_FIRST 0.5
#define SHARE      0.04
/* Random candidates of which the first that likely runs is taken. */
#define TRIES 50

/* A trial, and whether it failed wherever it ran. */
typedef struct fate {
    int64_t trial;
    int failed;
} fate;

static int by_trial(const void *a, const void *b)
{
    const fate *p = a, *q = b;

    return (p->trial > q->trial) - (p->trial < q->trial);
}

/* [out] own trials that ended, in the order that they were created in (that of
 * records is another), owned. */
static tri_status list_fates(const tri_snapshot *s, fate **out, int *n_out)
{
    fate *list = malloc(((size_t)s->n_records + 1) * sizeof *list);
    int n = 0;

    if (!list) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to think");
    }
    for (int i = 0; i < s->n_records; i++) {
        list[i] = (fate){s->records[i].trial, s->records[i].failed != 0};
    }
    qsort(list, (size_t)s->n_records, sizeof *list, by_trial);
    for (int i = 0; i < s->n_records; i++) {
        if (n > 0 && list[n - 1].trial == list[i].trial) {
            list[n - 1].failed &= list[i].failed;
        } else {
            list[n++] = list[i];
        }
    }
    *out = list;
    *n_out = n;
    return TRI_OK;
}

typedef struct account {  /* after the FREEth failure */
    int failures;         /* in all, before it too */
    int launched, failed; /* and ended */
    int blind;            /* under way since before it was known */
} account;

/* When a trial started is not known here: as many as are under way now are
 * taken to have been so when the FREEth failure came. */
static account count(const fate *list, int n, int under_way)
{
    account a = {.blind = under_way};

    for (int i = 0; i < n; i++) {
        if (a.failures >= FREE && a.blind > 0) {
            a.blind--;
        } else if (a.failures >= FREE) {
            a.launched++;
            a.failed += list[i].failed;
        }
        a.failures += list[i].failed;
    }
    return a;
}

/* Those under way from the `from`th on, in the order that they were created in,
 * are believed to fail so many times. */
static tri_status expect(const tri_feasibility *f, const tri_encoding *e,
                         const tri_snapshot *s, int from, double *sum)
{
    double *x = malloc(((size_t)tri_encoding_width(e) + 1) * sizeof *x);

    *sum = 0;
    if (!x) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to think");
    }
    for (int i = from; i < s->n_pending; i++) {
        double p;

        tri_encode(e, s->pending[i], x);
        tri_feasibility_predict(f, x, 1, &p, NULL);
        *sum += 1 - p;
    }
    free(x);
    return TRI_OK;
}

tri_status tri_risk(const tri_feasibility *f, const tri_encoding *e,
                    const tri_snapshot *s, int wanted, double *risk)
{
    double due, left;
    account a;
    fate *list;
    int n, charged;

    *risk = RISK_FIRST;
    if (!f || wanted < 1) {
        return TRI_OK;
    }
    TRI_TRY(list_fates(s, &list, &n));
    a = count(list, n, s->n_pending + wanted - 1);
    free(list);
    if (a.failures < FREE) {
        return TRI_OK;
    }
    charged = s->n_pending > a.blind ? s->n_pending - a.blind : 0;
    TRI_TRY(expect(f, e, s, s->n_pending - charged, &due));
    left = SHARE * (a.launched + charged + wanted) - a.failed - due;
    *risk = fmax(SHARE, fmin(left / wanted, RISK_FIRST));
    return TRI_OK;
}

/* ---- drawing with caution ---- */

tri_status tri_caution_of(const tri_caution *c, const tri_pool *p, int64_t at,
                          double *fails)
{
    double runs = 1;
    double *x;

    *fails = 0;
    if (!c->feasible) {
        return TRI_OK;
    }
    x = malloc(((size_t)p->width + 1) * sizeof *x);
    if (!x) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to think");
    }
    tri_pool_row(p, at, x);
    tri_feasibility_predict(c->feasible, x, 1, &runs, NULL);
    *fails = 1 - runs;
    free(x);
    return TRI_OK;
}

tri_status tri_caution_random(const tri_caution *c, const tri_pool *p,
                              tri_rng *rng, int64_t *at)
{
    double least = INFINITY;

    *at = -1;
    for (int i = 0; i < TRIES && least > c->risk; i++) {
        int64_t drawn = tri_pool_random(p, rng);
        double fails;

        if (drawn < 0) {
            break;
        }
        TRI_TRY(tri_caution_of(c, p, drawn, &fails));
        if (fails < least) {
            least = fails;
            *at = drawn;
        }
    }
    return TRI_OK;
}
