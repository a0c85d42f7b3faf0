#include "timer/same.h"

#include "timer/record.h"

void same_note(struct life_record *record, const void *body, const dw_op *op)
{
	record->recurs = record_recurs(body, body);
	record->same = record->recurs && op->kind == DW_OP_PUT && record_recurs(body, op->body);
}
