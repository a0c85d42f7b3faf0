/* The queues on simulated Redis: the processes, the server and the network of fleet/. The judge
 * hears what the scripts do: which messages push.lua stores, and what the others answer. */
#include "sim/queues/queues.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fleet/effects.h"
#include "sim/fleet/requests.h"
#include "store/redis/wire/script.h"
#include "topic/settings.h"

#define WAKE "{t:00}:wake"

/* ---- Asking the server --------------------------------------------------------------------- */

static struct reply *ask(struct queues *all, int count, const char *const *words)
{
	size_t sizes[16];

	for (int i = 0; i < count; i++)
		sizes[i] = strlen(words[i]);
	server_tick(&all->fleet.server);
	return server_call(&all->fleet.server, count, words, sizes);
}

/* number_in: what a command of one key answers, and perhaps a field. */
static uint64_t number_in(struct queues *all, const char *command, const char *key,
			  const char *field)
{
	const char *words[] = {command, key, field};
	struct reply *reply = ask(all, field ? 3 : 2, words);
	uint64_t number = reply->kind == REPLY_INTEGER ? (uint64_t)reply->integer
			  : reply->kind == REPLY_BULK  ? strtoull(reply->bytes, NULL, 10)
						       : 0;

	reply_free(reply);
	return number;
}

static unsigned shard_of(const struct queues *all, uint32_t queue)
{
	return server_shard(&all->fleet.server, judge_topic(queue));
}

static const char *key_of(const struct queues *all, uint32_t queue, const char *order)
{
	char end[32];

	(void)snprintf(end, sizeof end, "%s:%s", order, judge_topic(queue));
	return server_key(shard_of(all, queue), end);
}

static dw_topic_info redis_info(struct queues *all, uint32_t queue)
{
	const char *counts = server_key(shard_of(all, queue), "n");
	char dropped[32], expired[32], key[40];
	dw_topic_info info = {.size = sizeof info};

	(void)snprintf(dropped, sizeof dropped, "dropped:%s", judge_topic(queue));
	(void)snprintf(expired, sizeof expired, "expired:%s", judge_topic(queue));
	(void)snprintf(key, sizeof key, "%s", counts);
	info.dropped = number_in(all, "HGET", key, dropped);
	info.expired = number_in(all, "HGET", key, expired);
	info.waiting = number_in(all, "LLEN", key_of(all, queue, "q"), NULL);
	info.taken = number_in(all, "ZCARD", key_of(all, queue, "qt"), NULL);
	info.later = number_in(all, "ZCARD", key_of(all, queue, "ql"), NULL);
	return info;
}

static bool redis_is_empty(struct queues *all)
{
	for (unsigned i = 0; i < all->fleet.server.shard_count; i++)
		if (number_in(all, "HLEN", server_key(i, "h"), NULL) > 0)
			return false;
	return true;
}

/* ---- Settings ------------------------------------------------------------------------------ */

/* run calls a script of topics in a shard. words: from the third one on, of at most 6. */
static struct reply *run(struct queues *all, enum redis_script_id script, unsigned shard,
			 const char *const *words)
{
	static char text[SCRIPT_TEXT_MAX + 1];
	const struct redis_script *called = &redis_scripts[script];
	char keys[8][40], number[12];
	const char *all_words[16] = {"EVAL", text, number};
	int count = 3;

	(void)script_text(called, text);
	text[called->size] = '\0';
	(void)snprintf(number, sizeof number, "%u", called->key_count);
	for (unsigned i = 0; i < called->key_count; i++) {
		(void)snprintf(keys[i], sizeof keys[i], "%s",
			       server_key(shard, redis_key_ends[called->keys[i]]));
		all_words[count++] = keys[i];
	}
	for (; *words; words++)
		all_words[count++] = *words;
	return ask(all, count, all_words);
}

static bool redis_set(struct queues *all, uint32_t queue, const char *text)
{
	const char *topic = judge_topic(queue);
	struct reply *reply = run(all, SCRIPT_TOPIC_SET, shard_of(all, queue),
				  (const char *const[]){topic, text, "1", "9", "", "0", NULL});
	bool is_set = reply->kind == REPLY_ARRAY && reply_is(&reply->items[0], "OK");

	for (unsigned i = 0; is_set && i < all->fleet.server.shard_count; i++)
		reply_free(
		    run(all, SCRIPT_TOPIC_COPY, i,
			(const char *const[]){"9", WAKE, topic, reply->items[1].bytes, NULL}));
	reply_free(reply);
	return is_set;
}

const struct backing redis_backing = {redis_info, redis_is_empty, redis_set};

/* set_first writes settings where no owner has been yet. A client that does so has also written the
 * number of shards: without it, the generation of a message could be that of a timer. */
static void set_first(struct queues *all, uint32_t queue)
{
	char text[SETTINGS_TEXT_SIZE];
	char whole[SETTINGS_TEXT_SIZE + 16];
	char count[12];

	(void)settings_write(&all->judge.queues[queue].settings, text);
	(void)snprintf(whole, sizeof whole, "%s ver=1", text);
	(void)snprintf(count, sizeof count, "%u", all->fleet.server.shard_count);
	for (unsigned i = 0; i < all->fleet.server.shard_count; i++) {
		reply_free(ask(
		    all, 4,
		    (const char *const[]){"HSET", server_key(i, "t"), judge_topic(queue), whole}));
		reply_free(ask(all, 4,
			       (const char *const[]){"HSET", server_key(i, "m"), "shards", count}));
	}
}

/* ---- What the judge hears ------------------------------------------------------------------ */

/* read_head: of a message, 'PUSH DUE ATTEMPT SUM ID' and a newline. */
static void read_head(struct bytes value, dw_usec *ret_due, char ret_id[16])
{
	if (sscanf(value.at, "%*u %" SCNd64 " %*u %*u %15s", ret_due, ret_id) != 2)
		abort();
}

static void note_message(struct queues *all, uint32_t queue, const struct bytes *words)
{
	struct entry entry = {.generation = strtoull(words[0].at, NULL, 10)};
	char id[16];

	read_head(words[1], &entry.due, id);
	entry.name = judge_number(id);
	trace(all->sim, "pushed", id, (int64_t)entry.generation, 0);
	judge_pushed(all, queue, &entry);
}

/* note_push: push.lua stores new messages, and deletes others. */
static void note_push(void *user, const struct keyspace_command *command)
{
	const struct bytes *words = command->words;
	bool stores = strcmp(words[0].at, "HSET") == 0;
	const char *end;

	if (strcmp(command->script, "push") != 0 || (!stores && strcmp(words[0].at, "HDEL") != 0))
		return;
	end = strstr(words[1].at, ":qm:");
	for (int i = 2; end && i < command->count; i += stores ? 2 : 1) {
		if (stores)
			note_message(user, judge_queue(end + 4), &words[i]);
		else
			judge_dropped(user, judge_queue(end + 4), strtoull(words[i].at, NULL, 10));
	}
}

static void pushed(struct queues *all, const struct effect *effect)
{
	judge_bound(all, judge_queue(effect->argv[0]));
}

/* left_head reads the head of a message whose value is not in the reply. False: it is gone. */
static bool left_head(struct queues *all, uint32_t queue, const char *token, dw_usec *ret_due,
		      char ret_id[16])
{
	char generation[32];
	const char *words[] = {"HGET", key_of(all, queue, "qm"), generation};
	struct reply *reply;
	bool is_there;

	(void)snprintf(generation, sizeof generation, "%.*s", (int)strcspn(token, "-"), token);
	reply = server_call(&all->fleet.server, 3, words,
			    (const size_t[]){4, strlen(words[1]), strlen(generation)});
	is_there = reply->kind == REPLY_BULK;
	if (is_there)
		read_head((struct bytes){reply->bytes, reply->size}, ret_due, ret_id);
	else
		broken(all->sim, "I16", "the message of %s is gone", token);
	reply_free(reply);
	return is_there;
}

static void taken(struct queues *all, const struct effect *effect)
{
	uint32_t queue = judge_queue(effect->argv[0]);

	for (size_t i = 2; i + 1 < effect->reply->count; i += 2) {
		const struct reply *value = &effect->reply->items[i + 1];
		struct delivered row = {.token = effect->reply->items[i].bytes,
					.now = server_now(&all->fleet.server),
					.is_kept = value->kind == REPLY_INTEGER};
		dw_usec due;
		char id[16];

		if (row.is_kept && !left_head(all, queue, row.token, &due, id))
			return;
		if (!row.is_kept)
			read_head((struct bytes){value->bytes, value->size}, &due, id);
		row.id = id;
		trace(all->sim, "taken", id, due, 0);
		judge_handed_out(all, queue, &row);
	}
}

static void answered(struct queues *all, const struct effect *effect)
{
	const char *verdict = effect->argv[1];
	struct concluded with = {.verdict = verdict[0] == 'r'   ? DW_RETRY
					    : verdict[0] == 'h' ? DW_HOLD
								: DW_DONE,
				 .due = strtoll(effect->argv[2], NULL, 10),
				 .now = server_now(&all->fleet.server)};

	for (int i = 4; i < effect->argc; i++) {
		const struct reply *item =
		    effect->reply->count > 1 ? &effect->reply->items[i - 3] : NULL;

		with.token = effect->argv[i];
		with.status = !item || item->integer == 0 ? DW_OK
			      : item->integer < 0         ? DW_ELIMIT
							  : DW_ESTALE;
		judge_concluded(all, judge_queue(effect->argv[0]), &with);
	}
}

static void settled(struct queues *all, const struct effect *effect)
{
	bool is_known = strcmp(effect->script, "settle_known") == 0;
	int end = is_known ? 6 + (effect->argc - 6) / 2 : effect->argc;

	for (int i = 6; i < end; i += is_known ? 1 : 5)
		if (is_known || effect->reply->items[1 + (i - 6) / 5].integer == 0)
			judge_settled(all, effect->argv[i]);
}

static void applied(void *user, const struct effect *effect)
{
	static const struct {
		const char *script;
		void (*fn)(struct queues *, const struct effect *);
	} heard[] = {{"push", pushed},
		     {"take", taken},
		     {"answer", answered},
		     {"settle", settled},
		     {"settle_known", settled}};

	const struct reply *reply = effect->reply;

	if (reply->kind != REPLY_ARRAY || reply->count == 0 || !reply_is(&reply->items[0], "OK"))
		return;
	for (size_t i = 0; i < sizeof heard / sizeof *heard; i++)
		if (strcmp(effect->script, heard[i].script) == 0)
			heard[i].fn(user, effect);
}

/* ---- Its processes ------------------------------------------------------------------------- */

void redis_party_open(struct party *party)
{
	struct queues *all = party->all;
	struct process *process = &all->fleet.processes[party->instance->number];
	struct instance *instance = party->instance;
	struct engine_env env = instance_env(instance);
	dw_store_env of_store = process_store_env(process);

	env.role = DW_CLIENT;
	env.standby = party->role == DW_OWNER || all->sim->peers;
	env.is_peer = all->sim->peers;
	env.on_event = party_event;
	env.on_event_user = party;
	instance->open_at = DW_NEVER;
	instance->account.may_fail = false;
	instance_begin(instance, ++all->fleet.lives);
	if (engine_new(&instance->engine, &env) != DW_OK)
		broken(all->sim, "sim", "the engine does not open");
	party->store = process_connect(process, &of_store);
	engine_attach(instance->engine, party->store);
	instance->account.may_fail = true;
}

/* ---- A seed -------------------------------------------------------------------------------- */

void redis_begin(struct queues *all)
{
	struct sim *sim = all->sim;
	struct fleet *fleet = &all->fleet;

	fleet->sim = fleet->network.sim = sim;
	fleet->count = PROCESSES;
	fleet->is_judged_outside = true;
	fleet->applied = applied;
	fleet->applied_user = all;
	fleet->same_host = chance(sim, 5000);
	fleet->server.shard_count = 1 + (unsigned)draw(sim, SHARDS_MAX_SIM);
	fleet->server.lease = DW_MILLISECONDS(1000 + draw(sim, 4000));
	fleet->outage =
	    (struct outage){.cut = some(sim, 60), .halt = some(sim, 10), .shards = some(sim, 20)};
	if (sim->peers) {
		fleet->outage.restart = some(sim, 5);
		fleet->outage.flush = some(sim, 10);
	}
	server_init(&fleet->server, sim);
	/* What expires is sent by one clock and judged by the other. */
	fleet->server.wall_offset = clocks_wall(sim) - sim->clocks.steady;
	keyspace_watch(fleet->server.keyspace, note_push, all);
	requests_init(fleet);
	for (uint32_t i = 0; i < QUEUES; i++)
		set_first(all, i);
	for (unsigned i = 0; i < PROCESSES; i++)
		process_init(&fleet->processes[i], fleet, i);
}

void redis_disturb(struct queues *all)
{
	outage_act(&all->fleet);
}

void redis_end(struct queues *all)
{
	network_free(&all->fleet.network);
	server_free(&all->fleet.server);
}
