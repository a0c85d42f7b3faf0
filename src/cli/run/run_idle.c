#include "cli/run/run_idle.h"

#include <inttypes.h>
#include <string.h>

#include "cli/out/errors.h"
#include "durawheel/topic.h"

/* serves_all returns true if run serves the timers of every topic. */
static bool serves_all(const struct run_idle *idle)
{
	for (size_t i = 0; i < idle->recipes->count; i++)
		if (idle->recipes->all[i]->is_served &&
		    strcmp(idle->recipes->all[i]->topic, "*") == 0)
			return true;
	return false;
}

static uint64_t ended(const dw_stats *stats)
{
	return stats->settled + stats->cancelled + stats->dead;
}

/* may_be_empty returns false if the topics certainly still have timers: they had some, and no timer
 * has come or ended since. */
static bool may_be_empty(const struct run_idle *idle, const dw_stats *stats)
{
	if (stats->timers == 0)
		return true;
	return !serves_all(idle) &&
	       !(idle->has_timers && idle->timers == stats->timers && idle->ended == ended(stats));
}

bool run_idle_is_quiet(const struct run_idle *idle, dw *d)
{
	dw_stats stats = {.size = sizeof stats};

	return dw_get_stats(d, &stats) == DW_OK && stats.is_owner && !stats.recovering &&
	       stats.inflight == 0 && may_be_empty(idle, &stats);
}

static void ask_next(struct run_idle *idle, dw *d);

static void idle_topic_told(dw *d, int status, const dw_topic_info *topic, size_t count, void *user)
{
	struct run_idle *idle = user;

	idle->asked = false;
	if (status != DW_OK)
		return;
	idle->has_timers = count > 0 && topic->pending + topic->due + topic->running > 0;
	if (!idle->has_timers)
		ask_next(idle, d);
}

/* ask_next asks the store about the next topic. If the last topic was empty too, no topic has a
 * timer. */
static void ask_next(struct run_idle *idle, dw *d)
{
	const struct recipes *recipes = idle->recipes;
	size_t i = idle->next;

	while (i < recipes->count && !recipes->all[i]->is_served)
		i++;
	idle->next = i + 1;
	if (i < recipes->count)
		idle->asked =
		    dw_topic_list(d, recipes->all[i]->topic, idle_topic_told, idle) == DW_OK;
	else
		idle->emptied = true;
}

static void idle_answered(dw *d, int status, const dw_store_status *store, void *user)
{
	dw_stats stats = {.size = sizeof stats};
	struct run_idle *idle = user;

	idle->asked = false;
	if (status != DW_OK || store->inbox > 0 || dw_get_stats(d, &stats) != DW_OK)
		return;
	idle->next = stats.timers == 0 ? idle->recipes->count : 0;
	idle->timers = stats.timers;
	idle->ended = ended(&stats);
	idle->has_timers = false;
	ask_next(idle, d);
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
