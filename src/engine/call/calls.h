/* Calls of the API that are not answered yet. Each is answered exactly once, and never before the
 * API's function has returned. */
#ifndef DW_ENGINE_CALLS_H
#define DW_ENGINE_CALLS_H

#include "durawheel/topic.h"
#include "engine/call/askers.h"
#include "engine/call/facts.h"
#include "engine/call/members.h"
#include "engine/engine.h"
#include "engine/events.h"
#include "engine/due/says.h"
#include "engine/queue/takes.h"
#include "port/op.h"
#include "timer/timer.h"

enum call_kind {
	CALL_PUT,
	CALL_CANCEL,
	CALL_MOVE,
	CALL_REQUEUE,
	CALL_SETTLE,
	CALL_LIST,
	CALL_ENDED,
	CALL_DUE,
	CALL_DEAD_LIST,
	CALL_DROP,
	CALL_STATUS,
	CALL_PURGE,
	CALL_CHECK,
	CALL_MEMBERS,
	CALL_FACTS,
	CALL_TOPIC,
	CALL_TOPICS,
	CALL_PUSH,
	CALL_TAKE,
	CALL_ACK
};

struct call {
	struct notice notice; /* first */
	struct call *next;
	struct call *prev_open, *next_open; /* neighbours in the list of unanswered calls */
	struct call *prev_patient, *next_patient;
	bool patient;  /* the call is in the list of patience.h */
	dw_usec asked; /* steady; when the call was accepted */
	enum call_kind kind;
	int status;
	dw_level level; /* how safely the store keeps the result */
	uint64_t generation;
	dw_usec due;         /* put: the deadline that was stored */
	uint32_t attempt;    /* settle: the attempt that the token names */
	dw_verdict verdict;  /* settle: the verdict of the program */
	dw_usec retry_in;    /* settle: the delay of a DW_RETRY */
	bool early;          /* settle: the handler still runs and may return DW_HOLD */
	bool earlier;        /* put, move: dw_result.earlier_may_start */
	bool internal;       /* put: repeated by the engine after an unknown outcome */
	struct timer *fresh; /* put: the new timer */
	/* The operation is made with the call, so that beginning the call cannot fail. After
	 * call_answer_ask() it is the operation with the store's answer. */
	dw_op *op;
	struct done done;
	/* A memory block of the part that made the call: a struct take, answers or put_mode. */
	void *extra;
	union { /* `kind` says which member is in use */
		struct lister lister;
		struct dead_lister dead_lister;
		struct {
			dw_status_fn on_status;
			void *on_status_user;
		};
		struct {
			dw_take_fn on_taken;
			dw_bulk_fn on_answered;
			void *on_messages_user;
		};
		struct {
			dw_topic_fn on_topics;
			void *on_topics_user;
		};
		struct end_asker end_asker;
		struct due_asker due_asker;
		struct member_asker member_asker;
		struct fact_asker fact_asker;
		struct check_asker check_asker;
	};
	size_t bytes; /* memory of the call and its operation */
	size_t id_size;
	char id[];
};

struct calls {
	struct call *open; /* the list of calls whose answer the program has not got */
	uint64_t count;
	uint64_t internal_count; /* how many unanswered calls are internal */
	size_t bytes;            /* memory of all unanswered calls */
	struct takes takes;      /* the takes that wait for messages */
};

/* call_new makes a call. It returns DW_ENOMEM, or DW_ELIMIT if the unanswered calls hold too much
 * memory. engine_error() then has the reason. call_make does the same without that limit, for calls
 * that belong to a delivery. */
int call_new(struct engine *, enum call_kind kind, const char *id, struct call **ret_call);
int call_make(struct engine *, enum call_kind kind, const char *id, struct call **ret_call);
void call_free(struct engine *, struct call *);

/* calls_free frees all calls that are not answered. */
void calls_free(struct engine *);

/* call_make_internal makes a put that repeats an earlier one. Nobody gets its answer. It returns
 * NULL if there is no memory. */
struct call *call_make_internal(struct engine *, const struct call *earlier);

/* call_charge counts the bytes of the call's operation. call_charge_anew counts them instead of
 * those of `before`, the operation that it replaces, which the caller frees later. */
void call_charge(struct calls *, struct call *, const dw_op *);
void call_charge_anew(struct calls *, struct call *, const dw_op *, const dw_op *before);

/* call_queue adds the call to the calls that wait for the timer's id. */
static inline void call_queue(struct timer *timer, struct call *call)
{
	struct call **end = &timer->calls;

	while (*end)
		end = &(*end)->next;
	call->next = NULL;
	*end = call;
}

/* call_answer ends the call; a later step calls its callback. call_answer_stored ends it with the
 * store's answer. call_answer_stale answers DW_ESTALE to a dw_settle (it may be NULL) whose verdict
 * does not count any more. */
void call_answer(struct engine *, struct call *, int status);
void call_answer_stored(struct engine *, struct call *, const dw_op *);
void call_answer_stale(struct engine *, struct call *);

/* call_ask sends an operation that concerns no timer in memory, and answers its call later. It
 * always takes the operation over. A NULL operation means that there was no memory for it. If
 * call_ask fails, it frees the call. call_answer_ask answers the call; from then on the call owns
 * the operation, and call_has returns true for it. */
int call_ask(struct engine *, struct call *, dw_op *);
void call_answer_ask(struct engine *, dw_op *);
bool call_has(const dw_op *);

/* calls_give_up answers some of the calls that have waited for too long. calls_fail answers all
 * calls that wait for the timer's id, because the store is away. */
void calls_give_up(struct engine *);
void calls_fail(struct engine *, struct timer *);

#endif
