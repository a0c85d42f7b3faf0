#include "timer/index.h"

#include <assert.h>
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"

int index_init(struct index *index, const struct alloc *alloc, uint64_t seed)
{
	index->seed = seed;
	return linear_init(&index->timers, alloc);
}

void index_free(struct index *index)
{
	linear_free(&index->timers);
}

uint32_t index_count(const struct index *index)
{
	return index->timers.count;
}

static uint64_t hash_of(const struct index *index, const char *id)
{
	return hash_bytes(index->seed, id, strlen(id));
}

struct timer *index_find(const struct index *index, const char *id)
{
	uint64_t hash = hash_of(index, id);
	struct linear_node *node = linear_first(&index->timers, hash);

	while (node && (node->hash != hash || strcmp(((struct timer *)node)->id, id) != 0))
		node = node->next;
	return (struct timer *)node;
}

uint64_t index_fetch_bucket(const struct index *index, const char *id)
{
	uint64_t hash = hash_of(index, id);

	linear_fetch(&index->timers, hash);
	return hash;
}

void index_fetch_timer(const struct index *index, uint64_t hash)
{
	const struct linear_node *node = linear_first(&index->timers, hash);

	if (node)
		bits_prefetch(node);
}

int index_add(struct index *index, struct timer *timer)
{
	assert(!index_find(index, timer->id));
	timer->node.hash = hash_of(index, timer->id);
	return linear_add(&index->timers, &timer->node);
}

void index_remove(struct index *index, struct timer *timer)
{
	linear_remove(&index->timers, &timer->node);
}

void index_replace(struct index *index, struct timer *old, struct timer *fresh)
{
	assert(strcmp(old->id, fresh->id) == 0);
	linear_replace(&index->timers, &old->node, &fresh->node);
}

struct index_visitor {
	void (*visit)(struct timer *, void *user);
	void *user;
};

static void visit_timer(struct linear_node *node, void *user)
{
	const struct index_visitor *visitor = user;

	visitor->visit((struct timer *)node, visitor->user);
}

bool index_visit(struct index *index, uint32_t bucket, void (*visit)(struct timer *, void *user),
		 void *user)
{
	struct index_visitor visitor = {visit, user};

	return linear_visit(&index->timers, bucket, visit_timer, &visitor);
}

void index_each(struct index *index, void (*visit)(struct timer *, void *user), void *user)
{
	for (uint32_t i = 0; index_visit(index, i, visit, user); i++)
		;
}
