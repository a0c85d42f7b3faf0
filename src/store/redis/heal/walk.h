/* Reads a shard page by page. */
#ifndef DW_STORE_REDIS_WALK_H
#define DW_STORE_REDIS_WALK_H

#include <stdbool.h>

#include "redis/command.h"
#include "redis/reply.h"

struct redis_draft;
struct shard;

/* Large enough for a score as the server writes it, or for an entry id of a stream. */
#define PLACE_SIZE 48

/* Where the last page ended. All zero means the start of the shard. */
struct walk_place {
	char *member; /* the last member of the page; NULL if the next page begins at the score */
	size_t member_size;
	char score[PLACE_SIZE];
};

/* walk_keep notes that the page ended with that member. Returns false without memory. */
bool walk_keep(struct alloc *, struct walk_place *, const struct reply *member, const char *score);

/* walk_restart frees the place, so that the next page begins at the start. */
void walk_restart(struct alloc *, struct walk_place *);

/* The items of a reply of page.lua. The reply with the last page has only the first three. */
enum { PAGE_IDS, PAGE_VALUES, PAGE_LOOKED, PAGE_SCORE, PAGE_MEMBER };

static inline bool page_is_last(const struct reply *reply)
{
	return reply->count <= PAGE_SCORE;
}

/* walk_add_blind completes a command of walk_timers, or a call of SCRIPT_PAGE, so that its page has
 * no timers. This skips rows that cannot be read. */
void walk_add_blind(struct redis_command *);

/* walk_timers and walk_letters write the command that reads the next page. sign is '+' for pending
 * timers and '-' for claimed ones. */
void walk_timers(struct redis_draft *, const struct shard *, char sign, size_t count,
		 const struct walk_place *);
void walk_letters(struct redis_draft *, const struct shard *, size_t count,
		  const struct walk_place *);

#endif
