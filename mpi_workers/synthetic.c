/*
 * Trials without a training: the objective of a curve source, after a sleep
 * as long as the source says that the run takes.  For the kinds synthetic,
 * whose seconds are real, and table, whose seconds are virtual and last as
 * long as the study says.  One unit of resource is one step; the leader's
 * clock counts.
 */
#include "mpi_workers/trial_kind.h"

#include "mpi_workers/group.h"
#include "mpi_workers/pause.h"
#include "trireme/curve.h"
#include "trireme/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* Seconds a unit of resource where the study says none; of a table virtual
 * ones, as in a simulation. */
#define COST_S     0.01
#define VIRTUAL_S  1.0
#define SLICE_S    0.02
#define PATIENCE_S 60.0
/* How much later than asked for the system may wake a trial: its seconds are
 * all that it does. */
#define LATE_NS 1000ul

struct tri_trial {
    tri_curve *curve;
    const tri_config *config;
    int learned; /* the objective: what was done before counts */
    MPI_Comm comm;
    int rank;
    int64_t from, to; /* units of the run under way */
    int64_t at;       /* units told so far */
    tri_curve_point end;
    double second_s;   /* real ones that one of the source's lasts */
    double duration_s; /* of the run under way, real */
    double started_s, told_s;
};

static void begin(tri_trial *t, int64_t run, int64_t from, int64_t to)
{
    t->from = t->at = from;
    t->to = to;
    tri_curve_at(t->curve, t->config, run, from, to, &t->end);
    t->duration_s = t->end.duration_s * t->second_s;
    t->started_s = t->told_s = tri_now();
}

static tri_status synthetic_open(const tri_trial_setup *setup, tri_trial **out)
{
    const tri_model_spec *model = &setup->study->model;
    int is_table = model->kind == TRI_MODEL_TABLE;
    tri_trial *t = calloc(1, sizeof *t);
    tri_status st;

    if (!t) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a trial");
    }
    st = tri_curve_create(setup->study, is_table ? VIRTUAL_S : COST_S,
                          &t->curve);
    if (st != TRI_OK) {
        free(t);
        return st;
    }
    t->second_s = is_table ? model->u.table.second_s : 1.0;
    t->config = setup->config;
    t->learned = setup->study->objective.learned;
    t->comm = setup->comm;
    MPI_Comm_rank(t->comm, &t->rank);
    prctl(PR_SET_TIMERSLACK, LATE_NS);
    begin(t, setup->run, setup->first_step, setup->target_step);
    *out = t;
    return TRI_OK;
}

/* How far the clock says that the run is. */
static int64_t units_done(const tri_trial *t, double now)
{
    double share;

    if (t->end.final_failure || !(t->duration_s > 0) ||
        now >= t->started_s + t->duration_s) {
        return t->to;
    }
    share = (now - t->started_s) / t->duration_s;
    return t->from + (int64_t)(share * (double)(t->to - t->from));
}

static void sleep_slice(const tri_trial *t, double now)
{
    double left = t->started_s + t->duration_s - now;

    if (!t->end.final_failure && left > 0) {
        tri_sleep(left < SLICE_S ? left : SLICE_S);
    }
}

/* The leader's view of this moment. */
static void look(tri_trial *t, int word, tri_vote *vote)
{
    double now = tri_now();

    if (t->at < t->to) {
        sleep_slice(t, now);
        now = tri_now();
    }
    vote->word = word;
    vote->x[0] = (double)units_done(t, now);
    vote->x[1] = now - t->told_s;
    vote->has = 1;
    t->told_s = now;
}

static tri_status failure(const tri_trial *t)
{
    if (t->end.final_failure) {
        return TRI_FAIL(TRI_EINFEASIBLE, "the table says that this "
                                         "configuration failed");
    }
    if (t->end.failed) {
        return TRI_FAIL(TRI_ETRIAL, "a failure by the study's own rate");
    }
    return TRI_OK;
}

static tri_status synthetic_step(tri_trial *t, int word, tri_step *out)
{
    tri_vote vote;
    int64_t step;

    memset(&vote, 0, sizeof vote);
    if (t->rank == 0) {
        look(t, word, &vote);
    }
    TRI_TRY(tri_group_vote(t->comm, &vote, PATIENCE_S + t->duration_s));
    memset(out, 0, sizeof *out);
    step = (int64_t)vote.x[0];
    out->word = vote.word;
    out->step = step;
    out->loss = out->own = NAN;
    if (step > t->at) {
        out->completed = 1;
        out->step_s = vote.x[1] / (double)(step - t->at);
        out->loss = tri_curve_value(t->curve, t->config, step);
        out->own = out->loss;
    }
    if (step == t->to && t->at < t->to) {
        t->at = step;
        TRI_TRY(failure(t));
        out->loss = out->own = t->end.objective;
    }
    t->at = step;
    return TRI_OK;
}

/* All that there is to keep is the step, which the record has. */
static tri_status synthetic_save(tri_trial *t, const char *path, int drains,
                                 tri_saved *out)
{
    (void)t;
    (void)path;
    (void)drains;
    out->bytes = 0;
    return TRI_OK;
}

static void synthetic_retarget(tri_trial *t, int64_t run, int64_t resource,
                               int64_t target_step)
{
    (void)resource;
    begin(t, run, t->learned ? t->at : 0, target_step);
}

static void synthetic_close(tri_trial *t)
{
    if (t) {
        tri_curve_destroy(t->curve);
        free(t);
    }
}

const tri_trial_ops tri_trial_synthetic = {
        .name = "synthetic",
        .open = synthetic_open,
        .step = synthetic_step,
        .save = synthetic_save,
        .retarget = synthetic_retarget,
        .close = synthetic_close,
};
