#include "topic/returns.h"

#include "base/rng.h"
#include "base/usec.h"
#include "topic/settings.h"

dw_usec returns_due(dw_usec due, bool is_computed)
{
	if (due == DW_NEVER)
		return due;
	return is_computed ? due | 1 : due + (due & 1);
}

bool returns_is_computed(dw_usec due)
{
	return due & 1 && due != DW_NEVER;
}

dw_usec returns_at(const dw_topic_settings *settings, const dw_head *asked, uint32_t retries,
		   dw_usec now)
{
	struct rng rng = {.state = asked->generation + retries};

	if (asked->due != 0)
		return returns_due(asked->due, false);
	return returns_due(usec_add(now, settings_retry_delay(settings, retries, &rng)), true);
}

dw_usec returns_retry_max(const dw_topic_settings *settings, dw_usec now)
{
	return usec_add(now, usec_add(settings_retry_delay_max(settings), DERIVED_AGAIN));
}

dw_usec returns_retry_again(const dw_topic_settings *settings, dw_usec now)
{
	return returns_due(usec_add(now, settings_retry_first(settings)), true);
}

dw_usec returns_hidden_max(const dw_topic_settings *settings, dw_usec now)
{
	return usec_add(now, usec_add(settings_hide(settings), DERIVED_AGAIN));
}

dw_usec returns_hidden_again(const dw_topic_settings *settings, dw_usec now)
{
	return usec_add(now, settings_hide(settings));
}
