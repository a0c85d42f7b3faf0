/* Reads a shard page by page, for scans and checks. A page begins after the last member and score
 * of the page before. */
#include "store/redis/heal/walk.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"

bool walk_keep(struct alloc *alloc, struct walk_place *place, const struct reply *member,
	       const char *score)
{
	char *copy = alloc->resize(alloc->user, place->member, member->size + 1);

	if (!copy)
		return false;
	place->member = memcpy(copy, member->bytes, member->size);
	place->member_size = member->size;
	(void)snprintf(place->score, sizeof place->score, "%s",
		       score); /* a long score, written by another program, is cut */
	return true;
}

void walk_restart(struct alloc *alloc, struct walk_place *place)
{
	alloc_free(alloc, place->member);
	*place = (struct walk_place){0};
}

static void add_place(struct redis_command *words, const struct walk_place *place)
{
	command_text(words, place->score);
	command_bytes(words, place->member ? place->member : "", place->member_size);
}

/* walk_add_blind asks only for ids that begin with a newline. No id begins with a control
 * character, so the page has no timers. */
void walk_add_blind(struct redis_command *words)
{
	command_text(words, ""); /* timers with or without a rule */
	command_text(words, "\n");
}

void walk_timers(struct redis_draft *draft, const struct shard *shard, char sign, size_t count,
		 const struct walk_place *place)
{
	struct redis_command *words = &draft->words;

	call_begin(draft, SCRIPT_PAGE, shard);
	command_text(words, sign == '+' ? "+" : "-");
	command_number(words, (int64_t)count);
	add_place(words, place);
}

void walk_letters(struct redis_draft *draft, const struct shard *shard, size_t count,
		  const struct walk_place *place)
{
	call_begin_rare(draft, SCRIPT_DEAD_PAGE, shard);
	add_place(&draft->words, place);
	command_number(&draft->words, (int64_t)count);
}
