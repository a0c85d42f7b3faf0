/* Random rows of a journal. */
#include "script_model/both.h"

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
	static const char whats[] = "PPPSSRRCCM";
	uint64_t ver = both_draw(both, 5) ? stored_word(both, id, 8, 8) : both_draw(both, 2);
	uint64_t attempt = stored_word(both, id, 4, 4);
	uint64_t fence = both_draw(both, 2) ? stored_word(both, id, 24, 8) : 0;
	char what = whats[both_draw(both, sizeof whats - 1)];

	both_text(both, id);
	both_number(both, number);
	both_bytes(both, &what, 1);
	both_number(both, 4 * both_draw(both, 4));
	both_number(both, ver);
	both_number(both, attempt + both_draw(both, 3));
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
	uint64_t number =
	    both_draw(both, 4) ? (uint64_t)both->now / 1000 + both_draw(both, 5) : both->last_row;
	uint64_t first = both_draw(both, 100);

	both_begin_guarded(both, "replay", caller);
	both_text(both, both_draw(both, 4) ? "00000000000000aa" : "00000000000000bb");
	for (unsigned i = both_some(both); i > 0; i--)
		say_row(both, both_id_at(first + i), number++);
	both->last_row = number - 1;
	both_guarded(both, caller);
}
