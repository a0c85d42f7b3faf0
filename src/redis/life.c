#include "redis/life.h"

#include <string.h>

#include "base/usec.h"

/* This is longer than a link pauses between two attempts. If the process stood still for longer
 * than this, it does not know whether others could use the server in the meantime. */
#define GAP_MAX DW_SECONDS(3)

/* start_of returns when the server was certainly up. A server reports its uptime in whole seconds,
 * which may be almost one second too many. */
static dw_usec start_of(const struct hello *hello, dw_usec now)
{
	return hello->uptime < 1 ? now : usec_sub(now, (hello->uptime - 1) * DW_SECONDS(1));
}

void life_up(struct life *life, const struct hello *hello, dw_usec now)
{
	struct link_server *server = &life->server;
	bool is_same = hello->server[0] && strcmp(hello->server, server->id) == 0;
	dw_usec start = start_of(hello, now);

	life->is_away = false;
	if (!is_same || start < server->up_since)
		server->up_since = start;
	if (!is_same && server->away_until > server->up_since)
		server->up_since = server->away_until;
	memcpy(server->id, hello->server, sizeof server->id);
	memcpy(server->history, hello->history, sizeof server->history);
}

void life_lost(struct life *life)
{
	life->is_away = false;
	life->server.away_since = life->server.away_until = 0;
}

void life_refused(struct life *life, bool is_away, dw_usec now)
{
	bool goes_on = life->is_away && now <= usec_add(life->server.away_until, GAP_MAX);

	if (is_away && !goes_on)
		life->server.away_since = now;
	if (is_away)
		life->server.away_until = now;
	life->is_away = is_away;
}

void life_accepted(struct life *life)
{
	life->was_away = life->is_away;
	life->is_away = false;
}

void life_loading(struct life *life, dw_usec now)
{
	life->is_away = life->was_away;
	life_refused(life, true, now);
}
