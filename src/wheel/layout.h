/*
 * layout.h: the sizes and limits of a wheel, and the layout of its entries in memory. wheel.c
 * explains them.
 */
#ifndef WHEEL_LAYOUT_H
#define WHEEL_LAYOUT_H

#include <assert.h>
#include <stdint.h>

#include <durawheel/wheel.h>

/* The fine level: one list for each tick of one bucket. */
#define WHEEL_FINE_BITS 10u
#define WHEEL_FINE_LISTS (1u << WHEEL_FINE_BITS)
#define WHEEL_FINE_WORDS (WHEEL_FINE_LISTS / 64u)

/*
 * A slot of a ring is 2^STEP_BITS times as wide as a slot of the ring below. A ring is as long as
 * two slots of the ring above.
 */
#define WHEEL_RINGS 7u
#define WHEEL_STEP_BITS 8u
#define WHEEL_RING_SLOTS (2u << WHEEL_STEP_BITS)
#define WHEEL_RING_WORDS (WHEEL_RING_SLOTS / 64u)

/*
 * All lists are numbered together: the fine lists first, then the slots of ring 0, ring 1 and so
 * on.
 */
#define WHEEL_LISTS (WHEEL_FINE_LISTS + WHEEL_RINGS * WHEEL_RING_SLOTS)
#define WHEEL_WORDS (WHEEL_LISTS / 64u)

/* A block has one head and CELLS - 1 entries. The number of a cell is block * CELLS + its place. */
#define WHEEL_BLOCK_BITS 6u
#define WHEEL_BLOCK_CELLS (1u << WHEEL_BLOCK_BITS)
#define WHEEL_BLOCK_ENTRIES (WHEEL_BLOCK_CELLS - 1)

#define WHEEL_NONE UINT32_MAX

/* The tail of an empty list. It looks full, like a list whose last block is full. */
#define WHEEL_NO_TAIL UINT32_MAX

/*
 * The start of a slot that does not exist. Slots begin at multiples of a bucket, so none begins
 * here.
 */
#define WHEEL_NEVER UINT64_MAX

/* A slot is emptied ahead of its time in pieces of this many entries. */
#define WHEEL_PIECE 256u

/* One advance handles at most MOVES entries, and MOVES_EACH more for each timer it may take. */
#define WHEEL_MOVES 4096u
#define WHEEL_MOVES_EACH 4u

/*
 * A sweep is due when there are more dead entries than live ones and DEAD_FEW. It takes
 * SWEEP_BLOCKS blocks at a time.
 */
#define WHEEL_DEAD_SHARE 1u
#define WHEEL_DEAD_FEW 256u
#define WHEEL_SWEEP_BLOCKS 8u

/* A sweep that began long ago takes this many blocks after every 64 generations. */
#define WHEEL_SWEEP_OLD_BLOCKS 16u

/*
 * Room doubles up to ROOM_DOUBLED entries, then grows by a sixteenth. So little of it stays unused.
 */
#define WHEEL_ROOM_FIRST 64u
#define WHEEL_ROOM_DOUBLED (1u << 16)
#define WHEEL_ROOM_SHARE 16u

/* A slot with at most this many entries is sorted when its time comes. */
#define WHEEL_SOON_MAX 128u

/*
 * How many blocks may be partly empty, besides the last block of each list: the first block of each
 * list that is being emptied (one in each ring and one fine list), two blocks at the sweep's
 * cursor, and one that is about to be freed.
 */
#define WHEEL_SPARE_BLOCKS 16u

/* The ring holds this many generations for each entry for which there is room, or for each block:
 * the larger of the two counts. */
#define WHEEL_GENERATIONS_EACH 8u
#define WHEEL_GENERATIONS_BLOCK 64u
#define WHEEL_GENERATIONS_MAX (1u << 31)

/* The bit above the index in an entry's name. It is set if the timer is an elder (alive.h). */
#define WHEEL_ELDER (UINT64_C(1) << 31)

/*
 * struct wheel_entry: the place of a timer in a list. Its name is the timer's handle, with ELDER
 * set if the timer is an elder.
 */
struct wheel_entry {
	uint64_t deadline;
	uint64_t name;
};

/*
 * struct wheel_head: the next block of the list, and which cells of this block hold entries. In the
 * last block of a list only `first` is valid: the list's tail says where the list ends.
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
