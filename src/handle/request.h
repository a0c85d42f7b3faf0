/* The calls of the API that any thread may make, as data: to be done at once on the handle's
 * thread, or to be copied and done there later. A further call is a kind, a line
 * in request_do() and a name in request_refuse(). */
#ifndef DW_HANDLE_REQUEST_H
#define DW_HANDLE_REQUEST_H

#include "engine/engine.h"

enum request_kind { REQUEST_PUT, REQUEST_CANCEL, REQUEST_MOVE, REQUEST_SETTLE, REQUEST_RUN };

/* What points to anything, points to what is the caller's, or is part of the copy's block. */
struct request {
	enum request_kind kind;
	const dw_timer *timer; /* put */
	const char *id;        /* of a call that names a timer by its id alone */
	const dw_token *token; /* settle */
	dw_verdict verdict;
	dw_usec time; /* of settle: retry_in; of move: due */
	struct done done;
	dw_post_fn fn; /* run */
	void *arg;
};

/* request_check: DW_OK; DW_EINVAL: message (DW_MESSAGE_SIZE bytes) says what is wrong. */
int request_check(const struct request *, size_t data_max, char *message);

/* request_do does it: as the call of the API, on the handle's thread. */
int request_do(const struct request *, struct engine *);

/* request_refuse answers a request that was accepted and could not be done. */
void request_refuse(const struct request *, struct engine *, int status);

/* request_size: bytes of a copy with all that it points to; request_copy makes it in a block of
 * that size, aligned as malloc's. */
size_t request_size(const struct request *);
void request_copy(const struct request *, void *ret_block);

#endif
