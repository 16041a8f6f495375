/*
 * Results at several resources on one scale.
 *
 * Losses at different resources, of a plateau that untrained models stay on
 * and of runs that nearly diverge have no power that makes them normal.  Their
 * order is what halving goes by: so a cost counts by its normal score, the
 * normal quantile of its place among all (van der Waerden, 1952; Salinas, Shen
 * and Perrone, A quantile-based approach for hyperparameter transfer learning,
 * ICML 2020).  One order for all resources: what a resource adds or takes is
 * left to the model, to which it is an input.
 */
#include "src/base/ranked.h"
#include "src/propose/think_internal.h"
#include "trireme/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond the ends the map goes on with the slope of so large a part of it. */
#define END_SHARE 4

/* Of equal costs, places [from, to) of n: the score of their middle. */
static double score_of(int from, int to, int n)
{
    return tri_normal_quantile(((double)from + (double)to) / 2 / n);
}

tri_status tri_scores_init(tri_scores *s, double *y, int n)
{
    size_t room = (size_t)n + 1;
    tri_ranked *list = malloc(room * sizeof *list);
    double *cost = malloc(2 * room * sizeof *cost);

    if (!list || !cost) {
        free(list);
        free(cost);
        return TRI_FAIL(TRI_ENOMEM, "no memory to think of %d results", n);
    }
    *s = (tri_scores){.cost = cost, .score = cost + room};
    tri_rank(y, n, list);
    for (int from = 0, to; from < n; from = to) {
        double score;

        for (to = from + 1; to < n && list[to].value == list[from].value;) {
            to++;
        }
        score = score_of(from, to, n);
        for (int i = from; i < to; i++) {
            y[list[i].at] = score;
        }
        s->cost[s->n] = list[from].value;
        s->score[s->n++] = score;
    }
    free(list);
    return TRI_OK;
}

void tri_scores_fini(tri_scores *s)
{
    free(s->cost);
    memset(s, 0, sizeof *s);
}

/* On the line through the points at i and j. */
static double on_line(const tri_scores *s, int i, int j, double score)
{
    double slope = (s->cost[j] - s->cost[i]) / (s->score[j] - s->score[i]);
    int from = score < s->score[i] ? i : j;

    return s->cost[from] + slope * (score - s->score[from]);
}

/* Beyond an end, by the line through the points at i and j: towards zero, where
 * all are of one sign, as an exponential that touches it, which never gets
 * there. */
static double beyond(const tri_scores *s, int i, int j, double score)
{
    int end = score < s->score[i] ? i : j;
    double cost = on_line(s, i, j, score);
    double by = cost - s->cost[end];
    int one_sign = s->cost[0] > 0 || s->cost[s->n - 1] < 0;

    return one_sign && by * s->cost[end] < 0
                   ? s->cost[end] * exp(by / s->cost[end])
                   : cost;
}

double tri_scores_invert(const tri_scores *s, double score)
{
    int end = s->n / END_SHARE > 1 ? s->n / END_SHARE : 1;
    int lo = 0;
    int hi = s->n - 1;

    if (s->n < 2) {
        return s->n == 1 ? s->cost[0] : NAN;
    }
    if (score < s->score[0]) {
        return beyond(s, 0, end < hi ? end : hi, score);
    }
    if (score > s->score[hi]) {
        return beyond(s, hi - end > 0 ? hi - end : 0, hi, score);
    }
    while (hi - lo > 1) {
        int mid = (lo + hi) / 2;

        *(score < s->score[mid] ? &hi : &lo) = mid;
    }
    return on_line(s, lo, hi, score);
}
