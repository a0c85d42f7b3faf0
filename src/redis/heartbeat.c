#include "redis/heartbeat.h"

#include "base/usec.h"

/* While a reply arrives, the program reads at least every STEP. If it reads much later, the reply
 * has waited for the program, and only STEP_MAX of that time counts. */
#define STEP DW_MILLISECONDS(50)
#define STEP_MAX (2 * STEP)

void heartbeat_begin(struct heartbeat *heart, dw_usec now)
{
	*heart = (struct heartbeat){.patience = heart->patience,
				    .probe_every = heart->probe_every,
				    .probed = now,
				    .heard = now,
				    .looked = now};
}

static bool is_waiting(const struct heartbeat *heart)
{
	return heart->due > 0 || heart->probing;
}

/* begin_waiting notes that a reply is owed. Its time starts when the command is written, not when
 * the caller queues it. */
static void begin_waiting(struct heartbeat *heart)
{
	if (!is_waiting(heart))
		heart->waiting_since = DW_NEVER;
}

void heartbeat_ask(struct heartbeat *heart)
{
	begin_waiting(heart);
	heart->due++;
}

void heartbeat_probe(struct heartbeat *heart, dw_usec now)
{
	begin_waiting(heart);
	heart->probing = true;
	heart->before_probe = heart->due;
	heart->probed = now;
}

void heartbeat_written(struct heartbeat *heart, dw_usec now)
{
	if (heart->waiting_since == DW_NEVER)
		heart->waiting_since = now;
}

void heartbeat_hear(struct heartbeat *heart, dw_usec now)
{
	heart->heard = now;
}

void heartbeat_told(struct heartbeat *heart)
{
	heart->spent = 0;
}

enum heartbeat_reply heartbeat_take(struct heartbeat *heart)
{
	heart->spent = 0;
	if (heart->probing && heart->before_probe == 0) {
		heart->probing = false;
		return HEARTBEAT_PROBES;
	}
	if (heart->due == 0)
		return HEARTBEAT_NOBODYS;
	heart->due--;
	heart->before_probe -= heart->probing;
	return HEARTBEAT_COMMANDS;
}

void heartbeat_count(struct heartbeat *heart, dw_usec now, size_t announced)
{
	if (announced > 0)
		heart->spent += usec_min(usec_sub(now, heart->looked), STEP_MAX);
	heart->looked = now;
}

/* allowed returns how long a reply may take once it has begun. */
static dw_usec allowed(const struct heartbeat *heart, size_t announced)
{
	dw_usec more = usec_mul((dw_usec)(announced >> 10), heart->patience >> 10);

	return usec_add(heart->patience, more);
}

/* silent_at returns the time from which the server counts as silent for too long. */
static dw_usec silent_at(const struct heartbeat *heart, size_t announced)
{
	bool owes = is_waiting(heart) && heart->waiting_since != DW_NEVER;

	if (!owes && announced == 0)
		return DW_NEVER;
	return usec_add(owes ? usec_max(heart->heard, heart->waiting_since) : heart->heard,
			heart->patience);
}

/* spent_at returns the time at which the reply that has begun has used up what it is allowed. */
static dw_usec spent_at(const struct heartbeat *heart, size_t announced)
{
	if (announced == 0)
		return DW_NEVER;
	return usec_add(heart->looked, usec_sub(allowed(heart, announced), heart->spent));
}

const char *heartbeat_late(const struct heartbeat *heart, dw_usec now, size_t announced)
{
	if (now >= silent_at(heart, announced))
		return "the server does not answer";
	return now >= spent_at(heart, announced) ? "the server answers too slowly" : NULL;
}

dw_usec heartbeat_probe_at(const struct heartbeat *heart)
{
	return heart->probing ? DW_NEVER : usec_add(heart->probed, heart->probe_every);
}

dw_usec heartbeat_due(const struct heartbeat *heart, size_t announced)
{
	dw_usec at = usec_min(silent_at(heart, announced), heartbeat_probe_at(heart));

	if (announced == 0)
		return at;
	at = usec_min(at, spent_at(heart, announced));
	return usec_min(at, usec_add(heart->looked, STEP));
}
