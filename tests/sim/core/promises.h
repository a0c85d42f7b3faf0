/* What was promised to whom, and whether it is kept. The model hears of every call, answer, start
 * and operation that the store carried out; it trusts only what it is told here, and reads the
 * table only to compare. */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "sim/core/losses.h"

struct sim;

#define NAMES_MAX 512u
#define ASKED_MAX 8192u
#define GENERATIONS_MAX 16384u
#define NONE UINT32_MAX
#define UNANSWERED 1 /* a status that no call has */
#define VOID 2       /* the process died before the answer */

enum asked_kind {
	ASKED_PUT,
	ASKED_CANCEL,
	ASKED_MOVE,
	ASKED_REQUEUE,
	ASKED_PURGE,
	ASKED_SETTLE,
	ASKED_LIST
};

/* One call of the API, the program's or a client's. */
struct asked {
	struct sim *sim;
	enum asked_kind kind;
	uint32_t name; /* of the id; NONE: the engine makes one */
	uint32_t topic;
	dw_usec due;
	dw_usec late_after;
	int status;
	bool callback;       /* somebody is told */
	uint64_t life;       /* of the process that called; 0: a client */
	uint64_t generation; /* settle */
	dw_verdict verdict;  /* settle */
};

/* DEAD: there is a dead letter of it; BURIED: no more. */
enum fate { FATE_STORED, FATE_REPLACED, FATE_CANCELLED, FATE_SETTLED, FATE_DEAD, FATE_BURIED };

/* One stored generation of an id. */
struct generation {
	uint64_t number;
	uint64_t was;    /* its number before it was renumbered, which its caller hears; 0: none */
	uint32_t before; /* the earlier one of the same id, NONE: it was the first */
	uint32_t name;
	uint32_t asked; /* the put */
	dw_usec due;
	dw_usec due_before;   /* before its last retry */
	dw_usec moved_to;     /* by the move or requeue that made it, 0: a put did */
	dw_usec made_at;      /* steady */
	dw_usec since;        /* steady: of the put or the last start */
	dw_usec retry_floor;  /* a retry may not be due before */
	uint32_t floor_clock; /* clocks.set_count when that was so */
	enum fate fate;
	bool lost;   /* by the store, and nobody has to write it again (expected_losses.c) */
	bool reset;  /* the store was set back, and has it again */
	bool pushed; /* and its owner has written it again */
	bool purged;
	bool letter;      /* found among the dead letters */
	uint64_t lost_to; /* the life of the owner then */
	bool claimed;     /* in the store */
	bool promised;    /* when it is confirmed, no earlier one starts any more: an owner's */
	bool held;        /* its handler said DW_HOLD */
	bool may_settle;  /* somebody said that it is done */
	bool may_retry;   /* somebody asked for another delivery */
	bool licensed;    /* that was stored: it may start again */
	uint64_t life;    /* of the last start, 0: none */
	uint32_t attempt; /* of the last start */
	uint32_t starts;
	uint64_t dropped; /* the life in which a cancel has ended its retries */
};

struct name {
	char id[40];
	uint32_t last;   /* generation */
	uint32_t stored; /* generation in the store */
	struct name_loss loss;
	uint64_t floor;        /* no generation up to this one starts any more */
	uint64_t cancel_floor; /* that becomes the floor when the cancel is answered */
	uint64_t purge_floor;  /* the same of a purge */
	uint32_t open;         /* calls that are not answered */
	bool mute;             /* a call was made that nobody is told the end of */
};

struct model {
	struct name names[NAMES_MAX];
	uint32_t name_count;
	struct asked asked[ASKED_MAX];
	uint32_t asked_count;
	struct generation generations[GENERATIONS_MAX];
	uint32_t generation_count;
	uint64_t unanswered;
	bool purging; /* one at a time, so that purge_floor is of that one */
};

void model_init(struct sim *);

/* model_name: the number of an id, made if need be. */
uint32_t model_name(struct sim *, const char *id);
void model_name_all(struct sim *, uint32_t count);

/* model_ask notes a call; model_asked its synchronous result. NULL: no room, do not call. */
struct asked *model_ask(struct sim *, enum asked_kind, uint32_t name);
void model_accepted(struct sim *, struct asked *, int status);
void model_answered(struct sim *, struct asked *, int status, const dw_result *);

/* model_applied: the store carried the operation out; wanted is its head before. */
void model_applied(struct sim *, const dw_op *, const dw_head *wanted, dw_role);

/* model_purged: the store has deleted all of that name. */
void model_purged(struct sim *, uint32_t name);

/* model_asked_of: the number of the put that a body is of, NONE: it is none. */
uint32_t model_asked_of(struct sim *, const void *body, size_t size);

/* Deliveries. A handler's verdict, a settle that was accepted, a hold that ran out. */
struct generation *model_start(struct sim *, const dw_firing *);
/* model_rival_start: the other owner starts what it has claimed. */
struct generation *model_rival_start(struct sim *, const dw_op *claim);
/* model_lost: the process has lost the store, and with it all it had started and claimed. */
void model_lost(struct sim *);
void model_verdict(struct sim *, struct generation *, dw_verdict, dw_usec retry_in);
void model_expired(struct sim *, const char *id);
void model_cancelling(struct sim *, uint32_t name);

/* model_find: NULL: no such generation. model_stored: NULL: none is stored. model_dead: the last
 * one with a dead letter. */
struct generation *model_dead(struct sim *, uint32_t name);
/* model_is: the generation has that number, or was told by it before it was renumbered. */
bool model_is(const struct generation *, uint64_t number);
struct generation *model_find(struct sim *, uint32_t name, uint64_t number);
struct generation *model_stored(struct sim *, uint32_t name);

/* model_made_by: the generation that the put has made; NULL: none. */
struct generation *model_made_by(struct sim *, uint32_t name, const struct asked *);
/* model_raise: no generation up to that one starts any more. */
void model_raise(struct name *, uint64_t number);
/* model_lower: whatever was promised, that one may start. */
void model_lower(struct name *, uint64_t number);

/* The process ended: what was not answered never will be. */
void model_process_ended(struct sim *);

/* model_unanswered: calls of the process at work. */
unsigned model_unanswered(const struct sim *);

/* model_compare compares with the store. */
void model_compare(struct sim *);
bool model_all_over(const struct sim *);
/* model_say_what_is_left: in vain it was waited for. */
void model_say_what_is_left(struct sim *);

#endif
