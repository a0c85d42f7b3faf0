/* The connection to the server: commands go out in order, and each reply goes to who sent the
 * command. Replies come in the order of the commands, whatever the shard.
 *
 * Each command that changes something carries the shard's next number, and the script refuses
 * any other number than the one after the last that it applied. So a command that failed stops
 * those behind it, which are sent again. After a lost connection the handshake says which were
 * applied. */
#ifndef DW_STORE_REDIS_PIPELINE_H
#define DW_STORE_REDIS_PIPELINE_H

#include <stdbool.h>

#include "port/op.h"
#include "redis/command.h"
#include "redis/link.h"

struct redis_script;
struct redis_store;
struct redis_request;
struct shape;
struct shard;

typedef void request_answered(struct redis_store *, struct redis_request *, const struct reply *);
typedef void request_lost(struct redis_store *, struct redis_request *);

/* A command that waits for its reply. */
struct redis_request {
	struct redis_request *next;
	/* Exactly one of them is called, and frees the request or keeps it. answered: by an error,
	 * or by a reply of the command's shape. lost: the connection is gone, and nobody knows
	 * whether the command was applied. */
	request_answered *answered;
	request_lost *lost;
	struct shard *shard;
	uint64_t number; /* 0: it changes nothing */
	dw_usec sent;
	struct op_queue ops;
	const struct redis_script *script; /* NULL: a plain command */
	const struct shape *shape;         /* of the reply */
	bool as_owner;                     /* sent as the owner, with a number of its token */
	void *context;
};

struct request_list {
	struct redis_request *first;
	struct redis_request *last;
};

struct pipeline {
	struct link *link;
	uint64_t connection;               /* of link, as last seen; 0: down */
	uint64_t connections;              /* how many were up so far */
	dw_usec down_since;                /* steady, while connection is 0 */
	struct request_list under_way;     /* in the order of the link */
	bool went_down;                    /* since the turn has looked */
	bool came_up;                      /* the same */
	bool more;                         /* replies are left for the next turn */
	struct redis_command words;        /* of the command that is being made */
	const struct redis_script *script; /* of words */
	const struct shape *shape;         /* of the reply to words */
};

enum handshake { HANDSHAKE_NONE, HANDSHAKE_ASKED, HANDSHAKE_DONE };

/* A shard's numbers, of the token or of the session, on the connection that is up. */
struct channel {
	enum handshake handshake;
	uint64_t next;       /* the number of the next command */
	uint64_t acked;      /* known to be applied */
	unsigned under_way;  /* commands with numbers */
	bool is_broken;      /* one failed: those under way are refused, then numbered again */
	dw_usec pause_until; /* steady; until then nothing is sent */
};

/* request_new: NULL: no memory. */
struct redis_request *request_new(struct redis_store *, struct shard *, request_answered *,
				  request_lost *);
void request_free(struct redis_store *, struct redis_request *);

/* request_send sends pipeline.words. DW_OK: it takes the request over. After a failure the caller
 * keeps it. */
int request_send(struct redis_store *, struct redis_request *);

/* request_post makes a request of pipeline.words and sends it. Not DW_OK: none is made. */
int request_post(struct redis_store *, struct shard *, request_answered *, request_lost *,
		 void *context);

void request_push(struct request_list *, struct redis_request *);
struct redis_request *request_pop(struct request_list *); /* NULL: the list is empty */

/* pipeline_refuses: the server is there, and in trouble. */
bool pipeline_refuses(const struct redis_store *);

/* pipeline_watch notices a lost or a new connection. */
void pipeline_watch(struct redis_store *);

/* pipeline_wire writes what was sent, and takes the replies that have come. */
void pipeline_wire(struct redis_store *);

#endif
