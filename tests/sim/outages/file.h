/* The disk of a journal: a store in memory that outlives its process. What was written and not
 * answered is lost, or not, when the process is killed. */
#ifndef SIM_OUTAGES_FILE_H
#define SIM_OUTAGES_FILE_H

#include <stdbool.h>

#include "durawheel/store.h"
#include "port/op.h"

struct instance;
struct sim;

struct file {
	dw_store store; /* first: as the journal sees it */
	dw_store *table;
	struct sim *sim;
	struct instance *instance; /* is woken by answers */
	struct op_queue written;   /* and not on the disk */
	struct op_queue answered;
	dw_usec at;     /* steady: the first of the written ones is on the disk; DW_NEVER: none */
	bool at_once;   /* while the journal is opened */
	uint32_t fails; /* of 10,000 writes */
};

void file_init(struct file *, struct sim *, struct instance *);
void file_free(struct file *);

/* file_open: the journal's process starts. */
dw_store *file_open(struct file *);

/* file_work: what is due is on the disk now. */
void file_work(struct file *);

/* file_is_empty: it has no rows. */
bool file_is_empty(struct file *);

#endif
