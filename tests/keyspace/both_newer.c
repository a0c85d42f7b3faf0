/* Values, and the mark of a shard, as a later version of the library writes them. */
#include "keyspace/both.h"

#include <string.h>

#include "base/bytes.h"
#include "store/redis/value.h"
#include "support/newer.h"

enum { FORM_AT = 36, BODY_AT = 42, FORM_RECORD = 3 };

/* value_of_newer: under a header that is stored; a few are one thing or the other in part only. */
static size_t value_of_newer(struct both *both, const char *id, unsigned char *bytes)
{
	size_t size = BODY_AT + newer_body(id, "topic", bytes + BODY_AT);

	bytes[FORM_AT] = both_draw(both, 20) ? FORM_RECORD : 4;
	bytes[FORM_AT + 1] = 0;
	if (both_draw(both, 10) == 0)
		bytes[BODY_AT + both_draw(both, 4)] ^= 3;
	memcpy(bytes + FORM_AT + 2, bytes + BODY_AT + 8, 4);
	if (both_draw(both, 20) > 0)
		bytes_put(bytes + 32, value_check(bytes, (uint32_t)bytes_get(bytes + 38, 4)), 4);
	return both_draw(both, 20) ? size : BODY_AT + (size_t)both_draw(both, 6);
}

void both_newer(struct both *both)
{
	const char *id = both_id(both);
	unsigned char bytes[BODY_AT + NEWER_BODY_MAX];
	size_t size;
	const unsigned char *value = both_stored(both, id, &size);

	if (!value || size < BODY_AT || both->full)
		return;
	memcpy(bytes, value, BODY_AT);
	size = value_of_newer(both, id, bytes);
	both_begin(both, "HSET");
	both_key(both, "h");
	both_text(both, id);
	both_bytes(both, bytes, size);
	both_plainly(both);
}

void both_format(struct both *both)
{
	static const char *const marks[8] = {"2", "x", "", "1", "1", "1", "1", "1"};

	if (both->full)
		return;
	both_begin(both, "HSET");
	both_key(both, "m");
	both_text(both, "format");
	both_text(both, marks[both_draw(both, 8)]);
	both_plainly(both);
}
