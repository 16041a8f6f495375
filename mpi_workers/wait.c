/*
 * Waiting by look and pause.  Knows nothing of what is waited for.
 */
#include "mpi_workers/wait.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A longer time between two looks: this process itself stood still, and its
 * peers perhaps with it. */
#define GAP_S 1.0
/* So long the core is given away without sleep: what is waited for is mostly
 * a step of the peer's own work. */
#define EAGER_S 5e-3
/* Then between two looks of a wait in the midst of a step; one that has lasted
 * LONG_S is no such any more. */
#define NAP_S  5e-5
#define LONG_S 0.5
/* Between two calls of the attendant, and two looks at a process. */
#define ATTEND_S   2e-3
#define CHECK_S    0.05
#define LAST_LOOKS 16

volatile sig_atomic_t tri_wait_abandoned;

static struct {
    int (*attend)(void *ctx);
    void *ctx;
    double limit_s;
    int silent;
    const pid_t *pids;
    int n_pids;
} all = {.limit_s = TRI_NO_DEADLINE, .silent = -1};

void tri_wait_attend(int (*attend)(void *ctx), void *ctx)
{
    all.attend = attend;
    all.ctx = ctx;
    all.silent = -1;
    all.limit_s = TRI_NO_DEADLINE;
}

void tri_wait_look(void)
{
    if (all.attend) {
        all.attend(all.ctx);
    }
}

void tri_wait_limit(double s)
{
    all.limit_s = s;
}

void tri_wait_know(const pid_t *pids, int n)
{
    all.pids = pids;
    all.n_pids = pids ? n : 0;
}

int tri_wait_has_ended(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd at = {.fd = fd, .events = POLLIN};
    int ended;

    if (fd < 0) { /* gone, or a system that has no such call */
        return errno == ESRCH || (kill(pid, 0) != 0 && errno == ESRCH);
    }
    ended = poll(&at, 1, 0) > 0;
    close(fd);
    return ended;
}

int tri_wait_silent(void)
{
    return all.silent;
}

static int world_rank(MPI_Comm comm, int rank)
{
    MPI_Group members;
    MPI_Group world;
    int found = MPI_UNDEFINED;

    MPI_Comm_group(comm, &members);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(members, 1, &rank, world, &found);
    MPI_Group_free(&world);
    MPI_Group_free(&members);
    return found == MPI_UNDEFINED ? -1 : found;
}

void tri_wait_blame(MPI_Comm comm, int rank)
{
    if (all.silent < 0) {
        all.silent = world_rank(comm, rank);
    }
}

/* ---- one wait ----------------------------------------------------------- */

void tri_wait_begin(tri_wait *w, MPI_Comm comm, int rank, double deadline_s)
{
    double now = tri_now();

    *w = (tri_wait){.comm = comm,
                    .rank = rank,
                    .end_s = deadline_s < now + all.limit_s ? deadline_s
                                                            : now + all.limit_s,
                    .started_s = now,
                    .last_s = now,
                    .attend_s = now + ATTEND_S,
                    .check_s = now + CHECK_S};
}

void tri_wait_for(tri_wait *w, int rank)
{
    if (w->rank != rank) {
        w->rank = rank;
        w->pid = w->gone = 0;
    }
}

/* Whether the process that is waited for has ended; looked at now and then.
 * What it had sent before may take some looks more to come. */
static int is_gone(tri_wait *w, double now)
{
    if (w->gone > 0) {
        return ++w->gone > LAST_LOOKS;
    }
    if (now < w->check_s || w->rank < 0 || w->pid < 0) {
        return 0;
    }
    w->check_s = now + CHECK_S;
    if (w->pid == 0) {
        int at = all.n_pids ? world_rank(w->comm, w->rank) : -1;

        w->pid = at >= 0 && at < all.n_pids && all.pids[at] > 0 ? all.pids[at]
                                                                : -1;
    }
    w->gone = w->pid > 0 && tri_wait_has_ended(w->pid);
    return 0;
}

static void rest(tri_wait *w, double now)
{
    double waited = now - w->started_s;

    if (w->sleeps || waited > LONG_S) {
        tri_pause_sleep(&w->pause);
    } else if (waited > EAGER_S) {
        tri_sleep(NAP_S);
    } else {
        sched_yield();
    }
}

/* MPI does its part only while it is called. */
static void progress(void)
{
    int found;

    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found,
               MPI_STATUS_IGNORE);
}

tri_status tri_wait_pause(tri_wait *w)
{
    double now = tri_now();

    if (now - w->last_s > GAP_S) {
        w->end_s += now - w->last_s;
    }
    w->last_s = now;
    if (++w->looks % 8 == 0 || w->sleeps) {
        progress();
    }
    if (tri_wait_abandoned || now > w->end_s) {
        return TRI_ETIMEOUT;
    }
    if (now >= w->attend_s || w->sleeps) {
        w->attend_s = now + ATTEND_S;
        if (all.attend && all.attend(all.ctx)) {
            return TRI_ETIMEOUT;
        }
    }
    if (is_gone(w, now)) {
        return TRI_EPEER;
    }
    rest(w, now);
    return TRI_OK;
}

tri_status tri_wait_until(MPI_Request *request, MPI_Comm comm, int rank,
                          double deadline_s)
{
    int done = *request == MPI_REQUEST_NULL;
    tri_status st = TRI_OK;
    tri_wait w;

    if (!done) {
        tri_wait_begin(&w, comm, rank, deadline_s);
    }
    while (!done) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            return TRI_FAIL(TRI_ECOMM, "a message of the group failed");
        }
        if (done) {
            break;
        }
        st = tri_wait_pause(&w);
        if (st != TRI_OK) {
            if (rank >= 0) {
                tri_wait_blame(comm, rank);
            }
            return TRI_FAIL(st, "a message of the group did not come in time");
        }
    }
    return TRI_OK;
}
