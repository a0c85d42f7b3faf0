/* store: every state that a search has found, each once, with the state and the step before it.
 * Numbers count from 0 in the order of finding. */
#ifndef MODEL_STORE_H
#define MODEL_STORE_H

#include "model/state.h"

struct node {
	struct state state;
	uint32_t parent;
	uint8_t step; /* which of the parent's steps */
};

struct store;

struct store *store_new(void);
void store_free(struct store *);
uint32_t store_count(const struct store *);
const struct node *store_node(const struct store *, uint32_t number);

/* store_add: nothing if the state is known. */
void store_add(struct store *, const struct state *, uint32_t parent, uint8_t step);

#endif
