#include "redis/reconnect.h"

#include <stdio.h>
#include <string.h>

#include "base/usec.h"

#define PAUSE_FIRST DW_MILLISECONDS(100)
#define PAUSE_MAX DW_SECONDS(2)
#define EAGER DW_MINUTES(1)  /* for this long after the loss the pauses stay PAUSE_FIRST */
#define LASTED DW_SECONDS(1) /* only a connection that lasts longer ends the outage */

static void say(const struct reconnect *reconnect, dw_log_level level, const char *line)
{
	if (reconnect->log)
		reconnect->log(level, line, reconnect->log_user);
}

/* tell_trouble logs a trouble, unless it was the last one that was logged. */
static void tell_trouble(struct reconnect *reconnect, dw_log_level level, const char *words)
{
	(void)snprintf(reconnect->trouble, sizeof reconnect->trouble, "%s: %s", reconnect->server,
		       words); /* cut if long */
	if (strcmp(reconnect->trouble, reconnect->logged) == 0)
		return;
	memcpy(reconnect->logged, reconnect->trouble, sizeof reconnect->logged);
	say(reconnect, level, reconnect->trouble);
}

static void tell_end(struct reconnect *reconnect, dw_log_level level, const char *words)
{
	char line[TROUBLE_SIZE];

	(void)snprintf(line, sizeof line, "%s: %s", reconnect->server, words); /* cut if long */
	reconnect->trouble[0] = reconnect->logged[0] = '\0';
	say(reconnect, level, line);
}

/* jittered returns 60 to 100 % of the pause, so that many links do not connect to a server at the
 * same moment. */
static dw_usec jittered(struct reconnect *reconnect, dw_usec pause)
{
	return pause - (dw_usec)rng_below(&reconnect->rng, (uint64_t)(2 * pause / 5) + 1);
}

/* pause_after returns the pause before the next attempt. The pause is short in the first minute of
 * an outage, so that the link soon notices a server that is back. */
static dw_usec pause_after(dw_usec outage)
{
	return usec_min(usec_max(usec_sub(outage, EAGER) / 16, PAUSE_FIRST), PAUSE_MAX);
}

/* is_flapping returns true if several connections in a row were soon dropped. Then the trouble is
 * logged once, not at each attempt. */
static bool is_flapping(const struct reconnect *reconnect)
{
	return reconnect->nonsense > 1;
}

static void tell_up(struct reconnect *reconnect)
{
	/* If the loss was logged as a warning, the end of the outage is also logged as a
	 * warning. */
	bool warned = reconnect->logged[0] && !reconnect->listener;

	tell_end(reconnect, warned ? DW_LOG_WARN : DW_LOG_INFO,
		 reconnect->listener ? "connected, subscribed" : "connected");
}

void reconnect_up(struct reconnect *reconnect, dw_usec now)
{
	reconnect->connections++;
	reconnect->up_since = now;
	reconnect->fatal = false;
	reconnect->trouble[0] = '\0';
	if (!is_flapping(reconnect))
		tell_up(reconnect);
}

static bool has_lasted(const struct reconnect *reconnect, dw_usec now)
{
	return usec_sub(now, reconnect->up_since) >= LASTED;
}

void reconnect_lasts(struct reconnect *reconnect, dw_usec now)
{
	if (!is_flapping(reconnect) || !has_lasted(reconnect, now))
		return;
	reconnect->nonsense = 0;
	if (!reconnect->trouble[0])
		tell_up(reconnect);
}

/* nonsense_pause returns the pause after this number of connections that were of no use. */
static dw_usec nonsense_pause(unsigned nonsense)
{
	dw_usec pause = PAUSE_FIRST;

	for (; nonsense > 1 && pause < PAUSE_MAX; nonsense--)
		pause *= 2;
	return usec_min(pause, PAUSE_MAX);
}

static dw_usec pause_of(const struct reconnect *reconnect, dw_usec now, enum loss loss)
{
	if (loss == LOSS_REFUSED)
		return PAUSE_MAX;
	return usec_max(pause_after(usec_sub(now, reconnect->out_since)),
			nonsense_pause(reconnect->nonsense));
}

dw_usec reconnect_lost(struct reconnect *reconnect, dw_usec now, bool was_up, enum loss loss,
		       const char *why)
{
	bool is_quiet = reconnect->listener && loss != LOSS_REFUSED;
	bool lasted = was_up && has_lasted(reconnect, now);

	if (lasted || reconnect->out_since == DW_NEVER)
		reconnect->out_since = now;
	if (lasted || (was_up && loss != LOSS_NONSENSE))
		reconnect->nonsense = 0;
	reconnect->nonsense += was_up && loss == LOSS_NONSENSE;
	reconnect->fatal = loss == LOSS_REFUSED && reconnect->connections == 0;
	tell_trouble(reconnect, is_quiet ? DW_LOG_INFO : DW_LOG_WARN, why);
	return usec_add(now, jittered(reconnect, pause_of(reconnect, now, loss)));
}

void reconnect_soon(struct reconnect *reconnect, dw_usec now)
{
	reconnect->out_since = now;
}

void reconnect_useless(struct reconnect *reconnect, const char *why)
{
	tell_trouble(reconnect, DW_LOG_WARN, why);
}

void reconnect_useful(struct reconnect *reconnect, const char *words)
{
	tell_end(reconnect, DW_LOG_WARN, words);
}
