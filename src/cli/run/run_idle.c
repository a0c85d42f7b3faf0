#include "cli/run/run_idle.h"

#include <inttypes.h>
#include <string.h>

#include "cli/out/errors.h"

static bool has_timers(const struct run_idle *idle, dw *d)
{
	for (size_t i = 0; i < idle->recipes->count; i++) {
		const char *topic = idle->recipes->all[i]->topic;
		uint64_t count = 0;

		if (!idle->recipes->all[i]->is_served)
			continue;
		if (strcmp(topic, "*") == 0)
			topic = NULL;
		if (dw_count(d, topic, &count) != DW_OK || count > 0)
			return true;
	}
	return false;
}

bool run_idle_is_quiet(const struct run_idle *idle, dw *d)
{
	dw_stats stats = {.size = sizeof stats};

	return dw_get_stats(d, &stats) == DW_OK && !stats.recovering && stats.inflight == 0 &&
	       !has_timers(idle, d);
}

static void idle_answered(dw *d, int status, const dw_store_status *store, void *user)
{
	struct run_idle *idle = user;

	(void)d;
	idle->asked = false;
	idle->emptied = status == DW_OK && store->inbox == 0;
}

bool run_idle_is_idle(struct run_idle *idle, dw *d)
{
	bool emptied = idle->emptied;

	idle->emptied = false;
	if (idle->asked || !run_idle_is_quiet(idle, d))
		return false;
	if (emptied)
		return true;
	idle->asked = dw_get_status(d, idle_answered, idle) == DW_OK;
	return false;
}

void run_idle_tell_damaged(dw *d)
{
	dw_stats stats = {.size = sizeof stats};

	if (dw_get_stats(d, &stats) == DW_OK && stats.corrupt > 0)
		(void)complain(EXIT_DONE,
			       "damaged timers, not fired: %" PRIu64 "; see durawheel dead list",
			       stats.corrupt);
}
