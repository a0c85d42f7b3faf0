#include "topic/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* The bytes that stand before each body. */
struct prefix {
	dw_head head;
	uint64_t size;
};

size_t message_size(size_t body_size)
{
	return sizeof(struct prefix) + body_size;
}

unsigned char *message_write(unsigned char *at, const struct message *message)
{
	struct prefix prefix = {message->head, message->body_size};

	memcpy(at, &prefix, sizeof prefix);
	memcpy(at + sizeof prefix, message->body, message->body_size);
	return at + sizeof prefix + message->body_size;
}

bool message_next(const unsigned char **at, const unsigned char *end, struct message *ret_message)
{
	struct prefix prefix;

	if ((size_t)(end - *at) < sizeof prefix)
		return false;
	memcpy(&prefix, *at, sizeof prefix);
	ret_message->head = prefix.head;
	ret_message->body = *at + sizeof prefix;
	ret_message->body_size = prefix.size;
	*at += sizeof prefix + prefix.size;
	return true;
}

uint64_t message_count(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	const unsigned char *end = at + size;
	struct message message;
	uint64_t count = 0;

	while (message_next(&at, end, &message))
		count++;
	return count;
}

bool message_is_new(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	struct message message;

	return message_next(&at, at + size, &message) && message.head.generation == 0;
}

/* ---- Tokens -------------------------------------------------------------------------------- */

/* slash_before finds the last slash before `end`. It returns NULL if there is none. */
static const char *slash_before(const char *text, const char *end)
{
	while (end > text)
		if (*--end == '/')
			return end;
	return NULL;
}

/* skip_number returns the text behind the digits. It returns NULL if there are no digits, or if the
 * number has more than 64 bits, which no store uses. */
static const char *skip_number(const char *text)
{
	size_t size = strspn(text, "0123456789");

	errno = 0;
	(void)strtoull(text, NULL, 10);
	return size > 0 && errno == 0 ? text + size : NULL;
}

/* is_own returns true if the text is a store's part of a token: "17/2" or "17-4-0/2". */
static bool is_own(const char *text)
{
	const char *at = skip_number(text);

	while (at && *at == '-')
		at = skip_number(at + 1);
	at = at && *at == '/' ? skip_number(at + 1) : NULL;
	return at && *at == '\0';
}

bool token_split(const char *token, char ret_topic[DW_TOPIC_MAX + 1], const char **ret_own)
{
	size_t size = strnlen(token, DW_TOKEN_SIZE);
	const char *second = size < DW_TOKEN_SIZE ? slash_before(token, token + size) : NULL;
	const char *first = second ? slash_before(token, second) : NULL;
	size_t topic_size = first ? (size_t)(first - token) : 0;

	if (topic_size == 0 || topic_size > DW_TOPIC_MAX || !utf8_is_name(token, topic_size) ||
	    strlen(first + 1) >= MESSAGE_TOKEN_SIZE || !is_own(first + 1))
		return false;
	memcpy(ret_topic, token, topic_size);
	ret_topic[topic_size] = '\0';
	*ret_own = first + 1;
	return true;
}

static bool read_number(const char *text, char end, uint64_t *ret_number, const char **ret_rest)
{
	char *rest;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret_number = strtoull(text, &rest, 10);
	*ret_rest = rest + 1;
	return errno == 0 && *rest == end;
}

bool token_numbers(const char *own, uint64_t *ret_number, uint64_t *ret_delivery)
{
	const char *rest;

	return read_number(own, '/', ret_number, &rest) &&
	       read_number(rest, '\0', ret_delivery, &rest);
}
