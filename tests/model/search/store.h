/* store: every state that a search has found, each once, with the state and the step before it.
 * Numbers count from 0 in the order of finding. */
#ifndef MODEL_SEARCH_STORE_H
#define MODEL_SEARCH_STORE_H

#include <stdint.h>

#include "model/search/steps.h"

struct node {
	uint32_t parent;
	uint8_t step; /* which of the parent's steps */
	unsigned char state[];
};

struct store;

struct store *store_new(size_t state_size);
void store_free(struct store *);
uint32_t store_count(const struct store *);
const struct node *store_node(const struct store *, uint32_t number);

static inline const struct state *store_state(const struct store *store, uint32_t number)
{
	return (const struct state *)(const void *)store_node(store, number)->state;
}

/* store_add: nothing if the state is known. */
void store_add(struct store *, const struct state *, uint32_t parent, uint8_t step);

#endif
