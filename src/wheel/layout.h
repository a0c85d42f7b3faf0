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

/* Of an entry's name, the bit above the index: its timer is an elder (names.h). */
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

/* struct wheel_list: its first block and how many there are; where it ends is in tails[]. */
struct wheel_list {
	uint32_t head;
	uint32_t blocks;
};

/* struct wheel_ring: where its earliest occupied slot begins, and when it was last drained ahead.
 */
struct wheel_ring {
	uint64_t next;
	uint64_t drained;
};

/* struct wheel_chunk: 64 indexes: which are free, and which belong to elders. */
struct wheel_chunk {
	uint64_t free;
	uint64_t elders;
};

/*
 * struct wheel_names: who lives. Indexes below that of next_name have been handed out since the
 * wheel was last empty, and are in use or free.
 */
struct wheel_names {
	uint64_t *gone; /* a ring of bits, one a generation */
	struct wheel_chunk *chunks;
	uint32_t *open;      /* a stack of the chunks that have free indexes */
	uint32_t *elders;    /* the generation of each index that belongs to an elder */
	uint32_t ring;       /* how many bits, a power of two */
	uint32_t ring_mask;  /* its last word */
	uint32_t span;       /* the ring knows generations that were given less than so many ago */
	uint32_t span_quick; /* the same, or 0 once generations began again and are not unique */
	uint32_t old;        /* who was added so many ago is to become an elder */
	uint32_t opens;      /* how many chunks are in the stack */
	uint32_t free;       /* how many indexes are */
	uint32_t clean;      /* chunks below this index were made ready */
	uint32_t again;      /* generations began again */
	size_t chunks_bytes; /* of each array: after a growth that failed they differ */
	size_t open_bytes;
	size_t elders_bytes;
};

/*
 * struct wheel_pool: blocks below `fresh_block` have been handed out since the wheel was last
 * empty, and are in use or in the free list. There is room for `room` entries, wherever they lie.
 */
struct wheel_pool {
	union wheel_cell *cells;
	uint32_t room;
	uint32_t blocks;
	uint32_t fresh_block;
	uint32_t free_block;
};

/* struct wheel_sweep: the next block to be swept, and the one before it if that is in the list. */
struct wheel_sweep {
	uint32_t list;
	uint32_t prev;
	uint32_t block;
	uint32_t began; /* the next generation when this time around began */
};

/* struct wheel_overdue: a heap in chunks of memory, which come and go with its size. */
struct wheel_overdue {
	void **chunks;
	uint32_t chunks_count;
	uint32_t chunks_capacity;
	uint32_t count;
	uint32_t swept; /* from here on the present sweep has looked */
	uint64_t sequence;
};

/* struct wheel_soon: entries first to end, sorted. */
struct wheel_soon {
	uint32_t first;
	uint32_t end;
	struct wheel_entry entries[WHEEL_SOON_MAX];
};

struct dw_wheel {
	uint64_t current;     /* the wheel's time */
	uint64_t near_until;  /* the last tick of its bucket: what is due until then is near */
	uint64_t next_name;   /* the next generation, for the first index that was not in use yet */
	uint64_t quick_until; /* an add takes next_name as long as it is below this */
	uint64_t idle_until;  /* before this nothing is due and no ring needs anything */
	uint64_t work_at;     /* before this no ring needs anything */
	uint64_t rings_next;  /* the earliest next of all rings */
	uint32_t full_at; /* the generation for which there is no room: with each came an entry */
	uint32_t stop_at; /* the generation before which there is something to do */
	uint32_t fine_words; /* which words of occupied[] have fine lists */
	uint32_t swept;      /* what was there before this generation has all been swept since */
	uint32_t loading;    /* ring 0 still has entries of the current bucket */
	struct wheel_names names;
	struct wheel_pool pool;
	struct wheel_sweep sweep;
	struct wheel_overdue overdue;
	struct wheel_soon soon;
	struct wheel_ring rings[WHEEL_RINGS];
	dw_wheel_allocator allocator;
	uint64_t occupied[WHEEL_WORDS];
	uint32_t tails[WHEEL_LISTS]; /* the cell of each list's last entry */
	struct wheel_list lists[WHEEL_LISTS];
};

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

/* wheel_set_current: the only way in which time passes. */
static inline void wheel_set_current(dw_wheel *wheel, uint64_t time)
{
	wheel->current = time;
	wheel->near_until = time | (WHEEL_FINE_LISTS - 1);
}

static inline uint32_t wheel_generation(dw_wheel_handle handle)
{
	return (uint32_t)(handle >> 32);
}

/* wheel_next_generation: what the next add or move is given. */
static inline uint32_t wheel_next_generation(const dw_wheel *wheel)
{
	return wheel_generation(wheel->next_name);
}

/* wheel_age: how many generations were given after this one. */
static inline uint32_t wheel_age(const dw_wheel *wheel, uint32_t generation)
{
	return wheel_next_generation(wheel) - 1 - generation;
}

/* wheel_fresh: indexes from here on were not in use since the wheel was last empty. */
static inline uint32_t wheel_fresh(const dw_wheel *wheel)
{
	return (uint32_t)wheel->next_name;
}

static inline struct wheel_head *wheel_head(const dw_wheel *wheel, uint32_t block)
{
	return &wheel->pool.cells[(size_t)block << WHEEL_BLOCK_BITS].head;
}

/* wheel_sweep_start: the sweep is to go around all lists, from the last one down. */
static inline void wheel_sweep_start(dw_wheel *wheel)
{
	wheel->sweep.list = WHEEL_LISTS;
	wheel->sweep.prev = wheel->sweep.block = WHEEL_NONE;
	wheel->overdue.swept = UINT32_MAX;
}

/* wheel_count: timers, each of which has one live entry. */
static inline uint32_t wheel_count(const dw_wheel *wheel)
{
	return wheel_fresh(wheel) - wheel->names.free;
}

/* wheel_entries: the live and the dead. */
static inline uint32_t wheel_entries(const dw_wheel *wheel)
{
	return wheel->pool.room - (wheel->full_at - wheel_next_generation(wheel));
}

/* wheel_entries_gone: so many are not in any list any more. */
static inline void wheel_entries_gone(dw_wheel *wheel, uint32_t count)
{
	wheel->full_at += count;
}

/* wheel_dead: how many entries are. */
static inline uint32_t wheel_dead(const dw_wheel *wheel)
{
	return wheel_entries(wheel) - wheel_count(wheel);
}

#endif
