/* Into how many shards the namespace is divided. The first shard's meta says so; an owner writes it
 * when it takes the lease. A client changes nothing by looking: while nobody has fixed a number it
 * has a guess, and asks again before each thing it does. Only a client that has something to write
 * where no owner has been fixes its guess: first in the first shard, then in those it writes to.
 *
 * A namespace that was emptied under its owner looks like a new one. So a client that finds a shard
 * without a number says so on the wake channel, and while somebody listens there it gives that
 * owner time to write all of it again. */
#include "store/redis/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/store.h"

#define OWNER_PATIENCE DW_SECONDS(3)

/* ---- Shards -------------------------------------------------------------------------------- */

/* make_keys: one block for all names of a shard. */
static int make_keys(struct redis_store *store, struct shard *shard)
{
	static const char *const ends[KEY_COUNT] = {"l", "m", "z", "h", "i", "d", "D", "e", "s:"};
	size_t room = sizeof store->name + sizeof store->nonce + 16;
	char *at = alloc_new(&store->alloc, KEY_COUNT * room);

	if (!at)
		return DW_ENOMEM;
	for (unsigned i = 0; i < KEY_COUNT; i++, at += room) {
		shard->keys[i] = at;
		shard->key_sizes[i] =
		    (size_t)snprintf(at, room, "{%s:%02u}:%s%s", store->name, shard->number,
				     ends[i], i == KEY_SESSION ? store->nonce : "");
	}
	return DW_OK;
}

int redis_shards(struct redis_store *store, unsigned count)
{
	struct shard *shards = alloc_new(&store->alloc, count * sizeof *shards);

	if (!shards)
		return DW_ENOMEM;
	store->shards = shards;
	store->layout.is_fixed = true;
	for (; store->shard_count < count; store->shard_count++) {
		struct shard *shard = &shards[store->shard_count];

		shard->number = store->shard_count;
		shard->next = 1;
		if (make_keys(store, shard) != DW_OK)
			return DW_ENOMEM;
	}
	return DW_OK;
}

static void free_shard(struct redis_store *store, struct shard *shard)
{
	while (shard->doubts) {
		struct doubt *doubt = shard->doubts;

		shard->doubts = doubt->next;
		alloc_free(&store->alloc, doubt);
	}
	loss_free(store, shard);
	alloc_free(&store->alloc, shard->keys[0]);
}

void layout_free(struct redis_store *store, struct shard *shards, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		free_shard(store, &shards[i]);
	alloc_free(&store->alloc, shards);
}

/* ---- Another number ------------------------------------------------------------------------ */

static void rehome(struct redis_store *store, struct op_queue *queue)
{
	dw_op *op;

	while ((op = op_queue_pop(queue)))
		op_queue_push(&shard_of(store, op->id)->waiting, op);
}

static void rehome_pushes(struct redis_store *store, struct op_queue *queue)
{
	dw_op *op;

	while ((op = op_queue_pop(queue)))
		op_queue_push(&shard_of(store, op->id)->pushes, op);
}

static void rehome_doubts(struct redis_store *store, struct shard *old)
{
	while (old->doubts) {
		struct doubt *doubt = old->doubts;
		struct shard *shard = shard_of(store, doubt->id);

		old->doubts = doubt->next;
		if (!doubt->resolved)
			doubt->resolved = doubt->applied = true; /* perhaps */
		doubt->next = shard->doubts;
		shard->doubts = doubt;
		shard->doubt_count++;
	}
}

/* rehome_all: what waits for the old shards. What was sent to them and not answered may have been
 * applied, and what is there of it nobody can say; but what is pushed may be pushed again. */
static void rehome_all(struct redis_store *store, struct shard *shard)
{
	struct request *request;

	while ((request = flow_limbo_pop(shard))) {
		if (request->ops.first && request->ops.first->kind == DW_OP_REPUSH)
			rehome_pushes(store, &request->ops);
		answer_doubtful(store, &request->ops);
		request_free(store, request);
	}
	rehome_pushes(store, &shard->pushes);
	rehome(store, &shard->redo);
	rehome(store, &shard->waiting);
	rehome_doubts(store, shard);
	loss_rebury(store, shard);
}

void layout_change(struct redis_store *store)
{
	struct shard *old = store->shards;
	unsigned old_count = store->shard_count;
	unsigned found = store->layout.found;

	if (!old || !found || found == old_count || store->role == DW_OWNER || store->stopped)
		return;
	store->shard_count = 0;
	if (redis_shards(store, found) != DW_OK) { /* asked again */
		if (store->shards != old)
			layout_free(store, store->shards, store->shard_count);
		store->shards = old;
		store->shard_count = old_count;
		store->layout.is_fixed = false;
		return;
	}
	scan_end_all(store, DW_ESTORE);
	for (unsigned i = 0; i < old_count; i++)
		rehome_all(store, &old[i]);
	layout_free(store, old, old_count);
	loss_rehome(store);
}

/* ---- Asking -------------------------------------------------------------------------------- */

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
		    "the key {%s:00}:m is of another type than hash: rename or delete it",
		    store->name);
	else if (reply->kind == REPLY_ERROR)
		(void)snprintf(layout->words, DW_MESSAGE_SIZE, "%s: the server refuses: %s",
			       store->url.name, reply->bytes); /* cut if long */
	if (reply->kind != REPLY_ERROR && reply->kind != REPLY_BULK)
		layout->found = 0;
	if (reply->kind != REPLY_BULK)
		return;
	layout->found = number_in(reply);
	layout->is_wrong = layout->found == 0;
	if (layout->is_wrong)
		layout_words(store, 0, reply, layout->words);
}

void layout_words(const struct redis_store *store, unsigned shard, const struct reply *found,
		  char *ret_words)
{
	if (number_in(found) == 0)
		(void)snprintf(ret_words, DW_MESSAGE_SIZE,
			       "the namespace %s is damaged: shards in {%s:%02u}:m is \"%.40s\", "
			       "not a number from 1 to %u",
			       store->name, store->name, shard, found->bytes, SHARDS_MAX);
	else
		(void)snprintf(ret_words, DW_MESSAGE_SIZE,
			       "the namespace %s has another number of shards: %.40s by "
			       "{%s:%02u}:m, not %u",
			       store->name, found->bytes, store->name, shard, store->shard_count);
}

/* greet_new: the first shard's number is ours, so it is those shards' that have none. */
static void greet_new(struct redis_store *store)
{
	struct shard *first = &store->shards[0];

	for (unsigned i = 1; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		if (!shard->is_new)
			continue;
		shard->pause_until = 0;
		shard->fixes = store->layout.found > 0;
		shard->is_new = false;
		if (shard->greeting != GREETING_NONE)
			continue;
		if (shard->fixes) {
			greet(store, shard);
			continue;
		}
		shard->is_new = true; /* the first one has none either */
		shard->pause_until = usec_add(store->now, PAUSE);
		if (first->greeting == GREETING_DONE && first->under_way == 0)
			first->greeting = GREETING_NONE;
		if (first->greeting == GREETING_NONE)
			greet(store, first);
	}
}

static void came(struct redis_store *store, struct request *request, const struct reply *reply)
{
	struct layout *layout = &store->layout;

	layout->is_asked = false;
	layout->is_answered = true;
	request_free(store, request);
	note(store, reply);
	if (!store->shards || store->role == DW_OWNER)
		return;
	if (layout->words[0]) {
		complain(store, "%s%s", layout->is_wrong ? "" : "the server refuses: ",
			 layout->is_wrong ? layout->words : reply->bytes);
		layout->pause_until = usec_add(store->now, PAUSE);
		return;
	}
	layout->is_fresh = true;
	if (layout->found && layout->found != store->shard_count) {
		if (store->under_way.first || store->scans)
			link_drop(store->link, "the namespace was made anew, with another number "
					       "of shards");
		else
			layout_change(store);
		return;
	}
	layout->is_fixed = layout->found > 0;
	greet_new(store);
}

static void lost(struct redis_store *store, struct request *request)
{
	store->layout.is_asked = false;
	request_free(store, request);
}

static int ask(struct redis_store *store)
{
	struct request *request;
	char key[96];

	if (store->layout.is_asked || !store->connection || store->now < store->layout.pause_until)
		return DW_OK;
	request = request_new(store, NULL, came, lost);
	if (!request)
		return DW_ENOMEM;
	(void)snprintf(key, sizeof key, "{%s:00}:m", store->name);
	command_begin(store, "HGET");
	command_text(&store->words, key);
	command_text(&store->words, "shards");
	store->layout.is_answered = false;
	if (request_send(store, request) == DW_OK)
		store->layout.is_asked = true;
	else
		request_free(store, request);
	return DW_OK;
}

void layout_ask(struct redis_store *store)
{
	(void)ask(store); /* without memory it is asked again */
}

int layout_await(struct redis_store *store, dw_usec until)
{
	const struct layout *layout = &store->layout;

	if (ask(store) != DW_OK)
		return DW_ENOMEM;
	do {
		flow_wire(store);
	} while (layout->is_asked && redis_wait(store, until));
	return layout->is_answered && (!layout->words[0] || layout->is_wrong) ? DW_OK : DW_ESTORE;
}

bool layout_is_known(struct redis_store *store)
{
	struct layout *layout = &store->layout;

	if (layout->is_fixed || layout->is_fresh || store->role == DW_OWNER)
		return true;
	layout_ask(store);
	return false;
}

void layout_doubt(struct redis_store *store)
{
	if (store->role == DW_OWNER)
		return;
	store->layout.is_fixed = false;
	store->layout.is_fresh = false;
	layout_ask(store);
}

/* ---- A shard without a number -------------------------------------------------------------- */

void layout_is_new(struct redis_store *store, struct shard *shard, int64_t listeners)
{
	struct layout *layout = &store->layout;

	if (!layout->empty_since)
		layout->empty_since = store->now;
	if (shard->number == 0 &&
	    (listeners == 0 || store->now >= layout->empty_since + OWNER_PATIENCE)) {
		shard->fixes = true;
		return;
	}
	shard->pause_until = usec_add(store->now, PAUSE);
	shard->is_new = true;
	if (shard->number > 0)
		layout_ask(store);
}

void layout_is_ours(struct redis_store *store, const struct shard *shard)
{
	if (shard->number > 0)
		return;
	store->layout.is_fixed = true;
	store->layout.empty_since = 0;
	for (unsigned i = 1; i < store->shard_count; i++)
		if (store->shards[i].is_new) {
			layout_ask(store);
			return;
		}
}

/* ---- An owner's number --------------------------------------------------------------------- */

static void correction_lost(struct redis_store *store, struct request *request)
{
	request_free(store, request);
}

static void corrected(struct redis_store *store, struct request *request, const struct reply *reply)
{
	(void)reply;
	request_free(store, request);
}

/* correct writes our number into a shard that only a client has had: what it sends there from now
 * on is refused, and it learns ours. */
static void correct(struct redis_store *store, unsigned shard)
{
	struct request *request = request_new(store, NULL, corrected, correction_lost);
	char key[96];

	if (!request)
		return;
	(void)snprintf(key, sizeof key, "{%s:%02u}:m", store->name, shard);
	command_begin(store, "HSET");
	command_text(&store->words, key);
	command_text(&store->words, "shards");
	command_number(&store->words, store->shard_count);
	if (request_send(store, request) != DW_OK)
		request_free(store, request);
}

void layout_stands(struct redis_store *store, const struct reply *clients)
{
	unsigned theirs = clients->kind == REPLY_BULK ? number_in(clients) : 0;

	if (theirs == 0 || theirs == store->shard_count)
		return;
	complain(store,
		 "a client had made the namespace anew, with %u shards: it has %u again, and what "
		 "was put meanwhile may not be found",
		 theirs, store->shard_count);
	for (unsigned i = store->shard_count; i < theirs; i++)
		correct(store, i);
}
