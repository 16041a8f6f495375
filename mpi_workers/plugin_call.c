/*
 * Codes of a plugin as statuses.
 */
#include "mpi_workers/plugin_call.h"

#include "mpi_workers/plugin_crash.h"
#include "trireme/log.h"

#include <stdio.h>
#include <string.h>

static const struct {
    int code;
    tri_status status;
    tri_reason reason;
    const char *sentence; /* where the plugin says none */
} outcomes[] = {
        {TRIREME_TRIAL_FAILED, TRI_ETRIAL, TRI_REASON_BAD_EXIT,
         "it does not say why"},
        {TRIREME_TRIAL_INFEASIBLE, TRI_EINFEASIBLE, TRI_REASON_INFEASIBLE,
         "this configuration cannot be run"},
        {TRIREME_TRIAL_HOST_MEMORY, TRI_ETRIAL, TRI_REASON_OOM_HOST,
         "memory could not be had"},
        {TRIREME_TRIAL_DEVICE_MEMORY, TRI_ETRIAL, TRI_REASON_OOM_DEVICE,
         "memory of a device could not be had"},
        {TRIREME_TRIAL_OVER_QUOTA, TRI_EOOM, TRI_REASON_OOM,
         "it needs more memory than a rank may use"},
        {TRIREME_TRIAL_NAN, TRI_ENAN, TRI_REASON_NAN,
         "what it computes is not a number"},
        {TRIREME_TRIAL_DIVERGED, TRI_EDIVERGED, TRI_REASON_DIVERGED,
         "what it computes grows beyond bounds"},
        {TRIREME_TRIAL_COMMUNICATION, TRI_ECOMM, TRI_REASON_RENDEZVOUS,
         "a call of MPI failed"},
};

void tri_plugin_say(void *ctx, const char *sentence)
{
    tri_plugin_words *w = ctx;
    size_t n = 0;

    if (w->said[0]) {
        TRI_LOG(TRI_LOG_INFO, "the plugin: %s", w->said);
    }
    for (; sentence && sentence[n] && n + 1 < sizeof w->said; n++) {
        unsigned char c = (unsigned char)sentence[n];

        w->said[n] = (char)(c < 32 || c == 127 ? ' ' : c);
    }
    w->said[n] = 0;
}

static void use_up(tri_plugin_words *words)
{
    if (words->said[0]) {
        TRI_LOG(TRI_LOG_INFO, "the plugin: %s", words->said);
    }
    words->said[0] = 0;
}

tri_status tri_plugin_outcome(int code, const char *name, int rank,
                              tri_plugin_words *words, tri_reason *reason)
{
    char said[sizeof words->said];

    *reason = TRI_REASON_NONE;
    if (code == TRIREME_TRIAL_OK) {
        use_up(words);
        return TRI_OK;
    }
    snprintf(said, sizeof said, "%s", words->said);
    words->said[0] = 0;
    for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++) {
        if (outcomes[i].code == code) {
            *reason = outcomes[i].reason;
            return TRI_FAIL(outcomes[i].status,
                            "the plugin's %s failed on rank %d: %s", name, rank,
                            said[0] ? said : outcomes[i].sentence);
        }
    }
    *reason = TRI_REASON_BAD_EXIT;
    return TRI_FAIL(TRI_ETRIAL,
                    "the plugin's %s returned %d on rank %d, which is not "
                    "expected from it (see trireme/trial.h)%s%s",
                    name, code, rank, said[0] ? ": " : "", said);
}

/* ---- calls ------------------------------------------------------------- */

typedef struct call {
    tri_plugin_caller *c;
    const trireme_trial_setup *setup;
    int64_t step;
    trireme_trial_report_fn report;
    void *ctx;
    const char *path;
    int32_t together;
} call;

static int call_open(void *arg)
{
    const call *a = arg;

    return a->c->plugin.open(a->setup, &a->c->theirs);
}

static int call_run_until(void *arg)
{
    const call *a = arg;

    return a->c->plugin.run_until(a->c->theirs, a->step, a->report, a->ctx);
}

static int call_checkpoint(void *arg)
{
    const call *a = arg;

    return a->c->plugin.checkpoint(a->c->theirs, a->path);
}

static int call_close(void *arg)
{
    const call *a = arg;

    a->c->plugin.close(a->c->theirs, a->together);
    return TRIREME_TRIAL_OK;
}

static tri_status guard(int (*function)(void *arg), const char *name, call *arg,
                        int *code)
{
    int signo = tri_plugin_guarded(function, arg, code);

    if (signo == TRI_PLUGIN_EXITED) {
        return TRI_FAIL(TRI_EPEER, "the plugin called exit in %s on rank %d",
                        name, arg->c->rank);
    }
    if (signo != 0) {
        return TRI_FAIL(TRI_EPEER,
                        "the plugin crashed in %s on rank %d: signal %d (%s)",
                        name, arg->c->rank, signo, strsignal(signo));
    }
    return TRI_OK;
}

tri_status tri_plugin_call_open(tri_plugin_caller *c,
                                const trireme_trial_setup *setup,
                                tri_reason *reason)
{
    call arg = {.c = c, .setup = setup};
    int code = 0;

    *reason = TRI_REASON_NONE;
    TRI_TRY(guard(call_open, "open", &arg, &code));
    return tri_plugin_outcome(code, "open", c->rank, &c->words, reason);
}

tri_status tri_plugin_call_run_until(tri_plugin_caller *c, int64_t step,
                                     trireme_trial_report_fn report, void *ctx,
                                     int *ended, tri_reason *reason)
{
    call arg = {.c = c, .step = step, .report = report, .ctx = ctx};
    int code = 0;

    *ended = 0;
    *reason = TRI_REASON_NONE;
    TRI_TRY(guard(call_run_until, "run_until", &arg, &code));
    *ended = code == TRIREME_TRIAL_ENDED;
    return tri_plugin_outcome(*ended ? TRIREME_TRIAL_OK : code, "run_until",
                              c->rank, &c->words, reason);
}

tri_status tri_plugin_call_checkpoint(tri_plugin_caller *c, const char *path)
{
    call arg = {.c = c, .path = path};
    tri_reason reason;
    int code = 0;

    TRI_TRY(guard(call_checkpoint, "checkpoint", &arg, &code));
    return tri_plugin_outcome(code, "checkpoint", c->rank, &c->words, &reason);
}

tri_status tri_plugin_call_close(tri_plugin_caller *c, int together)
{
    call arg = {.c = c, .together = together};
    int code = 0;

    return guard(call_close, "close", &arg, &code);
}
