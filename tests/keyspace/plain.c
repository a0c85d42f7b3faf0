/* Commands of keys, strings, hashes and lists. */
#include "keyspace/inside.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>

#define NOT_AN_INTEGER "ERR value is not an integer or out of range"

static const struct bytes nameless = {"", 0};

/* begin_array pushes an array to which items are added. */
static void begin_array(const struct call *call, size_t count)
{
	lua_createtable(call->lua, (int)count, 0);
}

static void add_bytes(const struct call *call, struct bytes bytes, size_t number)
{
	(void)answer_bytes(call, bytes); /* it always pushes a value */
	lua_rawseti(call->lua, -2, (int)number);
}

/* ---- Keys and strings ---------------------------------------------------------------------- */

static bool run_del(const struct call *call)
{
	int count = 0;

	for (int i = 1; i < call->count; i++) {
		struct key *key = key_find(call->keyspace, call->words[i]);

		count += key != NULL;
		if (key)
			key_delete(call->keyspace, key);
	}
	return answer_integer(call, count);
}

static bool run_exists(const struct call *call)
{
	int count = 0;

	for (int i = 1; i < call->count; i++)
		count += key_find(call->keyspace, call->words[i]) != NULL;
	return answer_integer(call, count);
}

static bool run_type(const struct call *call)
{
	static const char *const names[] = {[KIND_STRING] = "string",
					    [KIND_HASH] = "hash",
					    [KIND_LIST] = "list",
					    [KIND_SORTED] = "zset"};
	const struct key *key = key_find(call->keyspace, call->words[1]);

	return answer_status(call, key ? names[key->kind] : "none");
}

static bool run_pexpire(const struct call *call)
{
	struct key *key;
	int64_t ttl;

	if (!integer_of(call->words[2], &ttl))
		return answer_error(call, NOT_AN_INTEGER);
	key = key_find(call->keyspace, call->words[1]);
	if (key && ttl > 0)
		key->ends_ms = call->keyspace->now / 1000 + ttl;
	else if (key)
		key_delete(call->keyspace, key);
	return answer_integer(call, key != NULL);
}

static bool run_pttl(const struct call *call)
{
	const struct key *key = key_find(call->keyspace, call->words[1]);

	if (!key || key->ends_ms == 0)
		return answer_integer(call, key ? -1 : -2);
	return answer_integer(call, (double)(key->ends_ms - call->keyspace->now / 1000));
}

static bool run_get(const struct call *call)
{
	struct key *key;

	return call_key(call, 1, KIND_STRING, &key) && answer_bytes(call, key_value(key, nameless));
}

/* run_set takes PX with milliseconds, or no time of expiry. */
static bool run_set(const struct call *call)
{
	struct keyspace *keyspace = call->keyspace;
	struct key *key = key_find(keyspace, call->words[1]);
	int64_t ttl = 0;

	if (call->count != 3 && (call->count != 5 || !bytes_are(call->words[3], "PX")))
		return answer_syntax(call);
	if (call->count == 5 && !integer_of(call->words[4], &ttl))
		return answer_error(call, NOT_AN_INTEGER);
	if (call->count == 5 && ttl <= 0)
		return answer_error(call, "ERR invalid expire time in 'set' command");
	if (key && key->kind != KIND_STRING)
		key_delete(keyspace, key);
	key = key_make(keyspace, call->words[1], KIND_STRING);
	(void)key_set(keyspace, key, nameless, call->words[2]); /* the entry may be new or not */
	key->ends_ms = ttl > 0 ? keyspace->now / 1000 + ttl : 0;
	return answer_status(call, "OK");
}

static bool run_time(const struct call *call)
{
	char text[24];
	int64_t parts[] = {call->keyspace->now / 1000000, call->keyspace->now % 1000000};

	begin_array(call, 2);
	for (size_t i = 0; i < 2; i++) {
		int size = snprintf(text, sizeof text, "%" PRId64, parts[i]);

		add_bytes(call, (struct bytes){text, (size_t)size}, i + 1);
	}
	return true;
}

static bool run_publish(const struct call *call)
{
	const struct keyspace *keyspace = call->keyspace;

	return answer_integer(
	    call, keyspace->heard
		      ? keyspace->heard(keyspace->heard_user, call->words[1], call->words[2])
		      : 0);
}

/* ---- Hashes -------------------------------------------------------------------------------- */

static bool run_hset(const struct call *call)
{
	struct key *key;
	int count = 0;

	if (call->count % 2 != 0)
		return answer_error(call, "ERR wrong number of arguments for 'hset' command");
	if (!call_key(call, 1, KIND_HASH, &key))
		return false;
	key = key_make(call->keyspace, call->words[1], KIND_HASH);
	for (int i = 2; i < call->count; i += 2)
		count += key_set(call->keyspace, key, call->words[i], call->words[i + 1]);
	return answer_integer(call, count);
}

/* remove_all removes the fields or members that the words name. */
static bool remove_all(const struct call *call, enum kind kind)
{
	struct key *key;
	int count = 0;

	if (!call_key(call, 1, kind, &key))
		return false;
	for (int i = 2; key && i < call->count; i++)
		count += key_remove(call->keyspace, key, call->words[i]);
	if (key)
		key_delete_empty(call->keyspace, key);
	return answer_integer(call, count);
}

static bool run_hdel(const struct call *call)
{
	return remove_all(call, KIND_HASH);
}

static bool run_zrem(const struct call *call)
{
	return remove_all(call, KIND_SORTED);
}

static bool run_hget(const struct call *call)
{
	struct key *key;

	return call_key(call, 1, KIND_HASH, &key) &&
	       answer_bytes(call, key_value(key, call->words[2]));
}

static bool run_hstrlen(const struct call *call)
{
	struct key *key;

	return call_key(call, 1, KIND_HASH, &key) &&
	       answer_integer(call, (double)key_value(key, call->words[2]).size);
}

static bool run_hmget(const struct call *call)
{
	struct key *key;

	if (!call_key(call, 1, KIND_HASH, &key))
		return false;
	begin_array(call, (size_t)call->count - 2);
	for (int i = 2; i < call->count; i++)
		add_bytes(call, key_value(key, call->words[i]), (size_t)i - 1);
	return true;
}

static bool run_hexists(const struct call *call)
{
	struct key *key;

	return call_key(call, 1, KIND_HASH, &key) &&
	       answer_integer(call, key_entry(key, call->words[2]) != NULL);
}

static bool answer_count(const struct call *call, enum kind kind)
{
	struct key *key;

	return call_key(call, 1, kind, &key) && answer_integer(call, key ? (double)key->count : 0);
}

static bool run_hlen(const struct call *call)
{
	return answer_count(call, KIND_HASH);
}

static bool run_zcard(const struct call *call)
{
	return answer_count(call, KIND_SORTED);
}

static bool run_llen(const struct call *call)
{
	return answer_count(call, KIND_LIST);
}

/* push_entries pushes name and value of each entry whose name matches. For a sorted set it pushes
 * the score. */
static void push_entries(const struct call *call, const struct key *key, const char *pattern)
{
	size_t at = 0;
	char room[32];

	begin_array(call, key ? 2 * key->count : 0);
	for (size_t i = 0; key && i < key->count; i++) {
		const struct entry *entry = key->entries[i];

		if (pattern && fnmatch(pattern, entry->name, 0) != 0)
			continue;
		add_bytes(call, entry_name(entry), ++at);
		add_bytes(call, entry->value ? entry_value(entry) : score_text(entry->score, room),
			  ++at);
	}
}

static bool run_hgetall(const struct call *call)
{
	struct key *key;

	if (!call_key(call, 1, KIND_HASH, &key))
		return false;
	push_entries(call, key, NULL);
	return true;
}

/* scan returns everything at once, as Redis does for small keys. Of MATCH it knows patterns like
 * "r:*", the only ones that the scripts use. Redis and fnmatch() differ in what "[^" means, and
 * fnmatch() ends at a NUL. */
static bool scan(const struct call *call, enum kind kind)
{
	const char *pattern = NULL;
	struct key *key;

	if (!call_key(call, 1, kind, &key))
		return false;
	for (int i = 3; key && i < call->count; i += 2)
		if (i + 1 < call->count && bytes_are(call->words[i], "MATCH"))
			pattern = call->words[i + 1].at;
		else if (i + 1 == call->count || !bytes_are(call->words[i], "COUNT"))
			return answer_syntax(call);
	begin_array(call, 2);
	add_bytes(call, bytes_of("0"), 1);
	push_entries(call, key, pattern);
	lua_rawseti(call->lua, -2, 2);
	return true;
}

static bool run_hscan(const struct call *call)
{
	return scan(call, KIND_HASH);
}

static bool run_zscan(const struct call *call)
{
	return scan(call, KIND_SORTED);
}

static bool adds_up(int64_t number, int64_t step)
{
	return step < 0 ? number >= INT64_MIN - step : number <= INT64_MAX - step;
}

static bool run_hincrby(const struct call *call)
{
	struct keyspace *keyspace = call->keyspace;
	struct bytes value;
	struct key *key;
	int64_t number = 0;
	int64_t step;
	char text[24];
	int size;

	if (!integer_of(call->words[3], &step))
		return answer_error(call, NOT_AN_INTEGER);
	if (!call_key(call, 1, KIND_HASH, &key))
		return false;
	value = key_value(key, call->words[2]);
	if (value.at && !integer_of(value, &number))
		return answer_error(call, "ERR hash value is not an integer");
	if (!adds_up(number, step))
		return answer_error(call, "ERR increment or decrement would overflow");
	size = snprintf(text, sizeof text, "%" PRId64, number + step);
	key = key_make(keyspace, call->words[1], KIND_HASH);
	(void)key_set(keyspace, key, call->words[2],
		      (struct bytes){text, (size_t)size}); /* the field may be new or not */
	return answer_integer(call, (double)(number + step));
}

/* ---- Lists --------------------------------------------------------------------------------- */

static bool run_rpush(const struct call *call)
{
	struct key *key;

	if (!call_key(call, 1, KIND_LIST, &key))
		return false;
	key = key_make(call->keyspace, call->words[1], KIND_LIST);
	for (int i = 2; i < call->count; i++)
		key_push(call->keyspace, key, call->words[i]);
	return answer_integer(call, (double)key->count);
}

static bool run_lpop(const struct call *call)
{
	int64_t count = 1;
	struct key *key;

	if (call->count > 2 && (!integer_of(call->words[2], &count) || count < 0))
		return answer_error(call, "ERR value is out of range, must be positive");
	if (!call_key(call, 1, KIND_LIST, &key))
		return false;
	if (!key)
		return answer_bytes(call, (struct bytes){NULL, 0});
	if (call->count == 2)
		(void)answer_bytes(call, entry_value(key->entries[0])); /* it always pushes */
	else
		begin_array(call, 0);
	for (int64_t i = 1; i <= count && key->count > 0; i++) {
		if (call->count > 2)
			add_bytes(call, entry_value(key->entries[0]), (size_t)i);
		key_shift(call->keyspace, key);
	}
	key_delete_empty(call->keyspace, key);
	return true;
}

static bool run_lrange(const struct call *call)
{
	int64_t from, to, count;
	struct key *key;

	if (!integer_of(call->words[2], &from) || !integer_of(call->words[3], &to))
		return answer_error(call, NOT_AN_INTEGER);
	if (!call_key(call, 1, KIND_LIST, &key))
		return false;
	count = key ? (int64_t)key->count : 0;
	from = from < 0 ? (from + count < 0 ? 0 : from + count) : from;
	to = to < 0 ? to + count : to;
	begin_array(call, 0);
	for (int64_t i = from; i <= to && i < count; i++)
		add_bytes(call, entry_value(key->entries[i]), (size_t)(i - from) + 1);
	return true;
}

static bool run_lindex(const struct call *call)
{
	struct key *key;
	int64_t at = 0;

	if (!call_key(call, 1, KIND_LIST, &key))
		return false;
	if (key && !integer_of(call->words[2], &at))
		return answer_error(call, NOT_AN_INTEGER);
	at = key && at < 0 ? at + (int64_t)key->count : at;
	if (!key || at < 0 || at >= (int64_t)key->count)
		return answer_bytes(call, (struct bytes){NULL, 0});
	return answer_bytes(call, entry_value(key->entries[at]));
}

enum { NEEDS_MEMORY = COMMAND_WRITES | COMMAND_NEEDS_MEMORY };

const struct command plain_commands[] = {
    COMMAND("HMGET", -3, 0, run_hmget),
    COMMAND("GET", 2, 0, run_get),
    COMMAND("ZCARD", 2, 0, run_zcard),
    COMMAND("HSET", -4, NEEDS_MEMORY, run_hset),
    COMMAND("HLEN", 2, 0, run_hlen),
    COMMAND("TIME", 1, 0, run_time),
    COMMAND("PEXPIRE", 3, COMMAND_WRITES, run_pexpire),
    COMMAND("HGET", 3, 0, run_hget),
    COMMAND("ZREM", -3, COMMAND_WRITES, run_zrem),
    COMMAND("HDEL", -3, COMMAND_WRITES, run_hdel),
    COMMAND("SET", -3, NEEDS_MEMORY, run_set),
    COMMAND("PTTL", 2, 0, run_pttl),
    COMMAND("PUBLISH", 3, 0, run_publish),
    COMMAND("HEXISTS", 3, 0, run_hexists),
    COMMAND("HSTRLEN", 3, 0, run_hstrlen),
    COMMAND("HGETALL", 2, 0, run_hgetall),
    COMMAND("HINCRBY", 4, NEEDS_MEMORY, run_hincrby),
    COMMAND("HSCAN", -3, 0, run_hscan),
    COMMAND("ZSCAN", -3, 0, run_zscan),
    COMMAND("TYPE", 2, 0, run_type),
    COMMAND("EXISTS", -2, 0, run_exists),
    COMMAND("DEL", -2, COMMAND_WRITES, run_del),
    COMMAND("UNLINK", -2, COMMAND_WRITES, run_del),
    COMMAND("LLEN", 2, 0, run_llen),
    COMMAND("LPOP", -2, COMMAND_WRITES, run_lpop),
    COMMAND("LRANGE", 4, 0, run_lrange),
    COMMAND("LINDEX", 3, 0, run_lindex),
    COMMAND("RPUSH", -3, NEEDS_MEMORY, run_rpush),
    {NULL, 0, 0, 0, NULL},
};
