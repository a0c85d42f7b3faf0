/* Random claims of what an owner knows, and burials and renewals. */
#include "keyspace/both.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "store/redis/value.h"

/* say_known_claims: mostly of what is stored and pending. */
static void say_known_claims(struct both *both, const struct caller *caller)
{
	static unsigned char values[BOTH_SOME][1024];
	size_t sizes[BOTH_SOME] = {0};
	const char *named[BOTH_SOME];
	uint64_t first = both_draw(both, 100);
	unsigned count = both_some(both);

	for (unsigned i = 0; i < count; i++) {
		const unsigned char *value;
		char score[24];
		int64_t due = both->now;

		named[i] = both_id_at(first + i);
		value = both_stored(both, named[i], &sizes[i]);
		if (!value || sizes[i] < 42) {
			sizes[i] = 42;
			memset(values[i], 1, 42);
		} else {
			memcpy(values[i], value, sizes[i]);
			due = (int64_t)bytes_get(value + 16, 8);
		}
		values[i][0] = DW_CLAIMED;
		bytes_put(values[i] + 24, strtoull(caller->token, NULL, 10), 8);
		(void)snprintf(score, sizeof score, "-%lld", (long long)value_score(due));
		both_text(both, score);
		both_text(both, named[i]);
	}
	for (unsigned i = 0; i < count; i++)
		both_bytes(both, values[i], sizes[i]);
}

void both_claim_known(struct both *both)
{
	struct caller *caller = both_caller(both, true);

	both_begin_guarded(both, "claim_known", caller);
	say_known_claims(both, caller);
	both_guarded(both, caller);
}

/* both_settle_known: each id with a member of the index, mostly its own. */
void both_settle_known(struct both *both)
{
	struct caller *caller = both_caller(both, true);
	const char *ids[BOTH_SOME];
	unsigned count = both_some(both);

	both_begin_guarded(both, "settle_known", caller);
	for (unsigned i = 0; i < count; i++)
		both_text(both, ids[i] = both_id(both));
	for (unsigned i = 0; i < count; i++)
		both_member(both, ids[i]);
	both_guarded(both, caller);
}

/* both_next_known: mostly with versions that can be used. */
void both_next_known(struct both *both)
{
	struct caller *caller = both_caller(both, true);
	uint64_t first = both_draw(both, 100);
	uint64_t ver = both_time(both, 2500000, 2500000);
	unsigned count = both_some(both);

	both_begin_guarded(both, "next_known", caller);
	for (unsigned i = 0; i < count; i++) {
		both_number(both, (uint64_t)both->now + both_draw(both, 3));
		both_text(both, both_id_at(first + i));
	}
	for (unsigned i = 0; i < count; i++)
		both_value_of(both, both_id_at(first + i), ver + i * 16);
	for (unsigned i = 0; i < count; i++)
		both_member(both, both_id_at(first + i));
	both_guarded(both, caller);
}

void both_bury(struct both *both)
{
	struct caller *caller = both_caller(both, true);

	both_begin_guarded(both, "bury", caller);
	for (unsigned i = both_some(both); i > 0; i--) {
		both_delivery(both, both_id(both));
		both_number(both, 1 + both_draw(both, both_draw(both, 2) ? 5 : 255));
		both_number(both, (uint64_t)both->now + both_draw(both, 100));
		both_why(both);
		both_started(both);
	}
	both_guarded(both, caller);
}

void both_next(struct both *both)
{
	struct caller *caller = both_caller(both, true);

	both_begin_guarded(both, "next", caller);
	for (unsigned i = both_some(both); i > 0; i--) {
		const char *id = both_id(both);

		both_delivery(both, id);
		both_number(both, both_draw(both, 3) ? 0 : both_draw(both, 255));
		both_number(both, (uint64_t)both->now + both_draw(both, 100));
		both_why(both);
		both_value(both, id);
		both_started(both);
	}
	both_guarded(both, caller);
}
