/* The index by topic: lua/common/topic.lua, index.lua, topic_page.lua. */
#include "script_model/inside.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

enum { PAGE = 500, SCORE_SIZE = 8, ID_SHOWN = 255 };

/* ---- Members ------------------------------------------------------------------------------- */

/* cut: bytes from that place on, as many as there are. */
static struct bytes cut(struct bytes value, size_t at, size_t size)
{
	if (at >= value.size)
		return (struct bytes){"", 0};
	return (struct bytes){value.at + at, size < value.size - at ? size : value.size - at};
}

/* byte_at: 0 behind the end. */
static size_t byte_at(struct bytes value, size_t at)
{
	return at < value.size ? (unsigned char)value.at[at] : 0;
}

static struct bytes topic_of(struct bytes value)
{
	size_t form = byte_at(value, HEAD_SIZE) % 16;
	struct bytes topic = cut(value, VALUE_MIN, byte_at(value, HEAD_SIZE + 1));

	if (form == 2)
		topic = cut(value, VALUE_MIN + 8, byte_at(value, HEAD_SIZE + 1));
	if (form == 3)
		topic = cut(value, VALUE_MIN + 28 + byte_at(value, VALUE_MIN + 12),
			    byte_at(value, VALUE_MIN + 13));
	return topic.size > 0 && memchr(topic.at, 0, topic.size) ? (struct bytes){"", 0} : topic;
}

/* write_place writes the topic, a zero byte and the score into room (MEMBER_ROOM bytes). */
static size_t write_place(struct bytes topic, double score, char *room)
{
	memcpy(room, topic.at, topic.size);
	room[topic.size] = '\0';
	for (size_t i = 0; i < SCORE_SIZE; i++)
		room[topic.size + 1 + i] = (char)((uint64_t)score >> (56 - 8 * i) & 0xff);
	return topic.size + 1 + SCORE_SIZE;
}

struct bytes member_of(struct bytes id, struct bytes value, char *room)
{
	double d0 = 0;
	double d1 = 0;
	size_t size;

	if (value.size >= 24)
		due_of((struct bytes){value.at + 16, SCORE_SIZE}, &d0, &d1);
	size = write_place(topic_of(value), score_of(d0, d1), room);
	memcpy(room + size, id.at, id.size);
	return (struct bytes){room, size + id.size};
}

void member_add(struct run *run, struct bytes id)
{
	char room[MEMBER_ROOM];

	key_set_score(run->model, run->index, member_of(id, key_value(run->values, id), room), 0);
}

void member_remove(struct run *run, struct bytes id)
{
	struct bytes value = key_value(run->values, id);
	char room[MEMBER_ROOM];

	if (value.at)
		(void)key_remove(run->model, run->index, member_of(id, value, room)); /* or not */
}

/* id_of: the id in a member. */
static struct bytes id_of(struct bytes name)
{
	const char *zero = name.size > 0 ? memchr(name.at, 0, name.size) : NULL;

	if (!zero)
		return (struct bytes){"", 0};
	return cut(name, (size_t)(zero - name.at) + 1 + SCORE_SIZE, name.size);
}

/* is_right: the member is that of a stored timer. */
static bool is_right(const struct key *values, struct bytes name)
{
	struct bytes id = id_of(name);
	struct bytes value = key_value(values, id);
	char room[MEMBER_ROOM];

	return value.at && same(member_of(id, value, room), name);
}

bool members_are_even(const struct key *index, const struct key *values)
{
	for (size_t i = 0; i < index->count; i++)
		if (!is_right(values, entry_name(&index->entries[i])))
			return false;
	return index->count == values->count;
}

/* ---- index --------------------------------------------------------------------------------- */

/* is_wrong: the member of that number, or the value, is to be named. */
static bool is_wrong(const struct run *run, bool members, size_t i)
{
	char room[MEMBER_ROOM];
	struct bytes id;

	if (members)
		return !is_right(run->values, entry_name(&run->index->entries[i]));
	id = entry_name(&run->values->entries[i]);
	return !key_find(run->index, member_of(id, entry_value(&run->values->entries[i]), room));
}

static struct bytes wrong_id(const struct run *run, bool members, size_t i)
{
	struct bytes name = entry_name(&(members ? run->index : run->values)->entries[i]);

	return members ? cut(id_of(name), 0, ID_SHOWN) : name;
}

/* correct deletes the members that are wrong, or adds those that are missing. */
static void correct(struct run *run, bool members)
{
	for (size_t i = members ? run->index->count : 0; i-- > 0;)
		if (is_wrong(run, true, i))
			(void)key_remove(run->model, run->index,
					 entry_name(&run->index->entries[i]));
	for (size_t i = 0; !members && i < run->values->count; i++)
		member_add(run, entry_name(&run->values->entries[i]));
}

/* model_index looks at everything at once: no test has more than a page of it. */
void model_index(struct run *run)
{
	bool members = same(arg(run, 1), text_of("k"));
	const struct key *all = members ? run->index : run->values;
	size_t count = 0;
	size_t at = 1;

	if (arg(run, 3).size > 0 && !same(key_string(run->lease), arg(run, 3))) {
		refuse(run, "FENCED", (struct bytes){NULL, 0});
		return;
	}
	for (size_t i = 0; i < all->count; i++)
		count += is_wrong(run, members, i);
	if (!members && count > 0 && arg(run, 3).size > 0 && no_room(run))
		return;
	if (!reply_items(run->reply, run->reply, 1 + count))
		abort();
	item_bytes(run, 0, text_of("0"));
	for (size_t i = 0; i < all->count; i++)
		if (is_wrong(run, members, i))
			item_bytes(run, at++, wrong_id(run, members, i));
	if (arg(run, 3).size > 0)
		correct(run, members);
}

/* ---- topic_page ---------------------------------------------------------------------------- */

/* The members that a page may have. */
struct range {
	char from_room[MEMBER_ROOM], to_room[MEMBER_ROOM];
	struct bytes from, to;
	bool behind; /* from is not one of them */
};

static double score_at(const struct run *run, int number)
{
	return arg(run, number).size > 0 ? number_of(arg(run, number)) : 0;
}

static void set_range(const struct run *run, struct range *range)
{
	struct bytes topic = arg(run, 1);

	range->behind = arg(run, 4).size > 0;
	range->from = range->behind
			  ? arg(run, 4)
			  : (struct bytes){range->from_room,
					   write_place(topic, score_at(run, 3), range->from_room)};
	range->to.at = range->to_room;
	range->to.size = write_place(topic, score_at(run, 5), range->to_room);
	if (arg(run, 5).size == 0) {
		range->to_room[topic.size] = '\1';
		range->to.size = topic.size + 1;
	}
}

static bool is_within(const struct range *range, struct bytes name)
{
	return key_compare(name, range->from) >= range->behind && key_compare(name, range->to) < 0;
}

static bool begins_with(struct bytes id, struct bytes prefix)
{
	return id.size >= prefix.size && memcmp(id.at, prefix.at, prefix.size) == 0;
}

/* tell_page: ids, values, and the last member. */
static void tell_page(struct run *run, const struct entry *const *entries, size_t count)
{
	struct reply *items;

	if (!reply_items(run->reply, run->reply, 3))
		abort();
	items = run->reply->items;
	if (!reply_items(run->reply, &items[0], count) ||
	    !reply_items(run->reply, &items[1], count))
		abort();
	for (size_t i = 0; i < count; i++) {
		struct bytes name = entry_name(entries[i]);
		struct bytes id = cut(name, arg(run, 1).size + 1 + SCORE_SIZE, name.size);
		struct bytes value = key_value(run->values, id);
		char room[MEMBER_ROOM];

		if (value.at && !same(member_of(id, value, room), name))
			value.at = NULL;
		else if (value.at && !begins_with(id, arg(run, 6)))
			value = text_of("");
		say(run, &items[0].items[i], id);
		say(run, &items[1].items[i], value);
	}
	say(run, &items[2], entry_name(entries[count - 1]));
}

void model_topic_page(struct run *run)
{
	const struct entry *entries[PAGE];
	size_t limit = (size_t)number_of(arg(run, 2));
	struct range range;
	size_t count = 0;

	set_range(run, &range);
	for (size_t i = 0; i < run->index->count && count < limit && count < PAGE; i++)
		if (is_within(&range, entry_name(&run->index->entries[i])))
			entries[count++] = &run->index->entries[i];
	if (run->index->count != run->values->count)
		refuse(run, "UNEVEN", (struct bytes){NULL, 0});
	else if (count > 0)
		tell_page(run, entries, count);
	else if (!reply_items(run->reply, run->reply, 0))
		abort();
}
