/*
 * The machines of the virtual cluster: how fast each rank is for good, and
 * hosts that go down with all that runs on them and come back.
 */
#include "src/sim/cluster.h"

#include "trireme/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- paces ----------------------------------------------------------- */

tri_status tri_cluster_draw_paces(tri_cluster *m)
{
    int n = m->set->resume_workers > m->workers ? m->set->resume_workers
                                                : m->workers;

    if (!(m->set->spread > 0)) {
        return TRI_OK;
    }
    m->pace = calloc((size_t)n + 1, sizeof *m->pace);
    if (m->pace == NULL) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for %d virtual ranks", n);
    }
    for (int rank = 1; rank <= n; rank++) {
        tri_rng rng =
                tri_rng_stream(m->set->seed, (uint64_t)rank, TRI_RNG_PACE);

        m->pace[rank] = 1 + m->set->spread * fabs(tri_rng_normal(&rng));
    }
    return TRI_OK;
}

/* ---- hosts ----------------------------------------------------------- */

static int host_of(const tri_cluster *m, int32_t rank)
{
    return (rank - 1) / m->set->host_ranks;
}

double tri_cluster_slowness(const tri_cluster *m, const int32_t *ranks,
                            int n_ranks)
{
    for (int i = 0; m->set->slow_host >= 0 && i < n_ranks; i++) {
        if (host_of(m, ranks[i]) == m->set->slow_host) {
            return m->set->slow;
        }
    }
    return 1;
}

/* When the host goes down next, `round` times after the first. */
static tri_status expect_node(tri_cluster *m, int host, uint32_t round)
{
    uint64_t key = (uint64_t)host | (uint64_t)round << 32;
    tri_rng rng = tri_rng_stream(m->set->seed, key, TRI_RNG_NODE);
    double s = tri_log(1 - tri_rng_unit(&rng)) / tri_log(1 - m->set->node_loss);

    return tri_heap_push(&m->heap,
                         (tri_heap_entry){.time_s = m->now_s + s,
                                          .kind = TRI_HAPPENS_NODE_DOWN,
                                          .slot = host,
                                          .stamp = round});
}

tri_status tri_cluster_expect_nodes(tri_cluster *m)
{
    int hosts = (m->workers - 1) / m->set->host_ranks + 1;

    /* what was expected in an earlier opening still is */
    for (int i = 0; m->set->node_loss > 0 && m->epoch == 1 && i < hosts; i++) {
        TRI_TRY(expect_node(m, i, 0));
    }
    return TRI_OK;
}

static tri_status tell_ranks(tri_cluster *m, int host, int state)
{
    int first = host * m->set->host_ranks + 1;

    for (int rank = first;
         rank < first + m->set->host_ranks && rank <= m->workers && !m->ended;
         rank++) {
        tri_event e = {.kind = TRI_EV_POOL};
        char name[32];

        snprintf(name, sizeof name, "v%04d", host);
        e.u.pool = (tri_ev_pool){.rank = rank,
                                 .state = state,
                                 .host = name,
                                 .cores = m->set->host_ranks,
                                 .device = "",
                                 .binding = "",
                                 .cpus = ""};
        TRI_TRY(tri_cluster_feed(m, &e));
    }
    return TRI_OK;
}

static int runs_on(const tri_cluster *m, const tri_slot *s, int host)
{
    for (int i = 0; s->state != TRI_SLOT_FREE && i < s->n_ranks; i++) {
        if (host_of(m, s->ranks[i]) == host) {
            return 1;
        }
    }
    return 0;
}

static tri_status go_down(tri_cluster *m, const tri_heap_entry *e)
{
    int host = e->slot;

    m->idle = m->slots.n_free == m->slots.n ? m->idle + 1 : 0;
    TRI_TRY(tell_ranks(m, host, TRI_RANK_DOWN));
    for (int i = 0; i < m->slots.n && !m->ended; i++) {
        if (runs_on(m, &m->slots.list[i], host)) {
            TRI_TRY(tri_cluster_lose(m, i, TRI_REASON_NODE_LOST));
        }
    }
    if (isinf(m->set->node_down_s)) {
        return TRI_OK;
    }
    return tri_heap_push(
            &m->heap, (tri_heap_entry){.time_s = m->now_s + m->set->node_down_s,
                                       .kind = TRI_HAPPENS_NODE_UP,
                                       .slot = host,
                                       .stamp = e->stamp});
}

static tri_status come_up(tri_cluster *m, const tri_heap_entry *e)
{
    TRI_TRY(tell_ranks(m, e->slot, TRI_RANK_UP));
    return expect_node(m, e->slot, e->stamp + 1);
}

tri_status tri_cluster_fire_node(tri_cluster *m, const tri_heap_entry *e)
{
    return e->kind == TRI_HAPPENS_NODE_DOWN ? go_down(m, e) : come_up(m, e);
}
