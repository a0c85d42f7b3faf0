#include "store/redis/queue/topic_copies.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "durawheel/topic.h"
#include "store/redis/core.h"
#include "store/redis/heal/copies_differ.h"
#include "topic/settings.h"

enum {
	COPIES_A_COMMAND = 64, /* each copy costs the server 25 us */
	DROPS_MAX = 1000       /* how many dropped topics a shard remembers */
};

void copies_ask(struct redis_draft *draft, const struct shard *shard, const char *topic,
		bool has_owner)
{
	call_begin(draft, SCRIPT_TOPIC_LIST, shard);
	command_text(&draft->words, topic);
	command_text(&draft->words, has_owner ? "1" : "0");
}

void copies_ask_changes(struct redis_draft *draft, const struct shard *shard)
{
	call_begin(draft, SCRIPT_TOPIC_CHANGES, shard);
	if (shard->topic_changes > 0)
		command_unsigned(&draft->words, shard->topic_changes - 1);
	else
		command_text(&draft->words, "");
}

/* ---- Rows ---------------------------------------------------------------------------------- */

/* copy_new makes a row. Its memory has the text and a NUL, then the numbers and a NUL. */
static dw_row *copy_new(struct alloc *alloc, const char *topic, const char *text, size_t size,
			const char *numbers)
{
	size_t counts = strlen(numbers);
	dw_row *row = row_new(alloc, topic, NULL, size + counts + 2);
	char words[DW_MESSAGE_SIZE];
	char *room;

	if (!row)
		return NULL;
	room = (char *)row_room(row);
	memcpy(room, text, size);
	room[size] = '\0';
	row->body_size = size;
	row->token = room + size + 1;
	memcpy(room + size + 1, numbers, counts + 1);
	row->head.generation = settings_version(row->body, row->body_size);
	row->gone = strstr(row->body, "gone=1") != NULL;
	row->status =
	    settings_check_text(row->body, row->body_size, words) == DW_OK ? DW_OK : DW_ECORRUPT;
	return row;
}

bool copies_read(struct alloc *alloc, struct rows *rows, unsigned shard, const struct reply *items)
{
	dw_row *row = copy_new(alloc, items[0].bytes, items[1].bytes, items[1].size, "");

	if (!row)
		return false;
	if (items[0].size > DW_TOPIC_MAX || !utf8_is_name(items[0].bytes, items[0].size))
		row->status = DW_EINVAL;
	row->number = shard;
	rows_push(rows, row);
	return true;
}

bool copies_add_numbers(struct alloc *alloc, struct rows *rows, const dw_row *copy,
			const struct reply *numbers)
{
	dw_row *row = copy_new(alloc, copy->id, copy->body, copy->body_size, numbers->bytes);

	if (!row)
		return false;
	row->number = copy->number;
	rows_push(rows, row);
	return true;
}

bool copies_read_changes(struct redis_store *store, struct copies_told *told, unsigned shard,
			 const struct reply *reply)
{
	const struct reply *items = reply->items;

	store->shards[shard].topic_changes = (uint64_t)reply_number(&items[1]) + 1;
	if (reply_number(&items[2]) == 0)
		shard_add(&told->partial, shard);
	for (size_t i = 3; i < reply->count; i += 2)
		if (!copies_read(&store->alloc, &told->rows, shard, &items[i]))
			return false;
	return true;
}

/* ---- Writing ------------------------------------------------------------------------------- */

/* read_again is called when a copy was not written. After the next renewal the owner reads all
 * settings of the shard again. */
static void read_again(struct redis_store *store, const struct redis_request *request)
{
	unsigned number = (unsigned)(uintptr_t)request->context;

	if (number < store->shard_count)
		store->shards[number].topic_changes = 0;
}

static void written_answered(struct redis_store *store, struct redis_request *request,
			     const struct reply *reply)
{
	if (call_failed(store, request, reply) != FAILURE_NONE)
		read_again(store, request);
	else if (reply_is(&reply->items[0], "TYPE"))
		complain_of_key(store, reply);
	request_free(&store->alloc, request);
}

static void written_lost(struct redis_store *store, struct redis_request *request)
{
	read_again(store, request);
	request_free(&store->alloc, request);
}

void copies_begin_write(struct redis_draft *draft, const struct shard *shard, bool rare, bool wakes)
{
	(rare ? call_begin_rare : call_begin)(draft, SCRIPT_TOPIC_COPY, shard);
	command_number(&draft->words, DROPS_MAX);
	command_text(&draft->words, wakes ? shard->keys.name[NAME_WAKE] : "");
}

static void write_copies(struct redis_store *store, struct shard *shard, bool only_missing)
{
	const dw_row *row = store->later.topics.copies.known;

	while (row) {
		int count = 0;

		/* The text of the script is sent, because no other command may overtake this one in
		 * a shard that is being rebuilt. */
		copies_begin_write(&store->draft, shard, true, store->ownership.role != DW_OWNER);
		for (; row && count < COPIES_A_COMMAND; row = row->next) {
			if (only_missing && !row->deleted)
				continue;
			command_text(&store->draft.words, row->id);
			command_bytes(&store->draft.words, row->body, row->body_size);
			count++;
		}
		/* If this fails, there is no connection or no memory, and the settings are read
		 * again. */
		if (count > 0 && request_post(store, NULL, written_answered, written_lost,
					      (void *)(uintptr_t)shard->number) != DW_OK)
			shard->topic_changes = 0;
	}
}

/* copies_write writes all settings. The shard may have lost its data, and then it counts its
 * changes from 0 again. */
void copies_write(struct redis_store *store, struct shard *shard)
{
	write_copies(store, shard, false);
	shard->topic_changes = 0;
}

/* ---- The owner's copy ---------------------------------------------------------------------- */

void copies_read_all(struct redis_store *store)
{
	for (unsigned i = 0; i < store->shard_count; i++)
		store->shards[i].topic_changes = 0;
}

void copies_forget(struct redis_store *store)
{
	rows_free(&store->alloc, store->later.topics.copies.known);
	store->later.topics.copies.known = NULL;
	copies_read_all(store);
}

void copies_learn(struct redis_store *store, const char *topic, const struct reply *settings)
{
	dw_row **at = &store->later.topics.copies.known;
	dw_row *row = copy_new(&store->alloc, topic, settings->bytes, settings->size, "");

	if (!row)
		return; /* the next reading has the settings */
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

/* add_known adds the settings that the owner knows to those that the shards have. */
static void add_known(struct later *later, struct rows *rows)
{
	dw_row *row = later->topics.copies.known;

	later->topics.copies.known = NULL;
	while (row) {
		dw_row *next = row->next;

		rows_push(rows, row);
		row = next;
	}
}

const dw_row *copies_newest(const struct later *later, struct rows *rows, const char *topic)
{
	const dw_row *known = later->topics.copies.known;
	dw_row *first = copies_sort(rows);
	const dw_row *found = first ? copies_last(first) : NULL;

	while (known && strcmp(known->id, topic) != 0)
		known = known->next;
	if (!found || (known && known->head.generation > found->head.generation))
		return known;
	return found;
}

/* ---- The answer ---------------------------------------------------------------------------- */

/* add_newest adds the newest settings of a topic to the answer. The numbers are from the shard of
 * the topic's name, even if that shard has older settings. */
static bool add_newest(struct alloc *alloc, const dw_row *first, const dw_row *newest, dw_op *op,
		       dw_row ***tail)
{
	const char *numbers = newest->token;
	size_t size;
	dw_row *row;

	for (const dw_row *each = first; each != newest; each = each->next)
		if (each->token[0])
			numbers = each->token;
	size = strlen(numbers);
	row = row_new(alloc, newest->id, NULL, newest->body_size + size);
	if (!op_add_row(alloc, op, tail, row))
		return false;
	row->gone = newest->gone;
	memcpy(row_room(row), newest->body, newest->body_size);
	memcpy(row_room(row) + newest->body_size, numbers, size);
	return true;
}

struct answering {
	dw_op *op;
	dw_row ***tail;
	const struct shard_set *partial; /* shards that have told only what has changed */
	struct rows kept;
	struct shard_set differ; /* shards that lack some settings */
	size_t drops;            /* how many rows of `kept` are drops */
	bool failed;
	bool keeps;
};

/* may_tell returns true if the answer has this topic. If the operation asks for changes, the answer
 * also has drops, but only topics that a shard has told. */
static bool may_tell(const struct answering *answering, const dw_row *newest, bool in_shards)
{
	return answering->op->flags & DW_OP_CHANGES ? in_shards : !newest->gone;
}

/* keep_newest keeps the newest settings for the owner. It does not keep a drop that no shard
 * remembers, because then no shard has older settings either. */
static void keep_newest(struct redis_store *store, struct answering *answering, dw_row *newest,
			bool in_shards)
{
	bool told_all = shard_next(answering->partial, 0) >= store->shard_count;

	if (answering->keeps && (in_shards || !newest->gone || !told_all)) {
		newest->number = COPY_OF_OWNER;
		newest->token = ""; /* the numbers soon change, so they are not kept */
		answering->drops += newest->gone != 0;
		rows_push(&answering->kept, newest);
	} else {
		newest->next = NULL;
		rows_free(&store->alloc, newest);
	}
}

/* answer_topic takes the rows of one topic, from `first` to `newest`. */
static void answer_topic(struct redis_store *store, struct answering *answering, dw_row *first,
			 dw_row *newest)
{
	struct shard_set differ;
	bool in_shards = first != newest || newest->number != COPY_OF_OWNER;

	copies_note(store, first, newest, answering->partial, &differ);
	newest->deleted = shard_next(&differ, 0) < store->shard_count;
	for (unsigned i = shard_next(&differ, 0); i < store->shard_count;
	     i = shard_next(&differ, i + 1))
		shard_add(&answering->differ, i);
	if (!answering->failed && may_tell(answering, newest, in_shards))
		answering->failed =
		    !add_newest(&store->alloc, first, newest, answering->op, answering->tail);
	while (first != newest) {
		dw_row *next = first->next;

		first->next = NULL;
		rows_free(&store->alloc, first);
		first = next;
	}
	keep_newest(store, answering, newest, in_shards);
}

/* drop_misnamed drops settings with a name that no topic can have. Another program has written
 * them. */
static void drop_misnamed(struct alloc *alloc, struct rows *rows)
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
		rows_free(alloc, row);
	}
}

/* know makes the kept rows the owner's copy, and writes them into the shards that lack some. Shards
 * forget old drops without telling. So if the owner keeps too many drops, all settings are read
 * again. */
static void know(struct redis_store *store, const struct answering *answering)
{
	store->later.topics.copies.known = answering->kept.first;
	for (unsigned i = shard_next(&answering->differ, 0); i < store->shard_count;
	     i = shard_next(&answering->differ, i + 1))
		if (shard_is_ours(&store->shards[i]) || !shard_is_shared(store))
			write_copies(store, &store->shards[i], true);
	if (answering->drops > 2 * (size_t)DROPS_MAX)
		copies_read_all(store);
}

bool copies_answer(struct redis_store *store, struct copies_told *told, dw_op *op, dw_row ***tail)
{
	struct answering answering = {.op = op, .tail = tail, .partial = &told->partial};
	dw_row *first;
	bool keeps = store->ownership.role == DW_OWNER && !(op->topic && op->topic[0]);

	answering.keeps = keeps;
	if (keeps)
		add_known(&store->later, &told->rows);
	drop_misnamed(&store->alloc, &told->rows);
	first = copies_sort(&told->rows);
	told->rows = (struct rows){0};
	while (first) {
		dw_row *newest = copies_last(first);
		dw_row *next = newest->next;

		answer_topic(store, &answering, first, newest);
		first = next;
	}
	if (keeps)
		know(store, &answering);
	return !answering.failed;
}
