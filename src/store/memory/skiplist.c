#include "store/memory/skiplist.h"

#include <assert.h>

#include "base/rng.h"

uint8_t order_height(uint64_t generation)
{
	struct rng rng = {.state = generation};
	uint64_t bits = rng_next(&rng);
	uint8_t height = 1;

	for (; height < ORDER_HEIGHT && (bits & 3u) == 3u; bits >>= 2)
		height++;
	return height;
}

static bool is_before(const struct order_node *node, dw_usec due, uint64_t generation)
{
	return node->due < due || (node->due == due && node->generation < generation);
}

/* seek fills ret_path with, for each level, the link that leads to the first node not before (due,
 * generation). */
static void seek(struct order *order, dw_usec due, uint64_t generation,
		 struct order_node **ret_path[ORDER_HEIGHT])
{
	struct order_node **links = order->first;

	for (int level = ORDER_HEIGHT - 1; level >= 0; level--) {
		while (links[level] && is_before(links[level], due, generation))
			links = links[level]->next;
		ret_path[level] = &links[level];
	}
}

void order_add(struct order *order, struct order_node *node)
{
	struct order_node **path[ORDER_HEIGHT];

	assert(node->height >= 1 && node->height <= ORDER_HEIGHT);
	seek(order, node->due, node->generation, path);
	for (int level = 0; level < node->height; level++) {
		node->next[level] = *path[level];
		*path[level] = node;
	}
}

void order_remove(struct order *order, struct order_node *node)
{
	struct order_node **path[ORDER_HEIGHT];

	seek(order, node->due, node->generation, path);
	for (int level = 0; level < node->height; level++) {
		assert(*path[level] == node);
		*path[level] = node->next[level];
	}
}

struct order_node *order_after(const struct order *order, dw_usec due, uint64_t generation)
{
	struct order_node *const *links = order->first;

	for (int level = ORDER_HEIGHT - 1; level >= 0; level--)
		while (links[level] &&
		       (is_before(links[level], due, generation) ||
			(links[level]->due == due && links[level]->generation == generation)))
			links = links[level]->next;
	return links[0];
}

struct order_node *order_after_generation(const struct order *order, const dw_cursor *after)
{
	struct order_node *next = NULL;

	for (struct order_node *node = order->first[0]; node; node = node->next[0])
		if ((!after->started || node->generation > after->generation) &&
		    (!next || node->generation < next->generation))
			next = node;
	return next;
}
