#include "engine/rule/put_off.h"

#include "engine/core.h"
#include "topic/returns.h"

bool put_off_is(const struct engine *engine, const struct timer *timer)
{
	return timer->head.retries > 0 && returns_is_computed(timer->head.due) &&
	       timer->head.due > returns_retry_max(&timer->topic->settings, engine_now(engine));
}
