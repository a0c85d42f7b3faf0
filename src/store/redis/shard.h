/* One shard of the namespace: a list of what the parts keep of it. */
#ifndef DW_STORE_REDIS_SHARD_H
#define DW_STORE_REDIS_SHARD_H

#include <stdbool.h>

#include "store/redis/audit.h"
#include "store/redis/completion.h"
#include "store/redis/inbox.h"
#include "store/redis/pipeline.h"
#include "store/redis/repair.h"
#include "store/redis/restore.h"
#include "store/redis/session.h"
#include "store/redis/token.h"
#include "store/redis/tombstone.h"

enum key {
	KEY_LEASE,
	KEY_META,
	KEY_Z,
	KEY_H,
	KEY_INBOX,
	KEY_DEAD,
	KEY_LETTERS,
	KEY_NAMES,
	KEY_SESSION,
	KEY_COUNT
};

struct shard_keys {
	char *name[KEY_COUNT]; /* in one block */
	size_t size[KEY_COUNT];
};

struct shard {
	unsigned number;
	bool asks_types;              /* which key has another type: key_types.h */
	uint64_t dead_count;          /* dead letters, as the server counted them last */
	struct shard_keys keys;       /* shard.h */
	struct channel channel;       /* pipeline.h */
	struct shard_lease lease;     /* token.h */
	struct shard_queues queues;   /* completion.h */
	struct in_doubt in_doubt;     /* completion.h */
	struct shard_session session; /* session.h */
	struct rebuild rebuild;       /* restore.h */
	struct tombstones tombstones; /* tombstone.h */
	struct shard_repair repair;   /* repair.h */
	struct audit_place audited;   /* audit.h */
	struct shard_inbox inbox;     /* inbox.h */
};

struct shard *shard_of(struct redis_store *, const char *id);

/* shard_make_keys: DW_OK, DW_ENOMEM. */
int shard_make_keys(struct redis_store *, struct shard *);

#endif
