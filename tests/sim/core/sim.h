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
#include "sim/core/calls.h"
#include "sim/core/clocks.h"
#include "sim/core/compare.h"
#include "sim/core/deliveries.h"
#include "sim/core/faults.h"
#include "sim/core/instance.h"
#include "sim/core/memory.h"
#include "sim/core/operations.h"
#include "sim/core/order.h"
#include "sim/core/promises.h"
#include "sim/core/program.h"
#include "sim/core/random.h"
#include "sim/core/store_view.h"
#include "sim/core/trace.h"

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
	uint32_t fail;   /* of 10,000 operations */
	uint32_t slow;   /* of 10,000 groups */
	uint32_t id_count;
	uint32_t action_count;
	uint32_t hold_ms;
	uint32_t pause_max_us; /* between two actions of the program */
	uint32_t timers_max;
	dw_usec delay_max; /* of a deadline; 0: hours */
};

struct sim {
	uint64_t seed;
	struct rng rng;
	enum bug bug;
	bool losses; /* the server may lose what it has confirmed */
	struct trace trace;

	struct knobs knobs;
	struct faults faults;
	struct clocks clocks;
	struct memory memory;
	struct account table_account;

	struct store_view view;
	bool several; /* processes share the store, and a lost lease may come back */
	struct instance nobody;
	struct instance *at_work; /* its engine is called now; &nobody: none is */
	struct program program;
	struct calls calls;
	struct promises promises;
	struct order order;
};

static inline struct sim *sim_of(dw *handle)
{
	return (struct sim *)(void *)handle;
}

#endif
