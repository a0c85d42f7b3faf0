/* The simulator: the real engine on simulated clocks, loop and store, and a model that watches.
 *
 *	main.c     arguments, many seeds, the self-test
 *	single.c   one seed: what happens next, opening, crashing, closing, the quiet end
 *	memory.c   the engine's allocator: counts, and fails when told
 *	clocks.c   wall and steady time
 *	store.c     the store: a table that survives crashes, behind a queue that does not
 *	program.c  the user's program: calls, handlers, callbacks
 *	client.c   clients of the same store
 *	second_owner.c    another owner, when the lease of ours is over
 *	promises.c    what was promised, checked at every event
 *	calls.c    what was asked for, and what was answered
 *	ended.c    what of it ends with a process, or with its ownership
 *	compare.c    what is checked now and then
 *	order.c    the promise of order (I8)
 *	trace.c    the trace, its hash, the first broken promise
 *	bugs.c     planted bugs, to see that the model finds them
 *
 * Everything is drawn from one seed, and nothing else enters: no address, no real time. So a seed
 * is the whole bug report.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdbool.h>

#include "base/hash.h"
#include "base/rng.h"
#include "base/usec.h"
#include "engine/engine.h"
#include "port/op.h"
#include "sim/core/bugs.h"
#include "sim/core/faults.h"
#include "sim/core/order.h"
#include "sim/core/promises.h"
#include "sim/core/random.h"
#include "store/table.h"

#define TOPIC_COUNT 4u
#define GROUPS_MAX 16u
#define DATA_SIZE 8u

/* The seed's profile: how often what happens, in events of 10,000. Some are zero in a seed, so that
 * seeds differ in kind and not only in luck. */
struct knobs {
	uint32_t crash;
	uint32_t crash_inside; /* of 10,000 callbacks */
	uint32_t close;
	uint32_t step;
	uint32_t stall;
	uint32_t spurious;
	uint32_t memory; /* a failed allocation is coming */
	uint32_t writer;
	uint32_t fail;    /* of 10,000 operations */
	uint32_t unknown; /* of 10,000 groups */
	uint32_t slow;    /* of 10,000 groups */
	uint32_t rival;   /* of 10,000 chances to take the store over; 0: there is no lease */
	uint32_t lapse;   /* of 10,000 renewals: the store is out of reach */
	uint32_t lease_ms;
	uint32_t id_count;
	uint32_t action_count;
	uint32_t page; /* rows on a page of a scan at most */
	uint32_t hold_ms;
	uint32_t pause_max_us; /* between two actions of the program */
	uint32_t timers_max;
	dw_usec delay_max; /* of a deadline; 0: hours */
};

/* Blocks of one owner; a block remembers whose it is. */
struct account {
	struct sim *sim;
	size_t block_count;
	bool may_fail;
};

struct clocks {
	dw_usec steady;
	dw_usec anchor_steady; /* wall time runs from here */
	dw_usec anchor_wall;
	int64_t drift_ppm;
	dw_usec wall_max; /* the largest ever shown */
	uint32_t set_count;
};

/* Operations applied together, on their way back. */
struct group {
	struct op_queue ops;
	dw_usec answer_at;
};

/* What the simulated store knows of its ownership: FENCED until the engine has been told. */
enum reign { REIGN_OWNER, REIGN_FENCED, REIGN_CLIENT };

/* The other owner. */
struct rival {
	bool owns;
	uint64_t token;
	uint32_t count; /* how often it has taken over */
	dw_usec at;     /* steady: of its next act */
	dw_usec until;  /* it owns */
};

struct disk {
	dw_store store; /* first: the public view */
	dw_store_class type;
	struct sim *sim;
	struct account *account;
	uint64_t token;
	struct op_queue submitted;
	dw_usec apply_at; /* DW_NEVER: nothing to apply */
	struct group groups[GROUPS_MAX];
	uint32_t group_first;
	uint32_t group_count;
	struct op_queue answers;
	dw_op *parked;
	bool stopped;
	enum reign reign;
	unsigned losses;          /* the engine was told of */
	uint32_t rivals;          /* sim.second_owner.count when it became the owner */
	dw_usec renew_at;         /* steady */
	dw_usec leased_told;      /* what the engine may rely on */
	uint32_t done[NAMES_MAX]; /* a put whose outcome nobody was told: its number + 1 */
};

struct sim {
	uint64_t seed;
	struct rng rng;
	enum bug bug;
	bool losses; /* the server may lose what it has confirmed */
	bool printing;
	uint64_t hash;
	uint64_t event_count;
	uint64_t start_count;
	char broken[256]; /* the first broken promise */

	struct knobs knobs;
	struct faults faults;
	struct clocks clocks;
	struct account engine_account;
	struct account table_account;
	uint32_t fail_in;  /* the allocation that fails, 0: none */
	uint32_t fail_run; /* how many fail in a row */
	uint64_t fail_count;

	struct town *town; /* of the Redis store; NULL: the table and its disk */
	struct table *table;
	struct disk *disk;
	struct rival rival;
	dw_usec leased_until; /* steady: nobody else may take the store over before */
	dw_usec away_until;   /* steady: it is out of reach */
	struct engine *engine;
	uint64_t life; /* of the process; grows with every start */
	bool dead;     /* the process has crashed inside a callback: nobody sees what it does */
	bool closing;
	dw_usec close_until;
	bool in_call; /* inside a call of the API, where nobody may be answered */
	int depth;    /* of callbacks */
	uint32_t turn_starts;

	dw_usec armed; /* wall time */
	bool woken;
	dw_usec wake_at; /* steady time */
	dw_usec stalled_until;
	dw_usec open_at;   /* the next start of the process */
	dw_usec action_at; /* the program's next action */
	uint32_t actions_left;
	dw_usec writer_at;
	uint64_t idle_turns; /* in a row, without time passing */

	bool handled[TOPIC_COUNT];
	bool handled_any;
	dw_usec last_due;
	dw_verdict verdict; /* that the running handler will return */

	struct model model;
	struct order order;
};

/* trace.c */
void trace(struct sim *, const char *what, const char *id, int64_t a, int64_t b);
void broken(struct sim *, const char *promise, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* memory.c */
struct alloc memory_alloc(struct account *);

/* clocks.c */
void clocks_init(struct sim *);
dw_usec clocks_wall(const struct sim *);
dw_usec clocks_steady_at(const struct sim *, dw_usec wall);
void clocks_pass(struct sim *, dw_usec time);
void clocks_disturb(struct sim *);
struct clock clocks_port(struct sim *);

/* store.c */
struct disk *disk_open(struct sim *);
dw_usec disk_next(const struct disk *);
void disk_work(struct disk *);
void disk_news(struct disk *); /* a client has written */
void disk_crash(struct disk *);
void disk_free(struct disk *);
bool disk_may_start(const struct disk *);
/* disk_is_lost: to another owner, and the engine does not know it yet. */
bool disk_is_lost(const struct disk *);
bool disk_idle(const struct disk *);

/* program.c */
void program_begin(struct sim *);
void program_act(struct sim *);
void program_register_all(struct sim *);
void program_event(dw *, const dw_event *, void *user);

/* client.c */
void writer_act(struct sim *);

/* second_owner.c */
void rival_init(struct sim *);
dw_usec rival_next(const struct sim *);
void rival_act(struct sim *);

/* fleet.c, of the process that is at work: whether it may start a timer; whether it has lost the
 * store and need not know it; how often its engine was told so. town_stored: a row, or NULL. */
bool town_may_start(const struct sim *, const char *id);
/* town_is_replaced: it may start the timer only because it does not know what has befallen it. */
bool town_is_replaced(const struct sim *, const char *id);
bool town_is_lost(const struct sim *);
unsigned town_losses(const struct sim *);
dw_row *town_stored(struct sim *, const char *id);

/* single.c*/
bool world_run(struct sim *);

static inline bool sim_may_start(const struct sim *sim, const char *id)
{
	return sim->town ? town_may_start(sim, id) : disk_may_start(sim->disk);
}

static inline bool sim_is_lost(const struct sim *sim)
{
	return sim->town ? town_is_lost(sim) : disk_is_lost(sim->disk);
}

static inline struct sim *sim_of(dw *handle)
{
	return (struct sim *)(void *)handle;
}

#endif
