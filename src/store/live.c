/*
 * The store thread and its one bounded batch; see the header.
 */
#include "src/store/live.h"

#include "trireme/log.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* More than this waiting: the disk does not keep up. */
#define LIMIT_BYTES ((size_t)64 << 20)
/* Rows are collected at least so long. */
#define PAUSE_NS 100000000L

struct tri_live {
    tri_h5file *file;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake; /* rows are there, where the thread is idle, or stop */
    pthread_cond_t halt; /* stop, in the middle of a pause */
    tri_batch waiting;   /* under the lock */
    tri_batch writing;   /* the thread's */
    int stop, discard, behind;
    int idle; /* the thread waits for a first row; later ones it collects */
};

/* ---- the thread ------------------------------------------------------- */

static int is_empty(const tri_batch *b)
{
    return tri_batch_bytes(b) == 0;
}

/* Take what is waiting.  Returns 0 when there is nothing more to do. */
static int take(tri_live *l)
{
    tri_batch empty;
    int more;

    pthread_mutex_lock(&l->lock);
    while (!l->stop && is_empty(&l->waiting)) {
        l->idle = 1;
        pthread_cond_wait(&l->wake, &l->lock);
    }
    l->idle = 0;
    empty = l->writing;
    l->writing = l->waiting;
    l->waiting = empty;
    more = !l->discard && !is_empty(&l->writing);
    pthread_mutex_unlock(&l->lock);
    return more;
}

static void fall_behind(tri_live *l, const char *why)
{
    if (!l->behind) {
        TRI_LOG(TRI_LOG_WARN,
                "live tables fall behind, the journal does not: "
                "%s",
                why);
    }
    l->behind = 1;
}

static void write_batch(tri_live *l)
{
    tri_status st = tri_h5file_write(l->file, &l->writing);

    if (st == TRI_OK) {
        st = tri_h5file_flush(l->file);
    }
    if (st != TRI_OK) {
        pthread_mutex_lock(&l->lock);
        fall_behind(l, tri_error_last()->sentence);
        pthread_mutex_unlock(&l->lock);
    }
    tri_batch_clear(&l->writing);
}

/* Let rows collect, unless it is time to stop. */
static void pause_a_little(tri_live *l)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PAUSE_NS;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec += 1;
    }
    pthread_mutex_lock(&l->lock);
    while (!l->stop &&
           pthread_cond_timedwait(&l->halt, &l->lock, &until) != ETIMEDOUT) {
    }
    pthread_mutex_unlock(&l->lock);
}

static void *work(void *arg)
{
    tri_live *l = arg;

    while (take(l)) {
        write_batch(l);
        pause_a_little(l);
    }
    return NULL;
}

/* ---- the loop's side -------------------------------------------------- */

/* The program's signals are the main thread's. */
static int start_thread(tri_live *l)
{
    sigset_t all, before;
    int result;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    result = pthread_create(&l->thread, NULL, work, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

static void init_conditions(tri_live *l)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&l->wake, &attr);
    pthread_cond_init(&l->halt, &attr);
    pthread_condattr_destroy(&attr);
}

static void free_live(tri_live *l)
{
    tri_batch_fini(&l->waiting);
    tri_batch_fini(&l->writing);
    pthread_cond_destroy(&l->wake);
    pthread_cond_destroy(&l->halt);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

tri_status tri_live_start(tri_h5file *file, tri_live **out)
{
    tri_live *l = calloc(1, sizeof *l);

    if (!l) {
        tri_h5file_close(file);
        return TRI_FAIL(TRI_ENOMEM, "no memory for the store thread");
    }
    l->file = file;
    tri_batch_init(&l->waiting);
    tri_batch_init(&l->writing);
    pthread_mutex_init(&l->lock, NULL);
    init_conditions(l);
    if (start_thread(l) != 0) {
        tri_h5file_close(file);
        free_live(l);
        return TRI_FAIL(TRI_EIO, "the store thread cannot be started");
    }
    *out = l;
    return TRI_OK;
}

tri_batch *tri_live_begin(tri_live *l)
{
    pthread_mutex_lock(&l->lock);
    if (tri_batch_bytes(&l->waiting) > LIMIT_BYTES) {
        fall_behind(l, "more rows are waiting than memory should hold");
    }
    if (l->behind) {
        pthread_mutex_unlock(&l->lock);
        return NULL;
    }
    return &l->waiting;
}

void tri_live_end(tri_live *l)
{
    if (l->idle) {
        l->idle = 0;
        pthread_cond_signal(&l->wake);
    }
    pthread_mutex_unlock(&l->lock);
}

void tri_live_stop(tri_live *l, int discard)
{
    if (!l) {
        return;
    }
    pthread_mutex_lock(&l->lock);
    l->stop = 1;
    l->discard = discard;
    pthread_cond_signal(&l->wake);
    pthread_cond_signal(&l->halt);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    if (tri_h5file_close(l->file) != TRI_OK) {
        TRI_LOG(TRI_LOG_WARN, "%s", tri_error_last()->sentence);
    }
    free_live(l);
}
