/* Reads timers that others have written: first all stored timers, page by page; then the inbox of
 * the clients; and now and then an audit, which finds timers that are long overdue. */
#ifndef DW_ENGINE_RECOVERY_H
#define DW_ENGINE_RECOVERY_H

#include <stdbool.h>

#include "base/usec.h"
#include "durawheel/store.h"
#include "engine/queue/registry.h"

struct engine;

enum recovery_state { RECOVERY_IDLE, RECOVERY_NEXT, RECOVERY_ASKED };

struct recovery {
	enum recovery_state state;
	bool again;        /* another scan is needed after this one */
	dw_cursor soon;    /* where the scan in the order of deadlines goes on */
	dw_cursor rest;    /* where the scan in the order of generations goes on */
	const dw_op *page; /* the SCAN whose answer counts; an older one is ignored */
	uint64_t learnt;   /* timers learnt since the scan began */
	dw_usec at;        /* when the next page is asked for; later after a failure */
	bool inbox_asked;
	dw_usec inbox_at;
	bool audit_asked;
	dw_usec audit_at;
	struct registry registry;
	/* The DISOWN to send, because a timer of a newer durawheel was read; or NULL. */
	dw_op *newer;
};

/* recovery_begin starts a scan of the whole store. recovery_stop ends it. */
void recovery_begin(struct recovery *);
void recovery_stop(struct recovery *);

void recovery_round(struct engine *, dw_usec now);
dw_usec recovery_wake(const struct engine *);

/* These functions handle the answers to a page of the scan, to an audit, and to a read of the
 * inbox. */
void recovery_scanned(struct engine *, dw_op *);
void recovery_audited(struct engine *, dw_op *);
void recovery_inbox_read(struct engine *, dw_op *);

/* recovery_is_over returns true if memory knows all stored timers, as far as it can. */
static inline bool recovery_is_over(const struct recovery *recovery)
{
	return recovery->state == RECOVERY_IDLE && !recovery->again;
}

/* recovery_need asks for another scan. */
static inline void recovery_need(struct recovery *recovery)
{
	recovery->again = true;
}

/* recovery_take_newer takes the DISOWN that learn_row() has made out of the struct. It returns NULL
 * if there is none. */
static inline dw_op *recovery_take_newer(struct recovery *recovery)
{
	dw_op *op = recovery->newer;

	recovery->newer = NULL;
	return op;
}

/* recovery_hurry lets everything that waits for a wall time happen now, because the wall clock was
 * set. */
static inline void recovery_hurry(struct recovery *recovery, dw_usec now)
{
	recovery->at = usec_min(recovery->at, now);
	recovery->inbox_at = usec_min(recovery->inbox_at, now);
	recovery->audit_at = usec_min(recovery->audit_at, now);
}

#endif
