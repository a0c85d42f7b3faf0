#include "contract/contract_queue_ops.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/cmocka.h"
#include "timer/record.h"

dw_op *contract_op(dw_op_kind kind, const char *topic, const void *bytes, size_t size)
{
	struct alloc alloc = alloc_default();
	size_t topic_size = strlen(topic) + 1;
	dw_op *op = op_new(&alloc, kind, NULL, NULL, size + topic_size);

	assert_non_null(op);
	if (size)
		memcpy(op_room(op), bytes, size);
	memcpy(op_room(op) + size, topic, topic_size);
	op->topic = (const char *)op_room(op) + size;
	op->body_size = size;
	return op;
}

int contract_set(struct ask *ask, const char *topic, const char *text, unsigned flags)
{
	dw_op *op = contract_op(DW_OP_TOPIC_SET, topic, text, strlen(text));

	op->flags = flags;
	return ask_status(ask, op);
}

size_t contract_encode(unsigned char *room, const char *id, const char *topic)
{
	struct record record = {.id = id,
				.topic = topic,
				.data = id,
				.data_size = (uint32_t)strlen(id),
				.id_size = (uint8_t)strlen(id),
				.topic_size = (uint8_t)strlen(topic)};

	record_encode(&record, room);
	return record_size(&record);
}

/* now: the store's time. */
dw_usec contract_now(const struct contract *c)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return c->kind->served ? DW_SECONDS(now.tv_sec) + now.tv_nsec / 1000 + c->ahead : c->now;
}

void contract_pass(struct contract *c, dw_usec time)
{
	struct timespec pause = {.tv_sec = time / 1000000, .tv_nsec = time % 1000000 * 1000};

	if (c->kind->served)
		(void)nanosleep(&pause, NULL);
	else
		c->now += time;
}

void contract_set_clock(struct contract *c, dw_usec step)
{
	if (!c->kind->served) {
		c->now += step;
		return;
	}
	c->ahead += step;
	c->kind->set_ahead(c->ahead);
}

dw_op *contract_push_op(const char *topic, const char *letters, dw_head head)
{
	unsigned char room[4096], body[256];
	unsigned char *at = room;

	for (; *letters; letters++) {
		char id[2] = {*letters, '\0'};
		struct message message = {
		    .head = head, .body = body, .body_size = contract_encode(body, id, topic)};

		at = message_write(at, &message);
	}
	return contract_op(DW_OP_PUSH, topic, room, (size_t)(at - room));
}

int contract_push_due(struct ask *ask, const char *topic, const char *letters, dw_usec due)
{
	return ask_status(ask, contract_push_op(topic, letters, (dw_head){.due = due}));
}

int contract_push_timers(struct contract *c, const char *letters)
{
	dw_head head = {.due = contract_now(c), .generation = 1};

	return ask_status(&c->owner, contract_push_op("q", letters, head));
}

int contract_push(struct contract *c, const char *letters)
{
	return contract_push_due(&c->owner, "q", letters, contract_now(c));
}

int contract_take_some(struct ask *ask, size_t limit, struct taken *ret_taken)
{
	dw_op *op = contract_op(DW_OP_TAKE, "q", NULL, 0);
	int status;

	op->limit = limit;
	*ret_taken = (struct taken){0};
	ask_done(ask, op);
	status = op->status;
	for (const dw_row *row = op->rows; row; row = row->next) {
		assert_int_equal(row->status, DW_OK);
		ret_taken->ids[ret_taken->count] = row->id[0];
		ret_taken->attempts[ret_taken->count] = row->head.attempt;
		(void)snprintf(ret_taken->tokens[ret_taken->count++], MESSAGE_TOKEN_SIZE, "%s",
			       row->token);
	}
	ask_free(op);
	return status;
}

/* answer gives one verdict; the status of the message. */
int contract_answer_one(struct ask *ask, const char *token, dw_verdict verdict, dw_usec due)
{
	dw_op *op = contract_op(DW_OP_ANSWER, "q", token, strlen(token) + 1);
	int status;

	op->limit = 1;
	op->verdict = verdict;
	op->head.due = due;
	ask_done(ask, op);
	status = op->status == DW_OK && op->rows ? op->rows->status : op->status;
	ask_free(op);
	return status;
}

dw_topic_info contract_info(struct ask *ask, const char *topic)
{
	dw_op *op = ask_done(ask, ask_plain(DW_OP_TOPIC_LIST));
	dw_topic_info info = {.size = 0};

	assert_int_equal(op->status, DW_OK);
	for (const dw_row *row = op->rows; row; row = row->next) {
		if (strcmp(row->id, topic) != 0)
			continue;
		info.size = sizeof info;
		info_read(&info, row->body, row->body_size);
	}
	ask_free(op);
	return info;
}

uint64_t contract_length(struct contract *c)
{
	dw_topic_info info = contract_info(&c->owner, "q");

	return info.waiting + info.taken + info.later;
}
