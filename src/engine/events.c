#include "engine/core.h"

#include <stdarg.h>
#include <stdio.h>

/* The number of events that can be raised without allocating memory. A step of the engine raises
 * fewer, except that a page of damaged rows raises one event for each row. */
enum { SPARES = 4 };

/* ---- Words --------------------------------------------------------------------------------- */

int engine_fail(struct engine *engine, int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(engine->events.error, sizeof engine->events.error, format,
			arguments); /* cut if long */
	va_end(arguments);
	return status;
}

const char *engine_error(const struct engine *engine)
{
	return engine->events.error;
}

int engine_take_failure(struct engine *engine)
{
	int failure = engine->events.failure;

	engine->events.failure = DW_OK;
	return failure;
}

/* ---- The queue ----------------------------------------------------------------------------- */

void events_push(struct engine *engine, struct notice *notice)
{
	notice->next = NULL;
	if (engine->events.last)
		engine->events.last->next = notice;
	else
		engine->events.first = notice;
	engine->events.last = notice;
	engine_touch(engine);
}

/* ---- Events -------------------------------------------------------------------------------- */

void event_free(struct engine *engine, struct notice *notice)
{
	if (engine->events.spare_count >= SPARES) {
		alloc_free(&engine->alloc, notice);
		return;
	}
	notice->next = engine->events.spares;
	engine->events.spares = notice;
	engine->events.spare_count++;
}

static struct event_notice *new_event(struct engine *engine)
{
	struct notice *spare = engine->events.spares;

	if (!spare)
		return alloc_new(&engine->alloc, sizeof(struct event_notice));
	engine->events.spares = spare->next;
	engine->events.spare_count--;
	return (struct event_notice *)spare;
}

int events_init(struct engine *engine)
{
	while (engine->events.spare_count < SPARES) {
		struct event_notice *spare = alloc_new(&engine->alloc, sizeof *spare);

		if (!spare)
			return DW_ENOMEM;
		event_free(engine, &spare->notice);
	}
	return DW_OK;
}

void events_free(struct engine *engine)
{
	struct notice *notice;

	while ((notice = events_pop(&engine->events)))
		if (notice->is_event) /* calls_free() frees the calls */
			alloc_free(&engine->alloc, notice);
	while (engine->events.spares) {
		notice = engine->events.spares;
		engine->events.spares = notice->next;
		alloc_free(&engine->alloc, notice);
	}
}

/* copy_text copies a string; NULL stays NULL. */
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
	(void)vsnprintf(notice->message, sizeof notice->message, format, words); /* cut if long */
	notice->notice.is_event = true;
	notice->event = *event;
	notice->event.size = sizeof notice->event;
	notice->event.id = copy_text(event->id, notice->id, sizeof notice->id);
	notice->event.topic = copy_text(event->topic, notice->topic, sizeof notice->topic);
	notice->event.why = copy_text(event->why, notice->why, sizeof notice->why);
	notice->event.message = notice->message;
}

void event_note_error(struct engine *engine, int status)
{
	engine->events.last_error = status;
	engine->events.last_event = 0;
	engine->events.last_error_at = engine_now(engine);
}

/* note_event keeps the status of an event for the report. */
static void note_event(struct engine *engine, const dw_event *event)
{
	if (event->status == DW_OK)
		return;
	event_note_error(engine, event->status);
	engine->events.last_event = (int)event->kind;
}

/* log_lost logs an event for which there is no memory. This can only be an event of a page of
 * damaged rows. */
static void log_lost(struct engine_env *env, const dw_event *event)
{
	char line[DW_MESSAGE_SIZE];

	if (!env->on_log)
		return;
	(void)snprintf(line, sizeof line, "no memory: event %s of %.100s is not reported",
		       dw_event_name(event->kind), event->id ? event->id : "the handle");
	env->on_log(DW_LOG_ERROR, line, env->on_log_user);
}

void event_raise(struct engine *engine, const dw_event *event, const char *format, ...)
{
	struct event_notice *notice;
	va_list words;

	note_event(engine, event);
	if (!engine->env.on_event)
		return;
	notice = new_event(engine);
	if (!notice) {
		log_lost(&engine->env, event);
		return;
	}
	va_start(words, format);
	write_event(notice, event, format, words);
	va_end(words);
	events_push(engine, &notice->notice);
}

void event_raise_now(struct engine *engine, const dw_event *event, const char *format, ...)
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

void event_failed(struct engine *engine, const char *what, const char *id, int status)
{
	dw_event event = {.kind = DW_EVENT_FAILED, .status = status, .id = id};

	if (engine->events.failure == DW_OK)
		engine->events.failure = status;
	event_raise_now(engine, &event, "%s of %s failed: %s", what, id ? id : "a new timer",
			dw_strerror(status));
}
