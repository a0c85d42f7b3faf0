/* Random settles, and questions about the ends of timers. */
#include "keyspace/both.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* both_keep: as long as some calls, or far too long. */
dw_usec both_keep(struct both *both)
{
	return both_draw(both, 5) ? 1 + (dw_usec)both_draw(both, 20000)
				  : (dw_usec)(rng_next(&both->rng) >> both_draw(both, 20));
}

void both_started(struct both *both)
{
	unsigned char bytes[8] = {0};

	if (both_draw(both, 3))
		bytes_put(bytes, (uint64_t)both->now - both_draw(both, 1000), 8);
	both_bytes(both, bytes, 8);
}

void both_result(struct both *both)
{
	char text[DW_RESULT_MAX];
	size_t size = both_draw(both, 3) ? 0 : (size_t)both_draw(both, 20);

	if (both_draw(both, 30) == 0)
		size = sizeof text;
	memset(text, 'a' + (int)both_draw(both, 26), sizeof text);
	both_bytes(both, text, size);
}

void both_settle(struct both *both)
{
	struct caller *caller = both_caller(both, true);

	both_begin_guarded(both, "settle", caller);
	for (unsigned i = both_some(both); i > 0; i--) {
		both_delivery(both, both_id(both));
		both_started(both);
		both_result(both);
	}
	both_guarded(both, caller);
}

void both_ended(struct both *both)
{
	both_begin_script(both, "ended", "n");
	for (unsigned i = both_some(both); i > 0; i--)
		both_text(both, both_id(both));
	both_plainly(both);
}

/* change_shards: of 400,000 shards each keeps two ends. Mostly it is set right again. */
static void change_shards(struct both *both)
{
	both_begin(both, "HSET");
	both_key(both, "m");
	both_text(both, "shards");
	both_number(both, both_draw(both, 3) ? BOTH_SHARDS : 400000);
	both_plainly(both);
}

/* both_keeps: the topics of random timers are the beginnings of "topic". */
void both_keeps(struct both *both)
{
	char lines[200];

	if (both->full)
		return;
	if (both_draw(both, 4) == 0) {
		change_shards(both);
		return;
	}
	both_begin(both, both_draw(both, 4) ? "HSET" : "HDEL");
	both_key(both, "m");
	both_text(both, "keeps");
	(void)snprintf(lines, sizeof lines, "topic\t%d\nto\t%d\nt\t90000000000000\n",
		       (int)both_draw(both, 30000), 1 + (int)both_draw(both, 3000000));
	if (strcmp(both->words[0], "HSET") == 0)
		both_text(both, lines);
	both_plainly(both);
}
