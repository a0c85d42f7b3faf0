/* claim.lua, settle.lua, retry.lua, cancel.lua, move.lua. */
#include "script_model/inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* groups: how many operands there are from ARGV[at] on, of so many words each. */
static size_t groups(const struct run *run, int step, int at)
{
	return run->argc < at ? 0 : (size_t)((run->argc - at) / step) + 1;
}

static struct bytes body_of(struct bytes value)
{
	return (struct bytes){value.at + HEAD_SIZE, value.size - HEAD_SIZE};
}

static bool is_claimed(const struct words *words)
{
	return byte_of(words->flags, 0) == 1;
}

/* ---- claim --------------------------------------------------------------------------------- */

/* step_of: how far a claim raises the attempt. */
static double step_of(const struct run *run, const struct words *words)
{
	double step = jump_of(run, words);

	return step > 0 ? step : 1;
}

/* claim_it: the words as claimed by this token. */
static void claim_it(struct run *run, struct words *words, bool mine)
{
	if (is_claimed(words) && !mine) { /* its owner died */
		double open = byte_of(words->flags, 1);

		words->flags += byte_of(words->flags, 3) < 255 ? 16777216 : 0;
		words->flags += (1 - open) * 256;
		if (run->model->bug == MODEL_ATTEMPT_KEPT)
			words->attempt--;
	}
	if (!is_claimed(words))
		words->flags += 1;
	words->attempt += step_of(run, words);
	halves(run->fence, &words->c0, &words->c1);
}

static void claim_one(struct run *run, int at, size_t item)
{
	struct bytes id = arg(run, at);
	struct bytes value = key_value(run->values, id);
	double asked = number_of(arg(run, at + 2));
	bool any = run->model->bug == MODEL_CLAIM_ANY;
	struct words words;
	char room[HEAD_SIZE];
	bool mine;

	if (!value.at) {
		item_code(run, item, missing(run, id, number_of(arg(run, at + 1))));
		return;
	}
	if (!decode(value, &words)) {
		item_code(run, item, CORRUPT_CODE);
		return;
	}
	mine = is_claimed(&words) && claim_of(&words) == run->fence;
	if (ver_of(&words) != number_of(arg(run, at + 1)) && !any) {
		item_pair(run, item, STALE_CODE, value);
	} else if (mine && asked + step_of(run, &words) == words.attempt) {
		item_bytes(run, item, (struct bytes){value.at, HEAD_SIZE});
	} else if (asked != words.attempt && !any) {
		item_pair(run, item, STALE_CODE, value);
	} else {
		claim_it(run, &words, mine);
		item_bytes(run, item, encode(&words, room));
		store_value(run, id, (struct bytes){room, HEAD_SIZE}, body_of(value));
		set_rank(run, id, &words);
	}
}

void model_claim(struct run *run)
{
	size_t count = groups(run, 3, 7);

	if (!owner_enters(run))
		return;
	answer_ok(run, count);
	for (size_t i = 0; i < count; i++)
		claim_one(run, 7 + 3 * (int)i, 1 + i);
	touch(run);
	leave(run);
}

/* ---- settle -------------------------------------------------------------------------------- */

static void settle_one(struct run *run, int at, size_t item)
{
	struct bytes id = arg(run, at);
	struct bytes value = key_value(run->values, id);
	struct ending ending = {.id = id,
				.value = value,
				.how = ENDED_DONE,
				.started = arg(run, at + 3),
				.result = arg(run, at + 4)};
	struct words words;

	if (value.at && !decode(value, &words)) {
		item_code(run, item, CORRUPT_CODE);
		return;
	}
	if (value.at && (ver_of(&words) != number_of(arg(run, at + 1)) ||
			 words.attempt != number_of(arg(run, at + 2)))) {
		if (run->model->bug == MODEL_END_EARLY)
			end_timer(run, &ending);
		item_pair(run, item, STALE_CODE, value);
		return;
	}
	item_code(run, item, value.at ? 0 : ENOENT_CODE);
	if (value.at)
		end_timer(run, &ending);
	remove_timer(run, id);
}

void model_settle(struct run *run)
{
	size_t count = groups(run, 5, 7);

	if (!owner_enters(run))
		return;
	answer_ok(run, count);
	for (size_t i = 0; i < count; i++)
		settle_one(run, 7 + 5 * (int)i, 1 + i);
	touch(run);
	write_ends(run);
	leave(run);
}

/* ---- retry --------------------------------------------------------------------------------- */

static void retry_it(struct run *run, int at, size_t item, struct words *words, struct bytes value)
{
	char room[HEAD_SIZE];

	bool counts = same(arg(run, at + 4), text_of("1"));
	struct bytes header;

	if (counts && byte_of(words->flags, 2) < 255)
		words->flags += 65536;
	words->flags -= 1;
	due_of(arg(run, at + 3), &words->d0, &words->d1);
	words->c0 = words->c1 = 0;
	header = encode(words, room);
	item_bytes(run, item, header);
	if (counts)
		store_told(run, arg(run, at), header, value, arg(run, at + 5));
	else
		store(run, arg(run, at), header, body_of(value));
	set_rank(run, arg(run, at), words);
}

static void retry_one(struct run *run, int at, size_t item)
{
	struct bytes value = key_value(run->values, arg(run, at));
	struct words words;
	double d0;
	double d1;

	due_of(arg(run, at + 3), &d0, &d1);
	if (!value.at) {
		item_code(run, item, missing(run, arg(run, at), number_of(arg(run, at + 1))));
	} else if (!decode(value, &words)) {
		item_code(run, item, CORRUPT_CODE);
	} else if (ver_of(&words) != number_of(arg(run, at + 1)) ||
		   words.attempt != number_of(arg(run, at + 2))) {
		item_pair(run, item, STALE_CODE, value);
	} else if (!is_claimed(&words)) {
		if (words.d0 == d0 && words.d1 == d1)
			item_bytes(run, item, (struct bytes){value.at, HEAD_SIZE});
		else
			item_pair(run, item, STALE_CODE, value);
	} else {
		retry_it(run, at, item, &words, value);
	}
}

void model_retry(struct run *run)
{
	size_t count = groups(run, 6, 7);

	if (!owner_enters(run))
		return;
	answer_ok(run, count);
	for (size_t i = 0; i < count; i++)
		retry_one(run, 7 + 6 * (int)i, 1 + i);
	touch(run);
	leave(run);
}

/* ---- cancel -------------------------------------------------------------------------------- */

/* owner_cancels: the code. */
static int owner_cancels(const struct run *run, struct bytes value, double flags)
{
	struct words words;
	bool mine = decode(value, &words) && is_claimed(&words) && claim_of(&words) == run->fence;

	return mine && flags < 4 ? LATE_CODE : 0;
}

/* wait_for_deletion: the owner may not know yet that the timer is gone. */
static void wait_for_deletion(struct run *run, struct bytes id, size_t item)
{
	const struct entry *told = must_wait(run) ? key_find(run->inbox, id) : NULL;

	if (told)
		item_wait(run, item, told->score, ENOENT_CODE);
}

/* is_other_version: the value has not the version that was asked for; 0: any. */
static bool is_other_version(struct bytes value, double version)
{
	return version != 0 && raw_of(value).ver != version;
}

static void cancel_one(struct run *run, int at, size_t item)
{
	struct bytes id = arg(run, at + 1);
	struct bytes value = key_value(run->values, id);
	bool other = value.at && is_other_version(value, number_of(arg(run, at + 2)));
	bool open = false;
	int code = ENOENT_CODE;
	struct words words;

	if (!value.at && !run->owner && left_open(run, id))
		code = LATE_CODE;
	if (value.at && run->owner)
		code = owner_cancels(run, value, number_of(arg(run, at)));
	if (value.at && !run->owner)
		code = client_cancels(value, &open) ? LATE_CODE : 0;
	if (other || (value.at && is_newer(value))) {
		open = false;
		code = other && !is_newer(value) ? ENOENT_CODE : NEWER_CODE;
	}
	if (run->model->bug == MODEL_CANCEL_NEVER_OPEN)
		open = false;
	if (code == 0 && !run->owner) {
		double ver = next_ver(run, NAN);

		post(run, id, open ? -ver : ver);
	}
	item_code(run, item, code == 0 && open ? LATE_CODE : code);
	if (code == 0 && !open && must_wait(run))
		item_wait(run, item, run->last, 0);
	if (code == ENOENT_CODE && !other)
		wait_for_deletion(run, id, item);
	if (code == 0 && run->owner && decode(value, &words))
		item_bytes(run, item, (struct bytes){value.at, HEAD_SIZE});
	if (code == 0 && decode(value, &words))
		end_timer(run, &(struct ending){.id = id, .value = value, .how = ENDED_CANCELLED});
	if (code == 0 || (code == ENOENT_CODE && !other)) {
		remove_timer(run, id);
	}
}

void model_cancel(struct run *run)
{
	size_t count = groups(run, 3, 9);

	if (!enter(run))
		return;
	answer_ok(run, count);
	for (size_t i = 0; i < count; i++)
		cancel_one(run, 7 + 3 * (int)i, 1 + i);
	touch(run);
	write_ends(run);
	leave(run);
}

/* ---- move ---------------------------------------------------------------------------------- */

static void move_it(struct run *run, int at, size_t item, struct words *words, struct bytes value)
{
	struct bytes id = arg(run, at + 1);
	bool withdrawn = run->owner && number_of(arg(run, at)) >= 4;
	bool known = number_of(arg(run, at + 2)) == ver_of(words);
	char room[HEAD_SIZE];

	if (!must_wait(run)) {
		words->c0 = words->c1 = 0;
	} else if (claim_of(words) == 0) {
		words->c0 = words->v0;
		words->c1 = words->v1;
	}
	words->flags = !withdrawn && fmod(words->flags, 65536) != 0 ? 256 : 0;
	words->attempt += jump_of(run, words);
	due_of(arg(run, at + 3), &words->d0, &words->d1);
	halves(next_ver(run, number_of(arg(run, at + 4))), &words->v0, &words->v1);
	store_told(run, id, encode(words, room), value, (struct bytes){"", 0});
	set_rank(run, id, words);
	if (run->owner && !known)
		item_pair(run, item, 0, key_value(run->values, id));
	else if (must_wait(run))
		item_wait(run, item, run->last, 0);
	else
		item_bytes(run, item, (struct bytes){room, HEAD_SIZE});
	if (!run->owner)
		post(run, id, run->last);
}

static void move_one(struct run *run, int at, size_t item)
{
	struct bytes value = key_value(run->values, arg(run, at + 1));
	bool withdrawn = run->owner && number_of(arg(run, at)) >= 4;
	struct words words;
	bool mine;

	if (!value.at) {
		item_code(run, item, ENOENT_CODE);
		wait_for_deletion(run, arg(run, at + 1), item);
		return;
	}
	if (!decode(value, &words)) {
		item_code(run, item, CORRUPT_CODE);
		return;
	}
	if (is_newer(value)) {
		item_code(run, item, NEWER_CODE);
		return;
	}
	mine = run->owner && claim_of(&words) == run->fence;
	if (is_claimed(&words) && (!run->owner || (mine && !withdrawn)))
		item_code(run, item, LATE_CODE);
	else
		move_it(run, at, item, &words, value);
}

void model_move(struct run *run)
{
	size_t count = groups(run, 5, 8);

	if (!enter(run))
		return;
	answer_ok(run, count);
	for (size_t i = 0; i < count; i++)
		move_one(run, 7 + 5 * (int)i, 1 + i);
	touch(run);
	leave(run);
}
