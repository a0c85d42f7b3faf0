/* Shards that are cut off: the server refuses what is asked of the shard, or one of its keys has a
 * wrong type. Operations on such a shard fail at once, and its timers wait. All other shards work
 * on.
 *
 * When a command of a shard is refused, types.lua is asked about all keys of the shard. Its reply
 * decides: if the script is refused, too, or a key has a wrong type, the shard is cut off. So a
 * command that the user may not run cuts nothing off. A slot that moves to another node refuses for
 * a moment (TRYAGAIN), so that must last for a second. */
#ifndef DW_STORE_REDIS_CUT_OFF_H
#define DW_STORE_REDIS_CUT_OFF_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "store/redis/wire/node.h"

#define CUT_OFF_WORDS 200

/* With CUT_MENDED the server takes commands again, but the owner has not renewed its lease yet. */
enum cut_state { CUT_NOT, CUT_OFF, CUT_MENDED };

struct shard_cut {
	enum cut_state state;
	bool is_asked;    /* types.lua is under way */
	bool is_answered; /* operations of the shard, which is cut off, were answered so */
	/* When the server refused types.lua first, for a reason that may pass; 0: it did not
	 * (steady clock). */
	dw_usec refused_since;
	dw_usec look_at;           /* when a shard that was refused is asked again (steady clock) */
	char words[CUT_OFF_WORDS]; /* why the shard is cut off */
};

/* cut_off_ask asks types.lua about the shard's keys. Its parameters and result are those of
 * request_post. */
int cut_off_ask(struct redis_store *, struct shard *, request_answered *, request_lost *,
		void *context);

/* cut_off_learn takes the reply to cut_off_ask. Returns true if the shard is cut off. */
bool cut_off_learn(struct redis_store *, struct shard *, const struct reply *);

/* cut_off_type_differs returns true if the reply of types.lua says that this key has a wrong type.
 * Then ret_words (CUT_OFF_WORDS bytes) says what is wrong. */
bool cut_off_type_differs(const struct reply *, unsigned key, char *ret_words);

/* cut_off_look asks about a shard, because one of its commands was refused. cut_off_work asks again
 * about it: a second after a refusal that may pass, and each second while the shard is cut off.
 * cut_off_due says when it asks next. */
void cut_off_look(struct redis_store *, struct shard *);
void cut_off_work(struct redis_store *);
dw_usec cut_off_due(const struct redis_store *);

/* cut_off_connected asks about the shards of a node again, because it is connected. */
void cut_off_connected(struct redis_store *, const struct node *);

/* cut_off_end puts a shard back into use. */
void cut_off_end(struct redis_store *, struct shard *);

/* cut_off_settled returns true if each node is connected, or is away for so long that its shards
 * are
 * cut off. With one node that is its connection. */
bool cut_off_settled(const struct redis_store *);

/* cut_off_all returns why all shards are cut off, or NULL if some are not. */
const char *cut_off_all(const struct redis_store *);

/* cut_off_take implements dw_store_class.take_shard. */
bool cut_off_take(struct redis_store *, dw_shard_news *ret_news);

#endif
