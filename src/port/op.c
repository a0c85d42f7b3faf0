#include "port/op.h"

#include <string.h>

dw_op *op_new(const struct alloc *alloc, dw_op_kind kind, const char *id, const void *body,
	      size_t body_size)
{
	size_t id_size = id ? strlen(id) + 1 : 0;
	struct ticket *ticket = alloc_new(alloc, sizeof *ticket + body_size + id_size);
	unsigned char *at;
	dw_op *op;

	if (!ticket)
		return NULL;
	at = (unsigned char *)(ticket + 1);
	op = &ticket->op;
	op->kind = kind;
	if (body_size)
		op->body = at;
	if (body_size && body)
		memcpy(at, body, body_size);
	op->body_size = body_size;
	if (id)
		op->id = memcpy(at + body_size, id, id_size);
	return op;
}

unsigned char *op_room(dw_op *op)
{
	return (unsigned char *)(ticket_of(op) + 1);
}

void rows_free(const struct alloc *alloc, dw_row *row)
{
	while (row) {
		dw_row *next = row->next;

		alloc_free(alloc, row);
		row = next;
	}
}

void op_free(const struct alloc *alloc, dw_op *op)
{
	if (!op)
		return;
	rows_free(alloc, op->rows);
	alloc_free(alloc, op->store_status);
	op_free(alloc, op->message);
	alloc_free(alloc, op);
}

dw_row *row_new_told(const struct alloc *alloc, const char *id, const void *body, size_t body_size,
		     const struct why *why)
{
	size_t id_size = strlen(id) + 1;
	dw_row *row =
	    alloc_new(alloc, sizeof *row + body_size + id_size + (why->size ? why->size + 1 : 0));
	unsigned char *at = (unsigned char *)(row + 1);

	if (!row)
		return NULL;
	if (body_size)
		row->body = at;
	if (body_size && body)
		memcpy(at, body, body_size);
	row->body_size = body_size;
	row->id = memcpy(at + body_size, id, id_size);
	if (why->size) /* the block is zeroed, so the text ends with NUL */
		row->why = memcpy(at + body_size + id_size, why->text, why->size);
	return row;
}

dw_row *row_new(const struct alloc *alloc, const char *id, const void *body, size_t body_size)
{
	return row_new_told(alloc, id, body, body_size, &(struct why){0});
}

unsigned char *row_room(dw_row *row)
{
	return (unsigned char *)(row + 1);
}

bool op_add_row(const struct alloc *alloc, dw_op *op, dw_row ***tail, dw_row *row)
{
	if (!row) {
		rows_free(alloc, op->rows);
		op->rows = NULL;
		op->row_count = 0;
		op->status = DW_ENOMEM;
		return false;
	}
	**tail = row;
	*tail = &row->next;
	op->row_count++;
	return true;
}

void op_queue_push(struct op_queue *queue, dw_op *op)
{
	op->next = NULL;
	if (queue->last)
		queue->last->next = op;
	else
		queue->first = op;
	queue->last = op;
	queue->count++;
}

void op_queue_append(struct op_queue *queue, dw_op *list)
{
	while (list) {
		dw_op *next = list->next;

		op_queue_push(queue, list);
		list = next;
	}
}

dw_op *op_queue_pop(struct op_queue *queue)
{
	dw_op *op = queue->first;

	if (!op)
		return NULL;
	queue->first = op->next;
	if (!queue->first)
		queue->last = NULL;
	queue->count--;
	op->next = NULL;
	return op;
}

dw_op *op_queue_take(struct op_queue *queue)
{
	dw_op *list = queue->first;

	*queue = (struct op_queue){0};
	return list;
}
