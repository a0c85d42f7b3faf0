/* The store that is Redis and a journal. Its parts, each of which calls only those above it:
 *
 *	row.c, rows.c  the rows
 *	origin.c     for which server they are
 *	merge.c      what an operation makes of its id's row
 *	journal.c    the file
 *	tell.c       events
 *	server.c     what the file knows of the server
 *	away.c       operations while Redis is away: into the journal
 *	replay.c     Redis is back: its rows
 *	front.c      what the engine asks, and only Redis knows
 *	fallback.c   the class: which operation goes where, and when Redis counts as away
 *	open.c       opening
 *
 * Everything happens inside the engine's turns, in one thread. */
#ifndef DW_STORE_FALLBACK_CORE_H
#define DW_STORE_FALLBACK_CORE_H

#include "store/fallback/journal.h"
#include "store/fallback/merge.h"

#define ROW_BYTES 128u /* about how many bytes a row needs in the file, beside its body */
/* Bytes of all rows; above this new timers are refused. */
#define JOURNAL_BYTES_MAX (256u * 1024u * 1024u)

struct told {
	struct told *next;
	dw_store_event event;
};

struct replay {
	bool is_reading;  /* a page of the file is being read */
	size_t under_way; /* how many rows of the page are still there */
	/* How many of these rows are claims of timers that have not started, and wait for an
	 * answer. */
	size_t idle;
	bool has_void;  /* a claimed timer was gone: the inbox says what became of it */
	bool rereads;   /* answers of the inbox for ids with rows were left out, so read it again */
	dw_usec at;     /* when the next page may be read (steady clock) */
	uint64_t count; /* how many rows were made since the outage began */
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
	bool is_told;           /* the program was told of the outage */
	bool stopped;
	int failed;               /* the last status of the journal; DW_OK if it works */
	struct op_queue answers;  /* answers for the engine */
	struct op_queue to_front; /* one batch of operations for the front */
	struct op_queue held;     /* operations that wait until Redis has all rows */
	struct op_queue ready;    /* operations that were held, and are sorted again */
	struct replay replay;
	struct told *told_first, *told_last;
	dw_usec note_at; /* when to look again whether the origin has changed (steady clock) */
};

/* fallback_answer hands an operation over to the engine. */
static inline void fallback_answer(struct fallback *fallback, dw_op *op, int status)
{
	op->status = status;
	op->next = NULL;
	op_queue_push(&fallback->answers, op);
}

/* tell.c: of one timer, or of all. */
void tell_timer(struct fallback *, dw_event_kind, int status, const char *id, const char *words);
void tell_all(struct fallback *, dw_event_kind, int status, uint64_t count, const char *words);
bool tell_take(struct fallback *, dw_store_event *ret_event);
void tell_free(struct fallback *);
void tell_rows_left(const struct fallback *); /* writes a line of the log */

/* server.c
 * server_stamp: as the front's stamp(). A floor that is a guess is not earlier than the last one,
 * nor than what the file knows of the server. */
void server_stamp(struct fallback *, const char *id, dw_replay *ret_stamp);

/* server_note writes into the file what has changed of the server and its clock. at_once: the
 * server may not answer for long. */
void server_note(struct fallback *, bool at_once);

/* away.c
 * away_take: an operation that merge_takes() goes into the journal, or is answered. */
void away_take(struct fallback *, dw_op *);

/* away_written is called when the file has answered what away_take() has begun. */
void away_written(struct fallback *, dw_op *write);

/* replay.c
 * replay_work reads the next page when there is nothing under way. False: no row is left. */
bool replay_work(struct fallback *);

/* replay_leave_out takes rows out of an answered INBOX: until an id's row is replayed, the row is
 * the truth, and not what the inbox says. They are read again at the end. */
void replay_leave_out(struct fallback *, dw_op *inbox);

/* The answers of the file, and of Redis. */
void replay_read(struct fallback *, dw_op *page);
void replay_deleted(struct fallback *, dw_op *deletion);
void replay_answered(struct fallback *, dw_op *);

/* front.c: members of the class. */
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

/* fallback_come_back is called when Redis is there again, and rows may be left. */
void fallback_come_back(struct fallback *);

#endif
