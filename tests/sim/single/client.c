#include "sim/single/single.h"

#include <string.h>

#include "timer/record.h"

static void apply(struct single *single, dw_op *op)
{
	struct sim *sim = single->sim;
	struct table_caller caller = {
	    .token = rng_next(&sim->rng) | 1, .role = DW_CLIENT, .now = clocks_wall(sim)};
	dw_head wanted = op->head;

	(void)table_bugs_apply(single, op, &caller);
	trace(sim, "client", op->id, op->kind, op->status);
	operation_applied(sim, op, &wanted, DW_CLIENT);
	disk_news(single->disk);
}

static void put(struct single *single, struct name *name)
{
	struct sim *sim = single->sim;
	struct alloc alloc = memory_alloc(&sim->table_account);
	struct asked *asked = calls_new(sim, ASKED_PUT, name);
	const char *id = name->id;
	const char topic[2] = {(char)('a' + (char)draw(sim, TOPIC_COUNT)), '\0'};
	uint64_t number = asked ? calls_number(sim, asked) : 0;
	struct record record = {.id = id,
				.topic = topic,
				.data = &number,
				.data_size = sizeof number,
				.id_size = (uint8_t)strlen(id),
				.topic_size = 1};
	unsigned char body[128];
	dw_op *op;

	if (!asked)
		return;
	asked->life = 0;
	asked->topic = (uint32_t)(topic[0] - 'a');
	asked->due = usec_add(clocks_wall(sim), (dw_usec)draw(sim, DW_SECONDS(2)));
	record_encode(&record, body);
	op = op_new(&alloc, DW_OP_PUT, id, body, record_size(&record));
	op->topic = topic;
	op->head.due = asked->due;
	apply(single, op);
	asked->status = op->status;
	op_free(&alloc, op);
}

void client_act(struct single *single)
{
	static const dw_op_kind kinds[] = {DW_OP_CANCEL, DW_OP_CANCEL,  DW_OP_CANCEL, DW_OP_MOVE,
					   DW_OP_MOVE,   DW_OP_REQUEUE, DW_OP_DROP};
	struct sim *sim = single->sim;
	struct alloc alloc = memory_alloc(&sim->table_account);
	struct name *name = &sim->promises.names[draw(sim, sim->knobs.id_count)];
	dw_op *op;

	if (chance(sim, 6000)) {
		put(single, name);
		return;
	}
	op = op_new(&alloc, kinds[draw(sim, sizeof kinds / sizeof *kinds)], name->id, NULL, 0);
	if (op->kind == DW_OP_MOVE || op->kind == DW_OP_REQUEUE)
		op->head.due = usec_add(clocks_wall(sim), (dw_usec)draw(sim, DW_SECONDS(2)));
	apply(single, op);
	op_free(&alloc, op);
}
