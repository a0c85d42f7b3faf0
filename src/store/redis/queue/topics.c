#include "store/redis/queue/topics.h"

#include <stdio.h>
#include <string.h>

#include "durawheel/topic.h"
#include "store/counts.h"
#include "store/redis/queue/consumers.h"
#include "store/redis/core.h"
#include "store/redis/page/ends.h"
#include "store/redis/queue/queue_call.h"
#include "store/redis/queue/queues.h"

#define COUNTS_FIELD "" /* no topic has this name */
#define CHANGES_MAX 16u /* changes under way at one time, so that timers need not wait for many */

/* An operation that asks several shards. */
struct topic_call {
	dw_op *op;
	unsigned left;
	int status;              /* the first failure */
	bool again;              /* a shard could not answer just now: all are asked again */
	bool reads;              /* a change: the shards are asked for the settings before it */
	bool changes;            /* a change that is not in all shards yet */
	struct copies_told told; /* the settings that these have */
	dw_row **tail;
};

static void send_change(struct redis_store *store, struct topic_call *call);

static bool is_change(const dw_op *op)
{
	return op->kind == DW_OP_TOPIC_SET || op->kind == DW_OP_TOPIC_DROP;
}

/* begin_change: the shards have said which settings they have. */
static void begin_change(struct redis_store *store, struct topic_call *call)
{
	call->reads = false;
	call->left = 1;
	store->later.topics.has_room = call->told.count + 2 * CHANGES_MAX <= DW_TOPICS_MAX;
	if (call->status == DW_OK && !call->again)
		send_change(store, call);
}

/* end_change: what was submitted after the change may be sent. */
static void end_change(struct later *later, struct topic_call *call)
{
	later->topics.changing -= call->changes;
	call->changes = false;
}

/* end_list: if it has failed, what was read is lost. */
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
	if (call->reads) {
		begin_change(store, call);
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

/* is_read: it may be asked again. */
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
	if (is_change(call->op) && !call->reads)
		copies_read_all(store);
	request_free(&store->alloc, request);
	call_end(store, call);
}

/* post sends the command in pipeline.words as the shard's part of the call. */
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
	call->left = 1; /* counts the function that sends the parts */
	call->tail = &op->rows;
	return call;
}

/* ---- The list ------------------------------------------------------------------------------ */

/* add_row: the owner tells its numbers to the first shard in use. */
static bool add_row(struct redis_store *store, struct topic_call *call, unsigned shard,
		    const struct reply *items)
{
	if (items[0].size == 0 &&
	    (call->op->kind != DW_OP_TOPIC_LIST || &store->shards[shard] != shard_first(store) ||
	     !token_has_holder(&items[2])))
		return true;
	if (items[0].size == 0)
		return counts_add_rows(&store->alloc, call->op, &call->tail, items[1].bytes,
				       items[1].size);
	return copies_read(&store->alloc, &call->told.rows, shard, items, &items[2]);
}

static bool add_rows(struct redis_store *store, struct topic_call *call, unsigned shard,
		     const struct reply *reply)
{
	size_t count = (size_t)reply_number(&reply->items[1]);

	if (call->told.count < count)
		call->told.count = count;
	for (size_t i = 2; i < reply->count; i += 3)
		if (!add_row(store, call, shard, &reply->items[i]))
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
			 : add_rows(store, call, shard, reply))) {
		call->tail = &call->op->rows;
		call_fail(call, DW_ENOMEM);
	}
	call_end(store, call);
}

/* The numbers of a topic are in the shard of its name, the owner's in the first one in use. */
static void send_list(struct redis_store *store, struct topic_call *call)
{
	const char *topic = call->op->topic ? call->op->topic : "";
	const struct shard *first = shard_first(store);
	char key[COPIES_KEY_SIZE];

	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];
		bool has_numbers = !topic[0] || shard == first || shard == shard_of(store, topic);

		if (shard_is_cut_off(shard)) { /* the owner goes on with what it has read of it */
			shard_add(&call->told.partial, i);
			continue;
		}
		if (call->op->flags & DW_OP_CHANGES)
			copies_ask_changes(store, shard, key);
		else
			copies_ask(store, shard, topic, has_numbers && !call->reads, key);
		post(store, call, shard, topic_list_answered);
	}
}

/* send_reading: a change begins. */
static void send_reading(struct redis_store *store, struct topic_call *call)
{
	call->reads = true;
	call->changes = true;
	store->later.topics.changing++;
	send_list(store, call);
}

/* ---- Changes ------------------------------------------------------------------------------- */

/* If a copy has failed, the settings have changed all the same, and the owner writes it later. A
 * consumer that is not noted looks each second. So a key of a wrong type fails no call. */
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

/* copy writes the settings into every shard: what a shard misses, the owner writes later. The text
 * of the script goes along once, and the server knows it from then on. */
static void copy(struct redis_store *store, struct topic_call *call, const struct reply *settings)
{
	char key[COPIES_KEY_SIZE];
	bool wakes = store->ownership.role != DW_OWNER;

	for (unsigned i = 0; i < store->shard_count; i++) {
		struct shard *shard = &store->shards[i];

		if (shard_is_cut_off(shard))
			continue;
		copies_begin_write(store, shard, i == 0, wakes && i + 1 == store->shard_count, key);
		command_text(&store->pipeline.words, call->op->topic);
		command_bytes(&store->pipeline.words, settings->bytes, settings->size);
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

/* shard_is_empty: the shard has lost its data. First its owner writes the settings again: a pause
 * keeps those that it does not name. */
static void shard_is_empty(struct redis_store *store, struct topic_call *call)
{
	struct shard *shard = shard_of(store, call->op->topic);

	call->again = true;
	if (shard_is_ours(shard))
		shard_mark(store, shard, SHARD_SUSPECT);
	else
		shard->channel.handshake = HANDSHAKE_NONE;
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

/* send_change: the shard of the name may have lost its settings, or have older ones. So the newest
 * ones that any shard has go along. */
static void send_change(struct redis_store *store, struct topic_call *call)
{
	const dw_op *op = call->op;
	struct redis_command *words = &store->pipeline.words;
	bool sets = op->kind == DW_OP_TOPIC_SET;
	struct shard *shard = shard_of(store, op->topic);
	char key[COPIES_KEY_SIZE];
	const dw_row *newest = copies_newest(&store->later, &call->told.rows, op->topic);

	copies_begin(store, shard, sets ? SCRIPT_TOPIC_SET : SCRIPT_TOPIC_DROP, true, key);
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

/* counts_answered: the command is no script, so there is no refusal. */
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
	char key[96];

	(void)snprintf(key, sizeof key, "{%s:%02u}:t", store->names.name, first->number);
	command_begin(&store->pipeline, COMMAND_HSET);
	command_text(&store->pipeline.words, key);
	command_text(&store->pipeline.words, COUNTS_FIELD);
	command_bytes(&store->pipeline.words, call->op->body, call->op->body_size);
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

static int send_call(struct redis_store *store, dw_op *op)
{
	struct topic_call *call = call_new_for(&store->alloc, op);

	if (!call)
		return DW_ENOMEM;
	if (op->kind == DW_OP_TOPIC_LIST)
		send_list(store, call);
	else if (op->kind == DW_OP_TOPIC_COUNT)
		send_counts(store, call);
	else if (op->kind == DW_OP_AWAIT)
		send_await(store, call);
	else
		send_reading(store, call);
	call_end(store, call);
	return DW_OK;
}

/* is_turn: changes do not wait for one another, and all that was submitted after a change waits
 * until it is in all shards. When there are almost too many topics, one change is counted after the
 * other. */
static bool is_turn(const struct topic_ops *topics, const dw_op *op)
{
	return topics->changing < (!is_change(op) || !topics->has_room ? 1 : CHANGES_MAX);
}

/* may_send: a client that changes settings in a new namespace first fixes the number of shards. An
 * owner changes none while it takes a shard again that has lost its data. */
static bool may_send(struct redis_store *store, const dw_op *op)
{
	struct shard *shard;

	if (!store->pipeline.connection || store->stopped || store->ownership.acquisition.active ||
	    !is_turn(&store->later.topics, op) || !layout_is_known(store))
		return false;
	if (!is_change(op))
		return true;
	shard = shard_of(store, op->topic);
	if (shard_is_ours(shard))
		return shard->rebuild.state == REBUILD_NONE || shard->rebuild.state == REBUILD_TOLD;
	if (shard->channel.handshake == HANDSHAKE_NONE)
		handshake_begin(store, shard);
	return shard->channel.handshake == HANDSHAKE_DONE;
}

static bool is_cut_off(struct redis_store *store, const dw_op *op)
{
	const char *name = ends_asks(op) ? op->id : op->topic;

	if (op->kind == DW_OP_TOPIC_COUNT)
		return !shard_first(store);
	return name && op->kind != DW_OP_TOPIC_LIST && shard_is_cut_off(shard_of(store, name));
}

void topics_send(struct redis_store *store)
{
	struct op_queue *waiting = &store->later.topics.waiting;

	while (waiting->first && may_send(store, waiting->first)) {
		dw_op *op = op_queue_pop(waiting);
		int status = is_cut_off(store, op) ? DW_ESTORE
			     : ends_asks(op)       ? ends_send(store, op)
			     : queues_has(op)      ? queues_send(store, op, waiting)
						   : send_call(store, op);

		if (status != DW_OK)
			queues_give_up(store, op, status);
	}
}

void topics_submit(struct later *later, dw_op *op)
{
	op_queue_push(&later->topics.waiting, op);
}

void topics_overdue(struct redis_store *store)
{
	dw_op *op = op_queue_take(&store->later.topics.waiting);

	while (op) {
		dw_op *next = op->next;

		if (store->now >= place_of(op)->deadline)
			queues_give_up(store, op, DW_ESTORE);
		else
			op_queue_push(&store->later.topics.waiting, op);
		op = next;
	}
}

void topics_end(struct redis_store *store, int status)
{
	dw_op *op;

	while ((op = op_queue_pop(&store->later.topics.waiting)))
		queues_give_up(store, op, status);
}

void redis_topics_free(struct redis_store *store)
{
	copies_forget(store);
	consumers_free(&store->later);
}

void topics_note_changes(struct later *later, const struct shard *shard, uint64_t changes)
{
	if (shard->topic_changes != changes + 1)
		later->topics.has_changed = true;
}

void topics_work(struct redis_store *store)
{
	consumers_listen(store);
	topics_send(store);
}
