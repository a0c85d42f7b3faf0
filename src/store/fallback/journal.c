#include "store/fallback/journal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "timer/record.h"

#define PAGE 1000u

/* ---- Operations on the file ---------------------------------------------------------------- */

static bool begin(struct journal *journal, dw_op *op, void *context)
{
	if (!op)
		return false;
	ticket_of(op)->call = context;
	journal->file->type->submit(journal->file, op);
	return true;
}

bool journal_write(struct journal *journal, const struct row_write *write, void *context)
{
	return begin(journal, row_op(&journal->alloc, journal->name, write), context);
}

bool journal_pass(struct journal *journal, const struct row *row, const dw_op *asked, void *context)
{
	dw_op *op = op_new(&journal->alloc, asked->kind, row->id, NULL, 0);

	if (op) {
		op->flags = asked->flags & (DW_OP_WITHDRAWN | DW_OP_VERDICT);
		op->head = (dw_head){.generation = row->number,
				     .attempt = asked->head.attempt,
				     .due = asked->head.due};
	}
	return begin(journal, op, context);
}

bool journal_delete(struct journal *journal, const struct row *row, void *context)
{
	dw_op *op = op_new(&journal->alloc, DW_OP_CANCEL, row->id, NULL, 0);

	if (op)
		/* This deletes the row, whoever has claimed it in the file. */
		op->flags = DW_OP_WITHDRAWN;
	return begin(journal, op, context);
}

bool journal_bury(struct journal *journal, const dw_row *damaged, void *context)
{
	dw_op *op = op_new(&journal->alloc, DW_OP_BURY, damaged->id, NULL, 0);

	if (op) {
		op->head = damaged->head;
		op->reason = DW_REASON_CORRUPT;
	}
	return begin(journal, op, context);
}

static dw_op *page_op(struct journal *journal, const dw_cursor *after, size_t limit)
{
	dw_op *op = op_new(&journal->alloc, DW_OP_SCAN, NULL, NULL, 0);

	if (op) {
		op->flags = DW_OP_BY_GENERATION;
		op->after = *after;
		op->limit = limit;
	}
	return op;
}

bool journal_read(struct journal *journal, size_t limit, void *context)
{
	return begin(journal, page_op(journal, &(dw_cursor){0}, limit), context);
}

void journal_note(struct journal *journal, const struct origin *origin)
{
	if (journal->is_noting)
		return;
	journal->origin_writes = *origin;
	journal->is_noting =
	    begin(journal, origin_op(&journal->alloc, journal->name, origin), journal);
}

void journal_noted(struct journal *journal, dw_op *op)
{
	journal->is_noting = false;
	if (op->status == DW_OK)
		journal->origin = journal->origin_writes;
	op_free(&journal->alloc, op);
}

dw_op *journal_collect(struct journal *journal)
{
	return journal->file->type->collect(journal->file);
}

/* ---- Opening ------------------------------------------------------------------------------- */

/* await waits for the answer to the only operation under way. */
static dw_op *await(struct journal *journal)
{
	const struct timespec moment = {.tv_nsec = 500000};
	dw_op *answer;

	while (!(answer = journal_collect(journal)))
		(void)nanosleep(&moment, NULL); /* a shorter sleep only looks again sooner */
	return answer;
}

static int set_aside(struct journal *journal, const dw_row *damaged)
{
	dw_op *op;
	int status;

	if (!journal_bury(journal, damaged, NULL))
		return DW_ENOMEM;
	op = await(journal);
	status = op->status;
	op_free(&journal->alloc, op);
	return status == DW_ESTALE || status == DW_ENOENT ? DW_OK : status;
}

static int refuse_foreign(const struct journal *journal, const struct record *record,
			  char *ret_message)
{
	(void)snprintf(ret_message, DW_MESSAGE_SIZE,
		       "%.80s is the journal of the namespace %.*s and has timers of it: name "
		       "another file, or `durawheel journal replay` it there",
		       journal->path, (int)record->topic_size, record->topic);
	return DW_EINVAL;
}

static int add_row(struct journal *journal, const dw_row *stored, const struct row_words *words)
{
	struct row *row = rows_index_add(&journal->rows, &journal->alloc, stored->id);

	if (!row)
		return DW_ENOMEM;
	row->words = *words;
	if (words->what == DW_OP_PUT)
		row->words.attempt = stored->head.attempt;
	row->number = stored->head.generation;
	/* the process that wrote the row has ended, and may have sent the row to Redis */
	row->is_sent = true;
	row->bytes = stored->body_size; /* this includes the bytes of the row itself */
	journal->rows.bytes += row->bytes;
	if (!journal->oldest)
		journal->oldest = (dw_usec)stored->head.generation;
	if (journal->floor < words->floor)
		journal->floor = words->floor;
	return DW_OK;
}

static bool is_of_namespace(const struct record *record, const char *name)
{
	return record->topic_size == strlen(name) &&
	       memcmp(record->topic, name, record->topic_size) == 0;
}

static int learn_row(struct journal *journal, const dw_row *stored, size_t *damaged,
		     char *ret_message)
{
	struct row_words words;
	struct record record;
	const void *body;
	size_t size;
	int status = row_read(stored, &words, &body, &size);

	if (status == DW_ENEWER) {
		(void)snprintf(ret_message, DW_MESSAGE_SIZE,
			       "%.80s was written by a newer durawheel; use that version or later",
			       journal->path);
		return status;
	}
	if (status != DW_OK) {
		++*damaged;
		return set_aside(journal, stored);
	}
	/* This cannot fail, because row_read() has decoded the body. */
	(void)record_of_row(stored, &record);
	if (row_is_origin(stored)) {
		if (is_of_namespace(&record, journal->name))
			origin_read(&journal->origin, &words, body, size);
		journal->ahead = journal->origin.ahead;
		return DW_OK;
	}
	if (!is_of_namespace(&record, journal->name))
		return refuse_foreign(journal, &record, ret_message);
	return add_row(journal, stored, &words);
}

static int learn_page(struct journal *journal, const dw_op *page, size_t *damaged, char *message)
{
	int status = page->status;

	for (const dw_row *row = page->rows; row && status == DW_OK; row = row->next)
		status = learn_row(journal, row, damaged, message);
	return status;
}

static int load(struct journal *journal, size_t *damaged, char *message)
{
	dw_cursor after = {0};
	int status = DW_OK;
	bool more = true;

	while (status == DW_OK && more) {
		dw_op *page = page_op(journal, &after, PAGE);

		if (!begin(journal, page, NULL))
			return DW_ENOMEM;
		page = await(journal);
		status = learn_page(journal, page, damaged, message);
		more = page->row_count == PAGE;
		after = page->after;
		op_free(&journal->alloc, page);
	}
	return status;
}

/* explain_owner replaces the advice in the message. The advice was written for a store, and is
 * wrong for a journal. */
static void explain_owner(char *message)
{
	static const char advice[] = "; a journal is one program's: name another file";
	char *end = strstr(message, "; stop it");
	size_t size;

	if (!end)
		end = message + strlen(message);
	size = (size_t)(end - message);
	if (size + sizeof advice <= DW_MESSAGE_SIZE)
		memcpy(end, advice, sizeof advice);
}

int journal_open(struct journal *journal, const struct fallback_parts *parts,
		 const dw_store_env *env, size_t *ret_damaged, char *ret_message)
{
	dw_store_env own = *env;
	int status;

	*journal =
	    (struct journal){.alloc = {env->resize, env->resize_user}, .session = env->token};
	(void)snprintf(journal->name, sizeof journal->name, "%s", env->name);
	/* A long path is cut. */
	(void)snprintf(journal->path, sizeof journal->path, "%s", parts->journal);
	own.role = DW_OWNER;
	own.is_journal = 1;
	own.existing = 0;
	status = rows_index_init(&journal->rows, &journal->alloc);
	if (status == DW_OK)
		status = parts->open_journal(&journal->file, parts->journal, &own, ret_message);
	if (status == DW_EOWNED)
		explain_owner(ret_message);
	if (status == DW_OK)
		status = load(journal, ret_damaged, ret_message);
	if (status != DW_OK && journal->file)
		/* If this fails, the journal's thread closes the file later. */
		(void)journal_stop(journal, DW_SECONDS(1));
	if (status != DW_OK)
		journal_free(journal);
	return status;
}

int journal_stop(struct journal *journal, dw_usec patience)
{
	return journal->file->type->stop(journal->file, patience);
}

void journal_free(struct journal *journal)
{
	if (journal->file)
		journal->file->type->free(journal->file);
	rows_index_free(&journal->rows, &journal->alloc);
	journal->file = NULL;
}
