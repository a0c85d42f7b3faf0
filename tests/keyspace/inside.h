/* The insides of the keyspace. Calls go down:
 *
 *	keyspace.c   the calls of users: a command, and looking
 *	interpreter.c Lua: the scripts are compiled and called; redis.call
 *	lua_memory.c Lua: its memory
 *	structs.c    Lua: struct and bit
 *	patch.c      planted mistakes
 *	commands.c   the table of commands; what may be run
 *	plain.c      commands of keys, strings, hashes and lists
 *	sorted.c     commands of sorted sets
 *	number.c     numbers in words
 *	copy.c       all keys at once
 *	keys.c       keys and what is in them
 */
#ifndef DW_KEYSPACE_INSIDE_H
#define DW_KEYSPACE_INSIDE_H

#include <lua.h>
#include <stdint.h>

#include "keyspace/keyspace.h"
#include "store/redis/wire/script.h"

/* A field of a hash, a member of a sorted set, an item of a list, or a string. */
struct entry {
	double score;
	char *value; /* NULL for a member of a sorted set */
	size_t value_size;
	size_t name_size;
	char name[];
};

enum kind { KIND_STRING, KIND_HASH, KIND_LIST, KIND_SORTED };

/* A key is never empty. */
struct key {
	struct bytes name;
	enum kind kind;
	int64_t ends_ms;        /* the time of expiry in milliseconds; 0: never */
	struct entry **entries; /* sorted by name; the entries of a list are in the list's order */
	struct entry **order;   /* for a sorted set: the entries sorted by score and name */
	size_t count, room;
};

struct keyspace {
	struct alloc alloc;
	struct key **keys; /* sorted by name */
	size_t key_count, key_room;
	dw_usec now;
	enum keyspace_refusal refusal;
	const char *denied;
	const struct patch *patches;
	size_t patch_count;
	bool loaded[SCRIPT_COUNT];
	const char *script;              /* the name of the running script; NULL: none */
	bool has_written;                /* the running script has written */
	const struct bytes *script_keys; /* the keys that the running script may touch */
	int script_key_count;
	void (*watch)(void *user, const struct keyspace_command *);
	void *watch_user;
	unsigned (*heard)(void *user, struct bytes channel, struct bytes message);
	void *heard_user;
};

/* ---- keys.c ---- */
struct bytes bytes_of(const char *text);
bool bytes_equal(struct bytes, struct bytes);
int bytes_compare(struct bytes, struct bytes); /* compares as Redis does */
bool bytes_are(struct bytes, const char *text);

/* key_find returns the key, or NULL if the key does not exist or has expired. key_make returns the
 * key, and makes it if it does not exist. The caller must fill a new key. */
struct key *key_find(struct keyspace *, struct bytes name);
struct key *key_make(struct keyspace *, struct bytes name, enum kind);
void key_delete(struct keyspace *, struct key *);
void key_delete_empty(struct keyspace *, struct key *); /* deletes the key if it is empty */

struct bytes entry_name(const struct entry *);
struct bytes entry_value(const struct entry *);
struct entry *key_entry(const struct key *, struct bytes name); /* NULL: there is no such entry */
struct bytes key_value(const struct key *, struct bytes name);  /* no bytes if key is NULL */

/* key_set and key_rank add an entry. They return false if the entry existed and was changed.
 * key_push appends to a list. */
bool key_set(struct keyspace *, struct key *, struct bytes name, struct bytes value);
bool key_rank(struct keyspace *, struct key *, struct bytes name, double score);
void key_push(struct keyspace *, struct key *, struct bytes value);
bool key_remove(struct keyspace *, struct key *, struct bytes name); /* false: no such entry */
void key_shift(struct keyspace *, struct key *);                     /* drops the first item */

/* key_place returns how many members stand before this score and name. */
size_t key_place(const struct key *, double score, struct bytes name);

/* ---- number.c ---- */
bool integer_of(struct bytes, int64_t *ret_integer);
bool score_of(struct bytes, double *ret_score);
struct bytes score_text(double, char room[32]);

/* ---- commands.c ---- */
/* A call of a command. The command pushes one value, which redis.call returns. */
struct call {
	struct keyspace *keyspace;
	lua_State *lua;
	int count;
	const struct bytes *words;
};

/* These functions push the answer of a command. They return false if the answer is an error. */
bool answer_error(const struct call *, const char *text);
bool answer_integer(const struct call *, double);
bool answer_bytes(const struct call *, struct bytes); /* no bytes become Lua's false */
bool answer_status(const struct call *, const char *text);
bool answer_syntax(const struct call *);

/* call_key finds the key words[number]. Returns false if the key has another kind, after pushing
 * that error. *ret_key is NULL if the key does not exist. */
bool call_key(const struct call *, int number, enum kind, struct key **ret_key);

/* command_run runs a command and pushes its answer. Returns false if the answer is an error. */
bool command_run(const struct call *);

struct command {
	const char *name;
	size_t size;
	int words; /* the exact number of words, or -n for at least n */
	unsigned flags;
	bool (*run)(const struct call *);
};

#define COMMAND(name, words, flags, run)                                                           \
	{                                                                                          \
		name, sizeof(name) - 1, words, flags, run                                          \
	}

enum { COMMAND_WRITES = 1, COMMAND_NEEDS_MEMORY = 2 };

/* ---- plain.c, sorted.c: the tables end with a name that is NULL, and are in its order ---- */
extern const struct command plain_commands[];
extern const struct command sorted_commands[];

/* ---- interpreter.c ---- */
/* A call of one of our scripts, or of another text. */
struct script_call {
	enum redis_script_id script;
	struct bytes text; /* text.at is NULL for one of our scripts */
	int keys;
	int count; /* the number of keys and arguments */
	const struct bytes *words;
};

void interpreter_eval(struct keyspace *, struct reply *, const struct script_call *);
void interpreter_command(struct keyspace *, struct reply *, int count, const struct bytes *words);

/* ---- lua_memory.c ---- */
void *lua_memory(void *user, void *block, size_t old_size, size_t size);

/* ---- structs.c ---- */
void structs_open(lua_State *);

/* room_for returns a block of this size. If out of memory, it ends the program. */
void *room_for(struct keyspace *, void *block, size_t size);

#endif
