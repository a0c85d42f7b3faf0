/* The functions that the engine calls: where an operation goes, and when Redis counts as away. */
#include "store/fallback/core.h"

#include <poll.h>
#include <stdio.h>

#include "base/usec.h"
#include "port/driven.h"

/* While Redis is away, an operation whose outcome is not known is answered after DOUBT_PATIENCE. */
#define DOUBT_PATIENCE DW_MILLISECONDS(1200)
#define PATIENCE DW_SECONDS(5)
#define WINDOW 4096u

static struct fallback *fallback_of(dw_store *store)
{
	return (struct fallback *)store;
}

static dw_usec steady(const struct fallback *fallback)
{
	return fallback->env.steady(fallback->env.steady_user);
}

/* ---- Which way ----------------------------------------------------------------------------- */

/* waits returns true if the operation must not be done before Redis has all rows. If it were done
 * earlier, it would read an older state than the rows describe. */
static bool waits(const dw_op *op)
{
	switch (op->kind) {
	case DW_OP_AUDIT:
		return true;
	case DW_OP_SCAN:
		return op->asked == 0;
	default:
		return false;
	}
}

/* waits_away returns true if the operation must wait until Redis is back. An INBOX is useless
 * before, and only Redis knows whether an earlier attempt of a PUT was done. */
static bool waits_away(const dw_op *op)
{
	return op->kind == DW_OP_INBOX || (op->kind == DW_OP_PUT && op->flags & DW_OP_AGAIN);
}

/* is_lasting returns true if the operation waits for the server even during an outage. No caller
 * waits for its answer. */
static bool is_lasting(const dw_op *op)
{
	return op->kind == DW_OP_LOSS || op->kind == DW_OP_REPUSH || op->kind == DW_OP_DISOWN;
}

/* fires returns true if this owner starts the timer of the operation while Redis is away, within
 * the lease of its shard. */
static bool fires(const struct fallback *fallback, const dw_op *op)
{
	unsigned shard;

	if (!fallback->env.fires || !op->id)
		return false;
	shard = driven_shard_of(fallback->front, op->id);
	return fallback->now < driven_lease(fallback->front, shard);
}

static void take_away(struct fallback *fallback, dw_op *op)
{
	if (merge_takes(op, fires(fallback, op)))
		away_take(fallback, op);
	else if (waits_away(op))
		op_queue_push(&fallback->held, op);
	else if (is_lasting(op))
		op_queue_push(&fallback->to_front, op);
	else
		fallback_answer(fallback, op, DW_ESTORE);
}

static void take_back(struct fallback *fallback, dw_op *op)
{
	struct row *row = op->id ? rows_index_find(&fallback->journal.rows, op->id) : NULL;

	if (waits(op))
		op_queue_push(&fallback->held, op);
	else if (row && !is_lasting(op))
		op_queue_push(&row->behind, op);
	else
		op_queue_push(&fallback->to_front, op);
}

static void lose_claim(struct row *row, void *user)
{
	(void)user;
	row->is_claimed = false;
}

static void take(struct fallback *fallback, dw_op *op)
{
	op->status = DW_OK;
	op->level = DW_STORED;
	op->next = NULL;
	/* an OWN is sent without the ownership, so no claim is valid any more */
	if (op->kind == DW_OP_OWN) {
		fallback->replay.has_void = false;
		rows_index_each(&fallback->journal.rows, lose_claim, NULL);
	}
	if (fallback->stopped)
		fallback_answer(fallback, op, DW_ECLOSED);
	else if (fallback->state == DW_JOURNAL_TAKES)
		take_away(fallback, op);
	else if (fallback->state == DW_JOURNAL_REPLAYS)
		take_back(fallback, op);
	else
		op_queue_push(&fallback->to_front, op);
}

static void take_all(struct fallback *fallback, dw_op *list)
{
	while (list) {
		dw_op *next = list->next;

		take(fallback, list);
		list = next;
	}
	if (fallback->to_front.first)
		fallback->front->type->submit(fallback->front, op_queue_take(&fallback->to_front));
}

/* is_through returns true if Redis gets all operations, and the engine gets its answers. */
static bool is_through(const struct fallback *fallback)
{
	return fallback->state == DW_JOURNAL_READY && !fallback->replay.awaits_owner &&
	       !fallback->replay.has_void && !fallback->stopped;
}

static void fallback_submit(dw_store *base, dw_op *batch)
{
	struct fallback *fallback = fallback_of(base);

	if (is_through(fallback)) {
		fallback->front->type->submit(fallback->front, batch);
		return;
	}
	fallback->now = steady(fallback);
	take_all(fallback, batch);
	if (fallback->answers.first)
		fallback->env.wake(fallback->env.wake_user);
}

/* ---- Answers ------------------------------------------------------------------------------- */

static void front_answered(struct fallback *fallback, dw_op *op)
{
	bool recalled = op->status == DW_ESTORE && fallback->state == DW_JOURNAL_TAKES;

	if (op->kind == DW_OP_OWN && !recalled)
		fallback->replay.awaits_owner = false;
	if (op->kind == DW_OP_INBOX && op->status == DW_OK) {
		replay_leave_out(fallback, op);
		if (op->flags & DW_OP_AGAIN && fallback->state == DW_JOURNAL_READY)
			fallback->replay.has_void = false;
	}
	if (op->kind == DW_OP_REPLAY)
		replay_answered(fallback, op);
	else if (recalled && (merge_takes(op, fires(fallback, op)) || waits_away(op)))
		take_away(fallback, op);
	else
		op_queue_push(&fallback->answers, op);
}

static void file_answered(struct fallback *fallback, dw_op *op)
{
	struct row *row = op->id ? rows_index_find(&fallback->journal.rows, op->id) : NULL;

	if (ticket_of(op)->call == &fallback->journal)
		journal_noted(&fallback->journal, op);
	else if (op->kind == DW_OP_SCAN)
		replay_read(fallback, op);
	else if (row && row->is_leaving)
		replay_deleted(fallback, op);
	else
		away_written(fallback, op);
}

static void each_answer(struct fallback *fallback, dw_op *op,
			void (*answered)(struct fallback *, dw_op *))
{
	while (op) {
		dw_op *next = op->next;

		op->next = NULL;
		answered(fallback, op);
		op = next;
	}
}

static void take_answers(struct fallback *fallback)
{
	each_answer(fallback, fallback->front->type->collect(fallback->front), front_answered);
	each_answer(fallback, journal_collect(&fallback->journal), file_answered);
}

static dw_op *fallback_collect(dw_store *base)
{
	struct fallback *fallback = fallback_of(base);

	if (is_through(fallback) && !fallback->answers.first)
		return fallback->front->type->collect(fallback->front);
	return op_queue_take(&fallback->answers);
}

/* ---- States -------------------------------------------------------------------------------- */

static void recall(struct fallback *fallback)
{
	fallback->front->type->recall(fallback->front, DOUBT_PATIENCE);
	take_answers(fallback);
}

/* take_from_row moves the operations that wait for the replay of a row into the journal. */
static void take_from_row(struct row *row, void *user)
{
	struct fallback *fallback = user;

	op_queue_append(&fallback->ready, op_queue_take(&row->behind));
}

/* go_away: Redis is away now. Waiting operations go into the journal, or are answered. */
static void go_away(struct fallback *fallback, const char *why)
{
	struct op_queue held = fallback->held;
	char words[DW_MESSAGE_SIZE + 64];

	fallback->state = DW_JOURNAL_TAKES;
	server_note(fallback, true);
	if (!fallback->is_told) {
		(void)snprintf(words, sizeof words,
			       "Redis is away, and the journal takes what is asked: %s",
			       why); /* long words are cut */
		tell_all(fallback, DW_EVENT_OUTAGE, DW_ESTORE, 0, words);
		fallback->replay.count = 0;
	}
	fallback->is_told = true;
	fallback->held = (struct op_queue){0};
	op_queue_append(&fallback->ready, op_queue_take(&held));
	rows_index_each(&fallback->journal.rows, take_from_row, fallback);
}

void fallback_come_back(struct fallback *fallback)
{
	fallback->state = DW_JOURNAL_REPLAYS;
	fallback->replay.at = 0;
	op_queue_append(&fallback->ready, op_queue_take(&fallback->held));
}

/* be_ready is called when Redis has all rows. */
static void be_ready(struct fallback *fallback)
{
	char words[DW_MESSAGE_SIZE];

	fallback->state = DW_JOURNAL_READY;
	fallback->journal.oldest = 0;
	if (fallback->is_told || fallback->replay.count > 0) {
		(void)snprintf(words, sizeof words, "Redis has what the journal took: %llu timers",
			       (unsigned long long)fallback->replay.count);
		tell_all(fallback, DW_EVENT_REPLAYED, DW_OK, fallback->replay.count, words);
	}
	fallback->is_told = false;
	fallback->replay.count = 0;
	if (fallback->replay.rereads || fallback->replay.has_void)
		fallback->front->type->reread(fallback->front);
	fallback->replay.rereads = false;
	op_queue_append(&fallback->ready, op_queue_take(&fallback->held));
}

static void watch(struct fallback *fallback, int trouble, const char *words)
{
	if (trouble != DW_OK && trouble != DW_EUNKNOWN && fallback->state != DW_JOURNAL_TAKES)
		go_away(fallback, words);
	else if (trouble == DW_OK && fallback->state == DW_JOURNAL_TAKES)
		fallback_come_back(fallback);
	if (fallback->state == DW_JOURNAL_TAKES)
		recall(fallback);
	if (fallback->state == DW_JOURNAL_REPLAYS && !replay_work(fallback))
		be_ready(fallback);
}

static void work(struct fallback *fallback)
{
	char words[DW_MESSAGE_SIZE];
	int trouble;

	words[0] = '\0';
	driven_turn(fallback->front, fallback->now);
	trouble = driven_trouble(fallback->front, words, sizeof words);
	if (fallback->state == DW_JOURNAL_READY && trouble == DW_OK)
		server_note(fallback, false);
	if (is_through(fallback) && trouble == DW_OK && !fallback->ready.first &&
	    !fallback->journal.is_noting)
		return;
	take_answers(fallback);
	watch(fallback, trouble, words);
	op_queue_append(&fallback->ready, op_queue_take(&fallback->journal.rows.behind));
	take_all(fallback, op_queue_take(&fallback->ready));
}

static void fallback_turn(dw_store *base, dw_usec now)
{
	struct fallback *fallback = fallback_of(base);

	fallback->now = now;
	work(fallback);
}

/* ---- What the engine asks ------------------------------------------------------------------ */

static dw_usec fallback_due(const dw_store *base)
{
	const struct fallback *fallback = (const struct fallback *)base;
	dw_usec at = driven_due(fallback->front);

	if (fallback->answers.first || fallback->ready.first)
		return fallback->now;
	if (fallback->state == DW_JOURNAL_REPLAYS && fallback->replay.at > fallback->now)
		at = usec_min(at, fallback->replay.at);
	/* Callers whose operations are in doubt must be answered in time, so look often. */
	if (fallback->state == DW_JOURNAL_TAKES)
		at = usec_min(at, usec_add(fallback->now, DW_MILLISECONDS(50)));
	return at;
}

/* fallback_lease returns until when timers of the shard may start. No timer starts while it is
 * unknown whether a claim in the journal is valid. */
static dw_usec fallback_lease(const dw_store *base, unsigned shard)
{
	const struct fallback *fallback = (const struct fallback *)base;
	dw_usec lease = driven_lease(fallback->front, shard);
	bool is_open = fallback->replay.idle > 0 || fallback->replay.has_void;

	return is_open ? usec_min(lease, steady(fallback)) : lease;
}

/* fallback_trouble returns what fails at the moment. The outage was reported as one event, so
 * failures during it are not reported, unless the journal fails, too. */
static int fallback_trouble(const dw_store *base, char *ret_words, size_t size)
{
	const struct fallback *fallback = (const struct fallback *)base;

	if (fallback->state == DW_JOURNAL_READY)
		return driven_trouble(fallback->front, ret_words, size);
	if (fallback->failed == DW_OK)
		return DW_EUNKNOWN;
	(void)snprintf(ret_words, size, "Redis is away, and the journal %s fails: %s",
		       /* A long path is cut. */
		       fallback->journal.path, dw_strerror(fallback->failed));
	return fallback->failed;
}

static void fallback_began(dw_store *base, const char *id)
{
	struct fallback *fallback = fallback_of(base);
	struct row *row = fallback->journal.rows.table.count > 0
			      ? rows_index_find(&fallback->journal.rows, id)
			      : NULL;

	if (!row)
		return;
	row->has_begun = true;
	row->words.flags |= DW_REPLAY_LOCAL;
}

static int fallback_take_event(dw_store *base, dw_store_event *ret_event)
{
	struct fallback *fallback = fallback_of(base);

	return tell_take(fallback, ret_event) || driven_take_event(fallback->front, ret_event);
}

static void fallback_journal(const dw_store *base, dw_journal_stats *ret_stats)
{
	const struct fallback *fallback = (const struct fallback *)base;
	const struct journal *journal = &fallback->journal;

	*ret_stats = (dw_journal_stats){.state = fallback->state,
					.rows = journal->rows.table.count,
					.bytes = journal->rows.bytes,
					.oldest = journal->rows.table.count ? journal->oldest : 0};
}

/* ---- The end ------------------------------------------------------------------------------- */

/* finish_replay replays for a little longer when the store closes, so that no row stays in the file
 * that could be replayed now. */
static void finish_replay(struct fallback *fallback, dw_usec until)
{
	struct pollfd readable = {.fd = driven_descriptor(fallback->front), .events = POLLIN};

	while (fallback->state == DW_JOURNAL_REPLAYS && !fallback->replay.awaits_owner &&
	       fallback->now < until) {
		/* The file has no descriptor for its answers, so sleep briefly. */
		(void)poll(&readable, 1, 1);
		fallback->now = steady(fallback);
		work(fallback);
	}
}

static void close_behind(struct row *row, void *user)
{
	struct fallback *fallback = user;
	dw_op *op;

	while ((op = op_queue_pop(&row->behind)))
		fallback_answer(fallback, op, DW_ECLOSED);
}

static void close_all(struct fallback *fallback, struct op_queue *queue)
{
	dw_op *op;

	while ((op = op_queue_pop(queue)))
		fallback_answer(fallback, op, DW_ECLOSED);
}

static int fallback_stop(dw_store *base, dw_usec patience)
{
	struct fallback *fallback = fallback_of(base);
	dw_usec until;
	int status, file;

	fallback->now = steady(fallback);
	until = usec_add(fallback->now, patience);
	finish_replay(fallback, usec_add(fallback->now, patience / 2));
	if (fallback->state == DW_JOURNAL_READY)
		server_note(fallback, true);
	fallback->stopped = true;
	status = fallback->front->type->stop(fallback->front,
					     usec_max(usec_sub(until, steady(fallback)), 0));
	take_answers(fallback);
	file = journal_stop(&fallback->journal, usec_max(usec_sub(until, steady(fallback)), 0));
	take_answers(fallback);
	rows_index_each(&fallback->journal.rows, close_behind, fallback);
	close_all(fallback, &fallback->journal.rows.behind);
	close_all(fallback, &fallback->held);
	close_all(fallback, &fallback->ready);
	tell_rows_left(fallback);
	return status == DW_OK ? file : status;
}

static void fallback_free(dw_store *base)
{
	struct fallback *fallback = fallback_of(base);
	struct alloc alloc = fallback->alloc;
	dw_op *op;

	fallback->front->type->free(fallback->front);
	journal_free(&fallback->journal);
	while ((op = op_queue_pop(&fallback->answers)))
		op_free(&alloc, op);
	tell_free(fallback);
	alloc_free(&alloc, fallback);
}

const dw_store_class fallback_class = {.size = sizeof fallback_class,
				       .name = "redis with a journal",
				       .submit = fallback_submit,
				       .collect = fallback_collect,
				       .stop = fallback_stop,
				       .free = fallback_free,
				       .descriptor = front_descriptor,
				       .turn = fallback_turn,
				       .due = fallback_due,
				       .lease = fallback_lease,
				       .is_lost = front_is_lost,
				       .window = WINDOW,
				       .trouble = fallback_trouble,
				       .patience = PATIENCE,
				       .shards = front_shards,
				       .shard_of = front_shard_of,
				       .take_shard = front_take_shard,
				       .began = fallback_began,
				       .take_event = fallback_take_event,
				       .journal = fallback_journal,
				       .keeps_topics = 1,
				       .take_call = front_take_call,
				       .is_whole = front_is_whole,
				       .replicas = front_replicas,
				       .node = front_node};
