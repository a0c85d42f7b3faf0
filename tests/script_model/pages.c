/* page.lua, inbox.lua, ack.lua. */
#include "script_model/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_MAX = 1000 };

/* three says an entry of a sorted set: id, score, value. */
static void three(struct run *run, struct reply *items, const struct entry *entry)
{
	char room[32];

	say(run, &items[0], entry_name(entry));
	say(run, &items[1], digits(entry->score, room));
	say(run, &items[2], key_value(run->values, entry_name(entry)));
}

/* is_behind: the entry comes after the place, in the order of the set. */
static bool is_behind(const struct entry *entry, double place, struct bytes member)
{
	if (entry->score != place)
		return entry->score > place;
	return key_compare(entry_name(entry), member) > 0;
}

/* first_behind: how many entries come before the page, in the direction of the page. */
static size_t first_behind(const struct run *run, bool pending)
{
	const struct key *timers = run->timers;
	bool started = arg(run, 3).size > 0;
	double place = started ? number_of(arg(run, 3)) : 0;
	size_t at = 0;

	if (pending) {
		while (at < timers->count &&
		       (started ? !is_behind(&timers->entries[at], place, arg(run, 4))
				: timers->entries[at].score < 0))
			at++;
		return at;
	}
	while (at < timers->count) {
		const struct entry *entry = &timers->entries[timers->count - 1 - at];

		if (started
			? entry->score < place || (entry->score == place &&
						   key_compare(entry_name(entry), arg(run, 4)) < 0)
			: entry->score < 0)
			break;
		at++;
	}
	return at;
}

/* list makes a reply an array of so many. */
static struct reply *list(struct run *run, struct reply *reply, size_t count)
{
	if (!reply_items(run->reply, reply, count))
		abort();
	return reply->items;
}

static bool begins_with(struct bytes id, struct bytes prefix)
{
	return id.size >= prefix.size && memcmp(id.at, prefix.at, prefix.size) == 0;
}

/* shown_value: '' for an id with another beginning than the one asked for. */
static struct bytes shown_value(const struct run *run, struct bytes id)
{
	struct bytes value = key_value(run->values, id);

	if (arg(run, 6).at && value.at && !begins_with(id, arg(run, 6)))
		return (struct bytes){"", 0};
	return value;
}

/* tell_page: ids, values, and the score of the last one, or all scores. */
static void tell_page(struct run *run, struct entry *const *entries, size_t count, bool scores)
{
	struct reply *items = list(run, run->reply, 3);
	struct reply *ids = list(run, &items[0], count);
	struct reply *values = list(run, &items[1], count);
	struct reply *places = scores ? list(run, &items[2], count) : NULL;

	for (size_t i = 0; i < count; i++) {
		char room[64];

		say(run, &ids[i], entry_name(entries[i]));
		say(run, &values[i], shown_value(run, entry_name(entries[i])));
		if (places || i == count - 1)
			say(run, places ? &places[i] : &items[2], digits(entries[i]->score, room));
	}
}

void model_page(struct run *run)
{
	bool pending = same(arg(run, 1), text_of("+"));
	size_t limit = (size_t)number_of(arg(run, 2));
	size_t from = first_behind(run, pending);
	size_t left = run->timers->count - from;
	size_t count = left < limit ? left : limit;
	struct entry *entries[PAGE_MAX];

	if (count == 0) {
		(void)list(run, run->reply, 0);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		size_t at = pending ? from + i : run->timers->count - 1 - from - i;

		entries[i] = &run->timers->entries[at];
	}
	tell_page(run, entries, count, arg(run, 5).at && same(arg(run, 5), text_of("s")));
}

void model_inbox(struct run *run)
{
	size_t limit = (size_t)number_of(arg(run, 7));
	size_t from = (size_t)number_of(arg(run, 8));
	size_t left = run->inbox->count > from ? run->inbox->count - from : 0;
	size_t count = left < limit ? left : limit;

	if (!same(key_string(run->lease), arg(run, 2))) {
		refuse(run, "FENCED", (struct bytes){NULL, 0});
		return;
	}
	answer_ok(run, 3 * count);
	for (size_t i = 0; i < count; i++)
		three(run, &run->reply->items[1 + 3 * i], &run->inbox->entries[from + i]);
}

void model_ack(struct run *run)
{
	size_t count = run->argc < 7 ? 0 : (size_t)((run->argc - 7) / 2) + 1;

	if (!owner_enters(run))
		return;
	answer_ok(run, count);
	for (size_t i = 0; i < count; i++) {
		struct bytes id = arg(run, 7 + 2 * (int)i);
		const struct entry *entry = key_find(run->inbox, id);
		bool any = run->model->bug == MODEL_ACK_BY_ID;

		if (entry && (any || fabs(entry->score) <= number_of(arg(run, 8 + 2 * (int)i))))
			(void)key_remove(run->model, run->inbox, id); /* it is there */
		item_code(run, 1 + i, 0);
	}
	touch(run);
	leave(run);
}

/* ---- confirm -------------------------------------------------------------------------------- */

/* late_of: the last version of the id that came too late; *ret_gone: the timer was done. */
static double late_of(const struct run *run, struct bytes id, bool *ret_gone)
{
	struct bytes left = key_text(run->meta, "late");
	struct late_change change;
	double last = 0;

	while (late_next(&left, &change))
		if (same(change.id, id)) {
			last = fmax(last, number_of(change.ver));
			*ret_gone |= change.gone;
		}
	return last;
}

static int confirm_one(const struct run *run, int at)
{
	struct bytes id = arg(run, at);
	const struct entry *told = key_find(run->inbox, id);
	double ver = number_of(arg(run, at + 1));
	bool gone = false;

	if (!same(key_text(run->meta, "fence"), arg(run, at + 2)))
		return STALE_CODE;
	if (late_of(run, id, &gone) >= ver && run->model->bug != MODEL_LATE_UNSAID)
		return gone ? ENOENT_CODE : LATE_CODE;
	return key_text(run->meta, "fire").at && told && fabs(told->score) >= ver;
}

void model_confirm(struct run *run)
{
	size_t count = (size_t)run->argc / 3;

	answer_ok(run, count);
	for (size_t i = 0; i < count; i++)
		item_code(run, 1 + i, confirm_one(run, 1 + 3 * (int)i));
}
