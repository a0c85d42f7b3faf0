/* The shards of the store: which are ours, and which the server refuses. A fault in one shard does
 * not stop the others.
 *
 * A term of a shard is the time between two changes of its owner. The answer to an operation of an
 * earlier term may come in a later term. Such an answer says what was done, but not what is stored
 * now, because another owner may have worked in between. So the caller gets the answer, but the
 * answer changes no timer. Terms of all shards are numbered in one row, so an operation carries one
 * number, whichever shards it is about. */
#ifndef DW_ENGINE_SHARDS_H
#define DW_ENGINE_SHARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "durawheel/store.h"
#include "engine/timers.h"
#include "port/op.h"

struct engine;

/* The steps by which a peer gives a shard to another peer (giving.h). */
enum shard_giving {
	GIVING_NOT,
	GIVING_DRAINS, /* its timers are not claimed or started */
	GIVING_WAITS,  /* calls about its ids wait, too */
	GIVING_ASKED   /* a GIVE is under way; calls wait for its answer */
};

struct engine_shard {
	bool owned;
	enum shard_giving giving;
	/* Steady; in GIVING_WAITS: when the shard stays with this peer, if it was not given
	 * before. */
	dw_usec give_until;
	/* Its timers in memory: those that are claimed or held and have not started, deliveries
	 * that have started and are not settled, and those with an operation under way. timers.c
	 * changes these numbers. */
	uint32_t unstarted, running, busy;
	bool refused;       /* the store refuses operations on the shard */
	bool drops;         /* the shard was lost, and memory may still have timers of it */
	bool gained;        /* the shard is owned again as soon as its old timers are dropped */
	unsigned term;      /* the number of the shard's present term */
	dw_usec refused_at; /* wall clock; since when the shard is refused */
	char *why;          /* why the shard is refused; NULL: it is not, or there was no memory */
	/* Due timers that may not start now, in the order in which they came out of their
	 * schedules. timers.c changes the list. */
	struct timer_list suspended;
};

struct shards {
	struct engine_shard all[DW_SHARDS_MAX];
	unsigned count;    /* how many shards the store has */
	unsigned owned;    /* how many shards are ours */
	unsigned refused;  /* how many shards are refused */
	unsigned refusals; /* how often a shard was refused, or was refused no longer */
	unsigned terms;    /* the number of the last term that has begun */
	unsigned drops;    /* how many shards were lost, and still have timers in memory */
	uint32_t bucket;   /* the next bucket of the index in which these timers are looked for */
	/* Timers of lost shards that were dropped since the last line in the log. */
	uint64_t dropped;
	uint64_t suspended; /* timers in the `suspended` lists of all shards; timers.c changes it */
	bool more;          /* a shard may start its timers again, and some are still in its list */
	bool lost_last;     /* the last shard that was ours is lost; never true in a peer */
	/* How many shards a peer has gained and lost since the last DW_EVENT_SHARDS, and the steady
	 * time of the next event; 0: none is due. */
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

/* shards_row_is_current does the same for a row of an answer about many shards. */
bool shards_row_is_current(const struct engine *, const dw_op *, const dw_row *);

/* shards_forget frees the texts that say why shards are refused. */
void shards_forget(struct engine *);

/* shards_own is called after an OWN. It makes each shard ours if the store says that its lease is
 * ours. The new term of these shards is the term of the OWN. shards_lose_all gives up all shards.
 * shards_lose gives up one shard; the turn drops its timers. */
void shards_own(struct engine *, unsigned term);
void shards_lose_all(struct shards *);
void shards_lose(struct engine *, unsigned number);

/* shards_lose_fenced is called when the answer to an operation of the present term is that we are
 * not the owner. It gives up the shard of the id, and all others whose lease is not ours any
 * more. */
void shards_lose_fenced(struct engine *, const char *id);

/* shards_gain begins the new term of a shard that is ours again. */
void shards_gain(struct engine *, unsigned number);

/* shards_read_again asks for a scan of a shard, if it is ours. shards_read_all_again does the same
 * for all shards. */
void shards_read_again(struct engine *, unsigned number);
void shards_read_all_again(struct engine *);

/* shards_suspend looks at a timer that is about to be claimed. If its shard is refused, or about to
 * be given away, it suspends the timer and returns true. shards_suspend_call does the same for a
 * timer whose next call must wait. */
bool shards_suspend(struct engine *, struct timer *);
bool shards_suspend_call(struct engine *, struct timer *);

/* shards_refuse returns true if operations on the id fail because its shard is refused. */
bool shards_refuse(const struct engine *, const char *id);

/* shards_watch takes the store's news about its shards, and reports them to the program.
 * shards_tell reports how many shards a peer has gained and lost. shards_wake returns when
 * shards_tell reports next. */
void shards_watch(struct engine *);
void shards_tell(struct engine *);
dw_usec shards_wake(const struct engine *, dw_usec now);

/* shards_begin_term begins a term, and returns its number. */
static inline unsigned shards_begin_term(struct shards *shards)
{
	return ++shards->terms;
}

#endif
