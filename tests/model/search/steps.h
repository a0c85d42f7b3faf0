/* steps: what may happen next in a state. Each model has its own states: the search knows only
 * their size. A move looks at a state and adds a step if its condition holds. */
#ifndef MODEL_SEARCH_STEPS_H
#define MODEL_SEARCH_STEPS_H

#include <stddef.h>
#include <stdint.h>

#define STEPS_MAX 64u
#define STATE_MAX 320u

struct model;
struct state; /* bytes only, without padding, so that equal states have equal bytes */

/* text: a sentence, as a trace shows it, with its timer and attempt if they are not 0. broken: the
 * promise that the step breaks, or 0. */
struct step {
	struct state *after;
	const char *text;
	uint8_t generation, attempt;
	unsigned broken;
};

struct steps {
	struct step items[STEPS_MAX];
	unsigned count;
	unsigned char states[STEPS_MAX][STATE_MAX];
};

/* steps_add: a further step; the caller changes its state. */
struct step *steps_add(struct steps *, const struct state *before, const char *text);

/* ---- What a model tells of itself ---------------------------------------------------------- */

extern const size_t state_size;

void state_first(const struct model *, struct state *);

/* moves_all: every step of every party. */
void moves_all(const struct model *, const struct state *, struct steps *);

/* promises_end: the promise that is broken if nothing happens any more, or 0. */
unsigned promises_end(const struct state *);

const char *promise_name(unsigned promise);
const char *promise_words(unsigned promise);

#endif
