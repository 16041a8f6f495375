/*
 * Calls of code that may crash: the rank outlives it long enough to say so.
 *
 * After a crash this process may be damaged anywhere.  All that it should do
 * from then on is to tell and to stay idle: its rank is to be struck.
 */
#ifndef TRI_MPI_WORKERS_PLUGIN_CRASH_H
#define TRI_MPI_WORKERS_PLUGIN_CRASH_H

#define TRI_PLUGIN_EXITED (-1)

/*
 * Call call(ctx).  Returns 0, [out] *code what it returned; or the signal that
 * it crashed with (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT), and then a
 * backtrace was written to standard error; or TRI_PLUGIN_EXITED, where it
 * called exit.  A crash in another thread than the caller's ends the process as
 * ever.  Not for nested calls; one thread.
 */
int tri_plugin_guarded(int (*call)(void *ctx), void *ctx, int *code);

/* Whether a call in this process has crashed. */
int tri_plugin_has_crashed(void);

#endif
