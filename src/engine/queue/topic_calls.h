/* The engine's side of the calls in durawheel/topic.h. Those of other headers are in
 * engine/engine.h. */
#ifndef DW_ENGINE_TOPIC_CALLS_H
#define DW_ENGINE_TOPIC_CALLS_H

#include "durawheel/topic.h"
#include "engine/engine.h"

int engine_topic_set(struct engine *, const char *, const dw_topic_settings *, struct done);
int engine_topic_change(struct engine *, const char *topic, const dw_topic_settings *from,
			const dw_topic_settings *to, struct done);
int engine_topic_pause(struct engine *, const char *topic, unsigned paused, struct done);
int engine_topic_drop(struct engine *, const char *topic, struct done);
int engine_topic_list(struct engine *, const char *name, dw_topic_fn, void *user);
int engine_push(struct engine *, const dw_timer *, size_t count, struct done);
int engine_take(struct engine *, const dw_take_options *, dw_take_fn, void *user);
/* engine_answer also accepts DW_HOLD, which hides the messages for another time-out. */
int engine_answer(struct engine *, const dw_answer *, dw_bulk_fn, void *user);

#endif
