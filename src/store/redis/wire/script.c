#include "store/redis/wire/script.h"

#include <string.h>

const char *script_text(const struct redis_script *script, char *room)
{
	char *at = room;

	for (const struct script_part *const *part = script->parts; *part; part++) {
		memcpy(at, (*part)->text, (*part)->size);
		at += (*part)->size;
	}
	return room;
}
