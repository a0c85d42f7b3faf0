/*
 * layout.h: how a wheel lies in memory. wheel.c says why; this file has the numbers and structures,
 * and nothing that changes them.
 */
#ifndef WHEEL_LAYOUT_H
#define WHEEL_LAYOUT_H

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include <durawheel/wheel.h>

/* The fine level: one list a tick, for one bucket. */
#define WHEEL_FINE_BITS 10u
#define WHEEL_FINE_LISTS (1u << WHEEL_FINE_BITS)
#define WHEEL_FINE_WORDS (WHEEL_FINE_LISTS / 64u)

/* The rings: each STEP_BITS coarser than the one below, and two of the next one's slots long. */
#define WHEEL_RINGS 7u
#define WHEEL_STEP_BITS 8u
#define WHEEL_RING_SLOTS (2u << WHEEL_STEP_BITS)
#define WHEEL_RING_WORDS (WHEEL_RING_SLOTS / 64u)

/* All lists have one numbering: the fine lists, then ring after ring. */
#define WHEEL_LISTS (WHEEL_FINE_LISTS + WHEEL_RINGS * WHEEL_RING_SLOTS)
#define WHEEL_WORDS (WHEEL_LISTS / 64u)

/*
 * A link of a node is the index of another node, or WHEEL_END and the number of the list it lies
 * in. The number after the lists is for nodes that are in none.
 */
#define WHEEL_END 0x80000000u
#define WHEEL_IN_OVERDUE (WHEEL_END | WHEEL_LISTS)
#define WHEEL_NONE UINT32_MAX

/* No occupied slot; slots begin at multiples of a bucket, so none begins here. */
#define WHEEL_NEVER UINT64_MAX

/* A slot is emptied ahead of its time in pieces of this many timers. */
#define WHEEL_PIECE 256u

/* One advance moves at most this many timers between levels, and MOVES_EACH for each it may take.
 */
#define WHEEL_MOVES 4096u
#define WHEEL_MOVES_EACH 4u

/* So many gaps in lists are left open; then they are closed together. A power of two of marks. */
#define WHEEL_GAPS 32u
#define WHEEL_GAP_MARKS 2048u

/* Room for nodes doubles up to NODES_DOUBLED, then grows by an eighth, so that little is unused. */
#define WHEEL_FIRST_NODES 64u
#define WHEEL_NODES_DOUBLED (1u << 16)

/*
 * struct wheel_node: a timer; live when its generation is odd. The deadline is two halves, so that
 * a node is 20 bytes and not 24; cancelling reads the first 12 of them, moving down the last 16.
 */
struct wheel_node {
	uint32_t generation;
	uint32_t next;
	uint32_t prev;
	uint32_t deadline[2];
};

static_assert(sizeof(struct wheel_node) == 20, "a timer costs 20 bytes");
static_assert(WHEEL_FINE_BITS + WHEEL_RINGS * WHEEL_STEP_BITS >= 64, "the rings reach all of time");
static_assert(DW_WHEEL_TIMERS_MAX <= WHEEL_END, "an index has no flag in it");

/*
 * struct wheel_list: the tail of an empty list is the end mark that its first timer's prev will be.
 * count is an upper bound, because cancelling in mid-list does not lower it.
 */
struct wheel_list {
	uint32_t head;
	uint32_t tail;
	uint64_t count;
};

/* struct wheel_gap: two live timers that do not know yet that they are neighbours now. */
struct wheel_gap {
	uint32_t prev;
	uint32_t next;
};

/* struct wheel_ring: where its earliest occupied slot begins, and when it was last drained ahead.
 */
struct wheel_ring {
	uint64_t next;
	uint64_t drained;
};

/* struct wheel_chunks: memory that grows without copying: blocks of one size, found by a table. */
struct wheel_chunks {
	void **table;
	uint32_t count;
	uint32_t capacity;
};

/*
 * struct wheel_nodes: nodes below `fresh` have been handed out since the wheel was last empty and
 * are live or in the free list; those below `used` have a generation.
 */
struct wheel_nodes {
	struct wheel_node *array;
	uint32_t capacity;
	uint32_t fresh;
	uint32_t used;
	uint32_t free_head;
};

struct wheel_overdue {
	struct wheel_chunks chunks;
	uint32_t count;
	uint64_t sequence;
};

struct dw_wheel {
	uint64_t current; /* the wheel's time */
	uint64_t work_at; /* before this no ring needs anything */
	uint32_t count;
	uint32_t fine_words; /* which words of occupied[] have fine lists */
	uint32_t gaps_count;
	struct wheel_gap gaps[WHEEL_GAPS];
	struct wheel_nodes nodes;
	struct wheel_ring rings[WHEEL_RINGS];
	struct wheel_overdue overdue;
	dw_wheel_allocator allocator;
	uint64_t occupied[WHEEL_WORDS];
	struct wheel_list lists[WHEEL_LISTS];
	uint8_t gap_marks[WHEEL_GAP_MARKS]; /* by the index's low bits: may be beside a gap */
};

static_assert(WHEEL_FINE_WORDS <= 32, "fine_words has a bit for each");

/* wheel_encode, wheel_decode: signed time as unsigned in the same order, and back. */
static inline uint64_t wheel_encode(int64_t time)
{
	return (uint64_t)time ^ (UINT64_C(1) << 63);
}

static inline int64_t wheel_decode(uint64_t time)
{
	return (int64_t)(time ^ (UINT64_C(1) << 63));
}

/*
 * wheel_bucket: where the bucket of a time begins. All slots begin at such times, so that comparing
 * with this instead of the time itself changes nothing, but keeps the last tick off WHEEL_NEVER.
 */
static inline uint64_t wheel_bucket(uint64_t time)
{
	return time >> WHEEL_FINE_BITS << WHEEL_FINE_BITS;
}

static inline struct wheel_node *wheel_node_at(const dw_wheel *wheel, uint32_t index)
{
	return wheel->nodes.array + index;
}

static inline uint64_t wheel_node_deadline(const struct wheel_node *node)
{
	uint64_t deadline;

	memcpy(&deadline, node->deadline, sizeof(deadline));
	return deadline;
}

static inline void wheel_node_set_deadline(struct wheel_node *node, uint64_t deadline)
{
	memcpy(node->deadline, &deadline, sizeof(deadline));
}

static inline dw_wheel_handle wheel_handle(const struct wheel_node *node, uint32_t index)
{
	return (uint64_t)node->generation << 32 | index;
}

#endif
