/* Knows or guesses the number of shards. */
#ifndef DW_STORE_REDIS_LAYOUT_H
#define DW_STORE_REDIS_LAYOUT_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "redis/reply.h"
#include "store/redis/owner/token.h"

struct redis_store;
struct shard;

#define SHARDS_DEFAULT 16u
#define SHARDS_MAX 256u

struct layout {
	bool is_fixed; /* shard_count is the first shard's number; else it is a guess */
	bool is_fresh; /* the first shard was asked since the last operation was submitted */
	bool is_asked; /* the first shard is being asked */
	bool is_answered;
	bool is_wrong;              /* the first shard's number is not a number */
	bool passes;                /* the server refused the question, but will accept it later */
	dw_usec pause_until;        /* steady; after a refusal */
	unsigned found;             /* the number in the last reply; 0: none */
	char era[INCARNATION_SIZE]; /* the first shard's, when the store was opened; "": none */
	dw_usec empty_since; /* steady; when a shard without a number was found; 0: not found */
	char words[DW_MESSAGE_SIZE];
};

/* layout_ask asks the first shard for the number. DW_OK, DW_ENOMEM. */
int layout_ask(struct redis_store *);

/* layout_ask_era asks for layout.era. The answer comes before that of a later layout_ask(). */
void layout_ask_era(struct redis_store *);

/* layout_is_known returns true if commands sent now go to the right shards, as far as this store
 * can know. If not, it asks the first shard. */
bool layout_is_known(struct redis_store *);

/* layout_suspect asks the first shard, because a shard has another number than ours. */
void layout_suspect(struct redis_store *);

/* layout_is_new is called when the handshake found no number in this shard; `listeners` connections
 * are subscribed to the wake channel. layout_is_ours: the handshake found our number. */
void layout_is_new(struct redis_store *, struct shard *, int64_t listeners);
void layout_is_ours(struct redis_store *, const struct shard *);

/* layout_stands is called when this owner has put its number into the emptied first shard again.
 * `clients` is the number that a client had put there, or nil. */
void layout_stands(struct redis_store *, const struct reply *clients);

/* layout_words writes what is wrong with the number found in a shard; DW_MESSAGE_SIZE bytes. */
void layout_words(const struct redis_store *, unsigned shard, const struct reply *found,
		  char *ret_words);

#endif
