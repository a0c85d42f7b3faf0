/* Calls to waiting takes. When a message comes, one waiting take is called, by the engine or by the
 * store. That take asks for the message, or passes the call on. */
#include <stdio.h>
#include <string.h>

#include "engine/core.h"
#include "engine/queue/take.h"
#include "port/driven.h"

bool take_names_many(const char *name)
{
	size_t size = strlen(name);

	return size > 0 && name[size - 1] == '*';
}

size_t take_prefix(const char *name)
{
	return strlen(name) - take_names_many(name);
}

struct take *take_by_number(const struct takes *takes, uint64_t number)
{
	struct take *take = takes->first;

	while (take && take->number != number)
		take = take->next;
	return take;
}

bool take_wants(const struct take *take, const char *topic)
{
	for (size_t i = 0; i < take->name_count; i++) {
		const char *name = take->names[i];

		if (strncmp(topic, name, take_prefix(name)) == 0 &&
		    (take_names_many(name) || strlen(topic) == strlen(name)))
			return true;
	}
	return take->name_count == 0;
}

/* ring calls the take, because this topic has a message. The take asks the topic at once, or after
 * the round that is under way. If another topic has called the take before, ring changes nothing
 * and returns false. */
static bool ring(struct take *take, const char *topic)
{
	if (take->called[0] && strcmp(take->called, topic) != 0)
		return false;
	/* The caller has checked that the name fits. */
	(void)snprintf(take->called, sizeof take->called, "%s", topic);
	take->again = 0;
	return true;
}

void takes_ready(struct calls *calls)
{
	for (struct take *take = calls->takes.first; take; take = take->next) {
		take->is_stale = true;
		take->again = 0;
	}
}

void takes_pushed(struct engine *engine, const char *topic, uint64_t count)
{
	if (driven_calls_takes(engine->store))
		return; /* the store calls takes, also those of other processes */
	for (struct take *take = engine->calls.takes.first; take && count > 0; take = take->next)
		if (!take->called[0] && take_wants(take, topic))
			count -= ring(take, topic);
}

void take_pass_on(struct engine *engine, const char *topic)
{
	dw_op *op;

	takes_pushed(engine, topic, 1);
	if (!driven_calls_takes(engine->store) || engine->drive.closing)
		return;
	op = op_new(&engine->alloc, DW_OP_PUSH, topic, NULL, 0);
	if (!op)
		return; /* without memory, takes notice the message within a second */
	op->topic = op->id;
	op->id = NULL;
	submit_push(&engine->submit, op, false);
}

static void called(struct engine *engine, const dw_take_call *call)
{
	struct take *take = take_by_number(&engine->calls.takes, call->number);

	if (!take || !take_wants(take, call->topic) || !ring(take, call->topic))
		take_pass_on(engine, call->topic);
}

void takes_hear(struct engine *engine)
{
	struct takes *takes = &engine->calls.takes;
	dw_take_call call;

	if (!takes->has_waited)
		return;
	while (driven_take_call(engine->store, &call)) {
		if (call.number != 0)
			called(engine, &call);
		else
			takes_ready(&engine->calls);
	}
}
