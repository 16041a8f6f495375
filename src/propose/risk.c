/*
 * How likely a new run may fail.
 *
 * The first failures cost little and teach most: until there are FREE of them
 * only what more likely fails than not is left for last.  From then on failures
 * are paid from an account, so that of all launches fewer than one in twenty
 * fail: each launch adds SHARE of a failure, each failure takes one, and what
 * is under way takes what it will cost by belief.  As much as is in it may be
 * risked; with nothing in it as much as a launch adds.
 */
#include "src/propose/think_internal.h"

#include <math.h>
#include <stdlib.h>

#define FREE       10
#define RISK_FIRST 0.5
#define SHARE      0.04

/* Launches and failures after the FREEth failure, in the order that they are
 * known in; the first `blind` of those were under way when it came. */
static void count(const tri_knowledge *k, int blind, int *launched, int *failed)
{
    int all = 0;

    *launched = *failed = 0;
    for (int i = 0; i < k->n_labels; i++) {
        if (all >= FREE && blind-- <= 0) {
            ++*launched;
            *failed += k->failed[i];
        }
        all += k->failed[i];
    }
}

/* What is under way is believed to fail so many times. */
static tri_status expect(const tri_feasibility *f, const tri_encoding *e,
                         const tri_snapshot *s, double *sum)
{
    double *x = malloc(((size_t)tri_encoding_width(e) + 1) * sizeof *x);

    *sum = 0;
    if (!x) {
        return TRI_FAIL(TRI_ENOMEM, "no memory to think");
    }
    for (int i = 0; i < s->n_pending; i++) {
        double p;

        tri_encode(e, s->pending[i], x);
        tri_feasibility_predict(f, x, 1, &p, NULL);
        *sum += 1 - p;
    }
    free(x);
    return TRI_OK;
}

tri_status tri_risk(const tri_knowledge *k, const tri_feasibility *f,
                    const tri_encoding *e, const tri_snapshot *s, int wanted,
                    double *risk)
{
    int launched, failed;
    double due, account;

    *risk = RISK_FIRST;
    if (k->n_failed < FREE || !f || wanted < 1) {
        return TRI_OK;
    }
    count(k, s->n_pending + wanted - 1, &launched, &failed);
    TRI_TRY(expect(f, e, s, &due));
    account = SHARE * (launched + s->n_pending + wanted) - failed - due;
    *risk = fmax(SHARE, fmin(account / wanted, RISK_FIRST));
    return TRI_OK;
}
