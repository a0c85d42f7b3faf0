/* The handlers of topics. */
#include <string.h>

#include "base/utf8.h"
#include "engine/core.h"

static int set_handler(struct engine *engine, const char *name, struct handler handler)
{
	size_t size = strnlen(name, DW_TOPIC_MAX + 1);
	struct topic *topic;

	if (engine->ownership.role != DW_OWNER && !engine->ownership.standby)
		return engine_fail(engine, DW_EROLE, "a client fires nothing: no handlers");
	if (size == 0 || size > DW_TOPIC_MAX || !utf8_is_name(name, size))
		return engine_fail(engine, DW_EINVAL,
				   "the topic is not 1 to %d bytes of UTF-8 without control "
				   "characters",
				   DW_TOPIC_MAX);
	if (strcmp(name, "*") == 0) {
		topics_handle_any(&engine->topics, handler);
	} else {
		topic = topics_get(&engine->topics, name, size);
		if (!topic)
			return engine_fail(engine, DW_ENOMEM, "no memory for the topic");
		topic_handle(&engine->topics, topic, handler);
		topics_drop(&engine->topics, topic);
	}
	engine_touch(engine);
	return DW_OK;
}

int engine_on(struct engine *engine, const char *name, dw_fire_fn fire, void *user)
{
	return set_handler(engine, name, (struct handler){fire, user, false});
}

int engine_on_worker(struct engine *engine, const char *name, dw_fire_fn fire, void *user)
{
	if ((engine->ownership.role == DW_OWNER || engine->ownership.standby) &&
	    engine->env.workers.count == 0)
		return engine_fail(engine, DW_EINVAL, "there are no workers: set options.workers");
	return set_handler(engine, name, (struct handler){fire, user, true});
}
