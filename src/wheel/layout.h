/*
 * layout.h: the numbers of a wheel, and how its entries lie in memory. wheel.c says why.
 */
#ifndef WHEEL_LAYOUT_H
#define WHEEL_LAYOUT_H

#include <assert.h>
#include <stdint.h>

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

/* A block is a head and so many entries less one; a cell's number is block * CELLS + place. */
#define WHEEL_BLOCK_BITS 6u
#define WHEEL_BLOCK_CELLS (1u << WHEEL_BLOCK_BITS)
#define WHEEL_BLOCK_ENTRIES (WHEEL_BLOCK_CELLS - 1)

#define WHEEL_NONE UINT32_MAX

/* The tail of an empty list: like that of a list whose last block is full, it has no room. */
#define WHEEL_NO_TAIL UINT32_MAX

/* No occupied slot; slots begin at multiples of a bucket, so none begins here. */
#define WHEEL_NEVER UINT64_MAX

/* A slot is emptied ahead of its time in pieces of this many entries. */
#define WHEEL_PIECE 256u

/* One advance handles at most this many entries besides those it may take, MOVES_EACH for each. */
#define WHEEL_MOVES 4096u
#define WHEEL_MOVES_EACH 4u

/* More dead entries than live ones and DEAD_FEW are swept, SWEEP blocks a time. */
#define WHEEL_DEAD_SHARE 1u
#define WHEEL_DEAD_FEW 256u
#define WHEEL_SWEEP_BLOCKS 8u

/* So many blocks each time that 64 generations were given and the last sweep is long ago. */
#define WHEEL_SWEEP_OLD_BLOCKS 16u

/* Room doubles up to ROOM_DOUBLED entries, then grows by a sixteenth: little of it is unused. */
#define WHEEL_ROOM_FIRST 64u
#define WHEEL_ROOM_DOUBLED (1u << 16)
#define WHEEL_ROOM_SHARE 16u

/* A slot with no more entries than this is sorted when the present comes to it. */
#define WHEEL_SOON_MAX 128u

/*
 * Blocks that are partly empty: the last one of each list, the first one of those being emptied
 * (one a ring and a fine one), two where the sweep is, one on its way to be freed.
 */
#define WHEEL_SPARE_BLOCKS 16u

/* The ring of generations has so many for each entry there is room for, or for each block. */
#define WHEEL_GENERATIONS_EACH 8u
#define WHEEL_GENERATIONS_BLOCK 64u
#define WHEEL_GENERATIONS_MAX (1u << 31)

/* Of an entry's name, the bit above the index: its timer is an elder (alive.h). */
#define WHEEL_ELDER (UINT64_C(1) << 31)

/* struct wheel_entry: a timer's place in a list. Its name is the timer's handle, and ELDER. */
struct wheel_entry {
	uint64_t deadline;
	uint64_t name;
};

/*
 * struct wheel_head: of a block: the block behind it, and which cells have entries. Of the last
 * block in a list only `first` holds: where it ends is said by the list's tail.
 */
struct wheel_head {
	uint32_t next;
	uint32_t first;
	uint32_t end;
	uint32_t unused;
};

union wheel_cell {
	struct wheel_entry entry;
	struct wheel_head head;
};

static_assert(sizeof(union wheel_cell) == 16, "an entry costs 16 bytes");
static_assert(WHEEL_FINE_BITS + WHEEL_RINGS * WHEEL_STEP_BITS >= 64, "the rings reach all of time");
static_assert(WHEEL_FINE_WORDS <= 32, "fine_words has a bit for each");
static_assert(DW_WHEEL_TIMERS_MAX <= WHEEL_ELDER, "an index leaves the bit above it free");
static_assert(DW_WHEEL_TIMERS_MAX / WHEEL_BLOCK_ENTRIES + WHEEL_LISTS + WHEEL_SPARE_BLOCKS <
		  WHEEL_NONE >> WHEEL_BLOCK_BITS,
	      "a cell's number fits 32 bits");

#endif
