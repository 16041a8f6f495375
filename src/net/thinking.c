/*
 * A thread, a mutex, a condition, and who has the ball.
 */
#include "src/net/thinking.h"

#include "mpi_workers/pause.h"
#include "trireme/ctl.h"
#include "trireme/log.h"

#include <cblas.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Behind whoever trains on the same core, but not without a share of it. */
#define NICE 10

struct tri_thinking {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    tri_cancel cancel; /* read in the midst of thinking */
    int ends, ended;
    tri_snapshot *question; /* asked, not yet answered */
    int answered;           /* the answer is there, not yet taken */
    tri_status status;      /* of the answer */
    char sentence[256];     /* why it is none */
    int said;               /* that was logged */
    char news[700];         /* of how it was made, not yet logged; or empty */
    tri_ev_proposals answer;
    tri_bell *bell; /* rung with an answer, unless it ends; or NULL */
    /* of the thread alone */
    const tri_study *study;
    uint64_t seed;
    tri_warm_records *warm;
    int n_warm;
    tri_thinker *thinker;
};

/* ---- the thread ---- */

static tri_status think(tri_thinking *t, tri_ev_proposals *out)
{
    if (!t->thinker) {
        TRI_TRY(tri_thinker_create(t->study, t->seed, t->warm, t->n_warm,
                                   &t->thinker));
    }
    return tri_thinker_answer(t->thinker, t->question, &t->cancel, out);
}

static void answer(tri_thinking *t)
{
    tri_ev_proposals out = {.model = "none", .hyper = "", .tau = NAN};
    double began = tri_now();
    tri_status st = think(t, &out);

    out.snapshot = t->question->number;
    out.fit_s = tri_now() - began;
    pthread_mutex_lock(&t->lock);
    t->answer = out;
    t->status = st;
    if (st == TRI_OK && tri_thinker_news(t->thinker)) {
        snprintf(t->news, sizeof t->news, "%s", tri_thinker_news(t->thinker));
    }
    if (st != TRI_OK) {
        memcpy(t->sentence, tri_error_last()->sentence, sizeof t->sentence);
        t->sentence[sizeof t->sentence - 1] = 0;
        t->answer = (tri_ev_proposals){.snapshot = out.snapshot,
                                       .model = "none",
                                       .hyper = t->sentence,
                                       .tau = NAN,
                                       .fit_s = out.fit_s};
    }
    tri_snapshot_destroy(t->question);
    t->question = NULL;
    t->answered = 1;
    if (!t->ends) {
        tri_bell_ring(t->bell, 0);
    }
    pthread_mutex_unlock(&t->lock);
}

static void *work(void *ctx)
{
    tri_thinking *t = ctx;
    int ends;

    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
    do {
        pthread_mutex_lock(&t->lock);
        while (!t->ends && !t->question) {
            pthread_cond_wait(&t->turn, &t->lock);
        }
        ends = t->ends;
        pthread_mutex_unlock(&t->lock);
        if (!ends) {
            answer(t);
        }
    } while (!ends);
    pthread_mutex_lock(&t->lock);
    t->ended = 1;
    pthread_cond_broadcast(&t->turn);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* ---- the loop's side ---- */

/* Signals are for the loop; the cores are for those who train. */
static int start_thread(tri_thinking *t)
{
    sigset_t all, before;
    int error;

    if (!getenv("OPENBLAS_NUM_THREADS")) {
        openblas_set_num_threads(1);
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&t->thread, NULL, work, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        pthread_setname_np(t->thread, "thinker");
    }
    return error;
}

static void init_turns(tri_thinking *t)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&t->turn, &attr);
    pthread_condattr_destroy(&attr);
}

static void destroy(tri_thinking *t)
{
    pthread_cond_destroy(&t->turn);
    pthread_mutex_destroy(&t->lock);
    tri_thinker_destroy(t->thinker);
    tri_snapshot_destroy(t->question);
    tri_warm_records_destroy(t->warm, t->n_warm);
    free(t);
}

tri_status tri_thinking_start(const tri_study *study, uint64_t seed,
                              tri_warm_records *warm, int n_warm,
                              tri_thinking **out)
{
    tri_thinking *t = calloc(1, sizeof *t);
    int error;

    if (!t) {
        tri_warm_records_destroy(warm, n_warm);
        return TRI_FAIL(TRI_ENOMEM, "no memory for a thinker");
    }
    t->study = study;
    t->seed = seed;
    t->warm = warm;
    t->n_warm = n_warm;
    init_turns(t);
    error = start_thread(t);
    if (error != 0) {
        destroy(t);
        return TRI_FAIL(TRI_EINTERNAL, "no thread to think in: %s",
                        strerror(error));
    }
    *out = t;
    return TRI_OK;
}

void tri_thinking_rings(tri_thinking *t, tri_bell *bell)
{
    pthread_mutex_lock(&t->lock);
    t->bell = bell;
    pthread_mutex_unlock(&t->lock);
}

void tri_thinking_ask(tri_thinking *t, tri_snapshot *question)
{
    pthread_mutex_lock(&t->lock);
    tri_snapshot_destroy(t->question); /* there is none */
    t->question = question;
    t->answered = 0;
    pthread_cond_broadcast(&t->turn);
    pthread_mutex_unlock(&t->lock);
}

int tri_thinking_take(tri_thinking *t, tri_ev_proposals *out)
{
    int is_there;

    if (!t) {
        return 0;
    }
    pthread_mutex_lock(&t->lock);
    is_there = t->answered;
    t->answered = 0;
    if (is_there) {
        *out = t->answer;
    }
    pthread_mutex_unlock(&t->lock);
    if (is_there && t->news[0]) {
        TRI_LOG_JOB(TRI_LOG_INFO, "%s", t->news);
        t->news[0] = 0;
    }
    if (is_there && t->status != TRI_OK && !t->said) {
        t->said = 1;
        TRI_LOG_JOB(TRI_LOG_WARN,
                    "thinking failed, the search goes on quasi-random: %s",
                    t->sentence);
    }
    return is_there;
}

static struct timespec moment(double s)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    s += (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    t.tv_sec = (time_t)s;
    t.tv_nsec = (long)((s - (double)t.tv_sec) * 1e9);
    return t;
}

int tri_thinking_stop(tri_thinking *t, double limit_s)
{
    struct timespec limit = moment(limit_s);
    int error = 0;
    int ended;

    if (!t) {
        return 1;
    }
    pthread_mutex_lock(&t->lock);
    tri_cancel_ask(&t->cancel);
    t->ends = 1;
    pthread_cond_broadcast(&t->turn);
    while (!t->ended && error == 0) {
        error = pthread_cond_timedwait(&t->turn, &t->lock, &limit);
    }
    ended = t->ended;
    pthread_mutex_unlock(&t->lock);
    if (!ended) {
        pthread_detach(t->thread);
        return 0;
    }
    pthread_join(t->thread, NULL);
    destroy(t);
    return 1;
}
