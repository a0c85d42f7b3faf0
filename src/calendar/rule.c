/* The calls of durawheel/rule.h that answer questions about a rule. */
#include "calendar/prepare.h"

#include <limits.h>

#include "base/grown.h"
#include "base/message.h"
#include "base/usec.h"

/* left_of returns how many of the rule's count occurrences come after `after`. If the rule has no
 * start, they are counted from `after`. */
static uint64_t left_of(const dw_rule *rule, struct calendar *calendar, dw_usec after)
{
	if (rule->count == 0 || rule->start == 0)
		return rule->count == 0 ? UINT64_MAX : rule->count;
	return rule->count - calendar_count(calendar, rule->start - 1, after, rule->count);
}

int dw_rule_next(const dw_rule *rule, dw_usec after, dw_usec *ret_times, size_t count,
		 char *ret_message)
{
	char unread[DW_MESSAGE_SIZE];
	char *message = ret_message ? ret_message : unread;
	const struct alloc alloc = alloc_default();
	struct calendar calendar;
	uint64_t left;
	size_t found = 0;
	int status;

	if (!ret_times || count > INT_MAX)
		return message_refuse(message, "there is no room for the times");
	after = usec_max(after, -1);
	status = calendar_prepare(&alloc, rule, after, &calendar, message);
	if (status != DW_OK)
		return status;
	left = left_of(rule, &calendar, after);
	for (; found < count && found < left; found++) {
		after = calendar_next(&calendar, after);
		if (after == DW_NEVER)
			break;
		ret_times[found] = after;
	}
	calendar_release(&alloc, &calendar);
	return (int)found;
}

int dw_rule_local(const dw_rule *rule, dw_usec time, dw_local *ret_local, char *ret_message)
{
	char unread[DW_MESSAGE_SIZE];
	char *message = ret_message ? ret_message : unread;
	const struct alloc alloc = alloc_default();
	struct calendar calendar;
	int status;

	if (!ret_local || grown_size_is_wrong(ret_local->size, sizeof *ret_local))
		return message_refuse(message, "ret_local.size is not sizeof(dw_local)");
	if (time < 0 || time > CALENDAR_MAX)
		return message_refuse(message, "the time is not between 1970 and 9999");
	status = calendar_prepare(&alloc, rule, time, &calendar, message);
	if (status != DW_OK)
		return status;
	calendar_local(&calendar, time, ret_local);
	calendar_release(&alloc, &calendar);
	return DW_OK;
}
