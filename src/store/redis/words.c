#include "store/redis/words.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

void words_clear(struct words *words)
{
	words->count = 0;
	words->used = 0;
}

void words_bytes(struct words *words, const void *bytes, size_t size)
{
	assert(words->count < WORDS_MAX);
	words->word[words->count] = bytes;
	words->size[words->count++] = size;
}

void words_text(struct words *words, const char *text)
{
	words_bytes(words, text, strlen(text));
}

void words_number(struct words *words, int64_t number)
{
	char *at = words->room + words->used;
	int size = snprintf(at, WORDS_ROOM - words->used, "%" PRId64, number);

	words->used += (size_t)size + 1; /* at most 21, and WORDS_MAX of them */
	words_bytes(words, at, (size_t)size);
}

void words_unsigned(struct words *words, uint64_t number)
{
	char *at = words->room + words->used;
	int size = snprintf(at, WORDS_ROOM - words->used, "%" PRIu64, number);

	words->used += (size_t)size + 1; /* as above */
	words_bytes(words, at, (size_t)size);
}

void words_time(struct words *words, int64_t time)
{
	char *at = words->room + words->used;

	bytes_put((unsigned char *)at, (uint64_t)time, 8);
	words->used += 8;
	words_bytes(words, at, 8);
}
