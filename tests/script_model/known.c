/* claim_known.lua, settle_known.lua, next_known.lua: what the owner knows is not read. */
#include "script_model/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* has_news: a client has written one of the ids, and that is not acknowledged. */
static bool has_news(const struct run *run, int at, int step, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (key_find(run->inbox, arg(run, at + (int)i * step)))
			return true;
	return false;
}

/* must: an owner that is wrong about what it knows would destroy what a client has written. */
static void must(const struct run *run, bool right, struct bytes id)
{
	if (right || !run->model->strict)
		return;
	(void)fprintf(stderr, "the owner claims %.*s, and what is stored is not what it knows\n",
		      (int)id.size, id.at);
	abort();
}

static struct bytes rest_of(struct bytes value)
{
	return (struct bytes){value.at + HEAD_SIZE, value.size - HEAD_SIZE};
}

static void show(const struct run *run, struct bytes id)
{
	struct bytes value = key_value(run->values, id);

	if (run->model->known)
		run->model->known(run->model->known_user, value.at, value.size);
}

/* is_as_known: the value is what the owner takes it for; or an earlier one, to which the server was
 * set back, and which an owner that saw that would have replaced, too. */
static bool is_as_known(const struct run *run, struct bytes id, struct bytes claimed)
{
	struct bytes value = key_value(run->values, id);
	struct words stored;
	struct words given;

	if (!value.at)
		return true;
	if (!decode(value, &stored) || !decode(claimed, &given))
		return false;
	return ver_of(&stored) < ver_of(&given) ||
	       (byte_of(stored.flags, 0) != DW_CLAIMED && stored.flags + 1 == given.flags &&
		stored.attempt + 1 == given.attempt && ver_of(&stored) == ver_of(&given) &&
		stored.d0 == given.d0 && stored.d1 == given.d1 && stored.crc == given.crc);
}

/* rescore: ZADD XX CH. */
static bool rescore(struct run *run, struct bytes id, double score)
{
	struct entry *entry = key_find(run->timers, id);

	if (!entry || entry->score == score)
		return false;
	key_set_score(run->model, run->timers, id, score);
	return true;
}

void model_claim_known(struct run *run)
{
	size_t count = run->argc > 6 ? (size_t)(run->argc - 6) / 3 : 0;
	int at = 7 + 2 * (int)count;
	size_t changed = 0;

	if (!owner_enters(run))
		return;
	if (has_news(run, 8, 2, count)) {
		refuse(run, "LOOK", (struct bytes){0});
		return;
	}
	touch(run);
	for (int i = 7; i < at; i += 2)
		changed += rescore(run, arg(run, i + 1), number_of(arg(run, i)));
	if (changed != count) {
		refuse(run, "LOOK", (struct bytes){0});
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct bytes id = arg(run, 8 + 2 * (int)i);
		struct bytes value = arg(run, at + (int)i);

		show(run, id);
		must(run, is_as_known(run, id, value), id);
		store_value(run, id, (struct bytes){value.at, HEAD_SIZE}, rest_of(value));
	}
	answer_ok(run, 0);
	use_up(run);
}

/* keeps_end: is this the member of a timer whose topic keeps ends? */
static bool keeps_end(const struct run *run, struct bytes member)
{
	const char *end = member.size > 0 ? memchr(member.at, 0, member.size) : NULL;

	member.size = end ? (size_t)(end - member.at) : 0;
	return topic_keep(run, member) > 0;
}

static bool keeps_an_end(const struct run *run, int at)
{
	for (; at <= run->argc; at++)
		if (keeps_end(run, arg(run, at)))
			return true;
	return false;
}

void model_settle_known(struct run *run)
{
	int count = (run->argc - 6) / 2;

	if (!owner_enters(run))
		return;
	if (has_news(run, 7, 1, (size_t)count) || keeps_an_end(run, 7 + count)) {
		refuse(run, "LOOK", (struct bytes){0});
		return;
	}
	touch(run);
	for (int i = 7; i < 7 + count; i++) {
		show(run, arg(run, i));
		(void)key_remove(run->model, run->timers, arg(run, i)); /* whichever there are */
		(void)key_remove(run->model, run->values, arg(run, i));
		(void)key_remove(run->model, run->index, arg(run, i + count));
	}
	answer_ok(run, 0);
	use_up(run);
}

/* ---- Renewals ------------------------------------------------------------------------------ */

static double version_in(struct bytes value)
{
	struct words words = {0};

	due_of((struct bytes){value.at + 8, 8}, &words.v0, &words.v1);
	return ver_of(&words);
}

/* can_renew: can the values from this argument on be stored as they are? */
static bool can_renew(const struct run *run, size_t count, int at)
{
	double least = version_in(arg(run, at));
	double most = version_in(arg(run, at + (int)count - 1));
	char room[MEMBER_ROOM];

	if (least <= run->last || least < run->now - 2000000 || most > run->now + AHEAD ||
	    has_news(run, 8, 2, count))
		return false;
	for (int i = 0; i < (int)count; i++)
		if (keeps_end(run, member_of(arg(run, 8 + 2 * i), arg(run, at + i), room)))
			return false;
	return true;
}

/* is_claim_of: the value is claimed, and of an earlier version. */
static bool is_claim_of(const struct run *run, struct bytes id, struct bytes given)
{
	struct bytes value = key_value(run->values, id);
	struct words stored;

	return !value.at || (decode(value, &stored) && ver_of(&stored) < version_in(given));
}

static void renew_known(struct run *run, struct bytes id, struct bytes value, struct bytes former)
{
	char room[MEMBER_ROOM];

	show(run, id);
	must(run, is_claim_of(run, id, value), id);
	store_value(run, id, (struct bytes){value.at, HEAD_SIZE}, rest_of(value));
	(void)key_remove(run->model, run->index, former);
	key_set_score(run->model, run->index, member_of(id, value, room), 0);
}

void model_next_known(struct run *run)
{
	size_t count = run->argc > 6 ? (size_t)(run->argc - 6) / 4 : 0;
	int at = 7 + 2 * (int)count;
	size_t changed = 0;

	if (!owner_enters(run))
		return;
	if (!can_renew(run, count, at)) {
		refuse(run, "LOOK", (struct bytes){0});
		return;
	}
	touch(run);
	for (int i = 7; i < at; i += 2)
		changed += rescore(run, arg(run, i + 1), number_of(arg(run, i)));
	if (changed != count) {
		refuse(run, "LOOK", (struct bytes){0});
		return;
	}
	for (int i = 0; i < (int)count; i++)
		renew_known(run, arg(run, 8 + 2 * i), arg(run, at + i),
			    arg(run, at + (int)count + i));
	run->last = version_in(arg(run, at + (int)count - 1));
	answer_ok(run, 0);
	use_up(run);
}
