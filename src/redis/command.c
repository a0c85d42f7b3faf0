#include "redis/command.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

void command_clear(struct redis_command *command)
{
	command->cut = false;
	command->count = 0;
	command->used = 0;
}

/* is_full: true if the command has no room for another word. Callers must avoid this. If one does
 * not, the word is dropped and the command is not sent. */
static bool is_full(struct redis_command *command)
{
	assert(command->count < COMMAND_WORDS_MAX);
	command->cut = command->cut || command->count == COMMAND_WORDS_MAX;
	return command->cut;
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
	char digits[21];
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
	command->used += size; /* the room has 21 bytes for each word */
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
	char *at = command->room + command->used;

	if (is_full(command))
		return;
	bytes_put((unsigned char *)at, (uint64_t)time, 8);
	command->used += 8;
	command_bytes(command, at, 8);
}

/* The words between have used none of the room: they are texts of the caller. */
void command_replace_number(struct redis_command *command, int word, int64_t number)
{
	if (is_full(command))
		return;
	command_number(command, number);
	command->count--;
	command->word[word] = command->word[command->count];
	command->size[word] = command->size[command->count];
}
