#include "engine/call/arguments.h"

#include <string.h>

#include "base/grown.h"
#include "base/message.h"
#include "base/utf8.h"

/* check_name refuses an invalid id or topic. what names the argument. */
static int check_name(const char *what, const char *name, size_t max, char *message)
{
	size_t size = strnlen(name, max + 1);

	if (size == 0)
		return message_refuse(message, "%s is empty: at least 1 byte", what);
	if (size > max)
		return message_refuse(message, "%s is too long: at most %zu bytes", what, max);
	if (!utf8_is_name(name, size))
		return message_refuse(message, "%s is not UTF-8 without control characters", what);
	return DW_OK;
}

int arguments_letter(const char *id, char *message)
{
	size_t size = strnlen(id, DW_ID_MAX + 1);

	if (size == 0 || size > DW_ID_MAX)
		return check_name("the id", id, DW_ID_MAX, message);
	return DW_OK;
}

int arguments_id(const char *id, char *message)
{
	if (!id)
		return message_refuse(message, "the id is NULL");
	return check_name("the id", id, DW_ID_MAX, message);
}

int arguments_topic(const char *topic, char *message)
{
	int status;

	if (!topic)
		return message_refuse(message, "the topic is missing");
	status = check_name("the topic", topic, DW_TOPIC_MAX, message);
	if (status == DW_OK && strcmp(topic, "*") == 0)
		return message_refuse(message,
				      "the topic \"*\" stands for all: name one of your own");
	return status;
}

/* check_size refuses a dw_timer of a wrong size, or with fields that this version does not know.
 * The struct may come from a program that was built for a newer durawheel. */
static int check_size(const dw_timer *timer, char *message)
{
	if (!timer)
		return message_refuse(message, "the timer is NULL");
	if (grown_size_is_wrong(timer->size, sizeof *timer))
		return message_refuse(message, "timer.size is not sizeof(dw_timer)");
	if (grown_is_unknown(timer, sizeof *timer, timer->size))
		return message_refuse(message, "a timer of a newer durawheel than " DW_VERSION);
	return DW_OK;
}

static int check_names(const dw_timer *timer, char *message)
{
	int status = timer->id ? arguments_id(timer->id, message) : DW_OK;

	return status == DW_OK ? arguments_topic(timer->topic, message) : status;
}

static int check_flags(const dw_timer *timer, char *message)
{
	const unsigned modes = DW_DUE_EARLIEST | DW_DUE_LATEST | DW_DATA_FIRST;
	unsigned unknown = timer->flags & ~(DW_NEW | DW_ONCE | modes);

	if (unknown)
		return message_refuse(message, "unknown flags 0x%x", unknown);
	if (timer->flags & DW_NEW && timer->flags & DW_ONCE)
		return message_refuse(message, "DW_NEW and DW_ONCE each stand alone: DW_ONCE "
					       "refuses all that DW_NEW does");
	if (timer->flags & DW_NEW && timer->flags & modes)
		return message_refuse(message, "DW_NEW stands alone: there is nothing to keep");
	if (timer->flags & DW_ONCE && timer->flags & modes)
		return message_refuse(message, "DW_ONCE replaces no timer: it has no DW_DUE_... "
					       "and no DW_DATA_FIRST");
	if (timer->flags & DW_DUE_EARLIEST && timer->flags & DW_DUE_LATEST)
		return message_refuse(message, "DW_DUE_EARLIEST and DW_DUE_LATEST contradict");
	if (timer->rule && timer->flags & modes)
		return message_refuse(message, "a recurring timer has no DW_DUE_... and no "
					       "DW_DATA_FIRST");
	if (timer->wait_max_us < 0)
		return message_refuse(message, "wait_max_us is negative");
	if (timer->wait_max_us > 0 && !(timer->flags & DW_DUE_LATEST))
		return message_refuse(message, "wait_max_us is for DW_DUE_LATEST");
	return DW_OK;
}

/* check_occurrence checks the state that a recurring timer brings from another store. */
static int check_occurrence(const dw_timer *timer, char *message)
{
	bool brings = timer->occurrence != 0 || timer->rule_end != 0 || timer->missed != 0;

	if (brings && !timer->rule)
		return message_refuse(message, "occurrence, rule_end and missed are those of a "
					       "recurring timer: it needs a rule");
	if (brings && timer->occurrence <= 0)
		return message_refuse(message, "rule_end and missed belong to an occurrence, which "
					       "is above 0");
	if (timer->rule_end != 0 && timer->rule_end < timer->occurrence)
		return message_refuse(message, "rule_end is before the occurrence");
	return DW_OK;
}

int arguments_timer(const dw_timer *timer, size_t data_max, char *message)
{
	int status = check_size(timer, message);

	if (status == DW_OK)
		status = check_names(timer, message);
	if (status != DW_OK)
		return status;
	if (timer->data_size > data_max)
		return message_refuse(
		    message, "the data has %zu bytes: at most %zu (options.data_max_bytes)",
		    timer->data_size, data_max);
	if (timer->data_size > 0 && !timer->data)
		return message_refuse(message, "the data is NULL and its size is not 0");
	if (timer->late_after_us < 0)
		return message_refuse(message, "late_after_us is negative");
	if (timer->rule && timer->late_after_us > 0)
		return message_refuse(message, "a recurring timer has no late_after_us: use "
					       "rule.missed_age_us");
	if (timer->keep_us < 0 || timer->keep_us > DW_KEEP_MAX)
		return message_refuse(message, "keep_us is not 0 to 90 days");
	status = check_occurrence(timer, message);
	return status == DW_OK ? check_flags(timer, message) : status;
}

const dw_select arguments_all = {.size = sizeof arguments_all};
const dw_dead_select arguments_all_letters = {.size = sizeof arguments_all_letters};

int arguments_select(const dw_select *select, char *message)
{
	const unsigned states = 1u << DW_PENDING | 1u << DW_CLAIMED | 1u << DW_NEWER;
	int status = DW_OK;

	if (grown_size_is_wrong(select->size, sizeof *select))
		return message_refuse(message, "select.size is not sizeof(dw_select)");
	if (grown_is_unknown(select, sizeof *select, select->size))
		return message_refuse(message, "a selection of a newer durawheel than " DW_VERSION);
	if (select->topic)
		status = check_name("the topic", select->topic, DW_TOPIC_MAX, message);
	if (status != DW_OK)
		return status;
	if (select->id_prefix && strnlen(select->id_prefix, DW_ID_SIZE) == DW_ID_SIZE)
		return message_refuse(message, "id_prefix is too long: an id has at most %d bytes",
				      DW_ID_MAX);
	if (select->due_from && select->due_to && select->due_from >= select->due_to)
		return message_refuse(message, "due_to is not after due_from");
	if (select->states & ~states)
		return message_refuse(message, "unknown states 0x%x", select->states & ~states);
	return DW_OK;
}

int arguments_bounds(const dw_usec *bounds, size_t count, char *message)
{
	if (!bounds || count < 2 || count > DW_DUE_BOUNDS_MAX)
		return message_refuse(message, "there must be 2 to %d bounds", DW_DUE_BOUNDS_MAX);
	for (size_t i = 1; i < count; i++)
		if (bounds[i] <= bounds[i - 1])
			return message_refuse(message, "bound %zu is not after the one before it",
					      i);
	return DW_OK;
}

int arguments_dead_select(const dw_dead_select *select, char *message)
{
	int status = DW_OK;

	if (grown_size_is_wrong(select->size, sizeof *select))
		return message_refuse(message, "select.size is not sizeof(dw_dead_select)");
	if (grown_is_unknown(select, sizeof *select, select->size))
		return message_refuse(message, "a selection of a newer durawheel than " DW_VERSION);
	if (select->topic)
		status = check_name("the topic", select->topic, DW_TOPIC_MAX, message);
	if (status == DW_OK && select->id)
		status = arguments_letter(select->id, message);
	if (status == DW_OK && select->topic && select->id)
		return message_refuse(message, "a topic or an id, not both");
	return status;
}

int arguments_token(const dw_token *token, char *message)
{
	if (!token)
		return message_refuse(message, "the token is NULL");
	return check_name("the token's id", token->id, DW_ID_MAX, message);
}

int arguments_settle(const dw_token *token, dw_verdict verdict, char *message)
{
	if (token && verdict != DW_DONE && verdict != DW_RETRY && verdict != DW_DEAD)
		return message_refuse(message, "a verdict is DW_DONE, DW_RETRY or DW_DEAD");
	return arguments_token(token, message);
}
