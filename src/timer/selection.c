#include "timer/selection.h"

#include <string.h>

#include "timer/record.h"

static bool has_topic(const struct record *record, const char *topic)
{
	return strlen(topic) == record->topic_size &&
	       memcmp(topic, record->topic, record->topic_size) == 0;
}

bool selection_has(const dw_op *op, const dw_row *row)
{
	bool recurring = op->flags & DW_OP_RECURRING;
	unsigned states = op->head.state;
	struct record_rule rule;
	struct record record;
	int status;

	if (op->body_size > 0 && !(op->flags & DW_OP_SHARDS) &&
	    strncmp(row->id, op->body, op->body_size) != 0)
		return false;
	if (!op->topic && !states && !recurring)
		return true;
	status = record_of_row(row, &record);
	if (status == DW_ECORRUPT)
		return !op->topic && !recurring;
	return (!op->topic || has_topic(&record, op->topic)) &&
	       (!states || states & 1u << (status == DW_ENEWER ? DW_NEWER : row->head.state)) &&
	       (!recurring || (status == DW_OK && record_rule(row->body, &rule)));
}
