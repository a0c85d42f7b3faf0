#include "store/redis/owner/sharing.h"

#include <string.h>

#include "calendar/zone.h"
#include "store/redis/core.h"
#include "store/redis/owner/member_list.h"

/* How often the version is read; an update of the system changes it. */
#define ZONES_EVERY DW_HOURS(1)
/* How long a silent member stays in the list, as in member.lua. */
#define STAYS DW_SECONDS(5)
/* Within this time after the end of its owner a shard normally has another one. */
#define UNOWNED_FOR DW_SECONDS(8)

void sharing_read_zones(struct redis_store *store)
{
	struct members *self = &store->ownership.members;

	if (store->now < self->zones_at)
		return;
	self->zones_at = usec_add(store->now, ZONES_EVERY);
	zone_data_version(self->zones, sizeof self->zones);
}

void sharing_note_members(struct members *self, const struct member_list *list)
{
	self->count = list->count;
	self->has_newer_zones = false;
	for (unsigned i = 0; i < list->count; i++)
		if (strcmp(list->members[i].row.zones, self->zones) > 0)
			self->has_newer_zones = true;
}

/* is_unowned returns true if nobody has had the shard for longer than it takes to replace an owner.
 * An owner that is not a peer is not in the list, but the server says that it holds the shard. */
static bool is_unowned(const struct redis_store *store, const struct shard *shard)
{
	const struct shard_share *share = &shard->share;
	dw_usec stays = usec_max(store->ownership.lease, STAYS);

	if (shard_is_ours(shard) || share->free_since == 0)
		return false;
	return store->now >= usec_add(usec_add(share->free_since, stays), UNOWNED_FOR) &&
	       (share->held_at == 0 || store->now >= usec_add(share->held_at, STAYS));
}

/* sure_clock returns the distance of the clocks, reduced by the error that the time of the reply
 * allows. */
static dw_usec sure_clock(const struct members *self)
{
	dw_usec error = self->clock_way / 2 + 1;

	if (self->clock >= 0)
		return usec_max(usec_sub(self->clock, error), 0);
	return usec_min(usec_add(self->clock, error), 0);
}

dw_sharing sharing_of(const struct redis_store *store)
{
	const struct members *self = &store->ownership.members;
	dw_sharing sharing = {.members = self->count,
			      .share = self->share,
			      .clock = sure_clock(self),
			      .has_newer_zones = self->has_newer_zones};

	for (unsigned i = store->shard_count; i-- > 0;) {
		if (!is_unowned(store, &store->shards[i]))
			continue;
		sharing.unowned++;
		sharing.first_unowned = i;
	}
	return sharing;
}
