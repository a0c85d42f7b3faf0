/* Commands out, replies in. */
#include "store/redis/inside.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS_A_TURN 4096u /* of replies: more wait for the next turn */

/* ---- Requests ------------------------------------------------------------------------------ */

struct request *request_new(struct redis_store *store, struct shard *shard,
			    void (*answered)(struct redis_store *, struct request *,
					     const struct reply *),
			    void (*lost)(struct redis_store *, struct request *))
{
	struct request *request = alloc_new(&store->alloc, sizeof *request);

	if (!request)
		return NULL;
	request->shard = shard;
	request->answered = answered;
	request->lost = lost;
	return request;
}

void request_free(struct redis_store *store, struct request *request)
{
	assert(!request->ops.first);
	alloc_free(&store->alloc, request);
}

static void list_push(struct request_list *list, struct request *request)
{
	request->next = NULL;
	if (list->last)
		list->last->next = request;
	else
		list->first = request;
	list->last = request;
}

static struct request *list_pop(struct request_list *list)
{
	struct request *request = list->first;

	if (!request)
		return NULL;
	list->first = request->next;
	if (!list->first)
		list->last = NULL;
	request->next = NULL;
	return request;
}

void flow_limbo(struct shard *shard, struct request *request)
{
	list_push(&shard->limbo, request);
}

struct request *flow_limbo_pop(struct shard *shard)
{
	return list_pop(&shard->limbo);
}

int request_send(struct redis_store *store, struct request *request)
{
	struct redis_command *words = &store->words;
	int status;

	assert(store->shape);
	/* The link may be up again while the requests of the last connection are given up. */
	if (!store->connection)
		return DW_ESTORE;
	if (words->cut)
		return DW_ELIMIT;
	status = link_send(store->link, words->count, words->word, words->size, store->now);

	if (status != DW_OK)
		return status;
	request->sent = store->now;
	request->script = store->script;
	request->shape = store->shape;
	request->as_owner = store->role == DW_OWNER;
	if (request->number) {
		assert(request->shard->next == request->number);
		request->shard->next++;
		request->shard->under_way++;
	}
	list_push(&store->under_way, request);
	return DW_OK;
}

/* ---- Script calls -------------------------------------------------------------------------- */

/* script_named: one that the build has put in. */
static const struct redis_script *script_named(const char *name)
{
	const struct redis_script *script = redis_scripts;

	while (strcmp(script->name, name) != 0)
		script++;
	return script;
}

void command_begin(struct redis_store *store, const char *name)
{
	store->script = NULL;
	store->shape = shape_of(name);
	command_clear(&store->words);
	command_text(&store->words, name);
}

static void add_keys(struct redis_command *words, const struct shard *shard)
{
	command_number(words, KEY_COUNT);
	for (unsigned i = 0; i < KEY_COUNT; i++)
		command_bytes(words, shard->keys[i], shard->key_sizes[i]);
}

void call_begin(struct redis_store *store, const char *script, const struct shard *shard)
{
	command_begin(store, "EVALSHA");
	store->script = script_named(script);
	store->shape = shape_of(script);
	command_text(&store->words, store->script->sha1);
	add_keys(&store->words, shard);
}

void call_begin_rare(struct redis_store *store, const char *script, const struct shard *shard)
{
	const struct redis_script *found = script_named(script);

	command_begin(store, "EVAL");
	store->shape = shape_of(script);
	command_bytes(&store->words, found->text, found->size);
	add_keys(&store->words, shard);
}

void call_guard(struct redis_store *store, const struct shard *shard, uint64_t number)
{
	struct redis_command *words = &store->words;
	bool owner = store->role == DW_OWNER;

	command_text(words, owner ? "o" : "c");
	if (owner)
		command_text(words, shard->token);
	else
		command_number(words, (int64_t)store->connections);
	if (owner)
		command_text(words, shard->era);
	else
		command_number(words, store->shard_count);
	command_number(words, (int64_t)number);
	command_number(words, (owner ? store->lease : SESSION_TTL) / 1000);
	if (owner && shard->seen > 0)
		command_unsigned(words, shard->seen);
	else
		command_text(words, owner ? "" : store->channel);
}

/* ---- Loading a script ---------------------------------------------------------------------- */

static void note_refusal(struct redis_store *store, const char *what, const struct reply *reply)
{
	(void)snprintf(store->refusal, sizeof store->refusal, "%s: the server refuses%s: %s",
		       store->url.name, what, reply->bytes); /* cut if long */
}

static void loaded(struct redis_store *store, struct request *request, const struct reply *reply)
{
	bool *loading = request->context;

	*loading = false;
	store->unloadable = reply->kind == REPLY_ERROR && !reply_passes(reply);
	if (reply->kind == REPLY_ERROR) {
		note_refusal(store, " SCRIPT LOAD", reply);
		complain(store, "the server refuses SCRIPT LOAD: %s", reply->bytes);
	}
	request_free(store, request);
}

static void load_lost(struct redis_store *store, struct request *request)
{
	*(bool *)request->context = false;
	request_free(store, request);
}

/* load sends a script again that the server has forgotten: it was restarted, or flushed. */
static void load(struct redis_store *store, const struct redis_script *script)
{
	bool *loading = &store->loading[script - redis_scripts];
	struct request *request;

	if (*loading)
		return;
	request = request_new(store, NULL, loaded, load_lost);
	if (!request)
		return; /* the next NOSCRIPT asks again */
	request->context = loading;
	command_begin(store, "SCRIPT");
	command_text(&store->words, "LOAD");
	command_bytes(&store->words, script->text, script->size);
	if (request_send(store, request) == DW_OK)
		*loading = true;
	else
		request_free(store, request);
}

/* ---- What failed --------------------------------------------------------------------------- */

/* pause_shard: what is refused is not asked without end. */
static void pause_shard(const struct redis_store *store, struct shard *shard)
{
	if (shard)
		shard->pause_until = usec_add(store->now, PAUSE);
}

static enum failure error_failed(struct redis_store *store, struct request *request,
				 const struct reply *reply)
{
	if (reply_fails(reply, "NOSCRIPT") && request->script) {
		load(store, request->script);
		if (!store->unloadable)
			return FAILURE_AGAIN;
		pause_shard(store, request->shard);
		return FAILURE_REFUSED;
	}
	note_refusal(store, "", reply);
	if (reply_fails(reply, "OOM")) {
		complain(store, "the server is over its maxmemory: no new timers until it is not");
		return FAILURE_FULL;
	}
	if (reply_fails(reply, "WRONGTYPE") && request->shard) {
		types_tell(store, request->shard);
		return FAILURE_REFUSED;
	}
	complain(store, "the server refuses: %s", reply->bytes);
	if (reply_passes(reply)) {
		pause_shard(store, request->shard);
		return reply_fails(reply, "MISCONF") ? FAILURE_FULL : FAILURE_AGAIN;
	}
	pause_shard(store, request->shard);
	return FAILURE_REFUSED;
}

/* number_refused: the server has applied up to mark. */
static enum failure number_refused(struct redis_store *store, const struct request *request,
				   uint64_t mark)
{
	if (mark < request->shard->acked)
		return FAILURE_LOST;
	if (mark >= request->number)
		link_drop(store->link, "a number was used twice");
	return FAILURE_AGAIN;
}

enum failure call_failed(struct redis_store *store, struct request *request,
			 const struct reply *reply)
{
	const struct reply *word = reply->items;

	if (reply->kind == REPLY_ERROR)
		return error_failed(store, request, reply);
	if (reply_is(word, "FENCED") || reply_is(word, "NOSESSION"))
		return FAILURE_FENCED;
	if (reply_is(word, "ERA"))
		return FAILURE_LOST;
	if (reply_is(word, "MARK"))
		return number_refused(store, request, (uint64_t)reply_number(&word[1]));
	if (reply_is(word, "LOOK"))
		return FAILURE_LOOK;
	return FAILURE_NONE;
}

void flow_number_done(struct redis_store *store, struct request *request, bool applied)
{
	struct shard *shard = request->shard;

	shard->under_way--;
	if (request->as_owner != (store->role == DW_OWNER))
		return; /* the numbers are others' now */
	if (applied) {
		shard->acked = request->number;
	} else {
		shard->broken = true;
	}
	if (shard->broken && shard->under_way == 0) {
		shard->broken = false;
		shard->next = shard->acked + 1;
	}
}

/* ---- The connection ------------------------------------------------------------------------ */

static void went_down(struct redis_store *store)
{
	struct request *request;

	store->connection = 0;
	store->down_since = store->now;
	while ((request = list_pop(&store->under_way)))
		request->lost(store, request);
	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		shard->greeting = GREETING_NONE;
		shard->under_way = 0;
		shard->broken = false;
		shard->renewing = false;
		shard->pause_until = 0;
	}
	layout_change(store);
}

static void came_up(struct redis_store *store, uint64_t connection)
{
	store->connection = connection;
	store->connections++;
	if (store->role == DW_OWNER)
		for (unsigned i = 0; i < store->shard_count; i++)
			greet(store, &store->shards[i]);
}

static void watch_connection(struct redis_store *store)
{
	uint64_t connection = link_connection(store->link);

	if (connection == store->connection)
		return;
	if (store->connection)
		went_down(store);
	if (connection)
		came_up(store, connection);
}

/* items_of counts two levels: a page of a scan is an array of arrays. */
static size_t items_of(const struct reply *reply)
{
	size_t count = 1;

	if (reply->kind != REPLY_ARRAY)
		return count;
	for (size_t i = 0; i < reply->count; i++)
		count += reply->items[i].kind == REPLY_ARRAY ? reply->items[i].count : 1;
	return count;
}

/* take_reply: a request whose reply has a wrong shape stays, and is lost with those behind it. */
static void take_reply(struct redis_store *store, const struct reply *reply)
{
	struct request *request = store->under_way.first;

	if (!request) {
		link_drop(store->link, "the server sent a reply that nobody has asked for");
	} else if (!shape_fits(request->shape, reply, request->ops.count)) {
		shape_misread(store, request);
	} else {
		(void)list_pop(&store->under_way);
		request->answered(store, request, reply);
	}
}

/* take_replies: true if there was one. */
static bool take_replies(struct redis_store *store)
{
	size_t items = 0;
	struct reply *reply;

	while (items < ITEMS_A_TURN && (reply = link_take(store->link))) {
		take_reply(store, reply);
		items += items_of(reply);
		reply_free(reply);
		watch_connection(store);
	}
	return items > 0;
}

void flow_wire(struct redis_store *store)
{
	link_work(store->link, store->now);
	watch_connection(store);
	/* What has come with the writing, and is read already, makes nothing readable any more. */
	store->more = take_replies(store);
}

/* ---- The ear ------------------------------------------------------------------------------- */

static void listen(struct redis_store *store)
{
	struct reply *reply;

	if (!store->ear && store->role == DW_OWNER && !store->stopped)
		redis_listen(store);
	if (!store->ear)
		return;
	link_work(store->ear, store->now);
	if (link_connection(store->ear) != store->ear_connection) {
		store->ear_connection = link_connection(store->ear);
		news_all(store); /* what was said meanwhile, nobody has heard */
	}
	while ((reply = link_take(store->ear))) {
		if (reply->kind == REPLY_ARRAY && reply->count == 3) {
			uint64_t number = (uint64_t)reply_number(&reply->items[2]);

			if (number < store->shard_count)
				store->shards[number].news = true;
		}
		reply_free(reply);
	}
}

/* ---- Sending ------------------------------------------------------------------------------- */

/* is_worth_it: while a command of the shard is under way, what follows gathers to a full one: a
 * timer costs the server half as much in a batch of 64 as alone. What has other kinds behind it
 * does not wait: they would wait, too. */
static bool is_worth_it(const struct shard *shard, const struct op_queue *queue)
{
	return shard->under_way == 0 || queue->count >= BATCH_GOOD ||
	       (queue->last->kind != queue->first->kind && shard->under_way < COMMANDS_MAX);
}

/* greeted_or_asks: the shard may be sent what has a number. */
static bool greeted_or_asks(struct redis_store *store, struct shard *shard)
{
	if (shard->greeting == GREETING_NONE)
		greet(store, shard);
	return shard->greeting == GREETING_DONE && !shard->broken;
}

/* next_queue: of what may be sent now, or NULL. What was pushed before the loss was over, and
 * failed, goes first after it, too. */
static struct op_queue *next_queue(struct shard *shard)
{
	if (shard->pushes.first && shard->loss != LOSS_TAKING)
		return &shard->pushes;
	if (shard->loss != LOSS_NONE)
		return NULL;
	return shard->redo.first ? &shard->redo : &shard->waiting;
}

void flow_flush_shard(struct redis_store *store, struct shard *shard)
{
	while (store->connection && !store->stopped && !store->taking.active &&
	       store->now >= shard->pause_until) {
		struct op_queue *queue = next_queue(shard);

		if (!layout_is_known(store))
			return;
		if (shard->limbo.first && !greeted_or_asks(store, shard))
			return;
		if (!queue || !queue->first)
			return;
		if (queue->first->kind != DW_OP_GET && !greeted_or_asks(store, shard))
			return;
		if (queue->first->kind != DW_OP_GET && !is_worth_it(shard, queue))
			return;
		operands_gather(queue);
		if (change_send(store, shard, queue) != DW_OK) {
			shard->pause_until = usec_add(store->now, DW_MILLISECONDS(1));
			return;
		}
	}
}

void flow_flush(struct redis_store *store)
{
	for (unsigned i = 0; store->connection && i < store->shard_count; i++)
		flow_flush_shard(store, &store->shards[i]);
}

void flow_work(struct redis_store *store)
{
	flow_wire(store);
	loss_tell(store);
	listen(store);
	lease_work(store);
	news_work(store);
	mend_work(store);
	scan_work(store);
	flow_flush(store);
}

/* ---- When ---------------------------------------------------------------------------------- */

/* has_waiting: something waits that no reply will set in motion. */
static bool has_waiting(const struct redis_store *store)
{
	for (unsigned i = 0; i < store->shard_count; i++) {
		const struct shard *shard = &store->shards[i];

		if (shard->redo.first || shard->waiting.first || shard->limbo.first)
			return true;
	}
	return store->scans != NULL;
}

/* trouble_at: when it is told that there is no connection. One that is made anew at once is no
 * trouble: what was under way then is sent again. */
static dw_usec trouble_at(const struct redis_store *store)
{
	return store->connection ? DW_NEVER : usec_add(store->down_since, TROUBLE_AFTER);
}

bool flow_refuses(const struct redis_store *store)
{
	bool fatal;

	return store->connection && link_trouble(store->link, &fatal)[0];
}

int flow_trouble(const struct redis_store *store, char *ret_words, size_t size)
{
	bool fatal;
	const char *why = link_trouble(store->link, &fatal);

	if (store->connection && !why[0])
		return DW_OK;
	if (!store->connection && store->now < trouble_at(store))
		return DW_EUNKNOWN;
	(void)snprintf(ret_words, size, "%s", why[0] ? why : "there is no connection"); /* cut */
	return DW_ESTORE;
}

dw_usec flow_due(const struct redis_store *store)
{
	dw_usec at = link_due(store->link);

	if (store->now < trouble_at(store))
		at = usec_min(at, trouble_at(store));
	if (store->more)
		return store->now;
	if (store->ear)
		at = usec_min(at, link_due(store->ear));
	if (store->role == DW_OWNER)
		at = usec_min(at, usec_min(store->renew_at, mend_due(store)));
	if (store->ousting || store->ousted)
		at = usec_min(at, store->ousted_until);
	for (unsigned i = 0; i < store->shard_count; i++) {
		const struct shard *shard = &store->shards[i];

		if (shard->pause_until > store->now)
			at = usec_min(at, shard->pause_until);
	}
	if (has_waiting(store))
		at = usec_min(at, usec_add(store->now, PAUSE));
	return at;
}
