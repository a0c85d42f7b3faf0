/* When Redis is back, sends it the rows in the order of their numbers, a page at a time. A row is
 * deleted from the file as soon as Redis has answered it. */
#include "base/usec.h"
#include "port/driven.h"
#include "store/fallback/core.h"

#define PAGE 512u
#define PAUSE DW_MILLISECONDS(100) /* the pause after a failure */

static void pause_replay(struct fallback *fallback)
{
	fallback->replay.at = usec_add(fallback->now, PAUSE);
}

bool replay_work(struct fallback *fallback)
{
	struct replay *replay = &fallback->replay;

	if (fallback->journal.rows.table.count == 0)
		return false;
	if (replay->is_reading || replay->under_way > 0 || replay->awaits_owner ||
	    fallback->now < replay->at)
		return true;
	replay->is_reading = journal_read(&fallback->journal, PAGE, NULL);
	if (!replay->is_reading)
		pause_replay(fallback);
	return true;
}

/* set_aside makes a dead letter of a row that was damaged after the journal was opened. */
static bool set_aside(struct fallback *fallback, struct row *row, const dw_row *stored)
{
	if (!journal_bury(&fallback->journal, stored, row))
		return false;
	tell_timer(fallback, DW_EVENT_CORRUPT, DW_ECORRUPT, row->id,
		   "its row in the journal is damaged: what was asked is lost");
	row->is_leaving = true;
	fallback->replay.under_way++;
	return true;
}

/* note_claim adds to the words what memory knows better than the file: how the claim of the timer
 * stands. The attempt and the retries of a claimed put are in the file's head. The claim is valid
 * if this owner has not lost the ownership. */
static void note_claim(const struct fallback *fallback, const struct row *row, const dw_head *head,
		       struct row_words *words)
{
	unsigned shard = driven_shard_of(fallback->front, row->id);
	bool holds = row->is_claimed && driven_lease(fallback->front, shard) != INT64_MIN;

	words->flags |= row->words.flags & DW_REPLAY_LOCAL;
	if (holds)
		words->flags |= DW_REPLAY_HOLDS;
	if (words->what != DW_OP_PUT || head->attempt == 0)
		return;
	words->attempt = head->attempt;
	words->retries = (uint8_t)(head->retries < UINT8_MAX ? head->retries : UINT8_MAX);
	if (head->state == DW_CLAIMED)
		words->flags |= DW_REPLAY_CLAIMED;
	if (holds)
		words->base = row->generation;
}

/* raise_floor replaces a floor that was a guess, now that the server has reported its time. It
 * never lowers a floor, because the engine knows the timer by this floor. The age of a row of an
 * earlier process is computed from its floor: the floor minus `ahead` was the time on this
 * machine's clock when the row was written. */
static void raise_floor(struct fallback *fallback, const struct row *row, struct row_words *words)
{
	dw_usec now = fallback->env.now(fallback->env.now_user);
	dw_usec wrote = usec_sub((dw_usec)words->floor, fallback->journal.ahead);
	dw_usec age = row->at ? usec_sub(fallback->now, row->at) : usec_sub(now, wrote);
	dw_usec at;
	dw_replay stamp;

	if (!(words->flags & DW_REPLAY_UNSURE))
		return;
	server_stamp(fallback, row->id, &stamp);
	if (stamp.flags & DW_REPLAY_UNSURE)
		return;
	at = usec_sub((dw_usec)stamp.floor, usec_max(age, 0));
	if (at > (dw_usec)words->floor)
		words->floor = (uint64_t)at;
}

/* is_idle returns true for a valid claim of a timer that has not started. */
static bool is_idle(const dw_op *op)
{
	const struct row *row = ticket_of_const(op)->call;

	return op->replay->flags & DW_REPLAY_HOLDS && !row->has_begun;
}

/* send adds the row's operation to the batch. Returns false without memory. */
static bool send(struct fallback *fallback, const dw_row *stored, struct op_queue *batch)
{
	struct row *row = rows_index_find(&fallback->journal.rows, stored->id);
	struct row_words words;
	const void *body;
	size_t size;
	dw_op *op;

	if (!row || row->writes > 0) /* a later page has the row */
		return true;
	if (row_read(stored, &words, &body, &size) != DW_OK)
		return set_aside(fallback, row, stored);
	note_claim(fallback, row, &stored->head, &words);
	raise_floor(fallback, row, &words);
	op = row_replay(&fallback->alloc, stored, &words, body, size);
	if (!op)
		return false;
	ticket_of(op)->call = row;
	row->is_sent = true;
	fallback->replay.under_way++;
	fallback->replay.idle += is_idle(op);
	op_queue_push(batch, op);
	return true;
}

static size_t count_rows(const dw_op *page)
{
	size_t count = page->row_count;

	for (const dw_row *row = page->rows; row; row = row->next)
		count -= row_is_origin(row);
	return count;
}

void replay_read(struct fallback *fallback, dw_op *page)
{
	struct op_queue batch = {0};
	bool sent = page->status == DW_OK;

	fallback->failed = page->status;
	fallback->replay.is_reading = false;
	if (fallback->state == DW_JOURNAL_REPLAYS)
		for (const dw_row *row = page->rows; row && sent; row = row->next)
			sent = send(fallback, row, &batch);
	/* A page has everything that was written before it was read. So rows that are not in it
	 * were never written. */
	if (page->status == DW_OK && count_rows(page) == 0)
		rows_index_clear(&fallback->journal.rows, &fallback->alloc);
	if (batch.count == 0)
		pause_replay(fallback);
	else
		fallback->front->type->submit(fallback->front, batch.first);
	op_free(&fallback->alloc, page);
}

/* ---- Answers ------------------------------------------------------------------------------- */

static const char *words_of(int status)
{
	switch (status) {
	case DW_EEXIST:
		return "a later put has replaced it: what the journal had is dropped";
	case DW_ENOENT:
		return "Redis had no such timer any more";
	case DW_ELATE:
		return "another process has claimed it: it may start there";
	case DW_ENEWER:
		return "it is of a newer durawheel, and left alone";
	default:
		return "its timer in Redis is damaged";
	}
}

/* is_worth_telling returns true if the program must learn that the replay changed nothing. It need
 * not learn that a settled timer is gone or was replaced, or that Redis never had a cancelled
 * timer. */
static bool is_worth_telling(const dw_op *op, const struct row *row)
{
	bool is_gone = op->status == DW_ENOENT;

	if (op->status == DW_OK)
		return false;
	if (op->replay->what == DW_OP_SETTLE)
		return !is_gone && op->status != DW_EEXIST;
	return !(op->replay->what == DW_OP_CANCEL && is_gone && row->words.flags & ROW_ABSENT);
}

static bool is_done(int status)
{
	switch (status) {
	case DW_OK:
	case DW_EEXIST:
	case DW_ENOENT:
	case DW_ELATE:
	case DW_ECORRUPT:
	case DW_ENEWER:
		return true;
	default:
		return false;
	}
}

void replay_answered(struct fallback *fallback, dw_op *op)
{
	struct row *row = ticket_of(op)->call;
	bool deleting;

	fallback->replay.idle -= is_idle(op);
	if (is_idle(op) && is_done(op->status) && op->status != DW_OK)
		fallback->replay.has_void = true;
	deleting = is_done(op->status) && journal_delete(&fallback->journal, row, row);

	if (deleting) {
		row->is_leaving = true;
		fallback->replay.count++;
		if (is_worth_telling(op, row))
			tell_timer(fallback, DW_EVENT_REPLAYED, op->status, op->id,
				   words_of(op->status));
	} else {
		fallback->replay.under_way--;
		pause_replay(fallback);
	}
	op_free(&fallback->alloc, op);
}

void replay_deleted(struct fallback *fallback, dw_op *deletion)
{
	struct row *row = ticket_of(deletion)->call;
	bool gone = deletion->status == DW_OK || deletion->status == DW_ENOENT;

	row->is_leaving = false;
	fallback->replay.under_way--;
	if (gone) {
		rows_index_remove(&fallback->journal.rows, &fallback->alloc, row);
	} else {
		op_queue_append(&fallback->ready, op_queue_take(&row->behind));
		fallback->failed = deletion->status;
		pause_replay(fallback);
	}
	op_free(&fallback->alloc, deletion);
}

/* ---- The inbox ----------------------------------------------------------------------------- */

void replay_leave_out(struct fallback *fallback, dw_op *inbox)
{
	dw_row **at = &inbox->rows;

	while (*at) {
		dw_row *row = *at;

		if (!rows_index_find(&fallback->journal.rows, row->id)) {
			at = &row->next;
			continue;
		}
		*at = row->next;
		row->next = NULL;
		rows_free(&fallback->alloc, row);
		inbox->row_count--;
		fallback->replay.rereads = true;
	}
}
