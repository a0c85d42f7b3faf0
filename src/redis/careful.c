#include "redis/careful.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/usec.h"

#define CAREFUL_FOR DW_SECONDS(5)

void careful_begin(struct careful *careful, dw_usec now)
{
	careful->until = usec_add(now, CAREFUL_FOR);
}

/* on_way returns how many commands and probes are on their way: the server has got at least the
 * first byte of each, and has not answered it. */
static uint64_t on_way(const struct careful *careful)
{
	uint64_t unwritten = careful->output->count - (careful->output->written > 0);

	return careful->heart->due + careful->heart->probing - unwritten;
}

size_t careful_room(const struct careful *careful, dw_usec now)
{
	const struct output *output = careful->output;
	bool has_begun = output->written > 0;
	size_t small = output_small(output);

	if (output->count == 0)
		return 0;
	if (now < careful->until || small == 0)
		return has_begun || on_way(careful) == 0;
	/* If the server has begun to get a command behind the large one, the large one is
	 * answered. */
	return output->was_large && !has_begun && on_way(careful) > 0 ? 0 : small;
}

size_t careful_unsent(const struct careful *careful)
{
	const struct output *output = careful->output;
	size_t unsent = output->count - (output->written > 0);

	return unsent - (unsent > 0 && careful->heart->probing);
}

void careful_closed(struct careful *careful, uint64_t connection, bool is_sure, dw_usec now)
{
	const struct heartbeat *heart = careful->heart;
	bool is_probe = heart->probing && heart->before_probe == 0;
	bool is_alone = on_way(careful) == 1 && !is_probe;

	careful->blamed = is_sure || is_alone ? connection : 0;
	if (heart->due > 0)
		careful_begin(careful, now);
}

void careful_lost(struct careful *careful)
{
	careful->blamed = 0;
}

void careful_up(struct careful *careful, const char *server)
{
	if (strcmp(careful->server, server) != 0)
		careful->blamed = 0;
	(void)snprintf(careful->server, sizeof careful->server, "%s", server); /* it fits */
}
