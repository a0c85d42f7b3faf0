/* A Redis server inside of the process, as far as the library needs one: a small keyspace, and the
 * scripts of lua/ themselves, which Lua 5.1 runs as Redis does. A simulation that wants to be the
 * server needs no Redis then. tests/unit/lua/test_keyspace.c compares it with a redis-server.
 *
 * It knows strings, hashes, lists and sorted sets, the commands that the scripts and the library
 * use, and one time, which it is given. Everything has an order that the bytes decide, so the same
 * calls always have the same effects. It aborts without memory. */
#ifndef DW_KEYSPACE_KEYSPACE_H
#define DW_KEYSPACE_KEYSPACE_H

#include <stdbool.h>

#include "base/alloc.h"
#include "durawheel/durawheel.h"
#include "keyspace/patch.h"
#include "redis/reply.h"

struct keyspace;

struct bytes {
	const char *at; /* NULL: none. A value that is stored ends with a NUL behind its size */
	size_t size;
};

/* keyspace_new: keys, values and replies are made by this allocator. Lua's memory is not: all
 * keyspaces of a process share one interpreter, in which a script is compiled once. */
struct keyspace *keyspace_new(const struct alloc *);
void keyspace_free(struct keyspace *);

/* keyspace_set_time: microseconds since 1970, for TIME and for what expires. */
void keyspace_set_time(struct keyspace *, dw_usec now);

/* Why a server refuses commands of a script or of a client. KEYSPACE_FULL: those that need memory
 * (OOM); KEYSPACE_READS_ONLY: those that write (READONLY); KEYSPACE_DENIES: those that the user
 * may not run (NOPERM), here the one that is named. OOM and READONLY never come after the first
 * write of a script. */
enum keyspace_refusal { KEYSPACE_ACCEPTS, KEYSPACE_FULL, KEYSPACE_READS_ONLY, KEYSPACE_DENIES };
void keyspace_refuse(struct keyspace *, enum keyspace_refusal, const char *denied);

/* keyspace_plant: from now on the scripts have these patches. NULL: none. */
void keyspace_plant(struct keyspace *, const struct patch *, size_t count);

/* A command of a script, before it is carried out. */
struct keyspace_command {
	const char *script; /* the name of its file */
	int count;
	const struct bytes *words;
};

/* keyspace_watch: fn is told each command of the scripts. It may look at what is stored. */
void keyspace_watch(struct keyspace *, void (*fn)(void *user, const struct keyspace_command *),
		    void *user);

/* keyspace_listen: fn hears what is published, and returns how many did. */
void keyspace_listen(struct keyspace *,
		     unsigned (*fn)(void *user, struct bytes channel, struct bytes message),
		     void *user);

/* keyspace_call carries one command out; the reply is the caller's. */
struct reply *keyspace_call(struct keyspace *, int count, const char *const *words,
			    const size_t *sizes);

/* keyspace_load: every script is there, as after a SCRIPT LOAD of each. */
void keyspace_load(struct keyspace *);

/* keyspace_script: the name of the script that an EVALSHA names; NULL: none of ours. */
const char *keyspace_script(const char *sha1, size_t size);
const char *keyspace_script_of(const char *text, size_t size); /* that an EVAL has */

struct keyspace_field {
	const char *key;
	struct bytes name;
	struct bytes value;
};

/* keyspace_dump calls fn for each field of each key, in the order of their bytes: of a string with
 * an empty name, of a list with one for each item in its order, of a sorted set with the score as
 * value, in the order of Redis. */
void keyspace_dump(struct keyspace *, void (*fn)(void *user, const struct keyspace_field *),
		   void *user);

/* keyspace_value: a field of a hash; keyspace_string: a string. NULL: none. Both until the next
 * call. */
const char *keyspace_value(struct keyspace *, const char *key, const char *field, size_t *ret_size);
const char *keyspace_string(struct keyspace *, const char *key, size_t *ret_size);

/* keyspace_score: that of a member of a sorted set; false: it is not there. */
bool keyspace_score(struct keyspace *, const char *key, const char *member, double *ret_score);

/* keyspace_is_even: in the shard whose keys begin so every timer has an entry and a value. */
bool keyspace_is_even(struct keyspace *, const char *prefix);

/* keyspace_copy: all that is stored, as a keyspace of its own; keyspace_set_back makes that what is
 * stored. keyspace_empty deletes the keys whose names begin so. */
struct keyspace *keyspace_copy(struct keyspace *);
void keyspace_set_back(struct keyspace *, const struct keyspace *copy);
void keyspace_empty(struct keyspace *, const char *prefix);
/* keyspace_take moves the keys whose names begin so to another keyspace. */
void keyspace_take(struct keyspace *to, struct keyspace *from, const char *prefix);

#endif
