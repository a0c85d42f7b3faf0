/* Acquires and rebuilds shards that were emptied or set back. */
#ifndef DW_STORE_REDIS_RESTORE_H
#define DW_STORE_REDIS_RESTORE_H

#include <stdbool.h>

#include "port/op.h"
#include "redis/reply.h"

struct redis_store;
struct shard;

/* The states of a rebuild. First this store acquires the shard with another token (ACQUIRING,
 * ACQUIRED). Then the engine is told (TOLD), and writes the timers that it knows; until that is
 * done nothing else is sent to the shard. FOUND: the acquisition must begin again, with the next
 * handshake. HELD: another process has the shard. */
enum rebuild_state {
	REBUILD_NONE,
	REBUILD_FOUND,
	REBUILD_ACQUIRING,
	REBUILD_HELD,
	REBUILD_ACQUIRED,
	REBUILD_TOLD
};

/* The rebuild of one shard. */
struct rebuild {
	enum rebuild_state state;
	bool is_unsure; /* another shard is HELD, so the same process may have this shard, too */
};

/* The handover to another process that has acquired an emptied shard. First this store finds out
 * which other shards that process has. Then it writes the timers of those shards as a client, and
 * gives the ownership up. */
struct handover {
	dw_op *op;      /* the engine's LOSS operation; NULL if none waits */
	bool is_coming; /* the store is finding out who has the other shards */
	bool is_on;
	/* End of the handover (steady clock); each rebuild write that is done delays it. */
	dw_usec until;
};

/* restore_lose gives the ownership up without a handover. restore_fenced gives up a shard that
 * another owner has acquired. */
void restore_lose(struct redis_store *);
void restore_fenced(struct redis_store *, struct shard *);

/* restore_work ends a handover that takes too long. */
void restore_work(struct redis_store *);

/* restore_begin acquires and rebuilds a shard, because the server has lost data that it had
 * confirmed. */
void restore_begin(struct redis_store *, struct shard *);

/* restore_take acquires a shard that is not ours. The server has lost nothing of it. */
void restore_take(struct redis_store *, struct shard *);

/* restore_is_sure is called when the shard is certainly still ours and has lost nothing. */
void restore_is_sure(struct redis_store *, struct shard *);

/* restore_write lets the engine write what it knows of the shard, which is still ours. */
void restore_write(struct redis_store *, struct shard *);

/* restore_tell answers the engine's LOSS operation if there are shards that the engine must
 * write. */
void restore_tell(struct redis_store *);

/* restore_park takes the engine's LOSS operation. It also means that the engine has written all
 * shards that the answer to the last LOSS named. */
void restore_park(struct redis_store *, dw_op *);
void restore_end(struct redis_store *, int status);

/* restore_reshard starts a handover again, because the number of shards changed. */
void restore_reshard(struct redis_store *);

/* restore_is_lost and restore_is_whole implement the functions of that name in dw_store_class. */
int restore_is_lost(const dw_store *, const char *id);
int restore_is_whole(dw_store *);

#endif
