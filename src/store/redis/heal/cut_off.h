/* Shards that are cut off: the server refuses the commands of the shard, or one of its keys has a
 * wrong type. Operations on such a shard fail, and its timers wait. All other shards work on.
 *
 * When a command of a shard is refused, the store runs types.lua on all keys of the shard. The
 * reply decides: if the script is refused, too, or a key has a wrong type, the shard is cut off. So
 * a single command that the user may not run does not cut the shard off. While a slot moves to
 * another node, the server refuses for a moment (TRYAGAIN). So such a refusal must last for a
 * second. */
#ifndef DW_STORE_REDIS_CUT_OFF_H
#define DW_STORE_REDIS_CUT_OFF_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "store/redis/wire/node.h"

#define CUT_OFF_WORDS 200

/* CUT_MENDED: the server takes commands again, but the owner has not renewed its lease yet. */
enum cut_state { CUT_NOT, CUT_OFF, CUT_MENDED };

struct shard_cut {
	enum cut_state state;
	bool is_asked; /* types.lua is running on the shard */
	/* Waiting operations of the cut-off shard were answered with its error. */
	bool is_answered;
	/* When the server first refused types.lua for a reason that may pass (steady clock). 0: it
	 * does not refuse so. */
	dw_usec refused_since;
	dw_usec look_at; /* when a shard that was refused is asked again (steady clock) */
	/* CUT_MENDED: until then, cut_off_is_sure() returns false (steady clock). */
	dw_usec unsure_until;
	char words[CUT_OFF_WORDS]; /* why the shard is cut off */
};

/* cut_off_ask runs types.lua on the shard's keys. Its parameters and its result are those of
 * request_post. */
int cut_off_ask(struct redis_store *, struct shard *, request_answered *, request_lost *,
		void *context);

/* cut_off_learn takes the reply to cut_off_ask. Returns true if the shard is cut off. */
bool cut_off_learn(struct redis_store *, struct shard *, const struct reply *);

/* cut_off_type_differs returns true if the reply of types.lua says that this key has a wrong type.
 * Then ret_words (CUT_OFF_WORDS bytes) says what is wrong. */
bool cut_off_type_differs(const struct reply *, unsigned key, char *ret_words);

/* cut_off_look runs types.lua on a shard, because one of its commands was refused. It also does so
 * when another shard is refused or is taken again, because that may concern all shards.
 * cut_off_work runs it again: a second after a refusal that may pass, and each second while the
 * shard is cut off. cut_off_due returns when cut_off_work must be called next. */
void cut_off_look(struct redis_store *, struct shard *);
void cut_off_work(struct redis_store *);
dw_usec cut_off_due(const struct redis_store *);

/* cut_off_connected looks at the cut-off shards of a node again, because the node is connected. */
void cut_off_connected(struct redis_store *, const struct node *);

/* cut_off_end puts a shard back into use. */
void cut_off_end(struct redis_store *, struct shard *);

/* cut_off_settled returns true if each node is connected, or has been away for so long that its
 * shards are cut off. With one node it returns true if that node is connected. */
bool cut_off_settled(const struct redis_store *);

/* cut_off_all returns why all shards are cut off, or NULL if some shards are not cut off. */
const char *cut_off_all(const struct redis_store *);

/* cut_off_is_sure returns false while types.lua is asked about a shard, or while a shard that the
 * server takes again is not yet in use. The latter counts for one second. */
bool cut_off_is_sure(const struct redis_store *);

/* cut_off_take implements dw_store_class.take_shard. */
bool cut_off_take(struct redis_store *, dw_shard_news *ret_news);

#endif
