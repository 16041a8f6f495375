/*
 * Going on in place: the ranks of a run that has finished take up its trial's
 * next rung as another run, without forming anew.
 */
#include "src/ctl/state.h"

static int all_up(const tri_ctl *ctl, const tri_run_view *v)
{
    for (int i = 0; i < v->n_ranks; i++) {
        const tri_rank_row *r = tri_ctl_rank_row(ctl, v->ranks[i]);

        if (!r || r->state != TRI_RANK_UP) {
            return 0;
        }
    }
    return 1;
}

static tri_status may_go_on(tri_ctl *ctl, const tri_live *live, tri_job *job,
                            int *may)
{
    const tri_run_view *v = &ctl->runs[live->run].v;
    tri_going going = tri_sched_goes_on(ctl->sched, v->trial,
                                        tri_ctl_may_create(ctl), job);
    double s = tri_ctl_foresee(ctl, v->trial,
                               (double)(job->resource - v->resource), 1);
    double head_start;

    *may = going != TRI_GOES_NOT && !live->stopped && tri_ctl_may_search(ctl) &&
           (going == TRI_GOES_ON || ctl->queue.n == ctl->queue_at) &&
           all_up(ctl, v) && tri_ctl_time_allows(ctl, s);
    if (*may && going == TRI_GOES_NEXT && ctl->head >= 0) {
        TRI_TRY(tri_ctl_head_start(ctl, live, &head_start));
        *may = tri_ctl_may_pass(ctl, s, head_start);
    }
    return TRI_OK;
}

/* A process cannot go on in place: it ends, saves itself where it can, and
 * another one starts. */
static double first_limit(const tri_ctl *ctl, const tri_live *live)
{
    return ctl->study->model.kind == TRI_MODEL_PROCESS
                   ? ctl->study->timeouts.startup_s + tri_ctl_answer_s(ctl)
                   : tri_ctl_progress_limit(ctl, live);
}

tri_status tri_ctl_go_on(tri_ctl *ctl, tri_live *live, int *went)
{
    int64_t old = live->run, run, trial;
    const tri_run_view *v = &ctl->runs[old].v; /* until a run is added */
    const int32_t *ranks = v->ranks;
    const int n_ranks = v->n_ranks, attempt = v->attempt;
    const int64_t reached = v->resource;
    double slowest = live->slowest_s;
    tri_command c = {.kind = TRI_CMD_VERDICT};
    tri_job job;

    TRI_TRY(may_go_on(ctl, live, &job, went));
    if (!*went) {
        return TRI_OK;
    }
    TRI_TRY(tri_ctl_take(ctl, &job, &trial));
    TRI_TRY(tri_ctl_add_run(ctl, trial, job.rung, job.resource, ranks, n_ranks,
                            &run));
    TRI_TRY(tri_ctl_end_run(ctl, tri_ctl_live(ctl, old, attempt),
                            TRI_RUN_FINISHED, TRI_REASON_NONE, 0));
    ctl->search_runs++;
    ctl->runs[run].v.state = TRI_RUN_RUNNING;
    live = tri_ctl_live(ctl, run, 0);
    live->in_place = 1;
    live->first_s = ctl->now;
    live->slowest_s = slowest;
    live->length = (double)(job.resource - reached);
    tri_ctl_set_limit(ctl, live, first_limit(ctl, live));
    TRI_TRY(tri_ctl_set_place(ctl, trial, TRI_PLACE_FLYING));
    c.u.verdict =
            (tri_cmd_verdict){.run = old,
                              .attempt = attempt,
                              .verdict = TRI_VERDICT_CONTINUE,
                              .save = (uint8_t)tri_ctl_saves(ctl, job.rung),
                              .next_run = run,
                              .next_rung = job.rung,
                              .resource = job.resource,
                              .rank = ranks[0]};
    return tri_ctl_emit(ctl, &c);
}
