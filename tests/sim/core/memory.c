#include "sim/core/sim.h"

#include <stdlib.h>
#include <string.h>

/* The header of each block names its account. A block may be freed by another account: for example,
 * the engine frees rows of the store. */
union block {
	struct account *account;
	max_align_t align;
};

static bool fails(struct account *account)
{
	struct sim *sim = account->sim;

	if (!account->may_fail || sim->memory.fail_in == 0 || --sim->memory.fail_in > 0)
		return false;
	if (sim->memory.fail_run > 0) {
		sim->memory.fail_run--;
		sim->memory.fail_in = 1;
	}
	sim->memory.fail_count++;
	trace(sim, "no memory", "", 0, 0);
	faults_disturb(sim, sim->clocks.steady);
	return true;
}

static void *resize(void *user, void *bytes, size_t size)
{
	struct account *account = user;
	union block *block = bytes ? (union block *)bytes - 1 : NULL;
	union block *moved;

	if (size == 0) {
		if (block)
			block->account->block_count--;
		free(block);
		return NULL;
	}
	if (fails(account))
		return NULL;
	moved = realloc(block, size + sizeof *block);
	if (!moved)
		abort(); /* this machine has no memory; that is not simulated */
	if (!block) {
		moved->account = account;
		account->block_count++;
	}
	return moved + 1;
}

struct alloc memory_alloc(struct account *account)
{
	return (struct alloc){.resize = resize, .user = account};
}

void memory_disturb(struct sim *sim)
{
	sim->memory.fail_in = 1 + (uint32_t)draw(sim, 20);
	sim->memory.fail_run = chance(sim, 3000) ? (uint32_t)draw(sim, 30) : 0;
}
