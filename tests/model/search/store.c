/* Nodes lie in blocks that never move; a table with open addressing finds them by their bytes. */
#include "model/search/store.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_NODES 65536u
#define BLOCKS_MAX 1024u
#define TABLE_MIN 4096u

struct store {
	size_t state_size;
	unsigned char *blocks[BLOCKS_MAX];
	uint32_t count;
	uint32_t *table; /* 1 + the number of a node, or 0 */
	uint32_t size;   /* of the table: a power of two */
};

static void *zeroed(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		abort(); /* a search without memory proves nothing */
	return memory;
}

/* node_size: a node is as large as its state, and its number stays aligned. */
static size_t node_size(const struct store *store)
{
	return (sizeof(struct node) + store->state_size + 3) & ~(size_t)3;
}

static void *node_at(const struct store *store, uint32_t number)
{
	return store->blocks[number / BLOCK_NODES] + number % BLOCK_NODES * node_size(store);
}

static uint32_t hash(const struct state *state, size_t size)
{
	const unsigned char *bytes = (const unsigned char *)state;
	uint64_t sum = 14695981039346656037u;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ bytes[i]) * 1099511628211u;
	return (uint32_t)(sum ^ sum >> 32);
}

struct store *store_new(size_t state_size)
{
	struct store *store = zeroed(1, sizeof *store);

	store->state_size = state_size;
	store->size = TABLE_MIN;
	store->table = zeroed(store->size, sizeof *store->table);
	return store;
}

void store_free(struct store *store)
{
	for (unsigned i = 0; i < BLOCKS_MAX; i++)
		free(store->blocks[i]);
	free(store->table);
	free(store);
}

uint32_t store_count(const struct store *store)
{
	return store->count;
}

const struct node *store_node(const struct store *store, uint32_t number)
{
	assert(number < store->count);
	return node_at(store, number);
}

/* slot_of: the state's place in the table, or the free one for it. */
static uint32_t *slot_of(const struct store *store, const struct state *state)
{
	uint32_t i = hash(state, store->state_size) & (store->size - 1);

	while (store->table[i] &&
	       memcmp(store_state(store, store->table[i] - 1), state, store->state_size) != 0)
		i = (i + 1) & (store->size - 1);
	return &store->table[i];
}

static void grow(struct store *store)
{
	free(store->table);
	store->size *= 2;
	store->table = zeroed(store->size, sizeof *store->table);
	for (uint32_t i = 0; i < store->count; i++)
		*slot_of(store, store_state(store, i)) = i + 1;
}

void store_add(struct store *store, const struct state *state, uint32_t parent, uint8_t step)
{
	uint32_t *slot = slot_of(store, state);
	unsigned char **block = NULL;
	struct node *node = NULL;

	if (*slot)
		return;
	assert(store->count < BLOCKS_MAX * BLOCK_NODES);
	block = &store->blocks[store->count / BLOCK_NODES];
	if (!*block)
		*block = zeroed(BLOCK_NODES, node_size(store));
	node = node_at(store, store->count);
	node->parent = parent;
	node->step = step;
	memcpy(node->state, state, store->state_size);
	*slot = ++store->count;
	if (store->count > store->size / 2)
		grow(store);
}
