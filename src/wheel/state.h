/*
 * state.h: the state of a wheel. Each part has a struct, and a header with the functions that
 * change it.
 */
#ifndef WHEEL_STATE_H
#define WHEEL_STATE_H

#include "wheel/layout.h"

#include <stdbool.h>
#include <string.h>

/*
 * struct wheel_list: the first block of a list and the number of its blocks. tails[] says where the
 * list ends.
 */
struct wheel_list {
	uint32_t head;
	uint32_t blocks;
};

/* struct wheel_ring: the start of the earliest occupied slot, and when the ring was last drained
 * ahead of time. */
struct wheel_ring {
	uint64_t next;
	uint64_t drained;
};

/* struct wheel_chunk: two sets of bits for 64 indexes: the free ones, and those that belong to
 * elders. */
struct wheel_chunk {
	uint64_t free;
	uint64_t elders;
};

/*
 * struct wheel_names: which timers are alive. Indexes below that of next_name were given out since
 * the wheel was last empty; each is in use or free.
 */
struct wheel_names {
	uint64_t *gone; /* a ring of bits, one for each generation */
	struct wheel_chunk *chunks;
	uint32_t *open;      /* a stack of the chunks that have free indexes */
	uint32_t *elders;    /* the generation of each index that belongs to an elder */
	uint32_t ring;       /* bits in the ring, a power of two */
	uint32_t ring_mask;  /* index of the ring's last word */
	uint32_t span;       /* the ring knows the last `span` generations */
	uint32_t span_quick; /* span, or 0 once generations started again and are not unique */
	uint32_t old;        /* a timer added this many generations ago becomes an elder */
	uint32_t opens;      /* chunks in the stack */
	uint32_t free;       /* free indexes */
	uint32_t clean;      /* chunks of indexes below this one are ready for use */
	uint32_t again;      /* the generations have started again from 0 */
	/* Bytes of this array; the three sizes differ after a growth that failed. */
	size_t chunks_bytes;
	size_t open_bytes;
	size_t elders_bytes;
};

/*
 * struct wheel_pool: blocks below `fresh_block` were given out since the wheel was last empty; each
 * is in use or in the free list. There is room for `room` entries in any lists.
 */
struct wheel_pool {
	union wheel_cell *cells;
	uint32_t room;
	uint32_t blocks;
	uint32_t fresh_block;
	uint32_t free_block;
};

/*
 * struct wheel_sweep: the next block to sweep, and the block before it in its list or WHEEL_NONE.
 */
struct wheel_sweep {
	uint32_t list;
	uint32_t prev;
	uint32_t block;
	uint32_t began; /* the next generation at the start of this round */
};

/* struct wheel_overdue: a heap in chunks of memory. The chunks are allocated as the heap grows,
 * and freed as it shrinks. */
struct wheel_overdue {
	void **chunks;
	uint32_t chunks_count;
	uint32_t chunks_capacity;
	uint32_t count;
	uint32_t swept; /* the current sweep has seen the heap's entries from here on */
	uint64_t sequence;
};

/* struct wheel_soon: the entries from `first` up to `end`, sorted. */
struct wheel_soon {
	uint32_t first;
	uint32_t end;
	struct wheel_entry entries[WHEEL_SOON_MAX];
};

struct dw_wheel {
	uint64_t current; /* the wheel's current time */
	uint64_t
	    near_until;     /* the last tick of the current bucket; a deadline up to here is near */
	uint64_t next_name; /* the next generation and the first unused index */
	uint64_t quick_until; /* an add may take next_name while it is below this */
	uint64_t idle_until;  /* nothing is due, and no ring needs work, before this */
	uint64_t work_at;     /* no ring needs work before this */
	uint64_t rings_next;  /* the earliest `next` of all rings */
	/* The first generation without room, because each generation takes an entry. */
	uint32_t full_at;
	uint32_t stop_at;    /* an add or move with this generation calls go_on() first */
	uint32_t fine_words; /* a bit for each word of occupied[] with an occupied fine list */
	uint32_t
	    swept; /* all entries older than this generation have been swept since it was given */
	uint32_t loading; /* ring 0 still has entries of the current bucket to be loaded */
	struct wheel_names names;
	struct wheel_pool pool;
	struct wheel_sweep sweep;
	struct wheel_overdue overdue;
	struct wheel_soon soon;
	struct wheel_ring rings[WHEEL_RINGS];
	dw_wheel_allocator allocator;
	uint64_t occupied[WHEEL_WORDS];
	uint32_t tails[WHEEL_LISTS]; /* the cell of the last entry of each list */
	struct wheel_list lists[WHEEL_LISTS];
};

#endif
