#include "support/twin_inside.h"

#include <stdlib.h>
#include <string.h>

#include "store/redis/script.h"

static const struct {
	const char *name;
	script_fn run;
} scripts[] = {
    {"ack", twin_ack},
    {"acquire", twin_acquire},
    {"add", twin_add},
    {"bury", twin_bury},
    {"cancel", twin_cancel},
    {"cancel_one", twin_cancel_one},
    {"claim", twin_claim},
    {"claim_known", twin_claim_known},
    {"settle_known", twin_settle_known},
    {"dead_page", twin_dead_page},
    {"drop", twin_drop},
    {"forget", twin_forget},
    {"inbox", twin_inbox},
    {"move", twin_move},
    {"mend", twin_mend},
    {"orphans", twin_orphans},
    {"page", twin_page},
    {"purge", twin_purge},
    {"put", twin_put},
    {"redelete", twin_redelete},
    {"release", twin_release},
    {"renew", twin_renew},
    {"report", twin_report},
    {"repush", twin_repush},
    {"requeue", twin_requeue},
    {"retry", twin_retry},
    {"session", twin_session},
    {"settle", twin_settle},
    {"shard", twin_shard},
    {"status", twin_status},
    {"types", twin_types},
};

#define SCRIPT_COUNT (sizeof scripts / sizeof *scripts)

/* A command's words. */
struct command {
	struct twin *twin;
	struct reply *reply;
	int count;
	const char *const *words;
	const size_t *sizes;
};

/* ---- Beginning and end --------------------------------------------------------------------- */

struct twin *twin_new(const struct alloc *alloc)
{
	struct twin *twin = alloc_new(alloc, sizeof *twin);

	if (!twin)
		abort();
	twin->alloc = *alloc;
	twin->loaded = alloc_new(alloc, SCRIPT_COUNT * sizeof *twin->loaded);
	if (!twin->loaded)
		abort();
	return twin;
}

void twin_free(struct twin *twin)
{
	for (size_t i = 0; i < twin->key_count; i++) {
		key_clear(twin, twin->keys[i]);
		alloc_free(&twin->alloc, twin->keys[i]->entries);
		alloc_free(&twin->alloc, twin->keys[i]->name);
		alloc_free(&twin->alloc, twin->keys[i]);
	}
	alloc_free(&twin->alloc, twin->keys);
	alloc_free(&twin->alloc, twin->loaded);
	alloc_free(&twin->alloc, twin);
}

void twin_set_time(struct twin *twin, dw_usec now)
{
	twin->now = now;
}

void twin_set_full(struct twin *twin, bool full)
{
	twin->full = full;
}

void twin_be_strict(struct twin *twin)
{
	twin->strict = true;
}

void twin_watch_known(struct twin *twin, void (*fn)(void *user, const char *value, size_t size),
		      void *user)
{
	twin->known = fn;
	twin->known_user = user;
}

void twin_set_bug(struct twin *twin, enum twin_bug bug)
{
	twin->bug = bug;
}

void twin_listen(struct twin *twin,
		 unsigned (*fn)(void *user, const char *channel, size_t size, long long shard),
		 void *user)
{
	twin->heard = fn;
	twin->heard_user = user;
}

void twin_load(struct twin *twin)
{
	for (size_t i = 0; i < SCRIPT_COUNT; i++)
		twin->loaded[i] = true;
}

/* ---- Scripts ------------------------------------------------------------------------------- */

/* number_named: of a script in our table; SCRIPT_COUNT: none. */
static size_t number_named(const char *name)
{
	size_t i = 0;

	while (i < SCRIPT_COUNT && strcmp(scripts[i].name, name) != 0)
		i++;
	return i;
}

const char *twin_script(const char *sha1, size_t size)
{
	for (size_t i = 0; i < redis_script_count; i++)
		if (size == 40 && memcmp(redis_scripts[i].sha1, sha1, 40) == 0)
			return redis_scripts[i].name;
	return NULL;
}

static struct bytes word(const struct command *command, int number)
{
	return (struct bytes){command->words[number], command->sizes[number]};
}

static void error(const struct command *command, const char *words)
{
	if (!reply_bytes(command->reply, command->reply, REPLY_ERROR, words, strlen(words)))
		abort();
}

static void run_script(const struct command *command, size_t number, int keys)
{
	struct key *all[9];
	struct run run = {.twin = command->twin,
			  .reply = command->reply,
			  .argc = command->count - 3 - keys,
			  .argv = command->words + 3 + keys,
			  .sizes = command->sizes + 3 + keys};

	for (int i = 0; i < 9; i++)
		all[i] = i < keys ? key_of(command->twin, word(command, 3 + i).at,
					   word(command, 3 + i).size)
				  : NULL;
	run.lease = all[0];
	run.meta = all[1];
	run.timers = all[2];
	run.values = all[3];
	run.inbox = all[4];
	run.dead = all[5];
	run.letters = all[6];
	run.names = all[7];
	run.session = all[8];
	run.owner = same(arg(&run, 1), text_of("o"));
	scripts[number].run(&run);
}

static void evalsha(const struct command *command)
{
	const char *name = twin_script(command->words[1], command->sizes[1]);
	size_t number = name ? number_named(name) : SCRIPT_COUNT;
	int keys = (int)number_of(word(command, 2));

	if (number == SCRIPT_COUNT || !command->twin->loaded[number])
		error(command, "NOSCRIPT No matching script. Please use EVAL.");
	else
		run_script(command, number, keys);
}

const char *twin_script_of(const char *text, size_t size)
{
	for (size_t i = 0; i < redis_script_count; i++)
		if (same((struct bytes){redis_scripts[i].text, redis_scripts[i].size},
			 (struct bytes){text, size}))
			return redis_scripts[i].name;
	return NULL;
}

/* learn: the script of that text is known from now on; NULL: it is none of ours. */
static const struct redis_script *learn(struct twin *twin, struct bytes text)
{
	for (size_t i = 0; i < redis_script_count; i++) {
		const struct redis_script *script = &redis_scripts[i];
		size_t number = number_named(script->name);

		if (number == SCRIPT_COUNT ||
		    !same((struct bytes){script->text, script->size}, text))
			continue;
		twin->loaded[number] = true;
		return script;
	}
	return NULL;
}

static void eval(const struct command *command)
{
	const struct redis_script *script = learn(command->twin, word(command, 1));

	if (script)
		run_script(command, number_named(script->name), (int)number_of(word(command, 2)));
	else
		error(command, "ERR the twin knows no such script");
}

static void load(const struct command *command)
{
	const struct redis_script *script = learn(command->twin, word(command, 2));

	if (!script)
		error(command, "ERR the twin knows no such script");
	else if (!reply_bytes(command->reply, command->reply, REPLY_BULK, script->sha1, 40))
		abort();
}

/* ---- Plain commands ------------------------------------------------------------------------ */

static struct key *key_word(const struct command *command)
{
	return key_of(command->twin, command->words[1], command->sizes[1]);
}

static void say_bytes(const struct command *command, struct reply *reply, struct bytes bytes)
{
	struct run run = {.reply = command->reply};

	say(&run, reply, bytes);
}

static void script(const struct command *command)
{
	struct twin *twin = command->twin;

	if (same(word(command, 1), text_of("LOAD"))) {
		load(command);
		return;
	}
	memset(twin->loaded, 0, SCRIPT_COUNT * sizeof *twin->loaded); /* FLUSH */
	if (!reply_bytes(command->reply, command->reply, REPLY_STATUS, "OK", 2))
		abort();
}

static void hget(const struct command *command)
{
	say_bytes(command, command->reply, key_value(key_word(command), word(command, 2)));
}

static void hmget(const struct command *command)
{
	const struct key *key = key_word(command);

	if (!reply_items(command->reply, command->reply, (size_t)command->count - 2))
		abort();
	for (int i = 2; i < command->count; i++)
		say_bytes(command, &command->reply->items[i - 2], key_value(key, word(command, i)));
}

static void get(const struct command *command)
{
	say_bytes(command, command->reply, key_string(key_word(command)));
}

static void pttl(const struct command *command)
{
	say_number(command->reply, (double)key_ttl(command->twin, key_word(command)));
}

/* hset, zadd: of one field. */
static void hset(const struct command *command)
{
	struct key *key = key_word(command);

	say_number(command->reply, !key_find(key, word(command, 2)));
	key_set(command->twin, key, word(command, 2), word(command, 3));
}

static void zadd(const struct command *command)
{
	struct key *key = key_word(command);

	say_number(command->reply, !key_find(key, word(command, 3)));
	key_set_score(command->twin, key, word(command, 3), number_of(word(command, 2)));
}

static void hdel(const struct command *command)
{
	say_number(command->reply, key_remove(command->twin, key_word(command), word(command, 2)));
}

static void del(const struct command *command)
{
	struct key *key = key_word(command);

	say_number(command->reply, key->kind != KIND_NONE);
	key_clear(command->twin, key);
}

static void publishes(const struct command *command)
{
	struct twin *twin = command->twin;

	say_number(command->reply,
		   twin->heard ? twin->heard(twin->heard_user, command->words[1], command->sizes[1],
					     (long long)number_of(word(command, 2)))
			       : 0);
}

static const struct {
	const char *name;
	int words; /* at least */
	void (*run)(const struct command *);
} commands[] = {
    {"EVAL", 3, eval},   {"EVALSHA", 3, evalsha},   {"SCRIPT", 2, script}, {"HGET", 3, hget},
    {"HMGET", 3, hmget}, {"GET", 2, get},           {"PTTL", 2, pttl},     {"HSET", 4, hset},
    {"ZADD", 4, zadd},   {"HDEL", 3, hdel},         {"ZREM", 3, hdel},     {"DEL", 2, del},
    {"UNLINK", 2, del},  {"PUBLISH", 3, publishes},
};

struct reply *twin_call(struct twin *twin, int count, const char *const *words, const size_t *sizes)
{
	struct command command = {.twin = twin,
				  .reply = reply_new(&twin->alloc),
				  .count = count,
				  .words = words,
				  .sizes = sizes};

	if (!command.reply)
		abort();
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		if (count < commands[i].words ||
		    !same(word(&command, 0), text_of(commands[i].name)))
			continue;
		commands[i].run(&command);
		return command.reply;
	}
	error(&command, "ERR unknown command");
	return command.reply;
}

/* ---- Looking ------------------------------------------------------------------------------- */

void twin_dump(struct twin *twin, void (*fn)(void *user, const struct twin_field *), void *user)
{
	for (size_t i = 0; i < twin->key_count; i++) {
		const char *name = twin->keys[i]->name;
		const struct key *key = key_of(twin, name, strlen(name)); /* if it is not over */

		for (size_t k = 0; k < key->count; k++) {
			const struct entry *entry = &key->entries[k];
			char room[32];
			struct bytes value = key->kind == KIND_SORTED ? digits(entry->score, room)
								      : entry_value(entry);

			fn(user, &(struct twin_field){name, entry->name, entry->name_size, value.at,
						      value.size});
		}
	}
}

const char *twin_value(struct twin *twin, const char *key, const char *id, size_t *ret_size)
{
	struct bytes value = key_value(key_of(twin, key, strlen(key)), text_of(id));

	*ret_size = value.size;
	return value.at;
}

const char *twin_lease(struct twin *twin, const char *key, size_t *ret_size)
{
	struct bytes token = key_string(key_of(twin, key, strlen(key)));

	*ret_size = token.size;
	return token.at;
}
