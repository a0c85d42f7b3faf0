/* The store that consists of Redis and a journal. A part calls only parts above it in this list:
 *
 *	row.c, rows.c	the rows of the journal
 *	origin.c	the server to which the rows belong
 *	merge.c		combines an operation with the row of its id
 *	journal.c	the file
 *	tell.c		events for the program
 *	server.c	writes into the file what is known of the server
 *	away.c		takes operations into the journal while Redis is away
 *	replay.c	sends the rows to Redis when Redis is back
 *	front.c		functions of the class that only call the store of Redis
 *	fallback.c	the class: decides where an operation goes, and when Redis counts as away
 *	open.c		opens the store
 *
 * Everything happens inside the engine's turns, in one thread. */
#ifndef DW_STORE_FALLBACK_CORE_H
#define DW_STORE_FALLBACK_CORE_H

#include "store/fallback/journal.h"
#include "store/fallback/merge.h"

#define ROW_BYTES 128u /* about how many bytes a row needs in the file, beside its body */
/* The limit for the bytes of all rows. Above this limit new timers are refused. */
#define JOURNAL_BYTES_MAX (256u * 1024u * 1024u)

struct told {
	struct told *next;
	dw_store_event event;
};

struct replay {
	bool is_reading;  /* a page of the file is being read */
	size_t under_way; /* how many rows of the page are not finished yet */
	/* How many of these rows are valid claims of timers that have not started. Until Redis has
	 * answered them, no timer starts. */
	size_t idle;
	/* Redis refused such a claim: the inbox must be read to learn what became of the timer. */
	bool has_void;
	/* The inbox must be read again: answers for ids that have rows were left out. */
	bool rereads;
	dw_usec at;        /* when the next page may be read (steady clock) */
	uint64_t count;    /* how many rows Redis has answered since the outage began */
	bool awaits_owner; /* the handle must ask for the ownership before the replay */
};

struct fallback {
	dw_store store; /* the engine's view of the store; must be the first field */
	dw_store_env env;
	struct alloc alloc;
	dw_store *front; /* the store of Redis */
	struct journal journal;
	dw_journal_state state; /* one of READY, TAKES and REPLAYS */
	dw_usec now;            /* the time of the turn or call (steady clock) */
	bool is_told;           /* the program got the event of the outage */
	bool stopped;
	int failed;               /* the last status of the journal; DW_OK if it works */
	struct op_queue answers;  /* answers for the engine */
	struct op_queue to_front; /* one batch of operations for the front */
	struct op_queue held;     /* operations that are kept back until Redis has all rows */
	struct op_queue ready;    /* operations that were kept back, and must be sorted again */
	struct replay replay;
	struct told *told_first, *told_last;
	dw_usec note_at; /* when to look again whether the origin has changed (steady clock) */
};

/* fallback_answer hands an answered operation over to the engine. */
static inline void fallback_answer(struct fallback *fallback, dw_op *op, int status)
{
	op->status = status;
	op->next = NULL;
	op_queue_push(&fallback->answers, op);
}

/* tell.c
 * tell_timer makes an event about one timer, and tell_all an event about all timers. */
void tell_timer(struct fallback *, dw_event_kind, int status, const char *id, const char *words);
void tell_all(struct fallback *, dw_event_kind, int status, uint64_t count, const char *words);
bool tell_take(struct fallback *, dw_store_event *ret_event);
void tell_free(struct fallback *);
void tell_rows_left(const struct fallback *); /* writes a line of the log */

/* server.c
 * server_stamp does the same as stamp() of the store of Redis. If the floor is a guess, this
 * function raises it above every earlier guess, and to at least what the file knows of the
 * server. */
void server_stamp(struct fallback *, const char *id, dw_replay *ret_stamp);

/* server_note writes into the file what has changed of the server and its clock. If at_once is
 * true, it also writes without a change and without a pause, because the server may be away for
 * long. */
void server_note(struct fallback *, bool at_once);

/* away.c
 * away_take puts an operation for which merge_takes() returns true into the journal, or answers the
 * operation at once. */
void away_take(struct fallback *, dw_op *);

/* away_written is called with the file's answer to a write that away_take() began. */
void away_written(struct fallback *, dw_op *write);

/* replay.c
 * replay_work reads the next page of rows if no row is under way. It returns false if no row is
 * left. */
bool replay_work(struct fallback *);

/* replay_leave_out takes rows out of an answered INBOX. As long as an id has a row that is not
 * replayed, the row is the truth and not the inbox. The inbox is read again at the end of the
 * replay. */
void replay_leave_out(struct fallback *, dw_op *inbox);

/* These functions take the answers of the file (replay_read, replay_deleted) and of Redis. */
void replay_read(struct fallback *, dw_op *page);
void replay_deleted(struct fallback *, dw_op *deletion);
void replay_answered(struct fallback *, dw_op *);

/* front.c: functions of fallback_class that only call the store of Redis. */
int front_descriptor(const dw_store *);
int front_is_lost(const dw_store *, const char *id);
int front_is_whole(dw_store *);
unsigned front_shards(const dw_store *);
unsigned front_shard_of(const dw_store *, const char *id);
int front_take_shard(dw_store *, dw_shard_news *ret_news);
int front_take_call(dw_store *, dw_take_call *ret_call);
void front_replicas(const dw_store *, dw_replica_stats *ret_stats);
int front_node(const dw_store *, size_t number, dw_node *ret_node);

/* fallback.c */
extern const dw_store_class fallback_class;

/* fallback_come_back is called when Redis is there again. It starts the replay; there may be
 * rows. */
void fallback_come_back(struct fallback *);

#endif
