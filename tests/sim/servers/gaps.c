#include "sim/servers/gaps.h"

#include "sim/servers/servers.h"

#define AFTER DW_SECONDS(15) /* so long later what was under way may start once more */

void gaps_begin(struct servers *servers, const struct site *site, uint64_t parts, dw_usec since)
{
	struct gaps *gaps = &servers->gaps;
	struct sim *sim = servers->sim;

	if (gaps->count == GAPS_MAX)
		broken(sim, "sim", "more than %u failovers", GAPS_MAX);
	else
		gaps->list[gaps->count++] =
		    (struct gap){.parts = parts,
				 .from = clocks_wall(sim) - (sim->clocks.steady - since),
				 .until = DW_NEVER,
				 .at = site};
}

void gaps_used(struct servers *servers, const struct site *site, unsigned shard)
{
	struct gaps *gaps = &servers->gaps;

	for (unsigned i = 0; i < gaps->count; i++) {
		struct gap *gap = &gaps->list[i];

		if (gap->at == site && gap->until == DW_NEVER && gap->parts & UINT64_C(1) << shard)
			gap->until = clocks_wall(servers->sim);
	}
}

void gaps_tell(struct servers *servers)
{
	const struct gaps *gaps = &servers->gaps;
	struct history *history = servers->base.history;

	for (unsigned i = 0; i < gaps->count; i++) {
		const struct gap *gap = &gaps->list[i];

		history_fault_in(history, gap->parts, gap->from - DW_SECONDS(1),
				 usec_add(gap->until, AFTER));
		(void)history_replaced_in(history, gap->parts, gap->from, gap->until);
	}
}
