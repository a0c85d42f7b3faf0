/* The memory of Lua, which makes and drops thousands of small tables and functions. Free blocks of
 * one size form a list and are reused, but never freed. */
#include "keyspace/inside.h"

#include <stdlib.h>
#include <string.h>

enum { CLASS_STEP = 16, SMALL_MAX = 512, CHUNK_SIZE = 64 * 1024 };

struct small {
	struct small *next;
};

static struct small *free_blocks[SMALL_MAX / CLASS_STEP];

static void *room_of(size_t size)
{
	void *block = malloc(size);

	if (!block)
		abort();
	return block;
}

static void *take_block(size_t class)
{
	struct small *block = free_blocks[class];
	size_t size = (class + 1) * CLASS_STEP;

	if (!block) {
		char *chunk = room_of(CHUNK_SIZE);

		for (size_t at = 0; at + size <= CHUNK_SIZE; at += size) {
			struct small *each = (struct small *)(void *)(chunk + at);

			each->next = block;
			block = each;
		}
	}
	free_blocks[class] = block->next;
	return block;
}

static void *new_block(size_t size)
{
	return size > SMALL_MAX ? room_of(size) : take_block((size - 1) / CLASS_STEP);
}

static void free_block(void *block, size_t size)
{
	struct small *small = block;

	if (size == 0)
		return;
	if (size > SMALL_MAX) {
		free(block);
		return;
	}
	small->next = free_blocks[(size - 1) / CLASS_STEP];
	free_blocks[(size - 1) / CLASS_STEP] = small;
}

void *lua_memory(void *user, void *block, size_t old_size, size_t size)
{
	void *moved = NULL;

	(void)user;
	if (size > 0 && old_size > 0 && size <= SMALL_MAX && old_size <= SMALL_MAX &&
	    (size - 1) / CLASS_STEP == (old_size - 1) / CLASS_STEP)
		return block;
	if (size > 0)
		moved = new_block(size);
	if (moved && old_size > 0)
		memcpy(moved, block, size < old_size ? size : old_size);
	free_block(block, old_size);
	return moved;
}
