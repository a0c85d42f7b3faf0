#include "engine/arguments.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static int refuse(char *message, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse(char *message, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(message, DW_MESSAGE_SIZE, format, arguments); /* cut if long */
	va_end(arguments);
	return DW_EINVAL;
}

/* check_name refuses an id or a topic that is not one; what names the argument. */
static int check_name(const char *what, const char *name, size_t max, char *message)
{
	size_t size = strnlen(name, max + 1);

	if (size == 0)
		return refuse(message, "%s is empty: at least 1 byte", what);
	if (size > max)
		return refuse(message, "%s is too long: at most %zu bytes", what, max);
	if (!utf8_is_name(name, size))
		return refuse(message, "%s is not UTF-8 without control characters", what);
	return DW_OK;
}

int arguments_id(const char *id, char *message)
{
	return check_name("the id", id, DW_ID_MAX, message);
}

int arguments_timer(const dw_timer *timer, size_t data_max, char *message)
{
	int status = timer->id ? arguments_id(timer->id, message) : DW_OK;

	if (status == DW_OK && !timer->topic)
		status = refuse(message, "the topic is missing");
	if (status == DW_OK)
		status = check_name("the topic", timer->topic, DW_TOPIC_MAX, message);
	if (status != DW_OK)
		return status;
	if (strcmp(timer->topic, "*") == 0)
		return refuse(message, "the topic \"*\" stands for all: name one of your own");
	if (timer->data_size > data_max)
		return refuse(message,
			      "the data has %zu bytes: at most %zu (options.data_max_bytes)",
			      timer->data_size, data_max);
	if (timer->data_size > 0 && !timer->data)
		return refuse(message, "the data is NULL and its size is not 0");
	if (timer->late_after_us < 0)
		return refuse(message, "late_after_us is negative");
	if (timer->flags & ~DW_NEW)
		return refuse(message, "unknown flags 0x%x", timer->flags & ~DW_NEW);
	return DW_OK;
}

int arguments_settle(const dw_token *token, dw_verdict verdict, char *message)
{
	if (verdict != DW_DONE && verdict != DW_RETRY)
		return refuse(message, "a verdict is DW_DONE or DW_RETRY");
	return check_name("the token's id", token->id, DW_ID_MAX, message);
}
