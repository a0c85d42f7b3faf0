/* Lists and drops the rows of a journal's file, without the store in Redis. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/message.h"
#include "base/rng.h"
#include "durawheel/journal.h"
#include "port/clock.h"

#if DW_WITH_SQLITE && DW_WITH_REDIS

#include "store/fallback/row.h"
#include "store/store.h"
#include "timer/record.h"

#define PAGE 500u
#define PATIENCE DW_SECONDS(10)

/* A journal's file, which is opened as a store of rows. */
struct opened {
	dw_store *file;
	struct alloc alloc;
	struct clock clock;
};

static dw_usec journal_file_wall(void *user)
{
	const struct clock *clock = user;

	return clock->wall(clock->user);
}

static dw_usec journal_file_steady(void *user)
{
	const struct clock *clock = user;

	return clock->steady(clock->user);
}

static void journal_file_wake(void *user)
{
	(void)user;
}

static int open_file(struct opened *opened, const char *path, dw_role role, char *message)
{
	dw_store_env env = {.size = sizeof env,
			    .role = role,
			    .token = rng_seed() | 1,
			    .patience = PATIENCE,
			    .now = journal_file_wall,
			    .now_user = &opened->clock,
			    .steady = journal_file_steady,
			    .steady_user = &opened->clock,
			    .wake = journal_file_wake,
			    .existing = 1,
			    .is_journal = 1};

	opened->alloc = alloc_default();
	opened->clock = clock_system();
	env.resize = opened->alloc.resize;
	env.resize_user = opened->alloc.user;
	if (!path || !*path)
		return message_refuse(message, "the path of the journal is %s",
				      path ? "empty" : "NULL");
	return sqlite_store_open(&opened->file, path, &env, message);
}

static void close_file(struct opened *opened)
{
	(void)opened->file->type->stop(
	    opened->file, PATIENCE); /* if it takes longer, its thread closes the file later */
	opened->file->type->free(opened->file);
}

/* ask submits an operation and waits for its answer. It returns NULL if there is no memory. */
static dw_op *ask(struct opened *opened, dw_op *op)
{
	const struct timespec moment = {.tv_nsec = 500000};
	dw_op *answer = NULL;

	if (!op)
		return NULL;
	opened->file->type->submit(opened->file, op);
	while (!(answer = opened->file->type->collect(opened->file)))
		(void)nanosleep(&moment, NULL); /* after a signal the loop only looks sooner */
	return answer;
}

static dw_op *next_page(struct opened *opened, const dw_cursor *after)
{
	dw_op *op = op_new(&opened->alloc, DW_OP_SCAN, NULL, NULL, 0);

	if (op) {
		op->flags = DW_OP_BY_GENERATION;
		op->after = *after;
		op->limit = PAGE;
	}
	return ask(opened, op);
}

/* each_row calls fn for every row. */
static int each_row(struct opened *opened, void (*fn)(const dw_row *, void *user), void *user)
{
	dw_cursor after = {0};
	bool more = true;
	int status = DW_OK;

	while (more && status == DW_OK) {
		dw_op *page = next_page(opened, &after);

		if (!page)
			return DW_ENOMEM;
		status = page->status;
		for (const dw_row *row = page->rows; row; row = row->next)
			if (!row_is_origin(row))
				fn(row, user);
		more = page->row_count == PAGE;
		after = page->after;
		op_free(&opened->alloc, page);
	}
	return status;
}

/* stopped writes why the file was not read or changed to its end, and returns the status. */
static int stopped(char *message, const char *path, int status, uint64_t dropped)
{
	char before[48] = "";

	if (dropped > 0)
		(void)snprintf(before, sizeof before, "rows dropped: %" PRIu64 ", then ", dropped);
	(void)message_refuse(message, "%.120s: %s%s", path, before, dw_strerror(status));
	return status;
}

/* ---- Listing ------------------------------------------------------------------------------- */

struct journal_lister {
	dw_journal_fn fn;
	void *user;
	uint64_t damaged;
};

static const char *word_of(dw_op_kind what)
{
	switch (what) {
	case DW_OP_PUT:
		return "put";
	case DW_OP_CANCEL:
		return "cancel";
	case DW_OP_MOVE:
		return "move";
	case DW_OP_SETTLE:
		return "settle";
	case DW_OP_CLAIM:
		return "claim";
	default:
		return "retry";
	}
}

static bool has_due(dw_op_kind what)
{
	return what == DW_OP_PUT || what == DW_OP_MOVE || what == DW_OP_RETRY;
}

static void journal_file_row(const dw_row *stored, void *user)
{
	struct journal_lister *lister = user;
	char name[DW_TOPIC_MAX + 1], topic[DW_TOPIC_MAX + 1] = "";
	struct record outer, inner = {0};
	struct row_words words;
	const void *body;
	size_t size;

	if (row_read(stored, &words, &body, &size) != DW_OK ||
	    (size > 0 && record_decode(body, size, &inner) != DW_OK)) {
		lister->damaged++;
		return;
	}
	(void)record_of_row(stored, &outer); /* row_read() has decoded it */
	(void)snprintf(name, sizeof name, "%.*s", (int)outer.topic_size, outer.topic);
	if (size > 0)
		(void)snprintf(topic, sizeof topic, "%.*s", (int)inner.topic_size, inner.topic);
	lister->fn(&(dw_journal_row){.size = sizeof(dw_journal_row),
				     .name = name,
				     .id = stored->id,
				     .what = word_of(words.what),
				     .topic = topic,
				     .at = (dw_usec)stored->head.generation,
				     .due = has_due(words.what) ? stored->head.due : 0},
		   lister->user);
}

int dw_journal_list(const char *path, dw_journal_fn fn, void *user, uint64_t *ret_damaged,
		    char *ret_message)
{
	struct journal_lister lister = {.fn = fn, .user = user};
	char unread[DW_MESSAGE_SIZE];
	char *message = ret_message ? ret_message : unread;
	struct opened opened;
	int status;

	if (!fn)
		return message_refuse(message, "the function is NULL");
	status = open_file(&opened, path, DW_CLIENT, message);
	if (status != DW_OK)
		return status;
	status = each_row(&opened, journal_file_row, &lister);
	close_file(&opened);
	if (status != DW_OK)
		return stopped(message, path, status, 0);
	if (ret_damaged)
		*ret_damaged = lister.damaged;
	return DW_OK;
}

/* ---- Dropping ------------------------------------------------------------------------------ */

static int drop_one(struct opened *opened, const char *id, uint64_t *count)
{
	dw_op *answer = ask(opened, op_new(&opened->alloc, DW_OP_CANCEL, id, NULL, 0));
	int status = answer ? answer->status : (int)DW_ENOMEM;

	*count += status == DW_OK && strcmp(id, ORIGIN_ID) != 0;
	op_free(&opened->alloc, answer);
	return status;
}

static int drop_all(struct opened *opened, uint64_t *count)
{
	int status = DW_OK;

	while (status == DW_OK) {
		dw_op *page = next_page(opened, &(dw_cursor){0});

		status = page ? page->status : (int)DW_ENOMEM;
		if (status == DW_OK && page->row_count == 0) {
			op_free(&opened->alloc, page);
			break;
		}
		for (const dw_row *row = page ? page->rows : NULL; row && status == DW_OK;
		     row = row->next)
			status = drop_one(opened, row->id, count);
		op_free(&opened->alloc, page);
	}
	return status;
}

int dw_journal_drop(const char *path, const char *id, uint64_t *ret_count, char *ret_message)
{
	char unread[DW_MESSAGE_SIZE];
	char *message = ret_message ? ret_message : unread;
	struct opened opened;
	uint64_t count = 0;
	int status = open_file(&opened, path, DW_OWNER, message);

	if (status != DW_OK)
		return status;
	status = id ? drop_one(&opened, *id ? id : ORIGIN_ID, &count) : drop_all(&opened, &count);
	close_file(&opened);
	if (id && status == DW_ENOENT) {
		message[0] = '\0'; /* only a missing file has words */
		return status;
	}
	if (status != DW_OK)
		return stopped(message, path, status, count);
	if (ret_count)
		*ret_count = count;
	return DW_OK;
}

#else

static int refuse(char *message)
{
	char unread[DW_MESSAGE_SIZE];

	return message_refuse(message ? message : unread,
			      "this durawheel was built without journals");
}

int dw_journal_list(const char *path, dw_journal_fn fn, void *user, uint64_t *ret_damaged,
		    char *ret_message)
{
	(void)path;
	(void)fn;
	(void)user;
	(void)ret_damaged;
	return refuse(ret_message);
}

int dw_journal_drop(const char *path, const char *id, uint64_t *ret_count, char *ret_message)
{
	(void)path;
	(void)id;
	(void)ret_count;
	return refuse(ret_message);
}

#endif
