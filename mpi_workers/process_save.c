/*
 * Checkpoints of processes: the run's own directory, which the processes write
 * by their end, or say with a line that they have.
 */
#include "mpi_workers/process_internal.h"

#include "mpi_workers/pause.h"
#include "mpi_workers/tree.h"

#include <string.h>
#include <sys/wait.h>

/* Where saving stands, the same on every rank. */
typedef struct standing {
    int64_t said; /* the step of a checkpoint that a process calls complete */
    int64_t last; /* the last step heard of */
    int all_ended, ended_badly;
} standing;

int tri_process_saves(const tri_study *study)
{
    return study->model.u.process.resume;
}

/* One round: listen, and share what is known.  `over` is the leader's word. */
static tri_status look(tri_trial *t, int *over, standing *out)
{
    tri_vote vote;
    tri_child_end end = {0};

    memset(&vote, 0, sizeof vote);
    vote.word = *over;
    vote.all = tri_process_listen(t, &end);
    vote.any = vote.all && t->child && end.wait_status != 0;
    vote.max[0] = (uint64_t)t->saved_step;
    vote.max[1] = t->place.rank == t->reporter ? (uint64_t)t->news.step : 0;
    TRI_TRY(tri_group_vote(t->setup.comm, &vote, TRI_PATIENCE_S));
    *over = vote.word;
    out->last = (int64_t)vote.max[1];
    /* of steps that are still to be done there can be none */
    out->said = vote.max[0] <= vote.max[1] ? (int64_t)vote.max[0] : 0;
    out->all_ended = vote.all;
    out->ended_badly = vote.any;
    return TRI_OK;
}

tri_status tri_process_end(tri_trial *t)
{
    double end = tri_now() + t->setup.study->timeouts.grace_s;
    standing s = {0};
    int over = 0;

    if (t->child) {
        tri_child_term(t->child);
    }
    while (!s.all_ended && !over) {
        over = t->hurries || tri_now() > end;
        TRI_TRY(look(t, &over, &s));
    }
    tri_process_stop(t, 0);
    t->hurries = 0;
    return TRI_OK;
}

/* Whether the processes know of themselves when they are done. */
static int end_by_themselves(const tri_trial *t)
{
    return t->setup.target_step >= 0;
}

/* Wait for what is to be saved; *step: that of a complete checkpoint, or 0. */
static tri_status await(tri_trial *t, int drains, int64_t *step)
{
    double end = tri_now() + t->setup.study->timeouts.grace_s;
    standing s = {0};
    int over = 0;

    if (t->child && (drains || !end_by_themselves(t))) {
        tri_child_term(t->child);
    }
    do {
        over = tri_now() > end;
        TRI_TRY(look(t, &over, &s));
    } while (!s.all_ended && !s.ended_badly && !over &&
             !(s.said > 0 && s.said >= s.last));
    t->hurries = over && (drains || !end_by_themselves(t));
    *step = s.said > 0 ? s.said : s.all_ended && !s.ended_badly ? s.last : 0;
    return TRI_OK;
}

/* The leader looks at what was written. */
static tri_status weigh(const char *path, uint64_t *bytes)
{
    int64_t n;

    if (tri_tree_weigh(path, TRI_TREE_WEIGH_S, bytes, &n) != 0 || n == 0) {
        return TRI_FAIL(TRI_ENOTFOUND, "nothing was written into '%s'", path);
    }
    return TRI_OK;
}

tri_status tri_process_save(tri_trial *t, const char *path, int drains,
                            tri_saved *out)
{
    int64_t step;

    TRI_TRY(await(t, drains, &step));
    if (step <= t->setup.first_step) {
        return TRI_FAIL(TRI_ETRIAL,
                        "its processes did not end with status 0 within %.6g s "
                        "(timeouts.grace) nor say that they saved anything",
                        t->setup.study->timeouts.grace_s);
    }
    if (t->place.rank == 0) {
        TRI_TRY(weigh(path, &out->bytes));
    }
    out->step = step;
    return TRI_OK;
}

tri_status tri_process_restart(tri_trial *t, const tri_trial_setup *setup)
{
    TRI_TRY(tri_process_end(t));
    t->setup = *setup;
    t->tries = 0;
    return tri_process_start(t);
}
