#include "store/redis/owner/quota.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int compare_ages(const void *one, const void *other)
{
	const struct quota_member *a = one, *b = other;

	if (a->since != b->since)
		return a->since < b->since ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* is_settled returns true if the member takes part at once. A time in the future is from before the
 * server's clock was set back. */
static bool is_settled(const struct quota_member *member, dw_usec now)
{
	return member->held > 0 || member->since > now ||
	       usec_sub(now, member->since) >= QUOTA_YOUNG;
}

static unsigned room_of(const struct quota_member *member)
{
	return member->room > member->share ? member->room - member->share : 0;
}

/* divide gives shards to the members that take part and can have more. Returns how many shards are
 * left, because a member could not have its whole part, or no member can have more. */
static unsigned divide(struct quota_member *members, unsigned count, unsigned shards,
		       const bool *takes_part)
{
	unsigned sharing = 0, each, more;

	for (unsigned i = 0; i < count; i++)
		sharing += takes_part[i] && room_of(&members[i]) > 0;
	if (sharing == 0)
		return shards;
	each = shards / sharing;
	more = shards % sharing;
	for (unsigned i = 0; i < count; i++) {
		unsigned room = room_of(&members[i]);
		unsigned given = each + (more > 0);

		if (!takes_part[i] || room == 0)
			continue;
		more -= more > 0;
		given = given < room ? given : room;
		members[i].share += given;
		shards -= given;
	}
	return shards;
}

/* divide_all calls divide until no shard is left, or no member that takes part can have more.
 * Returns how many shards are left. Each round fills a member, or leaves no shard. */
static unsigned divide_all(struct quota_member *members, unsigned count, unsigned shards,
			   const bool *takes_part)
{
	unsigned left = divide(members, count, shards, takes_part);

	while (left > 0 && left < shards) {
		shards = left;
		left = divide(members, count, shards, takes_part);
	}
	return left;
}

void quota_share(struct quota_member *members, unsigned count, unsigned shards, dw_usec now)
{
	bool takes_part[QUOTA_MEMBERS_MAX] = {false};

	qsort(members, count, sizeof *members, compare_ages);
	for (unsigned i = 0; i < count; i++) {
		takes_part[i] = is_settled(&members[i], now);
		members[i].share = 0;
	}
	shards = divide_all(members, count, shards, takes_part);
	/* Members that have just started get the shards that the others cannot have. */
	for (unsigned i = 0; i < count; i++)
		takes_part[i] = true;
	(void)divide_all(members, count, shards, takes_part);
}

unsigned quota_first(const struct quota_member *members, unsigned count, const char *name)
{
	unsigned first = 0;

	for (unsigned i = 0; i < count && strcmp(members[i].name, name) != 0; i++)
		if (members[i].share > members[i].held)
			first += members[i].share - members[i].held;
	return first;
}
