/* The scripts' twin: what a Redis server does with the scripts of lua/, in C, one function a
 * script, with the same effects and the same answers. A simulation that wants to be the server
 * needs no Redis then; and tests/unit/test_redis_twin.c holds the two against each other.
 *
 * It knows the nine keys of a shard, EVALSHA of our scripts, SCRIPT, PUBLISH, and as much of HSET,
 * HGET, HMGET, ZADD, DEL, GET, PTTL as its users need. It knows one time, which it is given.
 * Not in it: what a script that is called with nonsense says, and keys of another type. */
#ifndef DW_TESTS_TWIN_H
#define DW_TESTS_TWIN_H

#include <stdbool.h>

#include "base/alloc.h"
#include "durawheel/durawheel.h"
#include "store/redis/reply.h"

struct twin;

/* What a simulation plants: plausible mistakes of the scripts. */
enum twin_bug {
	TWIN_SOUND,
	TWIN_ANY_TOKEN,         /* the guard compares no token, and no connection of a session */
	TWIN_CLAIM_ANY,         /* a claim takes what is stored, whatever its version */
	TWIN_CANCEL_NEVER_OPEN, /* a client's cancel forgets the earlier claim */
	TWIN_ACK_BY_ID,         /* acknowledges what was written again since */
	TWIN_ATTEMPT_KEPT,      /* claiming again what a dead owner had claimed */
	TWIN_PUSH_LOST,         /* a repush does nothing */
	TWIN_PUSH_FRESH,        /* a repush begins to count attempts anew */
	TWIN_DELETE_LOST        /* a redelete does nothing */
};

/* twin_new aborts without memory, as all of it does; replies are made by the same allocator. */
struct twin *twin_new(const struct alloc *);
void twin_free(struct twin *);

/* twin_set_time: microseconds since 1970, for TIME and for what expires. */
void twin_set_time(struct twin *, dw_usec now);

/* twin_set_full: there is no memory for what makes new timers (maxmemory). */
void twin_set_full(struct twin *, bool full);
void twin_set_bug(struct twin *, enum twin_bug);
/* twin_be_strict: an owner that claims what it knows, and is wrong, ends the program. */
void twin_be_strict(struct twin *);
/* twin_watch_known: fn is told what was stored of each timer that is claimed or settled so, NULL:
 * nothing, in their order. */
void twin_watch_known(struct twin *, void (*fn)(void *user, const char *value, size_t size),
		      void *user);

/* twin_listen: fn hears what is published, and returns how many did. */
void twin_listen(struct twin *,
		 unsigned (*fn)(void *user, const char *channel, size_t size, long long shard),
		 void *user);

/* twin_call carries one command out; the reply is the caller's. */
struct reply *twin_call(struct twin *, int count, const char *const *words, const size_t *sizes);

/* twin_load: every script is there, as after a SCRIPT LOAD of each. */
void twin_load(struct twin *);

/* twin_script: the script that an EVALSHA names, by the name of its file; NULL: none of ours. */
const char *twin_script(const char *sha1, size_t size);
const char *twin_script_of(const char *text, size_t size); /* that an EVAL has */

struct twin_field {
	const char *key;
	const char *name;
	size_t name_size;
	const char *value;
	size_t value_size;
};

/* twin_dump calls fn for each field of each key, in the order of their bytes: of a string with an
 * empty field, of a sorted set with the score as value. */
void twin_dump(struct twin *, void (*fn)(void *user, const struct twin_field *), void *user);

/* twin_value: the value of a timer; NULL: none. twin_lease: the token of a lease; NULL: none. Both
 * until the next call. */
const char *twin_value(struct twin *, const char *key, const char *id, size_t *ret_size);
const char *twin_lease(struct twin *, const char *key, size_t *ret_size);

/* twin_score: that of an id in a sorted set; false: it is not there. */
bool twin_score(struct twin *, const char *key, const char *id, double *ret_score);

/* twin_is_even: in the shard whose keys begin so every timer has an entry and a value. */
bool twin_is_even(struct twin *, const char *prefix);

/* twin_copy: all that is stored, as a twin of its own; twin_set_back makes that what is stored.
 * twin_empty deletes the keys whose names begin so. */
struct twin *twin_copy(struct twin *);
void twin_set_back(struct twin *, const struct twin *copy);
void twin_empty(struct twin *, const char *prefix);

#endif
