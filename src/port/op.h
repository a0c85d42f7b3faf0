/* An operation under way in a store. It is one block with its id and bytes, so that its last user
 * can free it. */
#ifndef DW_PORT_OP_H
#define DW_PORT_OP_H

#include <stdbool.h>

#include "base/alloc.h"
#include "durawheel/store.h"

/* An operation, and what the engine keeps about it. */
struct ticket {
	dw_op op;       /* first */
	void *call;     /* the call that waits for the answer, or NULL */
	dw_usec sent;   /* steady; when the operation was submitted */
	uint64_t batch; /* number of urgent operations submitted with it */
	bool urgent;    /* timers that are about to fire wait for its answer */
	uint8_t late;   /* of a CLAIM: the number of its struct late_batch, or 0 */
	unsigned term;  /* the last term that had begun when it was submitted */
};

static inline struct ticket *ticket_of(dw_op *op)
{
	return (struct ticket *)op;
}

static inline const struct ticket *ticket_of_const(const dw_op *op)
{
	return (const struct ticket *)op;
}

/* op_new makes an operation on id, in a ticket, with a copy of body. If body is NULL, the caller
 * writes the body to op_room(). It returns NULL if there is no memory. */
dw_op *op_new(const struct alloc *, dw_op_kind, const char *id, const void *body, size_t body_size);
unsigned char *op_room(dw_op *);

/* op_is_parked returns true for a long poll. The store answers such an operation when it has
 * news. */
static inline bool op_is_parked(const dw_op *op)
{
	return op->kind == DW_OP_INBOX || op->kind == DW_OP_LOSS;
}

/* op_is_before_end returns true if the deadline is before the end of the SCAN (head.due), or if the
 * SCAN has no end. */
static inline bool op_is_before_end(const dw_op *op, dw_usec due)
{
	return op->head.due == 0 || due < op->head.due;
}

/* op_covers_shard returns true if a SCAN or an AUDIT includes the timers of this shard. */
static inline bool op_covers_shard(const dw_op *op, unsigned shard)
{
	const unsigned char *set = op->body;

	return !(op->flags & DW_OP_SHARDS) ||
	       (shard / 8 < op->body_size && set[shard / 8] & 1u << shard % 8);
}

/* op_looks returns how many timers a SCAN, or letters a DEAD_SCAN, looks at, at most. */
static inline size_t op_looks(const dw_op *op)
{
	return op->limit > DW_SCAN_LOOKS ? op->limit : DW_SCAN_LOOKS;
}

/* op_why returns the text of dw_set_why() of a NEXT or a LETTER, of op->limit bytes, or NULL if
 * there is none. */
static inline const char *op_why(const dw_op *op)
{
	return op->limit > 0 ? (const char *)op->body + op->body_size : NULL;
}

/* op_free frees the operation and what its answer carries. */
void op_free(const struct alloc *, dw_op *);

/* row_new makes a row with copies of id and body. It returns NULL if there is no memory. If body is
 * NULL, the caller writes the body to row_room(). */
dw_row *row_new(const struct alloc *, const char *id, const void *body, size_t body_size);
unsigned char *row_room(dw_row *);

/* The text of dw_set_why(), without a NUL; size 0: nothing. */
struct why {
	const char *text;
	size_t size;
};

/* row_new_told makes a row that also has a copy of the text of dw_set_why(). */
dw_row *row_new_told(const struct alloc *, const char *id, const void *body, size_t body_size,
		     const struct why *);
void rows_free(const struct alloc *, dw_row *);

/* op_add_row adds a row to the answer at *tail, which begins as &op->rows. If row is NULL, because
 * there was no memory, it returns false, and the answer is DW_ENOMEM. */
bool op_add_row(const struct alloc *, dw_op *, dw_row ***tail, dw_row *);

/* A first-in first-out list of operations. A zeroed struct is an empty list. */
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
