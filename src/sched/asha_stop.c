/*
 * Asynchronous successive halving, stopping type: no run pauses.  At a rung's
 * end it goes on in place if its result is among the best max(1, floor(n/eta))
 * of the n results of the rung so far, its own counted; else it is stopped for
 * good, and its ranks are free.
 *
 * After the stopping rule of Ray Tune, Syne Tune, Optuna and Determined, which
 * differ in what they do with few results.  The floor is the paper's; the
 * minimum of one (Optuna's and Determined's: the best so far always goes on) is
 * needed here, since whoever is stopped never comes back: with floor alone the
 * first eta - 1 of every rung would be lost, and most small studies would end
 * with nothing at the top.  Its price is known: the first configuration runs
 * to the top whatever it is worth, and as results only become better, early
 * ones are judged too kindly.  Where ranks are few, asha, which pauses and
 * resumes, is the better choice.  Equal scores: the lower trial number is
 * better.  Syne Tune and Ray compare with a quantile instead: of five results
 * at eta 4 two are within theirs, one within the floor.
 *
 * The verdict is passed when the result arrives, and stands.  Where the run
 * cannot go on at once all the same (no time, a drain), its job is given out
 * before all others later, the highest rung first.  Without an upper bound the
 * first run would never end: one is needed.
 */
#include "src/sched/brackets.h"

static int64_t share_of_best(const tri_brackets *b, const tri_bracket *bracket,
                             int k, int may_create)
{
    int64_t share = tri_share_of_results(b, bracket, k, may_create);

    return share ? share : 1;
}

/* Only those that go on are eligible. */
static int64_t all_of_them(const tri_brackets *b, const tri_bracket *bracket,
                           int k, int may_create)
{
    (void)b;
    (void)may_create;
    return bracket->rungs[k].results;
}

static tri_status create(const tri_sched_settings *settings,
                         const tri_ladder *ladder, void **state)
{
    return tri_brackets_create(sizeof(tri_brackets), ladder, share_of_best,
                               settings->bracket, settings->brackets, state);
}

static void peek(void *state, int may_create, tri_job *out)
{
    tri_brackets *b = state;

    if (!tri_brackets_scan(b, all_of_them, may_create, out)) {
        *out = tri_brackets_new_by_share(b, may_create);
    }
}

static tri_status result(void *state, int64_t trial, int rung,
                         tri_result_kind kind, double score)
{
    tri_brackets *b = state;
    tri_bracket *bracket;
    tri_entry *e;
    uint32_t place;

    TRI_TRY(tri_brackets_result(state, trial, rung, kind, score));
    e = &b->entries[trial];
    bracket = &b->list[e->bracket];
    place = tri_standings_place(&b->nodes, bracket->rungs[rung].root, e->node);
    if (e->state == TRI_ENTRY_PAUSED &&
        (rung >= b->last || place >= share_of_best(b, bracket, rung, 1))) {
        tri_standings_set_eligible(&b->nodes, bracket->rungs[rung].root,
                                   e->node, 0);
        e->state = TRI_ENTRY_OUT;
    }
    return TRI_OK;
}

static int goes_on(void *state, int64_t trial, tri_job *out)
{
    const tri_brackets *b = state;
    const tri_entry *e = &b->entries[trial];

    if (e->state != TRI_ENTRY_PAUSED || e->parked) {
        return 0;
    }
    *out = tri_brackets_promotion(b, &b->list[e->bracket], e->rung, e->node);
    return 1;
}

static int is_over(const void *state, int64_t trial, int rung)
{
    const tri_brackets *b = state;

    (void)rung;
    return b->entries[trial].state == TRI_ENTRY_OUT;
}

const tri_sched_ops tri_sched_asha_stop = {
        .kind = TRI_SCHED_ASHA_STOP,
        .asks = TRI_NEEDS_MAX | TRI_TAKES_BRACKET | TRI_TAKES_BRACKETS,
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
        .was_promoted = tri_brackets_was_promoted,
        .goes_on = goes_on,
        .is_over = is_over};
