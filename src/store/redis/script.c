#include "store/redis/script.h"

#include <string.h>

const char *script_text(const struct redis_script *script, char room[SCRIPT_TEXT_MAX])
{
	char *at = room;

	for (unsigned i = 0; i < SCRIPT_PARTS; i++) {
		if (script->parts[i].size > 0)
			memcpy(at, script->parts[i].text, script->parts[i].size);
		at += script->parts[i].size;
	}
	return room;
}
