/*
 * Codes of a plugin as statuses.
 */
#include "mpi_workers/plugin_call.h"

#include "trireme/log.h"
#include "trireme/trial.h"

#include <stdio.h>

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
