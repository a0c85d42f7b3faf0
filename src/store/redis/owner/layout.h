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
	bool is_fixed; /* shard_count was read from a shard; if false, shard_count is a guess */
	bool is_fresh; /* a reply has told the number since the last operation was submitted */
	bool is_asked; /* the question for the number is under way */
	bool is_answered;
	bool is_first_empty; /* the first shard has no number */
	bool is_wrong;       /* the shard has something that is not a number of shards */
	unsigned shard;      /* the shard that is asked: the first shard, unless its node is away */
	bool passes;         /* the server refused to tell the number for a reason that will pass */
	/* After a refusal no shard is asked before this time (steady clock). */
	dw_usec pause_until;
	unsigned found; /* the number of shards in the last reply; 0 if there was none */
	/* The first shard's incarnation when the store was opened; "" if the shard had none. */
	char era[INCARNATION_SIZE];
	/* When a shard without a number was found (steady clock); 0: there is none. */
	dw_usec empty_since;
	/* This store has found the namespace new. Until this time nobody else knows timers of it
	 * (steady clock). The time ends early when another peer is seen. */
	dw_usec alone_until;
	char words[DW_MESSAGE_SIZE];
};

/* layout_ask asks the first shard for the number of shards. If the first shard's node is away, or
 * if the first shard is empty when the store is opened, it asks the others in turn until one has a
 * number. Returns DW_OK or DW_ENOMEM. */
int layout_ask(struct redis_store *);

/* layout_ask_era asks for layout.era. The reply arrives before the reply to a later
 * layout_ask(). */
void layout_ask_era(struct redis_store *);

/* layout_is_known returns true if commands sent now go to the right shards, as far as this store
 * can know. Otherwise it asks for the number. */
bool layout_is_known(struct redis_store *);

/* layout_suspect asks for the number again, because a shard has another number of shards than this
 * store. */
void layout_suspect(struct redis_store *);

/* layout_is_new is called when the handshake found no number of shards in this shard; `listeners`
 * is how many connections are subscribed to its wake channel. layout_is_ours is called when the
 * handshake found the number that this store knows. */
void layout_is_new(struct redis_store *, struct shard *, int64_t listeners);
void layout_is_ours(struct redis_store *, const struct shard *);

/* layout_stands is called when this owner has written its number of shards into the emptied first
 * shard again. `clients` is the number that a client had written there meanwhile, or nil. */
void layout_stands(struct redis_store *, const struct reply *clients);

/* layout_note_node writes into a shard which node has it, and in which epoch. A store that is
 * opened later, and finds the same node and epoch, then need not wait before it uses this node. */
int layout_note_node(struct redis_store *, unsigned shard, struct node *at, const char *node);

/* layout_words writes what is wrong with the number found in a shard, in at most DW_MESSAGE_SIZE
 * bytes. */
void layout_words(const struct redis_store *, unsigned shard, const struct reply *found,
		  char *ret_words);

#endif
