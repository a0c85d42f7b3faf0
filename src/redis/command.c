#include "redis/command.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

void words_clear(struct words *words)
{
	words->cut = false;
	words->count = 0;
	words->used = 0;
}

/* is_full: whoever makes commands keeps below that. If not, nothing is written over. */
static bool is_full(struct words *words)
{
	assert(words->count < WORDS_MAX);
	words->cut = words->cut || words->count == WORDS_MAX;
	return words->cut;
}

void words_bytes(struct words *words, const void *bytes, size_t size)
{
	if (is_full(words))
		return;
	words->word[words->count] = bytes;
	words->size[words->count++] = size;
}

void words_text(struct words *words, const char *text)
{
	words_bytes(words, text, strlen(text));
}

/* add_number: one of them is said for each timer, and snprintf takes longer than all the rest. */
static void add_number(struct words *words, bool negative, uint64_t number)
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
	if (is_full(words))
		return;
	words_bytes(words, memcpy(words->room + words->used, at, size), size);
	words->used += size; /* at most 20, and WORDS_MAX of them */
}

void words_number(struct words *words, int64_t number)
{
	add_number(words, number < 0, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

void words_unsigned(struct words *words, uint64_t number)
{
	add_number(words, false, number);
}

void words_time(struct words *words, int64_t time)
{
	char *at = words->room + words->used;

	if (is_full(words))
		return;
	bytes_put((unsigned char *)at, (uint64_t)time, 8);
	words->used += 8;
	words_bytes(words, at, 8);
}
