#include "cli/out/line.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/base64.h"
#include "cli/out/text.h"

enum { LINE_CAPACITY = 512, PIECE_SIZE = 48 };

/* line_append appends a piece of JSON. It is the callback of json_dump_callback(). */
static int line_append(const char *piece, size_t size, void *user)
{
	struct line *line = user;
	size_t needed = line->size + size;

	if (needed > line->capacity) {
		size_t capacity = line->capacity ? line->capacity * 2 : LINE_CAPACITY;
		char *bytes;

		if (capacity < needed)
			capacity = needed;
		bytes = realloc(line->bytes, capacity);
		if (!bytes)
			return -1;
		line->bytes = bytes;
		line->capacity = capacity;
	}
	memcpy(line->bytes + line->size, piece, size);
	line->size = needed;
	return 0;
}

json_t *line_name(const char *name)
{
	char form[(TEXT_STEP_SIZE - 1) * DW_ID_MAX + 1];
	json_t *text = json_string(name);

	if (text)
		return text;
	(void)text_escape(name, strlen(name), form, sizeof form); /* the buffer is large enough */
	return json_string(form);
}

bool line_of(struct line *line, json_t *object)
{
	int failed;

	if (!object)
		return false;
	line->size = 0;
	failed = json_dump_callback(object, line_append, line, JSON_COMPACT) != 0 ||
		 line_append("\n", 1, line) != 0;
	json_decref(object);
	return !failed;
}

/* add_pair appends a key with its value to the finished object, before its closing brace. */
static bool add_pair(struct line *line, const char *piece, int length)
{
	size_t size = line->size;

	assert(size > strlen("}\n") && length > 0 && length < PIECE_SIZE);
	line->size -= strlen("}\n");
	if (line_append(piece, (size_t)length, line) == 0)
		return true;
	line->size = size;
	return false;
}

bool line_add_exit(struct line *line, int code)
{
	char piece[PIECE_SIZE];

	return add_pair(line, piece, snprintf(piece, sizeof piece, ",\"exit\":%d}\n", code));
}

bool line_add_waits(struct line *line, const char *name)
{
	char piece[PIECE_SIZE];

	return add_pair(line, piece, snprintf(piece, sizeof piece, ",\"waits\":\"%s\"}\n", name));
}

void line_free(struct line *line)
{
	free(line->bytes);
}

/* add_bytes adds the bytes under `name`. If they are not valid UTF-8, it adds them as Base64 under
 * `encoded_name`. */
static bool add_bytes(json_t *object, const char *name, const char *encoded_name, const void *data,
		      size_t size)
{
	json_t *text = json_stringn(size ? data : "", size);
	char *encoded;
	int status;

	if (text)
		return json_object_set_new_nocheck(object, name, text) == 0;
	encoded = base64_encode(data, size);
	if (!encoded)
		return false;
	status = json_object_set_new_nocheck(object, encoded_name, json_string(encoded));
	free(encoded);
	return status == 0;
}

static bool add_data(json_t *object, const void *data, size_t size)
{
	return add_bytes(object, "data", "data_base64", data, size);
}

/* line_of_timer adds the data to object and writes the line. It frees object, which may be NULL. */
static bool line_of_timer(struct line *line, json_t *object, const void *data, size_t size)
{
	if (object && !add_data(object, data, size)) {
		json_decref(object);
		object = NULL;
	}
	return line_of(line, object);
}

/* add_occurrence adds the keys that only a recurring timer has. If out of memory, it frees the
 * object and returns NULL. */
static json_t *add_occurrence(json_t *object, dw_usec occurrence, const char *rule)
{
	if (!object || occurrence == 0)
		return object;
	if ((!rule || json_object_set_new(object, "rule", json_string(rule)) == 0) &&
	    json_object_set_new(object, "occurrence", json_integer(occurrence)) == 0)
		return object;
	json_decref(object);
	return NULL;
}

bool line_of_firing(struct line *line, const dw_firing *firing)
{
	json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:I}", "id", firing->id, "topic",
				   firing->topic, "due", (json_int_t)firing->due, "fired",
				   (json_int_t)firing->now, "attempt", (json_int_t)firing->attempt);

	object = add_occurrence(object, firing->occurrence, NULL);
	if (object && firing->occurrence > 0)
		(void)json_object_set_new(object, "missed",
					  /* If out of memory, the key is missing. */
					  json_integer(firing->missed));
	return line_of_timer(line, object, firing->data, firing->data_size);
}

/* add_span adds a duration unless it is 0. If out of memory, it frees the object and returns
 * NULL. */
static json_t *add_span(json_t *object, const char *name, dw_usec duration)
{
	char span[TEXT_SPAN_SIZE];

	if (!object || duration == 0)
		return object;
	text_span(duration, 6, span);
	if (json_object_set_new(object, name, json_string(span)) == 0)
		return object;
	json_decref(object);
	return NULL;
}

/* add_number adds a number unless it is 0. If out of memory, it frees the object and returns
 * NULL. */
static json_t *add_number(json_t *object, const char *name, json_int_t number)
{
	if (!object || number == 0 || json_object_set_new(object, name, json_integer(number)) == 0)
		return object;
	json_decref(object);
	return NULL;
}

/* add_series adds the position of a recurring timer in its rule, so that import can continue
 * there. */
static json_t *add_series(json_t *object, const dw_info *info)
{
	object = add_occurrence(object, info->occurrence, info->rule);
	object = add_number(object, "rule_end", info->rule_end < DW_NEVER ? info->rule_end : 0);
	return add_number(object, "missed_count", info->missed);
}

/* info_of returns the object of a timer without its data. Returns NULL if out of memory. */
static json_t *info_of(const dw_info *info)
{
	json_t *object = json_pack("{s:s, s:s, s:I, s:s, s:I}", "id", info->id, "topic",
				   info->topic, "due", (json_int_t)info->due, "state",
				   state_name(info->state), "attempt", (json_int_t)info->attempt);

	object = add_span(add_series(object, info), "late_after", info->late_after_us);
	return add_span(object, "keep", info->keep_us);
}

bool line_of_info(struct line *line, const dw_info *info, const char *unknown_zone)
{
	json_t *object = info_of(info);

	if (object && unknown_zone)
		(void)json_object_set_new(object, "unknown_zone",
					  /* If out of memory, the key is missing. */
					  line_name(unknown_zone));
	return line_of_timer(line, object, info->data, info->data_size);
}

/* add_why adds the reason of a failure, if the handler gave one. The reason of a damaged dead
 * letter may be invalid UTF-8. Returns false if out of memory. */
static bool add_why(json_t *object, const char *why)
{
	return !why || json_object_set_new(object, "why", line_name(why)) == 0;
}

static json_t *whole_info_of(const dw_info *info)
{
	json_t *object = info_of(info);

	if (object && (json_object_set_new(object, "retries", json_integer(info->retries)) != 0 ||
		       !add_why(object, info->why) ||
		       json_object_set_new(object, "generation",
					   json_integer((json_int_t)info->generation)) != 0)) {
		json_decref(object);
		object = NULL;
	}
	return object;
}

bool line_of_whole_info(struct line *line, const dw_info *info, json_t *ended)
{
	json_t *object = whole_info_of(info);

	if (!object)
		json_decref(ended);
	else if (ended && json_object_set_new(object, "ended", ended) != 0)
		return json_decref(object), false;
	return line_of_timer(line, object, info->data, info->data_size);
}

static json_t *dead_of(const dw_dead *letter)
{
	json_t *object = json_pack(
	    "{s:o, s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "id", line_name(letter->id), "topic",
	    line_name(letter->topic), "reason", dw_reason_name(letter->reason), "at",
	    (json_int_t)letter->at, "due", (json_int_t)letter->due, "attempt",
	    (json_int_t)letter->attempt, "retries", (json_int_t)letter->retries, "crashes",
	    (json_int_t)letter->crashes, "generation", (json_int_t)letter->generation);

	if (object && letter->newer)
		/* If out of memory, the key is missing. */
		(void)json_object_set_new(object, "newer", json_true());
	if (object && !add_why(object, letter->why)) {
		json_decref(object);
		object = NULL;
	}
	return add_occurrence(object, letter->occurrence, letter->rule);
}

bool line_of_dead(struct line *line, const dw_dead *letter)
{
	return line_of_timer(line, dead_of(letter), letter->data, letter->data_size);
}

/* sized adds the size of the data. It adds the data itself only if shows_data. Otherwise it removes
 * "why", because a handler may have quoted the data there. */
static json_t *sized(json_t *object, const void *data, size_t size, bool shows_data)
{
	if (object && !shows_data)
		(void)json_object_del(object, "why"); /* it fails if the key does not exist */
	if (object && json_object_set_new(object, "size", json_integer((json_int_t)size)) == 0 &&
	    (!shows_data || add_data(object, data, size)))
		return object;
	json_decref(object);
	return NULL;
}

json_t *line_object_of_info(const dw_info *info, bool shows_data)
{
	return sized(whole_info_of(info), info->data, info->data_size, shows_data);
}

json_t *line_object_of_dead(const dw_dead *letter, bool shows_data)
{
	return sized(dead_of(letter), letter->data, letter->data_size, shows_data);
}

json_t *line_object_of_letter(const dw_dead *letter, bool shows_data)
{
	json_t *object = line_object_of_dead(letter, shows_data);

	if (object && json_object_set_new(object, "end", json_string("dead")) == 0)
		return object;
	json_decref(object);
	return NULL;
}

json_t *line_object_of_ended(const dw_ended *ended, bool shows_data)
{
	json_t *object = json_pack(
	    "{s:o, s:o, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:I}", "id",
	    line_name(ended->id), "topic", line_name(ended->topic), "end", end_name(ended->end),
	    "reason", ended->end == DW_END_DEAD ? dw_reason_name(ended->reason) : "", "at",
	    (json_int_t)ended->at, "due", (json_int_t)ended->due, "started",
	    (json_int_t)ended->started, "attempt", (json_int_t)ended->attempt, "retries",
	    (json_int_t)ended->retries, "generation", (json_int_t)ended->generation, "by",
	    line_name(ended->by), "until", (json_int_t)ended->until);

	if (!object || !shows_data || ended->result_size == 0 ||
	    add_bytes(object, "result", "result_base64", ended->result, ended->result_size))
		return object;
	json_decref(object);
	return NULL;
}

bool line_add_letter(json_t *end, const dw_dead *letter, bool shows_data)
{
	json_int_t generation = json_integer_value(json_object_get(end, "generation"));

	if ((uint64_t)generation != letter->generation)
		return true;
	return json_object_set_new(end, "letter", json_true()) == 0 &&
	       (!shows_data || add_why(end, letter->why));
}

bool line_of_message(struct line *line, const dw_message *message)
{
	json_t *object =
	    json_pack("{s:o, s:s, s:o, s:I, s:I}", "token", line_name(message->token), "id",
		      message->id, "topic", line_name(message->topic), "due",
		      (json_int_t)message->due, "attempt", (json_int_t)message->attempt);

	return line_of_timer(line, object, message->data, message->data_size);
}

const char *end_name(dw_end end)
{
	switch (end) {
	case DW_END_DONE:
		return "done";
	case DW_END_CANCELLED:
		return "cancelled";
	case DW_END_DEAD:
		return "dead";
	default:
		return "unknown";
	}
}

const char *state_name(dw_state state)
{
	switch (state) {
	case DW_CLAIMED:
		return "claimed";
	case DW_NEWER:
		return "newer";
	default:
		return "pending";
	}
}
