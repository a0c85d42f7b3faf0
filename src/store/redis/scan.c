/* Pages in order over all shards. Each shard has two streams of timers, the claimed and the pending
 * ones, each in the order of its sorted set; a page is merged from them. The sorted set knows
 * deadlines only, and equal ones stand there by name; so a group of equal ones is read to its end
 * and sorted by generation before any of it is given. Dead letters are streams of one kind, in the
 * order of their numbers; a letter's number is its score in the sorted set, because what it says
 * itself may be damaged.
 *
 * A scan that has given its page is kept for a moment, with what it has read ahead: the next page
 * is asked for at once, mostly. */
#include "store/redis/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "store/redis/rows.h"
#include "timer/record.h"

#define FIRST_PAGE 32u      /* of a stream; no row is given before each has one */
#define PAGE 512u           /* the others double up to this */
#define AHEAD_MAX 32768u    /* of all shards */
#define UNDER_WAY_MAX 1024u /* rows, in front of a claim */
#define KEPT DW_SECONDS(1)
#define LETTER_HEAD 17u

struct stream {
	struct scan *scan;
	struct shard *shard;
	char sign; /* '+', '-'; 'd': dead letters */
	bool asked;
	bool ended;
	size_t page;  /* so many rows are asked for */
	char *member; /* where the last page ended; NULL: at the start */
	size_t member_size;
	char score[PLACE_SIZE]; /* "": the very start */
	struct rows ready;
	struct rows group; /* of one score, perhaps not complete */
	int64_t group_score;
};

struct scan {
	struct scan *next;
	dw_op *op; /* NULL: it has given its page */
	dw_op_kind kind;
	bool filtered;  /* by a topic */
	bool failed;    /* no memory */
	bool useless;   /* freed when its commands are answered */
	dw_cursor last; /* of what was given */
	dw_usec at;
	dw_usec since; /* it has read */
	unsigned under_way;
	size_t rows_under_way; /* at most */
	size_t page;           /* of a stream at most */
	size_t ahead;          /* so many rows of a stream are asked for before they are wanted */
	unsigned count;
	struct stream streams[];
};

/* ---- Rows ---------------------------------------------------------------------------------- */

static bool is_before(const dw_row *a, const dw_row *b)
{
	if (a->number != b->number)
		return a->number < b->number;
	if (a->head.due != b->head.due)
		return a->head.due < b->head.due;
	return a->head.generation < b->head.generation;
}

static void close_group(struct stream *stream)
{
	dw_row *row = stream->group.first;

	if (stream->group.count > 1)
		row = rows_sort(row, is_before);
	stream->group = (struct rows){0};
	while (row) {
		dw_row *next = row->next;

		rows_push(&stream->ready, row);
		row = next;
	}
}

/* ---- A scan -------------------------------------------------------------------------------- */

static void scan_free(struct redis_store *store, struct scan *scan)
{
	struct scan **at = &store->scans;

	while (*at != scan)
		at = &(*at)->next;
	*at = scan->next;
	for (unsigned i = 0; i < scan->count; i++) {
		struct stream *stream = &scan->streams[i];

		rows_free(&store->alloc, stream->ready.first);
		rows_free(&store->alloc, stream->group.first);
		alloc_free(&store->alloc, stream->member);
	}
	alloc_free(&store->alloc, scan);
}

/* give_up: nobody wants it any more. */
static void give_up(struct redis_store *store, struct scan *scan)
{
	scan->useless = true;
	if (scan->under_way == 0)
		scan_free(store, scan);
}

static void stream_init(struct scan *scan, struct stream *stream, struct shard *shard, char sign,
			const dw_cursor *after)
{
	int64_t score = value_score(after->due);

	stream->scan = scan;
	stream->shard = shard;
	stream->sign = sign;
	stream->page = scan->page < FIRST_PAGE ? scan->page : FIRST_PAGE;
	if (!after->started)
		return;
	/* From the beginning of the cursor's own group: behind all that are better. */
	if (sign == 'd')
		(void)snprintf(stream->score, sizeof stream->score, "%llu",
			       (unsigned long long)after->generation);
	else
		(void)snprintf(stream->score, sizeof stream->score, "%lld",
			       (long long)(sign == '+' ? score : 1 - score));
}

static struct scan *scan_new(struct redis_store *store, dw_op *op)
{
	bool dead = op->kind == DW_OP_DEAD_SCAN;
	unsigned count = store->shard_count * (dead ? 1 : 2);
	struct scan *scan = alloc_new(&store->alloc, sizeof *scan + count * sizeof(struct stream));

	if (!scan)
		return NULL;
	scan->kind = op->kind;
	scan->filtered = op->topic != NULL;
	scan->last = op->after;
	scan->page = op->limit < PAGE / 4 && !op->topic ? op->limit + 1 : PAGE;
	scan->ahead = scan->page;
	scan->count = count;
	scan->since = store->now;
	for (unsigned i = 0; i < count; i++)
		stream_init(scan, &scan->streams[i], &store->shards[dead ? i : i / 2],
			    dead ? 'd' : "-+"[i % 2], &op -> after);
	scan->next = store->scans;
	store->scans = scan;
	return scan;
}

/* ---- Pages --------------------------------------------------------------------------------- */

static bool is_behind(const struct scan *scan, const dw_row *row)
{
	if (!scan->last.started || row->number)
		return true;
	return row->head.due > scan->last.due ||
	       (row->head.due == scan->last.due && row->head.generation > scan->last.generation);
}

/* add_row: false: no memory. */
static bool add_row(struct redis_store *store, struct stream *stream, dw_row *row, int64_t score)
{
	if (!row)
		return false;
	if (row->status == DW_ECORRUPT && stream->sign != 'd')
		row->head.due = score < 0 ? -score : score;
	if (!is_behind(stream->scan, row)) {
		rows_free(&store->alloc, row);
		return true;
	}
	if (stream->group.first && stream->group_score != score)
		close_group(stream);
	stream->group_score = score;
	rows_push(&stream->group, row);
	return true;
}

/* number_of a letter with that score. Ours are whole numbers below 2^53; others are rounded up, so
 * that a page behind the number does not begin with the letter again. */
static uint64_t number_of(const char *score)
{
	uint64_t number = strtoull(score, NULL, 10);

	if (score[0] == '-' || strstr(score, "e-"))
		return 1;
	if (strchr(score, 'e') || strchr(score, 'i')) /* inf */
		return INT64_MAX;
	number += strchr(score, '.') != NULL;
	return number > 0 ? number : 1;
}

/* version_of a letter: the one in its name, behind the id. */
static uint64_t version_of(const struct reply *member)
{
	size_t id_size = strnlen(member->bytes, member->size);

	return id_size < member->size ? strtoull(member->bytes + id_size + 1, NULL, 10) : 0;
}

dw_row *scan_letter(struct redis_store *store, const struct shard *shard, const struct reply *items)
{
	const struct reply *letter = &items[2];
	const unsigned char *bytes = (const unsigned char *)letter->bytes;
	bool whole = letter->kind == REPLY_BULK && letter->size >= LETTER_HEAD;
	dw_row *row =
	    value_row(&store->alloc, items[0].bytes, items[0].size,
		      whole ? bytes + LETTER_HEAD : NULL, whole ? letter->size - LETTER_HEAD : 0);

	if (!row)
		return NULL;
	row->number = number_of(items[1].bytes);
	row->head.generation = version_of(&items[0]);
	if (stray_is(store, shard, row->id))
		row->status = DW_ECORRUPT;
	if (whole) {
		row->at = (dw_usec)bytes_get(bytes + 8, 8);
		row->reason = (dw_reason)bytes[16];
	}
	return row;
}

/* keep_place remembers where the page ended. False: no memory. */
static bool keep_place(struct redis_store *store, struct stream *stream, const struct reply *member,
		       const char *score)
{
	char *copy = store->alloc.resize(store->alloc.user, stream->member, member->size + 1);

	if (!copy)
		return false;
	stream->member = memcpy(copy, member->bytes, member->size);
	stream->member_size = member->size;
	(void)snprintf(stream->score, sizeof stream->score, "%s", score);
	return true;
}

static bool take_letters(struct redis_store *store, struct stream *stream,
			 const struct reply *reply)
{
	const struct reply *items = reply->items;

	for (size_t i = 0; i < reply->count; i += 3) {
		dw_row *row = scan_letter(store, stream->shard, items + i);

		if (!add_row(store, stream, row, row ? (int64_t)row->number : 0))
			return false;
	}
	stream->ended = reply->count / 3 < stream->page;
	return stream->ended ||
	       keep_place(store, stream, &items[reply->count - 3], items[reply->count - 2].bytes);
}

/* score_of a row that was read: its deadline says. A damaged one stands where the one before it
 * stood, or where the page begins. */
static int64_t score_of(const struct stream *stream, const dw_row *row)
{
	if (row->status != DW_ECORRUPT)
		return stream->sign == '+' ? value_score(row->head.due)
					   : -value_score(row->head.due);
	return stream->group.first ? stream->group_score : strtoll(stream->score, NULL, 10);
}

static bool take_timers(struct redis_store *store, struct stream *stream, const struct reply *reply)
{
	const struct reply *ids = reply->count > 0 ? &reply->items[0] : reply;
	const struct reply *values = reply->count > 0 ? &reply->items[1] : reply;

	for (size_t i = 0; i < ids->count; i++) {
		const struct reply *id = &ids->items[i];
		const struct reply *value = &values->items[i];
		dw_row *row =
		    value_row(&store->alloc, id->bytes, id->size, value->bytes, value->size);
		int64_t score = row ? score_of(stream, row) : 0;

		if (row) {
			lease_note_row(stream->shard, row);
			stray_row(store, stream->shard, row);
			if (row->deleted)
				mend_soon(store, stream->shard);
		}
		if (!add_row(store, stream, row, score))
			return false;
	}
	stream->ended = ids->count < stream->page;
	return stream->ended ||
	       keep_place(store, stream, &ids->items[ids->count - 1], reply->items[2].bytes);
}

/* arrived: the page that was asked for has come, or was lost. */
static void arrived(struct stream *stream)
{
	stream->asked = false;
	stream->scan->under_way--;
	stream->scan->rows_under_way -= stream->page;
}

static void came(struct redis_store *store, struct request *request, const struct reply *reply)
{
	struct stream *stream = request->context;
	struct scan *scan = stream->scan;

	request_free(store, request);
	arrived(stream);
	if (scan->useless) {
		give_up(store, scan);
	} else if (reply->kind != REPLY_ERROR) {
		if (!(stream->sign == 'd' ? take_letters : take_timers)(store, stream, reply))
			scan->failed = true;
		if (stream->ended)
			close_group(stream);
		if (stream->page < scan->page)
			stream->page =
			    2 * stream->page < scan->page ? 2 * stream->page : scan->page;
	}
}

static void page_answered(struct redis_store *store, struct request *request,
			  const struct reply *reply)
{
	if (reply->kind == REPLY_ERROR && call_failed(store, request, reply) != FAILURE_NONE &&
	    request->shard->pause_until <= store->now)
		request->shard->pause_until = usec_add(store->now, DW_MILLISECONDS(2));
	came(store, request, reply);
}

static void page_lost(struct redis_store *store, struct request *request)
{
	struct stream *stream = request->context;

	request_free(store, request);
	arrived(stream);
	if (stream->scan->useless)
		give_up(store, stream->scan);
}

static void add_place(struct redis_command *words, const struct stream *stream)
{
	command_text(words, stream->score);
	command_bytes(words, stream->member ? stream->member : "",
		      stream->member ? stream->member_size : 0);
}

static void ask(struct redis_store *store, struct stream *stream)
{
	struct redis_command *words = &store->words;
	struct request *request;

	if (!store->connection || store->now < stream->shard->pause_until)
		return;
	request = request_new(store, stream->shard, page_answered, page_lost);
	if (!request)
		return;
	request->context = stream;
	if (stream->sign == 'd') {
		call_begin_rare(store, "dead_page", stream->shard);
		add_place(words, stream);
		command_number(words, (int64_t)stream->page);
	} else {
		call_begin(store, "page", stream->shard);
		command_bytes(words, &stream->sign, 1);
		command_number(words, (int64_t)stream->page);
		add_place(words, stream);
	}
	if (request_send(store, request) != DW_OK) {
		request_free(store, request);
		return;
	}
	stream->asked = true;
	stream->scan->under_way++;
	stream->scan->rows_under_way += stream->page;
}

/* ---- Giving -------------------------------------------------------------------------------- */

static bool is_wanted(const dw_op *op, const dw_row *row)
{
	size_t size = op->topic ? strlen(op->topic) : 0;
	struct record record;

	if (!op->topic)
		return true;
	return record_of_row(row, &record) != DW_ECORRUPT && record.topic_size == size &&
	       memcmp(record.topic, op->topic, size) == 0;
}

/* next_row: the first of all, or NULL: all is given (*ret_ended), or a stream has to be read on. */
static dw_row *next_row(struct scan *scan, bool *ret_ended)
{
	struct stream *least = NULL;

	*ret_ended = false;
	for (unsigned i = 0; i < scan->count; i++) {
		struct stream *stream = &scan->streams[i];

		if (!stream->ready.first) {
			if (!stream->ended)
				return NULL;
			continue;
		}
		if (!least || is_before(stream->ready.first, least->ready.first))
			least = stream;
	}
	*ret_ended = !least;
	return least ? rows_pop(&least->ready) : NULL;
}

static void answer_scan(struct redis_store *store, struct scan *scan, int status)
{
	dw_op *op = scan->op;

	scan->op = NULL;
	scan->at = store->now;
	if (status != DW_OK) {
		rows_free(&store->alloc, op->rows);
		op->rows = NULL;
		op->row_count = 0;
	} else {
		op->after = scan->last;
	}
	answer_behind(store, op, status);
}

static dw_row **tail_of(dw_op *op)
{
	dw_row **tail = &op->rows;

	while (*tail)
		tail = &(*tail)->next;
	return tail;
}

/* give fills the page; true: the scan is at its end. */
static bool give(struct redis_store *store, struct scan *scan)
{
	dw_op *op = scan->op;
	dw_row **tail = tail_of(op);
	bool ended = false;

	while (op->row_count < op->limit) {
		dw_row *row = next_row(scan, &ended);

		if (!row)
			break;
		scan->last =
		    (dw_cursor){.due = row->head.due,
				.generation = row->number ? row->number : row->head.generation,
				.started = 1};
		if (!is_wanted(op, row)) {
			rows_free(&store->alloc, row);
			continue;
		}
		*tail = row;
		tail = &row->next;
		op->row_count++;
	}
	if (ended || op->row_count >= op->limit)
		answer_scan(store, scan, DW_OK);
	return ended;
}

/* read_on asks for pages of streams that have fewer rows than wanted, as long as the pages under
 * way do not keep a claim waiting. */
static void read_on(struct redis_store *store, struct scan *scan, size_t wanted)
{
	for (unsigned i = 0; i < scan->count && scan->rows_under_way < UNDER_WAY_MAX; i++) {
		struct stream *stream = &scan->streams[i];

		if (!stream->ended && !stream->asked && stream->ready.count < wanted)
			ask(store, stream);
	}
}

static void scan_on(struct redis_store *store, struct scan *scan)
{
	if (scan->op && scan->failed)
		answer_scan(store, scan, DW_ENOMEM);
	if (scan->op && give(store, scan)) {
		give_up(store, scan);
		return;
	}
	if (!scan->op && (scan->failed || scan->filtered || store->now > scan->at + KEPT)) {
		give_up(store, scan);
		return;
	}
	read_on(store, scan, 1);
	read_on(store, scan, scan->ahead);
}

static bool goes_on(const struct scan *scan, const dw_op *op)
{
	return !scan->op && !scan->useless && !scan->failed && scan->kind == op->kind &&
	       !scan->filtered && !op->topic && op->after.started &&
	       scan->last.generation == op->after.generation &&
	       (scan->kind == DW_OP_DEAD_SCAN || scan->last.due == op->after.due);
}

/* read_farther: a scan that goes on mostly goes on to its end. */
static void read_farther(const struct redis_store *store, struct scan *scan)
{
	if (scan->page == PAGE && scan->ahead < AHEAD_MAX / store->shard_count)
		scan->ahead *= 2;
}

void scan_begin(struct redis_store *store, dw_op *op)
{
	struct scan *scan = store->scans;

	while (scan && !goes_on(scan, op))
		scan = scan->next;
	if (scan)
		read_farther(store, scan);
	else
		scan = scan_new(store, op);
	if (!scan) {
		answer(store, op, DW_ENOMEM);
		return;
	}
	scan->op = op;
	op->store_floor = (uint64_t)scan->since;
	scan_on(store, scan);
}

void scan_work(struct redis_store *store)
{
	struct scan *scan = store->scans;

	while (scan) {
		struct scan *next = scan->next;

		if (!scan->useless)
			scan_on(store, scan);
		scan = next;
	}
}

static void end_scans(struct redis_store *store, int status, dw_usec until)
{
	struct scan *scan = store->scans;

	while (scan) {
		struct scan *next = scan->next;

		if (scan->op && scan->op->store_deadline <= until) {
			answer_scan(store, scan, status);
			give_up(store, scan);
		}
		scan = next;
	}
}

void scan_end_all(struct redis_store *store, int status)
{
	end_scans(store, status, DW_NEVER);
}

void scan_overdue(struct redis_store *store)
{
	end_scans(store, DW_ESTORE, store->now);
}

void scan_free_all(struct redis_store *store)
{
	while (store->scans)
		scan_free(store, store->scans);
}
