/* What one operation does to one stored timer: the rules of a timer's life, for every store.
 *
 * A store reads the stored timer (or that there is none), asks life_take(), and carries out the
 * step it gets. Pure: no clock, no storage; so the rules are written once and every store has the
 * same. It does not know bodies, topics or ids.
 */
#ifndef DW_TIMER_TRANSITION_H
#define DW_TIMER_TRANSITION_H

#include <stdbool.h>

#include "durawheel/store.h"

#define LIFE_DEAD_MAX ((uint64_t)DW_DEAD_MAX)
#define LIFE_DEAD_KEPT DW_DAYS(DW_DEAD_DAYS)
#define LIFE_DEAD_AT_ONCE 64u /* dead letters dropped with one operation */

struct life_record {
	dw_head head;
	uint64_t claim; /* the token that claimed it, 0 when pending */
	bool damaged;   /* it does not match its checksum */
	bool newer;     /* a newer durawheel has written it */
};

struct life_caller {
	uint64_t token;
	uint64_t generation; /* the next one, for a write that needs it */
	dw_role role;
	bool left_open; /* a deletion of the id in the inbox is open: see life_step.open_news */
};

enum life_effect {
	LIFE_KEEP,   /* nothing is written */
	LIFE_STORE,  /* record with the operation's body, in the place of the stored one if any */
	LIFE_UPDATE, /* record with the stored body, perhaps under another generation */
	LIFE_DELETE,
	LIFE_BURY /* to the dead letters */
};

struct life_step {
	int status;
	enum life_effect effect;
	struct life_record record; /* as it is after the step; of a deleted one, as it was */
	bool show;                 /* the timer is part of the answer, as it is after the step */
	bool news;                 /* it goes into the inbox under the caller's generation */
	/* The news is a deletion, and an earlier claim of the id may still start. Until the owner
	 * has seen it, a put of the id is open in its turn: else its cancel would promise too
	 * much. */
	bool open_news;
};

/* life_next: the generation after last, at wall time now. */
uint64_t life_next(uint64_t last, dw_usec now);

/* life_permits: DW_OK; DW_EROLE: only the owner may do that; DW_EINVAL: no such operation. */
int life_permits(const dw_op *, dw_role);

/* life_take: the step for PUT, CLAIM, SETTLE, RETRY, BURY, CANCEL, MOVE or GET; stored is NULL when
 * the id has no timer. */
struct life_step life_take(const dw_op *, const struct life_record *stored,
			   const struct life_caller *);

/* life_requeue: the step for REQUEUE; dead is NULL when there is no such dead letter, taken: the id
 * has a timer. LIFE_STORE: with the letter's body, and the letter is dropped. */
struct life_step life_requeue(const dw_op *, const struct life_record *dead, bool taken,
			      const struct life_caller *);

/* life_forgets: the oldest of count dead letters, set aside at `at`, is dropped now. */
bool life_forgets(uint64_t count, dw_usec at, dw_usec now);

/* life_renews: the step uses up the caller's generation. */
bool life_renews(const struct life_step *, const struct life_caller *);

#endif
