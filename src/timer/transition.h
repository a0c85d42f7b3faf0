/* Says what one operation does to one stored timer: the rules of a timer's life, for every store.
 *
 * A store reads the stored timer, if there is one, asks life_take(), and applies the step that it
 * gets. This file is pure: it has no clock and no storage, so the rules are written once for all
 * stores. It does not know bodies, topics or ids. */
#ifndef DW_TIMER_TRANSITION_H
#define DW_TIMER_TRANSITION_H

#include <stdbool.h>

#include "durawheel/store.h"

#define LIFE_DEAD_MAX ((uint64_t)DW_DEAD_MAX)
#define LIFE_DEAD_KEPT DW_DAYS(DW_DEAD_DAYS)
#define LIFE_DEAD_AT_ONCE 64u /* most dead letters that one operation drops */

struct life_record {
	dw_head head;
	uint64_t claim; /* the token of the owner that claimed it; 0: pending */
	bool damaged;   /* the timer does not match its checksum */
	bool newer;     /* a newer durawheel has written the timer */
	bool recurs;    /* the timer has a rule */
	/* The stored timer is the operation's timer with the same rule, perhaps at another
	 * occurrence. */
	bool same;
};

struct life_caller {
	uint64_t token;
	/* The next generation, for a step that makes a new version of the timer. */
	uint64_t generation;
	dw_role role;
	bool left_open; /* the inbox has an open deletion of the id: see life_step.open_news */
	bool ended;     /* for a PUT with ONCE: an end of the id is remembered */
};

enum life_effect {
	LIFE_KEEP,   /* nothing is written */
	LIFE_STORE,  /* store `record` with the operation's body; it replaces the stored timer */
	LIFE_RENEW,  /* like LIFE_STORE, and the stored timer also becomes a dead letter */
	LIFE_UPDATE, /* store `record` with the stored body, perhaps under another generation */
	LIFE_DELETE,
	LIFE_BURY /* the timer becomes a dead letter */
};

/* What becomes of the stored text of dw_set_why(). */
enum life_why {
	LIFE_WHY_STAYS,
	LIFE_WHY_REPLACED, /* the operation's body, which may be empty, replaces the text */
	LIFE_WHY_GONE
};

struct life_step {
	int status;
	enum life_effect effect;
	struct life_record record; /* the timer after the step; if it is deleted: before */
	/* For LIFE_UPDATE, and for the dead letter of LIFE_BURY and LIFE_RENEW. */
	enum life_why why;
	bool show; /* the answer contains the timer as it is after the step */
	bool news; /* the inbox gets an entry with the caller's generation */
	/* The inbox entry is a deletion, and an earlier claim of the id may still start. Until the
	 * owner has acknowledged the entry, a put of this id is open, too. Otherwise DW_OK to a
	 * cancel of this put would promise too much: that nothing starts. */
	bool open_news;
};

/* life_next returns the generation after last, at wall time now. */
uint64_t life_next(uint64_t last, dw_usec now);

/* life_permits returns whether the role may do the operation. It returns DW_OK, DW_EROLE if only an
 * owner may, or DW_EINVAL if there is no such operation. */
int life_permits(const dw_op *, dw_role);

/* life_take returns the step for PUT, CLAIM, SETTLE, RETRY, BURY, NEXT, CANCEL, MOVE or GET. stored
 * is NULL if the id has no timer. */
struct life_step life_take(const dw_op *, const struct life_record *stored,
			   const struct life_caller *);

/* life_end returns how the step has ended the stored timer, which may be NULL. It returns
 * DW_END_UNKNOWN if the timer has not ended, or if its end is not kept. */
dw_end life_end(const dw_op *, const struct life_record *stored, const struct life_step *);

/* life_requeue returns the step for REQUEUE. dead is NULL if there is no such dead letter. taken is
 * true if the id has a timer. LIFE_STORE stores the dead letter's body as the timer, and drops the
 * dead letter. */
struct life_step life_requeue(const dw_op *, const struct life_record *dead, bool taken,
			      const struct life_caller *);

/* life_forgets returns true if the oldest of count dead letters, which died at `at`, must be
 * dropped now. */
bool life_forgets(uint64_t count, dw_usec at, dw_usec now);

/* life_renews returns true if the step uses the caller's generation. */
bool life_renews(const struct life_step *, const struct life_caller *);

#endif
