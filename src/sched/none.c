/*
 * No scheduling: every configuration runs once, at the top of the ladder at
 * once (at its foot where it has no top), and nothing is promoted.
 */
#include "src/sched/brackets.h"

static int64_t no_share(const tri_brackets *b, const tri_bracket *bracket,
                        int k, int may_create)
{
    (void)b;
    (void)bracket;
    (void)k;
    (void)may_create;
    return 0;
}

static tri_status create(const tri_sched_settings *settings,
                         const tri_ladder *ladder, void **state)
{
    (void)settings;
    return tri_brackets_create(sizeof(tri_brackets), ladder, no_share,
                               ladder->bounded ? ladder->n - 1 : 0, 1, state);
}

static void peek(void *state, int may_create, tri_job *out)
{
    *out = tri_brackets_new_by_share(state, may_create);
}

static int is_over(const void *state, int64_t trial, int rung)
{
    (void)state;
    (void)trial;
    (void)rung;
    return 1;
}

const tri_sched_ops tri_sched_none = {.kind = TRI_SCHED_NONE,
                                      .create = create,
                                      .destroy = tri_brackets_destroy,
                                      .peek = peek,
                                      .take = tri_brackets_take,
                                      .result = tri_brackets_result,
                                      .drop = tri_brackets_drop,
                                      .park = tri_brackets_park,
                                      .is_idle = tri_brackets_is_idle,
                                      .rungs = tri_brackets_rungs,
                                      .ranking = tri_brackets_ranking,
                                      .was_promoted = tri_brackets_was_promoted,
                                      .is_over = is_over};
