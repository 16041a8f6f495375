/*
 * One thread and one deadline.  Knows neither what is watched nor what
 * happens then.
 */
#include "mpi_workers/watchdog.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

/* Later than this after the deadline: the process itself was stopped, and gets
 * so much more to go on. */
#define LATE_S 1.0
#define MORE_S 5.0

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    void (*on_stuck)(void); /* NULL: no thread */
    double deadline;        /* monotonic; INFINITY: nothing is watched */
    double wakes;           /* when the thread looks next */
    int closing;
} dog = {.lock = PTHREAD_MUTEX_INITIALIZER,
         .deadline = INFINITY,
         .wakes = INFINITY};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Sleep until the deadline as it is now, or a word; the lock is held. */
static void doze(void)
{
    struct timespec t;

    dog.wakes = dog.deadline;
    if (isinf(dog.wakes)) {
        pthread_cond_wait(&dog.changed, &dog.lock);
        return;
    }
    t.tv_sec = (time_t)dog.wakes;
    t.tv_nsec = (long)((dog.wakes - (double)t.tv_sec) * 1e9);
    pthread_cond_timedwait(&dog.changed, &dog.lock, &t);
}

static void *watch(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&dog.lock);
    while (!dog.closing) {
        double late = now() - dog.deadline;

        if (late > LATE_S) {
            dog.deadline = now() + MORE_S;
        }
        if (late < 0 || late > LATE_S) {
            doze();
            continue;
        }
        dog.deadline = INFINITY;
        pthread_mutex_unlock(&dog.lock);
        dog.on_stuck();
        pthread_mutex_lock(&dog.lock);
    }
    pthread_mutex_unlock(&dog.lock);
    return NULL;
}

/* Signals are for the thread that calls MPI: start with all of them blocked. */
static int start(void)
{
    sigset_t all;
    sigset_t before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&dog.thread, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

tri_status tri_watchdog_open(void (*on_stuck)(void))
{
    pthread_condattr_t attr;

    if (dog.on_stuck) {
        return TRI_FAIL(TRI_EEXIST, "a watchdog runs already");
    }
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&dog.changed, &attr);
    pthread_condattr_destroy(&attr);
    dog.closing = 0;
    dog.deadline = INFINITY;
    dog.on_stuck = on_stuck;
    if (start() != 0) {
        dog.on_stuck = NULL;
        pthread_cond_destroy(&dog.changed);
        return TRI_FAIL(TRI_ENOMEM, "no thread for a watchdog");
    }
    return TRI_OK;
}

void tri_watchdog_close(void)
{
    if (!dog.on_stuck) {
        return;
    }
    pthread_mutex_lock(&dog.lock);
    dog.closing = 1;
    pthread_cond_signal(&dog.changed);
    pthread_mutex_unlock(&dog.lock);
    pthread_join(dog.thread, NULL);
    pthread_cond_destroy(&dog.changed);
    dog.on_stuck = NULL;
}

double tri_watchdog_begin(double limit_s)
{
    double deadline = now() + limit_s;
    double before;

    if (!dog.on_stuck) {
        return INFINITY;
    }
    pthread_mutex_lock(&dog.lock);
    before = dog.deadline;
    if (deadline < before) {
        dog.deadline = deadline;
    }
    if (dog.deadline < dog.wakes) { /* else it looks in time by itself */
        dog.wakes = dog.deadline;
        pthread_cond_signal(&dog.changed);
    }
    pthread_mutex_unlock(&dog.lock);
    return before;
}

void tri_watchdog_end(double before)
{
    if (!dog.on_stuck) {
        return;
    }
    pthread_mutex_lock(&dog.lock);
    dog.deadline = before;
    pthread_mutex_unlock(&dog.lock);
}
