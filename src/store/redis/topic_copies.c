#include "store/redis/topic_copies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "durawheel/topic.h"
#include "store/redis/core.h"
#include "store/redis/copies_differ.h"
#include "topic/settings.h"

enum {
	COPIES_A_COMMAND = 1000, /* two words each */
	DROPS_MAX = 1000         /* so many dropped topics are remembered in a shard */
};

void copies_add_key(struct redis_store *store, const struct shard *shard, char key[COPIES_KEY_SIZE])
{
	(void)snprintf(key, COPIES_KEY_SIZE, "{%s:%02u}:t", store->names.name, shard->number);
	call_add_key(store, key);
}

void copies_ask(struct redis_store *store, const struct shard *shard, char key[COPIES_KEY_SIZE])
{
	call_begin(store, SCRIPT_TOPIC_LIST, shard);
	copies_add_key(store, shard, key);
}

/* ---- Rows ---------------------------------------------------------------------------------- */

/* copy_new makes a row. Behind its text are a NUL and the numbers with theirs. */
static dw_row *copy_new(struct redis_store *store, const char *topic, const struct reply *text,
			const struct reply *numbers)
{
	size_t counts = numbers ? numbers->size : 0;
	dw_row *row = row_new(&store->alloc, topic, NULL, text->size + counts + 2);
	char words[DW_MESSAGE_SIZE];
	char *room;

	if (!row)
		return NULL;
	room = (char *)row_room(row);
	memcpy(room, text->bytes, text->size);
	room[text->size] = '\0';
	row->body_size = text->size;
	row->token = room + text->size + 1;
	if (counts > 0)
		memcpy(room + text->size + 1, numbers->bytes, counts);
	room[text->size + 1 + counts] = '\0';
	row->head.generation = settings_version(row->body, row->body_size);
	row->gone = strstr(row->body, "gone=1") != NULL;
	row->status =
	    settings_check_text(row->body, row->body_size, words) == DW_OK ? DW_OK : DW_ECORRUPT;
	return row;
}

bool copies_read(struct redis_store *store, struct rows *rows, unsigned shard,
		 const struct reply *items)
{
	dw_row *row = copy_new(store, items[0].bytes, &items[1], &items[2]);

	if (!row)
		return false;
	if (items[0].size > DW_TOPIC_MAX || !utf8_is_name(items[0].bytes, items[0].size))
		row->status = DW_EINVAL;
	row->number = shard;
	rows_push(rows, row);
	return true;
}

/* ---- Writing ------------------------------------------------------------------------------- */

/* read_again: a copy was not written. The next renewal lets the owner read all settings again. */
static void read_again(struct redis_store *store, const struct redis_request *request)
{
	unsigned number = (unsigned)(uintptr_t)request->context;

	if (number < store->shard_count)
		store->shards[number].topic_changes = UINT64_MAX;
}

static void written_answered(struct redis_store *store, struct redis_request *request,
			     const struct reply *reply)
{
	if (call_failed(store, request, reply) != FAILURE_NONE)
		read_again(store, request);
	else if (reply_is(&reply->items[0], "TYPE"))
		complain_of_key(store, reply);
	request_free(store, request);
}

static void written_lost(struct redis_store *store, struct redis_request *request)
{
	read_again(store, request);
	request_free(store, request);
}

void copies_begin(struct redis_store *store, const struct shard *shard, bool wakes,
		  char key[COPIES_KEY_SIZE])
{
	call_begin_rare(store, SCRIPT_TOPIC_COPY, shard);
	copies_add_key(store, shard, key);
	command_number(&store->pipeline.words, DROPS_MAX);
	command_text(&store->pipeline.words, wakes ? store->names.channel : "");
}

void copies_write(struct redis_store *store, const struct shard *shard)
{
	const dw_row *row = store->later.topics.copies.known;
	char key[COPIES_KEY_SIZE];

	while (row) {
		copies_begin(store, shard, store->ownership.role != DW_OWNER, key);
		for (int i = 0; row && i < COPIES_A_COMMAND; i++, row = row->next) {
			command_text(&store->pipeline.words, row->id);
			command_bytes(&store->pipeline.words, row->body, row->body_size);
		}
		/* If this fails, there is no connection or no memory, and the settings are read
		 * again. */
		if (request_post(store, NULL, written_answered, written_lost,
				 (void *)(uintptr_t)shard->number) != DW_OK)
			store->shards[shard->number].topic_changes = UINT64_MAX;
	}
}

/* ---- The owner's copy ---------------------------------------------------------------------- */

void copies_forget(struct redis_store *store)
{
	rows_free(&store->alloc, store->later.topics.copies.known);
	store->later.topics.copies.known = NULL;
}

void copies_learn(struct redis_store *store, const char *topic, const struct reply *settings)
{
	dw_row **at = &store->later.topics.copies.known;
	dw_row *row = copy_new(store, topic, settings, NULL);

	if (!row)
		return; /* the next reading brings it */
	while (*at && strcmp((*at)->id, topic) < 0)
		at = &(*at)->next;
	if (*at && strcmp((*at)->id, topic) == 0) {
		dw_row *old = *at;

		*at = old->next;
		old->next = NULL;
		rows_free(&store->alloc, old);
	}
	row->number = COPY_OF_OWNER;
	row->next = *at;
	*at = row;
}

/* add_known adds what the owner knows to what the shards have. */
static void add_known(struct redis_store *store, struct rows *rows)
{
	dw_row *row = store->later.topics.copies.known;

	store->later.topics.copies.known = NULL;
	while (row) {
		dw_row *next = row->next;

		rows_push(rows, row);
		row = next;
	}
}

/* keep_newest: the owner knows this now. It does not keep a drop that no shard remembers: then no
 * shard has older settings, either. */
static void keep_newest(struct redis_store *store, struct rows *kept, dw_row *newest,
			bool in_shards)
{
	if (store->ownership.role == DW_OWNER && (in_shards || !newest->gone)) {
		newest->number = COPY_OF_OWNER;
		newest->token = ""; /* the numbers are those of now */
		rows_push(kept, newest);
	} else {
		newest->next = NULL;
		rows_free(&store->alloc, newest);
	}
}

const dw_row *copies_newest(const struct redis_store *store, struct rows *rows, const char *topic,
			    size_t *ret_count)
{
	const dw_row *known = store->later.topics.copies.known, *found = NULL;
	dw_row *row = copies_sort(rows);

	*ret_count = 0;
	for (; row; row = row->next) {
		row = copies_last(row);
		*ret_count += !row->gone;
		if (strcmp(row->id, topic) == 0)
			found = row;
	}
	while (known && strcmp(known->id, topic) != 0)
		known = known->next;
	if (!found || (known && known->head.generation > found->head.generation))
		return known;
	return found;
}

/* ---- The answer ---------------------------------------------------------------------------- */

/* add_newest adds the newest settings of a topic to the answer. Its numbers are those of the shard
 * of its name, which may have older settings. */
static bool add_newest(struct redis_store *store, const dw_row *first, const dw_row *newest,
		       dw_op *op, dw_row ***tail)
{
	const char *numbers = newest->token;
	size_t size;
	dw_row *row;

	for (const dw_row *each = first; each != newest; each = each->next)
		if (each->token[0])
			numbers = each->token;
	size = strlen(numbers);
	row = row_new(&store->alloc, newest->id, NULL, newest->body_size + size);
	if (!op_add_row(&store->alloc, op, tail, row))
		return false;
	memcpy(row_room(row), newest->body, newest->body_size);
	memcpy(row_room(row) + newest->body_size, numbers, size);
	return true;
}

struct answering {
	dw_op *op;
	dw_row ***tail;
	struct rows kept;
	struct shard_set differ; /* shards that lack something */
	bool failed;
};

/* answer_topic takes the rows of one topic, from first to newest. */
static void answer_topic(struct redis_store *store, struct answering *answering, dw_row *first,
			 dw_row *newest)
{
	struct shard_set differ;
	bool in_shards = first != newest || newest->number != COPY_OF_OWNER;

	copies_note(store, first, newest, &differ);
	for (unsigned i = shard_next(&differ, 0); i < store->shard_count;
	     i = shard_next(&differ, i + 1))
		shard_add(&answering->differ, i);
	if (!newest->gone && !answering->failed)
		answering->failed =
		    !add_newest(store, first, newest, answering->op, answering->tail);
	while (first != newest) {
		dw_row *next = first->next;

		first->next = NULL;
		rows_free(&store->alloc, first);
		first = next;
	}
	keep_newest(store, &answering->kept, newest, in_shards);
}

/* drop_misnamed: another program has written settings of a topic that cannot be. */
static void drop_misnamed(struct redis_store *store, struct rows *rows)
{
	dw_row **link = &rows->first;

	while (*link) {
		dw_row *row = *link;

		if (row->status != DW_EINVAL) {
			link = &row->next;
			continue;
		}
		*link = row->next;
		row->next = NULL;
		rows_free(&store->alloc, row);
	}
}

bool copies_answer(struct redis_store *store, struct rows *rows, dw_op *op, dw_row ***tail)
{
	struct answering answering = {.op = op, .tail = tail};
	dw_row *first;

	if (store->ownership.role == DW_OWNER)
		add_known(store, rows);
	drop_misnamed(store, rows);
	first = copies_sort(rows);
	*rows = (struct rows){0};
	while (first) {
		dw_row *newest = copies_last(first);
		dw_row *next = newest->next;

		answer_topic(store, &answering, first, newest);
		first = next;
	}
	if (store->ownership.role != DW_OWNER)
		return !answering.failed;
	store->later.topics.copies.known = answering.kept.first;
	for (unsigned i = shard_next(&answering.differ, 0); i < store->shard_count;
	     i = shard_next(&answering.differ, i + 1))
		copies_write(store, &store->shards[i]);
	return !answering.failed;
}
