/* What happened, as a hash and on demand as text; and the first promise that was broken. */
#include "sim/core/sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

void trace(struct sim *sim, const char *what, const char *id, int64_t a, int64_t b)
{
	sim->event_count++;
	sim->hash = hash_bytes(sim->hash, what, strlen(what));
	sim->hash = hash_bytes(sim->hash, id, strlen(id));
	sim->hash = mix(sim->hash, (uint64_t)a);
	sim->hash = mix(sim->hash, (uint64_t)b);
	sim->hash = mix(sim->hash, (uint64_t)sim->clocks.steady);
	if (sim->printing)
		printf("%12lld %-16s %-8s %lld %lld\n", (long long)sim->clocks.steady, what, id,
		       (long long)a, (long long)b);
}

void broken(struct sim *sim, const char *promise, const char *format, ...)
{
	va_list arguments;
	int size;

	if (sim->broken[0] || sim->dead)
		return;
	size = snprintf(sim->broken, sizeof sim->broken, "%s: ", promise);
	va_start(arguments, format);
	(void)vsnprintf(sim->broken + size, sizeof sim->broken - (size_t)size, format, arguments);
	va_end(arguments);
	trace(sim, "BROKEN", sim->broken, 0, 0);
}
