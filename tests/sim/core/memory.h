/* The allocator of a process: it counts its blocks, and fails when the simulation says so. */
#ifndef SIM_CORE_MEMORY_H
#define SIM_CORE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct sim;

/* Counts the blocks of one owner. */
struct account {
	struct sim *sim;
	size_t block_count;
	bool may_fail;
};

struct memory {
	uint32_t fail_in;  /* the allocation that fails, 0: none */
	uint32_t fail_run; /* how many fail after it */
	uint64_t fail_count;
};

struct alloc memory_alloc(struct account *);

/* memory_disturb chooses an allocation that is going to fail. */
void memory_disturb(struct sim *);

#endif
