/* An operation under way in a store: one block with its id and bytes, so that its last user can
 * free it. */
#ifndef DW_PORT_OP_H
#define DW_PORT_OP_H

#include <stdbool.h>

#include "base/alloc.h"
#include "durawheel/store.h"

/* An operation, with what its engine keeps of it. */
struct ticket {
	dw_op op;       /* first */
	void *call;     /* that waits for the answer; NULL: none */
	dw_usec sent;   /* steady */
	uint64_t batch; /* urgent operations submitted with it */
	bool urgent;    /* firing waits for it */
	unsigned term;  /* of the ownership in which it was submitted */
};

static inline struct ticket *ticket_of(dw_op *op)
{
	return (struct ticket *)op;
}

static inline const struct ticket *ticket_of_const(const dw_op *op)
{
	return (const struct ticket *)op;
}

/* op_new: an operation on id, in a ticket, with a copy of body. A body of NULL is left to be
 * written to op_room(). NULL: no memory. */
dw_op *op_new(const struct alloc *, dw_op_kind, const char *id, const void *body, size_t body_size);
unsigned char *op_room(dw_op *);

/* op_is_parked: a long poll. The store answers it when it has something to say. */
static inline bool op_is_parked(const dw_op *op)
{
	return op->kind == DW_OP_INBOX || op->kind == DW_OP_LOSS;
}

/* op_is_before_end: a SCAN goes as far as this deadline. */
static inline bool op_is_before_end(const dw_op *op, dw_usec due)
{
	return op->head.due == 0 || due < op->head.due;
}

/* op_looks: how many timers a SCAN looks at, at most. */
static inline size_t op_looks(const dw_op *op)
{
	return op->limit > DW_SCAN_LOOKS ? op->limit : DW_SCAN_LOOKS;
}

/* op_why: the text of dw_set_why() of a NEXT or a LETTER, of limit bytes; NULL: there is none. */
static inline const char *op_why(const dw_op *op)
{
	return op->limit > 0 ? (const char *)op->body + op->body_size : NULL;
}

/* op_free frees the operation and what its answer carries. */
void op_free(const struct alloc *, dw_op *);

/* row_new: a row with copies of id and body, NULL: no memory. A body of NULL is left to be written
 * to row_room(). */
dw_row *row_new(const struct alloc *, const char *id, const void *body, size_t body_size);
unsigned char *row_room(dw_row *);

/* What dw_set_why() has said, without a NUL; size 0: nothing. */
struct why {
	const char *text;
	size_t size;
};

/* row_new_told: with a copy of what dw_set_why() has said. */
dw_row *row_new_told(const struct alloc *, const char *id, const void *body, size_t body_size,
		     const struct why *);
void rows_free(const struct alloc *, dw_row *);

/* op_add_row adds a row to the answer at *tail, which begins as &op->rows. False: row is NULL,
 * because there was no memory; the answer is DW_ENOMEM. */
bool op_add_row(const struct alloc *, dw_op *, dw_row ***tail, dw_row *);

/* A first-in first-out list of operations. Zero is empty. */
struct op_queue {
	dw_op *first;
	dw_op *last;
	size_t count;
};

void op_queue_push(struct op_queue *, dw_op *);
/* op_queue_append moves a linked list to the end. */
void op_queue_append(struct op_queue *, dw_op *list);
dw_op *op_queue_pop(struct op_queue *);
/* op_queue_take empties the queue and returns its list. */
dw_op *op_queue_take(struct op_queue *);

#endif
