/* Which shards must be read, and which scan reads them. */
#include "engine/core.h"

void recovery_need(struct recovery *recovery, unsigned shard)
{
	if (recovery->wanted[shard])
		return;
	recovery->unread += recovery->scan_of[shard] == 0;
	recovery->wanted[shard] = true;
	recovery->wanted_count++;
}

void recovery_end_reading(struct recovery *recovery, unsigned shard)
{
	struct scan_state *scan = &recovery->scans[recovery->scan_of[shard] - 1];

	recovery->scan_of[shard] = 0;
	recovery->unread -= !recovery->wanted[shard];
	if (--scan->shards == 0)
		*scan = (struct scan_state){.state = RECOVERY_IDLE};
}

void recovery_leave(struct recovery *recovery, unsigned shard)
{
	if (recovery->scan_of[shard] > 0)
		recovery_end_reading(recovery, shard);
	if (!recovery->wanted[shard])
		return;
	recovery->wanted[shard] = false;
	recovery->wanted_count--;
	recovery->unread--;
}

void recovery_stop(struct recovery *recovery)
{
	for (unsigned i = 0; i < DW_SHARDS_MAX; i++)
		recovery_leave(recovery, i);
}

bool recovery_loads(const struct engine *engine)
{
	const struct recovery *recovery = &engine->recovery;

	for (unsigned i = 0; recovery->unread > 0 && i < engine->shards.count; i++)
		if (!recovery_is_over(recovery, i) && !engine->shards.all[i].refused)
			return true;
	return false;
}
