/* The list of the peers, as the first shard has it. */
#ifndef DW_STORE_REDIS_MEMBER_LIST_H
#define DW_STORE_REDIS_MEMBER_LIST_H

#include <stdbool.h>

#include "port/op.h"
#include "redis/reply.h"
#include "store/redis/owner/quota.h"

struct names;
struct redis_store;

/* A peer of the list. Its texts point into the reply. */
struct listed_member {
	dw_member_row row;
	const char *name;
	const char *holder;
	dw_usec until;
};

struct member_list {
	struct listed_member members[QUOTA_MEMBERS_MAX];
	unsigned count;
};

/* member_call begins a call of member.lua. */
void member_call(struct redis_store *, const char *how, const char *name, const char *record);

/* member_list_read reads the reply of member.lua. It leaves out records that cannot be read. */
void member_list_read(const struct reply *, struct member_list *);

/* member_is_self returns true if the member is this store. member_is_dead returns true if the
 * member was a process of this machine that has ended. */
bool member_is_self(const struct names *, const struct listed_member *);
bool member_is_dead(const struct listed_member *);

#endif
