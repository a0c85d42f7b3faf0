#include "support/ask.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "base/usec.h"
#include "port/clock.h"
#include "support/cmocka.h"
#include "timer/record.h"

enum { PATIENCE_S = 60 };

/* The `subject` of every answered operation points here, so that a second answer is noticed. */
static int answered_mark;

static dw_usec read_clock(void *user)
{
	return *(dw_usec *)user;
}

static dw_usec read_steady(void *user)
{
	struct clock clock = clock_system();

	(void)user;
	return clock.steady(NULL);
}

static void wake(void *user)
{
	struct ask *ask = user;

	pthread_mutex_lock(&ask->mutex);
	ask->wakes++;
	pthread_cond_signal(&ask->cond);
	pthread_mutex_unlock(&ask->mutex);
}

static void keep_line(dw_log_level level, const char *line, void *user)
{
	struct ask *ask = user;

	(void)level;
	pthread_mutex_lock(&ask->mutex);
	(void)snprintf(ask->logged, sizeof ask->logged, "%s", line);
	pthread_mutex_unlock(&ask->mutex);
}

void ask_init(struct ask *ask, dw_role role, uint64_t token, dw_usec *clock)
{
	struct alloc alloc = alloc_default();

	*ask = (struct ask){.env = {.size = sizeof ask->env,
				    .role = role,
				    .token = token,
				    .patience = DW_SECONDS(20),
				    .now = read_clock,
				    .now_user = clock,
				    .resize = alloc.resize,
				    .log = keep_line,
				    .log_user = ask,
				    .wake = wake,
				    .wake_user = ask,
				    .name = "test",
				    .steady = read_steady,
				    .reply_patience = DW_SECONDS(PATIENCE_S)}};
	pthread_mutex_init(&ask->mutex, NULL);
	pthread_cond_init(&ask->cond, NULL);
}

static struct timespec soon(void)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec += PATIENCE_S;
	return at;
}

static bool needs_turns(const struct ask *ask)
{
	return ask->store->type->turn != NULL;
}

/* turn calls the turn of a store that has no thread. */
static void turn(struct ask *ask)
{
	if (needs_turns(ask))
		ask->store->type->turn(ask->store, read_steady(NULL));
}

/* sleep_until_turn waits until a store without a thread has work, at most 100 ms. */
static void sleep_until_turn(struct ask *ask)
{
	const dw_store_class *type = ask->store->type;
	struct pollfd readable = {.fd = type->descriptor(ask->store), .events = POLLIN};
	dw_usec wait = usec_sub(type->due(ask->store), read_steady(NULL));

	wait = usec_max(0, usec_min(wait, DW_MILLISECONDS(100)));
	(void)poll(&readable, 1, (int)((wait + 999) / 1000));
}

/* gather collects the answered operations. */
static void gather(struct ask *ask)
{
	dw_op *op;

	turn(ask);
	op = ask->store->type->collect(ask->store);
	while (op) {
		dw_op *next = op->next;

		assert_ptr_not_equal(ticket_of(op)->call, &answered_mark);
		ticket_of(op)->call = &answered_mark;
		assert_true(op->status != DW_OK || op->level >= DW_ACCEPTED);
		op->next = NULL;
		ask->answered++;
		op = next;
	}
}

void ask_end(struct ask *ask)
{
	if (!ask->store)
		return;
	assert_int_equal(ask->store->type->stop(ask->store, DW_SECONDS(PATIENCE_S)), DW_OK);
	gather(ask); /* a turn after the stop is harmless */
	assert_int_equal(ask->answered, ask->sent);
	ask->store->type->free(ask->store);
	ask->store = NULL;
}

void ask_send(struct ask *ask, dw_op *op)
{
	for (dw_op *each = op; each; each = each->next)
		ask->sent++;
	ask->store->type->submit(ask->store, op);
}

void ask_turn(struct ask *ask)
{
	gather(ask);
}

bool ask_is_answered(struct ask *ask, dw_op *op)
{
	gather(ask);
	return ticket_of(op)->call == &answered_mark;
}

dw_op *ask_await(struct ask *ask, dw_op *op)
{
	struct timespec at = soon();
	dw_usec end = read_steady(NULL) + DW_SECONDS(PATIENCE_S);

	while (!ask_is_answered(ask, op)) {
		int error = 0;

		if (needs_turns(ask)) {
			if (read_steady(NULL) > end)
				fail_msg("no answer to an operation of kind %d", (int)op->kind);
			sleep_until_turn(ask);
			continue;
		}
		pthread_mutex_lock(&ask->mutex);
		while (ask->wakes == 0 && error == 0)
			error = pthread_cond_timedwait(&ask->cond, &ask->mutex, &at);
		ask->wakes = 0;
		pthread_mutex_unlock(&ask->mutex);
		if (error)
			fail_msg("no answer to an operation of kind %d", (int)op->kind);
	}
	return op;
}

dw_op *ask_done(struct ask *ask, dw_op *op)
{
	ask_send(ask, op);
	return ask_await(ask, op);
}

void ask_free(dw_op *op)
{
	struct alloc alloc = alloc_default();

	op_free(&alloc, op);
}

static dw_op *op_of(dw_op_kind kind, const char *id, const void *body, size_t size)
{
	struct alloc alloc = alloc_default();
	dw_op *op = op_new(&alloc, kind, id, body, size);

	assert_non_null(op);
	return op;
}

dw_op *ask_put_full(const char *id, const char *topic, dw_usec due, const char *data)
{
	struct record record = {.id = id,
				.topic = topic,
				.data = data,
				.data_size = (uint32_t)strlen(data),
				.id_size = (uint8_t)strlen(id),
				.topic_size = (uint8_t)strlen(topic)};
	size_t size = record_size(&record);
	unsigned char *body = malloc(size);
	dw_op *op;

	assert_non_null(body);
	record_encode(&record, body);
	op = op_of(DW_OP_PUT, id, body, size);
	free(body);
	op->topic = topic;
	op->head.due = due;
	return op;
}

dw_op *ask_put(const char *id, dw_usec due, unsigned flags)
{
	dw_op *op = ask_put_full(id, "topic", due, "data");

	op->flags = flags;
	return op;
}

dw_op *ask_about(dw_op_kind kind, const char *id, uint64_t generation, uint32_t attempt)
{
	dw_op *op = op_of(kind, id, NULL, 0);

	op->head.generation = generation;
	op->head.attempt = attempt;
	op->reason = DW_REASON_RETRIES;
	return op;
}

dw_op *ask_cancel(const char *id, unsigned flags)
{
	dw_op *op = op_of(DW_OP_CANCEL, id, NULL, 0);

	op->flags = flags;
	return op;
}

dw_op *ask_move(const char *id, dw_usec due, uint64_t known, unsigned flags)
{
	dw_op *op = op_of(DW_OP_MOVE, id, NULL, 0);

	op->head.due = due;
	op->head.generation = known;
	op->flags = flags;
	return op;
}

dw_op *ask_get(const char *id)
{
	return op_of(DW_OP_GET, id, NULL, 0);
}

dw_op *ask_scan(const dw_cursor *after, size_t limit, const char *topic)
{
	dw_op *op = op_of(DW_OP_SCAN, NULL, NULL, 0);

	if (after)
		op->after = *after;
	op->limit = limit;
	op->topic = topic;
	return op;
}

dw_op *ask_plain(dw_op_kind kind)
{
	dw_op *op = op_of(kind, NULL, NULL, 0);

	op->limit = 100;
	return op;
}

int ask_head(struct ask *ask, dw_op *op, dw_head *ret_head)
{
	int status = ask_done(ask, op)->status;

	*ret_head = op->head;
	ask_free(op);
	return status;
}

int ask_status(struct ask *ask, dw_op *op)
{
	dw_head head;

	return ask_head(ask, op, &head);
}

int ask_stored(struct ask *ask, const char *id, dw_head *ret_head)
{
	dw_op *op = ask_done(ask, ask_get(id));
	int status = op->status;

	if (status == DW_OK) {
		assert_int_equal(op->row_count, 1);
		assert_string_equal(op->rows->id, id);
		*ret_head = op->rows->head;
	}
	ask_free(op);
	return status;
}

uint64_t ask_put_one(struct ask *ask, const char *id, dw_usec due)
{
	dw_head head;

	assert_int_equal(ask_head(ask, ask_put(id, due, 0), &head), DW_OK);
	return head.generation;
}
