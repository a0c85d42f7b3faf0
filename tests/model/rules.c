/* rules: their names on the command line. */
#include "model/model.h"

const char *const rule_names[RULE_COUNT] = {
    [RULE_LEASE] = "lease",
    [RULE_ORDER] = "order",
    [RULE_BASE] = "base",
    [RULE_FENCE] = "fence",
    [RULE_NUMBERED] = "numbered",
    [RULE_DOUBT_RESOLVED] = "doubt_resolved",
    [RULE_DOUBT_ENDED] = "doubt_ended",
    [RULE_DOUBT_MARK] = "doubt_mark",
    [RULE_REPLAY_FIRST] = "replay_first",
    [RULE_ROW_FIRST] = "row_first",
    [RULE_JUMP] = "jump",
    [RULE_DOUBT_ALONE] = "doubt_alone",
    [RULE_START] = "start",
    [RULE_START_RAISE] = "start_raise",
    [RULE_CANCEL_WAITS] = "cancel_waits",
    [RULE_UNRELEASED] = "unreleased",
    [RULE_LATE] = "late",
    [RULE_ABSENT] = "absent",
    [RULE_OWN_FIRST] = "own_first",
    [RULE_SENT] = "sent",
};
