#include "store/redis/owner/member_list.h"

#include <stdio.h>
#include <string.h>

#include "store/identity.h"
#include "store/redis/core.h"
#include "store/redis/owner/member.h"

/* The items of a member in a reply of member.lua. */
enum { ITEM_NAME, ITEM_UNTIL, ITEM_RECORD, ITEMS, ITEMS_FROM = 3 };

bool member_is_self(const struct names *names, const struct listed_member *listed)
{
	return strcmp(listed->name, names->nonce) == 0;
}

bool member_is_dead(const struct listed_member *listed)
{
	const char *bar = strchr(listed->holder, '|');

	return bar && identity_is_dead(bar + 1);
}

void member_list_read(const struct reply *reply, struct member_list *list)
{
	list->count = 0;
	for (size_t i = ITEMS_FROM; i + ITEMS <= reply->count; i += ITEMS) {
		const struct reply *items = &reply->items[i];
		struct listed_member *listed = &list->members[list->count];

		if (list->count == QUOTA_MEMBERS_MAX)
			return;
		*listed = (struct listed_member){.name = items[ITEM_NAME].bytes,
						 .until = reply_number(&items[ITEM_UNTIL])};
		list->count += member_read(items[ITEM_RECORD].bytes, &listed->row, &listed->holder);
	}
}

void member_call(struct redis_store *store, const char *how, const char *name, const char *record)
{
	call_begin_rare(&store->draft, SCRIPT_MEMBER, &store->shards[0]);
	command_text(&store->draft.words, how);
	command_text(&store->draft.words, name);
	command_text(&store->draft.words, record);
}
