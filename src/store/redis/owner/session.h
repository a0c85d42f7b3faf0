/* The handshake of a shard on a new connection. */
#ifndef DW_STORE_REDIS_SESSION_H
#define DW_STORE_REDIS_SESSION_H

#include <stdbool.h>

#include "store/redis/wire/node.h"

struct names;

#define SESSION_TTL DW_HOURS(1)

/* A client's session with one shard. */
struct shard_session {
	uint64_t connection; /* the connection of the last handshake; 0 if there was none */
	/* The shard has no number of shards, so the first shard is asked for the number. */
	bool is_new;
	bool fixes; /* the next handshake writes our number of shards into this shard */
};

/* handshake_begin sends the handshake, unless the shard is paused or cut off. */
void handshake_begin(struct redis_store *, struct shard *);

/* handshake_ask sends the handshake of an owner and does nothing else. handshake_is_ours returns
 * true if the token in the handshake's refusal is from an earlier handshake whose reply was
 * lost. */
int handshake_ask(struct redis_store *, struct shard *, request_answered *, request_lost *);
bool handshake_is_ours(const struct names *, const struct shard *, const struct reply *);

/* handshake_done is called when the server has applied all commands up to number `mark`. */
void handshake_done(struct redis_store *, struct shard *, uint64_t mark);

/* handshake_forget_looks is called when the shard has lost data, before handshake_done(). The lost
 * data may include operations that were applied and whose result is being looked up, because the
 * reply was lost. So these operations are sent again. The request of such a look-up has the number
 * 0. */
void handshake_forget_looks(const struct shard *);

/* session_end deletes the sessions of a client that closes. */
void session_end(struct redis_store *);

#endif
