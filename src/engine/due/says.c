#include "engine/due/says.h"

#include "base/message.h"
#include "engine/call/arguments.h"
#include "engine/core.h"

int saying_check(const struct saying *saying, char *message)
{
	if (!saying->bytes)
		return message_refuse(message, "the %s is NULL",
				      saying->kind == SAID_WHY ? "text" : "data");
	if (saying->kind == SAID_RESULT && saying->size > DW_RESULT_MAX)
		return message_refuse(message, "a result has at most %d bytes, not %zu",
				      DW_RESULT_MAX, saying->size);
	return DW_OK;
}

/* is_open returns true if the delivery that the token names has no verdict yet. */
static bool is_open(const struct timer *timer, const dw_token *token)
{
	return timer && (timer->state == TIMER_FIRING || timer->state == TIMER_HELD) &&
	       timer->head.generation == token->generation && timer->head.attempt == token->attempt;
}

static int keep_saying(struct engine *engine, struct timer *timer, const struct saying *saying)
{
	struct said **said = saying->kind == SAID_WHY ? &timer->why : &timer->result;

	if (said_replace(said, &engine->alloc, saying->bytes, saying->size) != DW_OK)
		return engine_fail(engine, DW_ENOMEM, "no memory for the text");
	return DW_OK;
}

int engine_say(struct engine *engine, const struct saying *saying)
{
	int status = saying_check(saying, engine->events.error);

	if (status != DW_OK)
		return status;
	if (!engine->delivery.firing)
		return engine_fail(engine, DW_EINVAL, "%s is for inside a handler of one timer",
				   saying->kind == SAID_WHY ? "dw_set_why" : "dw_set_result");
	return keep_saying(engine, engine->delivery.firing, saying);
}

int engine_say_of(struct engine *engine, const dw_token *token, const struct saying *saying)
{
	struct timer *timer;
	int status = arguments_token(token, engine->events.error);

	if (status == DW_OK)
		status = saying_check(saying, engine->events.error);
	if (status != DW_OK)
		return status;
	timer = index_find(&engine->timers.index, token->id);
	if (!is_open(timer, token))
		return engine_fail(engine, DW_ESTALE, "this delivery of %s is over", token->id);
	return keep_saying(engine, timer, saying);
}
