/*
 * PASHA (Bohdal et al., ICLR 2023): asha on a ladder that begins with two
 * rungs and grows by one whenever, at a result in its top rung, the ranking
 * there is not that of the rung below; configurations that were at the top
 * then go on like any others.  Where two rungs agree early the upper ones are
 * never paid for.
 *
 * The ranking is soft: that of the top rung agrees if whoever stands at a place
 * differs, by their results in the rung below, by at most epsilon from whoever
 * stands at that place in the rung below.  Epsilon is the 90th percentile of
 * the distances, at the top, of pairs whose order changed and changed back on
 * the way up: noise; 0 until there is such a pair, the last value while there
 * is none.
 *
 * Where we differ.  The paper looks for such pairs at every step of the curves,
 * a scheduler here sees rungs only: none is found before the ladder has three,
 * so that the first disagreement always adds the third.  Of the top rung the
 * best 64 are compared (the paper: all; its top rungs hold fewer), which bounds
 * a decision.  Results without a score stand in no ranking, so epsilon is never
 * NaN (the authors' code raises where it is).  The ladder never grows beyond
 * max; without max it has no end.
 */
#include "src/sched/brackets.h"

#include <math.h>
#include <stdlib.h>

#define COMPARED   64
#define PERCENTILE 0.9

typedef struct pasha {
    tri_brackets brackets; /* `last`: the present top */
    double epsilon;
} pasha;

static tri_status create(const tri_sched_settings *settings,
                         const tri_ladder *ladder, void **state)
{
    pasha *p;
    void *made;

    TRI_TRY(tri_brackets_create(sizeof *p, ladder, tri_share_of_results,
                                settings->bracket, 1, &made));
    p = made;
    if (settings->bracket + 1 < p->brackets.last) {
        p->brackets.last = settings->bracket + 1;
    }
    *state = p;
    return TRI_OK;
}

static void peek(void *state, int may_create, tri_job *out)
{
    tri_brackets *b = state;

    if (!tri_brackets_scan(b, b->share, may_create, out)) {
        *out = tri_brackets_new_by_share(b, may_create);
    }
}

/* ---- epsilon ------------------------------------------------------------- */

/* Whether the order of two trials at the top was another further down, and the
 * same again below that. */
static int criss_cross(const tri_node *all, uint32_t a, uint32_t b)
{
    int above = all[a].score > all[b].score;
    int changed = 0;

    for (a = all[a].below, b = all[b].below; a && b;
         a = all[a].below, b = all[b].below) {
        int here = all[a].score > all[b].score;

        if (changed && here == above) {
            return 1;
        }
        changed |= here != above;
    }
    return 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void update_epsilon(pasha *p, const uint32_t *list, int n)
{
    const tri_node *all = p->brackets.nodes.node;
    double gaps[COMPARED * (COMPARED - 1) / 2];
    int n_gaps = 0, at;
    double exact;

    for (int i = 0; i < n; i++) {
        for (int k = i + 1; k < n; k++) {
            if (criss_cross(all, list[i], list[k])) {
                gaps[n_gaps++] = fabs(all[list[i]].score - all[list[k]].score);
            }
        }
    }
    if (!n_gaps) {
        return;
    }
    qsort(gaps, (size_t)n_gaps, sizeof *gaps, by_size);
    exact = PERCENTILE * (n_gaps - 1);
    at = (int)exact;
    p->epsilon = gaps[at];
    if (at + 1 < n_gaps && gaps[at + 1] > gaps[at]) {
        p->epsilon += (exact - at) * (gaps[at + 1] - gaps[at]);
    }
}

/* ---- the ranking --------------------------------------------------------- */

/* Nodes of the rung below, in their order there. */
static void list_below(const tri_node *all, const uint32_t *list, int n,
                       uint32_t *out)
{
    for (int i = 0; i < n; i++) {
        uint32_t node = all[list[i]].below;
        int at = i;

        for (; at && tri_node_before(&all[node], &all[out[at - 1]]); at--) {
            out[at] = out[at - 1];
        }
        out[at] = node;
    }
}

static int is_stable(const pasha *p, const uint32_t *list, int n)
{
    const tri_node *all = p->brackets.nodes.node;
    uint32_t below[COMPARED];

    list_below(all, list, n, below);
    for (int i = 0; i < n; i++) {
        double here = all[all[list[i]].below].score;

        if (!(fabs(here - all[below[i]].score) <= p->epsilon)) {
            return 0;
        }
    }
    return 1;
}

/* The best of the top rung.  Returns how many. */
static int list_best(const tri_brackets *b, uint32_t root, uint32_t *out)
{
    int n = 0;

    while (n < COMPARED) {
        uint32_t node = tri_standings_at(&b->nodes, root, (uint32_t)n);

        if (!node || b->nodes.node[node].last) {
            break;
        }
        out[n++] = node;
    }
    return n;
}

static tri_status result(void *state, int64_t trial, int rung,
                         tri_result_kind kind, double score)
{
    pasha *p = state;
    tri_brackets *b = &p->brackets;
    uint32_t list[COMPARED], root;
    int n;

    TRI_TRY(tri_brackets_result(state, trial, rung, kind, score));
    root = b->list[0].rungs[rung].root;
    if (kind != TRI_RESULT_OK || rung != b->last || rung == b->ladder->n - 1 ||
        rung == b->list[0].base ||
        tri_standings_place(&b->nodes, root, b->entries[trial].node) >=
                COMPARED) {
        return TRI_OK;
    }
    n = list_best(b, root, list);
    update_epsilon(p, list, n);
    b->last += !is_stable(p, list, n);
    return TRI_OK;
}

const tri_sched_ops tri_sched_pasha = {.kind = TRI_SCHED_PASHA,
                                       .asks = TRI_TAKES_BRACKET,
                                       .create = create,
                                       .destroy = tri_brackets_destroy,
                                       .peek = peek,
                                       .take = tri_brackets_take,
                                       .result = result,
                                       .drop = tri_brackets_drop,
                                       .park = tri_brackets_park,
                                       .is_idle = tri_brackets_is_idle,
                                       .rungs = tri_brackets_rungs,
                                       .ranking = tri_brackets_ranking,
                                       .was_promoted =
                                               tri_brackets_was_promoted};
