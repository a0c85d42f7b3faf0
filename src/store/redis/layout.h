/* The number of shards: known, guessed, asked for. */
#ifndef DW_STORE_REDIS_LAYOUT_H
#define DW_STORE_REDIS_LAYOUT_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "redis/reply.h"

struct redis_store;
struct shard;

#define SHARDS_DEFAULT 16u
#define SHARDS_MAX 256u

struct layout {
	bool is_fixed; /* shard_count is what the first shard says; else there is none, we guess */
	bool is_fresh; /* the guess was looked at since something was submitted */
	bool is_asked; /* a question is under way */
	bool is_answered;
	bool is_wrong;       /* the answer was no number */
	bool passes;         /* the question was refused, for a while */
	dw_usec pause_until; /* steady; after a refusal */
	unsigned found;      /* by the last question; 0: none */
	dw_usec empty_since; /* steady; 0: it is not, or nobody has noticed */
	char words[DW_MESSAGE_SIZE];
};

/* layout_ask asks the first shard. DW_OK, DW_ENOMEM. */
int layout_ask(struct redis_store *);

/* layout_is_known: what is sent now goes to the right shards, as far as anyone can know. Else it
 * asks. */
bool layout_is_known(struct redis_store *);

/* layout_suspect: a shard says another number. */
void layout_suspect(struct redis_store *);

/* layout_is_new: the shard has no number in its handshake, and so many listen for news of it.
 * layout_is_ours: it has ours. */
void layout_is_new(struct redis_store *, struct shard *, int64_t listeners);
void layout_is_ours(struct redis_store *, const struct shard *);

/* layout_stands: the emptied first shard is ours again, and a client had given it that number. */
void layout_stands(struct redis_store *, const struct reply *clients);

/* layout_words: what is wrong with the number found in a shard; DW_MESSAGE_SIZE bytes. */
void layout_words(const struct redis_store *, unsigned shard, const struct reply *found,
		  char *ret_words);

#endif
