/* Redis is away: operations go into the journal. */
#include "store/fallback/core.h"

/* One operation that is being written into the file. */
struct writing {
	struct row *row;
	dw_op *op; /* the engine's operation */
	struct row_words before;
	uint64_t generation;
	bool is_new;
	size_t bytes;
	int status; /* the status with which the operation will be answered */
	enum merge_effect effect;
};

/* body_size returns the size of the row's body. Only a put has a body in its row: the body of a
 * claim is not kept. */
static size_t body_size(const dw_op *op)
{
	return op->kind == DW_OP_PUT ? op->body_size : 0;
}

static bool is_full(const struct fallback *fallback, const dw_op *op)
{
	return op->kind == DW_OP_PUT &&
	       fallback->journal.rows.bytes + op->body_size + ROW_BYTES > JOURNAL_BYTES_MAX;
}

/* is_vital returns true if the operation may use the disk space that is kept back. */
static bool is_vital(const dw_op *op)
{
	return op->kind != DW_OP_PUT && op->kind != DW_OP_CLAIM;
}

static bool begin(struct fallback *fallback, struct writing *writing, const struct merge *merge)
{
	struct journal *journal = &fallback->journal;
	struct row *row = writing->row;
	const dw_op *op = writing->op;

	row->words = merge->words;
	if (merge->effect == MERGE_PASS)
		return journal_pass(journal, row, op, writing);
	row->words.session = journal->session;
	return journal_write(journal,
			     &(struct row_write){.id = row->id,
						 .words = &row->words,
						 .due = op->head.due,
						 .body = op->body,
						 .body_size = body_size(op),
						 .is_vital = is_vital(op)},
			     writing);
}

/* undo sets the row in memory back to what the file has. */
static void undo(struct fallback *fallback, struct writing *writing)
{
	writing->row->writes--;
	writing->row->words = writing->before;
	writing->row->generation = writing->generation;
	if (writing->is_new)
		rows_index_remove(&fallback->journal.rows, &fallback->alloc, writing->row);
	alloc_free(&fallback->alloc, writing);
}

static struct writing *prepare(struct fallback *fallback, struct row *row, dw_op *op,
			       const struct merge *merge)
{
	struct writing *writing = alloc_new(&fallback->alloc, sizeof *writing);

	if (!writing)
		return NULL;
	writing->is_new = !row;
	writing->row =
	    row ? row : rows_index_add(&fallback->journal.rows, &fallback->alloc, op->id);
	if (!writing->row) {
		alloc_free(&fallback->alloc, writing);
		return NULL;
	}
	writing->row->writes++;
	writing->row->at = fallback->now;
	writing->op = op;
	writing->effect = merge->effect;
	writing->status = merge->status;
	writing->before = writing->row->words;
	writing->generation = writing->row->generation;
	writing->bytes = body_size(op) + ROW_BYTES;
	return writing;
}

void away_take(struct fallback *fallback, dw_op *op)
{
	struct row *row = rows_index_find(&fallback->journal.rows, op->id);
	struct writing *writing;
	struct merge merge;
	dw_replay stamp;

	if (row && row->is_leaving) {
		op_queue_push(&row->behind, op);
		return;
	}
	server_stamp(fallback, op->id, &stamp);
	merge = merge_op(op, row, &stamp);
	op->level = DW_NOTHING;
	if (merge.effect == MERGE_REFUSE || is_full(fallback, op)) {
		fallback_answer(fallback, op,
				merge.effect == MERGE_REFUSE ? merge.status : (int)DW_EFULL);
		return;
	}
	writing = prepare(fallback, row, op, &merge);
	if (!writing) {
		fallback_answer(fallback, op, DW_ENOMEM);
		return;
	}
	/* This generation is at least as high as every generation in Redis. It is at most as high
	 * as the generation that the replay will get. */
	if (op->kind == DW_OP_PUT || op->kind == DW_OP_MOVE)
		writing->row->generation = stamp.floor;
	if (!begin(fallback, writing, &merge)) {
		undo(fallback, writing);
		fallback_answer(fallback, op, DW_ENOMEM);
	}
}

/* ---- Written ------------------------------------------------------------------------------- */

static void note_failure(struct fallback *fallback, int status)
{
	fallback->failed = status == DW_ENOMEM ? fallback->failed : status;
}

static void note_row(struct fallback *fallback, const struct writing *writing)
{
	struct journal *journal = &fallback->journal;
	struct row *row = writing->row;

	row->is_claimed = writing->op->kind == DW_OP_CLAIM;
	row->has_begun = false;
	row->claims = (uint8_t)(row->claims + row->is_claimed);
	if (writing->effect == MERGE_WRITE) {
		journal->rows.bytes += writing->bytes - row->bytes;
		row->bytes = writing->bytes;
	}
	if (journal->oldest == 0)
		journal->oldest = fallback->env.now(fallback->env.now_user);
}

/* set_head fills in the answer with what the engine then knows of the timer. */
static void set_head(dw_op *op, const struct row *row)
{
	if (op->kind == DW_OP_CLAIM) {
		op->head.attempt = row->words.attempt;
		op->head.state = DW_CLAIMED;
	}
	if (op->kind != DW_OP_PUT && op->kind != DW_OP_MOVE)
		return;
	op->head = (dw_head){.generation = row->generation,
			     .due = op->head.due,
			     .attempt = op->kind == DW_OP_MOVE ? op->head.attempt : 0,
			     .state = DW_PENDING};
}

void away_written(struct fallback *fallback, dw_op *write)
{
	struct writing *writing = ticket_of(write)->call;
	dw_op *op = writing->op;
	int status = write->status;

	if (status == DW_OK)
		writing->row->number = write->head.generation;
	op_free(&fallback->alloc, write);
	op->level = DW_NOTHING;
	if (status == DW_EUNKNOWN) { /* the replay finds out whether the row was written */
		writing->row->writes--;
		note_failure(fallback, status);
		fallback_answer(fallback, op, status);
		alloc_free(&fallback->alloc, writing);
		return;
	}
	if (status != DW_OK) {
		note_failure(fallback, status);
		undo(fallback, writing);
		fallback_answer(fallback, op, status == DW_EFULL ? DW_EFULL : DW_ESTORE);
		return;
	}
	op->level = DW_JOURNALED;
	fallback->failed = DW_OK;
	set_head(op, writing->row);
	writing->row->writes--;
	note_row(fallback, writing);
	fallback_answer(fallback, op, writing->status);
	alloc_free(&fallback->alloc, writing);
}
