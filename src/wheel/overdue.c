/*
 * overdue.c: a heap of overdue timers, ordered by deadline and then by insertion.
 *
 * The wheel's lists only know times from its own time on. What is older goes here: a timer added
 * with a deadline in the past, all that fell due while the program was down, and, after the clock
 * was stepped back, timers between the new time and the wheel's. A heap, because the order must be
 * exact and such timers arrive in any order; in the usual one, sorted, a push is one compare. Four
 * children a node, so that a million are 10 levels and not 20.
 *
 * The entries carry their key, so that sifting does not visit the nodes; they lie in chunks, which
 * come as the heap grows and go as it is emptied. A node in the heap has its position in `next`.
 *
 * Invariant: every deadline here is below wheel->current, every other one in the wheel is not; so
 * the heap's first, if there is one, is the wheel's first.
 */
#include "wheel/overdue.h"
#include "wheel/nodes.h"

#define CHILDREN 4u
#define CHUNK_BITS 10u
#define CHUNK_ENTRIES (1u << CHUNK_BITS)

struct entry {
	uint64_t deadline;
	uint64_t sequence;
	uint32_t index;
};

static struct entry *entry_at(const dw_wheel *wheel, uint32_t position)
{
	struct entry *chunk = wheel->overdue.chunks.table[position >> CHUNK_BITS];

	return chunk + (position & (CHUNK_ENTRIES - 1));
}

static int before(const struct entry *a, const struct entry *b)
{
	if (a->deadline != b->deadline)
		return a->deadline < b->deadline;
	return a->sequence < b->sequence;
}

static void set(dw_wheel *wheel, uint32_t position, struct entry entry)
{
	*entry_at(wheel, position) = entry;
	wheel_node_at(wheel, entry.index)->next = position;
}

static uint32_t sift_up(dw_wheel *wheel, uint32_t position, struct entry entry)
{
	while (position) {
		uint32_t parent = (position - 1) / CHILDREN;

		if (!before(&entry, entry_at(wheel, parent)))
			break;
		set(wheel, position, *entry_at(wheel, parent));
		position = parent;
	}
	return position;
}

static uint32_t first_child(const dw_wheel *wheel, uint32_t position)
{
	uint32_t child = position * CHILDREN + 1;
	uint32_t end = child + CHILDREN;
	uint32_t best = child;

	if (end > wheel->overdue.count)
		end = wheel->overdue.count;
	while (++child < end)
		if (before(entry_at(wheel, child), entry_at(wheel, best)))
			best = child;
	return best;
}

static uint32_t sift_down(dw_wheel *wheel, uint32_t position, struct entry entry)
{
	/* Positions stay below 2^30, but their children's would not fit 32 bits. */
	while ((uint64_t)position * CHILDREN + 1 < wheel->overdue.count) {
		uint32_t child = first_child(wheel, position);

		if (!before(entry_at(wheel, child), &entry))
			break;
		set(wheel, position, *entry_at(wheel, child));
		position = child;
	}
	return position;
}

int wheel_overdue_reserve(dw_wheel *wheel)
{
	struct wheel_overdue *overdue = &wheel->overdue;

	if (overdue->count < (uint64_t)overdue->chunks.count * CHUNK_ENTRIES)
		return DW_OK;
	return wheel_chunks_add(wheel, &overdue->chunks, CHUNK_ENTRIES * sizeof(struct entry));
}

void wheel_overdue_push(dw_wheel *wheel, uint32_t index, struct wheel_node *node)
{
	struct entry entry = {wheel_node_deadline(node), wheel->overdue.sequence++, index};

	assert(entry.deadline < wheel->current);
	node->prev = WHEEL_IN_OVERDUE;
	set(wheel, sift_up(wheel, wheel->overdue.count++, entry), entry);
}

/* shrink: give back the last chunk when the one before it is empty too; the first one stays. */
static void shrink(dw_wheel *wheel)
{
	struct wheel_overdue *overdue = &wheel->overdue;

	if (overdue->chunks.count > 1 &&
	    overdue->count <= (overdue->chunks.count - 2) * CHUNK_ENTRIES)
		wheel_chunks_drop(wheel, &overdue->chunks);
}

static void remove_at(dw_wheel *wheel, uint32_t position)
{
	struct entry last = *entry_at(wheel, --wheel->overdue.count);

	if (position < wheel->overdue.count) {
		uint32_t up = sift_up(wheel, position, last);

		set(wheel, up == position ? sift_down(wheel, position, last) : up, last);
	}
	shrink(wheel);
}

void wheel_overdue_remove(dw_wheel *wheel, const struct wheel_node *node)
{
	assert(node->prev == WHEEL_IN_OVERDUE && node->next < wheel->overdue.count);
	remove_at(wheel, node->next);
}

uint64_t wheel_overdue_next(const dw_wheel *wheel)
{
	return entry_at(wheel, 0)->deadline;
}

size_t wheel_overdue_take(dw_wheel *wheel, uint64_t now, dw_wheel_due *out, size_t max)
{
	size_t taken = 0;

	while (taken < max && wheel->overdue.count) {
		struct entry first = *entry_at(wheel, 0);
		struct wheel_node *node = wheel_node_at(wheel, first.index);

		if (first.deadline > now)
			break;
		remove_at(wheel, 0);
		out[taken].handle = wheel_handle(node, first.index);
		out[taken++].deadline = wheel_decode(first.deadline);
		wheel_nodes_retire(wheel, node);
		wheel_nodes_free(wheel, node, first.index);
	}
	return taken;
}

void wheel_overdue_free(dw_wheel *wheel)
{
	wheel_chunks_free(wheel, &wheel->overdue.chunks);
}

size_t wheel_overdue_bytes(const dw_wheel *wheel)
{
	const struct wheel_chunks *chunks = &wheel->overdue.chunks;

	return chunks->count * CHUNK_ENTRIES * sizeof(struct entry) +
	       chunks->capacity * sizeof(*chunks->table);
}

/* wheel_overdue_check: 1 when the heap is whole. */
int wheel_overdue_check(const dw_wheel *wheel)
{
	for (uint32_t position = 0; position < wheel->overdue.count; position++) {
		const struct entry *entry = entry_at(wheel, position);
		const struct wheel_node *node = wheel_node_at(wheel, entry->index);
		const struct entry *parent =
		    entry_at(wheel, position ? (position - 1) / CHILDREN : 0);

		if (node->prev != WHEEL_IN_OVERDUE || node->next != position)
			return 0;
		if (wheel_node_deadline(node) != entry->deadline ||
		    entry->deadline >= wheel->current)
			return 0;
		if (before(entry, parent))
			return 0;
	}
	return 1;
}
