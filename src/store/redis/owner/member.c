#include "store/redis/owner/member.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = sizeof((dw_member_row *)0)->shards / sizeof(uint64_t), DIGIT_BITS = 4 };

#define LEAVES "leaves" /* in the record of a member that gives all its shards away */

bool member_has(const dw_member_row *row, unsigned shard)
{
	return row->shards[shard / 64] >> shard % 64 & 1;
}

unsigned member_count(const dw_member_row *row)
{
	unsigned count = 0;

	for (unsigned i = 0; i < WORDS * 64; i++)
		count += member_has(row, i);
	return count;
}

/* write_shards writes the set as one hexadecimal number without leading zeros. */
static void write_shards(const dw_member_row *row, char ret_text[WORDS * 16 + 1])
{
	unsigned word = WORDS - 1;
	int used;

	while (word > 0 && row->shards[word] == 0)
		word--;
	used = snprintf(ret_text, 17, "%" PRIx64, row->shards[word]);
	while (word-- > 0)
		used += snprintf(ret_text + used, 17, "%016" PRIx64, row->shards[word]);
}

void member_write(const dw_member_row *row, const char *holder, char ret_text[MEMBER_SIZE])
{
	char shards[WORDS * 16 + 1];

	write_shards(row, shards);
	/* If the holder is long, it is cut. */
	(void)snprintf(ret_text, MEMBER_SIZE, "%" PRId64 " %s %u %" PRId64 " %s %s %s %s",
		       row->since, shards, row->room, row->clock,
		       row->version[0] ? row->version : "-", row->zones[0] ? row->zones : "-",
		       row->is_leaving ? LEAVES : "-", holder);
}

/* read_shards reads the set. It returns the text after the number, or NULL if there is no number or
 * it is too large. */
static const char *read_shards(const char *text, dw_member_row *row)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = text;

	for (const char *digit; *at && (digit = strchr(digits, *at)); at++) {
		if (row->shards[WORDS - 1] >> (64 - DIGIT_BITS))
			return NULL;
		for (unsigned i = WORDS - 1; i > 0; i--)
			row->shards[i] =
			    row->shards[i] << DIGIT_BITS | row->shards[i - 1] >> (64 - DIGIT_BITS);
		row->shards[0] = row->shards[0] << DIGIT_BITS | (uint64_t)(digit - digits);
	}
	return at > text && *at == ' ' ? at + 1 : NULL;
}

/* read_word copies a word, and cuts a long one. The word "-" becomes an empty one. It returns the
 * text after the word and its blank, or NULL if the text ends there. */
static const char *read_word(const char *text, char *ret_word, size_t size)
{
	size_t length = strcspn(text, " ");

	(void)snprintf(ret_word, size, "%.*s", (int)length, text);
	if (strcmp(ret_word, "-") == 0)
		ret_word[0] = '\0';
	return text[length] == ' ' ? text + length + 1 : NULL;
}

bool member_read(const char *text, dw_member_row *ret_row, const char **ret_holder)
{
	dw_member_row row = {0};
	const char *at = text;
	char state[sizeof LEAVES];
	char *end;

	row.since = strtoll(at, &end, 10);
	at = end > at && *end == ' ' ? read_shards(end + 1, &row) : NULL;
	if (!at)
		return false;
	row.room = (unsigned)strtoul(at, &end, 10);
	if (*end != ' ')
		return false;
	row.clock = strtoll(end + 1, &end, 10);
	at = *end == ' ' ? read_word(end + 1, row.version, sizeof row.version) : NULL;
	at = at ? read_word(at, row.zones, sizeof row.zones) : NULL;
	at = at ? read_word(at, state, sizeof state) : NULL;
	if (!at)
		return false;
	row.is_leaving = strcmp(state, LEAVES) == 0;
	*ret_row = row;
	*ret_holder = at;
	return true;
}
