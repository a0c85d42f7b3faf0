/* The store of the process. The durable part is a table that outlives every process; the rest is on
 * its way. What was submitted and not applied is lost in a crash, and so is an answer that was not
 * delivered. A group of operations is applied at one moment, together or not at all. */
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
	const struct asked *done[NAMES_MAX]; /* a put whose outcome nobody was told */
};

struct disk *disk_open(struct single *);
dw_usec disk_next(const struct disk *);
void disk_work(struct disk *);
bool disk_idle(const struct disk *);

/* disk_news: a client has written; NULL: nobody is there to hear of it. */
void disk_news(struct disk *);

void disk_crash(struct disk *);
void disk_free(struct disk *);

#endif
