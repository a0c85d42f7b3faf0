#include "store/fallback/merge.h"

#include <string.h>

bool merge_takes(const dw_op *op, bool fires)
{
	if (op->id && strcmp(op->id, ORIGIN_ID) == 0)
		return false;
	switch (op->kind) {
	case DW_OP_PUT: /* nobody can know whether the id is in use in Redis */
		return !(op->flags & (DW_OP_NEW | DW_OP_AGAIN | DW_OP_EXACT));
	case DW_OP_CANCEL: /* nobody can know which generation the timer has */
		return !(op->flags & DW_OP_EXACT);
	case DW_OP_MOVE:
	case DW_OP_SETTLE:
	case DW_OP_RETRY:
		return true;
	case DW_OP_CLAIM:
		return fires;
	default:
		return false;
	}
}

/* inherited returns what a new row takes over from the row before it. The base is that of the id's
 * first row, because Redis has seen none of the rows. If an earlier row ended a claim of this
 * owner, the claim stays ended. */
static struct row_words inherited(const dw_op *op, const struct row *row, const dw_replay *stamp)
{
	struct row_words words = {.what = op->kind,
				  .attempt = op->head.attempt,
				  .base = op->head.generation,
				  .floor = stamp->floor,
				  .fence = stamp->fence,
				  .flags = stamp->flags & DW_REPLAY_UNSURE};

	if (op->flags & DW_OP_WITHDRAWN)
		words.flags |= DW_REPLAY_WITHDRAWN;
	if (!row)
		return words;
	words.base = row->words.base;
	words.flags |= row->words.flags & (ROW_ABSENT | DW_REPLAY_WITHDRAWN | DW_REPLAY_LOCAL);
	if (row->words.attempt > words.attempt)
		words.attempt = row->words.attempt;
	if (row->words.fence > words.fence)
		words.fence = row->words.fence;
	return words;
}

static struct merge refuse(int status)
{
	return (struct merge){.effect = MERGE_REFUSE, .status = status};
}

static bool is_put(const struct row *row)
{
	return row && row->words.what == DW_OP_PUT;
}

static bool is_ended(const struct row *row)
{
	return row && (row->words.what == DW_OP_CANCEL || row->words.what == DW_OP_SETTLE);
}

/* is_here_only returns true if, as far as this owner knew, Redis had no timer of the id. A client
 * may have put one since. So an operation that ends the timer stays a row, which also ends the
 * client's timer. */
static bool is_here_only(const struct row *row)
{
	return row && row->words.flags & ROW_ABSENT && !row->is_sent;
}

/* pass keeps the row, which is a put. The file does the operation on the row. */
static struct merge pass(struct merge merge, const struct row *row)
{
	merge.effect = MERGE_PASS;
	merge.words = row->words;
	return merge;
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
		return merge;
	merge.status = DW_EUNKNOWN; /* the timer may start in another process */
	merge.words.flags &= ~ROW_ABSENT;
	return merge;
}

/* merge_move moves a timer that has a row. If Redis may already have the put of the row, the timer
 * may have started there and be gone. Another put would start it twice. */
static struct merge merge_move(struct merge merge, const struct row *row)
{
	if (is_ended(row))
		return refuse(DW_ENOENT);
	if (is_put(row) && row->is_sent)
		return refuse(DW_ESTORE);
	if (is_put(row))
		return pass(merge, row);
	merge.status = DW_EUNKNOWN;
	return merge;
}

/* merge_claim claims a timer. A timer whose row Redis may already have does not start here, because
 * Redis could have given it another generation. */
static struct merge merge_claim(const dw_op *op, struct merge merge, const struct row *row,
				const dw_replay *stamp)
{
	bool is_first = !row || row->claims == 0;

	if (!is_put(row) && op->flags & DW_OP_PROVISIONAL)
		return refuse(DW_ESTORE);
	if (row && (row->is_sent || row->claims >= CLAIMS_MAX || row->words.what == DW_OP_MOVE))
		return refuse(DW_ESTORE);
	if (is_ended(row) || (is_put(row) && op->head.generation != row->generation))
		return refuse(DW_ESTALE);
	if (is_put(row))
		merge = pass(merge, row);
	else if (row)
		merge.words.retries = row->words.retries;
	merge.words.attempt = op->head.attempt + 1;
	if (is_first && op->head.generation <= stamp->jump)
		merge.words.attempt = op->head.attempt + stamp->step;
	return merge;
}

/* merge_delivery_of_put takes a verdict on a timer that Redis does not have. An older timer that
 * the put has replaced must still be deleted in Redis. */
static struct merge merge_delivery_of_put(const dw_op *op, struct merge merge,
					  const struct row *row)
{
	if (!row->is_claimed || op->head.generation != row->generation ||
	    op->head.attempt != row->words.attempt)
		return refuse(DW_ESTALE);
	if (op->kind == DW_OP_RETRY)
		return pass(merge, row);
	merge.words.what = DW_OP_CANCEL;
	merge.words.floor = row->generation; /* a timer that a client puts later stays */
	merge.words.flags &= ~DW_REPLAY_UNSURE;
	merge.words.flags |= row->words.flags & DW_REPLAY_UNSURE;
	if (!is_here_only(row))
		merge.words.flags &= ~ROW_ABSENT;
	return merge;
}

/* merge_delivery takes a verdict on a delivery of a timer that Redis has. The verdict may arrive
 * twice. */
static struct merge merge_delivery(const dw_op *op, struct merge merge, const struct row *row)
{
	bool again = row && row->words.what == op->kind;
	bool counts = op->kind == DW_OP_RETRY && op->flags & DW_OP_VERDICT && !again;

	if (is_put(row))
		return merge_delivery_of_put(op, merge, row);
	if (row && !again && row->words.what != DW_OP_CLAIM)
		return refuse(DW_ESTALE);
	merge.words.attempt = op->head.attempt;
	merge.words.retries = (uint8_t)((row ? row->words.retries : 0) + counts);
	merge.words.flags |= DW_REPLAY_WITHDRAWN;
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
	case DW_OP_CLAIM:
		return merge_claim(op, merge, row, stamp);
	default:
		return merge_delivery(op, merge, row);
	}
}
