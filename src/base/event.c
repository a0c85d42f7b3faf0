#include "durawheel/durawheel.h"

const char *dw_event_name(dw_event_kind kind)
{
	switch (kind) {
	case DW_EVENT_RECOVERED:
		return "RECOVERED";
	case DW_EVENT_NO_HANDLER:
		return "NO_HANDLER";
	case DW_EVENT_DEAD:
		return "DEAD";
	case DW_EVENT_CLOCK_STEPPED:
		return "CLOCK_STEPPED";
	case DW_EVENT_STORE_SLOW:
		return "STORE_SLOW";
	case DW_EVENT_STORE_FAILED:
		return "STORE_FAILED";
	case DW_EVENT_STORE_BACK:
		return "STORE_BACK";
	case DW_EVENT_FAILED:
		return "FAILED";
	case DW_EVENT_CORRUPT:
		return "CORRUPT";
	case DW_EVENT_HOLD_EXPIRED:
		return "HOLD_EXPIRED";
	case DW_EVENT_LIMIT:
		return "LIMIT";
	case DW_EVENT_DEAD_FORGOTTEN:
		return "DEAD_FORGOTTEN";
	case DW_EVENT_OWNER:
		return "OWNER";
	case DW_EVENT_OWNER_LOST:
		return "OWNER_LOST";
	case DW_EVENT_LEASE:
		return "LEASE";
	case DW_EVENT_LOSS:
		return "LOSS";
	case DW_EVENT_NEWER:
		return "NEWER";
	case DW_EVENT_SHARD_FAILED:
		return "SHARD_FAILED";
	case DW_EVENT_SHARD_BACK:
		return "SHARD_BACK";
	case DW_EVENT_OUTAGE:
		return "OUTAGE";
	case DW_EVENT_REPLAYED:
		return "REPLAYED";
	case DW_EVENT_QUEUE_FULL:
		return "QUEUE_FULL";
	case DW_EVENT_SLOW_HANDLER:
		return "SLOW_HANDLER";
	case DW_EVENT_MISSED:
		return "MISSED";
	case DW_EVENT_ZONE:
		return "ZONE";
	case DW_EVENT_SHARDS:
		return "SHARDS";
	case DW_EVENT_CLOCK_APART:
		return "CLOCK_APART";
	}
	return "UNKNOWN";
}
