/* One stream of a scan: the claimed timers, the pending timers, or the dead letters of one shard,
 * read page by page. Timers with equal deadlines are sorted by version before the scan returns any
 * of them. The server leaves out timers that the scan does not want; so each page says how far the
 * server looked. */
#include "store/redis/page/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/core.h"

/* Small, because a scan returns no row until each stream has one. */
#define FIRST_PAGE 32u

bool stream_row_is_before(const dw_row *a, const dw_row *b)
{
	if (a->number != b->number)
		return a->number < b->number;
	if (a->head.due != b->head.due)
		return a->head.due < b->head.due;
	return a->head.generation < b->head.generation;
}

int64_t stream_score(const dw_row *row)
{
	return row->number ? (int64_t)row->number : value_score(row->head.due);
}

bool filter_leaves_out(const struct filter *filter)
{
	return filter->prefix[0] || filter->has_topic || filter->recurring || filter->states;
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
	/* The first page begins with all rows that have the cursor's score. */
	stream->reach = sign == 'd' ? (int64_t)after->generation : score;
	if (sign == 'd')
		(void)snprintf(stream->place.score, sizeof stream->place.score, "%llu",
			       (unsigned long long)after->generation);
	else
		(void)snprintf(stream->place.score, sizeof stream->place.score, "%lld",
			       (long long)(sign == '-' ? 1 - score : score));
}

static void stream_free(struct alloc *alloc, struct stream *stream)
{
	rows_free(alloc, stream->ready.first);
	rows_free(alloc, stream->group.first);
	walk_restart(alloc, &stream->place);
}

void stream_free_scan(struct redis_store *store, struct scan *scan)
{
	struct scan **at = &store->scans;

	while (*at != scan)
		at = &(*at)->next;
	*at = scan->next;
	for (unsigned i = 0; i < scan->count; i++)
		stream_free(&store->alloc, &scan->streams[i]);
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

/* add_row puts a row into the group of its score. Returns false without memory. */
static bool add_row(struct alloc *alloc, struct stream *stream, dw_row *row, int64_t score)
{
	if (!row)
		return false;
	if (row->status == DW_ECORRUPT && stream->sign != 'd')
		row->head.due = score;
	if (!is_behind(stream->scan, row)) {
		rows_free(alloc, row);
		return true;
	}
	if (stream->group.first && stream->group_score != score)
		close_group(stream);
	stream->group_score = score;
	rows_push(&stream->group, row);
	return true;
}

/* keep_place notes where the page has ended. Returns false without memory. */
static bool keep_place(struct alloc *alloc, struct stream *stream, const struct reply *member,
		       const char *text)
{
	/* A score that another program wrote may be anything. */
	int64_t score = strtoll(text, NULL, 10);

	score = score == INT64_MIN ? INT64_MAX : score < 0 ? -score : score;
	if (score > stream->reach)
		stream->reach = score;
	if (stream->group_score < stream->reach)
		close_group(stream);
	return walk_keep(alloc, &stream->place, member, text);
}

static bool take_letters(struct redis_store *store, struct stream *stream,
			 const struct reply *reply)
{
	const struct reply *items = reply->items;

	stream->scan->looked += reply->count / 3;
	for (size_t i = 0; i < reply->count; i += 3) {
		dw_row *row = letter_row(store, stream->shard, items + i);

		if (!add_row(&store->alloc, stream, row, row ? (int64_t)row->number : 0))
			return false;
	}
	stream->ended = reply->count / 3 < stream->page;
	return stream->ended || keep_place(&store->alloc, stream, &items[reply->count - 3],
					   items[reply->count - 2].bytes);
}

/* score_of returns the score of a row, from its deadline. A damaged row gets the score of the row
 * before it, or the score at which the page begins. */
static int64_t score_of(const struct stream *stream, const dw_row *row)
{
	if (row->status != DW_ECORRUPT)
		return value_score(row->head.due);
	return stream->group.first ? stream->group_score : stream->reach;
}

/* take_row adds the row of a timer. Returns false without memory. */
static bool take_row(struct redis_store *store, struct stream *stream, const struct reply *id,
		     const struct reply *value)
{
	dw_row *row = value_row(&store->alloc, id->bytes, id->size, value->bytes, value->size);

	if (!row)
		return false;
	token_note_row(stream->shard, row);
	misplaced_row(store, stream->shard, row);
	if (row->deleted)
		repair_soon(store, stream->shard);
	return add_row(&store->alloc, stream, row, score_of(stream, row));
}

/* is_beyond returns true if all timers that the stream would read next are due after the filter's
 * end. */
static bool is_beyond(const struct stream *stream)
{
	dw_usec end = stream->scan->filter.end;

	return end != 0 && stream->reach > value_score(usec_sub(end, 1));
}

static bool take_timers(struct redis_store *store, struct stream *stream, const struct reply *reply)
{
	const struct reply *ids = &reply->items[PAGE_IDS];
	const struct reply *values = &reply->items[PAGE_VALUES];

	stream->scan->looked += (uint64_t)reply->items[PAGE_LOOKED].integer;
	for (size_t i = 0; i < ids->count; i++)
		if (!take_row(store, stream, &ids->items[i], &values->items[i]))
			return false;
	stream->ended = page_is_last(reply);
	if (stream->ended)
		return true;
	if (stream->blind) /* the row was read without its value, only to skip it */
		suspect_tell_row(store, reply->items[PAGE_MEMBER].bytes);
	if (!keep_place(&store->alloc, stream, &reply->items[PAGE_MEMBER],
			reply->items[PAGE_SCORE].bytes))
		return false;
	stream->ended = is_beyond(stream);
	return true;
}

/* arrived is called when the reply to the page has arrived, or was lost. */
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

	request_free(&store->alloc, request);
	arrived(stream);
	if (scan->useless) {
		stream_give_up(store, scan);
	} else if (reply->kind != REPLY_ERROR) {
		if (!(stream->sign == 'd' ? take_letters : take_timers)(store, stream, reply))
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
		shard_pause(&store->sets, request->shard, usec_add(store->now, DW_MILLISECONDS(2)));
	take_page(store, request, reply);
}

static void stream_page_lost(struct redis_store *store, struct redis_request *request)
{
	struct stream *stream = request->context;

	suspect_page_lost(store, &stream->suspect, request, stream->page);
	request_free(&store->alloc, request);
	arrived(stream);
	if (stream->scan->useless)
		stream_give_up(store, stream->scan);
}

/* skip ends the stream of a shard that is cut off. An owner scans the shard again when the server
 * takes its commands again. */
static void skip(struct stream *stream)
{
	close_group(stream);
	stream->ended = true;
	stream->scan->partial = true;
}

/* add_filter adds the words that name the wanted timers. The server does not send other timers. */
static void add_filter(struct redis_command *words, const struct stream *stream)
{
	const struct filter *filter = &stream->scan->filter;

	if (stream->blind) {
		walk_add_blind(words);
	} else if (filter_leaves_out(filter)) {
		command_text(words, filter->recurring ? "r" : "");
		command_text(words, filter->prefix);
		if (filter->has_topic)
			command_text(words, filter->topic);
	}
}

/* look_ahead returns true if the next page can be asked for. If a row cannot be read, an owner's
 * scan skips it, and any other scan fails. */
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

void stream_ask(struct redis_store *store, struct stream *stream)
{
	if (shard_is_cut_off(stream->shard)) {
		skip(stream);
		return;
	}
	if (!stream->shard->node->connection || store->now < stream->shard->channel.pause_until ||
	    !look_ahead(store, stream))
		return;
	stream->page = suspect_rows(store, stream->page);
	if (stream->sign == 'd') {
		walk_letters(&store->draft, stream->shard, stream->page, &stream->place);
	} else {
		walk_timers(&store->draft, stream->shard, stream->sign, stream->page,
			    &stream->place);
		add_filter(&store->draft.words, stream);
	}
	if (request_post(store, stream->shard, stream_page_answered, stream_page_lost, stream) !=
	    DW_OK)
		return;
	stream->asked = true;
	stream->scan->under_way++;
	stream->scan->rows_under_way += stream->page;
}
