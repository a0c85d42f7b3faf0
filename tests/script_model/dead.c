/* bury.lua, requeue.lua, drop.lua, forget.lua, dead_of.lua, dead_page.lua. */
#include "script_model/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

enum { LETTER_HEAD = 17 };

static size_t groups(const struct run *run, int step, int at)
{
	return run->argc < at ? 0 : (size_t)((run->argc - at) / step) + 1;
}

static void remove_letter(struct run *run, struct bytes name)
{
	(void)key_remove(run->model, run->letters, name); /* what is missing is missing */
	(void)key_remove(run->model, run->names, name);
	(void)key_remove(run->model, run->dead, name);
}

/* ---- bury ---------------------------------------------------------------------------------- */

/* add_letter: the timer becomes a dead letter, of the words from ARGV[at] on. */
static void add_letter(struct run *run, int at, double ver, double *number)
{
	struct words words;
	struct bytes id = arg(run, at);
	double reason = number_of(arg(run, at + 3));
	bool tells = (reason == 1 || reason == 5) && decode(key_value(run->values, id), &words);
	struct bytes stored = key_value(run->values, id);
	struct bytes value = stored;
	char *told = tells ? told_value(stored, arg(run, at + 5), &value.size) : NULL;
	char room[NAME_ROOM];
	struct bytes name = letter_name(id, ver, room);
	unsigned char *letter = malloc(LETTER_HEAD + value.size);

	if (told)
		value.at = told;
	if (!letter)
		abort();
	*number = congruent(run, run->now > *number ? run->now : *number + 1);
	bytes_put(letter, (uint64_t)*number, 8);
	bytes_put(letter + 8, (uint64_t)(int64_t)number_of(arg(run, at + 4)), 8);
	letter[16] = (unsigned char)reason;
	memcpy(letter + LETTER_HEAD, value.at, value.size);
	key_set_score(run->model, run->dead, name, *number);
	key_set(run->model, run->letters, name,
		(struct bytes){(const char *)letter, LETTER_HEAD + value.size});
	key_set_score(run->model, run->names, name, 0);
	free(letter);
	free(told);
}

/* note_death: of a timer whose value is intact. started: the argument with that. */
static void note_death(struct run *run, int at, int started)
{
	struct bytes value = key_value(run->values, arg(run, at));
	struct words words;

	if (decode(value, &words))
		end_timer(run, &(struct ending){.id = arg(run, at),
						.value = value,
						.how = ENDED_DEAD,
						.reason = number_of(arg(run, at + 3)),
						.started = arg(run, started)});
}

static void set_aside(struct run *run, int at, double ver, double *number)
{
	note_death(run, at, at + 6);
	add_letter(run, at, ver, number);
	remove_timer(run, arg(run, at));
}

/* bury_one: whether it was buried. */
static bool bury_one(struct run *run, int at, size_t item, double *number)
{
	struct bytes value = key_value(run->values, arg(run, at));
	struct words words;
	bool sound;
	double ver;

	if (!value.at) {
		item_code(run, item, ENOENT_CODE);
		return false;
	}
	sound = decode(value, &words);
	ver = sound ? ver_of(&words) : raw_of(value).ver;
	if (ver != number_of(arg(run, at + 1)) ||
	    (sound && words.attempt != number_of(arg(run, at + 2)))) {
		if (sound)
			item_pair(run, item, STALE_CODE, value);
		else
			item_code(run, item, CORRUPT_CODE);
		return false;
	}
	item_code(run, item, 0);
	set_aside(run, at, ver, number);
	return true;
}

void model_bury(struct run *run)
{
	size_t count = groups(run, 7, 7);
	struct bytes before;
	char room[32];
	double number;
	bool any = false;

	if (!owner_enters(run))
		return;
	before = key_text(run->meta, "dead");
	number = before.at ? number_of(before) : 0;
	answer_ok(run, count);
	for (size_t i = 0; i < count; i++)
		any |= bury_one(run, 7 + 7 * (int)i, 1 + i, &number);
	touch(run);
	write_ends(run);
	if (any)
		key_set_text(run->model, run->meta, "dead", digits(number, room));
	leave(run);
}

/* ---- next ---------------------------------------------------------------------------------- */

/* renew stores the given value with the next version. */
static void renew(struct run *run, int at, size_t item)
{
	struct bytes given = arg(run, at + 6);
	struct words words = {.crc = word_at(given, 38)};
	struct words floor = {0};
	char room[HEAD_SIZE];

	due_of((struct bytes){given.at + 8, 8}, &floor.v0, &floor.v1);
	due_of((struct bytes){given.at + 16, 8}, &words.d0, &words.d1);
	halves(next_ver(run, ver_of(&floor)), &words.v0, &words.v1);
	item_bytes(run, item, encode(&words, room));
	store(run, arg(run, at), (struct bytes){room, HEAD_SIZE},
	      (struct bytes){given.at + HEAD_SIZE, given.size - HEAD_SIZE});
	set_rank(run, arg(run, at), &words);
}

/* note_done: the occurrence is done, if its handler has started. */
static void note_done(struct run *run, int at, struct bytes value)
{
	static const char never[8];

	if (memcmp(arg(run, at + 7).at, never, 8) != 0)
		end_timer(run, &(struct ending){.id = arg(run, at),
						.value = value,
						.how = ENDED_DONE,
						.started = arg(run, at + 7),
						.result = arg(run, at + 5)});
}

/* next_one: whether there is a new dead letter. */
static bool next_one(struct run *run, int at, size_t item, double *number)
{
	struct bytes value = key_value(run->values, arg(run, at));
	double ver = number_of(arg(run, at + 1));
	bool buries = number_of(arg(run, at + 3)) > 0;
	struct words words;

	if (!value.at) {
		item_code(run, item, missing(run, arg(run, at), ver));
	} else if (!decode(value, &words)) {
		item_code(run, item, CORRUPT_CODE);
	} else if (ver_of(&words) != ver || words.attempt != number_of(arg(run, at + 2))) {
		item_pair(run, item, STALE_CODE, value);
	} else {
		if (buries) {
			note_death(run, at, at + 7);
			add_letter(run, at, ver, number);
		} else {
			note_done(run, at, value);
		}
		renew(run, at, item);
		return buries;
	}
	return false;
}

void model_next(struct run *run)
{
	size_t count = groups(run, 8, 7);
	struct bytes before;
	char room[32];
	double number;
	bool any = false;

	if (!owner_enters(run))
		return;
	before = key_text(run->meta, "dead");
	number = before.at ? number_of(before) : 0;
	answer_ok(run, count);
	for (size_t i = 0; i < count; i++)
		any |= next_one(run, 7 + 8 * (int)i, 1 + i, &number);
	touch(run);
	write_ends(run);
	if (any)
		key_set_text(run->model, run->meta, "dead", digits(number, room));
	leave(run);
}

/* ---- requeue ------------------------------------------------------------------------------- */

/* is_of: the member is a letter of the id. */
static bool is_of(const struct entry *entry, struct bytes id)
{
	return entry->name_size > id.size && memcmp(entry->name, id.at, id.size) == 0 &&
	       entry->name[id.size] == '\0';
}

/* last_of: the last letter's name of the id, written into room; at NULL: none. */
static struct bytes last_of(struct run *run, struct bytes id, char *room)
{
	for (size_t i = run->names->count; i-- > 0;) {
		const struct entry *entry = &run->names->entries[i];

		if (!is_of(entry, id))
			continue;
		memcpy(room, entry->name, entry->name_size);
		return (struct bytes){room, entry->name_size};
	}
	return (struct bytes){NULL, 0};
}

static void revive(struct run *run, int at, size_t item, struct bytes name, struct words *words)
{
	struct bytes id = arg(run, at);
	struct bytes letter = key_value(run->letters, name);
	bool open = byte_of(words->flags, 1) != 0;
	char room[HEAD_SIZE];

	words->flags = byte_of(words->flags, 1) * 256;
	if (!run->owner && !open && left_open(run, id))
		words->flags = 256;
	due_of(arg(run, at + 2), &words->d0, &words->d1);
	halves(next_ver(run, number_of(arg(run, at + 3))), &words->v0, &words->v1);
	words->c0 = words->c1 = 0;
	store_told(run, id, encode(words, room),
		   (struct bytes){letter.at + LETTER_HEAD, letter.size - LETTER_HEAD},
		   (struct bytes){"", 0});
	set_rank(run, id, words);
	remove_letter(run, name);
	if (run->owner) {
		item_pair(run, item, 0, key_value(run->values, id));
	} else {
		item_bytes(run, item, (struct bytes){room, HEAD_SIZE});
		post(run, id, run->last);
	}
}

static bool is_newer_letter(struct bytes letter)
{
	return letter.at && letter.size >= LETTER_HEAD &&
	       is_newer((struct bytes){letter.at + LETTER_HEAD, letter.size - LETTER_HEAD});
}

/* requeue_one: false: there is no room, and that is the reply. */
static bool requeue_one(struct run *run, int at, size_t item)
{
	struct bytes id = arg(run, at);
	double ver = number_of(arg(run, at + 1));
	char room[NAME_ROOM];
	struct bytes name = ver == 0 ? last_of(run, id, room) : letter_name(id, ver, room);
	struct bytes letter = name.at ? key_value(run->letters, name) : name;
	struct words words;

	if (!letter.at) {
		item_code(run, item, ENOENT_CODE);
		return true;
	}
	if (key_value(run->values, id).at) {
		item_code(run, item, EEXIST_CODE);
		return true;
	}
	if (letter.size < LETTER_HEAD ||
	    !decode((struct bytes){letter.at + LETTER_HEAD, letter.size - LETTER_HEAD}, &words)) {
		item_code(run, item, CORRUPT_CODE);
		return true;
	}
	if (is_newer_letter(letter)) {
		item_code(run, item, NEWER_CODE);
		return true;
	}
	if (no_room(run))
		return false;
	revive(run, at, item, name, &words);
	return true;
}

void model_requeue(struct run *run)
{
	size_t count = groups(run, 4, 7);

	if (!enter(run))
		return;
	answer_ok(run, count);
	for (size_t i = 0; i < count; i++)
		if (!requeue_one(run, 7 + 4 * (int)i, 1 + i))
			return;
	touch(run);
	leave(run);
}

/* ---- drop, forget -------------------------------------------------------------------------- */

static int drop_name(struct run *run, struct bytes name)
{
	int dropped = key_find(run->dead, name) != NULL;

	remove_letter(run, name);
	return dropped;
}

static int drop_of(struct run *run, struct bytes id)
{
	char room[NAME_ROOM];
	struct bytes name;
	int count = 0;

	while ((name = last_of(run, id, room)).at)
		count += drop_name(run, name);
	return count;
}

static int drop_all(struct run *run)
{
	int count = (int)run->dead->count;

	key_clear(run->model, run->dead);
	key_clear(run->model, run->letters);
	key_clear(run->model, run->names);
	return count;
}

/* drops_newer: a letter of a later version is among those that the drop is about. */
static bool drops_newer(const struct run *run, struct bytes id, double ver)
{
	for (size_t i = 0; i < run->letters->count; i++) {
		const struct entry *letter = &run->letters->entries[i];
		struct bytes name = entry_name(letter);
		bool is_its = name.size > id.size && name.at[id.size] == '\0' &&
			      memcmp(name.at, id.at, id.size) == 0;

		if (is_its && is_newer_letter(entry_value(letter)) &&
		    (ver == 0 || strtod(name.at + id.size + 1, NULL) == ver))
			return true;
	}
	return false;
}

static int drop_one(struct run *run, struct bytes id, double ver)
{
	char room[NAME_ROOM];

	if (id.size == 0)
		return drop_all(run);
	return ver == 0 ? drop_of(run, id) : drop_name(run, letter_name(id, ver, room));
}

void model_drop(struct run *run)
{
	size_t count = groups(run, 2, 7);

	if (!enter(run))
		return;
	touch(run);
	answer_ok(run, count);
	for (size_t i = 0; i < count; i++) {
		int at = 7 + 2 * (int)i;
		struct bytes id = arg(run, at);
		double ver = number_of(arg(run, at + 1));

		if (id.size == 0 ? may_have_newer(run) : drops_newer(run, id, ver))
			item_bytes(run, 1 + i, text_of("NEWER"));
		else
			item_code(run, 1 + i, drop_one(run, id, ver));
	}
	leave(run);
}

/* set_aside_at: when the first of the letters was. */
static double set_aside_at(const struct run *run)
{
	struct bytes letter = key_value(run->letters, entry_name(&run->dead->entries[0]));

	if (!letter.at || letter.size < 16)
		return -INFINITY;
	return (double)(int64_t)bytes_get((const unsigned char *)letter.at + 8, 8);
}

void model_forget(struct run *run)
{
	double kept = number_of(arg(run, 7));
	double oldest = number_of(arg(run, 8));
	int dropped = 0;

	if (!owner_enters(run))
		return;
	while (run->dead->count > 0 && dropped < 64) {
		const struct entry *first = &run->dead->entries[0];
		char room[NAME_ROOM];

		if ((double)run->dead->count <= kept && set_aside_at(run) >= oldest)
			break;
		memcpy(room, first->name, first->name_size);
		remove_letter(run, (struct bytes){room, first->name_size});
		dropped++;
	}
	touch(run);
	leave(run);
	answer_ok(run, 2);
	item_code(run, 1, dropped);
	item_code(run, 2, (int)run->dead->count);
}

/* ---- dead_of ------------------------------------------------------------------------------- */

void model_dead_of(struct run *run)
{
	char name[NAME_ROOM], room[32];
	struct bytes last = last_of(run, arg(run, 1), name);
	const struct entry *entry = last.at ? key_find(run->dead, last) : NULL;

	answer_ok(run, last.at ? 3 : 0);
	if (!last.at)
		return;
	item_bytes(run, 1, last);
	item_bytes(run, 2, entry ? digits(entry->score, room) : text_of("0"));
	item_bytes(run, 3, key_value(run->letters, last));
}

/* ---- dead_page ----------------------------------------------------------------------------- */

/* letters_before: how many come up to the place, which is a letter or, without it, a score. */
static size_t letters_before(const struct run *run)
{
	const struct key *dead = run->dead;
	const struct entry *last = key_find(dead, arg(run, 2));
	double place = number_of(arg(run, 1));
	size_t count = 0;

	if (last && last->score == place)
		return (size_t)(last - dead->entries) + 1;
	while (count < dead->count && dead->entries[count].score <= place)
		count++;
	return count;
}

void model_dead_page(struct run *run)
{
	size_t limit = (size_t)number_of(arg(run, 3));
	size_t from = arg(run, 1).size == 0 ? 0 : letters_before(run);
	size_t count;

	count = run->dead->count - from < limit ? run->dead->count - from : limit;
	if (!reply_items(run->reply, run->reply, 3 * count))
		abort();
	for (size_t i = 0; i < count; i++) {
		const struct entry *entry = &run->dead->entries[from + i];
		struct reply *items = &run->reply->items[3 * i];
		char room[32];

		say(run, &items[0], entry_name(entry));
		say(run, &items[1], digits(entry->score, room));
		say(run, &items[2], key_value(run->letters, entry_name(entry)));
	}
}
