#include "keyspace/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 16384 };

/* A command of a client. */
struct request {
	struct keyspace *keyspace;
	struct reply *reply;
	int count;
	const struct bytes *words;
};

/* ---- Beginning and end --------------------------------------------------------------------- */

struct keyspace *keyspace_new(const struct alloc *alloc)
{
	struct keyspace *keyspace = alloc_new(alloc, sizeof *keyspace);

	if (!keyspace)
		abort();
	keyspace->alloc = *alloc;
	return keyspace;
}

void keyspace_free(struct keyspace *keyspace)
{
	keyspace_empty(keyspace, "");
	alloc_free(&keyspace->alloc, keyspace->keys);
	alloc_free(&keyspace->alloc, keyspace);
}

void keyspace_set_time(struct keyspace *keyspace, dw_usec now)
{
	keyspace->now = now;
}

void keyspace_refuse(struct keyspace *keyspace, enum keyspace_refusal refusal, const char *denied)
{
	keyspace->refusal = refusal;
	keyspace->denied = denied;
}

void keyspace_plant(struct keyspace *keyspace, const struct patch *patches, size_t count)
{
	keyspace->patches = patches;
	keyspace->patch_count = count;
}

void keyspace_watch(struct keyspace *keyspace,
		    void (*fn)(void *user, const struct keyspace_command *), void *user)
{
	keyspace->watch = fn;
	keyspace->watch_user = user;
}

void keyspace_listen(struct keyspace *keyspace,
		     unsigned (*fn)(void *user, struct bytes channel, struct bytes message),
		     void *user)
{
	keyspace->heard = fn;
	keyspace->heard_user = user;
}

void keyspace_load(struct keyspace *keyspace)
{
	for (size_t i = 0; i < SCRIPT_COUNT; i++)
		keyspace->loaded[i] = true;
}

/* ---- Scripts ------------------------------------------------------------------------------- */

/* number_of returns the script with this hash, or SCRIPT_COUNT if none of our scripts has it. */
static enum redis_script_id number_of(const char *sha1, size_t size)
{
	int i = 0;

	while (i < SCRIPT_COUNT && (size != 40 || memcmp(redis_scripts[i].sha1, sha1, 40) != 0))
		i++;
	return (enum redis_script_id)i;
}

static bool has_text(const struct redis_script *script, struct bytes text)
{
	static char room[SCRIPT_TEXT_MAX];

	return script->size == text.size &&
	       memcmp(script_text(script, room), text.at, text.size) == 0;
}

static enum redis_script_id number_of_text(struct bytes text)
{
	int i = 0;

	while (i < SCRIPT_COUNT && !has_text(&redis_scripts[i], text))
		i++;
	return (enum redis_script_id)i;
}

static const char *name_of(enum redis_script_id number)
{
	return number < SCRIPT_COUNT ? redis_scripts[number].name : NULL;
}

const char *keyspace_script(const char *sha1, size_t size)
{
	return name_of(number_of(sha1, size));
}

const char *keyspace_script_of(const char *text, size_t size)
{
	return name_of(number_of_text((struct bytes){text, size}));
}

/* ---- Commands ------------------------------------------------------------------------------ */

static void say(const struct request *request, enum reply_kind kind, struct bytes text)
{
	if (!reply_bytes(request->reply, request->reply, kind, text.at, text.size))
		abort();
}

static void fail(const struct request *request, const char *text)
{
	say(request, REPLY_ERROR, bytes_of(text));
}

/* call_script calls the given text, or the script `number` if text.at is NULL. */
static void call_script(const struct request *request, enum redis_script_id number,
			struct bytes text)
{
	int64_t keys;

	if (!integer_of(request->words[2], &keys) || keys < 0 || keys > request->count - 3) {
		fail(request, "ERR Number of keys can't be greater than number of args");
		return;
	}
	interpreter_eval(request->keyspace, request->reply,
			 &(struct script_call){.script = number,
					       .text = text,
					       .keys = (int)keys,
					       .count = request->count - 3,
					       .words = request->words + 3});
}

static void evalsha(const struct request *request)
{
	enum redis_script_id number = number_of(request->words[1].at, request->words[1].size);

	if (number == SCRIPT_COUNT || !request->keyspace->loaded[number])
		fail(request, "NOSCRIPT No matching script. Please use EVAL.");
	else
		call_script(request, number, (struct bytes){NULL, 0});
}

/* eval runs a text. If the text is one of our scripts, EVALSHA finds that script from now on. */
static void eval(const struct request *request)
{
	enum redis_script_id number = number_of_text(request->words[1]);

	if (number == SCRIPT_COUNT) {
		call_script(request, number, request->words[1]);
		return;
	}
	request->keyspace->loaded[number] = true;
	call_script(request, number, (struct bytes){NULL, 0});
}

static void load(const struct request *request)
{
	enum redis_script_id number = number_of_text(request->words[2]);

	if (number == SCRIPT_COUNT) {
		fail(request, "ERR the keyspace knows no such script");
		return;
	}
	request->keyspace->loaded[number] = true;
	say(request, REPLY_BULK, bytes_of(redis_scripts[number].sha1));
}

static void script(const struct request *request)
{
	if (request->count == 3 && bytes_are(request->words[1], "LOAD")) {
		load(request);
		return;
	}
	memset(request->keyspace->loaded, 0, sizeof request->keyspace->loaded); /* FLUSH */
	say(request, REPLY_STATUS, bytes_of("OK"));
}

static void carry_out(const struct request *request)
{
	if (request->count > 2 && bytes_are(request->words[0], "EVALSHA"))
		evalsha(request);
	else if (request->count > 2 && bytes_are(request->words[0], "EVAL"))
		eval(request);
	else if (request->count > 1 && bytes_are(request->words[0], "SCRIPT"))
		script(request);
	else
		interpreter_command(request->keyspace, request->reply, request->count,
				    request->words);
}

struct reply *keyspace_call(struct keyspace *keyspace, int count, const char *const *words,
			    const size_t *sizes)
{
	static struct bytes all[WORDS_MAX];
	struct request request = {.keyspace = keyspace,
				  .reply = reply_new(&keyspace->alloc),
				  .count = count,
				  .words = all};

	if (!request.reply || count > WORDS_MAX)
		abort();
	for (int i = 0; i < count; i++) /* an empty word may be NULL */
		all[i] = (struct bytes){words[i] ? words[i] : "", sizes[i]};
	carry_out(&request);
	return request.reply;
}

/* ---- Looking ------------------------------------------------------------------------------- */

static void dump_key(const struct key *key, void (*fn)(void *user, const struct keyspace_field *),
		     void *user)
{
	for (size_t i = 0; i < key->count; i++) {
		bool is_sorted = key->kind == KIND_SORTED;
		const struct entry *entry = is_sorted ? key->order[i] : key->entries[i];
		char room[32];
		struct bytes value =
		    is_sorted ? score_text(entry->score, room) : entry_value(entry);

		fn(user, &(struct keyspace_field){key->name.at, entry_name(entry), value});
	}
}

void keyspace_dump(struct keyspace *keyspace, void (*fn)(void *user, const struct keyspace_field *),
		   void *user)
{
	for (size_t i = 0; i < keyspace->key_count;) {
		const struct key *key = key_find(keyspace, keyspace->keys[i]->name);

		if (!key)
			continue; /* the key had expired and is deleted */
		dump_key(key, fn, user);
		i++;
	}
}

static const struct key *key_of(struct keyspace *keyspace, const char *name, enum kind kind)
{
	const struct key *key = key_find(keyspace, bytes_of(name));

	return key && key->kind == kind ? key : NULL;
}

const char *keyspace_value(struct keyspace *keyspace, const char *key, const char *field,
			   size_t *ret_size)
{
	struct bytes value = key_value(key_of(keyspace, key, KIND_HASH), bytes_of(field));

	*ret_size = value.size;
	return value.at;
}

const char *keyspace_string(struct keyspace *keyspace, const char *key, size_t *ret_size)
{
	struct bytes value = key_value(key_of(keyspace, key, KIND_STRING), bytes_of(""));

	*ret_size = value.size;
	return value.at;
}

bool keyspace_score(struct keyspace *keyspace, const char *key, const char *member,
		    double *ret_score)
{
	const struct entry *entry = key_entry(key_of(keyspace, key, KIND_SORTED), bytes_of(member));

	if (entry)
		*ret_score = entry->score;
	return entry != NULL;
}

/* ---- Whether a shard is even --------------------------------------------------------------- */

bool keyspace_is_even(struct keyspace *keyspace, const char *prefix)
{
	char name[64];
	const struct key *timers, *values;

	(void)snprintf(name, sizeof name, "%sz", prefix);
	timers = key_of(keyspace, name, KIND_SORTED);
	(void)snprintf(name, sizeof name, "%sh", prefix);
	values = key_of(keyspace, name, KIND_HASH);
	for (size_t i = 0; timers && i < timers->count; i++)
		if (!key_entry(values, entry_name(timers->entries[i])))
			return false;
	return (timers ? timers->count : 0) == (values ? values->count : 0);
}
