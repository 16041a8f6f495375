/*
 * Groups that no host has room for: as few hosts as can be, and the best choice
 * of them where looking at all choices is cheap.
 */
#include "src/ctl/pack.h"

#include <stdlib.h>

/* ---- one after the other ------------------------------------------------- */

/* The emptiest host, of those that have as much free the best to take whole;
 * *room: how much that is. */
static int emptiest_host(tri_pack *p, int below, int *room)
{
    for (int f = below - 1 < p->most ? below - 1 : p->most; f > 0; f--) {
        if (p->of_free[f] >= 0) {
            tri_cost least = {UINT64_MAX, 0}, cost = {0, 0};
            int best = -1;

            for (int i = p->of_free[f]; i >= 0; i = p->shapes.list[i].next) {
                if (p->n_levels > 1 &&
                    tri_shapes_cost(&p->shapes, 0, i, f, &cost) != TRI_OK) {
                    p->broken = 1;
                    return -1;
                }
                if (best < 0 || tri_cost_less(cost, least)) {
                    best = i;
                    least = cost;
                }
            }
            *room = f;
            return p->shapes.list[best].first;
        }
    }
    return -1;
}

/* Hosts one after the other, the emptiest first, the last one best. */
static int *take_greedily(tri_pack *p, int n, int *out)
{
    while (n > 0 && !p->broken) {
        int room = n;
        int h = tri_pack_choose(p, n);

        if (h < 0 && !p->broken) {
            h = emptiest_host(p, n, &room);
        }
        if (h >= 0) {
            out = tri_pack_take_from(p, h, room, out);
            n -= room;
        }
    }
    return out;
}

/* ---- all choices -------------------------------------------- */

typedef struct joint { /* choices of n_hosts hosts out of some of each shape */
    int n, n_hosts;
    int n_picks;
    int *shape;     /* of each pick */
    int *host;      /* and which host that is */
    int *amount;    /* choice[pick][hosts][ranks]: how many of it; 0: none */
    tri_cost *best; /* [hosts][ranks] */
} joint;

/* How few hosts n needs, and how many are worth looking at. */
static void count_hosts(const tri_pack *p, int n, int *n_hosts, int *n_picks)
{
    int left = n;

    *n_hosts = *n_picks = 0;
    for (int f = p->most; f > 0 && left > 0; f--) {
        for (int i = p->of_free[f]; i >= 0 && left > 0;
             i = p->shapes.list[i].next) {
            int has = p->shapes.list[i].n_hosts;
            int use = (left + f - 1) / f < has ? (left + f - 1) / f : has;

            *n_hosts += use;
            left -= use * f;
        }
    }
    for (int f = p->most; f > 0; f--) {
        for (int i = p->of_free[f]; i >= 0; i = p->shapes.list[i].next) {
            int has = p->shapes.list[i].n_hosts;

            *n_picks += has < *n_hosts ? has : *n_hosts;
        }
    }
}

static void list_picks(const tri_pack *p, joint *j)
{
    int at = 0;

    for (int f = p->most; f > 0; f--) {
        for (int i = p->of_free[f]; i >= 0; i = p->shapes.list[i].next) {
            int h = p->shapes.list[i].first;

            for (int k = 0; k < j->n_hosts && h >= 0; k++) {
                j->shape[at] = i;
                j->host[at++] = h;
                h = p->level[0].list[h].next;
            }
        }
    }
}

/* One more pick is looked at: best[k][x] with it, or without. */
static tri_status add_pick(tri_pack *p, joint *j, int pick)
{
    int wide = j->n + 1;
    int most = p->shapes.list[j->shape[pick]].n_free;
    int *amount = j->amount + (size_t)pick * (size_t)((j->n_hosts + 1) * wide);

    for (int k = j->n_hosts; k > 0; k--) {
        for (int x = j->n; x > 0; x--) {
            tri_cost *best = &j->best[k * wide + x];

            for (int a = 1; a <= most && a <= x; a++) {
                tri_cost c = j->best[(k - 1) * wide + x - a], more;

                if (c.touched == UINT64_MAX) {
                    continue;
                }
                TRI_TRY(tri_shapes_cost(&p->shapes, 0, j->shape[pick], a,
                                        &more));
                c = tri_cost_add(c, more);
                if (tri_cost_less(c, *best)) {
                    *best = c;
                    amount[k * wide + x] = a;
                }
            }
        }
    }
    return TRI_OK;
}

static int *take_joint(tri_pack *p, joint *j, int *out)
{
    int wide = j->n + 1;
    int k = j->n_hosts, x = j->n;

    for (int i = 0; i < k * wide + wide; i++) {
        j->best[i] = (tri_cost){UINT64_MAX, UINT64_MAX};
    }
    j->best[0] = (tri_cost){0, 0};
    for (int pick = 0; pick < j->n_picks; pick++) {
        p->broken |= add_pick(p, j, pick) != TRI_OK;
    }
    for (int pick = j->n_picks - 1; pick >= 0 && !p->broken; pick--) {
        int a = j->amount[((size_t)pick * (size_t)(j->n_hosts + 1) +
                           (size_t)k) *
                                  (size_t)wide +
                          (size_t)x];

        if (a) {
            out = tri_pack_take_from(p, j->host[pick], a, out);
            x -= a;
            k--;
        }
    }
    return out;
}

/* The best choice of the fewest hosts, where it is cheap to find. */
int *tri_pack_take_several(tri_pack *p, int n, int *out)
{
    joint j = {.n = n};
    size_t cells;
    double work;

    count_hosts(p, n, &j.n_hosts, &j.n_picks);
    work = (double)j.n_picks * j.n_hosts * n * p->most;
    if (p->greedy || work > TRI_PLACE_WORK) {
        return take_greedily(p, n, out);
    }
    cells = ((size_t)j.n_hosts + 1) * ((size_t)n + 1);
    j.shape = calloc((size_t)j.n_picks + 1, sizeof *j.shape);
    j.host = calloc((size_t)j.n_picks + 1, sizeof *j.host);
    j.amount = calloc((size_t)j.n_picks * cells + 1, sizeof *j.amount);
    j.best = calloc(cells, sizeof *j.best);
    if (j.shape && j.host && j.amount && j.best) {
        list_picks(p, &j);
        out = take_joint(p, &j, out);
    } else {
        p->broken = 1;
    }
    free(j.shape);
    free(j.host);
    free(j.amount);
    free(j.best);
    return out;
}
