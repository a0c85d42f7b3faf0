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
 *	fallback.c   the class: which operation goes where, and when Redis counts as away
 *	open.c       opening
 *
 * Everything happens inside the engine's turns, in one thread. */
#ifndef DW_STORE_FALLBACK_CORE_H
#define DW_STORE_FALLBACK_CORE_H

#include "store/fallback/journal.h"
#include "store/fallback/merge.h"

#define ROW_BYTES 128u                           /* of a row in the file, about, beside its body */
#define JOURNAL_BYTES_MAX (256u * 1024u * 1024u) /* of rows; then new timers are refused */

struct told {
	struct told *next;
	dw_store_event event;
};

struct replay {
	bool is_reading;  /* a page of the file */
	size_t under_way; /* rows of the page that are not gone yet */
	size_t idle; /* how many of them are claims that have not started, and wait for an answer */
	bool has_void;     /* a claim was not there any more: the inbox says what became of it */
	bool rereads;      /* what the inbox said of ids that have rows was left out */
	dw_usec at;        /* steady: not before */
	uint64_t count;    /* rows since the outage began */
	bool awaits_owner; /* the handle asks for the ownership first */
};

struct fallback {
	dw_store store; /* first: the public view */
	dw_store_env env;
	struct alloc alloc;
	dw_store *front; /* Redis */
	struct journal journal;
	dw_journal_state state; /* READY, TAKES, REPLAYS */
	dw_usec now;            /* steady, of the turn or call */
	bool is_told;           /* the outage is */
	bool stopped;
	int failed;               /* the journal's last answer, DW_OK: it is well */
	struct op_queue answers;  /* to the engine */
	struct op_queue to_front; /* gathers one batch */
	struct op_queue held;     /* until Redis has all rows */
	struct op_queue ready;    /* held no more: they find their way again */
	struct replay replay;
	struct told *told_first, *told_last;
	dw_usec note_at; /* steady: look again whether the origin has changed */
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
void tell_rows_left(const struct fallback *); /* a line of the log */

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

/* fallback.c */
extern const dw_store_class fallback_class;

/* fallback_come_back is called when Redis is there again, and rows may be left. */
void fallback_come_back(struct fallback *);

#endif
