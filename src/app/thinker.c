/*
 * Questions in one thread.
 */
#include "src/app/thinker.h"

#include "trireme/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef TRI_HAVE_SEARCH

#include <cblas.h>

/* One thread, as tune has it: sums in another order round otherwise. */
static tri_status create(tri_app_thinker *t, const tri_warm_records *warm,
                         int n)
{
    if (!getenv("OPENBLAS_NUM_THREADS")) {
        openblas_set_num_threads(1);
    }
    return tri_thinker_create(t->study, t->seed, warm, n, &t->thinker);
}

int tri_app_may_think(const tri_study *study)
{
    return tri_study_thinks(study);
}

tri_status tri_app_think(void *ctx, const tri_snapshot *snapshot,
                         tri_ev_proposals *out)
{
    tri_app_thinker *t = ctx;

    if (snapshot->number == 1) {
        tri_app_thinker_fini(t);
    }
    if (!t->thinker) {
        TRI_TRY(create(t, t->warm, t->n_warm));
    }
    TRI_TRY(tri_thinker_answer(t->thinker, snapshot, NULL, out));
    tri_app_searched_note(&t->searched, out);
    if (!t->quiet && tri_thinker_news(t->thinker)) {
        TRI_LOG_JOB(TRI_LOG_INFO, "%s", tri_thinker_news(t->thinker));
    }
    return TRI_OK;
}

void tri_app_thinker_fini(tri_app_thinker *t)
{
    tri_thinker_destroy(t->thinker);
    t->thinker = NULL;
}

/* ---- thinking again ----------------------------------------------------- */

typedef struct refit {
    tri_app_thinker thinker;
    int64_t number; /* of the question that was thought about, 0: none */
    tri_ev_proposals again;
    tri_app_refit out;
    double *then, *now; /* predictions of what is proposed again, owned */
    int n, room;
} refit;

/* An opening starts with a thinker that has heard nothing but warm rows. */
static void begin(refit *r, const tri_ev_open *ev)
{
    tri_app_thinker_fini(&r->thinker);
    r->number = 0;
    r->thinker.seed = ev->seed;
}

static tri_status wake(refit *r, const tri_ctl *ctl)
{
    tri_warm_records *warm;
    tri_status st;
    int n;

    if (r->thinker.thinker) {
        return TRI_OK;
    }
    TRI_TRY(tri_ctl_warm_records(ctl, &warm, &n));
    r->thinker.study = tri_ctl_study(ctl);
    st = create(&r->thinker, warm, n);
    tri_warm_records_destroy(warm, n);
    return st;
}

static tri_status ask(refit *r, const tri_cmd_think *c, const tri_ctl *ctl)
{
    tri_snapshot *s;
    tri_status st;

    TRI_TRY(wake(r, ctl));
    TRI_TRY(tri_ctl_snapshot(ctl, c->snapshot, c->wanted, &s));
    st = tri_thinker_answer(r->thinker.thinker, s, NULL, &r->again);
    tri_snapshot_destroy(s);
    r->number = c->snapshot;
    return st;
}

static const tri_proposal *find(const tri_ev_proposals *in, const char *config)
{
    for (int i = 0; i < in->n_list; i++) {
        if (strcmp(in->list[i].config, config) == 0) {
            return &in->list[i];
        }
    }
    return NULL;
}

static tri_status note(refit *r, double then, double now)
{
    if (r->n == r->room) {
        int room = 2 * r->room + 64;
        double *a = realloc(r->then, (size_t)room * sizeof *a);
        double *b;

        r->then = a ? a : r->then;
        b = realloc(r->now, (size_t)room * sizeof *b);
        r->now = b ? b : r->now;
        if (!a || !b) {
            return TRI_FAIL(TRI_ENOMEM, "no memory to compare proposals");
        }
        r->room = room;
    }
    r->then[r->n] = then;
    r->now[r->n++] = now;
    return TRI_OK;
}

/* What is recorded of the answer, beside what is thought now. */
static tri_status compare(refit *r, const tri_ev_proposals *recorded)
{
    if (recorded->snapshot != r->number) {
        return TRI_OK;
    }
    r->out.questions++;
    r->out.proposals += recorded->n_list;
    for (int i = 0; i < recorded->n_list; i++) {
        const tri_proposal *p = find(&r->again, recorded->list[i].config);

        r->out.same += p != NULL;
        if (p && isfinite(p->predicted) &&
            isfinite(recorded->list[i].predicted)) {
            TRI_TRY(note(r, recorded->list[i].predicted, p->predicted));
        }
    }
    return TRI_OK;
}

/* Over all answers; NaN of fewer than two.  Where all are as they were, that is
 * the same order, even if all are equal. */
static double agreement(const refit *r)
{
    int same = 1;

    for (int i = 0; i < r->n; i++) {
        same &= r->then[i] == r->now[i];
    }
    return r->n < 2 ? NAN : same ? 1 : tri_kendall_tau(r->then, r->now, r->n);
}

static tri_status each(void *ctx, const tri_event *event,
                       const tri_commands *commands, const tri_entry *entry,
                       tri_ctl *ctl)
{
    refit *r = ctx;

    (void)entry;
    if (event->kind == TRI_EV_OPEN) {
        begin(r, &event->u.open);
    } else if (event->kind == TRI_EV_PROPOSALS) {
        TRI_TRY(compare(r, &event->u.proposals));
    }
    for (int i = 0; i < commands->n; i++) {
        if (commands->list[i].kind == TRI_CMD_THINK) {
            TRI_TRY(ask(r, &commands->list[i].u.think, ctl));
        }
    }
    return TRI_OK;
}

tri_status tri_app_refit_history(const tri_history *h, tri_replay *replay,
                                 tri_app_refit *out)
{
    refit r = {.number = 0};
    tri_ctl *ctl = NULL;
    tri_status st = tri_history_replay_each(h, each, &r, &ctl, replay);

    tri_app_thinker_fini(&r.thinker);
    tri_ctl_destroy(ctl);
    if (st == TRI_OK) {
        r.out.tau = agreement(&r);
        *out = r.out;
    }
    free(r.then);
    free(r.now);
    return st;
}

#else

int tri_app_may_think(const tri_study *study)
{
    (void)study;
    return 0;
}

tri_status tri_app_think(void *ctx, const tri_snapshot *snapshot,
                         tri_ev_proposals *out)
{
    (void)ctx;
    (void)snapshot;
    (void)out;
    return TRI_FAIL(TRI_EUNBUILT, "this trireme was built without a thinker");
}

void tri_app_thinker_fini(tri_app_thinker *t)
{
    (void)t;
}

tri_status tri_app_refit_history(const tri_history *h, tri_replay *replay,
                                 tri_app_refit *out)
{
    (void)h;
    (void)replay;
    (void)out;
    return TRI_FAIL(TRI_EUNBUILT, "this trireme was built without a thinker");
}

#endif
