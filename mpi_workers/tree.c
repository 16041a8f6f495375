/*
 * Trees by descriptors: what is opened is what was looked at.
 */
#include "mpi_workers/tree.h"

#include "mpi_workers/pause.h"
#include "mpi_workers/surroundings.h"
#include "trireme/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Files between two looks at the clock; a power of two. */
#define LOOK_FILES 64
/* How long it is busy without asking whether it is to stop. */
#define SLICE_S 0.2

int tri_tree_make_parents(const char *path)
{
    char at[4096];
    char *slash;

    if (strlen(path) >= sizeof at) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memccpy(at, path, 0, sizeof at);
    for (slash = strchr(at + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(at, 0777) != 0 && errno != EEXIST) {
            return -1;
        }
        *slash = '/';
    }
    return 0;
}

static int is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static DIR *open_directory(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    if (!d && fd >= 0) {
        close(fd);
    }
    return d;
}

/* ---- weighing ----------------------------------------------------------- */

typedef struct weight {
    uint64_t bytes;
    int64_t n;
    double until_s;
    int is_over; /* no time is left */
} weight;

static void add(weight *w, uint64_t bytes)
{
    w->n++;
    w->bytes += bytes;
    if (w->n % LOOK_FILES == 1) {
        w->is_over = tri_now() > w->until_s;
    }
}

static int weigh(int at, const char *name, int deep, weight *w)
{
    DIR *d = open_directory(at, name);
    const struct dirent *e;

    if (!d) {
        return -1;
    }
    while (!w->is_over && (e = readdir(d))) {
        struct stat s;

        if (is_dot(e->d_name) ||
            fstatat(dirfd(d), e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        if (S_ISDIR(s.st_mode)) {
            if (deep > 0) {
                weigh(dirfd(d), e->d_name, deep - 1, w);
            }
        } else {
            add(w, (uint64_t)s.st_size);
        }
    }
    closedir(d);
    return 0;
}

int tri_tree_weigh(const char *path, double limit_s, uint64_t *bytes,
                   int64_t *n)
{
    weight w = {.until_s = tri_now() + limit_s};

    if (weigh(AT_FDCWD, path, TRI_TREE_DEEP, &w) != 0) {
        return -1;
    }
    *bytes = w.bytes;
    *n = w.n;
    return 0;
}

/* ---- in the background -------------------------------------------------- */

typedef struct task {
    struct task *next;
    char path[]; /* flexible */
} task;

struct tri_remover {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t news;
    task *first, **last;
    int n_left;     /* tasks, the one that is at work too */
    int is_running; /* the thread was started */
    int closes;     /* no more tasks will come */
    int hurries;    /* leave the rest */
};

static int is_hurried(tri_remover *r)
{
    int hurries;

    pthread_mutex_lock(&r->lock);
    hurries = r->hurries;
    pthread_mutex_unlock(&r->lock);
    return hurries;
}

/* The next task; NULL at the end. */
static task *take(tri_remover *r)
{
    task *t;

    pthread_mutex_lock(&r->lock);
    while (!r->first && !r->closes) {
        pthread_cond_wait(&r->news, &r->lock);
    }
    t = r->hurries ? NULL : r->first;
    if (t) {
        r->first = t->next;
        r->last = r->first ? r->last : &r->first;
    }
    pthread_mutex_unlock(&r->lock);
    return t;
}

static void note_done(tri_remover *r)
{
    pthread_mutex_lock(&r->lock);
    r->n_left--;
    pthread_mutex_unlock(&r->lock);
}

static void *work(void *ctx)
{
    tri_remover *r = ctx;
    task *t;

    while ((t = take(r))) {
        tri_status st;

        do {
            st = tri_remove_tree(t->path, SLICE_S);
        } while (st == TRI_ETIMEOUT && !is_hurried(r));
        if (st != TRI_OK) {
            TRI_LOG(TRI_LOG_WARN, "%s", tri_error_last()->sentence);
        }
        free(t);
        note_done(r);
    }
    return NULL;
}

tri_status tri_remover_create(tri_remover **out)
{
    tri_remover *r = calloc(1, sizeof *r);

    if (!r) {
        return TRI_FAIL(TRI_ENOMEM, "no memory for a remover");
    }
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->news, NULL);
    r->last = &r->first;
    *out = r;
    return TRI_OK;
}

/* Signals are the main thread's. */
static int start(tri_remover *r)
{
    sigset_t all;
    sigset_t before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&r->thread, NULL, work, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0;
}

static int is_gone(const char *path)
{
    size_t bytes = strlen(path);
    size_t end = sizeof TRI_GONE - 1;

    return bytes > end && strcmp(path + bytes - end, TRI_GONE) == 0;
}

/* A task for `path` under its last name; NULL where there is nothing. */
static task *make_task(const char *path)
{
    size_t bytes = strlen(path) + sizeof TRI_GONE;
    task *t = malloc(sizeof *t + bytes);

    if (!t) {
        return NULL; /* found by whoever sweeps */
    }
    t->next = NULL;
    snprintf(t->path, bytes, "%s%s", path, is_gone(path) ? "" : TRI_GONE);
    if (rename(path, t->path) != 0) {
        if (errno == ENOENT) {
            free(t);
            return NULL;
        }
        snprintf(t->path, bytes, "%s", path);
    }
    return t;
}

void tri_remover_add(tri_remover *r, const char *path)
{
    task *t = make_task(path);

    if (!t) {
        return;
    }
    pthread_mutex_lock(&r->lock);
    r->is_running = r->is_running || start(r);
    *r->last = t;
    r->last = &t->next;
    r->n_left++;
    pthread_cond_signal(&r->news);
    pthread_mutex_unlock(&r->lock);
}

int tri_remover_is_idle(tri_remover *r)
{
    int n;

    pthread_mutex_lock(&r->lock);
    n = r->n_left;
    pthread_mutex_unlock(&r->lock);
    return n == 0;
}

static struct timespec after(double s)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    s += 1e-9 * (double)t.tv_nsec;
    t.tv_sec += (time_t)s;
    t.tv_nsec = (long)((s - (double)(time_t)s) * 1e9);
    return t;
}

/* A thread that is stuck in the file system is left to the process's end. */
static int join(tri_remover *r, double limit_s)
{
    struct timespec end = after(limit_s);

    if (!r->is_running) {
        return 1;
    }
    if (pthread_timedjoin_np(r->thread, NULL, &end) == 0) {
        return 1;
    }
    pthread_mutex_lock(&r->lock);
    r->hurries = 1;
    pthread_mutex_unlock(&r->lock);
    end = after(limit_s > 0 ? 2 * SLICE_S : 0.02);
    return pthread_timedjoin_np(r->thread, NULL, &end) == 0;
}

void tri_remover_destroy(tri_remover *r, double limit_s)
{
    if (!r) {
        return;
    }
    pthread_mutex_lock(&r->lock);
    r->closes = 1;
    pthread_cond_signal(&r->news);
    pthread_mutex_unlock(&r->lock);
    if (!join(r, limit_s)) {
        pthread_detach(r->thread);
        return;
    }
    while (r->first) {
        task *t = r->first;

        TRI_LOG(TRI_LOG_WARN, "'%s' is left: there was no time to remove it",
                t->path);
        r->first = t->next;
        free(t);
    }
    pthread_cond_destroy(&r->news);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
