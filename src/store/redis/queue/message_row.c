#include "store/redis/queue/message_row.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "store/redis/core.h"
#include "timer/record.h"
#include "topic/message.h"

/* A value as take.lua returns it: 'PUSH DUE ATTEMPT SUM ID', a newline, and the data. SUM is '-' if
 * another program has written the message. */
struct value {
	dw_usec due;
	uint32_t attempt;
	int64_t sum; /* -1: the message has no sum */
	const char *id;
	size_t id_size;
	const char *data;
	size_t data_size;
};

/* number_before reads a number, and moves *at to the character after the blank that ends it.
 * Returns false if there is no number, or if it has more than 64 bits. */
static bool number_before(const char **at, int64_t *ret_number)
{
	char *rest;

	if (**at != '-' && (**at < '0' || **at > '9'))
		return false;
	errno = 0;
	*ret_number = strtoll(*at, &rest, 10);
	if (errno != 0 || rest == *at || *rest != ' ')
		return false;
	*at = rest + 1;
	return true;
}

/* value_read reads a value, which a NUL follows. It returns NULL if the value is not damaged,
 * otherwise what is wrong. */
static const char *value_read(const struct reply *bytes, struct value *ret_value)
{
	const char *at = bytes->bytes, *end = bytes->bytes + bytes->size, *line;
	int64_t push, attempt;

	if (bytes->size == 0)
		return "has no bytes";
	if (!number_before(&at, &push) || !number_before(&at, &ret_value->due) ||
	    !number_before(&at, &attempt) || attempt < 0 || attempt > UINT32_MAX)
		return "has no head";
	ret_value->attempt = (uint32_t)attempt;
	ret_value->sum = -1;
	if (at[0] == '-' && at[1] == ' ')
		at += 2;
	else if (!number_before(&at, &ret_value->sum) || ret_value->sum < 0)
		return "has no checksum";
	line = memchr(at, '\n', (size_t)(end - at));
	ret_value->id = at;
	ret_value->id_size = line ? (size_t)(line - at) : 0;
	if (ret_value->id_size == 0 || ret_value->id_size > DW_ID_MAX ||
	    !utf8_is_name(at, ret_value->id_size))
		return "has no valid id";
	ret_value->data = line + 1;
	ret_value->data_size = (size_t)(end - line - 1);
	return ret_value->data_size > DW_DATA_MAX ? "has more than 1 MiB" : NULL;
}

/* damaged_row makes the row of a message that cannot be handed out. is_gone: the script has dropped
 * the message. */
static dw_row *damaged_row(struct alloc *alloc, const char *token, const char *words, bool is_gone)
{
	dw_row *row = row_new(alloc, "", NULL, MESSAGE_TOKEN_SIZE + DW_MESSAGE_SIZE);
	char *room;

	if (!row)
		return NULL;
	room = (char *)row_room(row);
	row->deleted = is_gone;
	row->token = room;
	row->why = room + MESSAGE_TOKEN_SIZE;
	row->body_size = 0;
	row->status = DW_ECORRUPT;
	(void)snprintf(room, MESSAGE_TOKEN_SIZE, "%s", token);
	(void)snprintf(room + MESSAGE_TOKEN_SIZE, DW_MESSAGE_SIZE, "%s: dropped", words);
	return row;
}

/* number_at returns one number of a token GENERATION-FIRST-RETRIES/DELIVERIES: the number after
 * `skip` of the signs - and /. */
static uint64_t number_at(const char *token, int skip)
{
	while (*token && skip > 0)
		skip -= *token == '-' || *token == '/', token++;
	return strtoull(token, NULL, 10);
}

static dw_row *sound_row(struct alloc *alloc, const char *token, const char *topic,
			 const struct value *value)
{
	struct record record = {.id = value->id,
				.topic = topic,
				.data = value->data,
				.data_size = (uint32_t)value->data_size,
				.id_size = (uint8_t)value->id_size,
				.topic_size = (uint8_t)strlen(topic)};
	size_t size = record_size(&record), token_size = strlen(token) + 1;
	char id[DW_ID_MAX + 1] = "";
	unsigned char *room;
	dw_row *row;

	memcpy(id, value->id, value->id_size);
	row = row_new(alloc, id, NULL, size + token_size);
	if (!row)
		return NULL;
	room = row_room(row);
	record_encode(&record, room);
	row->token = memcpy(room + size, token, token_size);
	row->body_size = size;
	row->head.due = value->due;
	row->head.generation = number_at(token, 0);
	row->head.retries = (uint32_t)number_at(token, 2);
	row->head.attempt = value->attempt + (uint32_t)number_at(token, 3);
	if (value->sum >= 0 && value->sum != record_crc(room))
		row->status = DW_ECORRUPT;
	return row;
}

dw_row *message_row(struct alloc *alloc, const char *token, const struct reply *bytes,
		    const char *topic)
{
	struct value value;
	const char *wrong = value_read(bytes, &value);

	return wrong ? damaged_row(alloc, token, wrong, bytes->size == 0)
		     : sound_row(alloc, token, topic, &value);
}
