/* Shows the messages of a take to its caller. */
#include <stdio.h>

#include "base/scope.h"
#include "engine/core.h"
#include "engine/queue/take.h"
#include "timer/record.h"

struct shown_messages {
	struct alloc alloc;
	dw_message *messages;
	char (*tokens)[DW_TOKEN_SIZE];
};

static void free_shown_messages(struct shown_messages *shown)
{
	alloc_free(&shown->alloc, shown->messages);
	alloc_free(&shown->alloc, shown->tokens);
}

/* show_message fills in a message, which is not damaged. */
static void show_message(const struct take *take, const dw_row *row, dw_message *message,
			 char *token)
{
	const char *topic = take->topics[take->at].name;
	struct record record = {0};

	(void)record_decode(row->body, row->body_size, &record);
	(void)snprintf(token, DW_TOKEN_SIZE, "%s/%s", topic, row->token); /* always fits */
	*message = (dw_message){.size = sizeof *message,
				.id = row->id,
				.topic = topic,
				.due = row->head.due,
				.attempt = row->head.attempt,
				.data = record.data,
				.data_size = record.data_size,
				.token = token};
}

void takes_show(struct engine *engine, const struct call *call)
{
	struct shown_messages shown AT_END(free_shown_messages) = {.alloc = engine->alloc};
	const dw_op *op = call->op;
	size_t room = call->status == DW_OK && op ? op->row_count + 1 : 1;
	size_t count = 0;
	int status = call->status;

	if (status == DW_ENOENT)
		(void)engine_fail(engine, status, "%s is no queue",
				  take_of(call)->topics[take_of(call)->wrong].name);
	shown.messages = alloc_new(&engine->alloc, room * sizeof *shown.messages);
	shown.tokens = alloc_new(&engine->alloc, room * sizeof *shown.tokens);
	if (status == DW_OK && (!shown.messages || !shown.tokens))
		status = DW_ENOMEM; /* the messages come back when their time-out is over */
	for (const dw_row *row = status == DW_OK && op ? op->rows : NULL; row; row = row->next) {
		show_message(take_of(call), row, &shown.messages[count], shown.tokens[count]);
		count++;
	}
	call->on_taken(engine->env.handle, status, status == DW_OK ? shown.messages : NULL, count,
		       call->on_messages_user);
}
