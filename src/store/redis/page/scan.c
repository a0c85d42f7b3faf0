/* Answers scans: pages of timers or dead letters, in order over all shards. Each shard has two
 * streams of timers, the claimed and the pending ones. A page is merged from all streams. The rows
 * of a stream come in the order of a sorted set, where timers with equal deadlines are sorted by
 * name. So a group of equal deadlines is read to its end and sorted by generation before the scan
 * returns any of it. Dead letters are one stream per shard, in the order of their numbers. A
 * letter's number is its score, because the letter itself may be damaged.
 *
 * Each stream tells how far it has looked. The scan returns a row when no stream can have an
 * earlier one. When a scan has looked at DW_SCAN_LOOKS timers or letters, it is answered with the
 * rows that it has, and later continues after the place that all streams have passed.
 *
 * After its answer a scan is kept for a moment, with the rows that it has read ahead, because the
 * next page is usually asked for at once. */
#include "store/redis/page/scan.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"
#include "timer/selection.h"

#define AHEAD_MAX 32768u    /* the most rows read ahead, of all shards together */
#define UNDER_WAY_MAX 1024u /* the most rows under way, because claims have to wait for them */
#define KEPT DW_SECONDS(1)

static struct filter filter_of(const dw_op *op)
{
	struct filter filter = {.end = op->head.due,
				.states = op->head.state,
				.has_topic = op->topic != NULL,
				.recurring = op->flags & DW_OP_RECURRING};

	/* If the topic is too long, it is cut here; selection_has() compares all of it. */
	if (op->topic)
		(void)snprintf(filter.topic, sizeof filter.topic, "%s", op->topic);
	if (op->body_size > 0 && !(op->flags & DW_OP_SHARDS))
		memcpy(filter.prefix, op->body, op->body_size);
	return filter;
}

static bool filter_is_same(const struct filter *a, const struct filter *b)
{
	return strcmp(a->topic, b->topic) == 0 && strcmp(a->prefix, b->prefix) == 0 &&
	       a->end == b->end && a->states == b->states && a->has_topic == b->has_topic &&
	       a->recurring == b->recurring;
}

/* page_of returns the most rows that a page of a stream looks at. */
static size_t page_of(const struct scan *scan, const dw_op *op)
{
	bool is_short = op->limit < STREAM_PAGE / 4 && !filter_leaves_out(&scan->filter);

	return is_short ? op->limit + 1 : STREAM_PAGE;
}

/* cover notes whether the scan reads a shard. If it does not, the shard's streams count as
 * ended. */
static void cover(struct scan *scan, unsigned shard, bool is_covered)
{
	if (is_covered)
		scan->shards[shard / 8] |= (unsigned char)(1u << shard % 8);
	for (unsigned i = 0; i < scan->count; i++)
		if (scan->streams[i].shard->number == shard)
			scan->streams[i].ended = !is_covered;
}

/* covers_same returns true if the scan reads exactly the shards that the operation is about. */
static bool covers_same(const struct redis_store *store, const struct scan *scan, const dw_op *op)
{
	for (unsigned i = 0; i < store->shard_count; i++)
		if (op_covers_shard(op, i) != ((scan->shards[i / 8] & 1u << i % 8) != 0))
			return false;
	return true;
}

/* scan_new makes a scan. `signs` names the streams that it has in each shard (stream.h). */
static struct scan *scan_new(struct redis_store *store, dw_op *op, const char *signs,
			     dw_cursor after)
{
	unsigned each = (unsigned)strlen(signs);
	unsigned count = store->shard_count * each;
	struct scan *scan = alloc_new(&store->alloc, sizeof *scan + count * sizeof(struct stream));

	if (!scan)
		return NULL;
	scan->kind = op->kind;
	scan->skips = op->kind == DW_OP_SCAN && !op->asked;
	scan->filter = filter_of(op);
	scan->last = after;
	scan->page = page_of(scan, op);
	scan->ahead = scan->page;
	scan->count = count;
	scan->since = store->now;
	for (unsigned i = 0; i < count; i++)
		stream_init(scan, &scan->streams[i], &store->shards[i / each], signs[i % each],
			    &after);
	for (unsigned i = 0; i < store->shard_count; i++)
		cover(scan, i, op_covers_shard(op, i));
	scan->next = store->scans;
	store->scans = scan;
	return scan;
}

/* ---- Giving ---------------------------------------------------------------------------------- */

/* reach_of returns a lower bound for the scores of all rows that the stream has not returned
 * yet. */
static int64_t reach_of(const struct stream *stream)
{
	if (stream->ready.first)
		return stream_score(stream->ready.first);
	return stream->ended ? INT64_MAX : stream->reach;
}

/* floor_of returns a lower bound for the scores of all rows that the scan has not returned yet.
 * INT64_MAX: the scan is at its end. */
static int64_t floor_of(const struct scan *scan)
{
	int64_t floor = INT64_MAX;

	for (unsigned i = 0; i < scan->count; i++)
		floor = usec_min(floor, reach_of(&scan->streams[i]));
	return floor;
}

/* next_row takes the first row of all streams. It returns NULL if there are no more rows
 * (*ret_ended is then true), or if a stream must read its next page first. */
static dw_row *next_row(struct scan *scan, bool *ret_ended)
{
	struct stream *least = NULL;
	/* The lowest score that a stream without a ready row can still return. */
	int64_t floor = INT64_MAX;

	for (unsigned i = 0; i < scan->count; i++) {
		struct stream *stream = &scan->streams[i];

		if (!stream->ready.first)
			floor = usec_min(floor, reach_of(stream));
		else if (!least || stream_row_is_before(stream->ready.first, least->ready.first))
			least = stream;
	}
	*ret_ended = !least && floor == INT64_MAX;
	if (!least || stream_score(least->ready.first) >= floor)
		return NULL;
	return rows_pop(&least->ready);
}

static void answer_scan(struct redis_store *store, struct scan *scan, int status)
{
	dw_op *op = scan->op;

	scan->op = NULL;
	scan->at = store->now;
	if (status == DW_OK && scan->partial && op->flags & DW_OP_PARTIAL)
		op->flags |= DW_OP_LACKS;
	else if (status == DW_OK && scan->partial && op->asked)
		status = DW_ESTORE;
	if (status != DW_OK) {
		rows_free(&store->alloc, op->rows);
		op->rows = NULL;
		op->row_count = 0;
	} else {
		uint64_t looked = op->after.looked + (scan->looked - scan->told);

		scan->told = scan->looked;
		op->after = scan->last;
		op->after.looked = looked;
	}
	answer(store, op, status);
}

static dw_row **tail_of(dw_op *op)
{
	dw_row **tail = &op->rows;

	while (*tail)
		tail = &(*tail)->next;
	return tail;
}

/* pass moves the scan's place behind all rows with a lower score than `floor`. It returns false if
 * the place is there already. */
static bool pass(struct scan *scan, int64_t floor)
{
	bool letters = scan->kind == DW_OP_DEAD_SCAN;
	dw_cursor *last = &scan->last;
	int64_t place = floor - 1;

	if (floor <= 1) /* no score is below 1 */
		return false;
	if (last->started && place <= (letters ? (int64_t)last->generation : last->due))
		return false;
	*last = letters ? (dw_cursor){.generation = (uint64_t)place, .started = 1}
			: (dw_cursor){.due = place, .generation = INT64_MAX, .started = 1};
	return true;
}

/* stop_early returns true if the scan has looked at enough rows and can continue later from a known
 * place. */
static bool stop_early(struct scan *scan)
{
	dw_op *op = scan->op;
	bool passes;

	if (!filter_leaves_out(&scan->filter) || scan->looked - scan->told < DW_SCAN_LOOKS)
		return false;
	passes = pass(scan, floor_of(scan));
	if (!passes && op->row_count == 0)
		return false;
	op->flags |= DW_OP_PART;
	return true;
}

/* give adds rows to the answer's page. Returns true if the scan is at its end. */
static bool give(struct redis_store *store, struct scan *scan)
{
	dw_op *op = scan->op;
	dw_row **tail = tail_of(op);
	bool ended = false;

	while (op->row_count < op->limit) {
		dw_row *row = next_row(scan, &ended);

		if (!row)
			break;
		if (!op_is_before_end(op, row->head.due)) {
			rows_free(&store->alloc, row);
			ended = true;
			break;
		}
		scan->last =
		    (dw_cursor){.due = row->head.due,
				.generation = row->number ? row->number : row->head.generation,
				.started = 1};
		if (!selection_has(op, row)) {
			rows_free(&store->alloc, row);
			continue;
		}
		*tail = row;
		tail = &row->next;
		op->row_count++;
	}
	if (ended || op->row_count >= op->limit || stop_early(scan))
		answer_scan(store, scan, DW_OK);
	return ended;
}

/* next_stream returns the stream that must read next: the one that has come least far, among those
 * that may read. With `before`, it returns the one that follows that stream in this order. NULL:
 * there is none. */
static struct stream *next_stream(struct scan *scan, const struct stream *before)
{
	struct stream *least = NULL;

	for (struct stream *stream = scan->streams; stream < scan->streams + scan->count;
	     stream++) {
		if (stream->ended || stream->asked || stream->ready.count >= scan->ahead)
			continue;
		if (before && (stream->reach < before->reach ||
			       (stream->reach == before->reach && stream <= before)))
			continue;
		if (!least || stream->reach < least->reach)
			least = stream;
	}
	return least;
}

/* read_on asks for the next pages of streams. A claim has to wait for the rows that the server is
 * reading, so only few rows are under way at a time. A scan that leaves out timers does not read
 * ahead, because the next row that it wants may be far away. */
static void read_on(struct redis_store *store, struct scan *scan)
{
	struct stream *stream = NULL;

	if (!scan->op && filter_leaves_out(&scan->filter))
		return;
	while (scan->rows_under_way < UNDER_WAY_MAX && (stream = next_stream(scan, stream)))
		stream_ask(store, stream);
}

static void scan_on(struct redis_store *store, struct scan *scan)
{
	if (scan->op && scan->failed)
		answer_scan(store, scan, scan->failed);
	if (scan->op && give(store, scan)) {
		stream_give_up(store, scan);
		return;
	}
	if (!scan->op && (scan->failed || store->now > scan->at + KEPT)) {
		stream_give_up(store, scan);
		return;
	}
	read_on(store, scan);
}

static bool goes_on(const struct redis_store *store, const struct scan *scan, const dw_op *op)
{
	struct filter filter = filter_of(op);

	return !scan->op && !scan->useless && !scan->failed && scan->kind == op->kind &&
	       filter_is_same(&scan->filter, &filter) && op->after.started &&
	       covers_same(store, scan, op) && scan->last.generation == op->after.generation &&
	       (scan->kind == DW_OP_DEAD_SCAN || scan->last.due == op->after.due);
}

/* read_farther doubles the number of rows that are read ahead. A scan that asks for a second page
 * usually asks for all pages. */
static void read_farther(const struct redis_store *store, struct scan *scan)
{
	if (scan->page == STREAM_PAGE && scan->ahead < AHEAD_MAX / store->shard_count)
		scan->ahead *= 2;
}

static const char *signs_of(const dw_op *op)
{
	if (op->kind == DW_OP_DEAD_SCAN)
		return "d";
	if (op->head.state == 1u << DW_PENDING)
		return "+";
	return op->head.state == 1u << DW_CLAIMED ? "-" : "-+";
}

void scan_begin(struct redis_store *store, dw_op *op)
{
	struct scan *scan = store->scans;

	while (scan && !goes_on(store, scan, op))
		scan = scan->next;
	if (scan)
		read_farther(store, scan);
	else
		scan = scan_new(store, op, signs_of(op), op->after);
	if (!scan) {
		answer(store, op, DW_ENOMEM);
		return;
	}
	scan->op = op;
	place_of(op)->floor = (uint64_t)scan->since;
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

/* is_ended returns true if the scan must end. With `all`, every scan ends. This includes a scan
 * that was answered and is kept for its next page, because the rows that it has read ahead would be
 * out of date. Without `all`, a scan ends at the deadline of its operation. */
static bool is_ended(const struct redis_store *store, const struct scan *scan, bool all)
{
	return !scan->useless && (all || (scan->op && place_of(scan->op)->deadline <= store->now));
}

static void end_scans(struct redis_store *store, int status, bool all)
{
	struct scan *scan = store->scans;

	while (scan) {
		struct scan *next = scan->next;

		if (is_ended(store, scan, all)) {
			if (scan->op)
				answer_scan(store, scan, status);
			stream_give_up(store, scan);
		}
		scan = next;
	}
}

void scan_end_all(struct redis_store *store, int status)
{
	end_scans(store, status, true);
}

void scan_overdue(struct redis_store *store)
{
	end_scans(store, DW_ESTORE, false);
}

void scan_free_all(struct redis_store *store)
{
	while (store->scans)
		stream_free_scan(store, store->scans);
}
