/* The parts that the two simulators share: the real engine on simulated clocks, loop and memory,
 * the program that uses it, and the promises that check both.
 *
 * The seed determines everything. No address and no real time has any influence. So a seed is the
 * whole bug report. */
#ifndef SIM_CORE_SIM_H
#define SIM_CORE_SIM_H

#include "base/rng.h"
#include "port/op.h"
#include "sim/core/bugs.h"
#include "sim/core/calls.h"
#include "sim/core/clocks.h"
#include "sim/core/faults.h"
#include "sim/core/instance.h"
#include "sim/core/memory.h"
#include "sim/core/order.h"
#include "sim/core/promises.h"
#include "sim/core/program.h"
#include "sim/core/store_view.h"
#include "sim/core/trace.h"

struct sim {
	uint64_t seed;
	struct rng rng;
	enum bug bug;
	bool losses; /* the server may lose what it has confirmed */
	bool peers;  /* the processes share the shards */
	struct trace trace;

	struct knobs knobs;
	struct faults faults;
	struct clocks clocks;
	struct memory memory;
	struct account table_account;

	struct store_view view;
	bool several; /* processes share the store, and a lost lease may come back */
	struct instance nobody;
	struct instance *at_work; /* the instance whose engine is called now, or &nobody */
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
