/* One open store in a test: makes operations, sends them and waits for the answers without
 * sleeping. Every answer is checked: an operation must be answered exactly once. */
#ifndef DW_TESTS_ASK_H
#define DW_TESTS_ASK_H

#include <pthread.h>
#include <stdbool.h>

#include "durawheel/store.h"
#include "port/op.h"

struct ask {
	dw_store *store;
	dw_store_env env;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	unsigned wakes; /* wake-ups that no test has handled yet */
	unsigned sent;
	unsigned answered;
	char logged[512]; /* the last log line */
};

/* ask_init fills env for opening a store. *clock is the wall clock. */
void ask_init(struct ask *, dw_role, uint64_t token, dw_usec *clock);

/* ask_end stops and frees the store, if it is open. */
void ask_end(struct ask *);

/* ask_send sends an operation. It belongs to the store until ask_await() returns. */
void ask_send(struct ask *, dw_op *);
/* ask_await waits until the operation is answered. Fails the test after a minute. */
dw_op *ask_await(struct ask *, dw_op *);
dw_op *ask_done(struct ask *, dw_op *); /* ask_send(), then ask_await() */
bool ask_is_answered(struct ask *, dw_op *);
void ask_turn(struct ask *); /* one turn, which takes the answers that have arrived */

/* ask_free frees an answered operation. */
void ask_free(dw_op *);

/* These functions make operations. The body of a put is a record of id, topic and data. */
dw_op *ask_put(const char *id, dw_usec due, unsigned flags);
dw_op *ask_put_full(const char *id, const char *topic, dw_usec due, const char *data);
/* ask_about makes a CLAIM, SETTLE, RETRY, BURY or ACK of a generation and attempt. */
dw_op *ask_about(dw_op_kind, const char *id, uint64_t generation, uint32_t attempt);
dw_op *ask_cancel(const char *id, unsigned flags);
dw_op *ask_move(const char *id, dw_usec due, uint64_t known, unsigned flags);
dw_op *ask_get(const char *id);
dw_op *ask_scan(const dw_cursor *after, size_t limit, const char *topic);
dw_op *ask_plain(dw_op_kind); /* makes an INBOX (limit 100) or STATUS */

/* ask_status sends an operation, waits for it and frees it. Returns the status of the answer. */
int ask_status(struct ask *, dw_op *);

/* ask_head does the same, and writes the head of the answer. */
int ask_head(struct ask *, dw_op *, dw_head *ret_head);

/* ask_stored reads the stored head of an id. Returns a status. */
int ask_stored(struct ask *, const char *id, dw_head *ret_head);

/* ask_put_one puts a timer and returns its generation. */
uint64_t ask_put_one(struct ask *, const char *id, dw_usec due);

#endif
