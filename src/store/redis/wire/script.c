#include "store/redis/wire/script.h"

#include <string.h>

/* In the order of enum redis_key. */
const char *const redis_key_ends[NAMES_OF_SHARD] = {"l", "m",  "z", "h", "i",   "d", "D",
						    "e", "s:", "E", "x", "t",   "u", "n",
						    "o", "O",  "R", "k", "wake"};

const char *const redis_queue_ends[QUEUE_KEYS_MAX] = {"q:", "qt:", "ql:", "qm:", "qc:", "qc:"};

const char *script_text(const struct redis_script *script, char *room)
{
	char *at = room;

	for (const struct script_part *const *part = script->parts; *part; part++) {
		memcpy(at, (*part)->text, (*part)->size);
		at += (*part)->size;
	}
	return room;
}
