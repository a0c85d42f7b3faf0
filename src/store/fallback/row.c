#include "store/fallback/row.h"

#include <string.h>

#include "base/bytes.h"
#include "timer/record.h"

enum { LAYOUT = 1, WORDS_SIZE = 40 };

static void write_words(const struct row_words *words, unsigned char *bytes)
{
	bytes_put(bytes, LAYOUT, 1);
	bytes_put(bytes + 1, words->what, 1);
	bytes_put(bytes + 2, words->flags, 1);
	bytes_put(bytes + 3, words->retries, 1);
	bytes_put(bytes + 4, words->attempt, 4);
	bytes_put(bytes + 8, words->base, 8);
	bytes_put(bytes + 16, words->floor, 8);
	bytes_put(bytes + 24, words->fence, 8);
	bytes_put(bytes + 32, words->session, 8);
}

dw_op *row_op(const struct alloc *alloc, const char *name, const struct row_write *write)
{
	struct record record = {.id = write->id,
				.topic = name,
				.data_size = (uint32_t)(WORDS_SIZE + write->body_size),
				.id_size = (uint8_t)strlen(write->id),
				.topic_size = (uint8_t)strlen(name)};
	size_t size = record_size(&record);
	unsigned char *data = alloc_new(alloc, record.data_size);
	dw_op *op = NULL;

	if (data)
		op = op_new(alloc, DW_OP_PUT, write->id, NULL, size + record.topic_size + 1u);
	if (op) {
		write_words(write->words, data);
		if (write->body_size > 0)
			memcpy(data + WORDS_SIZE, write->body, write->body_size);
		record.data = data;
		record_encode(&record, op_room(op));
		op->flags = write->is_vital ? DW_OP_VITAL : 0;
		op->head.due = write->due;
		op->body_size = size;
		op->topic = memcpy(op_room(op) + size, name, record.topic_size + 1u);
	}
	alloc_free(alloc, data);
	return op;
}

bool row_is_origin(const dw_row *row)
{
	return strcmp(row->id, ORIGIN_ID) == 0;
}

static bool has_body(dw_op_kind what)
{
	return what == DW_OP_PUT || what == ROW_ORIGIN;
}

static bool is_known(dw_op_kind what)
{
	return has_body(what) || what == DW_OP_CANCEL || what == DW_OP_MOVE ||
	       what == DW_OP_SETTLE || what == DW_OP_RETRY || what == DW_OP_CLAIM;
}

int row_read(const dw_row *row, struct row_words *ret_words, const void **ret_body,
	     size_t *ret_size)
{
	struct record record;
	const unsigned char *bytes;
	int status = record_of_row(row, &record);

	if (status != DW_OK)
		return status;
	bytes = record.data;
	if (record.data_size < WORDS_SIZE)
		return DW_ECORRUPT;
	if (bytes[0] > LAYOUT)
		return DW_ENEWER;
	*ret_words = (struct row_words){.what = (dw_op_kind)bytes[1],
					.flags = bytes[2],
					.retries = bytes[3],
					.attempt = (uint32_t)bytes_get(bytes + 4, 4),
					.base = bytes_get(bytes + 8, 8),
					.floor = bytes_get(bytes + 16, 8),
					.fence = bytes_get(bytes + 24, 8),
					.session = bytes_get(bytes + 32, 8)};
	*ret_body = bytes + WORDS_SIZE;
	*ret_size = record.data_size - WORDS_SIZE;
	if (!is_known(ret_words->what) || (*ret_size > 0) != has_body(ret_words->what) ||
	    row_is_origin(row) != (ret_words->what == ROW_ORIGIN))
		return DW_ECORRUPT;
	return DW_OK;
}

/* The replay struct lies behind the body, in the block of the operation. */
dw_op *row_replay(const struct alloc *alloc, const dw_row *row, const struct row_words *words,
		  const void *body, size_t body_size)
{
	size_t at = (body_size + 7) / 8 * 8;
	dw_op *op = op_new(alloc, DW_OP_REPLAY, row->id, NULL, at + sizeof(dw_replay));
	dw_replay *replay;

	if (!op)
		return NULL;
	if (body_size > 0)
		memcpy(op_room(op), body, body_size);
	replay = (dw_replay *)(void *)(op_room(op) + at);
	*replay = (dw_replay){.what = words->what,
			      .flags = words->flags & ~ROW_ABSENT,
			      .journal = words->session,
			      .number = row->head.generation,
			      .floor = words->floor,
			      .fence = words->fence};
	op->replay = replay;
	op->body_size = body_size;
	op->head = (dw_head){.generation = words->base,
			     .attempt = words->attempt,
			     .retries = words->retries,
			     .due = row->head.due};
	return op;
}
