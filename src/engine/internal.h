/* The engine's insides, shared by its files:
 *
 *	call.c     what the API asked for, one operation of an id at a time
 *	patience.c how long a call waits that was not asked of the store
 *	answer.c   what the store answered
 *	deliver.c  claim, fire, verdict
 *	work.c     fire on worker threads
 *	own.c      owning the store: the lease, losing it, asking for it
 *	loss.c     writing again what the store has lost
 *	recover.c  what others wrote: the scan at the start, the inbox of the clients
 *	look.c     get, list, status, counters
 *	dead.c     dead letters
 *	whole.c    purge, check
 *	tell.c     calling the program back: answers, events
 *	turn.c     the turn, arming, closing
 *
 * Invariants (engine_check): every timer of the index is in the place its state says; a busy timer
 * has one operation under way and no other timer has one; calls wait only behind something.
 */
#ifndef DW_ENGINE_INTERNAL_H
#define DW_ENGINE_INTERNAL_H

#include <sys/types.h>

#include "base/rng.h"
#include "base/usec.h"
#include "engine/engine.h"
#include "engine/lead.h"
#include "engine/schedule.h"
#include "topic/topic.h"
#include "port/op.h"
#include "timer/index.h"

/* How much one turn does at most. */
#define TURN_ANSWERS_MAX 256u
#define TURN_FIRINGS_MAX 256u
#define TURN_CLAIMS_MAX 512u
#define TURN_SWEEP_MAX 1024u

/* How much of what firing waits for is under way in the store at most; of what the API asked for
 * it is the store's window, so that a flood of puts does not stand before a claim. */
#define URGENT_MAX 4096u

#define KNOWN_BODY_MAX 1024u /* a larger one is not sent for its claim */

#define SCAN_LIMIT 256u
#define LOAD_AHEAD DW_SECONDS(5)     /* what is due so soon is loaded before all the rest */
#define LOAD_AHEAD_MIN DW_SECONDS(2) /* more than two leads */
#define FETCHED_AHEAD 16
#define INBOX_LIMIT 256u
#define AUDIT_LIMIT 128u

#define RETRY_STORE DW_MILLISECONDS(100) /* then doubled, at most: */
#define RETRY_STORE_MAX DW_SECONDS(5)
#define AUDIT_EVERY DW_SECONDS(5)
#define AUDIT_ON DW_MILLISECONDS(100) /* between two parts of one */
#define AUDIT_AGE DW_SECONDS(1)       /* overdue for so long, and known: it is on its way */
#define STANDBY_EVERY DW_SECONDS(1)   /* between two questions for the ownership */
#define LEASE_LOOK DW_MILLISECONDS(1)
#define SLOW_AFTER DW_MILLISECONDS(50)
#define SLOW_AGAIN DW_SECONDS(10) /* a slow store is reported once in this time */
#define REPORT_EVERY DW_SECONDS(2)
#define REPORT_IDLE_EVERY DW_SECONDS(10)
#define REPORT_NOISE 2u              /* operations that are no work */
#define STEP_MIN DW_MILLISECONDS(20) /* a jump of wall against steady clock that is not drift */

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

/* What the program is to be told: the first member of a call, or of an event. */
struct notice {
	struct notice *next;
	bool is_event;
};

/* What the API was asked for and has not answered. */
struct call {
	struct notice notice;
	struct call *next;
	struct call *prev_open, *next_open; /* all that are unanswered */
	struct call *prev_patient, *next_patient;
	bool patient;  /* among those that patience.c looks at */
	dw_usec asked; /* steady: when it was accepted */
	enum call_kind kind;
	int status;
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
	char id[];
};

/* What the store has lost is written again. */
struct loss {
	bool asked;      /* a LOSS is parked */
	bool pushing;    /* it was answered: something is lost */
	bool again;      /* one could not be written */
	uint32_t bucket; /* of the index: the next to be looked through */
	uint32_t under_way;
	uint64_t pushed;
	dw_usec again_at;
};

enum recovery { RECOVERY_IDLE, RECOVERY_NEXT, RECOVERY_ASKED };

struct engine {
	struct engine_env env;
	struct alloc alloc;
	dw_store *store;

	struct index index;
	struct topics topics;
	struct schedule claim; /* pending timers, by deadline; runs ahead by the lead */
	struct schedule
	    fire; /* claimed timers by deadline; held and failed ones by their time-out */
	struct schedule work; /* claimed and due, waiting for a worker; not made without workers */
	struct timer *stranded; /* could not be armed for want of memory */

	struct op_queue urgent;   /* to submit */
	struct op_queue ordinary; /* to submit when there is room */
	struct op_queue answers;  /* collected, not yet looked at */
	uint32_t urgent_inflight;
	uint32_t ordinary_inflight;

	struct call *open;    /* every call that is not told its answer */
	uint64_t again_count; /* of them, those that are internal */
	struct call *patient; /* in the order in which they were accepted */
	struct call *patient_last;
	dw_usec served_at;      /* steady: when the store last changed a timer */
	struct notice *notices; /* to tell */
	struct notice *notices_last;
	struct notice *spares; /* for events */
	unsigned spare_count;
	uint64_t open_count;
	size_t open_bytes; /* they hold */

	enum recovery recovery;
	bool recover_again;
	dw_cursor recover_soon; /* in the order of the deadlines: loaded up to here */
	dw_cursor recover_rest; /* in the order of the generations, of a store that reads so fast */
	uint64_t recovered;     /* timers learnt from the store since the scan began */
	dw_usec recover_at;     /* not before; after a failure */
	bool inbox_asked;
	dw_usec inbox_at;
	bool audit_asked;
	dw_usec audit_at;
	bool own_asked; /* a standby's */
	dw_usec own_at;
	dw_op *newer;    /* the DISOWN for a timer of a newer durawheel that was met; or NULL */
	bool newer_told; /* that the store has such timers */
	unsigned reign;  /* how often the ownership was lost */
	bool lease_told; /* that it is over */
	struct loss loss;

	struct lead lead;
	dw_usec progress_at; /* steady: when the store last answered, or began to owe an answer */
	dw_usec slow_until;  /* steady: reported, and not again before */
	dw_usec report_at;
	uint64_t report_operations; /* store_operations at the last report */
	bool report_early;
	dw_usec skew; /* wall - steady */
	/* Indexes of fire and of work still to look at after a clock step. */
	uint32_t sweep;
	uint32_t sweep_work;

	struct timer *firing; /* whose handler runs */
	dw_usec retry_in;     /* dw_retry_in() of it */
	int callback_depth;
	bool in_turn;
	bool posts_left; /* of what other threads have asked for */
	bool woken;
	bool failing;  /* told, and not yet that it is back */
	bool troubled; /* the store has said so itself */
	bool paused;
	bool closing;
	pid_t pid;        /* of the process that made it; a forked child starts nothing */
	uint32_t purging; /* purges not answered: nothing is started meanwhile */
	int failure;      /* the first since engine_take_failure */
	int last_error;   /* the last failure of the store or an event, for the report */
	int last_event;   /* that it was, or 0: the store's */
	dw_usec last_error_at;

	struct rng rng;
	dw_stats stats;
	uint64_t claimed; /* timers in state CLAIMED */
	char error[DW_MESSAGE_SIZE];
};

/* tell.c */
int tell_init(struct engine *);
void tell_free(struct engine *);
void tell_call(struct engine *, struct call *);
/* tell_round tells all that there is to tell. What a callback adds is for the next round. */
void tell_round(struct engine *);
/* engine_event copies what it is given, and tells it in the next round. tell_event tells it at
 * once: only from inside a callback. */
void engine_event(struct engine *, const dw_event *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void tell_event(struct engine *, const dw_event *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* call.c */
/* call_answer: the call is over, and will be told. */
void call_answer(struct engine *, struct call *, int status);
/* call_answer_ask answers the call of an operation that no timer waits for. call_has: the operation
 * is the call's now, until it is told. */
void call_answer_ask(struct engine *, dw_op *);
bool call_has(const dw_op *);
void call_queue(struct timer *, struct call *);
/* call_new: DW_ENOMEM, or DW_ELIMIT unless it is part of a delivery; said in engine_error(). */
int call_new(struct engine *, enum call_kind kind, const char *id, struct call **ret_call);
/* call_make: never DW_ELIMIT. */
int call_make(struct engine *, enum call_kind kind, const char *id, struct call **ret_call);
void call_free(struct engine *, struct call *);
/* call_charge counts what the operation of a call holds. */
void call_charge(struct engine *, struct call *, const dw_op *);
/* call_change starts a call that is about one id, call_ask one that is not. The operation (NULL: no
 * memory) and, on failure, the call are taken over. */
int call_change(struct engine *, struct call *, dw_op *);
int call_ask(struct engine *, struct call *, dw_op *);

/* patience.c. A call is looked after from patience_begin to patience_end or its end. */
void patience_begin(struct engine *, struct call *);
void patience_end(struct engine *, struct call *);
/* patience_since: the steady time from which the store's patience with the call counts. */
dw_usec patience_since(const struct engine *, const struct call *);
void patience_round(struct engine *);
dw_usec patience_wake(const struct engine *, dw_usec now);
/* patience_fail answers the calls that wait for an operation of the timer's id. */
void patience_fail(struct engine *, struct timer *);

/* resume goes on with a timer that has no operation under way: the next call, or what its state
 * asks for. The timer may be freed. */
void engine_resume(struct engine *, struct timer *);

/* A timer and the structures it is in. */
int timer_adopt(struct engine *, const char *id, const void *body, size_t body_size,
		struct timer **ret_timer);
void timer_release(struct engine *, struct timer *);
void timer_arm_claim(struct engine *, struct timer *);
void timer_arm_fire(struct engine *, struct timer *, dw_usec at);
void timer_disarm(struct engine *, struct timer *);
void timer_set_state(struct engine *, struct timer *, enum timer_state);
void timer_replace(struct engine *, struct timer *old, struct timer *fresh);
void timer_retry_later(struct engine *, struct timer *);
/* timer_forget: memory knows nothing of it any more. What is under way or waits for its id goes on;
 * a dw_settle whose verdict has not been sent is answered DW_ESTALE. */
void timer_forget(struct engine *, struct timer *);

/* deliver.c */
void deliver_claim_round(struct engine *, dw_usec now);
bool deliver_may_start(const struct engine *);
void deliver_fire_round(struct engine *);
void deliver_due(struct engine *, struct timer *, dw_usec now, bool from_work);
void deliver_begin(struct engine *, struct timer *, dw_usec now);
/* deliver_judge takes what a handler has said; retry_in below 0: the policy's. */
void deliver_judge(struct engine *, struct timer *, dw_verdict, dw_usec retry_in);
void deliver_verdict(struct engine *, struct timer *);
void deliver_give_back(struct engine *, struct timer *);
void deliver_bury(struct engine *, struct timer *, dw_reason);
void deliver_revive(struct engine *);
void deliver_sweep(struct engine *, dw_usec now);
void deliver_stepped_back(struct engine *);

/* work.c */
bool work_is_for(const struct engine *, const struct timer *);
void work_await(struct engine *, struct timer *);
void work_start(struct engine *, struct timer *, dw_usec now);
bool work_next(struct engine *);

/* answer.c */
void answer_round(struct engine *);

/* loss.c */
void loss_round(struct engine *, dw_usec now);
dw_usec loss_wake(const struct engine *, dw_usec now);
void loss_answered(struct engine *, const dw_op *);
void loss_push_answered(struct engine *, const dw_op *);
void loss_forget(struct engine *);

/* own.c */
bool own_lease_holds(const struct engine *);
void own_watch_lease(struct engine *, dw_usec now);
/* own_firing_wake: when a handler may have to start; own_store_wake: when the store wants a turn.
 * Wall times. */
dw_usec own_firing_wake(const struct engine *, dw_usec now);
dw_usec own_store_wake(const struct engine *, dw_usec now);
/* own_lose: status says why. */
void own_lose(struct engine *, int status);
/* own_note_newer: a newer durawheel has written the row. own_give_way gives the ownership back
 * afterwards, because there are timers that this version cannot deliver. */
void own_note_newer(struct engine *, const dw_row *);
void own_give_way(struct engine *);
void own_ask(struct engine *, dw_usec now);
dw_usec own_wake(const struct engine *);
void own_answered(struct engine *, const dw_op *);

/* own_is_current: what the answer says of the store is so now, for an owner. */
static inline bool own_is_current(const struct engine *engine, const dw_op *op)
{
	return engine->env.role == DW_OWNER && op->reign == engine->reign;
}

/* recover.c */
void recover_begin(struct engine *);
void recover_ask(struct engine *, dw_usec now);
void recover_scanned(struct engine *, dw_op *);
void recover_audited(struct engine *, dw_op *);
void recover_inbox(struct engine *, dw_op *);
int recover_learn(struct engine *, const dw_row *);
/* recover_flaw: what is wrong with a row that is not to be trusted, in words behind its id. It may
 * write them to room, which has RECORD_WORDS_SIZE bytes. */
const char *recover_flaw(const dw_row *, char *room);
void recover_learn_rows(struct engine *, const dw_row *);
dw_usec recover_wake(const struct engine *);

/* look.c */
void look_tell_page(struct engine *, const struct call *);
void look_tell_status(struct engine *, const struct call *);
void look_report(struct engine *, dw_usec now);
/* look_limit refuses a page of so many of what; look_page is the operation that asks for one
 * (NULL: no memory). */
int look_limit(struct engine *, size_t limit, const char *what);
dw_op *look_page(struct engine *, dw_op_kind, const char *topic, const dw_cursor *after,
		 size_t limit);

/* dead.c */
void dead_tell_page(struct engine *, const struct call *);
/* dead_bury_damaged sets aside what is stored under id and does not match its checksum. */
void dead_bury_damaged(struct engine *, const char *id, uint64_t generation);
void dead_damaged_buried(struct engine *, const dw_op *);
/* dead_forgotten tells that the store has dropped old dead letters. */
void dead_forgotten(struct engine *, const dw_op *);

/* whole.c */
void whole_tell_check(struct engine *, const struct call *);
void whole_purged(struct engine *, dw_op *);

/* turn.c */
void engine_submit(struct engine *, dw_op *, bool urgent);
void engine_touch(struct engine *);
dw_usec engine_lead(const struct engine *);
/* engine_note_error: what the report names as the last error. */
void engine_note_error(struct engine *, int status);
void engine_store_failed(struct engine *, int status, const char *id);
void engine_store_back(struct engine *);

static inline bool work_has_room(const struct engine *engine)
{
	return engine->stats.running < engine->env.workers.count;
}

/* work_is_made: there are workers, and what is due for them has its schedule. */
static inline bool work_is_made(const struct engine *engine)
{
	return engine->work.wheel != NULL;
}

static inline dw_usec engine_now(const struct engine *engine)
{
	return engine->env.clock.wall(engine->env.clock.user);
}

static inline dw_usec engine_steady(const struct engine *engine)
{
	return engine->env.clock.steady(engine->env.clock.user);
}

#endif
