#include "topic/order.h"

#include <assert.h>

#include "base/rng.h"

/* rank returns the timer's priority in the heap: a pseudo-random number computed from its
 * generation. A timer with a higher rank is nearer to the root. */
static uint64_t rank(const struct timer *timer)
{
	struct rng rng = {.state = timer->head.generation};

	return rng_next(&rng);
}

/* is_before returns true if a comes before b. The address decides between timers with the same
 * deadline and generation. So no two timers are equal, and a search finds each timer. */
static bool is_before(const struct timer *a, const struct timer *b)
{
	return timer_is_before(a, b) || (!timer_is_before(b, a) && (uintptr_t)a < (uintptr_t)b);
}

static struct timer **side(struct timer *from, const struct timer *timer)
{
	return is_before(timer, from) ? &from->prev : &from->next;
}

void order_add(struct timer **root, struct timer *timer)
{
	struct timer **link = root, **before = &timer->prev, **behind = &timer->next;
	struct timer *rest;

	while (*link && rank(*link) >= rank(timer))
		link = side(*link, timer);
	rest = *link;
	*link = timer;
	while (rest) { /* the subtree is divided into the timers before and behind the new one */
		struct timer ***open = is_before(rest, timer) ? &before : &behind;

		**open = rest;
		*open = open == &before ? &rest->next : &rest->prev;
		rest = **open;
	}
	*before = *behind = NULL;
}

void order_remove(struct timer **root, struct timer *timer)
{
	struct timer **link = root, *before = timer->prev, *behind = timer->next;

	while (*link != timer) {
		assert(*link);
		link = side(*link, timer);
	}
	while (before && behind) { /* the two subtrees of the removed timer are joined */
		bool is_higher = rank(before) >= rank(behind);

		*link = is_higher ? before : behind;
		link = is_higher ? &before->next : &behind->prev;
		*(is_higher ? &before : &behind) = *link;
	}
	*link = before ? before : behind;
	timer->prev = timer->next = NULL;
}

struct timer *order_first(struct timer *root)
{
	while (root && root->prev)
		root = root->prev;
	return root;
}

struct timer *order_last(struct timer *root)
{
	while (root && root->next)
		root = root->next;
	return root;
}

struct timer *order_next(struct timer *root, const struct timer *timer)
{
	struct timer *found = NULL;

	while (root) {
		if (is_before(timer, root))
			found = root;
		root = is_before(timer, root) ? root->prev : root->next;
	}
	return found;
}
