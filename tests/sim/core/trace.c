#include "sim/core/sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

void trace(struct sim *sim, const char *what, const char *id, int64_t a, int64_t b)
{
	sim->trace.event_count++;
	sim->trace.hash = hash_bytes(sim->trace.hash, what, strlen(what));
	sim->trace.hash = hash_bytes(sim->trace.hash, id, strlen(id));
	sim->trace.hash = mix(sim->trace.hash, (uint64_t)a);
	sim->trace.hash = mix(sim->trace.hash, (uint64_t)b);
	sim->trace.hash = mix(sim->trace.hash, (uint64_t)sim->clocks.steady);
	if (sim->trace.printing)
		printf("%12lld %-16s %-8s %lld %lld\n", (long long)sim->clocks.steady, what, id,
		       (long long)a, (long long)b);
}

void broken(struct sim *sim, const char *promise, const char *format, ...)
{
	va_list arguments;
	int size;

	if (sim->trace.broken[0] || sim->at_work->dead)
		return;
	size = snprintf(sim->trace.broken, sizeof sim->trace.broken, "%s: ", promise);
	va_start(arguments, format);
	(void)vsnprintf(sim->trace.broken + size, sizeof sim->trace.broken - (size_t)size, format,
			arguments);
	va_end(arguments);
	trace(sim, "BROKEN", sim->trace.broken, 0, 0);
}
