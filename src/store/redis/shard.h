/* One shard of the namespace: a list of what the parts keep of it. */
#ifndef DW_STORE_REDIS_SHARD_H
#define DW_STORE_REDIS_SHARD_H

#include <stdbool.h>

#include "store/redis/audit.h"
#include "store/redis/completion.h"
#include "store/redis/confirm.h"
#include "store/redis/inbox.h"
#include "store/redis/key_types.h"
#include "store/redis/layout.h"
#include "store/redis/lease.h"
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

/* A part sets a mark when a higher part must act. The turn reads the marks after it has taken the
 * replies. */
enum shard_mark {
	SHARD_OTHER_COUNT = 1 << 0, /* the namespace has another number of shards -> reshard */
	SHARD_WRONG_TYPE = 1 << 1,  /* a key has another type than ours -> key_types */
	SHARD_FENCED = 1 << 2,      /* another owner of its incarnation has it -> restore */
	SHARD_SUSPECT = 1 << 3,     /* it was emptied or set back -> restore */
	SHARD_SURE = 1 << 4,        /* it is ours, and lacks nothing -> restore */
	SHARD_INCOMPLETE = 1 << 5,  /* it is ours, and lacks values -> restore */
	SHARD_UNEVEN = 1 << 6,      /* it has more entries than values, or fewer -> repair */
	SHARD_HANDSHAKE = 1 << 7,   /* its token is refused, or its number is known -> session */
	SHARD_READY = 1 << 8,       /* its handshake is done -> dispatch */
	SHARD_MENDED = 1 << 9,      /* its keys have their types again -> session */
	SHARD_OURS = 1 << 10        /* so they have, and its lease was renewed -> key_types */
};

/* A set of shards, by number. */
struct shard_set {
	uint64_t bits[SHARDS_MAX / 64];
};

/* Sets of shards, so that a turn visits few of them. The first five may also have a shard that does
 * not belong there any more: whoever visits it finds out, and removes it. */
struct shard_sets {
	struct shard_set marked;      /* shards with a mark */
	struct shard_set queued;      /* with operations that wait to be sent, or are in doubt */
	struct shard_set paused;      /* that get no command for a while */
	struct shard_set news;        /* whose inbox may have something */
	struct shard_set unconfirmed; /* with operations that wait for the owner */
	struct shard_set rebuilt;     /* that lost data, which the engine does not know yet */
	struct shard_set cut_off;
	unsigned cut_off_count;
	struct shard_set untold; /* cut off, or in use again, which the engine does not know yet */
};

struct shard_keys {
	char *name[KEY_COUNT]; /* in one block */
	size_t size[KEY_COUNT];
};

struct shard {
	unsigned number;
	unsigned marks;               /* SHARD_ */
	uint64_t dead_count;          /* dead letters, as the server counted them last */
	struct shard_keys keys;       /* shard.h */
	struct channel channel;       /* pipeline.h */
	struct shard_lease lease;     /* token.h */
	struct shard_types types;     /* key_types.h */
	struct shard_queues queues;   /* completion.h */
	struct in_doubt in_doubt;     /* completion.h */
	struct confirm confirm;       /* confirm.h */
	struct shard_session session; /* session.h */
	struct rebuild rebuild;       /* restore.h */
	struct tombstones tombstones; /* tombstone.h */
	struct entry_counts counts;   /* lease.h */
	struct shard_repair repair;   /* repair.h */
	struct audit_place audited;   /* audit.h */
	struct shard_inbox inbox;     /* inbox.h */
};

struct shard *shard_of(struct redis_store *, const char *id);

/* shard_mark: the turn will read it. shard_queued: an operation was put into a queue of the
 * shard. */
void shard_mark(struct redis_store *, struct shard *, enum shard_mark);
void shard_queued(struct redis_store *, const struct shard *);

/* shard_pause: nothing is sent to the shard until then. shard_expect_news: its inbox may have
 * something. */
void shard_pause(struct redis_store *, struct shard *, dw_usec until);
void shard_expect_news(struct redis_store *, struct shard *);

/* shard_next: the number of the first shard in the set from that one on; SHARDS_MAX: none. */
unsigned shard_next(const struct shard_set *, unsigned from);
void shard_add(struct shard_set *, unsigned number);
void shard_remove(struct shard_set *, unsigned number);
bool shard_has_queue(const struct shard *);

/* shard_is_cut_off: nothing but its types is asked of it. */
static inline bool shard_is_cut_off(const struct shard *shard)
{
	return shard->types.state != TYPES_RIGHT;
}

/* shard_make_keys: DW_OK, DW_ENOMEM. */
int shard_make_keys(struct redis_store *, struct shard *);

#endif
