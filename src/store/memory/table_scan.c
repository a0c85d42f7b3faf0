#include "store/memory/table_scan.h"

#include <string.h>

#include "port/spans.h"
#include "port/op.h"
#include "store/status.h"
#include "timer/selection.h"

dw_row *table_row(struct timer_table *table, const struct stored_timer *timer)
{
	struct why why = stored_why(timer);
	dw_row *row =
	    row_new_told(&table->alloc, timer->name.id, timer->body, timer->body_size, &why);

	if (row)
		row->head = timer->record.head;
	return row;
}

static struct skiplist_node *next_of_scan(const struct timer_table *table, const dw_op *op)
{
	if (op->flags & DW_OP_BY_GENERATION)
		return skiplist_after_generation(&table->order, &op->after);
	return op->after.started
		   ? skiplist_after(&table->order, op->after.due, op->after.generation)
		   : table->order.first[0];
}

void table_scan(struct timer_table *table, dw_op *op)
{
	uint64_t looked = op->after.looked, last = looked + op_looks(op);
	struct skiplist_node *node;
	dw_row **tail = &op->rows;

	while (op->row_count < op->limit && (node = next_of_scan(table, op))) {
		dw_row *row;

		if (!op_is_before_end(op, node->due))
			return;
		if (looked == last) {
			op->flags |= DW_OP_PART;
			return;
		}
		op->after = (dw_cursor){.due = node->due,
					.generation = node->generation,
					.started = 1,
					.looked = ++looked};
		row = table_row(table, stored_at(node));
		if (row && !selection_has(op, row))
			rows_free(&table->alloc, row);
		else if (!op_add_row(&table->alloc, op, &tail, row))
			return;
	}
}

/* inbox_row makes the row of an inbox entry: the timer as it is stored now, or a row that says that
 * the timer is gone. */
static dw_row *inbox_row(struct timer_table *table, const struct inbox_entry *entry)
{
	struct stored_timer *timer = table_find(table, entry->id);
	dw_row *row;

	if (timer)
		return table_row(table, timer);
	row = row_new(&table->alloc, entry->id, NULL, 0);
	if (row) {
		row->gone = 1;
		row->head.generation = entry->generation;
	}
	return row;
}

bool table_read_inbox(struct timer_table *table, dw_op *op)
{
	const struct inbox_entry *entry = table->inbox.first;
	dw_row **tail = &op->rows;

	while (entry && op->after.started && entry->generation <= op->after.generation)
		entry = entry->after;
	if (!entry)
		return false;
	for (; entry && op->row_count < op->limit; entry = entry->after)
		if (!op_add_row(&table->alloc, op, &tail, inbox_row(table, entry)))
			break;
	return true;
}

static dw_row *letter_row(struct timer_table *table, const struct dead_letter *letter)
{
	dw_row *row =
	    row_new_told(&table->alloc, letter->id, letter->body, letter->body_size, &letter->why);

	if (!row)
		return NULL;
	row->head = letter->record.head;
	row->number = letter->number;
	row->reason = letter->reason;
	row->at = letter->at;
	return row;
}

void table_scan_dead(struct timer_table *table, dw_op *op)
{
	const struct dead_letter *letter = table->dead.first;
	uint64_t last = op->after.looked + op_looks(op);
	dw_row **tail = &op->rows;

	if (op->id) {
		letter = dead_letters_find(&table->dead, op->id, 0);
		if (letter)
			(void)op_add_row(&table->alloc, op, &tail, letter_row(table, letter));
		else
			op->status = DW_ENOENT;
		return;
	}
	while (letter && op->after.started && letter->number <= op->after.generation)
		letter = letter->after;
	for (; letter && op->row_count < op->limit; letter = letter->after) {
		if (op->after.looked == last) {
			op->flags |= DW_OP_PART;
			return;
		}
		op->after = (dw_cursor){
		    .generation = letter->number, .started = 1, .looked = op->after.looked + 1};
		if (op->topic && strcmp(op->topic, letter->topic) != 0)
			continue;
		if (!op_add_row(&table->alloc, op, &tail, letter_row(table, letter)))
			return;
	}
}

void table_count_due(struct timer_table *table, dw_op *op)
{
	struct skiplist_node *node;
	size_t looked = 0;
	struct spans spans;

	spans_of(op, &spans);
	node = skiplist_after(&table->order, spans_first(&spans), 0); /* no generation is 0 */
	for (; node && node->due < spans_end(&spans) && looked < DW_DUE_LOOKS_MAX; looked++) {
		spans_add(&spans, node->due);
		node = node->next[0];
	}
	spans_answer(&table->alloc, op, &spans,
		     node && node->due < spans_end(&spans) ? node->due : spans_end(&spans));
}

void table_status(struct timer_table *table, dw_op *op)
{
	struct skiplist_node *node = table->order.first[0];
	dw_store_status values = {.pending = table->timers.table.count - table->claimed,
				  .claimed = table->claimed,
				  .dead = table->dead.count,
				  .inbox = table->inbox.by_id.table.count,
				  .owner = table->owner,
				  .owner_since = table->owner_since,
				  .owner_seen = table->owner_seen,
				  .owner_report = table->report};

	while (node && stored_is_claimed(stored_at(node)))
		node = node->next[0];
	values.next_due = node ? node->due : DW_NEVER;
	op->store_status = status_new(&table->alloc, &values);
	if (!op->store_status)
		op->status = DW_ENOMEM;
}
