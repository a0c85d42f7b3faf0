/*
 * state.h: all that a wheel knows. Each part has a struct, and a header for whoever changes it.
 */
#ifndef WHEEL_STATE_H
#define WHEEL_STATE_H

#include "wheel/layout.h"

#include <stdbool.h>
#include <string.h>

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

#endif
