/*
 * Names of events, commands and reasons, and the rule of each reason.
 */
#include "trireme/event.h"

#define KNOWN(number, count) ((int)(number) >= 0 && (number) < (count))

static const char *const event_names[TRI_EV_COUNT] = {[TRI_EV_NONE] = "none",
#define X(code, name) [TRI_EV_##code] = (name),
                                                      TRI_EVENT_MAP(X)
#undef X
};

static const char *const command_names[TRI_CMD_COUNT] = {[TRI_CMD_NONE] =
                                                                 "none",
#define X(code, name) [TRI_CMD_##code] = (name),
                                                         TRI_COMMAND_MAP(X)
#undef X
};

static const char *const reason_names[TRI_REASON_COUNT] = {
#define X(code, name, rule) [TRI_REASON_##code] = (name),
        TRI_REASON_MAP(X)
#undef X
};

static const tri_reason_rule reason_rules[TRI_REASON_COUNT] = {
#define X(code, name, rule) [TRI_REASON_##code] = TRI_RULE_##rule,
        TRI_REASON_MAP(X)
#undef X
};

const char *tri_event_name(tri_event_kind kind)
{
    return KNOWN(kind, TRI_EV_COUNT) ? event_names[kind] : NULL;
}

const char *tri_command_name(tri_command_kind kind)
{
    return KNOWN(kind, TRI_CMD_COUNT) ? command_names[kind] : NULL;
}

const char *tri_reason_name(tri_reason reason)
{
    return KNOWN(reason, TRI_REASON_COUNT) ? reason_names[reason] : NULL;
}

tri_reason_rule tri_reason_rule_of(tri_reason reason)
{
    return KNOWN(reason, TRI_REASON_COUNT) ? reason_rules[reason]
                                           : TRI_RULE_FINAL;
}
