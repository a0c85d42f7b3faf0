/* orphans.lua, mend.lua: entries of the order without values, and values without entries. */
#include "script_model/inside.h"

#include <stdlib.h>

enum { AT = 7, PAGE = 500 };

/* ---- orphans ------------------------------------------------------------------------------- */

/* model_orphans: its cursor is how many have been looked at, which is another one than Redis's. */
void model_orphans(struct run *run)
{
	bool in_order = same(arg(run, 1), text_of("z")) || same(arg(run, 1), text_of("x"));
	bool of_ends = same(arg(run, 1), text_of("x")) || same(arg(run, 1), text_of("E"));
	const struct key *order = of_ends ? run->untils : run->timers;
	const struct key *values = of_ends ? run->ends : run->values;
	const struct key *all = in_order ? order : values;
	const struct key *others = in_order ? values : order;
	size_t from = (size_t)number_of(arg(run, 2));
	size_t until = all->count > from + PAGE ? from + PAGE : all->count;
	size_t count = 0;
	size_t at = 1;
	char room[32];

	for (size_t i = from; i < until; i++)
		count += !key_find(others, entry_name(&all->entries[i]));
	if (!reply_items(run->reply, run->reply, 1 + count))
		abort();
	item_bytes(run, 0, digits(until < all->count ? (double)until : 0, room));
	for (size_t i = from; i < until; i++)
		if (!key_find(others, entry_name(&all->entries[i])))
			item_bytes(run, at++, entry_name(&all->entries[i]));
}

/* ---- mend ---------------------------------------------------------------------------------- */

/* look: what is wrong with an id. */
static int look(const struct run *run, struct bytes id)
{
	bool has_value = key_find(run->values, id);
	bool has_place = key_find(run->timers, id);

	if (has_place && !has_value)
		return ENOENT_CODE;
	return has_value && !has_place ? 0 : EEXIST_CODE;
}

/* give_place puts a value into the order again, and tells the owner. */
static void give_place(struct run *run, struct bytes id)
{
	struct words words;
	bool sound = decode(key_value(run->values, id), &words);

	member_add(run, id);
	if (sound)
		set_rank(run, id, &words);
	else
		key_set_score(run->model, run->timers, id, 1);
	key_set_score(run->model, run->inbox, id, sound ? score_of(words.v0, words.v1) : 1);
}

void model_mend(struct run *run)
{
	size_t count = run->argc < AT ? 0 : (size_t)(run->argc - AT) + 1;

	if (!owner_enters(run))
		return;
	answer_ok(run, count);
	for (size_t i = 0; i < count; i++)
		item_code(run, 1 + i, look(run, arg(run, AT + (int)i)));
	for (size_t i = 0; i < count; i++) {
		struct bytes id = arg(run, AT + (int)i);
		int64_t item = run->reply->items[1 + i].integer;

		if (item == ENOENT_CODE)
			(void)key_remove(run->model, run->timers, id); /* perhaps gone by now */
		else if (item == 0)
			give_place(run, id);
	}
	touch(run);
	leave(run);
}
