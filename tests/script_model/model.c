#include "script_model/inside.h"

#include <stdlib.h>
#include <string.h>

#include "store/redis/script.h"

static const struct {
	const char *name;
	script_fn run;
} scripts[] = {
    {"ack", model_ack},
    {"acquire", model_acquire},
    {"add", model_add},
    {"bury", model_bury},
    {"next", model_next},
    {"next_known", model_next_known},
    {"cancel", model_cancel},
    {"cancel_one", model_cancel_one},
    {"claim", model_claim},
    {"claim_known", model_claim_known},
    {"confirm", model_confirm},
    {"settle_known", model_settle_known},
    {"dead_of", model_dead_of},
    {"dead_page", model_dead_page},
    {"drop", model_drop},
    {"ended", model_ended},
    {"forget", model_forget},
    {"inbox", model_inbox},
    {"index", model_index},
    {"move", model_move},
    {"mend", model_mend},
    {"orphans", model_orphans},
    {"page", model_page},
    {"purge", model_purge},
    {"put", model_put},
    {"redelete", model_redelete},
    {"release", model_release},
    {"renew", model_renew},
    {"replay", model_replay},
    {"report", model_report},
    {"repush", model_repush},
    {"requeue", model_requeue},
    {"retry", model_retry},
    {"session", model_session},
    {"settle", model_settle},
    {"shard", model_shard},
    {"status", model_status},
    {"topic_changes", model_topic_changes},
    {"topic_list", model_topic_list},
    {"topic_page", model_topic_page},
    {"types", model_types},
};

#define MODEL_SCRIPT_COUNT (sizeof scripts / sizeof *scripts)

/* A command's words. */
struct command {
	struct script_model *model;
	struct reply *reply;
	int count;
	const char *const *words;
	const size_t *sizes;
};

/* ---- Beginning and end --------------------------------------------------------------------- */

struct script_model *model_new(const struct alloc *alloc)
{
	struct script_model *model = alloc_new(alloc, sizeof *model);

	if (!model)
		abort();
	model->alloc = *alloc;
	model->loaded = alloc_new(alloc, MODEL_SCRIPT_COUNT * sizeof *model->loaded);
	if (!model->loaded)
		abort();
	return model;
}

void model_free(struct script_model *model)
{
	for (size_t i = 0; i < model->key_count; i++) {
		key_clear(model, model->keys[i]);
		alloc_free(&model->alloc, model->keys[i]->entries);
		alloc_free(&model->alloc, model->keys[i]->name);
		alloc_free(&model->alloc, model->keys[i]);
	}
	alloc_free(&model->alloc, model->keys);
	alloc_free(&model->alloc, model->loaded);
	alloc_free(&model->alloc, model);
}

void model_set_time(struct script_model *model, dw_usec now)
{
	model->now = now;
}

void model_set_full(struct script_model *model, bool full)
{
	model->full = full;
}

void model_be_strict(struct script_model *model)
{
	model->strict = true;
}

void model_watch_known(struct script_model *model,
		       void (*fn)(void *user, const char *value, size_t size), void *user)
{
	model->known = fn;
	model->known_user = user;
}

void model_set_bug(struct script_model *model, enum model_bug bug)
{
	model->bug = bug;
}

void model_listen(struct script_model *model,
		  unsigned (*fn)(void *user, const char *channel, size_t size, long long shard),
		  void *user)
{
	model->heard = fn;
	model->heard_user = user;
}

void model_load(struct script_model *model)
{
	for (size_t i = 0; i < MODEL_SCRIPT_COUNT; i++)
		model->loaded[i] = true;
}

/* ---- Scripts ------------------------------------------------------------------------------- */

/* number_named: of a script in our table; MODEL_SCRIPT_COUNT: none. */
static size_t number_named(const char *name)
{
	size_t i = 0;

	while (i < MODEL_SCRIPT_COUNT && strcmp(scripts[i].name, name) != 0)
		i++;
	return i;
}

const char *model_script(const char *sha1, size_t size)
{
	for (size_t i = 0; i < SCRIPT_COUNT; i++)
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

/* key_beside: a key that the scripts name by that of the lease. */
static struct key *key_beside(struct script_model *model, const struct key *lease, char end)
{
	size_t size = strlen(lease->name);
	char *name = alloc_new(&model->alloc, size + 1);
	struct key *key;

	if (!name)
		abort();
	memcpy(name, lease->name, size - 1);
	name[size - 1] = end;
	key = key_of(model, name, size);
	alloc_free(&model->alloc, name);
	return key;
}

static void run_script(const struct command *command, size_t number, int keys)
{
	struct key *all[9];
	struct run run = {.model = command->model,
			  .reply = command->reply,
			  .argc = command->count - 3 - keys,
			  .argv = command->words + 3 + keys,
			  .sizes = command->sizes + 3 + keys};

	for (int i = 0; i < 9; i++)
		all[i] = i < keys ? key_of(command->model, word(command, 3 + i).at,
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
	run.index = key_beside(command->model, run.lease, 'k');
	run.ends = key_beside(command->model, run.lease, 'E');
	run.untils = key_beside(command->model, run.lease, 'x');
	run.owner = same(arg(&run, 1), text_of("o"));
	scripts[number].run(&run);
}

static void evalsha(const struct command *command)
{
	const char *name = model_script(command->words[1], command->sizes[1]);
	size_t number = name ? number_named(name) : MODEL_SCRIPT_COUNT;
	int keys = (int)number_of(word(command, 2));

	if (number == MODEL_SCRIPT_COUNT || !command->model->loaded[number])
		error(command, "NOSCRIPT No matching script. Please use EVAL.");
	else
		run_script(command, number, keys);
}

static bool has_text(const struct redis_script *script, const char *text, size_t size)
{
	static char room[SCRIPT_TEXT_MAX];

	return script->size == size && memcmp(script_text(script, room), text, size) == 0;
}

const char *model_script_of(const char *text, size_t size)
{
	for (size_t i = 0; i < SCRIPT_COUNT; i++)
		if (has_text(&redis_scripts[i], text, size))
			return redis_scripts[i].name;
	return NULL;
}

/* learn: the script of that text is known from now on; NULL: it is none of ours. */
static const struct redis_script *learn(struct script_model *model, struct bytes text)
{
	for (size_t i = 0; i < SCRIPT_COUNT; i++) {
		const struct redis_script *script = &redis_scripts[i];
		size_t number = number_named(script->name);

		if (number == MODEL_SCRIPT_COUNT || !has_text(script, text.at, text.size))
			continue;
		model->loaded[number] = true;
		return script;
	}
	return NULL;
}

static void eval(const struct command *command)
{
	const struct redis_script *script = learn(command->model, word(command, 1));

	if (script)
		run_script(command, number_named(script->name), (int)number_of(word(command, 2)));
	else
		error(command, "ERR the model knows no such script");
}

static void load(const struct command *command)
{
	const struct redis_script *script = learn(command->model, word(command, 2));

	if (!script)
		error(command, "ERR the model knows no such script");
	else if (!reply_bytes(command->reply, command->reply, REPLY_BULK, script->sha1, 40))
		abort();
}

/* ---- Plain commands ------------------------------------------------------------------------ */

static struct key *key_word(const struct command *command)
{
	return key_of(command->model, command->words[1], command->sizes[1]);
}

static void say_bytes(const struct command *command, struct reply *reply, struct bytes bytes)
{
	struct run run = {.reply = command->reply};

	say(&run, reply, bytes);
}

static void script(const struct command *command)
{
	struct script_model *model = command->model;

	if (same(word(command, 1), text_of("LOAD"))) {
		load(command);
		return;
	}
	memset(model->loaded, 0, MODEL_SCRIPT_COUNT * sizeof *model->loaded); /* FLUSH */
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

/* set: with PX and milliseconds. */
static void set(const struct command *command)
{
	struct key *key = key_word(command);

	key_set_string(command->model, key, word(command, 2));
	key_expire(command->model, key, number_of(word(command, 4)));
	if (!reply_bytes(command->reply, command->reply, REPLY_STATUS, "OK", 2))
		abort();
}

static void pttl(const struct command *command)
{
	say_number(command->reply, (double)key_ttl(command->model, key_word(command)));
}

/* hset, zadd: of one field. */
static void hset(const struct command *command)
{
	struct key *key = key_word(command);

	say_number(command->reply, !key_find(key, word(command, 2)));
	key_set(command->model, key, word(command, 2), word(command, 3));
}

static void zadd(const struct command *command)
{
	struct key *key = key_word(command);

	say_number(command->reply, !key_find(key, word(command, 3)));
	key_set_score(command->model, key, word(command, 3), number_of(word(command, 2)));
}

static void hdel(const struct command *command)
{
	say_number(command->reply, key_remove(command->model, key_word(command), word(command, 2)));
}

static void del(const struct command *command)
{
	struct key *key = key_word(command);

	say_number(command->reply, key->kind != KIND_NONE);
	key_clear(command->model, key);
}

static void publishes(const struct command *command)
{
	struct script_model *model = command->model;

	say_number(command->reply,
		   model->heard
		       ? model->heard(model->heard_user, command->words[1], command->sizes[1],
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
    {"UNLINK", 2, del},  {"PUBLISH", 3, publishes}, {"SET", 5, set},
};

struct reply *model_call(struct script_model *model, int count, const char *const *words,
			 const size_t *sizes)
{
	struct command command = {.model = model,
				  .reply = reply_new(&model->alloc),
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

void model_dump(struct script_model *model, void (*fn)(void *user, const struct model_field *),
		void *user)
{
	for (size_t i = 0; i < model->key_count; i++) {
		const char *name = model->keys[i]->name;
		const struct key *key = key_of(model, name, strlen(name)); /* if it is not over */

		for (size_t k = 0; k < key->count; k++) {
			const struct entry *entry = &key->entries[k];
			char room[32];
			struct bytes value = key->kind == KIND_SORTED ? digits(entry->score, room)
								      : entry_value(entry);

			fn(user, &(struct model_field){name, entry->name, entry->name_size,
						       value.at, value.size});
		}
	}
}

const char *model_value(struct script_model *model, const char *key, const char *id,
			size_t *ret_size)
{
	struct bytes value = key_value(key_of(model, key, strlen(key)), text_of(id));

	*ret_size = value.size;
	return value.at;
}

const char *model_lease(struct script_model *model, const char *key, size_t *ret_size)
{
	struct bytes token = key_string(key_of(model, key, strlen(key)));

	*ret_size = token.size;
	return token.at;
}
