/* What a server owes on one connection: the replies to the caller's commands, and every now and
 * then the reply to a probe of the link's own. It says whose the next reply is, when the next probe
 * is to be sent, and when the server is late: it has said nothing for a while, or the reply that it
 * has begun takes too long. */
#ifndef DW_REDIS_HEARTBEAT_H
#define DW_REDIS_HEARTBEAT_H

#include <stdbool.h>
#include <stddef.h>

#include "durawheel/durawheel.h"

struct heartbeat {
	/* Constant. A reply may take `patience` to begin; from there on as long again, and once
	 * more for each MiB that it announces. */
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

/* heartbeat_ask, heartbeat_probe: a command, or a probe, was queued; heartbeat_written: all that is
 * queued was tried to be written. */
void heartbeat_ask(struct heartbeat *);
void heartbeat_probe(struct heartbeat *, dw_usec now);
void heartbeat_written(struct heartbeat *, dw_usec now);

/* heartbeat_hear: bytes have come. heartbeat_take: a whole reply has; it says whose.
 * heartbeat_told: a message that nobody has to ask for has. */
void heartbeat_hear(struct heartbeat *, dw_usec now);
enum heartbeat_reply heartbeat_take(struct heartbeat *);
void heartbeat_told(struct heartbeat *);

/* heartbeat_count comes before reading; `announced` is reply_announced(): the reply that has begun
 * takes time. */
void heartbeat_count(struct heartbeat *, dw_usec now, size_t announced);

/* heartbeat_late: in words that the server is late, or NULL. heartbeat_probe_at: when the next
 * probe is to be sent; heartbeat_due: when to ask all this again. */
const char *heartbeat_late(const struct heartbeat *, dw_usec now, size_t announced);
dw_usec heartbeat_probe_at(const struct heartbeat *);
dw_usec heartbeat_due(const struct heartbeat *, size_t announced);

#endif
