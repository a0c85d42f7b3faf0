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

/* text: a sentence, as a trace shows it, with its timer and attempt if they are not 0. who: the
 * subject of the sentence; NULL: the text has one. broken: the promise that the step breaks, or 0.
 */
struct step {
	struct state *after;
	const char *who, *text;
	uint8_t generation, attempt;
	unsigned broken;
};

/* size: of a state. */
struct steps {
	size_t size;
	struct step items[STEPS_MAX];
	unsigned count;
	unsigned char states[STEPS_MAX][STATE_MAX];
};

/* steps_add: a further step; the caller changes its state. */
struct step *steps_add(struct steps *, const struct state *before, const char *text);

/* What a model tells of itself. size: of a state. moves: every step of every party. end: the
 * promise that is broken if nothing happens any more, or 0. */
struct subject {
	size_t size;
	void (*first)(const struct model *, struct state *);
	void (*moves)(const struct model *, const struct state *, struct steps *);
	unsigned (*end)(const struct state *);
	const char *(*name)(unsigned promise);
	const char *(*words)(unsigned promise);
};

#endif
