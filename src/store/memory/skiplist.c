#include "store/memory/skiplist.h"

#include <assert.h>

#include "base/rng.h"

uint8_t skiplist_height(uint64_t generation)
{
	struct rng rng = {.state = generation};
	uint64_t bits = rng_next(&rng);
	uint8_t height = 1;

	for (; height < SKIPLIST_HEIGHT && (bits & 3u) == 3u; bits >>= 2)
		height++;
	return height;
}

static bool is_before(const struct skiplist_node *node, dw_usec due, uint64_t generation)
{
	return node->due < due || (node->due == due && node->generation < generation);
}

/* seek finds, for each level, the link to the first node that is not before (due, generation). */
static void seek(struct skiplist *list, dw_usec due, uint64_t generation,
		 struct skiplist_node **ret_path[SKIPLIST_HEIGHT])
{
	struct skiplist_node **links = list->first;

	for (int level = SKIPLIST_HEIGHT - 1; level >= 0; level--) {
		while (links[level] && is_before(links[level], due, generation))
			links = links[level]->next;
		ret_path[level] = &links[level];
	}
}

void skiplist_add(struct skiplist *list, struct skiplist_node *node)
{
	struct skiplist_node **path[SKIPLIST_HEIGHT];

	assert(node->height >= 1 && node->height <= SKIPLIST_HEIGHT);
	seek(list, node->due, node->generation, path);
	for (int level = 0; level < node->height; level++) {
		node->next[level] = *path[level];
		*path[level] = node;
	}
}

void skiplist_remove(struct skiplist *list, struct skiplist_node *node)
{
	struct skiplist_node **path[SKIPLIST_HEIGHT];

	seek(list, node->due, node->generation, path);
	for (int level = 0; level < node->height; level++) {
		assert(*path[level] == node);
		*path[level] = node->next[level];
	}
}

struct skiplist_node *skiplist_after(const struct skiplist *list, dw_usec due, uint64_t generation)
{
	struct skiplist_node *const *links = list->first;

	for (int level = SKIPLIST_HEIGHT - 1; level >= 0; level--)
		while (links[level] &&
		       (is_before(links[level], due, generation) ||
			(links[level]->due == due && links[level]->generation == generation)))
			links = links[level]->next;
	return links[0];
}

struct skiplist_node *skiplist_after_generation(const struct skiplist *list, const dw_cursor *after)
{
	struct skiplist_node *next = NULL;

	for (struct skiplist_node *node = list->first[0]; node; node = node->next[0])
		if ((!after->started || node->generation > after->generation) &&
		    (!next || node->generation < next->generation))
			next = node;
	return next;
}
