/*
 * MPI_Init and what belongs around it: malloc settings, signals, a world that
 * is whole, and the end.
 */
#include "src/app/mpi_start.h"

#include "mpi_workers/child.h"
#include "mpi_workers/watchdog.h"
#include "src/app/app.h"
#include "trireme/log.h"
#include "trireme/net.h"

#include <mpi.h>

#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Fresh pages are dear, and Open MPI allocates the temporaries of reductions
 * by malloc: keep freed memory instead of giving it back each time. */
static void tune_malloc(void)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, 16 << 20);
}

/* What a rank that is stuck in MPI ends with: rank 0 has its own status where
 * its study is closed. */
static int stuck_status = TRI_EXIT_DONE;

static int (*tells)(int status);

void tri_app_mpi_tells(int (*tell)(int status))
{
    tells = tell;
}

static _Noreturn void leave(int status)
{
    _exit(tells ? tells(status) : status);
}

/* From the watchdog's thread, while MPI holds the main one. */
static void on_stuck(void)
{
    tri_child_kill_all();
    TRI_LOG(TRI_LOG_ERROR, "stuck in MPI beside a rank that is gone: leaving");
    leave(stuck_status);
}

/* All ranks have to come for MPI_Init to return.  Slow file systems make many
 * ranks late, so it is long; TRIREME_INIT_S says another. */
#define INIT_S 300.0

static double limit_s = INIT_S;

static void read_limit(void)
{
    const char *text = getenv("TRIREME_INIT_S");
    char *end;
    double s;

    if (!text || !*text) {
        return;
    }
    s = strtod(text, &end);
    if (!*end && s > 0 && s < 1e6) {
        limit_s = s;
    } else if (tri_app_launch_rank() < 1) {
        TRI_LOG(TRI_LOG_WARN,
                "TRIREME_INIT_S is \"%.40s\", expected seconds; it is not used",
                text);
    }
}

/* Before MPI_Init has returned.  Once or twice: rank 0 may be the one. */
static void on_no_start(void)
{
    if (tri_app_launch_rank() < 2) {
        TRI_LOG(TRI_LOG_ERROR,
                "MPI_Init was not done within %.0f s: a rank of this job has "
                "died or cannot be reached; leaving",
                limit_s);
    }
    leave(TRI_EXIT_FAULT);
}

/* MPI_Init beside a rank that dies in it never returns. */
static tri_status init(void)
{
    int provided = 0;
    double before;
    int rc;

    TRI_TRY(tri_watchdog_open(on_no_start));
    read_limit();
    before = tri_watchdog_begin(limit_s);
    rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    tri_watchdog_end(before);
    tri_watchdog_close();
    if (rc != MPI_SUCCESS || provided < MPI_THREAD_FUNNELED) {
        return TRI_FAIL(TRI_ECOMM, "MPI cannot be started with threads");
    }
    return TRI_OK;
}

/* Open MPI ends a process that srun started without PMIx, with a page on how
 * Open MPI is built.  Once for all tasks. */
static tri_status started_with_pmi(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                        "PMI_RANK", "PMI_FD"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (getenv(names[i])) {
            return TRI_OK;
        }
    }
    if (!getenv("SLURM_STEP_ID") || !getenv("SLURM_PROCID")) {
        return TRI_OK;
    }
    if (tri_app_launch_rank() > 0) {
        tri_app_errors(0, 1);
    }
    return TRI_FAIL(TRI_EINVAL,
                    "srun started this without PMIx, so its tasks cannot find "
                    "each other: use `srun --mpi=pmix`, or mpirun inside "
                    "sbatch or salloc");
}

tri_status tri_app_mpi_open(int *rank, int *size)
{
    TRI_TRY(started_with_pmi());
    tune_malloc();
    TRI_TRY(init());
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    stuck_status = *rank > 0 ? TRI_EXIT_DONE : TRI_EXIT_FAULT;
    return tri_watchdog_open(on_stuck);
}

/* As soon as one rank is gone without MPI_Finalize, launchers kill the rest:
 * rank 0 gets the time to close its files. */
#define LAST_S 0.3
/* MPI_Finalize waits for all ranks, those that have died included. */
#define FINALIZE_S 30.0

static void wait_for_leader(void)
{
    struct timespec pause = {0, (long)(LAST_S * 1e9)};

    while (nanosleep(&pause, &pause) != 0) {
    }
}

int tri_app_mpi_close(int status, int must_exit)
{
    double before;
    int rank = 0;

    fflush(stdout);
    fflush(stderr);
    if (must_exit) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank > 0) {
            wait_for_leader();
        }
        _exit(status);
    }
    stuck_status = status;
    before = tri_watchdog_begin(FINALIZE_S);
    MPI_Finalize();
    tri_watchdog_end(before);
    return status;
}

/* ---- one world ------------------------------------------------------- */

static int env_int(const char *name)
{
    const char *text = getenv(name);

    return text ? (int)strtol(text, NULL, 10) : 0;
}

tri_status tri_app_mpi_one_world(int size)
{
    static const struct {
        const char *name, *launcher;
    } launchers[] = {{"OMPI_COMM_WORLD_SIZE", "mpirun"},
                     {"PMI_SIZE", "another MPI's mpirun"},
                     {"SLURM_NTASKS", "Slurm"}};

    for (size_t i = 0; size == 1 && i < sizeof launchers / sizeof *launchers;
         i++) {
        int started = env_int(launchers[i].name);

        if (started == 1) { /* mpirun -n 1 inside a larger allocation */
            break;
        }
        if (started > 1) {
            return TRI_FAIL(TRI_EINVAL,
                            "%s started %d tasks but each is a world of its "
                            "own: use `srun --mpi=pmix` or the mpirun of the "
                            "MPI that trireme was built with",
                            launchers[i].launcher, started);
        }
    }
    return TRI_OK;
}

/* ---- signals --------------------------------------------------------- */

/* Launchers deliver one signal twice: to the job, and once more when mpirun
 * ends its children, which on a busy machine comes late. */
#define SAME_SIGNAL_S 1.0

static volatile sig_atomic_t second_status;
static volatile sig_atomic_t ending;
static struct timespec first_end;

static double since_first_end(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - first_end.tv_sec) +
           1e-9 * (double)(now.tv_nsec - first_end.tv_nsec);
}

static void on_signal(int signo)
{
    if (signo == SIGINT || signo == SIGTERM) {
        if (ending && since_first_end() > SAME_SIGNAL_S) {
            _exit(second_status);
        }
        if (!ending) {
            clock_gettime(CLOCK_MONOTONIC, &first_end);
            ending = 1;
        }
    }
    tri_net_signal(signo);
}

/* The drain signal that comes while the program is loaded, which takes a while
 * on a busy machine, must not end a rank: before any library's own start it is
 * kept for tri_app_mpi_signals; to other commands it means nothing.  A
 * sanitizer is not yet there at that time. */
static volatile sig_atomic_t is_early;

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
static void on_early_signal(int signo)
{
    (void)signo;
    is_early = 1;
}

static void wait_for_signals(void)
{
    struct sigaction action = {.sa_handler = on_early_signal,
                               .sa_flags = SA_RESTART};

    sigaction(SIGUSR1, &action, NULL);
}

__attribute__((section(".preinit_array"),
               used)) static void (*const before_all)(void) = wait_for_signals;
#endif

/* A write beyond the limit of a file's size then fails with EFBIG.  Not
 * SIG_IGN, which children would inherit. */
static void on_file_size(int signo)
{
    (void)signo;
}

void tri_app_mpi_signals(int status)
{
    static const int signals[] = {SIGUSR1, SIGINT, SIGTERM};
    struct sigaction action;

    second_status = status;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], &action, NULL);
    }
    action.sa_handler = on_file_size;
    sigaction(SIGXFSZ, &action, NULL);
    if (is_early) {
        tri_net_signal(SIGUSR1);
    }
}
