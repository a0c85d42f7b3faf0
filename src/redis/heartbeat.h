/* Counts the replies that a server owes on one connection: to the caller's commands, and to the
 * link's own probes. The heartbeat knows whose reply comes next and when the next probe is due. It
 * also knows when the server is late: it is silent, or a reply that has begun takes too long. */
#ifndef DW_REDIS_HEARTBEAT_H
#define DW_REDIS_HEARTBEAT_H

#include <stdbool.h>
#include <stddef.h>

#include "durawheel/durawheel.h"

struct heartbeat {
	/* Constant. A reply must begin within `patience`. It may then take another `patience`, and
	 * one more for each MiB that it announces. */
	dw_usec patience;
	dw_usec probe_every;

	uint64_t due;          /* replies to the caller's commands */
	bool probing;          /* the reply to a probe is due, too: */
	uint64_t before_probe; /* after so many replies to commands */
	dw_usec probed;        /* when the last probe was sent */
	dw_usec heard;         /* when the last byte arrived */
	dw_usec waiting_since; /* DW_NEVER: the commands that wait are not written yet */
	dw_usec spent;  /* time that the reply that has begun has taken, without our own delays */
	dw_usec looked; /* when `spent` was counted last */
};

enum heartbeat_reply { HEARTBEAT_COMMANDS, HEARTBEAT_PROBES, HEARTBEAT_NOBODYS };

/* heartbeat_begin starts with a new connection. */
void heartbeat_begin(struct heartbeat *, dw_usec now);

/* heartbeat_ask: a command was queued. heartbeat_probe: a probe was queued. heartbeat_written: the
 * link has tried to write all that is queued. */
void heartbeat_ask(struct heartbeat *);
void heartbeat_probe(struct heartbeat *, dw_usec now);
void heartbeat_written(struct heartbeat *, dw_usec now);

/* heartbeat_hear: bytes arrived. heartbeat_take: a whole reply arrived; returns whose it is.
 * heartbeat_told: a message of a channel arrived. */
void heartbeat_hear(struct heartbeat *, dw_usec now);
enum heartbeat_reply heartbeat_take(struct heartbeat *);
void heartbeat_told(struct heartbeat *);

/* heartbeat_count counts the time of the reply that has begun. It comes before reading; `announced`
 * is reply_announced(). */
void heartbeat_count(struct heartbeat *, dw_usec now, size_t announced);

/* heartbeat_late says why the server is late, or returns NULL. heartbeat_probe_at returns when to
 * send the next probe; heartbeat_due, when to ask both again. */
const char *heartbeat_late(const struct heartbeat *, dw_usec now, size_t announced);
dw_usec heartbeat_probe_at(const struct heartbeat *);
dw_usec heartbeat_due(const struct heartbeat *, size_t announced);

#endif
