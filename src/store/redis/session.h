/* The handshake of a shard on a new connection. */
#ifndef DW_STORE_REDIS_SESSION_H
#define DW_STORE_REDIS_SESSION_H

#include <stdbool.h>

#include "store/redis/pipeline.h"

#define SESSION_TTL DW_HOURS(1)

/* A client's, with a shard. */
struct shard_session {
	uint64_t connection; /* of its last handshake; 0: none */
	bool is_new;         /* the shard has no number of shards: the first shard is asked */
	bool fixes;          /* the shard gets ours with the next handshake */
};

/* handshake_begin asks; it does nothing while the shard is paused. */
void handshake_begin(struct redis_store *, struct shard *);

/* handshake_done: the server has applied up to that number. */
void handshake_done(struct redis_store *, struct shard *, uint64_t mark);

/* session_end deletes the sessions of a client, because it closes. */
void session_end(struct redis_store *);

#endif
