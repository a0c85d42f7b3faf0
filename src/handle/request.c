#include "handle/request.h"

#include <assert.h>
#include <string.h>

#include "calendar/prepare.h"
#include "calendar/rule_copy.h"
#include "engine/call/arguments.h"

/* check_put checks a put that another thread makes. It also checks the rule, because the handle's
 * thread checks that only when it makes the timer. */
static int check_put(const dw_timer *timer, size_t data_max, char *message)
{
	const struct alloc alloc = alloc_default();
	int status = arguments_timer(timer, data_max, message);
	struct calendar calendar;

	if (status != DW_OK || !timer->rule)
		return status;
	status = calendar_prepare(&alloc, timer->rule, 0, &calendar, message);
	if (status == DW_OK)
		calendar_release(&alloc, &calendar);
	return status;
}

static int check_say(const struct request *request, char *message)
{
	int status = arguments_token(request->token, message);

	return status == DW_OK ? saying_check(&request->saying, message) : status;
}

int request_check(const struct request *request, size_t data_max, char *message)
{
	switch (request->kind) {
	case REQUEST_PUT:
		return check_put(request->timer, data_max, message);
	case REQUEST_SETTLE:
		return arguments_settle(request->token, request->verdict, message);
	case REQUEST_SAY:
		return check_say(request, message);
	case REQUEST_CANCEL:
	case REQUEST_MOVE:
		return arguments_id(request->id, message);
	case REQUEST_RUN:
	default:
		return DW_OK;
	}
}

/* ---- Doing --------------------------------------------------------------------------------- */

int request_do(const struct request *request, struct engine *engine)
{
	switch (request->kind) {
	case REQUEST_PUT:
		return engine_put(engine, request->timer, request->done);
	case REQUEST_CANCEL:
		return engine_cancel(engine, request->id, 0, request->done);
	case REQUEST_MOVE:
		return engine_move(engine, request->id, request->time, request->done);
	case REQUEST_SETTLE:
		return engine_settle(engine, request->token, request->verdict, request->time,
				     request->done);
	case REQUEST_SAY:
		return engine_say_of(engine, request->token, &request->saying);
	case REQUEST_RUN:
	default:
		engine_run(engine, request->fn, request->arg);
		return DW_OK;
	}
}

void request_refuse(const struct request *request, struct engine *engine, int status)
{
	static const char *const names[] = {[REQUEST_PUT] = "put",
					    [REQUEST_CANCEL] = "cancel",
					    [REQUEST_MOVE] = "move",
					    [REQUEST_SETTLE] = "settle",
					    [REQUEST_SAY] = "text or result"};
	const char *id = request->timer ? request->timer->id : request->id;

	if (request->kind == REQUEST_SAY && status == DW_ESTALE)
		return; /* the delivery is over, so nobody needs the words */
	if (request->kind == REQUEST_RUN)
		engine_run(engine, request->fn,
			   request->arg); /* fn still runs, so that it can free arg */
	else
		engine_refuse(engine, names[request->kind],
			      request->token ? request->token->id : id, status, request->done);
}

/* ---- Copying ------------------------------------------------------------------------------- */

/* A copy of a request. Behind the struct, in the same block, stand the rule, the id, the bytes of
 * `saying`, the topic and the data. */
struct copy {
	struct request request;
	dw_timer timer;
	dw_token token;
};

static size_t text_size(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

size_t request_size(const struct request *request)
{
	const dw_timer *timer = request->timer;
	size_t size = sizeof(struct copy) + text_size(request->id) + request->saying.size;

	if (timer && timer->rule)
		size += rule_copy_size(timer->rule);
	if (timer)
		size += text_size(timer->id) + text_size(timer->topic) + timer->data_size;
	return size;
}

/* append copies bytes to *end, and moves *end behind them. NULL stays NULL. */
static const void *append(unsigned char **end, const void *bytes, size_t size)
{
	unsigned char *begin = *end;

	if (!bytes)
		return NULL;
	if (size > 0)
		memcpy(begin, bytes, size);
	*end = begin + size;
	return begin;
}

void request_copy(const struct request *request, void *ret_block)
{
	struct copy *copy = ret_block;
	unsigned char *end = (unsigned char *)ret_block + sizeof *copy;
	const dw_rule *rule = NULL;

	copy->request = *request;
	/* The rule comes first, because it must be aligned. */
	if (request->timer && request->timer->rule) {
		rule = rule_copy(request->timer->rule, end);
		end += rule_copy_size(rule);
	}
	copy->request.id = append(&end, request->id, text_size(request->id));
	copy->request.saying.bytes = append(&end, request->saying.bytes, request->saying.size);
	if (request->token) {
		copy->token = *request->token;
		copy->request.token = &copy->token;
	}
	if (request->timer) {
		const dw_timer *timer = request->timer;

		copy->timer = *timer;
		copy->timer.id = append(&end, timer->id, text_size(timer->id));
		copy->timer.topic = append(&end, timer->topic, text_size(timer->topic));
		copy->timer.data = append(&end, timer->data, timer->data_size);
		copy->timer.rule = rule;
		copy->request.timer = &copy->timer;
	}
	assert((size_t)(end - (unsigned char *)ret_block) <= request_size(request));
}
