/* A call of the API that any thread may make, as data. The handle's thread does it at once; another
 * thread copies it into the queue. A new call needs a kind here, a line in request_do() and a name
 * in request_refuse(). */
#ifndef DW_HANDLE_REQUEST_H
#define DW_HANDLE_REQUEST_H

#include "engine/engine.h"
#include "engine/due/says.h"

enum request_kind {
	REQUEST_PUT,
	REQUEST_CANCEL,
	REQUEST_MOVE,
	REQUEST_SETTLE,
	REQUEST_SAY,
	REQUEST_RUN
};

/* The pointers point to the caller's memory, or into the block of a copy. */
struct request {
	enum request_kind kind;
	const dw_timer *timer; /* put: the new timer */
	const char *id;        /* cancel, move: the timer's id */
	const dw_token *token; /* settle, say: the token of the delivery */
	struct saying saying;
	dw_verdict verdict;
	dw_usec time; /* settle: retry_in; move: due */
	struct done done;
	dw_post_fn fn; /* run: called with arg */
	void *arg;
	size_t arg_size; /* bytes of arg, which count until posts_give_back() */
};

/* request_check checks the arguments. It returns DW_OK or DW_EINVAL. With DW_EINVAL message
 * (DW_MESSAGE_SIZE bytes) says what is wrong. */
int request_check(const struct request *, size_t data_max, char *message);

/* request_do does the call on the handle's thread, and returns what the API's function returns. */
int request_do(const struct request *, struct engine *);

/* request_refuse answers a request that was accepted but could not be done. */
void request_refuse(const struct request *, struct engine *, int status);

/* request_size returns the size of a copy of the request and of all that it points to. request_copy
 * makes the copy in a block of that size, which is aligned like malloc's blocks. */
size_t request_size(const struct request *);
void request_copy(const struct request *, void *ret_block);

#endif
