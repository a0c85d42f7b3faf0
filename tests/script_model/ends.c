/* The ends of timers, as lua/common/end_timer.lua keeps them, and ended.lua. */
#include "script_model/inside.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define KEEP_MAX (90 * 86400000000.0)

enum { BODY = 36, AT_RECORD = 42, AT_IDS = 54, AT_NAMES = 70, HEADER = 56, TAG_KEEP = 3 };
enum { FORGET = 64 };

static unsigned byte_at(struct bytes value, size_t at)
{
	return at < value.size ? (unsigned char)value.at[at] : 0;
}

/* topic_of: of a damaged value any bytes, perhaps cut. */
static struct bytes topic_of(struct bytes value)
{
	unsigned form = byte_at(value, BODY) % 16;
	size_t size = byte_at(value, BODY + 1);
	size_t at = form == 2 ? AT_RECORD + 8 : AT_RECORD;

	if (form == 3) {
		size = byte_at(value, AT_IDS + 1);
		at = AT_NAMES + byte_at(value, AT_IDS);
	}
	at = at < value.size ? at : value.size;
	return (struct bytes){value.at + at, size < value.size - at ? size : value.size - at};
}

static double own_keep(struct bytes value)
{
	size_t at = AT_NAMES + byte_at(value, AT_IDS) + byte_at(value, AT_IDS + 1);
	double behind;

	if (value.size < AT_NAMES + 1 || byte_at(value, BODY) % 16 != 3 ||
	    memcmp(value.at + AT_RECORD, "DWT\2", 4) != 0)
		return 0;
	behind = AT_RECORD + word_at(value, AT_RECORD + 4) - word_at(value, AT_RECORD + 16);
	if (behind > (double)value.size)
		return 0;
	while ((double)at + 4 <= behind && byte_at(value, at) < TAG_KEEP)
		at += 4 + byte_at(value, at + 2) + 256 * byte_at(value, at + 3);
	if ((double)at + 12 > behind || byte_at(value, at) != TAG_KEEP)
		return 0;
	return word_at(value, at + 8) < 2147483648.0
		   ? word_at(value, at + 8) * 4294967296.0 + word_at(value, at + 4)
		   : 0;
}

/* starts_line: in the text, a line that begins with the topic and a tab begins there. */
static bool starts_line(struct bytes text, size_t at, struct bytes topic)
{
	return (at == 0 || text.at[at - 1] == '\n') && at + topic.size < text.size &&
	       (topic.size == 0 || memcmp(text.at + at, topic.at, topic.size) == 0) &&
	       text.at[at + topic.size] == '\t';
}

double topic_keep(const struct run *run, struct bytes topic)
{
	struct bytes text = key_text(run->meta, "keeps");
	size_t at = 0;

	while (text.at && at < text.size && !starts_line(text, at, topic))
		at++;
	if (!text.at || at >= text.size)
		return 0;
	return strtod(text.at + at + topic.size + 1, NULL);
}

/* ender: the owner or client that ends a timer. */
static struct bytes ender(const struct run *run)
{
	static char room[128];
	struct bytes holder =
	    run->fence > 0 ? key_text(run->meta, "holder") : key_text(run->session, "who");
	size_t size = 0, host = 0;

	if (!holder.at)
		holder = text_of("");
	while (host < holder.size && !(strncmp(holder.at + host, ", pid ", 6) == 0 &&
				       isdigit((unsigned char)holder.at[host + 6])))
		host++;
	if (host >= holder.size)
		return (struct bytes){
		    holder.at, strcspn(holder.at, "|") < 127 ? strcspn(holder.at, "|") : 127};
	memcpy(room, holder.at, host);
	memcpy(room + host, " pid ", 5);
	size = strspn(holder.at + host + 6, "0123456789");
	memcpy(room + host + 5, holder.at + host + 6, size);
	return (struct bytes){room, host + 5 + size};
}

static void append(unsigned char **at, struct bytes bytes)
{
	if (bytes.size > 0)
		memcpy(*at, bytes.at, bytes.size);
	*at += bytes.size;
}

/* write_end: its header has been written to the room. */
static void write_end(struct run *run, const struct ending *ending, struct bytes topic,
		      unsigned char *room, double till)
{
	struct bytes by = ender(run);
	unsigned char *at = room + HEADER;

	room[0] = 1;
	room[1] = (unsigned char)ending->how;
	room[2] = (unsigned char)ending->reason;
	room[3] = (unsigned char)topic.size;
	room[4] = (unsigned char)by.size;
	bytes_put(room + 6, ending->result.size, 2);
	append(&at, topic);
	append(&at, by);
	append(&at, ending->result);
	key_set(run->model, run->ends, ending->id,
		(struct bytes){(const char *)room, (size_t)(at - room)});
	key_set_score(run->model, run->untils, ending->id, till);
}

void end_timer(struct run *run, const struct ending *ending)
{
	static const char never[8];
	struct bytes value = ending->value;
	struct bytes topic = topic_of(value);
	double keep = own_keep(value) > 0 ? own_keep(value) : topic_keep(run, topic);
	double till = run->now + fmin(keep, KEEP_MAX);
	unsigned char *room = calloc(1, HEADER + 64 + 128 + ending->result.size);

	if (!room)
		abort();
	memcpy(room + 8, value.at + 8, 16);
	memcpy(room + 24, ending->started.size == 8 ? ending->started.at : never, 8);
	bytes_put(room + 32, (uint64_t)run->now, 8);
	bytes_put(room + 40, (uint64_t)till, 8);
	memcpy(room + 48, value.at + 4, 4);
	room[52] = (unsigned char)value.at[2];
	if (keep > 0 && topic.size <= 63 && run->model->bug != MODEL_END_LOST) {
		write_end(run, ending, topic, room, till);
		run->ended = true;
	}
	free(room);
}

/* forget: at most so many, of those that have expired by then. */
static void forget(struct run *run, double now, size_t most)
{
	for (size_t i = 0; i < most && run->untils->count > 0; i++) {
		struct entry *first = &run->untils->entries[0];
		char *id;
		struct bytes name = entry_name(first);

		if (first->score > now)
			return;
		id = malloc(name.size + 1);
		if (!id)
			abort();
		name.at = memcpy(id, name.at, name.size);
		(void)key_remove(run->model, run->ends, name); /* perhaps it is not there */
		(void)key_remove(run->model, run->untils, name);
		free(id);
	}
}

void forget_ends(struct run *run)
{
	forget(run, (double)run->model->now, FORGET);
}

void write_ends(struct run *run)
{
	double over = (double)run->untils->count - floor(1000000 / run->shards);

	if (run->ended && over > 0)
		forget(run, INFINITY, over < FORGET ? (size_t)over : FORGET);
	else if (run->ended)
		forget_ends(run);
}

bool is_remembered(const struct run *run, struct bytes id)
{
	const struct entry *entry = key_find(run->untils, id);

	return entry && entry->score > run->now && run->model->bug != MODEL_ONCE_AGAIN;
}

void model_ended(struct run *run)
{
	run->now = (double)run->model->now;
	answer_ok(run, (size_t)run->argc);
	for (int i = 1; i <= run->argc; i++) {
		const struct entry *entry = key_find(run->untils, arg(run, i));
		bool kept = entry && entry->score > run->now;

		item_bytes(run, (size_t)i,
			   kept ? key_value(run->ends, arg(run, i)) : (struct bytes){NULL, 0});
	}
}
