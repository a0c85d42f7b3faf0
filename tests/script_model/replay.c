/* replay.lua: the rows of a journal. It looks at everything before it writes. */
#include "script_model/inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	AT = 8,
	STEP = 10,
	BODY_CRC_AT = 2,
	LOCAL = 1,
	HOLDS = 2,
	WITHDRAWN = 4,
	CLAIMED = 8,
	UNSURE = 16
};

#define LATE_FOR 60000000.0

/* A row, and what is stored under its id. */
struct row {
	struct bytes id, body, value;
	char what;
	double number, marks, known, tried, floor, writer, told;
	struct words due, words;
	bool sound;
};

static struct row row_at(const struct run *run, int at)
{
	struct row row = {.id = arg(run, at),
			  .number = number_of(arg(run, at + 1)),
			  .what = arg(run, at + 2).at[0],
			  .marks = number_of(arg(run, at + 3)),
			  .known = number_of(arg(run, at + 4)),
			  .tried = number_of(arg(run, at + 5)),
			  .floor = number_of(arg(run, at + 6)),
			  .writer = number_of(arg(run, at + 7)),
			  .body = arg(run, at + 9)};
	const struct entry *told = key_find(run->inbox, row.id);

	due_of(arg(run, at + 8), &row.due.d0, &row.due.d1);
	row.told = told ? told->score : 0;
	row.value = key_value(run->values, row.id);
	row.sound = row.value.at && decode(row.value, &row.words);
	return row;
}

static bool is_claimed(const struct row *row)
{
	return byte_of(row->words.flags, 0) == 1;
}

static bool is_free(const struct run *run, const struct row *row)
{
	if (run->model->bug == MODEL_FENCE_EXACT && is_claimed(row))
		return claim_of(&row->words) == row->writer;
	return !is_claimed(row) || claim_of(&row->words) <= (run->owner ? run->fence : row->writer);
}

static bool has(const struct row *row, int flag)
{
	return fmod(row->marks, 2 * flag) >= flag;
}

static double retries_of(const struct row *row)
{
	return floor(row->marks / 256);
}

/* more: that byte of the flags grows by so much. */
static void more(struct words *words, unsigned number, double count)
{
	double room = 255 - byte_of(words->flags, number);

	words->flags += ldexp(fmin(room, count), (int)(8 * number));
}

static bool leaves_open(const struct run *run, const struct row *row)
{
	if (!row->value.at)
		return row->told < 0;
	if (has(row, WITHDRAWN) && row->sound && is_free(run, row))
		return false;
	return is_open(row->value);
}

/* ---- What becomes of a row ----------------------------------------------------------------- */

static bool is_later(const struct row *row)
{
	return row->sound && ver_of(&row->words) > row->floor;
}

static int judge_move(const struct run *run, const struct row *row)
{
	if (!row->sound)
		return row->value.at ? CORRUPT_CODE : ENOENT_CODE;
	if (is_later(row) || (row->known > 0 && ver_of(&row->words) != row->known))
		return EEXIST_CODE;
	return is_free(run, row) ? 0 : LATE_CODE;
}

static int judge_cancel(const struct run *run, const struct row *row)
{
	if (!row->value.at)
		return ENOENT_CODE;
	if (is_later(row) && !has(row, UNSURE))
		return EEXIST_CODE;
	return row->sound && !is_free(run, row) ? LATE_CODE : 0;
}

static bool is_taken_over(const struct run *run, const struct row *row)
{
	struct bytes fence = key_text(run->meta, "fence");

	return !run->owner && (row->what == 'R' || row->what == 'L') && fence.at &&
	       number_of(fence) > row->writer;
}

static bool is_unheard(const struct run *run, const struct row *row)
{
	return row->told == ver_of(&row->words) ||
	       (run->owner && row->told == 0 &&
		number_of(key_text(run->meta, "before")) == row->writer);
}

static bool is_moved(const struct run *run, const struct row *row)
{
	double base = row->sound ? claim_of(&row->words) : 0;

	return row->what == 'S' && base > 0 && has(row, LOCAL) && !is_claimed(row) &&
	       is_unheard(run, row) && row->known >= base && row->known < ver_of(&row->words);
}

static int judge_delivery(const struct run *run, const struct row *row)
{
	if (is_taken_over(run, row))
		return LATE_CODE;
	if (is_moved(run, row))
		return 0;
	if (!row->sound)
		return row->value.at ? CORRUPT_CODE : ENOENT_CODE;
	if (ver_of(&row->words) != row->known)
		return EEXIST_CODE;
	if (!is_free(run, row))
		return LATE_CODE;
	return row->words.attempt <= row->tried || claim_of(&row->words) == row->writer ? 0
											: LATE_CODE;
}

static int judge(const struct run *run, const struct row *row)
{
	if (row->value.at && is_newer(row->value))
		return NEWER_CODE;
	switch (row->what) {
	case 'P':
		return fabs(row->told) > row->floor || is_later(row) ? EEXIST_CODE : 0;
	case 'M':
		return judge_move(run, row);
	case 'C':
		return judge_cancel(run, row);
	default:
		return judge_delivery(run, row);
	}
}

/* ---- Doing it ------------------------------------------------------------------------------ */

static void put(struct run *run, const struct row *row, const struct words *words,
		struct bytes body)
{
	char room[HEAD_SIZE];

	store(run, row->id, encode(words, room), body);
	set_rank(run, row->id, words);
}

/* untell takes the text of dw_why() out of what was just stored. The topic of a damaged value may
 * go with it. */
static void untell(struct run *run, const struct row *row)
{
	struct bytes value = key_value(run->values, row->id);

	store_told(run, row->id, (struct bytes){value.at, HEAD_SIZE}, value, (struct bytes){"", 0});
}

static struct bytes body_of(const struct row *row)
{
	return (struct bytes){row->value.at + HEAD_SIZE, row->value.size - HEAD_SIZE};
}

static bool still_holds(const struct run *run, const struct row *row)
{
	return run->owner && has(row, HOLDS);
}

/* put_delivery: it has no verdict. */
static void put_delivery(struct run *run, const struct row *row, struct words *words,
			 struct bytes body)
{
	words->attempt = row->tried;
	words->c0 = words->c1 = 0;
	if (still_holds(run, row)) {
		words->flags += 1;
		halves(run->fence, &words->c0, &words->c1);
	} else {
		more(words, 3, 1);
	}
	put(run, row, words, body);
}

static void take_version(struct run *run, const struct row *row, struct words *words)
{
	if (row->what == 'P' && still_holds(run, row)) {
		run->last = fmax(run->last, row->known);
		halves(row->known, &words->v0, &words->v1);
		return;
	}
	halves(next_ver(run, row->floor), &words->v0, &words->v1);
	post(run, row->id, run->last);
}

static void put_anew(struct run *run, const struct row *row)
{
	struct words words = {.flags = leaves_open(run, row) ? 256 : 0,
			      .attempt = row->tried,
			      .d0 = row->due.d0,
			      .d1 = row->due.d1};

	words.crc = word_at(row->body, BODY_CRC_AT);
	more(&words, 2, retries_of(row));
	take_version(run, row, &words);
	if (has(row, CLAIMED))
		put_delivery(run, row, &words, row->body);
	else
		put(run, row, &words, row->body);
}

static void move(struct run *run, const struct row *row)
{
	struct words words = {.flags = leaves_open(run, row) ? 256 : 0,
			      .attempt = row->words.attempt + jump_of(run, &row->words),
			      .d0 = row->due.d0,
			      .d1 = row->due.d1,
			      .crc = row->words.crc};

	if (must_wait(run) && !is_claimed(row)) {
		double claim = claim_of(&row->words); /* a damaged one may not be exact */

		halves(claim > 0 ? claim : ver_of(&row->words), &words.c0, &words.c1);
	}
	take_version(run, row, &words);
	put(run, row, &words, body_of(row));
	untell(run, row);
}

static void give_back(struct run *run, const struct row *row)
{
	struct words words = row->words;

	if (!is_claimed(row) && !has(row, LOCAL))
		return;
	more(&words, 2, retries_of(row));
	words.flags -= byte_of(words.flags, 0);
	if (!run->owner) {
		halves(next_ver(run, NAN), &words.v0, &words.v1);
		post(run, row->id, run->last);
	}
	words.attempt = row->tried;
	words.d0 = row->due.d0;
	words.d1 = row->due.d1;
	words.c0 = words.c1 = 0;
	put(run, row, &words, body_of(row));
	if (retries_of(row) > 0)
		untell(run, row);
}

static void claim(struct run *run, const struct row *row)
{
	struct words words = row->words;

	if (run->model->bug == MODEL_START_LOST)
		return;
	more(&words, 2, retries_of(row));
	words.flags -= byte_of(words.flags, 0);
	put_delivery(run, row, &words, body_of(row));
	if (retries_of(row) > 0)
		untell(run, row);
}

static void end(struct run *run, const struct row *row)
{
	bool sure = row->sound && fmod(row->words.flags, 65536) == 0;

	if (row->sound)
		end_timer(run,
			  &(struct ending){.id = row->id,
					   .value = row->value,
					   .how = row->what == 'S' ? ENDED_DONE : ENDED_CANCELLED});
	if (!run->owner) {
		next_ver(run, NAN);
		post(run, row->id, sure ? run->last : -run->last);
	}
	remove_timer(run, row->id);
}

/* is_late: a client has changed the timer after a claim that Redis does not know. */
static bool is_late(const struct row *row)
{
	return has(row, LOCAL) && row->told != 0 && fabs(row->told) != row->known;
}

static bool is_raised(const struct run *run, const struct row *row, int item)
{
	return item == EEXIST_CODE && has(row, LOCAL) && run->owner && row->sound &&
	       !is_claimed(row) && row->words.attempt < row->tried;
}

static void raise(struct run *run, const struct row *row)
{
	struct words words = row->words;

	words.attempt = row->tried;
	words.c0 = words.c1 = 0;
	put(run, row, &words, body_of(row));
}

static void apply(struct run *run, struct row *row, int item)
{
	if (is_raised(run, row, item))
		raise(run, row);
	if (row->what == 'C' && item == ENOENT_CODE)
		(void)key_remove(run->model, run->timers, row->id); /* an entry alone */
	if (item != 0)
		return;
	switch (row->what) {
	case 'P':
		put_anew(run, row);
		return;
	case 'M':
		move(run, row);
		return;
	case 'R':
		give_back(run, row);
		return;
	case 'L':
		claim(run, row);
		return;
	default:
		end(run, row);
	}
}

static bool stores(const struct run *run, const struct row *row, int item)
{
	if (is_raised(run, row, item))
		return true;
	return item == 0 && (strchr("PML", row->what) ||
			     (row->what == 'R' && (is_claimed(row) || has(row, LOCAL))));
}

/* judge_again: the row was done before, and its answer was lost. */
static int judge_again(const struct row *row)
{
	if (row->what == 'C' && row->sound)
		return is_later(row) ? EEXIST_CODE : LATE_CODE;
	return row->what == 'S' && row->sound && ver_of(&row->words) == row->known ? LATE_CODE : 0;
}

/* Changes that came too late: those of this call, and those before it that are not old. */
struct late {
	char *text;
	size_t size;
};

static void add_late(struct late *late, struct bytes ver, struct bytes id, bool gone)
{
	late->text = realloc(late->text, late->size + ver.size + id.size + 2);
	if (!late->text)
		abort();
	memcpy(late->text + late->size, ver.at, ver.size);
	late->text[late->size + ver.size] = gone ? ';' : ':';
	memcpy(late->text + late->size + ver.size + 1, id.at, id.size);
	late->size += ver.size + id.size + 2;
	late->text[late->size - 1] = '\n';
}

static void note_late(const struct run *run, struct late *late, const struct row *row)
{
	char room[32];

	if (is_late(row))
		add_late(late, digits(fabs(row->told), room), row->id, is_moved(run, row));
}

static void store_late(struct run *run, struct late *late)
{
	struct bytes left = key_text(run->meta, "late");
	struct late_change change;

	if (late->size == 0)
		return;
	while (late_next(&left, &change))
		if (number_of(change.ver) > run->now - LATE_FOR)
			add_late(late, change.ver, change.id, change.gone);
	key_set_text(run->model, run->meta, "late", (struct bytes){late->text, late->size});
	free(late->text);
}

void model_replay(struct run *run)
{
	size_t count = (size_t)((run->argc - AT) / STEP) + 1;
	struct bytes journal = arg(run, 7);
	char field[64], room[32];
	double done, last = number_of(arg(run, run->argc - STEP + 2));
	struct late late = {NULL, 0};
	bool any = false;

	if (!enter(run))
		return;
	(void)snprintf(field, sizeof field, "j:%.*s", (int)journal.size, journal.at);
	done = number_of(key_text(run->meta, field));
	done = isnan(done) || run->model->bug == MODEL_ROW_AGAIN ? 0 : done;
	answer_ok(run, count);
	for (size_t i = 0; i < count; i++) {
		struct row row = row_at(run, AT + STEP * (int)i);
		int item = row.number > done ? judge(run, &row) : judge_again(&row);

		item_code(run, 1 + i, item);
		any |= row.number > done && stores(run, &row, item);
	}
	if (any && no_room(run))
		return;
	for (size_t i = 0; i < count; i++) {
		struct row row = row_at(run, AT + STEP * (int)i);

		if (row.number <= done)
			continue;
		note_late(run, &late, &row);
		apply(run, &row, (int)run->reply->items[1 + i].integer);
	}
	touch(run);
	write_ends(run);
	store_late(run, &late);
	key_set_text(run->model, run->meta, field, digits(last > done ? last : done, room));
	leave(run);
}
