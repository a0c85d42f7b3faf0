#include "store/memory/table_ends.h"

#include "timer/record.h"

int table_end_make(struct timer_table *table, const dw_op *op, const struct stored_timer *timer,
		   const struct life_step *step, struct stored_end **ret_end)
{
	dw_end end = life_end(op, timer ? &timer->record : NULL, step);
	char by[ENDED_BY_MAX + 1];
	dw_ended ended;

	if (end == DW_END_UNKNOWN)
		return DW_OK;
	ended_of(op, end, &timer->record.head, table->now, &ended);
	if (!ended_keep(&ended, record_keep(timer->body),
			topics_of_keep(&table->topics, timer->topic)))
		return DW_OK;
	ended.topic = timer->topic;
	/* A client of this table lives in the owner's process. */
	ended_by(table->owner ? table->owner : "", by);
	ended.by = by;
	*ret_end = ends_make(&table->ends, &table->alloc, op->id, &ended);
	return *ret_end ? DW_OK : DW_ENOMEM;
}

void table_end_add(struct timer_table *table, struct stored_end *end)
{
	if (!end)
		return;
	ends_add(&table->ends, &table->alloc, end);
	ends_forget(&table->ends, &table->alloc, table->now);
}

void table_end_show(struct timer_table *table, dw_op *op)
{
	const struct stored_end *end = ends_find(&table->ends, op->id, table->now);
	dw_row **tail = &op->rows;

	if (end)
		(void)op_add_row(&table->alloc, op, &tail,
				 row_new(&table->alloc, op->id, end->bytes, end->size));
	else
		op->status = DW_ENOENT;
}
