/* Reads timers that others have written: first all stored timers, page by page; then the inbox of
 * the clients; and now and then an audit, which finds timers that are long overdue.
 *
 * A scan reads a set of shards: all of them after the ownership was gained, and later those that
 * must be read again. A few scans may be under way at a time, each of other shards. */
#ifndef DW_ENGINE_RECOVERY_H
#define DW_ENGINE_RECOVERY_H

#include <stdbool.h>

#include "base/usec.h"
#include "durawheel/store.h"
#include "engine/queue/registry.h"

struct engine;

enum recovery_state { RECOVERY_IDLE, RECOVERY_NEXT, RECOVERY_ASKED };

#define SCANS_MAX 4u

struct scan_state {
	enum recovery_state state;
	unsigned shards;   /* how many it reads; recovery.scan_of says which */
	dw_cursor soon;    /* where the scan in the order of deadlines continues */
	dw_cursor rest;    /* where the scan in the order of generations continues */
	const dw_op *page; /* the SCAN whose answer counts; an older one is ignored */
	uint64_t learnt;   /* timers learnt since the scan began */
	dw_usec at;        /* when the next page is asked for; later after a failure */
};

struct recovery {
	struct scan_state scans[SCANS_MAX];
	uint8_t
	    scan_of[DW_SHARDS_MAX]; /* 1 + the number of the scan that reads the shard; 0: none */
	bool wanted[DW_SHARDS_MAX]; /* the shard must be read, after its present scan */
	unsigned wanted_count;
	bool hurries;    /* the next scan begins at once */
	unsigned unread; /* how many shards must be read, or are being read */
	uint64_t learnt; /* timers read into memory, by scans, by the inbox and by other answers */
	bool inbox_asked;
	dw_usec inbox_at;
	bool audit_asked;
	dw_usec audit_at;
	struct registry registry;
	/* The DISOWN to send, because a timer of a newer durawheel was read; or NULL. */
	dw_op *newer;
};

/* recovery_begin starts a scan of all shards that are ours. recovery_stop ends all scans. */
void recovery_begin(struct engine *);
void recovery_stop(struct recovery *);

/* recovery_need asks for another scan of a shard that is ours. recovery_leave withdraws this
 * request, and takes the shard out of its present scan. recovery_end_reading only takes the shard
 * out of its scan. A scan ends with its last shard. */
void recovery_need(struct recovery *, unsigned shard);
void recovery_end_reading(struct recovery *, unsigned shard);
void recovery_leave(struct recovery *, unsigned shard);

/* recovery_loads returns true if timers of a shard that is not refused are not in memory yet. */
bool recovery_loads(const struct engine *);

void recovery_round(struct engine *, dw_usec now);
dw_usec recovery_wake(const struct engine *);

/* These functions handle the answers to a page of the scan, to an audit, and to a read of the
 * inbox. */
void recovery_scanned(struct engine *, dw_op *);
void recovery_audited(struct engine *, dw_op *);
void recovery_inbox_read(struct engine *, dw_op *);

/* recovery_is_over returns true if no scan of the shard is under way or needed, so that memory
 * knows its stored timers. */
static inline bool recovery_is_over(const struct recovery *recovery, unsigned shard)
{
	return recovery->scan_of[shard] == 0 && !recovery->wanted[shard];
}

/* recovery_take_newer returns the DISOWN that learn_row() has made, and removes it from the struct.
 * It returns NULL if there is none. */
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
	for (unsigned i = 0; i < SCANS_MAX; i++)
		recovery->scans[i].at = usec_min(recovery->scans[i].at, now);
	recovery->inbox_at = usec_min(recovery->inbox_at, now);
	recovery->audit_at = usec_min(recovery->audit_at, now);
}

#endif
