/* What the program is told: answers to its calls, and events. Each waits in a queue for the next
 * place where nothing of the engine is half done. So a callback may call anything, and may end by
 * an exception of C++: then the next turn tells the rest. */
#include "engine/internal.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/scope.h"

/* SPARES events need no memory: more than one step of the engine has to tell at once, except that
 * a page of damaged rows has one for each. */
enum { SPARES = 4 };

/* An event that is not told yet. */
struct event_notice {
	struct notice notice; /* first */
	dw_event event;
	char id[DW_ID_MAX + 1];
	char topic[DW_TOPIC_MAX + 1];
	char message[DW_MESSAGE_SIZE + DW_ID_MAX];
};

/* ---- The queue ----------------------------------------------------------------------------- */

static void push(struct engine *engine, struct notice *notice)
{
	notice->next = NULL;
	if (engine->notices_last)
		engine->notices_last->next = notice;
	else
		engine->notices = notice;
	engine->notices_last = notice;
	engine_touch(engine);
}

static struct notice *pop(struct engine *engine)
{
	struct notice *notice = engine->notices;

	if (!notice)
		return NULL;
	engine->notices = notice->next;
	if (!engine->notices)
		engine->notices_last = NULL;
	return notice;
}

void tell_call(struct engine *engine, struct call *call)
{
	push(engine, &call->notice);
}

/* ---- Events -------------------------------------------------------------------------------- */

static void free_event(struct engine *engine, struct notice *notice)
{
	if (engine->spare_count >= SPARES) {
		alloc_free(&engine->alloc, notice);
		return;
	}
	notice->next = engine->spares;
	engine->spares = notice;
	engine->spare_count++;
}

static struct event_notice *new_event(struct engine *engine)
{
	struct notice *spare = engine->spares;

	if (!spare)
		return alloc_new(&engine->alloc, sizeof(struct event_notice));
	engine->spares = spare->next;
	engine->spare_count--;
	return (struct event_notice *)spare;
}

int tell_init(struct engine *engine)
{
	while (engine->spare_count < SPARES) {
		struct event_notice *spare = alloc_new(&engine->alloc, sizeof *spare);

		if (!spare)
			return DW_ENOMEM;
		free_event(engine, &spare->notice);
	}
	return DW_OK;
}

void tell_free(struct engine *engine)
{
	struct notice *notice;

	while ((notice = pop(engine)))
		if (notice->is_event) /* calls are freed with those that are open */
			alloc_free(&engine->alloc, notice);
	while (engine->spares) {
		notice = engine->spares;
		engine->spares = notice->next;
		alloc_free(&engine->alloc, notice);
	}
}

/* copy_text: NULL stays NULL. */
static const char *copy_text(const char *text, char *ret_copy, size_t size)
{
	if (!text)
		return NULL;
	(void)snprintf(ret_copy, size, "%s", text); /* cut if long */
	return ret_copy;
}

__attribute__((format(printf, 3, 0))) static void write_event(struct event_notice *notice,
							      const dw_event *event,
							      const char *format, va_list words)
{
	(void)vsnprintf(notice->message, sizeof notice->message, format, words); /* the same */
	notice->notice.is_event = true;
	notice->event = *event;
	notice->event.size = sizeof notice->event;
	notice->event.id = copy_text(event->id, notice->id, sizeof notice->id);
	notice->event.topic = copy_text(event->topic, notice->topic, sizeof notice->topic);
	notice->event.message = notice->message;
}

/* note_event keeps for the report what was wrong. */
static void note_event(struct engine *engine, const dw_event *event)
{
	if (event->status == DW_OK)
		return;
	engine_note_error(engine, event->status);
	engine->last_event = (int)event->kind;
}

/* log_lost: a page of damaged rows, and no memory. */
static void log_lost(struct engine *engine, const dw_event *event)
{
	char line[DW_MESSAGE_SIZE];

	if (!engine->env.on_log)
		return;
	(void)snprintf(line, sizeof line, "no memory: event %s of %.100s is not told",
		       dw_event_name(event->kind), event->id ? event->id : "the handle");
	engine->env.on_log(DW_LOG_ERROR, line, engine->env.on_log_user);
}

void engine_event(struct engine *engine, const dw_event *event, const char *format, ...)
{
	struct event_notice *notice;
	va_list words;

	note_event(engine, event);
	if (!engine->env.on_event)
		return;
	notice = new_event(engine);
	if (!notice) {
		log_lost(engine, event);
		return;
	}
	va_start(words, format);
	write_event(notice, event, format, words);
	va_end(words);
	push(engine, &notice->notice);
}

void tell_event(struct engine *engine, const dw_event *event, const char *format, ...)
{
	struct event_notice notice;
	va_list words;

	note_event(engine, event);
	if (!engine->env.on_event)
		return;
	va_start(words, format);
	write_event(&notice, event, format, words);
	va_end(words);
	engine->env.on_event(engine->env.handle, &notice.event, engine->env.on_event_user);
}

/* ---- Telling ------------------------------------------------------------------------------- */

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
	default:
		return "settle";
	}
}

/* report_failure: a failure that no callback hears. */
static void report_failure(struct engine *engine, const char *what, const char *id, int status)
{
	dw_event event = {.kind = DW_EVENT_FAILED, .status = status, .id = id};

	if (engine->failure == DW_OK)
		engine->failure = status;
	tell_event(engine, &event, "%s of %s failed: %s", what, id ? id : "a new timer",
		   dw_strerror(status));
}

static void tell_done(struct engine *engine, struct call *call)
{
	dw_result result = {.size = sizeof result, .status = call->status, .id = call->id};

	if (call->status == DW_OK) {
		result.level = engine->store->type->level;
		result.generation = call->generation;
		result.earlier_may_start = call->earlier;
	}
	if (call->done.fn)
		call->done.fn(engine->env.handle, &result, call->done.user);
	else if (call->status != DW_OK && !call->internal)
		report_failure(engine, name_of(call->kind), call->id, call->status);
}

static void tell_answer(struct engine *engine, struct call *call)
{
	switch (call->kind) {
	case CALL_LIST:
		look_tell_page(engine, call);
		break;
	case CALL_STATUS:
		look_tell_status(engine, call);
		break;
	case CALL_DEAD_LIST:
		dead_tell_page(engine, call);
		break;
	case CALL_CHECK:
		whole_tell_check(engine, call);
		break;
	default:
		tell_done(engine, call);
		break;
	}
}

/* A notice that is being told. */
struct telling {
	struct engine *engine;
	struct notice *notice;
};

static void end_telling(struct telling *telling)
{
	struct engine *engine = telling->engine;

	engine->callback_depth--;
	if (telling->notice->is_event)
		free_event(engine, telling->notice);
	else
		call_free(engine, (struct call *)telling->notice);
}

static void tell(struct engine *engine, struct notice *notice)
{
	struct telling telling AT_END(end_telling) = {engine, notice};
	struct event_notice *event = (struct event_notice *)notice;

	engine->callback_depth++;
	if (notice->is_event)
		engine->env.on_event(engine->env.handle, &event->event, engine->env.on_event_user);
	else
		tell_answer(engine, (struct call *)telling.notice);
}

void tell_round(struct engine *engine)
{
	const struct notice *last = engine->notices_last;
	struct notice *notice;
	bool more = last != NULL;

	while (more && (notice = pop(engine))) {
		more = notice != last;
		tell(engine, notice);
	}
}

static void end_callback(struct engine **engine)
{
	(*engine)->callback_depth--;
}

void engine_refuse(struct engine *engine, const char *what, const char *id, int status,
		   struct done done)
{
	dw_result result = {.size = sizeof result, .status = status, .id = id ? id : ""};
	struct engine *inside AT_END(end_callback) = engine;

	inside->callback_depth++;
	if (done.fn)
		done.fn(engine->env.handle, &result, done.user);
	else
		report_failure(engine, what, id, status);
}

void engine_run(struct engine *engine, dw_post_fn fn, void *arg)
{
	struct engine *inside AT_END(end_callback) = engine;

	inside->callback_depth++;
	fn(engine->env.handle, arg);
}
