#include "engine/rule/put_off.h"

#include "engine/core.h"
#include "engine/rule/derive.h"
#include "topic/settings.h"

dw_usec put_off_due(dw_usec due, bool is_computed)
{
	if (due == DW_NEVER)
		return due;
	return is_computed ? due | 1 : due + (due & 1);
}

bool put_off_is(const struct engine *engine, const struct timer *timer)
{
	dw_usec limit;

	if (timer->head.retries == 0 || !(timer->head.due & 1))
		return false;
	limit = usec_add(settings_retry_delay_max(&timer->topic->settings), DERIVED_AGAIN);
	return timer->head.due > usec_add(engine_now(engine), limit);
}
