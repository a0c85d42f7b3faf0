/* One stream of a scan: the claimed timers, the pending timers, the timers of a topic, or the dead
 * letters of one shard, read page by page. Timers with equal deadlines are sorted by version before
 * any of them is given. */
#include "store/redis/page/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/core.h"

#define FIRST_PAGE 32u /* small, because a scan gives no row before each stream has one */

bool stream_row_is_before(const dw_row *a, const dw_row *b)
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
		row = rows_sort(row, stream_row_is_before);
	stream->group = (struct rows){0};
	while (row) {
		dw_row *next = row->next;

		rows_push(&stream->ready, row);
		row = next;
	}
}

void stream_init(struct scan *scan, struct stream *stream, struct shard *shard, char sign,
		 const dw_cursor *after)
{
	int64_t score = value_score(after->due);

	stream->scan = scan;
	stream->shard = shard;
	stream->sign = sign;
	stream->page = scan->page < FIRST_PAGE ? scan->page : FIRST_PAGE;
	if (!after->started)
		return;
	/* The first page begins where the cursor's own group of equal scores begins. */
	if (sign == 'd')
		(void)snprintf(stream->place.score, sizeof stream->place.score, "%llu",
			       (unsigned long long)after->generation);
	else
		(void)snprintf(stream->place.score, sizeof stream->place.score, "%lld",
			       (long long)(sign == '-' ? 1 - score : score));
}

static void stream_free(struct redis_store *store, struct stream *stream)
{
	rows_free(&store->alloc, stream->ready.first);
	rows_free(&store->alloc, stream->group.first);
	walk_restart(store, &stream->place);
}

void stream_free_scan(struct redis_store *store, struct scan *scan)
{
	struct scan **at = &store->scans;

	while (*at != scan)
		at = &(*at)->next;
	*at = scan->next;
	for (unsigned i = 0; i < scan->count; i++)
		stream_free(store, &scan->streams[i]);
	alloc_free(&store->alloc, scan);
}

void stream_give_up(struct redis_store *store, struct scan *scan)
{
	scan->useless = true;
	if (scan->under_way == 0)
		stream_free_scan(store, scan);
}

static bool is_behind(const struct scan *scan, const dw_row *row)
{
	if (!scan->last.started || row->number)
		return true;
	return row->head.due > scan->last.due ||
	       (row->head.due == scan->last.due && row->head.generation > scan->last.generation);
}

/* add_row puts a row into the group of its score. False: no memory. */
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

static bool take_letters(struct redis_store *store, struct stream *stream,
			 const struct reply *reply)
{
	const struct reply *items = reply->items;

	for (size_t i = 0; i < reply->count; i += 3) {
		dw_row *row = letter_row(store, stream->shard, items + i);

		if (!add_row(store, stream, row, row ? (int64_t)row->number : 0))
			return false;
	}
	stream->ended = reply->count / 3 < stream->page;
	return stream->ended || walk_keep(store, &stream->place, &items[reply->count - 3],
					  items[reply->count - 2].bytes);
}

/* score_of returns the score of a row that was read; its deadline tells it. A damaged row gets the
 * score of the row before it, or the one at which the page begins. */
static int64_t score_of(const struct stream *stream, const dw_row *row)
{
	if (row->status != DW_ECORRUPT)
		return stream->sign == '-' ? -value_score(row->head.due)
					   : value_score(row->head.due);
	return stream->group.first ? stream->group_score : strtoll(stream->place.score, NULL, 10);
}

/* is_of_others: the filter leaves the timer out: then its value is empty in the reply. Of the
 * index, also a member without a timer is left out. */
static bool is_of_others(const struct stream *stream, const struct reply *value)
{
	if (value->kind != REPLY_BULK)
		return stream->sign == 'k';
	return stream->scan->filter.prefix[0] && value->size == 0;
}

/* note_index: the index has members that are not those of timers. */
static void note_index(struct redis_store *store, struct stream *stream, const struct reply *value)
{
	if (stream->sign == 'k' && value->kind != REPLY_BULK)
		repair_soon(store, stream->shard);
}

/* is_left_out: the row was only passed by. */
static bool is_left_out(struct redis_store *store, const struct stream *stream,
			const struct reply *id)
{
	if (stream->blind)
		suspect_tell_row(store, id->bytes);
	return stream->blind;
}

static bool take_timers(struct redis_store *store, struct stream *stream, const struct reply *reply)
{
	const struct reply *ids = reply->count > 0 ? &reply->items[0] : reply;
	const struct reply *values = reply->count > 0 ? &reply->items[1] : reply;

	for (size_t i = 0; i < ids->count; i++) {
		const struct reply *id = &ids->items[i];
		const struct reply *value = &values->items[i];
		dw_row *row;
		int64_t score;

		note_index(store, stream, value);
		if (is_left_out(store, stream, id) || is_of_others(stream, value))
			continue;
		row = value_row(&store->alloc, id->bytes, id->size, value->bytes, value->size);
		score = row ? score_of(stream, row) : 0;
		if (row) {
			token_note_row(stream->shard, row);
			misplaced_row(store, stream->shard, row);
			if (row->deleted)
				repair_soon(store, stream->shard);
		}
		if (row && row->status == DW_ECORRUPT && stream->sign == 'k')
			rows_free(&store->alloc, row); /* its topic is not certain */
		else if (!add_row(store, stream, row, score))
			return false;
	}
	stream->ended = ids->count < stream->page;
	if (stream->ended)
		return true;
	/* A member of the index has the deadline in it. */
	return stream->sign == 'k' ? walk_keep(store, &stream->place, &reply->items[2], "")
				   : walk_keep(store, &stream->place, &ids->items[ids->count - 1],
					       reply->items[2].bytes);
}

/* take_index: the scan reads all timers instead if this shard's index is damaged. */
static bool take_index(struct redis_store *store, struct stream *stream, const struct reply *reply)
{
	if (reply->count != 1)
		return take_timers(store, stream, reply);
	stream->scan->uneven = true;
	repair_soon(store, stream->shard);
	return true;
}

/* arrived: the reply to the page has come, or was lost. */
static void arrived(struct stream *stream)
{
	stream->asked = false;
	stream->scan->under_way--;
	stream->scan->rows_under_way -= stream->page;
}

static void take_page(struct redis_store *store, struct redis_request *request,
		      const struct reply *reply)
{
	struct stream *stream = request->context;
	struct scan *scan = stream->scan;

	request_free(store, request);
	arrived(stream);
	if (scan->useless) {
		stream_give_up(store, scan);
	} else if (reply->kind != REPLY_ERROR) {
		if (!(stream->sign == 'd'   ? take_letters
		      : stream->sign == 'k' ? take_index
					    : take_timers)(store, stream, reply))
			scan->failed = DW_ENOMEM;
		if (stream->ended)
			close_group(stream);
		stream->blind = false;
		stream->suspect.closings = 0;
		if (stream->page < scan->page)
			stream->page =
			    2 * stream->page < scan->page ? 2 * stream->page : scan->page;
	}
}

static void stream_page_answered(struct redis_store *store, struct redis_request *request,
				 const struct reply *reply)
{
	if (reply->kind == REPLY_ERROR && call_failed(store, request, reply) != FAILURE_NONE &&
	    request->shard->channel.pause_until <= store->now)
		shard_pause(store, request->shard, usec_add(store->now, DW_MILLISECONDS(2)));
	take_page(store, request, reply);
}

static void stream_page_lost(struct redis_store *store, struct redis_request *request)
{
	struct stream *stream = request->context;

	suspect_page_lost(store, &stream->suspect, request, stream->page);
	request_free(store, request);
	arrived(stream);
	if (stream->scan->useless)
		stream_give_up(store, stream->scan);
}

/* skip ends the stream of a shard that is cut off. An owner scans again when the shard is back in
 * use. */
static void skip(struct stream *stream)
{
	close_group(stream);
	stream->ended = true;
	stream->scan->partial = true;
}

/* add_filter: the values of other timers stay in the server. */
static void add_filter(struct redis_command *words, const struct stream *stream)
{
	const char *prefix = stream->scan->filter.prefix;

	if (stream->blind) {
		walk_add_blind(words);
	} else if (prefix[0]) {
		command_text(words, ""); /* not all scores */
		command_text(words, prefix);
	}
}

/* look_ahead: true if the next page can be asked for. The owner passes a row by that cannot be
 * read; for others the scan fails. */
static bool look_ahead(struct redis_store *store, struct stream *stream)
{
	if (!suspect_page_fails(store, &stream->suspect))
		return true;
	stream->blind = stream->scan->skips;
	if (stream->blind)
		return true;
	suspect_tell_row(store, "");
	stream->scan->failed = DW_ELIMIT;
	return false;
}

/* ask_index asks for timers of the topic that are due before the end of the filter, or at it: in
 * the index, very early or late deadlines are equal. */
static void ask_index(struct redis_store *store, struct stream *stream)
{
	const struct filter *filter = &stream->scan->filter;
	struct redis_command *words = &store->pipeline.words;

	walk_topic(store, stream->shard, filter->topic, stream->page, &stream->place);
	if (filter->end)
		command_number(words, value_score(filter->end) + 1);
	else
		command_text(words, "");
	command_text(words, filter->prefix);
}

void stream_ask(struct redis_store *store, struct stream *stream)
{
	if (shard_is_cut_off(stream->shard)) {
		skip(stream);
		return;
	}
	if (!store->pipeline.connection || store->now < stream->shard->channel.pause_until ||
	    !look_ahead(store, stream))
		return;
	stream->page = suspect_rows(store, stream->page);
	if (stream->sign == 'd') {
		walk_letters(store, stream->shard, stream->page, &stream->place);
	} else if (stream->sign == 'k') {
		ask_index(store, stream);
	} else {
		walk_timers(store, stream->shard, stream->sign, stream->page, &stream->place);
		add_filter(&store->pipeline.words, stream);
	}
	if (request_post(store, stream->shard, stream_page_answered, stream_page_lost, stream) !=
	    DW_OK)
		return;
	stream->asked = true;
	stream->scan->under_way++;
	stream->scan->rows_under_way += stream->page;
}
