/* The fencing token of a shard, and the server's clock. */
#ifndef DW_STORE_REDIS_TOKEN_H
#define DW_STORE_REDIS_TOKEN_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "redis/reply.h"

struct redis_store;
struct shard;

#define TOKEN_SIZE 96
#define INCARNATION_SIZE 40

/* What this store is called by the server. */
struct names {
	char name[64]; /* the namespace */
	char channel[80];
	char nonce[20];
	char holder[256];
	unsigned incarnations;              /* how many were made */
	char token[TOKEN_SIZE];             /* room for one that is asked for */
	char incarnation[INCARNATION_SIZE]; /* the same */
};

struct server_clock {
	dw_usec time;   /* at `at` */
	dw_usec at;     /* steady */
	uint64_t floor; /* of the last version asked for, or seen */
};

/* An owner's lease of one shard. */
struct shard_lease {
	uint64_t fence; /* 0: not owned */
	char token[TOKEN_SIZE];
	char incarnation[INCARNATION_SIZE];
	dw_usec until; /* steady */
	bool is_renewing;
	uint64_t jump;  /* a claim of a version up to this one raises the attempt by more than 1 */
	uint64_t high;  /* the highest version that the server has told of */
	unsigned newer; /* the version of a timer because of which the lease is given back; 0 */
};

/* clock_learn: the server's time, as if the reply had come at once. */
void clock_learn(struct redis_store *, int64_t server_time);

/* clock_is_known: a reply has told the server's time. */
static inline bool clock_is_known(const struct server_clock *clock)
{
	return clock->time != 0;
}

/* clock_version: the next version to ask for. */
uint64_t clock_version(struct redis_store *);

/* token_extend: the lease is ours until so long after `sent`. token_until: so are all that are not
 * cut off; INT64_MIN: none is ours. token_is_over: another process may have had the shard. */
void token_extend(struct redis_store *, struct shard *, dw_usec sent);
dw_usec token_until(const struct redis_store *);
bool token_is_over(const struct redis_store *, const struct shard *);

/* token_of writes the token that the shard has on this connection. */
void token_of(const struct redis_store *, const struct shard *, char *ret_token);

/* token_has_nonce: a token of this store's, perhaps an earlier one. */
bool token_has_nonce(const struct redis_store *, const struct reply *token);

/* token_add_acquire makes the command that acquires the shard. replace: the token of a dead
 * holder, or "". */
void token_add_acquire(struct redis_store *, struct shard *, const char *replace);

/* token_incarnation: the one that the acquisition of that number makes, should the shard be
 * new. */
void token_incarnation(const struct redis_store *, unsigned number, char *ret_incarnation);

/* token_take reads the token out of the OK of an acquisition. */
bool token_take(struct redis_store *, struct shard *, const struct reply *);

/* token_note_version: the shard has given the version, so it must not give it again. */
void token_note_version(struct shard *, uint64_t version);
void token_note_row(struct shard *, const dw_row *);

/* token_is_dead: the shard is held by a process that does not exist any more. */
bool token_is_dead(const struct reply *held);

/* token_is_succeeded: the refusal of a renewal or handshake names another owner of the same
 * incarnation. Any other refusal says that the shard is not what it was. */
bool token_is_succeeded(const struct redis_store *, const struct shard *, const struct reply *);

/* token_went_back: the reply to a renewal or handshake is older than what we know. */
bool token_went_back(const struct shard *, const struct reply *);

#endif
