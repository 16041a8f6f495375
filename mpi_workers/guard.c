/*
 * The program trireme-guard (guard.h).  One thread, no allocation, no handler:
 * signals come as reads of a descriptor, so that each is seen in one loop with
 * the control socket.
 */
#include "mpi_workers/guard.h"

#include "mpi_workers/orphans.h"
#include "mpi_workers/sweeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A killed process that does not go is stuck in the system. */
#define STUCK_MS 10000
/* Between two looks at killed ones, where their ends go unnoticed. */
#define LOOK_MS       10
#define MOST_CHILDREN 256
/* What shells end with. */
#define NOT_FOUND   127
#define NOT_ALLOWED 126

typedef struct guard {
    const char *folder; /* NULL: where it is */
    char **argv;        /* of the command */
    int by_hand;        /* not by a worker: it speaks on standard error */
    int control;        /* -1: by hand, or the worker is gone */
    int signals;        /* descriptor */
    int refusal;        /* why it cannot be run, or the end of file */
    sigset_t before;    /* signals blocked at the start */
    pid_t parent, command;
    int64_t limit_ms; /* KILL then; 0: nobody wants its end */
    int killed, ended;
    tri_guard_word last; /* to be said at the end */
} guard;

typedef struct refusal {
    int32_t kind, error;
} refusal;

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void say(const guard *g, const tri_guard_word *word)
{
    if (g->control >= 0) {
        send(g->control, word, sizeof *word, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

/* ---- start -------------------------------------------------------------- */

/* Before the command is there, so that none of its own is missed. */
static int prepare(guard *g)
{
    sigset_t ours;

    g->parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    /* another than the tuner's, so that a `pkill trireme` leaves it to do its
     * work */
    prctl(PR_SET_NAME, "tri-guard", 0, 0, 0);
    sigemptyset(&ours);
    sigaddset(&ours, SIGCHLD);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGHUP);
    sigaddset(&ours, SIGQUIT);
    sigaddset(&ours, SIGUSR1);
    sigaddset(&ours, SIGUSR2);
    sigprocmask(SIG_BLOCK, &ours, &g->before);
    g->signals = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
    return g->signals >= 0 ? 0 : -1;
}

/* In the child: become the command, or say why not. */
static void become(const guard *g, pid_t parent, int out)
{
    refusal why = {TRI_GUARD_NO_COMMAND, 0};

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    setpgid(0, 0);
    if (getppid() != parent) {
        return;
    }
    if (g->folder && chdir(g->folder) != 0) {
        why.kind = TRI_GUARD_NO_FOLDER;
    } else {
        sigprocmask(SIG_SETMASK, &g->before, NULL);
        execvp(g->argv[0], g->argv);
    }
    why.error = errno;
    while (write(out, &why, sizeof why) < 0 && errno == EINTR) {
    }
}

/* 1 in the guard, 0 in a child that could not become the command, -1 where
 * there is none. */
static int start(guard *g)
{
    pid_t self = getpid();
    int pair[2];

    if (pipe2(pair, O_CLOEXEC) != 0) {
        return -1;
    }
    g->command = fork();
    if (g->command == 0) {
        become(g, self, pair[1]);
        return 0;
    }
    close(pair[1]);
    g->refusal = pair[0];
    if (g->command > 0) {
        setpgid(g->command, g->command);
    }
    return g->command > 0 ? 1 : -1;
}

/* A `pkill -f` by the tuner's name or the trainer's is to leave the guard of a
 * worker to do its work: its command line has neither, once the command runs
 * (of which the child has its own copy). */
static void hide_arguments(guard *g, int argc, char **argv)
{
    static const char name[] = "tri-guard";
    char *end = argv[argc - 1] + strlen(argv[argc - 1]);
    size_t room = (size_t)(end - argv[0]);

    if (g->by_hand || room < sizeof name) {
        return;
    }
    memset(argv[0], 0, room);
    memcpy(argv[0], name, sizeof name);
    g->folder = NULL;
    g->argv = NULL;
}

/* The command's descriptors are not held open: their readers see its end. */
static void let_go_of_output(const guard *g)
{
    if (!g->by_hand) {
        dup2(0, 1);
        dup2(0, 2);
        close(3);
    }
}

/* ---- signals and words -------------------------------------------------- */

static void signal_group(const guard *g, int signo)
{
    kill(-g->command, signo);
    if (signo == SIGTERM || signo == SIGHUP || signo == SIGINT) {
        kill(-g->command, SIGCONT); /* a stopped one could not act on it */
    }
}

/* One round of KILL; how many children there were. */
static int kill_children(void)
{
    pid_t pids[MOST_CHILDREN];
    int n = tri_orphans_children(pids, MOST_CHILDREN);

    for (int i = 0; i < n; i++) {
        kill(pids[i], SIGKILL);
    }
    return n;
}

static void end_now(guard *g)
{
    kill(-g->command, SIGKILL);
    kill_children();
    if (!g->killed) {
        g->killed = 1;
        g->limit_ms = now_ms() + STUCK_MS;
    }
}

/* Whoever started us is gone. */
static void end_soon(guard *g)
{
    if (g->limit_ms == 0) {
        signal_group(g, SIGTERM);
        g->limit_ms = now_ms() + TRI_GUARD_GRACE_MS;
    }
}

/* The command's end is seen and it is not reaped: the number of its group
 * stays taken.  Adopted ones that end meanwhile are reaped. */
static void look_at_children(guard *g)
{
    siginfo_t info;

    for (;;) {
        memset(&info, 0, sizeof info);
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid == 0) {
            return;
        }
        if (info.si_pid == g->command) {
            g->ended = 1;
            return;
        }
        waitpid(info.si_pid, NULL, WNOHANG);
    }
}

static void take_signals(guard *g)
{
    struct signalfd_siginfo info;

    while (read(g->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD) {
            continue;
        }
        if (getppid() != g->parent) {
            end_soon(g);
        } else {
            signal_group(g, (int)info.ssi_signo);
        }
    }
    look_at_children(g);
}

static void take_word(guard *g)
{
    unsigned char signo = 0;
    ssize_t n = recv(g->control, &signo, 1, MSG_DONTWAIT);

    if (n == 1 && signo == SIGKILL) {
        end_now(g);
    } else if (n == 1) {
        signal_group(g, signo);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(g->control);
        g->control = -1;
        end_soon(g);
    }
}

/* Either it runs now, or there is a reason why it does not. */
static void take_refusal(guard *g)
{
    refusal why;
    ssize_t n = read(g->refusal, &why, sizeof why);
    tri_guard_word word = {TRI_GUARD_STARTED, g->command, 0};

    if (n < 0 && errno == EINTR) {
        return;
    }
    if (n == (ssize_t)sizeof why) {
        g->last = (tri_guard_word){why.kind, why.error, 0};
        if (g->by_hand) {
            fprintf(stderr, TRI_GUARD_NAME ": '%s' cannot be %s: %s\n",
                    why.kind == TRI_GUARD_NO_FOLDER ? g->folder : g->argv[0],
                    why.kind == TRI_GUARD_NO_FOLDER ? "entered" : "run",
                    strerror(why.error));
        }
    } else {
        say(g, &word);
    }
    close(g->refusal);
    g->refusal = -1;
    let_go_of_output(g);
}

static int patience_ms(const guard *g)
{
    int64_t left = g->limit_ms - now_ms();

    if (g->limit_ms == 0) {
        return -1;
    }
    return left < 0 ? 0 : (int)left + 1;
}

static void watch(guard *g)
{
    while (!g->ended) {
        struct pollfd fds[] = {{g->signals, POLLIN, 0},
                               {g->control, POLLIN, 0},
                               {g->refusal, POLLIN, 0}};

        poll(fds, 3, patience_ms(g));
        if (fds[2].revents) {
            take_refusal(g);
        }
        if (fds[1].revents) {
            take_word(g);
        }
        if (fds[0].revents) {
            take_signals(g);
        }
        if (g->limit_ms > 0 && now_ms() >= g->limit_ms) {
            if (g->killed) {
                return; /* stuck */
            }
            end_now(g);
        }
    }
    if (g->refusal >= 0) {
        take_refusal(g);
    }
}

/* ---- end ---------------------------------------------------------------- */

/* Kill and reap whoever is left, until there is nobody. */
static void clear(void)
{
    static const struct timespec look = {0, LOOK_MS * 1000000L};
    int64_t limit = now_ms() + STUCK_MS;
    sigset_t ends;
    pid_t pid;

    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    while (now_ms() < limit) {
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        }
        if (pid < 0) {
            return;
        }
        kill_children();
        sigtimedwait(&ends, NULL, &look);
    }
}

static void finish(guard *g)
{
    struct rusage used;
    int status = SIGKILL; /* of one that is stuck */

    kill(-g->command, SIGKILL); /* whoever it left behind */
    if (g->ended && wait4(g->command, &status, 0, &used) == g->command &&
        g->last.kind == 0) {
        g->last.rss = (uint64_t)used.ru_maxrss << 10;
    }
    clear();
    if (g->last.kind == 0) {
        g->last.kind = TRI_GUARD_ENDED;
        g->last.value = status;
    }
    say(g, &g->last);
}

/* End as the command did; a core of ours would tell nothing. */
static int end_alike(const guard *g)
{
    static const struct rlimit none = {0, 0};
    int signo;
    sigset_t set;

    if (g->last.kind != TRI_GUARD_ENDED) {
        return g->last.value == ENOENT ? NOT_FOUND : NOT_ALLOWED;
    }
    if (WIFEXITED(g->last.value)) {
        return WEXITSTATUS(g->last.value);
    }
    signo = WTERMSIG(g->last.value);
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    signal(signo, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, signo);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    kill(getpid(), signo);
    return 128 + signo;
}

/* ---- options ------------------------------------------------------------ */

/* 0: ready; else what to end with, plus 1. */
static int read_options(guard *g, int argc, char **argv)
{
    int at = 1;

    for (; at < argc && argv[at][0] == '-'; at += 2) {
        if (strcmp(argv[at], "--help") == 0) {
            fputs(TRI_GUARD_HELP, stdout);
            return 1;
        }
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (at + 1 < argc && strcmp(argv[at], "--chdir") == 0) {
            g->folder = argv[at + 1];
        } else if (at + 1 < argc && strcmp(argv[at], "--control") == 0) {
            g->control = (int)strtol(argv[at + 1], NULL, 10);
            g->by_hand = 0;
            fcntl(g->control, F_SETFD, FD_CLOEXEC);
        } else {
            fprintf(stderr,
                    TRI_GUARD_NAME ": unknown option '%s', or it lacks its "
                                   "value; see trireme guard --help\n",
                    argv[at]);
            return 2;
        }
    }
    if (at >= argc) {
        fputs(TRI_GUARD_NAME ": a command is missing; see trireme guard "
                             "--help\n",
              stderr);
        return 2;
    }
    g->argv = argv + at;
    return 0;
}

int main(int argc, char **argv)
{
    guard g = {.by_hand = 1, .control = -1, .signals = -1, .refusal = -1};
    int status;

    if (argc == 3 && strcmp(argv[1], "--sweep") == 0) {
        return tri_sweep((int)strtol(argv[2], NULL, 10));
    }
    status = read_options(&g, argc, argv);
    if (status != 0) {
        return status - 1;
    }
    status = prepare(&g) == 0 ? start(&g) : -1;
    if (status < 0) {
        g.last = (tri_guard_word){TRI_GUARD_NO_COMMAND, errno, 0};
        say(&g, &g.last);
        fprintf(stderr, TRI_GUARD_NAME ": no process can be started: %s\n",
                strerror(errno));
        return NOT_ALLOWED;
    }
    if (status == 0) {
        return NOT_FOUND; /* a child that did not become the command */
    }
    hide_arguments(&g, argc, argv);
    watch(&g);
    finish(&g);
    return end_alike(&g);
}
