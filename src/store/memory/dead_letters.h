/* The dead letters of a store in memory, in the order in which they were set aside. Names are not
 * unique: an id that is used again may die again; id and generation name one letter. */
#ifndef DW_STORE_MEMORY_DEAD_LETTERS_H
#define DW_STORE_MEMORY_DEAD_LETTERS_H

#include "base/alloc.h"
#include "timer/transition.h"

struct letter {
	struct letter *before;
	struct letter *after;
	uint64_t number; /* in the order of burial, never used again */
	dw_usec at;
	dw_reason reason;
	struct life_record record;
	const char *id;
	const char *topic;
	const void *body;
	size_t body_size;
};

/* Zero is empty. */
struct letters {
	struct letter *first;
	struct letter *last;
	uint64_t count;
	uint64_t number; /* the last one given */
};

/* letters_add copies what letter points to. DW_OK, DW_ENOMEM. */
int letters_add(struct letters *, const struct alloc *, const struct letter *letter);
void letters_drop(struct letters *, const struct alloc *, struct letter *);
void letters_clear(struct letters *, const struct alloc *);

/* letters_find: the letter of id and generation; generation 0: the last one of id. It looks through
 * all of them: they are few, and asked for by people. */
struct letter *letters_find(const struct letters *, const char *id, uint64_t generation);

/* letters_forget drops what is too old or too many; how many. */
uint64_t letters_forget(struct letters *, const struct alloc *, dw_usec now);

#endif
