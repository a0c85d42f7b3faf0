/* Finds the command on which the server closes the connection. A server closes the connection, and
 * says nothing, when it gets more, or would send more, than one of its limits allows. Redis then
 * also drops the replies to earlier commands. So after such a closing the link writes one command
 * at a time for a while, and the next closing has one cause. A large command always goes alone: the
 * link writes it when all commands before it are answered, and the commands behind it wait for its
 * reply. If another process answers on the next connection, the server was killed in that moment,
 * and no command is to blame. */
#ifndef DW_REDIS_CAREFUL_H
#define DW_REDIS_CAREFUL_H

#include "redis/heartbeat.h"
#include "redis/output.h"

enum { SERVER_ID_SIZE = 48 };

struct careful {
	/* Constant: the commands that the link queues, and the replies that the server owes. */
	const struct output *output;
	const struct heartbeat *heart;

	/* Until this time (steady clock) only one command is on its way at a time. */
	dw_usec until;
	uint64_t blamed; /* the connection that the server closed because of one command, or 0 */
	/* run_id of the last connection's server; "" if it was not shown. */
	char server[SERVER_ID_SIZE];
};

/* careful_begin allows only one command at a time to be on its way, from now on for a while. */
void careful_begin(struct careful *, dw_usec now);

/* careful_room returns how many queued commands may be written now. */
size_t careful_room(const struct careful *, dw_usec now);

/* careful_unsent returns how many of the caller's queued commands were not even begun, so that the
 * server certainly does not have them. It may return one less, because a probe may be among
 * them. */
size_t careful_unsent(const struct careful *);

/* careful_closed is called when the server has closed this connection (its number, or 0 if nothing
 * is known about it). is_sure means that the oldest command without a reply is the cause, even if
 * other commands are on their way. careful_lost is called when the connection was lost in another
 * way. */
void careful_closed(struct careful *, uint64_t connection, bool is_sure, dw_usec now);
void careful_lost(struct careful *);

/* careful_up is called when the next connection is up. `server` is the run_id of its server. If the
 * run_id has changed, no command is to blame. */
void careful_up(struct careful *, const char *server);

#endif
