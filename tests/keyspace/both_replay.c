/* Random rows of a journal. */
#include "keyspace/both.h"

#include <math.h>
#include <stdio.h>

#include "base/bytes.h"

static uint64_t stored_word(struct both *both, const char *id, size_t at, size_t size)
{
	size_t have;
	const unsigned char *value = both_stored(both, id, &have);

	return value && have >= 36 ? bytes_get(value + at, (unsigned)size) : both_draw(both, 3);
}

/* The version of a row is mostly the stored one, and its floor mostly not below that. */
static void say_row(struct both *both, const char *id, uint64_t number)
{
	static const char whats[] = "PPPSSRRCCMLL";
	uint64_t ver = both_draw(both, 5) ? stored_word(both, id, 8, 8) : both_draw(both, 2);
	uint64_t attempt = stored_word(both, id, 4, 4);
	uint64_t fence = both_draw(both, 2) ? stored_word(both, id, 24, 8) : 0;
	char what = whats[both_draw(both, sizeof whats - 1)];

	if (what == 'S' && fence > 0 && both_draw(both, 2))
		ver = fence; /* of a timer that clients have moved */
	if (what == 'P')
		ver = both_time(both, 1000000, 100000);
	both_text(both, id);
	both_number(both, number);
	both_bytes(both, &what, 1);
	both_number(both, both_draw(both, 32) + 256 * both_draw(both, 3));
	both_number(both, ver);
	attempt += both_draw(both, 4);
	both_number(both, attempt > 0 ? attempt - 1 : 0);
	both_number(both, both_time(both, 1000000, 100000));
	both_number(both, fence + both_draw(both, 2));
	both_due(both);
	if (what == 'P')
		both_body(both, id);
	else
		both_text(both, "");
}

void both_replay(struct both *both)
{
	struct caller *caller = both_caller(both, both_draw(both, 2));
	bool is_old = both_draw(both, 4) == 0; /* forgotten by the next acquisition */
	uint64_t now = (uint64_t)both->now / (is_old ? 1000 : 1);
	uint64_t *last = &both->last_rows[is_old];
	uint64_t number = both_draw(both, 4) ? now + both_draw(both, 5) : *last;
	uint64_t first = both_draw(both, 100);

	both_begin_guarded(both, "replay", caller);
	both_text(both, is_old ? "00000000000000bb" : "00000000000000aa");
	for (unsigned i = both_some(both); i > 0; i--)
		say_row(both, both_id_at(first + i), number++);
	*last = number - 1;
	both_guarded(both, caller);
}

/* told: the version of the id in the inbox, or 1. */
static uint64_t told(struct both *both, const char *id)
{
	char key[32];
	double score = 1;

	(void)snprintf(key, sizeof key, "{t:%02u}:i", both->shard);
	(void)keyspace_score(both->keyspace, key, id, &score); /* or it stays */
	return (uint64_t)fabs(score);
}

/* both_confirm: mostly of a version in the inbox, or beside it, and of the fence that is there. */
void both_confirm(struct both *both)
{
	both_begin_script(both, "confirm", "n");
	for (unsigned i = both_some(both); i > 0; i--) {
		const char *id = both_id(both);

		both_text(both, id);
		both_number(both, both_draw(both, 4) ? told(both, id) + both_draw(both, 3) - 1
						     : both_time(both, 1000000, 1000));
		both_number(both, strtoull(both_caller(both, true)->token, NULL, 10));
	}
	both_plainly(both);
}
