/* Knows the number of shards of the namespace. The meta hash of the first shard has this number; an
 * owner writes it there when it takes the lease. A client that only reads never writes it. While
 * the namespace has no number, such a client guesses one, and asks again before each operation. A
 * client that must write into a namespace without an owner fixes its guess: first in the first
 * shard, then in the shards to which it writes.
 *
 * When a namespace is emptied while it has an owner, it looks like a new one. So a client that
 * finds a shard without a number publishes this on the wake channel. If somebody is subscribed
 * there, the client waits OWNER_PATIENCE, so that the owner can write everything again. */
#include "store/redis/owner/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/core.h"

#define OWNER_PATIENCE DW_SECONDS(3)
#define ALONE_FOR DW_SECONDS(10)

/* ---- Asking ---------------------------------------------------------------------------------- */

static unsigned number_in(const struct reply *reply)
{
	unsigned long number;
	char *end;

	if (reply->size == 0 || reply->size > 3 ||
	    strspn(reply->bytes, "0123456789") != reply->size)
		return 0;
	number = strtoul(reply->bytes, &end, 10);
	return number <= SHARDS_MAX ? (unsigned)number : 0;
}

static void note(struct redis_store *store, const struct reply *reply)
{
	struct layout *layout = &store->layout;

	layout->words[0] = '\0';
	layout->is_wrong = false;
	layout->passes = reply_passes(reply);
	if (reply_fails(reply, "WRONGTYPE"))
		(void)snprintf(
		    layout->words, DW_MESSAGE_SIZE,
		    "the key {%s:%02u}:m is of another type than hash: rename or delete it",
		    store->names.name, layout->shard);
	else if (reply->kind == REPLY_ERROR)
		(void)snprintf(layout->words, DW_MESSAGE_SIZE, "%s: the server refuses: %s",
			       store->url.name, reply->bytes); /* long words are cut */
	if (reply->kind != REPLY_ERROR && reply->kind != REPLY_BULK)
		layout->found = 0;
	if (reply->kind != REPLY_BULK)
		return;
	layout->found = number_in(reply);
	layout->is_wrong = layout->found == 0;
	if (layout->is_wrong)
		layout_words(store, layout->shard, reply, layout->words);
}

void layout_words(const struct redis_store *store, unsigned shard, const struct reply *found,
		  char *ret_words)
{
	if (number_in(found) == 0)
		(void)snprintf(ret_words, DW_MESSAGE_SIZE,
			       "the namespace %s is damaged: shards in {%s:%02u}:m is \"%.40s\", "
			       "not a number from 1 to %u",
			       store->names.name, store->names.name, shard, found->bytes,
			       SHARDS_MAX);
	else
		(void)snprintf(ret_words, DW_MESSAGE_SIZE,
			       "the namespace %s has another number of shards: %.40s by "
			       "{%s:%02u}:m, not %u",
			       store->names.name, found->bytes, store->names.name, shard,
			       store->shard_count);
}

/* open_new_shards is called when the first shard's reply has come. If it has a number of shards,
 * the shards that were found without a number can now get it. */
static void open_new_shards(struct redis_store *store)
{
	struct shard *first = &store->shards[0];

	for (unsigned i = 1; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		if (!shard->session.is_new)
			continue;
		shard->channel.pause_until = 0;
		shard->session.fixes = store->layout.found > 0;
		shard->session.is_new = false;
		if (shard->channel.handshake != HANDSHAKE_NONE)
			continue;
		if (shard->session.fixes) {
			shard_mark(&store->sets, shard, SHARD_HANDSHAKE);
			continue;
		}
		shard->session.is_new = true; /* the first shard has no number either */
		shard_pause(&store->sets, shard, usec_add(store->now, PAUSE));
		if (first->channel.handshake == HANDSHAKE_DONE && first->channel.under_way == 0)
			channel_forget(&first->channel);
		if (first->channel.handshake == HANDSHAKE_NONE)
			shard_mark(&store->sets, first, SHARD_HANDSHAKE);
	}
}

/* note_unknown is called when the first shard's node is away, and no other shard has a number. */
static void note_unknown(struct redis_store *store)
{
	bool fatal;
	const char *why = link_trouble(store->nodes.home->link, &fatal);

	/* Long words are cut. */
	(void)snprintf(store->layout.words, DW_MESSAGE_SIZE,
		       "nobody has used the namespace %.63s on the nodes that answer, and the node "
		       "of its first shard is away: %s",
		       store->names.name, why[0] ? why : "there is no connection");
	store->layout.found = 0;
	store->layout.pause_until = usec_add(store->now, PAUSE);
}

/* next_there returns the first shard, from number `from` on, whose node is connected. */
static unsigned next_there(const struct nodes *nodes, unsigned from)
{
	while (from < SHARDS_MAX && !(nodes->place[from] && nodes->place[from]->connection))
		from++;
	return from;
}

static void layout_answered(struct redis_store *, struct redis_request *, const struct reply *);
static void layout_lost(struct redis_store *, struct redis_request *);

static int ask_shard(struct redis_store *store, unsigned number)
{
	struct layout *layout = &store->layout;
	char key[96];
	int status;

	(void)snprintf(key, sizeof key, "{%s:%02u}:m", store->names.name, number); /* it fits */
	command_begin(&store->draft, COMMAND_HGET);
	store->draft.node = store->nodes.place[number]; /* NULL with one server */
	command_text(&store->draft.words, key);
	command_text(&store->draft.words, "shards");
	status = request_post(store, NULL, layout_answered, layout_lost, NULL);
	layout->shard = number;
	layout->is_answered = false;
	layout->is_asked = status == DW_OK;
	return status == DW_ENOMEM ? DW_ENOMEM : DW_OK;
}

/* note_new is called when no shard has a number. */
static void note_new(struct layout *layout)
{
	layout->found = 0;
	layout->words[0] = '\0';
	layout->is_wrong = layout->passes = false;
}

/* ask_others asks the next shard whose node is connected. If none is left, the namespace is new, or
 * its number is not known until the first shard's node is connected. */
static int ask_others(struct redis_store *store, unsigned from)
{
	struct layout *layout = &store->layout;
	unsigned number = next_there(&store->nodes, from);

	if (number < (layout->is_first_empty ? SHARDS_DEFAULT : SHARDS_MAX))
		return ask_shard(store, number);
	layout->is_answered = true;
	if (layout->is_first_empty)
		note_new(layout);
	else
		note_unknown(store);
	return DW_OK;
}

/* asks_on returns true if other shards may have the number. If the first shard has none, a node of
 * a cluster may have been emptied. Only a store that is being opened asks the others then: an open
 * store knows the number, and an owner restores it. */
static bool asks_on(const struct redis_store *store, const struct reply *reply)
{
	const struct layout *layout = &store->layout;

	if (layout->shard == 0)
		return reply->kind == REPLY_NIL && store->nodes.cluster && !store->shards;
	return reply->kind == REPLY_NIL || (layout->is_first_empty && reply->kind == REPLY_ERROR);
}

static void layout_answered(struct redis_store *store, struct redis_request *request,
			    const struct reply *reply)
{
	struct layout *layout = &store->layout;

	layout->is_asked = false;
	request_free(&store->alloc, request);
	if (layout->shard == 0)
		layout->is_first_empty = reply->kind == REPLY_NIL;
	if (asks_on(store, reply)) {
		/* Without memory the next turn asks again. */
		(void)ask_others(store, layout->shard + 1);
		return;
	}
	layout->is_answered = true;
	note(store, reply);
	if (!store->shards || store->ownership.role == DW_OWNER)
		return;
	if (layout->words[0]) {
		complain(store, "%s%s", layout->is_wrong ? "" : "the server refuses: ",
			 layout->is_wrong ? layout->words : reply->bytes);
		layout->pause_until = usec_add(store->now, PAUSE);
		return;
	}
	layout->is_fresh = true;
	if (layout->found && layout->found != store->shard_count) {
		shard_mark(&store->sets, &store->shards[0], SHARD_OTHER_COUNT);
		return;
	}
	layout->is_fixed = layout->found > 0;
	open_new_shards(store);
}

static void layout_lost(struct redis_store *store, struct redis_request *request)
{
	store->layout.is_asked = false;
	request_free(&store->alloc, request);
}

static void era_answered(struct redis_store *store, struct redis_request *request,
			 const struct reply *reply)
{
	request_free(&store->alloc, request);
	if (reply->kind == REPLY_BULK && reply->size < sizeof store->layout.era)
		memcpy(store->layout.era, reply->bytes, reply->size + 1);
}

static void era_lost(struct redis_store *store, struct redis_request *request)
{
	request_free(&store->alloc, request);
}

void layout_ask_era(struct redis_store *store)
{
	char key[96];

	(void)snprintf(key, sizeof key, "{%s:00}:m", store->names.name);
	command_begin(&store->draft, COMMAND_HGET);
	command_text(&store->draft.words, key);
	command_text(&store->draft.words, "era");
	/* If this fails, layout.era stays "": the first shard's incarnation is not known. */
	(void)request_post(store, NULL, era_answered, era_lost, NULL);
}

int layout_ask(struct redis_store *store)
{
	struct layout *layout = &store->layout;

	if (layout->is_asked || !nodes_are_up(&store->nodes) || store->now < layout->pause_until)
		return DW_OK;
	layout->is_first_empty = false;
	return store->nodes.home->connection ? ask_shard(store, 0) : ask_others(store, 1);
}

bool layout_is_known(struct redis_store *store)
{
	struct layout *layout = &store->layout;

	if (layout->is_fixed || layout->is_fresh || store->ownership.role == DW_OWNER)
		return true;
	(void)layout_ask(store); /* without memory the next turn asks again */
	return false;
}

void layout_suspect(struct redis_store *store)
{
	if (store->ownership.role == DW_OWNER)
		return;
	store->layout.is_fixed = false;
	store->layout.is_fresh = false;
	(void)layout_ask(store); /* without memory the next turn asks again */
}

/* ---- A shard without a number ---------------------------------------------------------------- */

void layout_is_new(struct redis_store *store, struct shard *shard, int64_t listeners)
{
	struct layout *layout = &store->layout;

	if (!layout->empty_since)
		layout->empty_since = store->now;
	if (shard->number == 0 && listeners == 0)
		layout->alone_until = usec_add(store->now, ALONE_FOR);
	if (shard->number == 0 &&
	    (listeners == 0 || store->now >= layout->empty_since + OWNER_PATIENCE)) {
		shard->session.fixes = true;
		return;
	}
	shard_pause(&store->sets, shard, usec_add(store->now, PAUSE));
	shard->session.is_new = true;
	if (shard->number > 0)
		(void)layout_ask(store); /* without memory the next turn asks again */
}

void layout_is_ours(struct redis_store *store, const struct shard *shard)
{
	if (shard->number > 0)
		return;
	store->layout.is_fixed = true;
	store->layout.empty_since = 0;
	for (unsigned i = 1; i < store->shard_count; i++)
		if (store->shards[i].session.is_new) {
			(void)layout_ask(store); /* without memory the next turn asks again */
			return;
		}
}

/* ---- An owner's number ----------------------------------------------------------------------- */

static void correction_lost(struct redis_store *store, struct redis_request *request)
{
	request_free(&store->alloc, request);
}

static void correction_answered(struct redis_store *store, struct redis_request *request,
				const struct reply *reply)
{
	(void)reply;
	request_free(&store->alloc, request);
}

/* correct writes the owner's number into a shard that only a client has used. The server then
 * refuses the client's next commands, and so the client learns the number. */
static void correct(struct redis_store *store, unsigned shard)
{
	char key[96];

	(void)snprintf(key, sizeof key, "{%s:%02u}:m", store->names.name, shard);
	command_begin(&store->draft, COMMAND_HSET);
	store->draft.node = store->nodes.place[shard]; /* NULL with one server */
	command_text(&store->draft.words, key);
	command_text(&store->draft.words, "shards");
	command_number(&store->draft.words, store->shard_count);
	(void)request_post(store, NULL, correction_answered, correction_lost, NULL);
}

int layout_note_node(struct redis_store *store, unsigned shard, struct node *at, const char *node)
{
	char key[96];

	(void)snprintf(key, sizeof key, "{%s:%02u}:m", store->names.name, shard); /* it fits */
	command_begin(&store->draft, COMMAND_HSET);
	store->draft.node = at;
	command_text(&store->draft.words, key);
	command_text(&store->draft.words, "node");
	command_text(&store->draft.words, node);
	/* If this fails, a store that is opened later has to wait. */
	return request_post(store, NULL, correction_answered, correction_lost, NULL);
}

void layout_stands(struct redis_store *store, const struct reply *clients)
{
	unsigned theirs = clients->kind == REPLY_BULK ? number_in(clients) : 0;

	if (theirs == 0 || theirs == store->shard_count)
		return;
	complain(store,
		 "a client recreated the namespace with %u shards: restored to %u shards; timers "
		 "added meanwhile may not be found",
		 theirs, store->shard_count);
	for (unsigned i = store->shard_count; i < theirs; i++)
		correct(store, i);
}
