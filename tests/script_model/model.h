/* The scripts' model: what a Redis server does with the scripts of lua/, in C, one function a
 * script, with the same effects and the same answers. A simulation that wants to be the server
 * needs no Redis then; and tests/unit/lua/test_redis_script_model.c holds the two against each
 * other.
 *
 * It knows the nine keys of a shard, EVALSHA of our scripts, SCRIPT, PUBLISH, and as much of HSET,
 * HGET, HMGET, ZADD, DEL, GET, PTTL as its users need. It knows one time, which it is given.
 * Not in it: what a script that is called with nonsense says, and keys of another type. */
#ifndef DW_SCRIPT_MODEL_MODEL_H
#define DW_SCRIPT_MODEL_MODEL_H

#include <stdbool.h>

#include "base/alloc.h"
#include "durawheel/durawheel.h"
#include "redis/reply.h"

struct script_model;

/* What a simulation plants: plausible mistakes of the scripts. */
enum model_bug {
	MODEL_SOUND,
	MODEL_ANY_TOKEN,         /* the guard compares no token, and no connection of a session */
	MODEL_CLAIM_ANY,         /* a claim takes what is stored, whatever its version */
	MODEL_CANCEL_NEVER_OPEN, /* a client's cancel forgets the earlier claim */
	MODEL_ACK_BY_ID,         /* acknowledges what was written again since */
	MODEL_ATTEMPT_KEPT,      /* claiming again what a dead owner had claimed */
	MODEL_PUSH_LOST,         /* a repush does nothing */
	MODEL_PUSH_FRESH,        /* a repush begins to count attempts again */
	MODEL_DELETE_LOST,       /* a redelete does nothing */
	MODEL_FENCE_EXACT,       /* a row has ended only the claim of its own fence */
	MODEL_ROW_AGAIN,         /* a row is replayed again */
	MODEL_NO_JUMP,           /* a takeover raises the attempt by 1 */
	MODEL_START_LOST,        /* a row's claim does nothing */
	MODEL_CANCEL_SURE,       /* a client's change does not wait for the owner */
	MODEL_LATE_UNSAID,       /* a client that waits does not hear that it came too late */
	MODEL_LOWER_FENCE,       /* a refusal tells each fence as the highest one */
	MODEL_END_LOST,          /* a timer ends, and its end is not kept */
	MODEL_END_EARLY,         /* an end is kept of a settle that is refused */
	MODEL_ONCE_AGAIN         /* a put does not look whether an end is kept */
};

/* model_new aborts without memory, as all of it does; replies are made by the same allocator. */
struct script_model *model_new(const struct alloc *);
void model_free(struct script_model *);

/* model_set_time: microseconds since 1970, for TIME and for what expires. */
void model_set_time(struct script_model *, dw_usec now);

/* model_set_full: there is no memory for what makes new timers (maxmemory). */
void model_set_full(struct script_model *, bool full);
void model_set_bug(struct script_model *, enum model_bug);
/* model_be_strict: an owner that claims what it knows, and is wrong, ends the program. */
void model_be_strict(struct script_model *);
/* model_watch_known: fn is told what was stored of each timer that is claimed or settled so,
 * NULL: nothing, in their order. */
void model_watch_known(struct script_model *,
		       void (*fn)(void *user, const char *value, size_t size), void *user);

/* model_listen: fn hears what is published, and returns how many did. */
void model_listen(struct script_model *,
		  unsigned (*fn)(void *user, const char *channel, size_t size, long long shard),
		  void *user);

/* model_call carries one command out; the reply is the caller's. */
struct reply *model_call(struct script_model *, int count, const char *const *words,
			 const size_t *sizes);

/* model_load: every script is there, as after a SCRIPT LOAD of each. */
void model_load(struct script_model *);

/* model_script: the script that an EVALSHA names, by the name of its file; NULL: none of ours. */
const char *model_script(const char *sha1, size_t size);
const char *model_script_of(const char *text, size_t size); /* that an EVAL has */

struct model_field {
	const char *key;
	const char *name;
	size_t name_size;
	const char *value;
	size_t value_size;
};

/* model_dump calls fn for each field of each key, in the order of their bytes: of a string with an
 * empty field, of a sorted set with the score as value. */
void model_dump(struct script_model *, void (*fn)(void *user, const struct model_field *),
		void *user);

/* model_value: the value of a timer; NULL: none. model_lease: the token of a lease; NULL: none.
 * Both until the next call. */
const char *model_value(struct script_model *, const char *key, const char *id, size_t *ret_size);
const char *model_lease(struct script_model *, const char *key, size_t *ret_size);

/* model_score: that of an id in a sorted set; false: it is not there. */
bool model_score(struct script_model *, const char *key, const char *id, double *ret_score);

/* model_is_even: in the shard whose keys begin so every timer has an entry, a value and a
 * member in the index by topic. */
bool model_is_even(struct script_model *, const char *prefix);

/* model_copy: all that is stored, as a model of its own; model_set_back makes that what is stored.
 * model_empty deletes the keys whose names begin so. */
struct script_model *model_copy(struct script_model *);
void model_set_back(struct script_model *, const struct script_model *copy);
void model_empty(struct script_model *, const char *prefix);

#endif
