/* Simulates queue topics: an owner and two clients, each with an engine of its own, on one table in
 * memory that outlives them, or on the simulated Redis of fleet/. All put, push, take and answer,
 * and die while they do. The judge sees each operation that the table carries out, or each script,
 * and each answer that a program gets. */
#ifndef SIM_QUEUES_QUEUES_H
#define SIM_QUEUES_QUEUES_H

#include "sim/core/sim.h"
#include "sim/fleet/fleet.h"
#include "sim/queues/judge.h"
#include "store/memory/table.h"

#define PARTIES PROCESSES /* the first one is the owner */
#define HELD_MAX 64u
#define STEPS_MAX 64u

struct queues;

/* The store of a party: operations on their way to the table, and answers on their way back. */
struct desk {
	dw_store store; /* first: the public view */
	dw_store_class type;
	struct party *party;
	struct op_queue submitted, coming, answers;
	dw_usec apply_at, answer_at; /* DW_NEVER: nothing is under way */
	dw_op *parked;               /* an INBOX that has nothing to say yet */
};

/* A message that a program has taken and not answered. */
struct held_message {
	char token[DW_TOKEN_SIZE];
};

struct party {
	struct queues *all;
	struct instance own;       /* on a table */
	struct instance *instance; /* own, or that of its process in the fleet */
	struct desk *desk;         /* on a table; NULL: the process does not run */
	dw_store *store;           /* on Redis; NULL: the process does not run */
	dw_role role;
	uint64_t token; /* of this opening of the table */
	struct held_message held[HELD_MAX];
	size_t held_count;
	bool takes; /* a take is under way */
};

/* What the judge and the programs ask of the store, and change in it, behind all processes. */
struct backing {
	dw_topic_info (*info)(struct queues *, uint32_t queue); /* the numbers of a queue */
	bool (*is_empty)(struct queues *);                      /* there is no timer */
	/* set changes some settings of a topic. False: there is no namespace yet. */
	bool (*set)(struct queues *, uint32_t queue, const char *text);
};

struct queues {
	struct sim *sim;
	const struct backing *backing;
	struct timer_table *table; /* NULL: they are on Redis */
	struct fleet fleet;        /* its processes are those of the parties, on Redis */
	struct party parties[PARTIES];
	struct judge judge;
	uint32_t unknown; /* operations of 10,000 that are answered DW_EUNKNOWN */
	dw_usec action_at;
	uint32_t number; /* of the last id */
	bool calm;
};

void queues_run(struct sim *);
void queues_redis_run(struct sim *);

/* party.c */
void party_open(struct party *);
void party_turn(struct party *);
void party_crash(struct party *);
void party_free(struct party *);
void party_enter(struct party *); /* it is at work from now on */
bool party_runs(const struct party *);
void party_event(dw *, const dw_event *, void *party);
dw_usec party_next(const struct party *);
bool party_is_at_work(const struct party *);

/* desk.c: desk_news: somebody else has written, so the parked INBOX may be answered. */
struct desk *desk_open(struct party *);
dw_usec desk_next(const struct desk *);
void desk_work(struct desk *);
void desk_news(struct desk *);
void desk_free(struct desk *);

/* redis.c: the same on Redis. */
extern const struct backing redis_backing;
void redis_begin(struct queues *);
void redis_end(struct queues *);
void redis_disturb(struct queues *);
void redis_party_open(struct party *);

/* program.c: one call of a party's program. queue_pause changes what is paused. */
void queue_pause(struct queues *, uint32_t queue, unsigned paused);
void queue_program_act(struct party *);
void queue_program_rest(struct party *);

/* planted.c: table_apply with the seed's planted bug in it. */
bool queue_bugs_apply(struct queues *, dw_op *, const struct table_caller *);

#endif
