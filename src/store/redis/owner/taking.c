#include "store/redis/owner/taking.h"

#include <string.h>

#include "store/redis/core.h"
#include "store/redis/owner/member.h"
#include "store/redis/owner/member_list.h"
#include "store/redis/owner/members.h"
#include "store/redis/owner/quota.h"

unsigned taking_held(const struct redis_store *store)
{
	unsigned count = 0;

	for (unsigned i = 0; i < store->shard_count; i++)
		count += shard_is_ours(&store->shards[i]);
	return count;
}

unsigned taking_room(const struct members *self)
{
	return self->is_leaving ? 0 : self->room;
}

/* divide computes the share of this store. Returns the number of the first free shard that it may
 * take. */
static unsigned divide(struct redis_store *store, const struct member_list *list, dw_usec now)
{
	struct quota_member members[QUOTA_MEMBERS_MAX];
	struct members *self = &store->ownership.members;

	for (unsigned i = 0; i < list->count; i++) {
		const struct listed_member *listed = &list->members[i];
		bool mine = member_is_self(&store->names, listed);

		members[i] = (struct quota_member){
		    .since = listed->row.since,
		    .name = listed->name,
		    .held = mine ? taking_held(store) : member_count(&listed->row),
		    .room = mine ? taking_room(&store->ownership.members) : listed->row.room};
	}
	quota_share(members, list->count, store->shard_count, now);
	self->share = 0; /* stays 0 if this store is not in the list because that is full */
	for (unsigned i = 0; i < list->count; i++)
		if (strcmp(members[i].name, store->names.nonce) == 0)
			self->share = members[i].share;
	return quota_first(members, list->count, store->names.nonce);
}

static bool is_anothers(const struct redis_store *store, const struct member_list *list,
			unsigned shard)
{
	for (unsigned i = 0; i < list->count; i++)
		if (!member_is_self(&store->names, &list->members[i]) &&
		    member_has(&list->members[i].row, shard))
			return true;
	return false;
}

static bool is_free(const struct redis_store *store, const struct member_list *list,
		    const struct shard *shard)
{
	return !shard_is_ours(shard) && !shard->give.op && !is_anothers(store, list, shard->number);
}

/* choose decides which shards this store takes: of the free shards its own part, and every shard
 * that has been free for TAKING_FREE_FOR. If the latter is not in its part, this store gives no
 * shard away for a while, because the peer that should take that shard may be unable to. */
static void choose(struct redis_store *store, const struct member_list *list, unsigned first)
{
	struct members *self = &store->ownership.members;
	unsigned held = taking_held(store), free = 0;
	unsigned missing = self->share > held ? self->share - held : 0;

	store->sets.wanted = (struct shard_set){0};
	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard_share *share = &store->shards[i].share;
		bool is_part, is_left;

		if (!is_free(store, list, &store->shards[i])) {
			share->free_since = 0;
			continue;
		}
		if (share->free_since == 0)
			share->free_since = store->now;
		is_part = free >= first && free < first + missing;
		is_left = store->now >= usec_add(share->free_since, TAKING_FREE_FOR);
		free++;
		if ((!is_part && !is_left) || store->now < self->takes_from)
			continue;
		if (!is_part)
			self->gives_from = usec_add(store->now, TAKING_LIST_AGE);
		shard_add(&store->sets.wanted, i);
	}
}

/* try_one wants any one shard that is not ours, some time after a refusal. If the server answers
 * that another peer has that shard, the server no longer refuses this store. */
static void try_one(struct redis_store *store)
{
	struct members *self = &store->ownership.members;

	if (self->room >= store->shard_count || store->now < self->try_at)
		return;
	self->try_at = usec_add(store->now, TAKING_TRIES);
	for (unsigned i = 0; i < store->shard_count; i++) {
		self->tried = (self->tried + 1) % store->shard_count;
		if (shard_is_ours(&store->shards[self->tried]))
			continue;
		shard_add(&store->sets.wanted, self->tried);
		return;
	}
}

void taking_want_all(struct redis_store *store)
{
	store->sets.wanted = (struct shard_set){0};
	for (unsigned i = 0; i < store->shard_count; i++)
		if (!shard_is_ours(&store->shards[i]) && store->shards[i].node->connection)
			shard_add(&store->sets.wanted, i);
}

void taking_work(struct redis_store *store)
{
	const struct shard_set *wanted = &store->sets.wanted;

	for (unsigned i = shard_next(wanted, 0); i < store->shard_count;
	     i = shard_next(wanted, i + 1)) {
		struct shard *shard = &store->shards[i];

		if (shard_is_ours(shard))
			shard_remove(&store->sets.wanted, i);
		else if (shard->cut.state != CUT_OFF)
			(void)shard_take(store, shard); /* the next turn tries again */
	}
}

void taking_choose(struct redis_store *store, const struct member_list *list, dw_usec now)
{
	unsigned first = divide(store, list, now);

	if (list->count > 1)
		store->layout.alone_until = store->now;
	if (store->ownership.members.is_leaving)
		return;
	choose(store, list, first);
	try_one(store);
}
