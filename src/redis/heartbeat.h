/* The replies that a server owes on one connection: to the caller's commands, and to the link's own
 * probes. The heartbeat knows whose reply comes next and when the next probe is due. It also knows
 * when the server is late: it is silent, or a reply that has begun takes too long. */
#ifndef DW_REDIS_HEARTBEAT_H
#define DW_REDIS_HEARTBEAT_H

#include <stdbool.h>
#include <stddef.h>

#include "durawheel/durawheel.h"

struct heartbeat {
	/* Constant. A reply must begin within `patience`. It may then take `patience` again, and
	 * once more for each MiB that it announces. */
	dw_usec patience;
	dw_usec probe_every;

	uint64_t due;          /* replies to the caller's commands */
	bool probing;          /* the reply to a probe is due, too: */
	uint64_t before_probe; /* after so many of those */
	dw_usec probed;        /* the last one was sent */
	dw_usec heard;         /* the last byte */
	dw_usec waiting_since; /* DW_NEVER: what is waited for is not written yet */
	dw_usec spent;         /* on the reply that has begun, while somebody was there to read */
	dw_usec looked;        /* when that was counted last */
};

enum heartbeat_reply { HEARTBEAT_COMMANDS, HEARTBEAT_PROBES, HEARTBEAT_NOBODYS };

/* heartbeat_begin: there is a new connection. */
void heartbeat_begin(struct heartbeat *, dw_usec now);

/* heartbeat_ask: a command was queued. heartbeat_probe: a probe was queued. heartbeat_written: the
 * link tried to write all that is queued. */
void heartbeat_ask(struct heartbeat *);
void heartbeat_probe(struct heartbeat *, dw_usec now);
void heartbeat_written(struct heartbeat *, dw_usec now);

/* heartbeat_hear: bytes arrived. heartbeat_take: a whole reply arrived; returns whose it is.
 * heartbeat_told: a message of a channel arrived. */
void heartbeat_hear(struct heartbeat *, dw_usec now);
enum heartbeat_reply heartbeat_take(struct heartbeat *);
void heartbeat_told(struct heartbeat *);

/* heartbeat_count comes before reading; `announced` is reply_announced(): the reply that has begun
 * takes time. */
void heartbeat_count(struct heartbeat *, dw_usec now, size_t announced);

/* heartbeat_late: words if the server is late, or NULL. heartbeat_probe_at: when to send the next
 * probe. heartbeat_due: when to ask both again. */
const char *heartbeat_late(const struct heartbeat *, dw_usec now, size_t announced);
dw_usec heartbeat_probe_at(const struct heartbeat *);
dw_usec heartbeat_due(const struct heartbeat *, size_t announced);

#endif
