/*
 * Names of the record in words.
 */
#include "src/app/explain.h"

#include <string.h>

const char *tri_explain_rule(const char *rule)
{
    static const char *const words[][2] = {
            {"ei", "the largest expected improvement over the best believed, "
                   "times the chance to run"},
            {"ucb", "the best upper bound of what is believed, times the "
                    "chance to run"},
            {"thompson", "the best in one draw of what is believed, times the "
                         "chance to run"},
            {"spread", "the farthest from all that was tried, since there is "
                       "no model yet"},
            {"evolution", "a changed copy of one of the best of the latest "
                          "(regularised evolution)"},
            {"reinforce", "drawn from a policy that was trained against the "
                          "predictor, by acquisition"},
            {"random", "drawn at random: there was no model yet, or so that "
                       "it can be surprised"},
            {"warm", "the best by what earlier studies say"},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i][0], rule) == 0) {
            return words[i][1];
        }
    }
    return rule;
}

const char *tri_explain_reason(tri_reason reason)
{
    static const char *const words[TRI_REASON_COUNT] = {
            [TRI_REASON_DIVERGED] = "the objective grew beyond bounds; it "
                                    "counts as a result, ranked last",
            [TRI_REASON_NAN] = "what it measured is not a number; it counts "
                               "as a result, ranked last",
            [TRI_REASON_OOM] = "it would need more memory than its quota; "
                               "final",
            [TRI_REASON_INFEASIBLE] = "it cannot be run, or misses a "
                                      "condition; final",
            [TRI_REASON_IMPORT_ERROR] = "a program or library that it needs "
                                        "is missing; final",
            [TRI_REASON_OOM_DEVICE] = "a device ran out of memory, twice",
            [TRI_REASON_OOM_HOST] = "the host ran out of memory, twice",
            [TRI_REASON_BAD_EXIT] = "it ended with an error, twice",
            [TRI_REASON_RENDEZVOUS] = "its ranks did not find each other, "
                                      "twice",
            [TRI_REASON_HUNG] = "it made no progress within its time, twice",
            [TRI_REASON_KILLED] = "its ranks vanished twice without another "
                                  "cause: it is to blame",
            [TRI_REASON_RANK_LOST] = "a rank of it was lost",
            [TRI_REASON_NODE_LOST] = "a node of it was lost",
            [TRI_REASON_JOB_LOST] = "the job ended under it",
            [TRI_REASON_LATE_VERDICT] = "the verdict came too late",
            [TRI_REASON_DRAINED] = "the job drained",
            [TRI_REASON_BUDGET] = "the budget was used up"};

    return words[reason] ? words[reason] : "";
}

int64_t tri_explain_cut(const tri_study *study, int64_t n)
{
    int64_t share = n / study->resource.eta;

    switch (study->scheduler.kind) {
    case TRI_SCHED_ASHA_STOP: /* the best so far always goes on */
        return share > 0 || n == 0 ? share : 1;
    case TRI_SCHED_ASHA:
    case TRI_SCHED_ASYNC_HYPERBAND:
    case TRI_SCHED_PASHA:
        return share;
    default:
        return -1;
    }
}
