/* The store of the process. Its durable part is a table that outlives every process. A crash loses
 * submitted operations that are not applied, and answers that are not delivered. A group of
 * operations is applied at one moment, all or none. */
#ifndef SIM_SINGLE_DISK_H
#define SIM_SINGLE_DISK_H

#include <stdbool.h>

#include "port/op.h"
#include "sim/core/promises.h"
#include "sim/single/ownership.h"

#define GROUPS_MAX 16u

/* Operations applied together, on their way back. */
struct group {
	struct op_queue ops;
	dw_usec answer_at;
};

struct disk {
	dw_store store; /* first: the public view */
	dw_store_class type;
	struct single *single;
	struct sim *sim;
	struct ownership own;
	struct op_queue submitted;
	dw_usec apply_at; /* DW_NEVER: nothing to apply */
	struct group groups[GROUPS_MAX];
	uint32_t group_first;
	uint32_t group_count;
	struct op_queue answers;
	dw_op *parked;
	bool stopped;
	const struct asked
	    *done[NAMES_MAX]; /* the last put that was done and answered DW_EUNKNOWN */
};

struct disk *disk_open(struct single *);
dw_usec disk_next(const struct disk *);
void disk_work(struct disk *);
bool disk_idle(const struct disk *);

/* disk_news: a client has written, so a parked INBOX may be answered. NULL: no process runs. */
void disk_news(struct disk *);

void disk_crash(struct disk *);
void disk_free(struct disk *);

#endif
