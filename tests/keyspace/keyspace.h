/* A Redis server inside the process, with the parts that the library needs: a small keyspace, and
 * the scripts of lua/ themselves, which Lua 5.1 runs as Redis does. A simulation can use it as its
 * server and needs no Redis. tests/unit/lua/test_redis_keyspace.c compares it with a server.
 *
 * It knows strings, hashes, lists and sorted sets, the commands that the scripts and the library
 * use, and the time that the test sets. Everything is ordered by its bytes, so the same calls
 * always have the same effects. If out of memory, it aborts. */
#ifndef DW_KEYSPACE_KEYSPACE_H
#define DW_KEYSPACE_KEYSPACE_H

#include <stdbool.h>

#include "base/alloc.h"
#include "durawheel/durawheel.h"
#include "keyspace/patch.h"
#include "redis/reply.h"

struct keyspace;

struct bytes {
	const char *at; /* NULL: no bytes. A stored value ends with a NUL after its `size` bytes. */
	size_t size;
};

/* keyspace_new makes an empty keyspace. The allocator serves keys, values and replies, but not Lua.
 * All keyspaces of a process share one interpreter, which compiles each script once. */
struct keyspace *keyspace_new(const struct alloc *);
void keyspace_free(struct keyspace *);

/* keyspace_set_time sets the time, in microseconds since 1970, for TIME and for expiry. */
void keyspace_set_time(struct keyspace *, dw_usec now);

/* Why a server refuses commands of a script or of a client. KEYSPACE_FULL: it refuses commands that
 * need memory (OOM). KEYSPACE_READS_ONLY: it refuses commands that write (READONLY).
 * KEYSPACE_DENIES: it refuses the command `denied`, which the user may not run (NOPERM). OOM and
 * READONLY never occur after the first write of a script. */
enum keyspace_refusal { KEYSPACE_ACCEPTS, KEYSPACE_FULL, KEYSPACE_READS_ONLY, KEYSPACE_DENIES };
void keyspace_refuse(struct keyspace *, enum keyspace_refusal, const char *denied);

/* keyspace_plant makes all scripts run with these patches from now on. NULL removes them. */
void keyspace_plant(struct keyspace *, const struct patch *, size_t count);

/* A command of a script, before it runs. */
struct keyspace_command {
	const char *script; /* the name of the script's file */
	int count;
	const struct bytes *words;
};

/* keyspace_watch makes the keyspace call fn for each command of the scripts. fn may read what is
 * stored. */
void keyspace_watch(struct keyspace *, void (*fn)(void *user, const struct keyspace_command *),
		    void *user);

/* keyspace_listen makes the keyspace call fn for each published message. fn returns the number of
 * receivers. */
void keyspace_listen(struct keyspace *,
		     unsigned (*fn)(void *user, struct bytes channel, struct bytes message),
		     void *user);

/* keyspace_call runs one command. The caller frees the reply. */
struct reply *keyspace_call(struct keyspace *, int count, const char *const *words,
			    const size_t *sizes);

/* keyspace_load makes every script known, as SCRIPT LOAD does. */
void keyspace_load(struct keyspace *);

/* keyspace_script returns the name of the script with the hash of an EVALSHA, or NULL if the hash
 * is none of ours. */
const char *keyspace_script(const char *sha1, size_t size);
const char *keyspace_script_of(const char *text, size_t size); /* for the text of an EVAL */

struct keyspace_field {
	const char *key;
	struct bytes name;
	struct bytes value;
};

/* keyspace_dump calls fn for each field of each key, in the order of their bytes. A string has one
 * field with an empty name. A list has a field for each item, in the order of the list. For a
 * sorted set the value is the score, and the order is that of Redis. */
void keyspace_dump(struct keyspace *, void (*fn)(void *user, const struct keyspace_field *),
		   void *user);

/* keyspace_value returns a field of a hash. keyspace_string returns a string. They return NULL if
 * there is none. The bytes live until the next call. */
const char *keyspace_value(struct keyspace *, const char *key, const char *field, size_t *ret_size);
const char *keyspace_string(struct keyspace *, const char *key, size_t *ret_size);

/* keyspace_score reads the score of a member of a sorted set. Returns false if there is no such
 * member. */
bool keyspace_score(struct keyspace *, const char *key, const char *member, double *ret_score);

/* keyspace_is_even returns true if every timer of a shard has both an index entry and a value.
 * `prefix` begins the keys of the shard. */
bool keyspace_is_even(struct keyspace *, const char *prefix);

/* keyspace_copy returns a new keyspace with everything that is stored. keyspace_set_back replaces
 * what is stored by such a copy. keyspace_empty deletes all keys whose names begin with the
 * prefix. */
struct keyspace *keyspace_copy(struct keyspace *);
void keyspace_set_back(struct keyspace *, const struct keyspace *copy);
void keyspace_empty(struct keyspace *, const char *prefix);
/* keyspace_take moves all keys whose names begin with the prefix to another keyspace. */
void keyspace_take(struct keyspace *to, struct keyspace *from, const char *prefix);

#endif
