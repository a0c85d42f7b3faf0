/* Registers the handlers of topics. */
#include "engine/due/handlers.h"

#include <string.h>

#include "base/grown.h"
#include "base/utf8.h"
#include "engine/core.h"

enum { BATCH_DEFAULT = 128 };

#define BATCH_WAIT_MAX DW_SECONDS(10)

void handlers_release(struct engine *engine, struct topic *topic)
{
	while (topic->gathered) {
		struct timer *timer = topic->gathered;

		timer_disarm(engine, timer);
		timer_arm_fire(&engine->timers, timer, timer->head.due);
	}
}

static int set_handler(struct engine *engine, const char *name, struct handler handler)
{
	size_t size = strnlen(name, DW_TOPIC_MAX + 1);
	struct topic *topic;

	if (!engine->env.workers.start)
		handler.on_worker = false;
	if (engine->ownership.role != DW_OWNER && !engine->ownership.standby)
		return engine_fail(engine, DW_EROLE, "a client fires nothing: no handlers");
	if (size == 0)
		return engine_fail(engine, DW_EINVAL, "the topic is empty: it has 1 to %d bytes",
				   DW_TOPIC_MAX);
	if (size > DW_TOPIC_MAX || !utf8_is_name(name, size))
		return engine_fail(engine, DW_EINVAL,
				   "the topic is not 1 to %d bytes of UTF-8 without control "
				   "characters",
				   DW_TOPIC_MAX);
	if (strcmp(name, "*") == 0) {
		topics_handle_any(&engine->topics, handler);
	} else {
		topic = topics_get(&engine->topics, name, size);
		if (topic && topic->settings.queue && handler_is_set(&handler))
			return engine_fail(engine, DW_EINVAL,
					   "%s is a queue: its messages are taken with dw_take",
					   name);
		if (!topic)
			return engine_fail(engine, DW_ENOMEM, "no memory for the topic");
		handlers_release(engine, topic);
		topic_handle(&engine->topics, topic, handler);
		topics_drop(&engine->topics, topic);
	}
	engine_touch(engine);
	return DW_OK;
}

int engine_on(struct engine *engine, const char *name, dw_fire_fn fire, void *user)
{
	return set_handler(engine, name, (struct handler){.fire = fire, .user = user});
}

/* check_workers refuses a handler for workers if the engine has no workers. A client is refused
 * later, because of its role. */
static int check_workers(struct engine *engine)
{
	if ((engine->ownership.role == DW_OWNER || engine->ownership.standby) &&
	    engine->env.workers.count == 0)
		return engine_fail(engine, DW_EINVAL, "there are no workers: set options.workers");
	return DW_OK;
}

int engine_on_worker(struct engine *engine, const char *name, dw_fire_fn fire, void *user)
{
	int status = check_workers(engine);

	return status == DW_OK
		   ? set_handler(engine, name,
				 (struct handler){.fire = fire, .user = user, .on_worker = true})
		   : status;
}

static int check_batch(struct engine *engine, const char *name, const dw_batch_options *options)
{
	if (strcmp(name, "*") == 0)
		return engine_fail(engine, DW_EINVAL, "a batch has one topic: \"*\" names many");
	if (grown_size_is_wrong(options->size, sizeof *options))
		return engine_fail(engine, DW_EINVAL,
				   "options.size is not sizeof(dw_batch_options)");
	if (grown_is_unknown(options, sizeof *options, options->size))
		return engine_fail(engine, DW_EINVAL,
				   "batch options of a newer durawheel than " DW_VERSION);
	if (options->max > DW_BATCH_MAX)
		return engine_fail(engine, DW_EINVAL, "options.max is above %d", DW_BATCH_MAX);
	if (options->wait_us < 0 || options->wait_us > BATCH_WAIT_MAX)
		return engine_fail(engine, DW_EINVAL, "options.wait_us is not 0 to 10 s");
	return options->on_worker ? check_workers(engine) : DW_OK;
}

int engine_on_batch(struct engine *engine, const char *name, const dw_batch_options *options,
		    dw_batch_fn fire, void *user)
{
	static const dw_batch_options defaults = {.size = sizeof defaults};
	const dw_batch_options *chosen = options ? options : &defaults;
	int status = check_batch(engine, name, chosen);

	if (status != DW_OK)
		return status;
	return set_handler(
	    engine, name,
	    (struct handler){.fire_batch = fire,
			     .user = user,
			     .on_worker = chosen->on_worker != 0,
			     .batch_max = chosen->max ? (uint32_t)chosen->max : BATCH_DEFAULT,
			     .batch_wait = chosen->wait_us});
}
