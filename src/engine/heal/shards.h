/* The shards of the store: which are ours, and which the server refuses. A fault in one shard stays
 * in it.
 *
 * A term of a shard is the time between two changes of its owner. An operation of an earlier term
 * may be answered in this one. Such an answer says what was done, but not what is stored now,
 * because another owner may have worked in between. So the caller gets the answer, but the answer
 * changes no timer. Terms of all shards are numbered in one row, so an operation carries one
 * number, whichever shards it is about. */
#ifndef DW_ENGINE_SHARDS_H
#define DW_ENGINE_SHARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/store.h"
#include "engine/timers.h"
#include "port/op.h"

struct engine;

/* How far a shard is that a peer is about to give to another one (giving.h). */
enum shard_giving {
	GIVING_NOT,
	GIVING_DRAINS, /* nothing of it is claimed or started */
	GIVING_WAITS,  /* calls of its ids wait, too */
	GIVING_ASKED   /* the store is asked to give it; they wait for its answer */
};

struct engine_shard {
	bool owned;
	enum shard_giving giving;
	dw_usec give_until; /* steady; while it waits: when it goes on if it was not given */
	/* Its timers in memory: those that are claimed or held and have not started, deliveries
	 * that have started and are not settled, and those with an operation under way. timers.c
	 * changes these numbers. */
	uint32_t unstarted, running, busy;
	bool refused;       /* the store refuses what is asked of it */
	bool drops;         /* it was lost, and memory may still have timers of it */
	bool gained;        /* it is owned again as soon as these are dropped */
	unsigned term;      /* the number of its present term */
	dw_usec refused_at; /* since when it is refused */
	char *why;          /* why it is refused; NULL: it is not, or there was no memory */
	/* Due timers that may not start now, in the order in which they came out of their
	 * schedules. timers.c changes it. */
	struct timer_list suspended;
};

struct shards {
	struct engine_shard all[DW_SHARDS_MAX];
	unsigned count;     /* how many shards the store has */
	unsigned owned;     /* how many of them are ours */
	unsigned refused;   /* how many are refused */
	unsigned refusals;  /* how often one was refused, or was refused no longer */
	unsigned terms;     /* the number of the last term that has begun */
	unsigned drops;     /* how many were lost, and are not dropped from memory yet */
	uint32_t bucket;    /* the next bucket of the index to look through for these */
	uint64_t dropped;   /* timers that were dropped so far */
	uint64_t suspended; /* timers in all lists; timers.c changes it */
	bool more;          /* a shard may start its timers again, and some are still in its list */
	bool lost_last;     /* the last shard that was ours is lost; never of a peer */
	/* How many a peer has gained and lost since it has told it last, and the steady time at
	 * which it tells these; 0: none. */
	unsigned gains, losses;
	dw_usec tell_at;
};

/* shards_is_current returns true if the shard is ours, and the operation was sent in its present
 * term. */
static inline bool shards_is_current(const struct shards *shards, unsigned number, const dw_op *op)
{
	const struct engine_shard *shard = &shards->all[number];

	return shard->owned && ticket_of_const(op)->term >= shard->term;
}

/* shards_row_is_current is the same for a row of an answer about many shards. */
bool shards_row_is_current(const struct engine *, const dw_op *, const dw_row *);

/* shards_forget frees what is kept of refused shards. */
void shards_forget(struct engine *);

/* shards_own makes each shard ours whose lease is ours. Its term begins with the operation OWN.
 * shards_lose_all gives up all of them. shards_lose gives up one; the turn drops its timers. */
void shards_own(struct engine *, unsigned term);
void shards_lose_all(struct shards *);
void shards_lose(struct engine *, unsigned number);

/* shards_lose_fenced is called when the answer to an operation of the present term is that we are
 * not the owner. It gives up the shard of the id, and all others whose lease is not ours any
 * more. */
void shards_lose_fenced(struct engine *, const char *id);

/* shards_gain begins the new term of a shard that is ours again. */
void shards_gain(struct engine *, unsigned number);

/* shards_read_again asks for a scan of a shard, if it is ours. shards_read_all_again does so for
 * each shard. */
void shards_read_again(struct engine *, unsigned number);
void shards_read_all_again(struct engine *);

/* shards_suspend looks at a timer that is about to be claimed. If its shard is refused, or about to
 * be given away, it suspends the timer and returns true. shards_suspend_call does so for a timer
 * whose next call must wait. */
bool shards_suspend(struct engine *, struct timer *);
bool shards_suspend_call(struct engine *, struct timer *);

/* shards_refuse returns true if operations on the id fail because its shard is refused. */
bool shards_refuse(const struct engine *, const char *id);

/* shards_watch takes the store's news of its shards, and tells them to the program. shards_tell
 * tells it of a peer how many are its own. shards_wake returns when it does so. */
void shards_watch(struct engine *);
void shards_tell(struct engine *);
dw_usec shards_wake(const struct engine *, dw_usec now);

/* shards_begin_term begins a term, and returns its number. */
static inline unsigned shards_begin_term(struct shards *shards)
{
	return ++shards->terms;
}

#endif
