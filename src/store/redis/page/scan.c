/* Answers scans: pages of timers or dead letters, in order over all shards. Each shard has two
 * streams of timers, the claimed and the pending ones; or one, of a topic. A page is merged from
 * all streams. A stream comes in the order of a sorted set, where timers with equal deadlines
 * stand by name. So a group of equal deadlines is read to its end and sorted by generation before
 * any of it is given. If the index of a shard is damaged, a scan of a topic reads all timers
 * instead. Dead letters are a stream per shard, in the order of their numbers. A letter's number
 * is its score, because the letter itself may be damaged.
 *
 * A scan that has given its page stays for a moment, with the rows that it has read ahead, because
 * the next page is usually asked for at once. */
#include "store/redis/page/scan.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"
#include "timer/record.h"

#define AHEAD_MAX 32768u    /* rows, of all shards together */
#define UNDER_WAY_MAX 1024u /* rows that a claim must wait for */
#define KEPT DW_SECONDS(1)

static struct filter filter_of(const dw_op *op)
{
	struct filter filter = {.end = op->head.due};

	if (op->topic) /* whatever it is: is_wanted() looks again */
		(void)snprintf(filter.topic, sizeof filter.topic, "%s", op->topic);
	if (op->body_size > 0)
		memcpy(filter.prefix, op->body, op->body_size);
	return filter;
}

static bool filter_is_same(const struct filter *a, const struct filter *b)
{
	return strcmp(a->topic, b->topic) == 0 && strcmp(a->prefix, b->prefix) == 0 &&
	       a->end == b->end;
}

/* page_of returns how many rows a page of a stream has at most. Most of them may be left out. */
static size_t page_of(const struct scan *scan, const dw_op *op)
{
	bool filtered = scan->filter.prefix[0] || (op->topic && !scan->by_index);

	return op->limit < STREAM_PAGE / 4 && !filtered ? op->limit + 1 : STREAM_PAGE;
}

/* scan_new: signs: the streams of each shard (stream.h). */
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
	scan->by_index = signs[0] == 'k';
	scan->last = after;
	scan->page = page_of(scan, op);
	scan->ahead = scan->page;
	scan->count = count;
	scan->since = store->now;
	for (unsigned i = 0; i < count; i++)
		stream_init(scan, &scan->streams[i], &store->shards[i / each], signs[i % each],
			    &after);
	scan->next = store->scans;
	store->scans = scan;
	return scan;
}

/* ---- Giving ---------------------------------------------------------------------------------- */

static bool is_wanted(const dw_op *op, const dw_row *row)
{
	size_t size = op->topic ? strlen(op->topic) : 0;
	struct record record;

	if (strncmp(row->id, op->body_size ? op->body : "", op->body_size) != 0)
		return false;
	if (!op->topic)
		return true;
	return record_of_row(row, &record) != DW_ECORRUPT && record.topic_size == size &&
	       memcmp(record.topic, op->topic, size) == 0;
}

/* next_row takes the first row of all streams. NULL: all rows are given (*ret_ended), or a stream
 * must read its next page first. */
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
		if (!least || stream_row_is_before(stream->ready.first, least->ready.first))
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
	if (status == DW_OK && scan->partial && op->asked)
		status = DW_ESTORE;
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

/* give fills the page. True: the scan is at its end. */
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

/* read_on asks for the next page of each stream that has fewer rows than wanted. A claim waits
 * behind the rows that the server is reading, so only few are under way at a time. */
static void read_on(struct redis_store *store, struct scan *scan, size_t wanted)
{
	for (unsigned i = 0; i < scan->count && scan->rows_under_way < UNDER_WAY_MAX; i++) {
		struct stream *stream = &scan->streams[i];

		if (!stream->ended && !stream->asked && stream->ready.count < wanted)
			stream_ask(store, stream);
	}
}

/* read_all answers the scan's operation by a scan of all timers, because an index is damaged. */
static void read_all(struct redis_store *store, struct scan *scan)
{
	dw_op *op = scan->op;
	struct scan *all = op ? scan_new(store, op, "-+", scan->last) : NULL;

	if (all) {
		all->op = op;
		scan->op = NULL;
		read_on(store, all, 1);
	} else if (op) {
		answer_scan(store, scan, DW_ENOMEM);
	}
	stream_give_up(store, scan);
}

static void scan_on(struct redis_store *store, struct scan *scan)
{
	if (scan->uneven) {
		read_all(store, scan);
		return;
	}
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
	read_on(store, scan, 1);
	read_on(store, scan, scan->ahead);
}

static bool goes_on(const struct scan *scan, const dw_op *op)
{
	struct filter filter = filter_of(op);

	return !scan->op && !scan->useless && !scan->failed && scan->kind == op->kind &&
	       filter_is_same(&scan->filter, &filter) && op->after.started &&
	       scan->last.generation == op->after.generation &&
	       (scan->kind == DW_OP_DEAD_SCAN || scan->last.due == op->after.due);
}

/* read_farther doubles the rows read ahead: a scan that asks for a second page usually asks for
 * all. */
static void read_farther(const struct redis_store *store, struct scan *scan)
{
	if (scan->page == STREAM_PAGE && scan->ahead < AHEAD_MAX / store->shard_count)
		scan->ahead *= 2;
}

static const char *signs_of(const dw_op *op)
{
	if (op->kind == DW_OP_DEAD_SCAN)
		return "d";
	return op->topic ? "k" : "-+";
}

void scan_begin(struct redis_store *store, dw_op *op)
{
	struct scan *scan = store->scans;

	while (scan && !goes_on(scan, op))
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

/* is_ended: all scans end, also those that wait for their next page. What they have read ahead
 * would be older than what is done until then. Or only those whose deadline is over. */
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
