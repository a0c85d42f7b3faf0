/* Checks the whole namespace, shard after shard and a page at a time, so that the server serves
 * others in between. The stages of a shard: 1. The types of its keys: a key of a wrong type is
 * reported, and the stages that need it are left out. 2. The entries of the sorted set, each with
 * its value. 3. The values without an entry. 4. The ends without a time, and the times without an
 * end. 5. The dead letters. 6. The length of the inbox. 7. The names of its topics, then the queue
 * of each topic and its messages. At the end, the settings of topics are read from all shards; they
 * must be undamaged and equal. Timers change during the check, but each page shows one moment, so a
 * change never looks like a flaw. Settings that have just changed are not compared. */
#include "store/redis/heal/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "store/redis/heal/copies_differ.h"
#include "store/redis/core.h"
#include "store/redis/queue/queue_call.h"
#include "store/status.h"
#include "timer/record.h"

#define PAGE 500

enum stage {
	STAGE_TYPES,
	STAGE_CLAIMED,
	STAGE_PENDING,
	STAGE_VALUES,
	STAGE_ENDS,
	STAGE_UNTILS,
	STAGE_LETTERS,
	STAGE_INBOX,
	STAGE_NAMES,
	STAGE_QUEUES,
	STAGE_TOPICS, /* begins when all shards have passed the other stages */
	STAGES
};

/* A change of settings that is older than this must have reached all shards. */
#define SETTLED DW_SECONDS(10)
#define KEY_BIT(key) (1u << (key))
#define STRAY "is in a shard to which the id does not belong"

struct store_check {
	dw_op *op;
	dw_row **tail;
	dw_store_status sum;
	unsigned shard;
	enum stage stage;
	unsigned strange; /* the KEY_BIT of each key of this shard that has a wrong type */
	size_t page;      /* rows in the page that was asked for */
	/* Where the next page begins. From STAGE_VALUES to STAGE_UNTILS: orphans.lua's cursor. */
	struct walk_place place;
	struct rows queues; /* the topics of this shard that are not yet checked */
	struct rows copies; /* the settings of topics, as each shard has them */
};

static void next_page(struct redis_store *, struct store_check *);

static void check_free(struct alloc *alloc, struct store_check *check)
{
	walk_restart(alloc, &check->place);
	rows_free(alloc, check->queues.first);
	rows_free(alloc, check->copies.first);
	alloc_free(alloc, check);
}

static void end(struct redis_store *store, struct store_check *check, int status)
{
	dw_op *op = check->op;

	if (status == DW_OK && op->status != DW_OK)
		status = op->status;
	if (status == DW_OK) {
		op->store_status = status_new(&store->alloc, &check->sum);
		status = op->store_status ? DW_OK : DW_ENOMEM;
	}
	check_free(&store->alloc, check);
	answer(store, op, status);
}

/* flaw counts a flaw, and adds it to the answer, unless that has DW_FLAWS_MAX flaws. */
static void flaw(struct alloc *alloc, struct store_check *check, const char *id,
		 uint64_t generation, const char *what)
{
	dw_op *op = check->op;
	dw_row *row;

	if (op->status != DW_OK || op->count++ >= DW_FLAWS_MAX)
		return;
	row = row_new(alloc, id, what, strlen(what) + 1);
	if (row)
		row->head.generation = generation;
	(void)op_add_row(alloc, op, &check->tail, row); /* sets op->status without memory */
}

/* ---- What is in a page --------------------------------------------------------------------- */

static void look_at_timer(struct redis_store *store, struct store_check *check,
			  const struct reply *id, const struct reply *value, int64_t score)
{
	dw_row *row = value_row(&store->alloc, id->bytes, id->size, value->bytes, value->size);
	struct record record;
	int status;

	if (!row) {
		check->op->status = DW_ENOMEM;
		return;
	}
	status = record_of_row(row, &record);
	*(score < 0 ? &check->sum.claimed : &check->sum.pending) += 1;
	if (value->kind != REPLY_BULK)
		flaw(&store->alloc, check, row->id, 0,
		     "has an entry in the sorted set, but no value");
	else if (misplaced_is(store, &store->shards[check->shard], row->id))
		flaw(&store->alloc, check, row->id, row->head.generation, STRAY);
	else if (status != DW_OK)
		flaw(&store->alloc, check, row->id, row->head.generation,
		     status == DW_ENEWER ? "the timer is of a newer durawheel"
					 : "the timer does not match its checksum");
	else if ((row->head.state == DW_CLAIMED) != (score < 0) ||
		 value_score(row->head.due) != (score < 0 ? -score : score))
		flaw(&store->alloc, check, row->id, row->head.generation,
		     "has a score that differs from its state and deadline");
	rows_free(&store->alloc, row);
}

static void look_at_letter(struct redis_store *store, struct store_check *check,
			   const struct reply *items)
{
	const struct shard *shard = &store->shards[check->shard];
	dw_row *row = letter_row(store, shard, items);
	struct record record;
	int status;

	if (!row) {
		check->op->status = DW_ENOMEM;
		return;
	}
	check->sum.dead++;
	status = record_of_row(row, &record);
	if (status != DW_OK && row->reason != DW_REASON_CORRUPT)
		flaw(&store->alloc, check, row->id, row->head.generation,
		     misplaced_is(store, shard, row->id) ? STRAY
		     : status == DW_ENEWER               ? "the dead letter is of a newer durawheel"
					   : "the dead letter does not match its checksum");
	rows_free(&store->alloc, row);
}

/* ---- Values that no entry leads to --------------------------------------------------------- */

/* is_readable returns true if all keys that the stage needs have the right type. */
static bool is_readable(const struct store_check *check)
{
	static const unsigned keys[STAGES] = {
	    [STAGE_CLAIMED] = KEY_BIT(KEY_TIMERS) | KEY_BIT(KEY_VALUES),
	    [STAGE_PENDING] = KEY_BIT(KEY_TIMERS) | KEY_BIT(KEY_VALUES),
	    [STAGE_VALUES] = KEY_BIT(KEY_TIMERS) | KEY_BIT(KEY_VALUES),
	    [STAGE_ENDS] = KEY_BIT(KEY_ENDS) | KEY_BIT(KEY_UNTILS),
	    [STAGE_UNTILS] = KEY_BIT(KEY_ENDS) | KEY_BIT(KEY_UNTILS),
	    [STAGE_LETTERS] = KEY_BIT(KEY_DEAD) | KEY_BIT(KEY_LETTERS),
	    [STAGE_INBOX] = KEY_BIT(KEY_INBOX),
	    [STAGE_NAMES] = KEY_BIT(KEY_TOPICS),
	    [STAGE_QUEUES] = KEY_BIT(KEY_TOPICS)};

	return (keys[check->stage] & check->strange) == 0;
}

static void next_stage(struct redis_store *store, struct store_check *check)
{
	walk_restart(&store->alloc, &check->place);
	do {
		if (++check->stage == STAGE_TOPICS) {
			check->stage = STAGE_TYPES;
			check->shard++;
		}
	} while (!is_readable(check));
	next_page(store, check);
}

/* begin_anew restarts the check as soon as the server can be asked again. This is allowed, because
 * a check only reads. */
static void begin_anew(struct redis_store *store, struct store_check *check)
{
	dw_op *op = check->op;

	check_free(&store->alloc, check);
	rows_free(&store->alloc, op->rows);
	op->rows = NULL;
	op->count = 0;
	op->status = DW_OK;
	op_queue_push(&store->later.ops, op);
}

static void check_page_lost(struct redis_store *store, struct redis_request *request)
{
	struct store_check *check = request->context;

	suspect_reply_lost(store, check->op, request, check->page);
	request_free(&store->alloc, request);
	begin_anew(store, check);
}

/* check_ids reports ids that are in one key but not in the other. The script compares both keys in
 * one moment, so a timer that ends meanwhile is not a flaw. */
static void check_ids(struct redis_store *store, struct store_check *check,
		      const struct reply *reply)
{
	static const char *const flaws[STAGES] = {
	    [STAGE_VALUES] = "has a value, but no entry in the sorted set",
	    [STAGE_ENDS] = "has an end that nobody knows how long to keep",
	    [STAGE_UNTILS] = "has the time of an end, but no end"};

	for (size_t i = 1; i < reply->count; i++)
		flaw(&store->alloc, check, reply->items[i].bytes, 0, flaws[check->stage]);
	(void)snprintf(check->place.score, PLACE_SIZE, "%s", reply->items[0].bytes);
	if (strcmp(check->place.score, "0") == 0)
		next_stage(store, check);
	else
		next_page(store, check);
}

/* ---- Settings of topics ---------------------------------------------------------------------- */

struct comparison {
	struct redis_store *store;
	struct store_check *check;
};

static void flaw_of_settings(void *user, const char *topic, const char *words)
{
	struct comparison *comparison = user;

	flaw(&comparison->store->alloc, comparison->check, topic, 0, words);
}

/* compare_settings compares the settings of topics, and ends the check. */
static void compare_settings(struct redis_store *store, struct store_check *check)
{
	struct comparison comparison = {store, check};
	dw_usec until = usec_sub(store->env.now(store->env.now_user), SETTLED);

	copies_check(store, &check->copies, (uint64_t)usec_max(until, 0), flaw_of_settings,
		     &comparison);
	end(store, check, DW_OK);
}

/* drop_queue removes the first queue in the list, because it was checked. */
static void drop_queue(struct alloc *alloc, struct store_check *check)
{
	dw_row *row = rows_pop(&check->queues);

	row->next = NULL;
	rows_free(alloc, row);
}

/* next_queue checks the first queue in the list that can be in this shard. */
static void next_queue(struct redis_store *store, struct store_check *check)
{
	const struct shard *shard = &store->shards[check->shard];

	check->stage = STAGE_QUEUES;
	walk_restart(&store->alloc, &check->place);
	while (check->queues.first && (check->queues.first->status == DW_EINVAL ||
				       shard_of(store, check->queues.first->id) != shard))
		drop_queue(&store->alloc, check);
	if (check->queues.first)
		next_page(store, check);
	else
		next_stage(store, check);
}

static void check_settings(struct redis_store *store, struct store_check *check,
			   const struct reply *reply)
{
	struct rows *rows = check->stage == STAGE_NAMES ? &check->queues : &check->copies;

	for (size_t i = 4; i < reply->count; i += 2)
		if (!copies_read(&store->alloc, rows, check->shard, &reply->items[i])) {
			end(store, check, DW_ENOMEM);
			return;
		}
	if (check->stage == STAGE_NAMES) {
		next_queue(store, check);
		return;
	}
	check->shard++;
	next_page(store, check);
}

/* ---- Pages --------------------------------------------------------------------------------- */

static void go_on(struct redis_store *store, struct store_check *check, const struct reply *member,
		  const char *place)
{
	if (walk_keep(&store->alloc, &check->place, member, place))
		next_page(store, check);
	else
		end(store, check, DW_ENOMEM);
}

static void check_types(struct redis_store *store, struct store_check *check,
			const struct reply *reply)
{
	char words[CUT_OFF_WORDS];

	check->strange = 0;
	for (unsigned i = 0; i < KEYS_OF_SHARD; i++) {
		if (!cut_off_type_differs(reply, i, words))
			continue;
		check->strange |= KEY_BIT(i);
		flaw(&store->alloc, check, store->shards[check->shard].keys.name[i], 0, words);
	}
	next_stage(store, check);
}

static void check_inbox(struct redis_store *store, struct store_check *check,
			const struct reply *reply)
{
	check->sum.inbox += (uint64_t)reply->integer;
	next_stage(store, check);
}

static void check_queues(struct redis_store *store, struct store_check *check,
			 const struct reply *reply)
{
	for (size_t i = 1; i < reply->count; i += 2)
		flaw(&store->alloc, check, reply->items[i].bytes, 0, reply->items[i + 1].bytes);
	(void)snprintf(check->place.score, PLACE_SIZE, "%s", reply->items[0].bytes);
	if (check->place.score[0]) {
		next_page(store, check);
		return;
	}
	drop_queue(&store->alloc, check);
	next_queue(store, check);
}

static void check_timers(struct redis_store *store, struct store_check *check,
			 const struct reply *reply)
{
	size_t count = reply->items[0].count;

	for (size_t i = 0; i < count; i++)
		look_at_timer(store, check, &reply->items[0].items[i], &reply->items[1].items[i],
			      strtoll(reply->items[2].items[i].bytes, NULL, 10));
	if (count < check->page)
		next_stage(store, check);
	else
		go_on(store, check, &reply->items[0].items[count - 1],
		      reply->items[2].items[count - 1].bytes);
}

static void check_letters(struct redis_store *store, struct store_check *check,
			  const struct reply *reply)
{
	const struct reply *items = reply->items;

	for (size_t i = 0; i < reply->count; i += 3)
		look_at_letter(store, check, items + i);
	if (reply->count / 3 < check->page)
		next_stage(store, check);
	else
		go_on(store, check, &items[reply->count - 3], items[reply->count - 2].bytes);
}

/* page_refused asks for the page again if the server did not know the script. If the server refuses
 * for a while (BUSY, LOADING), the check starts again later. Otherwise the check fails. */
static void page_refused(struct redis_store *store, struct redis_request *request,
			 const struct reply *reply)
{
	struct store_check *check = request->context;
	enum failure failure = call_failed(store, request, reply);

	request_free(&store->alloc, request);
	if (failure != FAILURE_AGAIN)
		end(store, check, DW_ESTORE);
	else if (reply_passes(reply))
		begin_anew(store, check);
	else
		next_page(store, check);
}

static void check_page_answered(struct redis_store *store, struct redis_request *request,
				const struct reply *reply)
{
	struct store_check *check = request->context;
	bool letters = check->stage == STAGE_LETTERS;

	if (reply->kind == REPLY_ERROR) {
		page_refused(store, request, reply);
		return;
	}
	request_free(&store->alloc, request);
	if (check->stage == STAGE_TYPES)
		check_types(store, check, reply);
	else if (check->stage >= STAGE_VALUES && check->stage <= STAGE_UNTILS)
		check_ids(store, check, reply);
	else if (check->stage == STAGE_INBOX)
		check_inbox(store, check, reply);
	else if (check->stage == STAGE_TOPICS || check->stage == STAGE_NAMES)
		check_settings(store, check, reply);
	else if (check->stage == STAGE_QUEUES)
		check_queues(store, check, reply);
	else
		(letters ? check_letters : check_timers)(store, check, reply);
}

static void add_queue_question(struct redis_store *store, const struct store_check *check,
			       const struct shard *shard, struct queue_room *room)
{
	call_begin_rare(&store->draft, SCRIPT_QUEUE_CHECK, shard);
	queue_call_add_keys(store, SCRIPT_QUEUE_CHECK, shard, check->queues.first->id, room);
	command_text(&store->draft.words, check->place.score);
	command_number(&store->draft.words, (int64_t)check->page);
}

/* add_question writes the command for the next page of the stage. `room` is used until the command
 * is sent. */
static void add_question(struct redis_store *store, const struct store_check *check,
			 const struct shard *shard, struct queue_room *room)
{
	struct redis_command *words = &store->draft.words;

	switch (check->stage) {
	case STAGE_TYPES:
		call_begin_rare(&store->draft, SCRIPT_TYPES, shard);
		return;
	case STAGE_VALUES:
	case STAGE_ENDS:
	case STAGE_UNTILS:
		call_begin_rare(&store->draft, SCRIPT_ORPHANS, shard);
		command_text(words, check->stage == STAGE_VALUES ? "h"
				    : check->stage == STAGE_ENDS ? "E"
								 : "x");
		command_text(words, check->place.score[0] ? check->place.score : "0");
		return;
	case STAGE_LETTERS:
		walk_letters(&store->draft, shard, check->page, &check->place);
		return;
	case STAGE_INBOX:
		command_begin(&store->draft, COMMAND_ZCARD);
		command_bytes(words, shard->keys.name[KEY_INBOX], shard->keys.size[KEY_INBOX]);
		return;
	case STAGE_QUEUES:
		add_queue_question(store, check, shard, room);
		return;
	case STAGE_NAMES:
	case STAGE_TOPICS:
		copies_ask(&store->draft, shard, "", false);
		return;
	default:
		walk_timers(&store->draft, shard, check->stage == STAGE_CLAIMED ? '-' : '+',
			    check->page, &check->place);
		command_text(words, "s");
		store->draft.shape = shape_of(COMMAND_PAGE_SCORES);
	}
}

static void next_page(struct redis_store *store, struct store_check *check)
{
	struct queue_room room;
	struct shard *shard;
	int status;

	if (check->shard == store->shard_count && check->stage != STAGE_TOPICS) {
		check->stage = STAGE_TOPICS;
		check->shard = 0;
	}
	if (check->shard == store->shard_count) {
		compare_settings(store, check);
		return;
	}
	shard = &store->shards[check->shard];
	check->page = suspect_rows(store, PAGE);
	add_question(store, check, shard, &room);
	status = request_post(store, shard, check_page_answered, check_page_lost, check);
	if (status != DW_OK && (shard->node->connection || shard->cut.state == CUT_OFF)) {
		end(store, check, status == DW_ENOMEM ? DW_ENOMEM : DW_ESTORE);
	} else if (status != DW_OK) { /* the shard's node may be back soon */
		shard_pause(&store->sets, shard, usec_add(store->now, PAUSE));
		begin_anew(store, check);
	}
}

void check_begin(struct redis_store *store, dw_op *op)
{
	struct store_check *check = alloc_new(&store->alloc, sizeof *check);

	if (!check) {
		answer(store, op, DW_ENOMEM);
		return;
	}
	check->op = op;
	check->tail = &op->rows;
	if (suspect_fails(store, op))
		end(store, check, DW_ELIMIT);
	else
		next_page(store, check);
}
