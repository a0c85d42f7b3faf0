/* repush.lua, redelete.lua: what an owner writes again into a shard that has lost it. They look at
 * everything before they write, so that an id that is named twice is looked at once. */
#include "script_model/inside.h"

#include <math.h>
#include <stdlib.h>

enum { AT = 7, PUSH_STEP = 9 };

/* told: the version that the inbox has of the id, 0: none. */
static double told(const struct run *run, struct bytes id)
{
	const struct entry *entry = key_find(run->inbox, id);

	return entry ? fabs(entry->score) : 0;
}

/* ---- repush -------------------------------------------------------------------------------- */

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* words_of: the header that the arguments ask for, over what is stored. */
static struct words words_of(const struct run *run, int at, struct bytes before)
{
	double ver = number_of(arg(run, at + 1));
	double state = number_of(arg(run, at + 3));
	double open = number_of(arg(run, at + 6));
	struct words old;
	struct words words = {0};
	double unused;

	if (before.at && decode(before, &old) && ver_of(&old) >= ver)
		words.attempt = old.attempt;
	words.attempt = larger(words.attempt, number_of(arg(run, at + 2)));
	if (run->model->bug == MODEL_PUSH_FRESH)
		words.attempt = 0;
	if (!run->owner) {
		open = larger(open, state);
		state = 0;
	}
	if (state == 1)
		halves(run->fence, &words.c0, &words.c1);
	words.flags = state + 256 * open + 65536 * number_of(arg(run, at + 4)) +
		      16777216 * number_of(arg(run, at + 5));
	halves(ver, &words.v0, &words.v1);
	due_of(arg(run, at + 7), &words.d0, &words.d1);
	due_of((struct bytes){arg(run, at + 8).at + 2, 8}, &words.crc, &unused);
	return words;
}

/* look answers one timer; false: there is a later version of it, or a newer durawheel's, or for a
 * client any. */
static bool look(struct run *run, int at, size_t item)
{
	struct bytes id = arg(run, at);
	struct bytes before = key_value(run->values, id);
	double ver = number_of(arg(run, at + 1));
	struct words words;
	char room[HEAD_SIZE];
	bool later = before.at && decode(before, &words) &&
		     (!run->owner || ver_of(&words) > ver || is_newer(before));

	if (!later && told(run, id) <= (run->owner ? ver : 0)) {
		words = words_of(run, at, before);
		item_bytes(run, item, encode(&words, room));
		return true;
	}
	if (before.at)
		item_pair(run, item, STALE_CODE, before);
	else
		item_code(run, item, ENOENT_CODE);
	return false;
}

/* is_pushed: is the timer of that number to be stored? */
static bool is_pushed(const struct run *run, size_t i)
{
	return run->reply->items[1 + i].kind == REPLY_BULK && run->model->bug != MODEL_PUSH_LOST;
}

/* is_again: a later one of these timers has the same id. The script stores only the last one. */
static bool is_again(const struct run *run, size_t i, size_t count)
{
	struct bytes id = arg(run, AT + PUSH_STEP * (int)i);

	for (size_t later = i + 1; later < count; later++)
		if (is_pushed(run, later) && same(id, arg(run, AT + PUSH_STEP * (int)later)))
			return true;
	return false;
}

/* push stores what was answered. */
static void push(struct run *run, int at, const struct reply *item)
{
	struct bytes id = arg(run, at);
	struct bytes header = {item->bytes, item->size};
	struct words words;
	double score;

	store(run, id, header, arg(run, at + 8));
	if (!decode(key_value(run->values, id), &words))
		abort();
	score = score_of(words.d0, words.d1);
	key_set_score(run->model, run->timers, id, byte_of(words.flags, 0) == 1 ? -score : score);
	if (!run->owner)
		post(run, id, number_of(arg(run, at + 1)));
}

void model_repush(struct run *run)
{
	size_t count = run->argc < AT ? 0 : (size_t)((run->argc - AT) / PUSH_STEP) + 1;
	bool any = false;

	if (!enter(run))
		return;
	answer_ok(run, count);
	for (size_t i = 0; i < count; i++)
		any |= look(run, AT + PUSH_STEP * (int)i, 1 + i);
	if (any && no_room(run))
		return;
	for (size_t i = 0; i < count; i++) {
		int at = AT + PUSH_STEP * (int)i;

		if (!is_pushed(run, i))
			continue;
		if (!is_again(run, i, count))
			push(run, at, &run->reply->items[1 + i]);
		run->last = larger(run->last, number_of(arg(run, at + 1)));
	}
	touch(run);
	leave(run);
}

/* ---- redelete ------------------------------------------------------------------------------ */

static bool is_dead(const struct run *run, int at)
{
	struct bytes value = key_value(run->values, arg(run, at));
	struct words words;

	return value.at &&
	       (!decode(value, &words) || ver_of(&words) <= number_of(arg(run, at + 1)));
}

void model_redelete(struct run *run)
{
	size_t count = run->argc < AT ? 0 : (size_t)((run->argc - AT) / 2) + 1;

	if (!owner_enters(run))
		return;
	answer_ok(run, count);
	for (size_t i = 0; i < count; i++)
		item_code(run, 1 + i, is_dead(run, AT + 2 * (int)i) ? 0 : ENOENT_CODE);
	for (size_t i = 0; i < count; i++) {
		int at = AT + 2 * (int)i;
		struct bytes id = arg(run, at);

		if (run->reply->items[1 + i].integer == 0 && run->model->bug != MODEL_DELETE_LOST) {
			remove_timer(run, id);
		}
		if (told(run, id) <= number_of(arg(run, at + 1)))
			(void)key_remove(run->model, run->inbox, id); /* if it is there */
	}
	touch(run);
	leave(run);
}
