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
	 * one more `patience` for each MiB that it announces. */
	dw_usec patience;
	dw_usec probe_every;

	uint64_t due; /* replies to the caller's commands that the server owes */
	bool probing; /* the server owes the reply to a probe */
	/* How many replies to commands come before the reply to the probe. */
	uint64_t before_probe;
	dw_usec probed; /* when the last probe was sent */
	dw_usec heard;  /* when the last byte arrived */
	/* When the server began to owe a reply; DW_NEVER while the commands are not written yet. */
	dw_usec waiting_since;
	/* How long the reply that has begun has taken so far, without the delays of this
	 * program. */
	dw_usec spent;
	dw_usec looked; /* when `spent` was last counted */
};

enum heartbeat_reply { HEARTBEAT_COMMANDS, HEARTBEAT_PROBES, HEARTBEAT_NOBODYS };

/* heartbeat_begin starts with a new connection. */
void heartbeat_begin(struct heartbeat *, dw_usec now);

/* heartbeat_ask is called when a command was queued, heartbeat_probe when a probe was queued.
 * heartbeat_written is called when the link has tried to write all that is queued. */
void heartbeat_ask(struct heartbeat *);
void heartbeat_probe(struct heartbeat *, dw_usec now);
void heartbeat_written(struct heartbeat *, dw_usec now);

/* heartbeat_hear is called when bytes have arrived. heartbeat_take is called when a whole reply has
 * arrived; it returns whose reply it is. heartbeat_told is called when a message of a channel has
 * arrived. */
void heartbeat_hear(struct heartbeat *, dw_usec now);
enum heartbeat_reply heartbeat_take(struct heartbeat *);
void heartbeat_told(struct heartbeat *);

/* heartbeat_count counts the time of the reply that has begun. Call it before reading. `announced`
 * is the result of reply_announced(). */
void heartbeat_count(struct heartbeat *, dw_usec now, size_t announced);

/* heartbeat_late says why the server is late, or returns NULL. heartbeat_probe_at returns when to
 * send the next probe. heartbeat_due returns when to call both again. */
const char *heartbeat_late(const struct heartbeat *, dw_usec now, size_t announced);
dw_usec heartbeat_probe_at(const struct heartbeat *);
dw_usec heartbeat_due(const struct heartbeat *, size_t announced);

#endif
