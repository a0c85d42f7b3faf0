/* A shard that was emptied or set back is acquired again and rebuilt. */
#ifndef DW_STORE_REDIS_RESTORE_H
#define DW_STORE_REDIS_RESTORE_H

#include <stdbool.h>

#include "port/op.h"
#include "redis/reply.h"

struct redis_store;
struct shard;

/* The shard is acquired again, with another token. Then the engine is told, and writes what it
 * knows. Meanwhile nothing else is sent to the shard. FOUND: the acquisition has failed, the next
 * handshake begins it once more. HELD: another process has it. */
enum rebuild_state {
	REBUILD_NONE,
	REBUILD_FOUND,
	REBUILD_ACQUIRING,
	REBUILD_HELD,
	REBUILD_ACQUIRED,
	REBUILD_TOLD
};

/* A shard's. */
struct rebuild {
	enum rebuild_state state;
	bool is_unsure; /* another shard is HELD, and perhaps this one is, too */
};

/* Another process holds a shard. First this store asks which other shards are held. Then it writes
 * what it knows of them, as a client, and gives the ownership up. */
struct handover {
	dw_op *op;      /* the LOSS that waits for one */
	bool is_coming; /* the other shards are asked */
	bool is_on;
	dw_usec until; /* steady: then we give up, unless a rebuild write is done */
};

/* restore_lose gives the ownership up without a handover. restore_fenced does so because a
 * successor has the shard. */
void restore_lose(struct redis_store *);
void restore_fenced(struct redis_store *, struct shard *);

/* restore_work gives up what was handed over for too long. */
void restore_work(struct redis_store *);

/* restore_begin: the server has lost data that it had confirmed. */
void restore_begin(struct redis_store *, struct shard *);

/* restore_is_sure: the shard was unsure, and is ours. */
void restore_is_sure(struct redis_store *, struct shard *);

/* restore_write lets the engine write what it knows of the shard, which is still ours. */
void restore_write(struct redis_store *, struct shard *);

/* restore_tell tells the engine what is to be written, if it waits for that. */
void restore_tell(struct redis_store *);

/* restore_park: the engine waits for a loss, and has written all of the last one. */
void restore_park(struct redis_store *, dw_op *);
void restore_end(struct redis_store *, int status);

/* restore_reshard: the number of shards changed. A handover starts again. */
void restore_reshard(struct redis_store *);
bool restore_is_told(const struct redis_store *, const char *id);

#endif
