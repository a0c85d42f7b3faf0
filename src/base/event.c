#include "durawheel/durawheel.h"

static const char *const names[] = {
    [DW_EVENT_RECOVERED] = "RECOVERED",
    [DW_EVENT_NO_HANDLER] = "NO_HANDLER",
    [DW_EVENT_DEAD] = "DEAD",
    [DW_EVENT_CLOCK_STEPPED] = "CLOCK_STEPPED",
    [DW_EVENT_STORE_SLOW] = "STORE_SLOW",
    [DW_EVENT_STORE_FAILED] = "STORE_FAILED",
    [DW_EVENT_STORE_BACK] = "STORE_BACK",
    [DW_EVENT_FAILED] = "FAILED",
    [DW_EVENT_CORRUPT] = "CORRUPT",
    [DW_EVENT_HOLD_EXPIRED] = "HOLD_EXPIRED",
    [DW_EVENT_LIMIT] = "LIMIT",
    [DW_EVENT_DEAD_FORGOTTEN] = "DEAD_FORGOTTEN",
    [DW_EVENT_OWNER] = "OWNER",
    [DW_EVENT_OWNER_LOST] = "OWNER_LOST",
    [DW_EVENT_LEASE] = "LEASE",
    [DW_EVENT_LOSS] = "LOSS",
    [DW_EVENT_NEWER] = "NEWER",
    [DW_EVENT_SHARD_FAILED] = "SHARD_FAILED",
    [DW_EVENT_SHARD_BACK] = "SHARD_BACK",
    [DW_EVENT_OUTAGE] = "OUTAGE",
    [DW_EVENT_REPLAYED] = "REPLAYED",
    [DW_EVENT_QUEUE_FULL] = "QUEUE_FULL",
    [DW_EVENT_SLOW_HANDLER] = "SLOW_HANDLER",
    [DW_EVENT_MISSED] = "MISSED",
    [DW_EVENT_ZONE] = "ZONE",
    [DW_EVENT_SHARDS] = "SHARDS",
    [DW_EVENT_CLOCK_APART] = "CLOCK_APART",
    [DW_EVENT_REPLICAS_LATE] = "REPLICAS_LATE",
    [DW_EVENT_REPLICAS_BACK] = "REPLICAS_BACK",
};

const char *dw_event_name(dw_event_kind kind)
{
	size_t number = (size_t)kind;

	return number < sizeof names / sizeof *names && names[number] ? names[number] : "UNKNOWN";
}
