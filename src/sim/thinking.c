/*
 * The thinker of the virtual cluster: someone else's function, which is asked
 * with a snapshot of the moment and heard at once or after the virtual time
 * that thinking takes.  Knows nothing of how it thinks.
 */
#include "src/sim/cluster.h"

tri_status tri_cluster_ask(tri_cluster *m, const tri_cmd_think *c)
{
    tri_cluster_forget_question(m);
    TRI_TRY(tri_ctl_snapshot(m->ctl, c->snapshot, c->wanted, &m->question));
    if (m->set->think_s > 0) {
        tri_heap_entry e = {.time_s = m->now_s + m->set->think_s,
                            .kind = TRI_HAPPENS_ANSWER,
                            .stamp = (uint32_t)c->snapshot};

        return tri_heap_push(&m->heap, e);
    }
    return TRI_OK;
}

void tri_cluster_forget_question(tri_cluster *m)
{
    tri_snapshot_destroy(m->question);
    m->question = NULL;
}

static tri_status answer(tri_cluster *m)
{
    tri_event e = {.kind = TRI_EV_PROPOSALS};
    tri_status st =
            m->set->think(m->set->think_ctx, m->question, &e.u.proposals);

    tri_cluster_forget_question(m);
    return st == TRI_OK ? tri_cluster_feed(m, &e) : st;
}

tri_status tri_cluster_fire_answer(tri_cluster *m, const tri_heap_entry *e)
{
    return m->question && (uint32_t)m->question->number == e->stamp ? answer(m)
                                                                    : TRI_OK;
}

tri_status tri_cluster_answer_at_once(tri_cluster *m)
{
    tri_status st = TRI_OK;

    if (m->answers || m->set->think_s > 0) {
        return TRI_OK;
    }
    m->answers = 1; /* a question that this causes has its turn here */
    while (st == TRI_OK && m->question) {
        st = answer(m);
    }
    m->answers = 0;
    return st;
}
