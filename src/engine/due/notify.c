/* Calls the program back between two steps of the engine. Then nothing is half done, so a callback
 * may call any function. If a callback ends by a C++ exception, the next turn delivers the
 * remaining notices. */
#include "engine/due/notify.h"

#include "base/scope.h"
#include "engine/core.h"
#include "engine/call/dead_letters.h"
#include "engine/call/facts.h"
#include "engine/call/members.h"
#include "engine/queue/messages.h"
#include "engine/call/modes.h"
#include "engine/call/queries.h"
#include "engine/queue/registry.h"
#include "engine/queue/takes.h"

static const char *name_of(enum call_kind kind)
{
	switch (kind) {
	case CALL_PUT:
		return "put";
	case CALL_CANCEL:
		return "cancel";
	case CALL_MOVE:
		return "move";
	case CALL_REQUEUE:
		return "requeue";
	case CALL_PURGE:
		return "purge";
	case CALL_DROP:
		return "drop of dead letters";
	case CALL_PUSH:
		return "push";
	case CALL_TOPIC:
		return "change of a topic";
	default:
		return "settle";
	}
}

static void tell_done(struct engine *engine, struct call *call)
{
	dw_result result = {.size = sizeof result, .status = call->status, .id = call->id};

	if (call->status == DW_OK || (call->status == DW_EUNKNOWN && call->level == DW_JOURNALED))
		result.level = call->level;
	if (call->status == DW_OK) {
		result.generation = call->level == DW_JOURNALED ? 0 : call->generation;
		result.earlier_may_start = call->earlier;
		result.outcome = modes_outcome(call);
		result.due = call->kind == CALL_PUT ? call->due : 0;
	}
	if (call->done.fn)
		call->done.fn(engine->env.handle, &result, call->done.user);
	else if (call->status != DW_OK && !call->internal)
		event_failed(engine, name_of(call->kind), call->id, call->status);
}

static void tell_answer(struct engine *engine, struct call *call)
{
	switch (call->kind) {
	case CALL_LIST:
		query_show_page(engine, call);
		break;
	case CALL_ENDED:
		query_show_end(&engine->env, call);
		break;
	case CALL_DUE:
		query_show_due(&engine->env, call);
		break;
	case CALL_STATUS:
		query_show_status(&engine->env, call);
		break;
	case CALL_DEAD_LIST:
		dead_letters_show(engine, call);
		break;
	case CALL_TAKE:
		takes_show(engine, call);
		break;
	case CALL_ACK:
		messages_show(engine, call);
		break;
	case CALL_TOPICS:
		registry_show(engine, call);
		break;
	case CALL_MEMBERS:
		members_show(engine, call);
		break;
	case CALL_FACTS:
		facts_show(engine, call);
		break;
	case CALL_CHECK:
		maintenance_show_check(engine, call);
		break;
	default:
		tell_done(engine, call);
		break;
	}
}

/* A notice while its callback runs. */
struct telling {
	struct engine *engine;
	struct notice *notice;
};

static void end_telling(struct telling *telling)
{
	struct engine *engine = telling->engine;

	engine->drive.callback_depth--;
	if (telling->notice->is_event)
		event_free(engine, telling->notice);
	else
		call_free(engine, (struct call *)telling->notice);
}

static void tell(struct engine *engine, struct notice *notice)
{
	struct telling telling AT_END(end_telling) = {engine, notice};
	struct event_notice *event = (struct event_notice *)notice;

	engine->drive.callback_depth++;
	if (notice->is_event)
		engine->env.on_event(engine->env.handle, &event->event, engine->env.on_event_user);
	else
		tell_answer(engine, (struct call *)telling.notice);
}

void notify_all(struct engine *engine)
{
	const struct notice *last = engine->events.last;
	struct notice *notice;
	bool more = true;

	while (more && (notice = events_pop(&engine->events))) {
		more = notice != last;
		tell(engine, notice);
	}
}

static void end_callback(struct engine **engine)
{
	(*engine)->drive.callback_depth--;
}

void engine_refuse(struct engine *engine, const char *what, const char *id, int status,
		   struct done done)
{
	dw_result result = {.size = sizeof result, .status = status, .id = id ? id : ""};
	struct engine *inside AT_END(end_callback) = engine;

	inside->drive.callback_depth++;
	if (done.fn)
		done.fn(engine->env.handle, &result, done.user);
	else
		event_failed(engine, what, id, status);
}

void engine_run(struct engine *engine, dw_post_fn fn, void *arg)
{
	struct engine *inside AT_END(end_callback) = engine;

	inside->drive.callback_depth++;
	fn(engine->env.handle, arg);
}
