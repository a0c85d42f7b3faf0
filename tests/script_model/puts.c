/* put.lua. */
#include "script_model/inside.h"

#include <math.h>

static struct bytes body_of(struct bytes value)
{
	return (struct bytes){value.at + HEAD_SIZE, value.size - HEAD_SIZE};
}

/* The operands of a put, column by column. */
struct puts {
	size_t count;
	struct bytes flags;
	bool tried; /* in vain, to make all their entries */
};

static struct bytes id_of(const struct run *run, size_t k)
{
	return arg(run, 9 + 2 * (int)k);
}

static struct bytes value_of(const struct run *run, const struct puts *puts, size_t k)
{
	return arg(run, 8 + 2 * (int)puts->count + (int)k);
}

static double version_of(const struct run *run, const struct puts *puts, size_t k)
{
	struct words words = {0};
	struct bytes value = value_of(run, puts, k);

	due_of((struct bytes){value.at + 8, 8}, &words.v0, &words.v1);
	return ver_of(&words);
}

/* may_be_plain: all can be stored as it is given where no id has a timer. */
static bool may_be_plain(const struct run *run, const struct puts *puts)
{
	double least = version_of(run, puts, 0);
	double most = version_of(run, puts, puts->count - 1);

	if (least <= run->last || least < run->now - 2000000 || most > run->now + AHEAD)
		return false;
	for (size_t k = 0; k < puts->count; k++)
		if (puts->flags.at[k] >= '8' ||
		    (!run->owner && (puts->flags.at[k] > '1' || left_open(run, id_of(run, k)))))
			return false;
	return run->values->count == run->timers->count;
}

/* is_plain: none has; an entry says that there is a value. */
static bool is_plain(const struct run *run, const struct puts *puts)
{
	for (size_t k = 0; k < puts->count; k++)
		if (key_find(run->timers, id_of(run, k)))
			return false;
	return true;
}

/* names_version: the put has a flag 8. */
static bool names_version(const struct puts *puts, size_t k)
{
	return (puts->flags.at[k] - '0') % 16 >= 8;
}

/* is_wrong: the id has another version than the put names. */
static bool is_wrong(const struct run *run, const struct puts *puts, size_t k)
{
	struct bytes before = key_value(run->values, id_of(run, k));
	int at = 8 + 3 * (int)puts->count;

	if (!names_version(puts, k))
		return false;
	for (size_t i = 0; i < k; i++)
		at += names_version(puts, i);
	return number_of(arg(run, at)) != (before.at ? raw_of(before).ver : 0);
}

/* put_one: false: there is no room, and that is the reply. */
static bool put_one(struct run *run, const struct puts *puts, size_t k)
{
	double flags = (puts->flags.at[k] - '0') % 8;
	bool once = puts->flags.at[k] - '0' >= 16;
	struct bytes id = id_of(run, k);
	struct bytes value = value_of(run, puts, k);
	struct bytes before = key_value(run->values, id);
	struct words words = {0};
	char room[HEAD_SIZE];

	if (!run->owner)
		flags = fmod(flags, 2);
	if (before.at && (fmod(flags, 2) == 1 || is_newer(before))) {
		item_code(run, 1 + k, fmod(flags, 2) == 1 ? EEXIST_CODE : NEWER_CODE);
		if (puts->tried && decode(before, &words))
			set_rank(run, id, &words);
		return true;
	}
	if (once && is_remembered(run, id)) {
		item_code(run, 1 + k, EEXIST_CODE);
		return true;
	}
	if (is_wrong(run, puts, k)) {
		if (!before.at)
			item_code(run, 1 + k, ENOENT_CODE);
		else
			item_pair(run, 1 + k, STALE_CODE, before);
		if (before.at && puts->tried && decode(before, &words))
			set_rank(run, id, &words);
		return true;
	}
	if (before.at && is_same(before, value) && decode(before, &words)) {
		item_pair(run, 1 + k, 0, before);
		if (puts->tried)
			set_rank(run, id, &words);
		return true;
	}
	if (no_room(run))
		return false;
	words = (struct words){0};
	due_of((struct bytes){value.at + 16, 8}, &words.d0, &words.d1);
	words.crc = word_at(value, 38);
	halves(next_ver(run, version_of(run, puts, k)), &words.v0, &words.v1);
	if (before.at ? flags < 4 && is_open(before) : !run->owner && left_open(run, id))
		words.flags = 256;
	if (fmod(flags, 4) >= 2) {
		halves(run->fence, &words.c0, &words.c1);
		words.flags += 1;
		words.attempt = 1;
	}
	item_bytes(run, 1 + k, encode(&words, room));
	store(run, id, (struct bytes){room, HEAD_SIZE}, body_of(value));
	set_rank(run, id, &words);
	if (!run->owner)
		post(run, id, run->last);
	return true;
}

/* make_entries: of those that have none. */
static void make_entries(struct run *run, const struct puts *puts)
{
	for (size_t k = 0; k < puts->count; k++)
		if (!key_find(run->timers, id_of(run, k)))
			key_set_score(run->model, run->timers, id_of(run, k),
				      number_of(arg(run, 8 + 2 * (int)k)));
}

static void put_plain(struct run *run, const struct puts *puts)
{
	for (size_t k = 0; k < puts->count; k++) {
		struct bytes value = value_of(run, puts, k);

		store_value(run, id_of(run, k), (struct bytes){value.at, HEAD_SIZE},
			    body_of(value));
		member_add(run, id_of(run, k));
		key_set_score(run->model, run->timers, id_of(run, k),
			      number_of(arg(run, 8 + 2 * (int)k)));
		if (!run->owner)
			post(run, id_of(run, k), version_of(run, puts, k));
	}
	run->last = version_of(run, puts, puts->count - 1);
}

void model_put(struct run *run)
{
	struct puts puts = {.flags = arg(run, 7)};
	bool plain;

	puts.count = puts.flags.size;
	if (!enter(run))
		return;
	plain = may_be_plain(run, &puts);
	if (plain && no_room(run))
		return;
	puts.tried = plain && !is_plain(run, &puts);
	plain = plain && !puts.tried;
	if (puts.tried)
		make_entries(run, &puts);
	answer_ok(run, plain ? 0 : puts.count);
	if (plain)
		put_plain(run, &puts);
	for (size_t k = 0; !plain && k < puts.count; k++)
		if (!put_one(run, &puts, k))
			return;
	touch(run);
	leave(run);
}

int missing(const struct run *run, struct bytes id, double ver)
{
	const struct entry *told = key_find(run->inbox, id);

	if (told && fabs(told->score) > ver)
		return ENOENT_CODE;
	return key_find(run->timers, id) ? TORN_CODE : ENOENT_CODE;
}
