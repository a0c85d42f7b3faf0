/* Simulates one process, its clients and a second owner on one store, which is a table in
 * memory. */
#ifndef SIM_SINGLE_SINGLE_H
#define SIM_SINGLE_SINGLE_H

#include "sim/core/sim.h"
#include "sim/single/disk.h"
#include "sim/single/ownership.h"
#include "sim/single/second_owner.h"
#include "store/memory/table.h"

/* How often what happens, beside struct knobs; of 10,000. */
struct single_knobs {
	uint32_t client;
	uint32_t unknown;  /* groups of operations: answered DW_EUNKNOWN */
	uint32_t takeover; /* the second owner's chances; 0: the store has no lease */
	uint32_t lapse;    /* renewals: the store is unreachable for a while */
	uint32_t lease_ms;
	uint32_t page; /* rows on a page of a scan at most */
};

struct single {
	struct sim *sim;
	struct single_knobs knobs;
	struct instance instance;
	struct timer_table *table;
	struct disk *disk; /* NULL: the process does not run */
	struct lease lease;
	struct second_owner second_owner;
	dw_usec client_at; /* steady: the clients' next action */
};

void single_run(struct sim *);

/* process.c */
void single_open(struct single *);
void single_turn(struct single *);
void single_crash(struct single *);
void single_close(struct single *);

/* watch.c, now and then: every timer is delivered; a turn is armed for it. */
void watch_overdue(struct single *);
void watch_armed(struct single *);

/* client.c: another process writes into the store, past the owner, and is answered at once. */
void client_act(struct single *);

/* table_bugs.c: table_apply with the seed's planted bug in it. */
bool table_bugs_apply(struct single *, dw_op *, const struct table_caller *);

#endif
