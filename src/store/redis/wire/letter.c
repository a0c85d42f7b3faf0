/* Reads a dead letter that a script has sent. */
#include "store/redis/wire/letter.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "store/redis/core.h"

#define LETTER_HEAD 17u

/* number_of returns the number of a letter, which is its score. The scores that we write are whole
 * numbers below 2^53. A score that another program wrote is rounded up. Otherwise the page that
 * begins after this number would begin with the same letter. */
static uint64_t number_of(const char *score)
{
	uint64_t number = strtoull(score, NULL, 10);

	if (score[0] == '-' || strstr(score, "e-"))
		return 1;
	if (strchr(score, 'e') || strchr(score, 'i')) /* a score like 1e300 or inf */
		return INT64_MAX;
	number += strchr(score, '.') != NULL;
	return number > 0 ? number : 1;
}

/* version_of returns the version of a letter. The member has it after the id and a NUL. */
static uint64_t version_of(const struct reply *member)
{
	size_t id_size = strnlen(member->bytes, member->size);

	return id_size < member->size ? strtoull(member->bytes + id_size + 1, NULL, 10) : 0;
}

dw_row *letter_row(struct redis_store *store, const struct shard *shard, const struct reply *items)
{
	const struct reply *letter = &items[2];
	const unsigned char *bytes = (const unsigned char *)letter->bytes;
	bool whole = letter->kind == REPLY_BULK && letter->size >= LETTER_HEAD;
	dw_row *row =
	    value_row(&store->alloc, items[0].bytes, items[0].size,
		      whole ? bytes + LETTER_HEAD : NULL, whole ? letter->size - LETTER_HEAD : 0);

	if (!row)
		return NULL;
	row->number = number_of(items[1].bytes);
	row->head.generation = version_of(&items[0]);
	if (misplaced_is(store, shard, row->id))
		row->status = DW_ECORRUPT;
	if (whole) {
		row->at = (dw_usec)bytes_get(bytes + 8, 8);
		row->reason = (dw_reason)bytes[16];
	}
	return row;
}
