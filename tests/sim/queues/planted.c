/* The planted bugs of the queues. They are between the engines and the table. */
#include "sim/queues/queues.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "topic/message.h"

/* set_for applies the operation while a setting of its topic is another one. */
static bool set_for(struct queues *all, dw_op *op, const struct table_caller *caller,
		    const char *text, const char *before)
{
	dw_op set = {.kind = DW_OP_TOPIC_SET,
		     .flags = DW_OP_PART,
		     .topic = op->topic,
		     .body = text,
		     .body_size = strlen(text)};
	struct table_caller owner = {.role = DW_OWNER, .now = caller->now};
	bool told;

	(void)table_apply(all->table, &set, &owner);
	told = table_apply(all->table, op, caller);
	set.body = before;
	set.body_size = strlen(before);
	set.status = DW_OK;
	(void)table_apply(all->table, &set, &owner);
	return told;
}

static const struct judged_queue *judged(const struct queues *all, const dw_op *op)
{
	return &all->judge.queues[strcmp(op->topic, judge_topic(1)) == 0];
}

static bool bound_late(struct queues *all, dw_op *op, const struct table_caller *caller)
{
	uint32_t max = judged(all, op)->settings.max;
	char more[24], before[24];

	(void)snprintf(more, sizeof more, "max=%" PRIu32, max + 1);
	(void)snprintf(before, sizeof before, "max=%" PRIu32, max);
	return set_for(all, op, caller, more, before);
}

static bool pause_ignored(struct queues *all, dw_op *op, const struct table_caller *caller)
{
	char before[24];

	(void)snprintf(before, sizeof before, "paused=%u", judged(all, op)->settings.paused);
	return set_for(all, op, caller, "paused=0", before);
}

/* take_and_delete: what is taken is not kept for its answer. */
static bool take_and_delete(struct queues *all, dw_op *op, const struct table_caller *caller)
{
	struct alloc alloc = memory_alloc(&all->sim->table_account);

	(void)table_apply(all->table, op, caller);
	for (const dw_row *row = op->rows; row; row = row->next) {
		dw_op answer = {.kind = DW_OP_ANSWER,
				.topic = op->topic,
				.body = row->token,
				.body_size = strlen(row->token) + 1,
				.limit = 1,
				.verdict = DW_DONE};

		(void)table_apply(all->table, &answer, caller);
		rows_free(&alloc, answer.rows);
	}
	return true;
}

/* answer_any: an answer counts for whatever delivery its message has now. */
static bool answer_any(struct queues *all, dw_op *op, const struct table_caller *caller)
{
	char tokens[MESSAGE_TOKEN_SIZE];
	const void *body = op->body;
	uint64_t number, delivery;
	size_t size = op->body_size;

	if (op->limit == 1 && token_numbers(op->body, &number, &delivery)) {
		const struct entry *entry = &judged(all, op)->entries[number - 1];

		op->body = tokens;
		op->body_size = 1u + (size_t)snprintf(tokens, sizeof tokens, "%" PRIu64 "/%" PRIu64,
						      number, entry->delivery);
	}
	(void)table_apply(all->table, op, caller);
	op->body = body;
	op->body_size = size;
	return true;
}

static bool apply_late(struct queues *all, dw_op *op, const struct table_caller *caller)
{
	struct table_caller later = *caller;

	later.now = usec_add(caller->now, DW_HOURS(1));
	return table_apply(all->table, op, &later);
}

static bool push_lost(struct queues *all, dw_op *op, const struct table_caller *caller)
{
	if (!op->id || !chance(all->sim, 500))
		return table_apply(all->table, op, caller);
	op->status = DW_OK;
	op->body_size = 0;
	return true;
}

bool queue_bugs_apply(struct queues *all, dw_op *op, const struct table_caller *caller)
{
	bool is_take = op->kind == DW_OP_TAKE && !(op->flags & DW_OP_LOOK);

	switch (all->sim->bug) {
	case BUG_HIDE_IGNORED:
		return is_take ? apply_late(all, op, caller) : table_apply(all->table, op, caller);
	case BUG_BOUND_LATE:
		return op->kind == DW_OP_PUSH ? bound_late(all, op, caller)
					      : table_apply(all->table, op, caller);
	case BUG_PAUSE_IGNORED:
		return is_take ? pause_ignored(all, op, caller)
			       : table_apply(all->table, op, caller);
	case BUG_TAKE_DELETES:
		return is_take ? take_and_delete(all, op, caller)
			       : table_apply(all->table, op, caller);
	case BUG_ANSWER_ANY:
		return op->kind == DW_OP_ANSWER ? answer_any(all, op, caller)
						: table_apply(all->table, op, caller);
	case BUG_MESSAGE_LOST:
		return op->kind == DW_OP_PUSH ? push_lost(all, op, caller)
					      : table_apply(all->table, op, caller);
	case BUG_RETRY_NOW:
		if (op->kind == DW_OP_ANSWER && op->verdict == DW_RETRY)
			op->head.due = caller->now;
		return table_apply(all->table, op, caller);
	case BUG_DROP_UNCOUNTED:
		(void)table_apply(all->table, op, caller);
		if (op->kind == DW_OP_PUSH)
			op->count = 0;
		return op->kind != DW_OP_INBOX || op->row_count > 0;
	default:
		return table_apply(all->table, op, caller);
	}
}
