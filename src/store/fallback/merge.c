#include "store/fallback/merge.h"

bool merge_takes(const dw_op *op)
{
	switch (op->kind) {
	case DW_OP_PUT: /* nobody can know whether the id is free */
		return !(op->flags & (DW_OP_NEW | DW_OP_AGAIN));
	case DW_OP_CANCEL:
	case DW_OP_MOVE:
	case DW_OP_SETTLE:
	case DW_OP_RETRY:
		return true;
	default:
		return false;
	}
}

/* inherited: what a row keeps of the one before it. The base is that of the first one, because
 * Redis has seen none of them. An earlier row that ended a claim of this owner ends it for good. */
static struct row_words inherited(const dw_op *op, const struct row *row, const dw_replay *stamp)
{
	struct row_words words = {.what = op->kind,
				  .flags = op->flags & (ROW_WITHDRAWN | ROW_COUNTS),
				  .attempt = op->head.attempt,
				  .base = op->head.generation,
				  .floor = stamp->floor,
				  .fence = stamp->fence};

	if (!row)
		return words;
	words.base = row->words.base;
	words.flags |= row->words.flags & (ROW_ABSENT | ROW_WITHDRAWN);
	if (row->words.fence > words.fence)
		words.fence = row->words.fence;
	return words;
}

static struct merge refuse(int status)
{
	return (struct merge){.effect = MERGE_REFUSE, .status = status};
}

static bool is_ended(const struct row *row)
{
	return row && (row->words.what == DW_OP_CANCEL || row->words.what == DW_OP_SETTLE);
}

/* is_here_only: Redis never had the id. */
static bool is_here_only(const struct row *row)
{
	return row && row->words.flags & ROW_ABSENT && !row->is_sent;
}

static struct merge merge_put(const dw_op *op, struct merge merge, const struct row *row)
{
	merge.words.attempt = 0;
	if (!row && op->flags & DW_OP_ABSENT)
		merge.words.flags |= ROW_ABSENT;
	return merge;
}

static struct merge merge_cancel(struct merge merge, const struct row *row)
{
	if (is_here_only(row))
		merge.effect = MERGE_DELETE;
	else
		merge.status = DW_EUNKNOWN; /* the timer may start elsewhere */
	merge.words.flags &= ~ROW_ABSENT;
	return merge;
}

static struct merge merge_move(struct merge merge, const struct row *row)
{
	if (is_ended(row))
		return refuse(DW_ENOENT);
	if (row && row->words.what == DW_OP_PUT) {
		merge.effect = MERGE_MOVE;
		merge.words = row->words;
	} else {
		merge.status = DW_EUNKNOWN;
	}
	return merge;
}

/* merge_delivery: a verdict on a delivery of the timer that Redis has. It may come twice. */
static struct merge merge_delivery(const dw_op *op, struct merge merge, const struct row *row)
{
	if (row && row->words.what != op->kind)
		return refuse(DW_ESTALE);
	merge.words.flags |= ROW_WITHDRAWN;
	return merge;
}

struct merge merge_op(const dw_op *op, const struct row *row, const dw_replay *stamp)
{
	struct merge merge = {
	    .effect = MERGE_WRITE, .status = DW_OK, .words = inherited(op, row, stamp)};

	switch (op->kind) {
	case DW_OP_PUT:
		return merge_put(op, merge, row);
	case DW_OP_CANCEL:
		return merge_cancel(merge, row);
	case DW_OP_MOVE:
		return merge_move(merge, row);
	default:
		return merge_delivery(op, merge, row);
	}
}
