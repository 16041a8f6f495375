/*
 * Handlers of the signals of a crash, for as long as a plugin is called.
 */
#include "mpi_workers/plugin_crash.h"

#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#define DEPTH 64

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

enum {
    N_SIGNALS = sizeof signals / sizeof signals[0]
};

static sigjmp_buf back;
static pthread_t caller;
static struct sigaction before[N_SIGNALS];
static volatile sig_atomic_t has_crashed;
static volatile sig_atomic_t is_armed;
/* A crash may be for want of stack. */
static char stack[1 << 16];

static void restore(void)
{
    is_armed = 0;
    for (int i = 0; i < N_SIGNALS; i++) {
        sigaction(signals[i], &before[i], NULL);
    }
}

static void on_crash(int signo)
{
    void *frames[DEPTH];

    if (!pthread_equal(pthread_self(), caller)) {
        restore(); /* the instruction is tried again, and nobody is here */
        raise(signo);
        return;
    }
    backtrace_symbols_fd(frames, backtrace(frames, DEPTH), 2);
    siglongjmp(back, signo);
}

/* exit() was called; what is registered before this is not run. */
static void on_exit_called(void)
{
    if (is_armed && pthread_equal(pthread_self(), caller)) {
        siglongjmp(back, TRI_PLUGIN_EXITED);
    }
}

static void arm(void)
{
    static int is_registered;
    struct sigaction action = {.sa_handler = on_crash,
                               .sa_flags = SA_ONSTACK | SA_NODEFER};
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    void *frame;

    backtrace(&frame, 1); /* loads what it needs, while it may */
    sigaltstack(&other, NULL);
    sigemptyset(&action.sa_mask);
    caller = pthread_self();
    if (!is_registered) {
        is_registered = atexit(on_exit_called) == 0;
    }
    is_armed = 1;
    for (int i = 0; i < N_SIGNALS; i++) {
        sigaction(signals[i], &action, &before[i]);
    }
}

int tri_plugin_guarded(int (*call)(void *ctx), void *ctx, int *code)
{
    int signo;

    arm();
    signo = sigsetjmp(back, 1);
    if (signo == 0) {
        *code = call(ctx);
    }
    restore();
    has_crashed = has_crashed || signo != 0;
    return signo;
}

int tri_plugin_has_crashed(void)
{
    return has_crashed;
}
