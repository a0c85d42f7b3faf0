/* One shard of the namespace: a list of what each part keeps about it. */
#ifndef DW_STORE_REDIS_SHARD_H
#define DW_STORE_REDIS_SHARD_H

#include <stdbool.h>

#include "store/redis/heal/audit.h"
#include "store/redis/timer/completion.h"
#include "store/redis/timer/confirm.h"
#include "store/redis/owner/give.h"
#include "store/redis/owner/inbox.h"
#include "store/redis/heal/cut_off.h"
#include "store/redis/owner/layout.h"
#include "store/redis/owner/lease.h"
#include "store/redis/owner/members.h"
#include "store/redis/wire/node.h"
#include "store/redis/wire/script.h"
#include "store/redis/heal/repair.h"
#include "store/redis/heal/restore.h"
#include "store/redis/owner/session.h"
#include "store/redis/owner/token.h"
#include "store/redis/heal/tombstone.h"

/* A part sets a mark when a part further down in core.h must act on the shard. The turn reads the
 * marks after it has taken the replies, and calls the part that is named after the arrow. */
enum shard_mark {
	SHARD_OTHER_COUNT = 1 << 0, /* the namespace has another number of shards -> reshard */
	SHARD_REFUSES = 1 << 1,     /* a command of the shard was refused -> cut_off */
	SHARD_FENCED = 1 << 2,      /* another process has, or may have had, the shard -> restore */
	SHARD_SUSPECT = 1 << 3,     /* the shard was emptied or set back -> restore */
	SHARD_SURE = 1 << 4,        /* the shard is still ours and has lost nothing -> restore */
	SHARD_INCOMPLETE = 1 << 5,  /* the shard is still ours, but values are missing -> restore */
	SHARD_UNEVEN = 1 << 6,      /* the shard has more entries than values, or fewer -> repair */
	SHARD_HANDSHAKE = 1 << 7,   /* the shard needs a new handshake -> session */
	SHARD_READY = 1 << 8,       /* the shard's handshake is done -> dispatch */
	SHARD_MENDED = 1 << 9,      /* the server takes commands of the shard again -> lease */
	SHARD_OURS = 1 << 10,       /* the lease was renewed after SHARD_MENDED -> cut_off */
	SHARD_TAKEN = 1 << 11       /* this store wants to own the shard -> restore */
};

/* A set of shards, by number. */
struct shard_set {
	uint64_t bits[SHARDS_MAX / 64];
};

/* Sets of shards, so that a turn visits only shards that need it. A shard may stay in the sets
 * `marked` to `rebuilt` longer than needed; the part that visits it then removes it. */
struct shard_sets {
	struct shard_set marked; /* shards with a mark */
	/* Shards with operations that wait to be sent, or whose result is unknown. */
	struct shard_set queued;
	struct shard_set paused;      /* shards that get no command for a while */
	struct shard_set news;        /* shards whose inbox may have entries */
	struct shard_set unconfirmed; /* shards with operations that wait for the owner */
	struct shard_set rebuilt;     /* shards that lost data; the engine was not told yet */
	struct shard_set looked_at;   /* shards that cut_off_work looks at */
	unsigned cut_off_count;
	unsigned looks;         /* how many shards types.lua is asked about now (cut_off.h) */
	dw_usec may_pass_until; /* steady; until then the reason of a refusal may pass */
	/* Shards that were cut off or came back, which the engine has not been told yet. */
	struct shard_set untold;
	struct shard_set wanted; /* shards that a peer should take now */
	struct shard_set given;  /* shards that a peer is giving away */
};

struct shard_keys {
	char *name[NAMES_OF_SHARD]; /* the names of all keys, allocated as one block */
	size_t size[NAMES_OF_SHARD];
};

struct shard {
	unsigned number;
	unsigned marks;               /* a sum of SHARD_ marks */
	uint64_t dead_count;          /* dead letters, as the server counted them last */
	struct shard_keys keys;       /* shard.h */
	struct node *node;            /* the server that has the shard */
	struct channel channel;       /* node.h */
	struct shard_lease lease;     /* token.h */
	struct shard_cut cut;         /* cut_off.h */
	struct shard_share share;     /* members.h */
	struct give give;             /* give.h */
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
	uint64_t topic_changes;       /* topic_copies.h */
};

struct shard *shard_of(struct redis_store *, const char *id);

/* shard_is_shared returns true if this store is a peer: it shares the shards with others. */
bool shard_is_shared(const struct redis_store *);

/* shard_take acquires a shard that the owner does not have, or that a peer wants, as soon as no
 * command of the shard is under way. Returns true if nothing must be sent to the shard until
 * then. */
bool shard_take(struct redis_store *, struct shard *);

/* shard_first returns the first shard that is not cut off. An owner writes there what concerns the
 * whole namespace. Returns NULL if all shards are cut off. */
struct shard *shard_first(const struct redis_store *);

/* shard_mark sets a mark, which the turn will read. shard_queued is called when an operation was
 * put into a queue of the shard. */
void shard_mark(struct shard_sets *, struct shard *, enum shard_mark);
void shard_queued(struct shard_sets *, const struct shard *);

/* shard_pause lets no command be sent to the shard before `until`. shard_expect_news notes that the
 * shard's inbox may have entries. */
void shard_pause(struct shard_sets *, struct shard *, dw_usec until);
void shard_expect_news(struct shard_sets *, struct shard *);

/* shard_next returns the number of the first shard in the set that is not below `from`. It returns
 * SHARDS_MAX if there is none. */
unsigned shard_next(const struct shard_set *, unsigned from);
bool shard_is_in(const struct shard_set *, unsigned number);
void shard_add(struct shard_set *, unsigned number);
void shard_remove(struct shard_set *, unsigned number);
bool shard_has_queue(const struct shard *);

/* shard_is_ours returns true if this store owns the shard. In any other shard it is a client. */
static inline bool shard_is_ours(const struct shard *shard)
{
	return shard->lease.is_ours;
}

/* shard_may_serve returns true if the engine may work as the owner of the shard. If the shard was
 * lost and acquired again, the engine must first forget what it knew of the shard's timers. */
static inline bool shard_may_serve(const struct shard *shard)
{
	return shard_is_ours(shard) && !shard->lease.loss_untold;
}

/* shard_is_cut_off returns true while the server refuses commands of the shard. Then the only
 * command for it is the question whether the server still refuses. */
static inline bool shard_is_cut_off(const struct shard *shard)
{
	return shard->cut.state != CUT_NOT;
}

/* shard_make_keys makes the names of all keys of the shard. Returns DW_OK or DW_ENOMEM. */
int shard_make_keys(struct redis_store *, struct shard *);

#endif
