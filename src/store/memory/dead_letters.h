/* The dead letters of a store in memory, oldest first. Several letters may have the same id,
 * because a timer with a used id may die, too; id and generation together name one letter. */
#ifndef DW_STORE_MEMORY_DEAD_LETTERS_H
#define DW_STORE_MEMORY_DEAD_LETTERS_H

#include "base/alloc.h"
#include "port/op.h"
#include "timer/transition.h"

struct dead_letter {
	struct dead_letter *before;
	struct dead_letter *after;
	/* Numbers count the letters in the order of their death. No number is used twice. */
	uint64_t number;
	dw_usec at;
	dw_reason reason;
	struct life_record record;
	const char *id;
	const char *topic;
	const void *body;
	size_t body_size;
	struct why why;
};

/* A list of letters; all zero is empty. */
struct dead_letters {
	struct dead_letter *first;
	struct dead_letter *last;
	uint64_t count;
	uint64_t number; /* the last number that was given to a letter */
};

/* dead_letters_add adds a copy of the letter and of all that it points to. Returns DW_OK or
 * DW_ENOMEM. */
int dead_letters_add(struct dead_letters *, const struct alloc *, const struct dead_letter *letter);
void dead_letters_drop(struct dead_letters *, const struct alloc *, struct dead_letter *);
void dead_letters_clear(struct dead_letters *, const struct alloc *);

/* dead_letters_find returns the letter of an id and a generation. If the generation is 0, it
 * returns the last letter of the id. It looks through all letters, because there are few, and only
 * people ask for them. */
struct dead_letter *dead_letters_find(const struct dead_letters *, const char *id,
				      uint64_t generation);

/* dead_letters_forget drops letters that are too old or too many, and returns how many. */
uint64_t dead_letters_forget(struct dead_letters *, const struct alloc *, dw_usec now);

#endif
