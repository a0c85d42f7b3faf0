/* Commands that wait for their replies. node.c sends the commands, and passes each reply to its
 * request. */
#ifndef DW_STORE_REDIS_REQUEST_H
#define DW_STORE_REDIS_REQUEST_H

#include <stdbool.h>

#include "port/op.h"
#include "redis/reply.h"

struct alloc;
struct node;
struct redis_request;
struct redis_script;
struct redis_store;
struct shape;
struct shard;

typedef void request_answered(struct redis_store *, struct redis_request *, const struct reply *);
typedef void request_lost(struct redis_store *, struct redis_request *);

/* A command that waits for its reply. */
struct redis_request {
	struct redis_request *next;
	/* Exactly one of these two functions is called, and it frees the request or keeps it.
	 * answered is called when an error, or a reply of the command's shape, has arrived. lost is
	 * called when the connection is gone. Then nobody knows whether the command was applied,
	 * unless is_unsent. */
	request_answered *answered;
	request_lost *lost;
	struct node *node;   /* set when the request is sent */
	struct shard *shard; /* NULL: the request concerns the server, not a shard */
	uint64_t number;     /* the command's number; 0 if the command changes nothing */
	dw_usec sent;
	/* The connection that the server closed because of this request, or 0. */
	uint64_t closed_on;
	bool is_unsent; /* the request was lost before its first byte was sent */
	struct op_queue ops;
	/* The script that the request calls; NULL for a plain command. */
	const struct redis_script *script;
	const struct shape *shape; /* the shape that the reply must have */
	uint64_t history;          /* the node's history when the request was sent */
	/* Number in held.requests, because its answers are held back (held.h); 0: they are not. */
	uint64_t held;
	bool as_owner; /* the request was sent as the owner, so its number belongs to the token */
	void *context;
};

struct request_list {
	struct redis_request *first;
	struct redis_request *last;
};

/* request_new makes a request. Returns NULL without memory. */
struct redis_request *request_new(struct alloc *, struct shard *, request_answered *,
				  request_lost *);
void request_free(struct alloc *, struct redis_request *);

/* request_node returns the node to which a request goes: the node of its shard, or of the draft. */
struct node *request_node(struct redis_store *, const struct redis_request *);

/* request_send sends the draft, and takes the request over. If it fails (not DW_OK), the request
 * stays the caller's. */
int request_send(struct redis_store *, struct redis_request *);

/* request_post makes a request and sends the draft with it. If it fails (not DW_OK), it has freed
 * the request. */
int request_post(struct redis_store *, struct shard *, request_answered *, request_lost *,
		 void *context);

void request_push(struct request_list *, struct redis_request *);
struct redis_request *request_pop(struct request_list *); /* returns NULL if the list is empty */

#endif
