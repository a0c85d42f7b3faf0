/* Begins calls of the scripts, and sorts the replies that are refusals. Other parts act on them. */
#include "store/redis/wire/script_call.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"

static void begin(struct redis_draft *draft, const char *word, unsigned command)
{
	draft->script = NULL;
	draft->node = NULL;
	draft->shape = shape_of(command);
	command_clear(&draft->words);
	command_text(&draft->words, word);
}

void command_begin(struct redis_draft *draft, enum redis_command_id command)
{
	begin(draft, shape_of(command)->command, command);
}

/* add_text adds the text of the script as a word. It returns a buffer for `more` bytes, or NULL
 * without memory. */
static char *add_text(struct redis_draft *draft, const struct redis_script *script, size_t more)
{
	struct redis_command *words = &draft->words;
	char *room = command_keep(words, script->size + more);

	if (!room)
		return NULL;
	command_bytes(words, script_text(script, room), script->size);
	return room + script->size;
}

/* add_keys adds the number of all keys, and the shard's keys that the script gets. The caller adds
 * the keys of queues. */
static void add_keys(struct redis_command *words, const struct redis_script *script,
		     const struct shard *shard, size_t topics)
{
	command_number(words, (int64_t)(script->key_count + topics * script->queue_keys));
	for (unsigned i = 0; i < script->key_count; i++) {
		enum redis_key key = script->keys[i];

		command_bytes(words, shard->keys.name[key], shard->keys.size[key]);
	}
}

void call_begin(struct redis_draft *draft, enum redis_script_id id, const struct shard *shard)
{
	const struct redis_script *script = &redis_scripts[id];

	begin(draft, "EVALSHA", id);
	draft->script = script;
	draft->node = shard->node;
	command_bytes(&draft->words, script->sha1, 40);
	add_keys(&draft->words, script, shard, 1);
}

char *call_begin_topics(struct redis_draft *draft, enum redis_script_id id,
			const struct shard *shard, size_t topics, size_t size)
{
	char *room;

	begin(draft, "EVAL", id);
	draft->node = shard->node;
	room = add_text(draft, &redis_scripts[id], size);
	add_keys(&draft->words, &redis_scripts[id], shard, topics);
	return room;
}

void call_begin_rare(struct redis_draft *draft, enum redis_script_id id, const struct shard *shard)
{
	(void)call_begin_topics(draft, id, shard, 1, 0);
}

void call_guard(struct redis_store *store, const struct shard *shard, uint64_t number)
{
	struct redis_command *words = &store->draft.words;
	bool owner = shard_is_ours(shard);

	command_text(words, owner ? "o" : "c");
	if (owner)
		command_text(words, shard->lease.token);
	else
		command_unsigned(words, nodes_connection(shard));
	if (owner)
		command_text(words, shard->lease.incarnation);
	else
		command_number(words, store->shard_count);
	command_number(words, (int64_t)number);
	command_number(words, (owner ? store->ownership.lease : SESSION_TTL) / 1000);
	if (owner && shard->inbox.seen > 0)
		command_unsigned(words, shard->inbox.seen);
	else
		command_text(words, owner ? "" : shard->keys.name[NAME_WAKE]);
}

/* ---- Loading a script ------------------------------------------------------------------------ */

static void note_refusal(struct redis_store *store, struct node *node, const char *what,
			 const struct reply *reply)
{
	struct scripts *scripts = &node->scripts;

	(void)snprintf(scripts->refusal, sizeof scripts->refusal, "%s: the server refuses%s: %s",
		       node_address(store, node), what, reply->bytes); /* long words are cut */
	scripts->refused_at = store->now;
}

static void script_loaded(struct redis_store *store, struct redis_request *request,
			  const struct reply *reply)
{
	struct scripts *scripts = &request->node->scripts;

	*(bool *)request->context = false;
	scripts->unloadable = reply->kind == REPLY_ERROR && !reply_passes(reply);
	if (reply->kind == REPLY_ERROR) {
		note_refusal(store, request->node, " SCRIPT LOAD", reply);
		complain_of(store, request->node, "the server refuses SCRIPT LOAD: %s",
			    reply->bytes);
	}
	request_free(&store->alloc, request);
}

static void script_load_lost(struct redis_store *store, struct redis_request *request)
{
	*(bool *)request->context = false;
	request_free(&store->alloc, request);
}

/* load sends the script of a request to a server that does not know it, because it was restarted or
 * its scripts were flushed. */
static void load(struct redis_store *store, const struct redis_request *request)
{
	const struct redis_script *script = request->script;
	bool *loading = &request->node->scripts.loading[script - redis_scripts];

	if (*loading)
		return;
	command_begin(&store->draft, COMMAND_SCRIPT);
	command_text(&store->draft.words, "LOAD");
	(void)add_text(&store->draft, script, 0);
	/* If this fails, the next NOSCRIPT tries again. */
	*loading =
	    request_post(store, request->shard, script_loaded, script_load_lost, loading) == DW_OK;
}

/* ---- What failed ----------------------------------------------------------------------------- */

/* pause_shard delays the shard's next command, so that refused commands are not sent again in a
 * loop. */
static void pause_shard(struct redis_store *store, struct shard *shard)
{
	if (shard)
		shard_pause(&store->sets, shard, usec_add(store->now, PAUSE));
}

bool call_passes(const struct nodes *nodes, const struct reply *error)
{
	bool moves = reply_fails(error, "MOVED") || reply_fails(error, "ASK");

	return reply_passes(error) || (nodes->cluster && moves);
}

bool call_is_of_shard(const struct reply *error)
{
	bool passes = reply_fails(error, "TRYAGAIN") || reply_fails(error, "CLUSTERDOWN");

	return passes || !(reply_passes(error) || reply_fails(error, "OOM") ||
			   reply_fails(error, "NOSCRIPT") || reply_fails(error, "NOAUTH"));
}

static enum failure error_failed(struct redis_store *store, struct redis_request *request,
				 const struct reply *reply)
{
	if (reply_fails(reply, "NOSCRIPT") && request->script) {
		load(store, request);
		if (!request->node->scripts.unloadable)
			return FAILURE_AGAIN;
		pause_shard(store, request->shard);
		return FAILURE_REFUSED;
	}
	if (store->nodes.cluster && reply_fails(reply, "MOVED")) {
		nodes_moved(store);
		pause_shard(store, request->shard);
		return FAILURE_AGAIN;
	}
	note_refusal(store, request->node, "", reply);
	if (reply_fails(reply, "OOM")) {
		complain_of(store, request->node,
			    "the server is over its maxmemory: new timers are refused until memory "
			    "is free; raise maxmemory or remove keys");
		return FAILURE_FULL;
	}
	if (request->shard && call_is_of_shard(reply))
		shard_mark(&store->sets, request->shard, SHARD_REFUSES);
	if (reply_fails(reply, "WRONGTYPE") && request->shard) {
		pause_shard(store, request->shard);
		return FAILURE_AGAIN;
	}
	complain_of(store, request->node, "the server refuses: %s", reply->bytes);
	if (call_passes(&store->nodes, reply)) {
		if (store->nodes.cluster)
			nodes_rest(store);
		pause_shard(store, request->shard);
		return reply_fails(reply, "MISCONF") ? FAILURE_FULL : FAILURE_AGAIN;
	}
	pause_shard(store, request->shard);
	return FAILURE_REFUSED;
}

/* number_refused is called when the server expects another number, because `mark` is the last
 * number that it has applied. */
static enum failure number_refused(const struct redis_request *request, uint64_t mark)
{
	if (mark < request->shard->channel.acked)
		return FAILURE_LOST;
	if (mark >= request->number)
		link_drop(request->node->link, "a number was used twice");
	return FAILURE_AGAIN;
}

enum failure call_failed(struct redis_store *store, struct redis_request *request,
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
		return number_refused(request, (uint64_t)reply_number(&word[1]));
	if (reply_is(word, "LOOK"))
		return FAILURE_LOOK;
	return FAILURE_NONE;
}

void call_number_done(const struct redis_request *request, bool applied)
{
	struct shard *shard = request->shard;

	shard->channel.under_way--;
	if (request->as_owner != shard_is_ours(shard))
		/* The store's role in this shard has changed, and numbers of the old role do not
		 * count. */
		return;
	if (applied) {
		shard->channel.acked = request->number;
	} else {
		shard->channel.is_broken = true;
	}
	if (shard->channel.is_broken && shard->channel.under_way == 0) {
		shard->channel.is_broken = false;
		shard->channel.next = shard->channel.acked + 1;
	}
}
