#include "cli/out/refused.h"

#include <stdio.h>

static json_int_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

const json_t *refused_shards(const json_t *report)
{
	return json_object_get(report, "refused");
}

void refused_line(const json_t *report, char ret_line[REFUSED_LINE_SIZE])
{
	const json_t *shards = refused_shards(report), *shard;
	json_int_t count = number(report, "shards_refused");
	char numbers[REFUSED_LINE_SIZE / 2] = "", more[32] = "";
	size_t used = 0, i;

	ret_line[0] = '\0';
	if (count <= 0)
		return;
	json_array_foreach(shards, i, shard)
	{
		if (used + 24 > sizeof numbers)
			break; /* no report of the library has such a long list */
		used += (size_t)snprintf(numbers + used, sizeof numbers - used, "%s%lld",
					 i > 0 ? ", " : "", (long long)number(shard, "shard"));
	}
	if ((json_int_t)i < count)
		(void)snprintf(more, sizeof more, " and %lld more",
			       (long long)count - (long long)i);
	(void)snprintf(ret_line, REFUSED_LINE_SIZE,
		       "shard%s %s%s of %lld cannot be used: %s timers wait", count == 1 ? "" : "s",
		       numbers, more, (long long)number(report, "shards"),
		       count == 1 ? "its" : "their"); /* always fits */
}
