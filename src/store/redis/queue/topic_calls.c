#include "store/redis/queue/topic_calls.h"

#include <string.h>

#include "durawheel/topic.h"
#include "store/counts.h"
#include "store/redis/queue/consumers.h"
#include "store/redis/core.h"
#include "store/redis/owner/member_numbers.h"
#include "store/redis/queue/queue_call.h"

#define COUNTS_FIELD "" /* no topic has this name */

/* An operation that asks several shards. */
struct topic_call {
	dw_op *op;
	unsigned left;
	int status;     /* the first failure */
	bool again;     /* a shard could not answer just now, so the operation is sent again */
	bool reads;     /* of a change: the shards are first asked for their settings */
	bool numbers;   /* next, the shards are asked for the numbers of queues */
	bool changes;   /* a change that is not yet in all shards */
	bool is_shared; /* peers have told numbers of timers */
	struct copies_told told; /* the settings that the shards have */
	dw_row **tail;
};

static void send_change(struct redis_store *store, struct topic_call *call);
static void send_numbers(struct redis_store *store, struct topic_call *call);

bool topic_is_change(const dw_op *op)
{
	return op->kind == DW_OP_TOPIC_SET || op->kind == DW_OP_TOPIC_DROP;
}

/* begin_change is called when the shards have told which settings they have. */
static void begin_change(struct redis_store *store, struct topic_call *call)
{
	call->reads = false;
	call->left = 1;
	store->later.topics.has_room = call->told.count + 2 * TOPIC_CHANGES_MAX <= DW_TOPICS_MAX;
	if (call->status == DW_OK && !call->again)
		send_change(store, call);
}

/* begin_numbers is called when the shards have told which topics they have. */
static void begin_numbers(struct redis_store *store, struct topic_call *call)
{
	call->numbers = false;
	call->left = 1;
	if (call->status == DW_OK && !call->again)
		send_numbers(store, call);
}

/* end_change lets operations be sent that were submitted after the change. */
static void end_change(struct later *later, struct topic_call *call)
{
	later->topics.changing -= call->changes;
	call->changes = false;
}

/* end_list adds the settings to the answer. If the list fails, what was read is lost. */
static void end_list(struct redis_store *store, struct topic_call *call)
{
	bool changes = (call->op->flags & DW_OP_CHANGES) != 0;

	if (call->status == DW_OK && !call->again &&
	    !copies_answer(store, &call->told, call->op, &call->tail))
		call->status = DW_ENOMEM;
	if (changes && call->status == DW_OK && !call->again)
		call->op->flags |= DW_OP_PART;
	else if (changes)
		copies_read_all(store);
}

static void call_end(struct redis_store *store, struct topic_call *call)
{
	struct op_queue again = {0};

	if (--call->left > 0)
		return;
	if (call->reads || call->numbers) {
		if (call->reads)
			begin_change(store, call);
		else
			begin_numbers(store, call);
		if (--call->left > 0)
			return;
	}
	end_change(&store->later, call);
	if (call->op->kind == DW_OP_TOPIC_LIST)
		end_list(store, call);
	rows_free(&store->alloc, call->told.rows.first);
	if (call->status != DW_OK || call->again) {
		rows_free(&store->alloc, call->op->rows);
		call->op->rows = NULL;
		call->op->row_count = 0;
	}
	if (call->again) {
		op_queue_push(&again, call->op);
		batch_take_back(&store->later.topics.waiting, &again);
	} else {
		answer(store, call->op, call->status);
	}
	alloc_free(&store->alloc, call);
}

static void call_fail(struct topic_call *call, int status)
{
	if (call->status == DW_OK)
		call->status = status;
}

static int status_of(enum failure failure)
{
	return failure == FAILURE_NONE ? DW_OK : failure == FAILURE_FULL ? DW_EFULL : DW_ESTORE;
}

/* is_read returns true if what is under way only reads, so that it may be sent again. */
static bool is_read(const struct topic_call *call)
{
	return call->op->kind == DW_OP_TOPIC_LIST || call->op->kind == DW_OP_AWAIT || call->reads;
}

static void topic_part_lost(struct redis_store *store, struct redis_request *request)
{
	struct topic_call *call = request->context;

	if (is_read(call) && !store->stopped)
		call->again = true;
	else
		call_fail(call, is_read(call) ? DW_ESTORE : DW_EUNKNOWN);
	if (topic_is_change(call->op) && !call->reads)
		copies_read_all(store);
	request_free(&store->alloc, request);
	call_end(store, call);
}

/* post sends the command in the draft as the shard's part of the call. */
static void post(struct redis_store *store, struct topic_call *call, struct shard *shard,
		 request_answered *answered)
{
	int status = request_post(store, shard, answered, topic_part_lost, call);

	call->left++;
	if (status == DW_OK)
		return;
	call_fail(call, status == DW_ENOMEM ? DW_ENOMEM : DW_ESTORE);
	call_end(store, call);
}

static struct topic_call *call_new_for(struct alloc *alloc, dw_op *op)
{
	struct topic_call *call = alloc_new(alloc, sizeof *call);

	if (!call)
		return NULL;
	call->op = op;
	call->left = 1; /* this counts the function that sends the parts */
	call->tail = &op->rows;
	return call;
}

/* ---- The list ------------------------------------------------------------------------------ */

static bool add_rows(struct alloc *alloc, struct topic_call *call, unsigned shard,
		     const struct reply *reply)
{
	const struct reply *items = reply->items;
	size_t count = (size_t)reply_number(&items[1]);

	if (call->told.count < count)
		call->told.count = count;
	if (!call->is_shared && token_has_holder(&items[3]) &&
	    !counts_add_rows(alloc, call->op, &call->tail, items[2].bytes, items[2].size))
		return false;
	for (size_t i = 4; i < reply->count; i += 2)
		if (!copies_read(alloc, &call->told.rows, shard, &items[i]))
			return false;
	return true;
}

static void topic_list_answered(struct redis_store *store, struct redis_request *request,
				const struct reply *reply)
{
	struct topic_call *call = request->context;
	unsigned shard = request->shard->number;
	enum failure failure = call_failed(store, request, reply);

	request_free(&store->alloc, request);
	if (failure == FAILURE_AGAIN) {
		call->again = true;
	} else if (failure != FAILURE_NONE) {
		call_fail(call, status_of(failure));
	} else if (call->status == DW_OK &&
		   !(call->op->flags & DW_OP_CHANGES
			 ? copies_read_changes(store, &call->told, shard, reply)
			 : add_rows(&store->alloc, call, shard, reply))) {
		call->tail = &call->op->rows;
		call_fail(call, DW_ENOMEM);
	}
	call_end(store, call);
}

static void topic_peers_answered(struct redis_store *store, struct redis_request *request,
				 const struct reply *reply)
{
	struct topic_call *call = request->context;
	enum failure failure = call_failed(store, request, reply);

	request_free(&store->alloc, request);
	if (failure == FAILURE_AGAIN)
		call->again = true;
	else if (failure == FAILURE_NONE && call->status == DW_OK &&
		 !numbers_add_topics(&store->alloc, call->op, &call->tail, reply, &call->is_shared))
		call_fail(call, DW_ENOMEM); /* no row is added after this */
	call_end(store, call);
}

/* send_list asks the shards for settings, and the first one in use for the owner's numbers, too. */
static void send_list(struct redis_store *store, struct topic_call *call)
{
	const char *topic = call->op->topic ? call->op->topic : "";
	const struct shard *first = shard_first(store);
	bool changes = (call->op->flags & DW_OP_CHANGES) != 0;

	call->numbers = !call->reads && !changes;
	if (call->numbers && numbers_are_needed(store)) {
		numbers_ask(store, NUMBERS_TOPICS);
		post(store, call, NULL, topic_peers_answered);
	}
	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		if (shard_is_cut_off(shard)) { /* the owner uses what it read there before */
			shard_add(&call->told.partial, i);
			continue;
		}
		if (changes)
			copies_ask_changes(&store->draft, shard);
		else
			copies_ask(&store->draft, shard, topic, call->numbers && shard == first);
		post(store, call, shard, topic_list_answered);
	}
}

/* ---- The numbers of queues ----------------------------------------------------------------- */

/* next_counted returns the next row, or this one, that is in the shard of its topic's name. */
static const dw_row *next_counted(struct redis_store *store, const dw_row *row)
{
	while (row && (row->gone || row->status == DW_EINVAL ||
		       row->number != shard_of(store, row->id)->number))
		row = row->next;
	return row;
}

/* add_numbers takes items of a reply: topics, in the order of the rows, and their numbers. */
static bool add_numbers(struct redis_store *store, struct topic_call *call,
			const struct reply *items, size_t count)
{
	const dw_row *row = next_counted(store, call->told.rows.first);

	for (size_t i = 0; i < count; i += 2) {
		while (row && strcmp(row->id, items[i].bytes) != 0)
			row = next_counted(store, row->next);
		if (row && items[i + 1].size > 0 &&
		    !copies_add_numbers(&store->alloc, &call->told.rows, row, &items[i + 1]))
			return false;
	}
	return true;
}

static void numbers_answered(struct redis_store *store, struct redis_request *request,
			     const struct reply *reply)
{
	struct topic_call *call = request->context;
	enum failure failure = call_failed(store, request, reply);

	request_free(&store->alloc, request);
	if (failure == FAILURE_AGAIN)
		call->again = true;
	else if (failure != FAILURE_NONE)
		call_fail(call, status_of(failure));
	else if (call->status == DW_OK &&
		 !add_numbers(store, call, reply->items + 1, reply->count - 1))
		call_fail(call, DW_ENOMEM);
	call_end(store, call);
}

/* send_numbers_of asks for the numbers of this row and of the next rows of the same shard. Returns
 * the row after these. */
static const dw_row *send_numbers_of(struct redis_store *store, struct topic_call *call,
				     const dw_row *first)
{
	const char *topics[QUEUE_TOPICS_MAX] = {NULL};
	struct shard *shard = &store->shards[first->number];
	const dw_row *row = first;
	size_t count = 0;

	for (; row && row->number == first->number && count < QUEUE_TOPICS_MAX;
	     row = next_counted(store, row->next))
		topics[count++] = row->id;
	queue_call_begin_topics(store, SCRIPT_QUEUE_NUMBERS, shard, topics, count);
	for (size_t i = 0; i < count; i++)
		command_text(&store->draft.words, topics[i]);
	post(store, call, shard, numbers_answered);
	return row;
}

static void send_numbers(struct redis_store *store, struct topic_call *call)
{
	const dw_row *row = next_counted(store, call->told.rows.first);

	while (row)
		row = send_numbers_of(store, call, row);
}

/* send_reading begins a change: it asks the shards for their settings. */
static void send_reading(struct redis_store *store, struct topic_call *call)
{
	call->reads = true;
	call->changes = true;
	store->later.topics.changing++;
	send_list(store, call);
}

/* ---- Changes ------------------------------------------------------------------------------- */

/* A key of a wrong type fails no call: the settings have changed all the same, and the owner writes
 * the copy later; a consumer that could not be noted looks for messages each second. */
static void copy_or_note_answered(struct redis_store *store, struct redis_request *request,
				  const struct reply *reply)
{
	struct topic_call *call = request->context;
	enum failure failure = call_failed(store, request, reply);

	request_free(&store->alloc, request);
	if (failure == FAILURE_NONE && reply_is(&reply->items[0], "TYPE"))
		complain_of_key(store, reply);
	if (call->op->kind == DW_OP_AWAIT) {
		call->again = call->again || failure == FAILURE_AGAIN;
	} else if (failure != FAILURE_NONE) {
		call_fail(call, DW_EUNKNOWN);
		copies_read_all(store);
	}
	call_end(store, call);
}

/* copy writes the settings into every shard. If a shard misses them, the owner writes them later.
 * The text of the script is sent once; afterwards the server knows it. The topic's own shard comes
 * last, and tells the owner. */
static void copy(struct redis_store *store, struct topic_call *call, const struct reply *settings)
{
	bool is_known = false;
	unsigned home = shard_of(store, call->op->topic)->number;
	bool wakes = !shard_is_ours(&store->shards[home]);

	for (unsigned i = 1; i <= store->shard_count; i++) {
		struct shard *shard = &store->shards[(home + i) % store->shard_count];

		if (shard_is_cut_off(shard))
			continue;
		copies_begin_write(&store->draft, shard, !is_known, wakes && shard->number == home);
		is_known = true;
		command_text(&store->draft.words, call->op->topic);
		command_bytes(&store->draft.words, settings->bytes, settings->size);
		post(store, call, shard, copy_or_note_answered);
	}
	end_change(&store->later, call);
}

static int refusal_of(const struct reply *reply)
{
	if (reply_is(&reply->items[0], "LIMIT"))
		return DW_ELIMIT;
	if (reply_is(&reply->items[0], "NONE"))
		return DW_ENOENT;
	if (reply_is(&reply->items[0], "TYPE"))
		return DW_ECORRUPT;
	return reply_is(&reply->items[0], "BUSY") ? DW_EBUSY : DW_OK;
}

/* shard_is_empty is called when the topic's shard has lost its data. Its owner must first write the
 * settings again, because a pause keeps all settings that it does not name. */
static void shard_is_empty(struct redis_store *store, struct topic_call *call)
{
	struct shard *shard = shard_of(store, call->op->topic);

	call->again = true;
	if (shard_is_ours(shard))
		shard_mark(&store->sets, shard, SHARD_SUSPECT);
	else
		channel_forget(&shard->channel);
}

static void changed(struct redis_store *store, struct redis_request *request,
		    const struct reply *reply)
{
	struct topic_call *call = request->context;
	enum failure failure = call_failed(store, request, reply);
	int status = failure == FAILURE_NONE ? refusal_of(reply) : status_of(failure);

	if (status == DW_ECORRUPT)
		complain_of_key(store, reply);
	request_free(&store->alloc, request);
	if (failure == FAILURE_FENCED) {
		shard_is_empty(store, call);
	} else if (status == DW_OK) {
		if (store->ownership.role == DW_OWNER)
			copies_learn(store, call->op->topic, &reply->items[1]);
		copy(store, call, &reply->items[1]);
	} else {
		call_fail(call, status);
	}
	call_end(store, call);
}

/* send_change sends the change to the topic's shard. That shard may have lost its settings, or have
 * older ones. So the newest settings that any shard has are sent along. */
static void send_change(struct redis_store *store, struct topic_call *call)
{
	const dw_op *op = call->op;
	struct redis_command *words = &store->draft.words;
	bool sets = op->kind == DW_OP_TOPIC_SET;
	struct shard *shard = shard_of(store, op->topic);
	enum redis_script_id script = sets ? SCRIPT_TOPIC_SET : SCRIPT_TOPIC_DROP;
	const dw_row *newest = copies_newest(&store->later, &call->told.rows, op->topic);
	struct queue_room room;

	call_begin_rare(&store->draft, script, shard);
	queue_call_add_keys(store, script, shard, op->topic, &room);
	command_text(words, op->topic);
	if (sets) {
		command_bytes(words, op->body, op->body_size);
		command_text(words, op->flags & DW_OP_PART ? "1" : "0");
		command_number(words, DW_TOPICS_MAX);
	}
	command_bytes(words, newest ? newest->body : "", newest ? newest->body_size : 0);
	if (sets)
		command_number(words, (int64_t)call->told.count);
	post(store, call, shard, changed);
}

/* counts_answered takes the reply to a plain command, which has no refusals of scripts. */
static void counts_answered(struct redis_store *store, struct redis_request *request,
			    const struct reply *reply)
{
	struct topic_call *call = request->context;

	request_free(&store->alloc, request);
	if (reply->kind == REPLY_ERROR)
		call_fail(call, DW_ESTORE);
	call_end(store, call);
}

static void send_counts(struct redis_store *store, struct topic_call *call)
{
	struct shard *first = shard_first(store);

	command_begin(&store->draft, COMMAND_HSET);
	command_text(&store->draft.words, first->keys.name[KEY_TOPICS]);
	command_text(&store->draft.words, COUNTS_FIELD);
	command_bytes(&store->draft.words, call->op->body, call->op->body_size);
	post(store, call, first, counts_answered);
}

/* ---- Sending ------------------------------------------------------------------------------- */

static void send_await(struct redis_store *store, struct topic_call *call)
{
	struct queue_room room;

	for (unsigned i = 0; i < store->shard_count; i++) {
		if (shard_is_cut_off(&store->shards[i]))
			continue;
		queue_call_begin_await(store, &store->shards[i], call->op, &room);
		post(store, call, &store->shards[i], copy_or_note_answered);
	}
}

int topic_call_send(struct redis_store *store, dw_op *op)
{
	struct topic_call *call = call_new_for(&store->alloc, op);

	if (!call)
		return DW_ENOMEM;
	if (op->kind == DW_OP_TOPIC_LIST)
		send_list(store, call);
	else if (op->kind == DW_OP_TOPIC_COUNT && shard_is_shared(store))
		numbers_tell_topics(store, op);
	else if (op->kind == DW_OP_TOPIC_COUNT)
		send_counts(store, call);
	else if (op->kind == DW_OP_AWAIT)
		send_await(store, call);
	else
		send_reading(store, call);
	call_end(store, call);
	return DW_OK;
}
