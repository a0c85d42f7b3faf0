#include "timer/ended.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/usec.h"

enum {
	VERSION = 1,
	AT_END = 1,
	AT_REASON = 2,
	AT_TOPIC_SIZE = 3,
	AT_BY_SIZE = 4,
	AT_RESULT_SIZE = 6,
	AT_GENERATION = 8,
	AT_DUE = 16,
	AT_STARTED = 24,
	AT_AT = 32,
	AT_UNTIL = 40,
	AT_ATTEMPT = 48,
	AT_RETRIES = 52,
};

const char *dw_end_name(dw_end end)
{
	switch (end) {
	case DW_END_DONE:
		return "DONE";
	case DW_END_CANCELLED:
		return "CANCELLED";
	case DW_END_DEAD:
		return "DEAD";
	case DW_END_UNKNOWN:
		break;
	}
	return "UNKNOWN";
}

/* ---- Making -------------------------------------------------------------------------------- */

void ended_of(const dw_op *op, dw_end end, const dw_head *stored, dw_usec now, dw_ended *ret_ended)
{
	*ret_ended = (dw_ended){.size = sizeof *ret_ended,
				.topic = "",
				.generation = stored->generation,
				.end = end,
				.due = stored->due,
				.at = now,
				.attempt = stored->attempt,
				.retries = stored->retries,
				.by = ""};
	if (end == DW_END_CANCELLED)
		return;
	ret_ended->started = op->started;
	if (end == DW_END_DEAD) {
		ret_ended->reason = op->reason;
		return;
	}
	ret_ended->result =
	    op->kind == DW_OP_NEXT ? (const char *)op->body + op->body_size : op->body;
	ret_ended->result_size = op->kind == DW_OP_NEXT ? op->limit : op->body_size;
}

bool ended_keep(dw_ended *ended, dw_usec own, dw_usec of_topic)
{
	dw_usec keep = own > 0 ? own : of_topic;

	ended->until = usec_add(ended->at, usec_min(keep, DW_KEEP_MAX));
	return keep > 0;
}

dw_usec ended_until(const void *body, size_t size, dw_usec until, dw_usec now)
{
	struct ended_names names;
	dw_ended ended;
	dw_usec kept;

	if (!ended_read(body, size, &ended, &names))
		return until;
	kept = usec_add(now, usec_sub(ended.until, ended.at));
	return until > usec_add(kept, DERIVED_AGAIN) ? kept : until;
}

/* ---- The bytes ----------------------------------------------------------------------------- */

size_t ended_size(const dw_ended *ended)
{
	return ENDED_HEADER_SIZE + strlen(ended->topic) + strlen(ended->by) + ended->result_size;
}

void ended_write(const dw_ended *ended, unsigned char *ret_bytes)
{
	size_t topic_size = strlen(ended->topic), by_size = strlen(ended->by);
	unsigned char *at = ret_bytes + ENDED_HEADER_SIZE;

	assert(topic_size <= DW_TOPIC_MAX && by_size <= ENDED_BY_MAX);
	assert(ended->result_size <= DW_RESULT_MAX);
	memset(ret_bytes, 0, ENDED_HEADER_SIZE);
	ret_bytes[0] = VERSION;
	ret_bytes[AT_END] = (unsigned char)ended->end;
	ret_bytes[AT_REASON] = (unsigned char)ended->reason;
	ret_bytes[AT_TOPIC_SIZE] = (unsigned char)topic_size;
	ret_bytes[AT_BY_SIZE] = (unsigned char)by_size;
	bytes_put(ret_bytes + AT_RESULT_SIZE, ended->result_size, 2);
	bytes_put(ret_bytes + AT_GENERATION, ended->generation, 8);
	bytes_put(ret_bytes + AT_DUE, (uint64_t)ended->due, 8);
	bytes_put(ret_bytes + AT_STARTED, (uint64_t)ended->started, 8);
	bytes_put(ret_bytes + AT_AT, (uint64_t)ended->at, 8);
	bytes_put(ret_bytes + AT_UNTIL, (uint64_t)ended->until, 8);
	bytes_put(ret_bytes + AT_ATTEMPT, ended->attempt, 4);
	bytes_put(ret_bytes + AT_RETRIES, ended->retries, 4);
	memcpy(at, ended->topic, topic_size);
	memcpy(at + topic_size, ended->by, by_size);
	if (ended->result_size > 0)
		memcpy(at + topic_size + by_size, ended->result, ended->result_size);
}

/* has_sizes returns true if the sizes in the header add up, and are within the limits. */
static bool has_sizes(const unsigned char *bytes, size_t size)
{
	return size >= ENDED_HEADER_SIZE && bytes[0] == VERSION &&
	       bytes[AT_TOPIC_SIZE] <= DW_TOPIC_MAX && bytes[AT_BY_SIZE] <= ENDED_BY_MAX &&
	       bytes_get(bytes + AT_RESULT_SIZE, 2) <= DW_RESULT_MAX &&
	       ENDED_HEADER_SIZE + bytes[AT_TOPIC_SIZE] + bytes[AT_BY_SIZE] +
		       bytes_get(bytes + AT_RESULT_SIZE, 2) ==
		   size;
}

bool ended_read(const void *body, size_t size, dw_ended *ret_ended, struct ended_names *ret_names)
{
	const unsigned char *bytes = body;
	const unsigned char *at = bytes + ENDED_HEADER_SIZE;

	if (!has_sizes(bytes, size))
		return false;
	memset(ret_names, 0, sizeof *ret_names);
	memcpy(ret_names->topic, at, bytes[AT_TOPIC_SIZE]);
	at += bytes[AT_TOPIC_SIZE];
	memcpy(ret_names->by, at, bytes[AT_BY_SIZE]);
	at += bytes[AT_BY_SIZE];
	*ret_ended =
	    (dw_ended){.size = sizeof *ret_ended,
		       .topic = ret_names->topic,
		       .generation = bytes_get(bytes + AT_GENERATION, 8),
		       .end = bytes[AT_END] <= DW_END_DEAD ? (dw_end)bytes[AT_END] : DW_END_UNKNOWN,
		       .reason = bytes[AT_REASON] <= DW_REASON_GAVE_UP ? (dw_reason)bytes[AT_REASON]
								       : DW_REASON_UNKNOWN,
		       .due = (dw_usec)bytes_get(bytes + AT_DUE, 8),
		       .started = (dw_usec)bytes_get(bytes + AT_STARTED, 8),
		       .at = (dw_usec)bytes_get(bytes + AT_AT, 8),
		       .until = (dw_usec)bytes_get(bytes + AT_UNTIL, 8),
		       .attempt = (uint32_t)bytes_get(bytes + AT_ATTEMPT, 4),
		       .retries = (uint32_t)bytes_get(bytes + AT_RETRIES, 4),
		       .by = ret_names->by,
		       .result = at,
		       .result_size = (size_t)bytes_get(bytes + AT_RESULT_SIZE, 2)};
	return true;
}

void ended_by(const char *line, char ret_by[ENDED_BY_MAX + 1])
{
	const char *pid = strstr(line, ", pid ");
	size_t digits = pid ? strspn(pid + 6, "0123456789") : 0;

	if (digits > 0)
		(void)snprintf(ret_by, ENDED_BY_MAX + 1, "%.*s pid %.*s", (int)(pid - line), line,
			       (int)digits, pid + 6); /* a long host name is truncated */
	else
		(void)snprintf(ret_by, ENDED_BY_MAX + 1, "%s", line);
}
