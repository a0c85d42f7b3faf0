/* Numbers for a monitoring system, and whether a handle does its work. The library has no web
 * server: these numbers are for the web server of your program. `durawheel serve` and `durawheel
 * run --http` show the same numbers by HTTP. */
#ifndef DURAWHEEL_METRICS_H
#define DURAWHEEL_METRICS_H

#include <stddef.h>

#include "durawheel/durawheel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many topics have metrics of their own: the first topics that are used. All other topics
 * together have the label topic="*". */
#define DW_METRICS_TOPICS_MAX 200

/* dw_metrics writes the numbers of the namespace as text, in Prometheus' format 0.0.4, and a NUL
 * behind it. It writes at most size bytes, and whole lines only. *ret_size, if not NULL, is the
 * size of all lines; if it is not below size, some are missing. 512 KiB are enough, unless the
 * names of many topics are long and full of quotes. Times are in seconds, and no label names a
 * timer.
 *
 * An owner writes what it knows. A client or a standby writes what the owner last reported to the
 * store. The owner reports 2 s after a change at the latest, and every 10 s while it is idle.
 * Clients and standbys have numbers of the owner only while there is an owner. For the numbers of
 * queues and of stored timers the handle asks the store, at most once a second; the answers are in
 * the text of a later call.
 *
 * A peer (DW_PEER) writes the same as a client: the sum of what all peers have reported to the
 * store. The counters of a peer that leaves stay in it. What a peer has counted after its last
 * report is lost if the peer is killed.
 *
 * durawheel_owner is 1 while the namespace has an owner. If the owner is cut off from Redis,
 * durawheel_owner stays 1 until the lease has run out, with a journal or without: until then no
 * other process can have the store, and with DW_OUTAGE_FIRE the owner fires. A client or standby
 * shows 0 for an owner of which it has heard nothing for 30 s.
 *
 * While the store is away, or fails operations, durawheel_store_up is 0. An owner then goes on
 * writing what it knows. A client or standby then writes only this number and durawheel_build_info,
 * because it cannot know whether there is an owner.
 *
 * DW_EBUSY: a client has not heard anything yet; call it again after some turns, or dw_sync().
 * DW_EINVAL: text is NULL, and size is not 0. DW_ENOMEM. The handle's thread; also inside a
 * callback. */
DW_API int dw_metrics(dw *, char *text, size_t size, size_t *ret_size);

/* dw_health says whether the handle does its work. ret_message (DW_MESSAGE_SIZE bytes, or NULL)
 * says why it does not, or "ok".
 *
 *	DW_OK        it fires, or it is a client
 *	DW_EOWNED    it is a standby, and another process has the store
 *	DW_ELIMIT    it is a peer that waits, because 50 processes share the store
 *	DW_EBUSY     it is an owner that still loads its timers. A peer: at first, and later if
 *	             that takes more than 10 s. Or it is a standby, and the store has not told it
 *	             yet who the owner is.
 *	DW_ENEWER    it is a standby, and the store has timers of a newer durawheel
 *	DW_ESTORE    the store is away, or refuses, or the lease of an owner is over, so that its
 *	             due timers wait. Or it is a peer, and no process takes a shard. The words name
 *	             a shard that is refused, or has no owner, or whose lease is over; the timers
 *	             of the other shards fire. With options.journal it stays so
 *	             from DW_EVENT_OUTAGE until Redis is back, and the words say what still
 *	             works: the journal takes what is asked; and of an owner, whether due timers
 *	             wait, or fire until its lease ends (DW_OUTAGE_FIRE).
 *	DW_ETIMEOUT  a turn is overdue by 5 s: the program's loop does not turn, or a handler takes
 *	             that long. An idle handle needs no turn, so none is overdue.
 *	DW_ECLOSED, DW_EFORK, DW_EINVAL
 *
 * `durawheel run --http` answers /readyz with 503 and these words during an outage, also while an
 * owner with DW_OUTAGE_FIRE fires: all that it shows by HTTP needs the store. /healthz stays 200,
 * because a restart would not help.
 *
 * Any thread, until dw_close() begins. */
DW_API int dw_health(const dw *, char *ret_message);

#ifdef __cplusplus
}
#endif

#endif
