/* Calls of the API that are not answered yet. Each one is answered exactly once, and never before
 * the API's function has returned. */
#ifndef DW_ENGINE_CALLS_H
#define DW_ENGINE_CALLS_H

#include "engine/engine.h"
#include "engine/events.h"
#include "port/op.h"
#include "timer/timer.h"

enum call_kind {
	CALL_PUT,
	CALL_CANCEL,
	CALL_MOVE,
	CALL_REQUEUE,
	CALL_SETTLE,
	CALL_LIST,
	CALL_DEAD_LIST,
	CALL_DROP,
	CALL_STATUS,
	CALL_PURGE,
	CALL_CHECK
};

struct call {
	struct notice notice; /* first */
	struct call *next;
	struct call *prev_open, *next_open; /* all that are unanswered */
	struct call *prev_patient, *next_patient;
	bool patient;  /* in the list of patience.h */
	dw_usec asked; /* steady: when it was accepted */
	enum call_kind kind;
	int status;
	dw_level level; /* of an answer of the store */
	uint64_t generation;
	uint32_t attempt;    /* settle */
	dw_verdict verdict;  /* settle */
	dw_usec retry_in;    /* settle */
	bool early;          /* settle: waits for a verdict that may be DW_HOLD */
	bool earlier;        /* put, move: dw_result.earlier_may_start */
	bool internal;       /* put: sent again after an unknown outcome; nobody is told */
	struct timer *fresh; /* put: the timer to be */
	dw_op *op;           /* made with the call, so that beginning it cannot fail; once a
			      * call that asks is answered, the answer */
	struct done done;
	struct lister lister;
	struct dead_lister dead_lister;
	dw_status_fn on_status;
	void *on_status_user;
	dw_check_fn on_check;
	void *on_check_user;
	size_t bytes; /* it counts for, with its operation */
	size_t id_size;
	char id[];
};

struct calls {
	struct call *open; /* every call whose answer the program has not been told */
	uint64_t count;
	uint64_t internal_count; /* of them */
	size_t bytes;            /* they hold */
};

/* call_new: DW_ENOMEM, or DW_ELIMIT if the unanswered calls hold too much; engine_error() says
 * which. call_make never fails with DW_ELIMIT: for what is part of a delivery. */
int call_new(struct engine *, enum call_kind kind, const char *id, struct call **ret_call);
int call_make(struct engine *, enum call_kind kind, const char *id, struct call **ret_call);
void call_free(struct engine *, struct call *);

/* calls_free frees all calls that are not answered. */
void calls_free(struct engine *);

/* call_make_internal: a put that is sent again; nobody is told its answer. NULL: no memory. */
struct call *call_make_internal(struct engine *, const struct call *earlier);

/* call_charge counts the bytes of the call's operation. */
static inline void call_charge(struct calls *calls, struct call *call, const dw_op *op)
{
	size_t bytes = sizeof(struct ticket) + op->body_size + (op->id ? call->id_size : 0);

	call->bytes += bytes;
	calls->bytes += bytes;
}

/* call_queue adds the call to those that wait for the timer's id. */
static inline void call_queue(struct timer *timer, struct call *call)
{
	struct call **end = &timer->calls;

	while (*end)
		end = &(*end)->next;
	call->next = NULL;
	*end = call;
}

/* call_answer ends the call; its callback will be told. call_answer_stored ends it with the
 * store's answer. call_answer_stale answers a dw_settle (NULL: none) whose verdict does not
 * count any more. */
void call_answer(struct engine *, struct call *, int status);
void call_answer_stored(struct engine *, struct call *, const dw_op *);
void call_answer_stale(struct engine *, struct call *);

/* call_ask sends the operation of a call that is not about one timer. It takes the operation over
 * in any case (NULL: there was no memory for it), and the call if it fails. call_answer_ask answers
 * the call with the result of the operation, which belongs to the call from then on; call_has says
 * whether it does. */
int call_ask(struct engine *, struct call *, dw_op *);
void call_answer_ask(struct engine *, dw_op *);
bool call_has(const dw_op *);

/* calls_give_up answers some calls that have waited for too long. calls_fail answers all calls that
 * wait for the timer's id, because the store is away. */
void calls_give_up(struct engine *);
void calls_fail(struct engine *, struct timer *);

#endif
