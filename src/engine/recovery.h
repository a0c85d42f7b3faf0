/* Reads what others wrote: first all stored timers, page by page; then the inbox of the clients;
 * and, now and then, what is long overdue. */
#ifndef DW_ENGINE_RECOVERY_H
#define DW_ENGINE_RECOVERY_H

#include <stdbool.h>

#include "base/usec.h"
#include "durawheel/store.h"

struct engine;

enum recovery_state { RECOVERY_IDLE, RECOVERY_NEXT, RECOVERY_ASKED };

struct recovery {
	enum recovery_state state;
	bool again;        /* when this scan is over, another one is needed */
	dw_cursor soon;    /* in the order of the deadlines: loaded up to here */
	dw_cursor rest;    /* in the order of the generations, of a store that reads so fast */
	const dw_op *page; /* the SCAN whose answer counts; a page asked for ahead may not count */
	uint64_t learnt;   /* timers learnt from the store since the scan began */
	dw_usec at;        /* not before; after a failure */
	bool inbox_asked;
	dw_usec inbox_at;
	bool audit_asked;
	dw_usec audit_at;
	dw_op *newer; /* the DISOWN for a timer of a newer durawheel that was read, or NULL */
};

/* recovery_begin scans the store from its start; recovery_stop ends a scan. */
void recovery_begin(struct recovery *);
void recovery_stop(struct recovery *);

void recovery_round(struct engine *, dw_usec now);
dw_usec recovery_wake(const struct engine *);

/* The answers: of a page of the scan, of an audit, of the inbox. */
void recovery_scanned(struct engine *, dw_op *);
void recovery_audited(struct engine *, dw_op *);
void recovery_inbox_read(struct engine *, dw_op *);

/* recovery_is_over: memory knows all that is stored, as far as it can. */
static inline bool recovery_is_over(const struct recovery *recovery)
{
	return recovery->state == RECOVERY_IDLE && !recovery->again;
}

/* recovery_need asks for another scan. */
static inline void recovery_need(struct recovery *recovery)
{
	recovery->again = true;
}

/* recovery_take_newer: what learn_row() has noted, or NULL. */
static inline dw_op *recovery_take_newer(struct recovery *recovery)
{
	dw_op *op = recovery->newer;

	recovery->newer = NULL;
	return op;
}

/* recovery_hurry: the wall clock was set; nothing waits longer than until now. */
static inline void recovery_hurry(struct recovery *recovery, dw_usec now)
{
	recovery->at = usec_min(recovery->at, now);
	recovery->inbox_at = usec_min(recovery->inbox_at, now);
	recovery->audit_at = usec_min(recovery->audit_at, now);
}

#endif
