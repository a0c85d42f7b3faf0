#include "redis/command.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "durawheel/durawheel.h"

#define WORDS_FIRST 128
#define NUMBER_SIZE 21 /* the longest number and its NUL */

static void forget_kept(struct redis_command *command)
{
	if (command->kept)
		alloc_free(&command->alloc, command->kept);
	command->kept = NULL;
}

void command_clear(struct redis_command *command)
{
	forget_kept(command);
	command->status = DW_OK;
	command->count = 0;
	command->used = 0;
}

void command_free(struct redis_command *command)
{
	forget_kept(command);
	alloc_free(&command->alloc, command->word);
	command->word = NULL;
	command->most = 0;
}

char *command_keep(struct redis_command *command, size_t size)
{
	forget_kept(command);
	command->kept = command->alloc.resize(command->alloc.user, NULL, size);
	if (!command->kept)
		command->status = DW_ENOMEM;
	return command->kept;
}

/* move_numbers copies the digits into the new buffer, and lets the words that are numbers point
 * into it. */
static void move_numbers(struct redis_command *command, const char *before)
{
	memcpy(command->room, before, command->used);
	for (int i = 0; i < command->count; i++) {
		uintptr_t offset = (uintptr_t)command->word[i] - (uintptr_t)before;

		if (offset < command->used)
			command->word[i] = command->room + offset;
	}
}

/* grow doubles the memory, which is one block. Returns false without memory. */
static bool grow(struct redis_command *command)
{
	struct redis_command before = *command;
	int most = before.most ? 2 * before.most : WORDS_FIRST;
	size_t words = (size_t)(most < COMMAND_WORDS_MAX ? most : COMMAND_WORDS_MAX);
	char *block = command->alloc.resize(
	    command->alloc.user, NULL, words * (sizeof(char *) + sizeof(size_t) + NUMBER_SIZE));

	if (!block)
		return false;
	command->most = (int)words;
	command->word = (const char **)(void *)block;
	command->size = (size_t *)(void *)(block + words * sizeof(char *));
	command->room = block + words * (sizeof(char *) + sizeof(size_t));
	if (before.count > 0) {
		memcpy(command->word, before.word, (size_t)before.count * sizeof *before.word);
		memcpy(command->size, before.size, (size_t)before.count * sizeof *before.size);
		move_numbers(command, before.room);
	}
	alloc_free(&command->alloc, before.word);
	return true;
}

/* is_full returns true if another word cannot be added. It sets `status`, and the command is not
 * sent. Callers must not add more words than a command may have. */
static bool is_full(struct redis_command *command)
{
	assert(command->count < COMMAND_WORDS_MAX);
	if (command->status == DW_OK && command->count == COMMAND_WORDS_MAX)
		command->status = DW_ELIMIT;
	if (command->status == DW_OK && command->count == command->most && !grow(command))
		command->status = DW_ENOMEM;
	return command->status != DW_OK;
}

void command_bytes(struct redis_command *command, const void *bytes, size_t size)
{
	if (is_full(command))
		return;
	command->word[command->count] = bytes;
	command->size[command->count++] = size;
}

void command_text(struct redis_command *command, const char *text)
{
	command_bytes(command, text, strlen(text));
}

/* add_number writes the digits itself, because a command has numbers for each timer, and snprintf()
 * would take longer than all the rest. */
static void add_number(struct redis_command *command, bool negative, uint64_t number)
{
	char digits[NUMBER_SIZE];
	char *at = digits + sizeof digits;
	size_t size;

	do
		*--at = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	if (negative)
		*--at = '-';
	size = (size_t)(digits + sizeof digits - at);
	if (is_full(command))
		return;
	command_bytes(command, memcpy(command->room + command->used, at, size), size);
	command->used += size; /* `room` has NUMBER_SIZE bytes for each word */
}

void command_number(struct redis_command *command, int64_t number)
{
	add_number(command, number < 0, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

void command_unsigned(struct redis_command *command, uint64_t number)
{
	add_number(command, false, number);
}

void command_time(struct redis_command *command, int64_t time)
{
	char *at;

	if (is_full(command))
		return;
	at = command->room + command->used;
	bytes_put((unsigned char *)at, (uint64_t)time, 8);
	command->used += 8;
	command_bytes(command, at, 8);
}
