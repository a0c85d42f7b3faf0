/* What a store of durawheel must offer. This header is for authors of stores. It promises less than
 * the other headers: it may change with a minor version.
 *
 * A store keeps timers by id. It is asynchronous: the engine submits a batch of operations, which
 * the store takes over, carries out in the order of submission and answers, each exactly once. It
 * never calls back from inside a call: it queues its answers, calls env->wake (from any thread) and
 * hands the answers over when the engine collects them.
 *
 * A timer's life in a store is: pending -> claimed -> settled (deleted), back to pending by a
 * retry, or into the dead letters by a bury. A timer with a rule is not settled but renewed (NEXT):
 * it becomes the next generation, pending at its next occurrence. Every put gives the id its next
 * generation; an operation on a delivery that names another generation than the stored one changes
 * nothing. A move makes the next generation, too: topic, data and attempt stay, the retries and
 * crashes are counted afresh, and the duty to fire the earlier generation ends. A claim belongs to
 * the token of one opening of the store, so an owner can tell the claims of an owner that died from
 * its own claims.
 *
 * Dead letters are named by id and generation, since an id that is used again may die again. The
 * store drops the oldest ones over 100,000 or 30 days, a few with each BURY and REPORT.
 *
 * The store keeps the last end of an id (durawheel/ended.h), if the stored timer's own keep_us or
 * its topic's says so, and decides that by itself: a cancel does not know the topic. It is written
 * in the step of the SETTLE, BURY, NEXT or CANCEL, which does not fail because of it. An end that
 * has expired counts as gone; a few go with each end that is written, and with REPORT. */
#ifndef DURAWHEEL_STORE_H
#define DURAWHEEL_STORE_H

#include "durawheel/ended.h"
#include "durawheel/members.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What changes in a stored timer. */
typedef struct dw_head {
	uint64_t generation; /* unique and growing in the store, across ids and restarts */
	dw_usec due;
	uint32_t attempt; /* claims so far */
	uint32_t retries; /* claims that ended by a DW_RETRY */
	uint32_t crashes; /* claims that ended by the death of their owner */
	uint8_t state;    /* a dw_state */
	uint8_t open;     /* 1: an earlier claim of this id may still start */
} dw_head;

/* A stored timer as an answer. One block; freed with dw_store_env.resize. */
typedef struct dw_row {
	struct dw_row *next;
	dw_head head;
	int gone; /* inbox only: the timer was deleted; body is empty */
	/* DW_OK. DW_ECORRUPT: do not trust head and body. DW_ENEWER: a newer durawheel wrote it. */
	int status;
	const char *id;
	const void *body; /* never changes; the store knows only its checksum */
	size_t body_size;

	/* The next three fields are of a dead letter. */
	uint64_t number; /* grows in the order in which letters were made */
	dw_reason reason;
	dw_usec at;

	int deleted;       /* with DW_ECORRUPT: another program deleted it, and left its id */
	const char *token; /* of a message: names this delivery, without the topic; or NULL */
	const char *why;   /* why its handler failed, UTF-8; or NULL */
} dw_row;

/* DW_OP_*            needs                          answers (op->status)
 * PUT                id, topic, head (due;          DW_OK (head: the stored one), DW_EEXIST
 *                    generation: the one known, 0:
 *                    none), body; NEW, ONCE,
 *                    CLAIMED
 * CLAIM              id, generation, attempt        DW_OK (head: attempt + 1, crashes), DW_ENOENT,
 *                    (the one before the claim)     DW_ESTALE (rows: the stored one)
 * SETTLE             id, generation, attempt,       DW_OK, DW_ENOENT, DW_ESTALE (rows)
 *                    started; body: its result;
 *                    KNOWN: topic
 * RETRY              the same, due; VERDICT, and    DW_OK (pending), DW_ENOENT, DW_ESTALE (rows)
 *                    body: the text of dw_set_why()
 * BURY               SETTLE's, reason; of RETRIES   DW_OK (count: old dead letters dropped),
 *                    and GAVE_UP also body: the     DW_ENOENT, DW_ESTALE (rows)
 *                    text of dw_set_why()
 * NEXT               as a PUT, and generation and   DW_OK (head: the next generation), DW_ENOENT,
 *                    attempt, started; reason: the  DW_ESTALE (rows)
 *                    stored one also becomes a dead
 *                    letter, as by BURY; limit:
 *                    bytes of the text of dw_set_why(),
 *                    or without a reason of the
 *                    result, which stand behind
 *                    body. Without reason and
 *                    started nothing ends
 * CANCEL             id; WITHDRAWN; with EXACT only DW_OK, DW_ENOENT, DW_ELATE
 *                    this generation
 * MOVE               id, due, generation (the one   DW_OK (head: the next generation; rows: the
 *                    known, 0: none); WITHDRAWN     moved one, for an owner that knew another),
 *                                                   DW_ENOENT, DW_ELATE
 * GET                id                             DW_OK (rows: one), DW_ENOENT
 * ENDED              id                             DW_OK (rows: one; body: see timer/ended.h),
 *                                                   DW_ENOENT
 * SCAN               after, limit, topic or NULL;   DW_OK (rows in order of (due, generation);
 *                    body: what the ids begin with; after: where the next page begins, and how
 *                    head.due: only what is due     many timers it has looked at in all; less than
 *                    before, 0: all; head.state: a  limit: it was the last one, or PART: it has
 *                    bit for each state, 0: any;    looked at DW_SCAN_LOOKS timers)
 *                    RECURRING; BY_GENERATION
 *                    (without these); SHARDS
 * DUE                body: times in growing order,  DW_OK (rows: one; body: for each time but the
 *                    as int64_t                     last a uint64_t, how many timers are due from
 *                                                   it to the next one; after.due: counted up to
 *                                                   this time). Claimed timers may be left out
 * INBOX              limit                          DW_OK (rows), once a client has written
 * ACK                id, generation                 DW_OK
 * DEAD_SCAN          after (generation: number),    DW_OK (rows in order of number; after: as
 *                    limit, topic or NULL; or id:   SCAN; of an id: one row), DW_ENOENT (the id
 *                    only its last letter           has none)
 * REQUEUE            id, due, generation (0: the    DW_OK (head; rows: the timer, for an owner),
 *                    last one)                      DW_EEXIST, DW_ELIMIT, DW_ENOENT
 * DROP               id (NULL: all), generation     DW_OK (count), DW_ENOENT
 *                    (0: each)
 * OWN                -                              DW_OK (an owner from now on), DW_EOWNED,
 *                                                   DW_ENEWER
 * GIVE               limit: the number of a shard   DW_OK (not ours from now on; take_shard() does
 *                    of ours; only of a peer        not report it), DW_EBUSY (a command is not
 *                                                   answered yet: the shard stays ours)
 * MEMBERS            -                              DW_OK (rows: one a peer; id: who it is, body: a
 *                                                   dw_member_row)
 * FACTS              -                              DW_OK (rows: what each server says of itself;
 *                                                   id: a name, body: the value and its NUL,
 *                                                   token: the server); of a store with tells_facts
 * DISOWN             id, body: a timer that a       DW_OK (a client from now on; OWN answers
 *                    newer durawheel has written    DW_ENEWER while such a timer is stored)
 * PURGE              -                              DW_OK (count: all deleted)
 * CHECK              -                              DW_OK (store_status: counts; count: flaws;
 *                                                   rows: DW_FLAWS_MAX of them, body: words)
 * STATUS             -                              DW_OK (store_status)
 * LOSS               -                              DW_OK, once the store has lost what it had
 *                                                   confirmed (dw_store_class.is_lost); the next
 *                                                   LOSS says that all of it was pushed again
 * REPUSH             id, head, body: as known       DW_OK (head), DW_ESTALE (rows: a later one),
 *                                                   DW_ENOENT (a client has deleted it since)
 * AUDIT              due, limit; SHARDS             DW_OK (rows in no order, of what was due
 *                                                   before; count: 1, call again soon for the
 *                                                   rest); only of a store with is_lost
 * REPORT             body: the owner's counters     DW_OK (count: as BURY)
 * TOPIC_SET          topic, body: settings as text  DW_OK, DW_ELIMIT (too many topics)
 * TOPIC_DROP         topic                          DW_OK, DW_ENOENT, DW_EBUSY (its queue has
 *                                                   messages)
 * TOPIC_LIST         topic, or NULL: all; CHANGES   DW_OK (rows: id: a topic, body: settings and
 *                                                   numbers as text; while there is an owner also
 *                                                   rows with status DW_ENOENT: one of the empty
 *                                                   id, and each line of TOPIC_COUNT: a topic,
 *                                                   perhaps without settings; body: its numbers)
 * TOPIC_COUNT        body: lines of topic, a tab,   DW_OK; TOPIC_LIST shows the last ones
 *                    and the owner's numbers
 * PUSH               topic, body: messages (see     DW_OK (count: dropped), DW_ENOENT (the topic
 *                    topic/message.h)               is no queue), DW_ELIMIT (full), DW_EPAUSED (the
 *                                                   intake is paused; not of timers' messages),
 *                                                   DW_EBUSY (too large for the server now, until
 *                                                   head.due; only of a timer's message)
 * TAKE               topic, limit; LOOK;            DW_OK (rows: messages, with tokens; without
 *                    head.generation: its number,   any, head.due: when one comes back), DW_ENOENT,
 *                    if it waits, or 0              DW_ELIMIT (the server sends no message; count:
 *                                                   how many were set aside, to come back later)
 * AWAIT              body: what topics begin with,  DW_OK: take_call() reports their messages
 *                    each with its NUL;
 *                    head.generation: as of TAKE
 * ANSWER             topic, body: tokens, each with DW_OK (rows: tokens that are not done; number:
 *                    its NUL; limit: how many;      which; DW_ELIMIT: the message, whose retries
 *                    verdict; head.due (RETRY; 0:   are used up, or without a body: the server does
 *                    as the topic says, and         not send it; DW_ESTALE; or why it was not read)
 *                    head.generation is random)
 * LETTER             id, topic, head, body, reason; DW_OK (it is a dead letter, now or before)
 *                    limit: bytes of a text of
 *                    dw_set_why() behind body
 * REPLAY             id, replay, head (generation:  DW_OK (done, now or before), DW_EEXIST (a
 *                    0: not known; attempt, due);   later put has replaced the timer), DW_ENOENT,
 *                    body of a PUT; WITHDRAWN,      DW_ELATE (another owner has claimed it)
 *                    VERDICT
 * and any of them    DW_ESTORE, DW_EFULL (no space), DW_EGONE (the store is not where it was): not
 *                    done; DW_EUNKNOWN: done or not; DW_ECORRUPT: the stored timer does not match
 *                    its checksum (a PUT replaces it and a CANCEL removes it all the same);
 *                    DW_ENEWER: the stored timer is a newer durawheel's: not done, and nothing
 *                    but that version changes it (a CLAIM, SETTLE, RETRY or BURY of it answers
 *                    DW_ESTALE with the row). Of PURGE, and DROP of all: what is of a newer
 *                    durawheel is kept, the rest may be gone;
 *                    DW_ECLOSED: never begun; DW_ENOMEM; DW_EFENCED: not done, and the caller is
 *                    not the owner any more, until an OWN is answered DW_OK
 * A PUT of a timer with a rule over one with the same rule, id, topic, data and late_after changes
 * nothing: DW_OK with DW_OP_DONE and the stored timer in rows. A client's CANCEL of a claimed timer
 * with a rule deletes it and answers DW_ELATE.
 * The engine owns the settings of a topic: a store keeps their text, and reads in it what a queue
 * and a pause of the intake need. When settings change, the INBOX answers with a row of the empty
 * id, which an ACK of this id takes away. A PUT into a topic whose intake is paused answers
 * DW_EPAUSED, also from an owner.
 *
 * A text of dw_set_why() is part of the stored timer, and rows show it. RETRY with VERDICT, and
 * BURY with RETRIES or GAVE_UP, replace it, also by none. Other retries and burials leave it. PUT,
 * MOVE and REQUEUE take it away. REPUSH may.
 *
 * A message is hidden after a TAKE for as long as its topic says. Verdicts of an ANSWER: DW_DONE
 * deletes it; DW_RETRY brings it back at head.due; DW_HOLD hides it anew; DW_DEAD only returns it,
 * as if its retries were used up, for a LETTER and then an ANSWER with DW_DONE.
 * CLAIM, SETTLE, RETRY, BURY and ACK may be repeated blindly under one token: the second one
 * answers like the first one or DW_ENOENT, and changes nothing. A CLAIM that names the present
 * attempt of a claim of its own token is one more claim, without a crash: so an owner takes up its
 * own PUT with CLAIMED whose answer was lost. */
typedef enum dw_op_kind {
	DW_OP_PUT = 1,
	DW_OP_CLAIM,
	DW_OP_SETTLE,
	DW_OP_RETRY,
	DW_OP_BURY,
	DW_OP_CANCEL,
	DW_OP_MOVE,
	DW_OP_GET,
	DW_OP_SCAN,
	DW_OP_INBOX,
	DW_OP_ACK,
	DW_OP_DEAD_SCAN,
	DW_OP_REQUEUE,
	DW_OP_DROP,
	DW_OP_OWN,
	DW_OP_PURGE,
	DW_OP_CHECK,
	DW_OP_STATUS,
	DW_OP_REPORT,
	DW_OP_LOSS,
	DW_OP_REPUSH,
	DW_OP_AUDIT,
	DW_OP_DISOWN,
	DW_OP_REPLAY,
	DW_OP_TOPIC_SET,
	DW_OP_TOPIC_DROP,
	DW_OP_TOPIC_LIST,
	DW_OP_TOPIC_COUNT,
	DW_OP_PUSH,
	DW_OP_TAKE,
	DW_OP_ANSWER,
	DW_OP_LETTER,
	DW_OP_NEXT,
	DW_OP_ENDED,
	DW_OP_AWAIT,
	DW_OP_GIVE,
	DW_OP_MEMBERS,
	DW_OP_FACTS,
	DW_OP_DUE,
	DW_OP_REDELETE, /* these two are internal to a store */
	DW_OP_MEND
} dw_op_kind;

#define DW_OP_NEW 1u       /* PUT: only if the id is absent */
#define DW_OP_CLAIMED 2u   /* PUT: stored as claimed by this token at once, attempt 1 */
#define DW_OP_WITHDRAWN 4u /* PUT, CANCEL, MOVE: the owner took its claim back unstarted */
#define DW_OP_VERDICT 8u   /* RETRY: a handler's verdict (counts), not a claim given back */
/* PUT: sent before, and its outcome is unknown. In the answer of an INBOX: see reread(). */
#define DW_OP_AGAIN 16u
/* In the answer of a PUT. With DW_OK: it was done before, or has changed nothing. rows has the
 * timer of that id as it is stored now, or nothing; head has no meaning. With DW_EUNKNOWN: it must
 * not be done again; a PUT with this flag only looks whether it was done. */
#define DW_OP_DONE 32u
/* CLAIM: head and body are exactly what is stored, unless a client has written the timer since. A
 * store that knows which timers clients wrote may then write the claimed timer without reading it.
 * SETTLE: it may delete the timer in the same way, if it keeps no end of it; topic is what is
 * stored. NEXT: it may write the next occurrence in the same way; topic, too. */
#define DW_OP_KNOWN 64u
/* SCAN without a topic: the rows in the order of their generations. A store with
 * loads_by_generation reads all of its timers fastest in this order. */
#define DW_OP_BY_GENERATION 128u
/* In any answer to an owner: the store was damaged, and earlier reads may have missed timers. It is
 * repaired now. What could not be read is a damaged timer now. */
#define DW_OP_MENDED 256u
/* PUT: it may use the space that is kept back for a full disk. */
#define DW_OP_VITAL 512u
/* CLAIM: a journal has made the generation, and the store may have another one. */
#define DW_OP_PROVISIONAL 2048u
/* TOPIC_SET: the other settings of the topic stay. Answer of a TOPIC_LIST: see CHANGES. Answer of a
 * SCAN or DEAD_SCAN: more may be behind it. */
#define DW_OP_PART 4096u
/* TAKE: takes nothing. In the answer count 1: there may be a message. */
#define DW_OP_LOOK 8192u
/* PUT: the owner has loaded all timers, and none of them has this id. */
#define DW_OP_ABSENT 1024u
/* CANCEL: answers DW_ENOENT if the stored timer has another generation than head. PUT: answers
 * DW_ESTALE (rows: the stored one) if the stored timer has another generation; DW_ENOENT if there
 * is none. Generation 0 in head: is done only if the id has no timer; otherwise DW_ESTALE. */
#define DW_OP_EXACT 16384u
/* PUT, with NEW: is done only if also no end of the id is remembered. */
#define DW_OP_ONCE 32768u
/* TOPIC_LIST, of an owner: only what has changed since the last answer to such a TOPIC_LIST is
 * needed, and no numbers. A store may answer only that, with PART; rows that are gone: the topic
 * was dropped. The first answer after OWN has all settings. */
#define DW_OP_CHANGES 65536u
/* SCAN: only timers with a rule. */
#define DW_OP_RECURRING 131072u
/* SCAN without a topic, AUDIT, of an owner of some shards: body is a set of shards, and only timers
 * in these are meant. The bit 1 << n % 8 of byte n / 8 stands for shard n. */
#define DW_OP_SHARDS 262144u

/* SCAN, DEAD_SCAN: shards that cannot be read now are left out. */
#define DW_OP_PARTIAL 524288u
#define DW_OP_LACKS 1048576u /* in the answer: some shards were left out */

/* A store that leaves out timers answers a SCAN when it has looked at about this many, so that no
 * step takes long. It looks at more if it cannot name the place, as amid equal deadlines. */
#define DW_SCAN_LOOKS 1000u

/* In dw_replay.flags. */
#define DW_REPLAY_LOCAL 1u     /* the timer has started by a claim that the store does not know */
#define DW_REPLAY_HOLDS 2u     /* CLAIM, claimed PUT: the claim still holds */
#define DW_REPLAY_WITHDRAWN 4u /* DW_OP_WITHDRAWN */
#define DW_REPLAY_CLAIMED 8u   /* PUT: the journal has claimed the timer */
/* No reply had told the time: floor is a guess. A CANCEL also deletes a later generation. */
#define DW_REPLAY_UNSURE 16u

/* What a journal promised about one timer while the store was away. A PUT is done unless the store
 * has a generation of the id that is later than floor. The other kinds end or change only what is
 * not claimed by a later owner. A store does each row once: it remembers the last number of each
 * journal.
 *
 * head has what the row knows: the generation in the store, the attempt, and the retries that the
 * store has not counted. A claim that holds is the owner's afterwards; a PUT with such a claim gets
 * the generation in head. A claim that does not hold has no verdict, and counts as a crash. If a
 * client has changed a timer with DW_REPLAY_LOCAL, and waits for the owner, it gets DW_ELATE. */
typedef struct dw_replay {
	dw_op_kind what; /* PUT, CLAIM, SETTLE, RETRY, CANCEL or MOVE */
	unsigned flags;
	uint64_t journal; /* the id of the journal; random */
	uint64_t number;  /* the number of the row; it grows in the journal */
	uint64_t floor;   /* no generation was later when the row was written */
	uint64_t fence;   /* the fence of the owner that wrote the row; 0: a client wrote it */
	/* From stamp() only: a claim of a generation up to jump raises the attempt by step. */
	uint64_t jump;
	uint32_t step;
} dw_replay;

/* A store's server. */
typedef struct dw_origin {
	char address[160]; /* without secrets */
	char era[40]; /* names its copy of the namespace; it changes when that was emptied; or "" */
	dw_usec clock;  /* the server's time now; 0: not known */
	uint64_t floor; /* no generation that the server has reported is later */
} dw_origin;

typedef struct dw_op {
	struct dw_op *next; /* the engine's until submit(), the store's until collect() */
	dw_op_kind kind;
	unsigned flags;
	const char *id;
	const char *topic;
	dw_reason reason;
	dw_verdict verdict; /* only in an ANSWER */
	dw_head head;
	const void *body;
	size_t body_size;
	dw_cursor after;
	size_t limit;
	dw_usec started; /* SETTLE, BURY, NEXT: when the handler started, wall; 0: it did not */
	/* Since when a caller waits for the answer (steady clock); the store's patience counts from
	 * then. 0: no caller waits, and the patience counts from submit(). */
	dw_usec asked;
	const dw_replay *replay; /* only in a REPLAY */
	/* SETTLE, NEXT, of a store with settles_messages: a PUSH that is done in the same step. If
	 * it is refused (its status), nothing is done: DW_EBUSY. Freed with the operation. */
	struct dw_op *message;

	int status;
	dw_level level; /* what a DW_OK of this answer means */
	dw_row *rows;
	size_t row_count;
	uint64_t count;                /* how much was deleted or found */
	dw_store_status *store_status; /* one block with its strings */

	uint64_t room[7]; /* memory for the store, from submit() to collect() */
} dw_op;

/* What a store gets when it is opened. It is valid until free() begins. A thread that outlives
 * free() may only call resize. */
typedef struct dw_store_env {
	size_t size;
	/* DW_OWNER, DW_CLIENT or DW_PEER. A standby opens as a client, and submits OWN. A peer does
	 * so, too, and OWN then begins to share the shards with the other peers. */
	dw_role role;
	uint64_t token; /* names this opening; random, never 0 */
	dw_usec patience;
	dw_usec (*now)(void *user); /* wall clock; any thread */
	void *now_user;
	void *(*resize)(void *user, void *block, size_t size); /* any thread */
	void *resize_user;
	void (*log)(dw_log_level, const char *line, void *user); /* any thread; may be NULL */
	void *log_user;
	void (*wake)(void *user); /* answers are waiting; any thread */
	void *wake_user;
	const char *name; /* options.name, to be copied; NULL: none */
	unsigned shards;  /* options.shards, 0: as it is, or the default */
	dw_usec lease;
	dw_usec (*steady)(void *user); /* steady clock; any thread */
	void *steady_user;
	dw_usec reply_patience; /* a server that owes an answer for this long is lost; 0: 1 s */
	int existing;           /* options.flags has DW_EXISTING: the store makes nothing */
	int may_be_away; /* 1: open a store that cannot be reached all the same, as a client */
	int fires;       /* the owner starts timers while it is cut off: options.outage */
	int is_journal;  /* the file is a journal, not a store of timers */
} dw_store_env;

/* A peer, in the body of a row of MEMBERS. */
typedef struct dw_member_row {
	dw_usec since;      /* when it joined (the server's clock) */
	dw_usec until;      /* when it counts as gone unless it reports again */
	uint64_t shards[4]; /* a bit for each shard that it has: 1 << n % 64 of word n / 64 */
	unsigned room;      /* how many shards it can have */
	dw_usec clock;      /* its wall clock minus the server's, in its last report */
	char version[16];   /* the version of its durawheel */
	char zones[16];     /* the version of its time zone data, or "" */
	int is_self;        /* this handle */
	int is_dead;        /* it has ended, or its time in the list is over */
	int is_leaving;     /* it gives all its shards away, and takes none */
	unsigned share;     /* how many shards it should have, in its last report */
	unsigned busy;  /* in how many of its shards deliveries run, if it has too many shards */
	char runs[160]; /* topics of these deliveries, in words; or "" */
	uint64_t unhandled; /* due timers of its shards that wait for a handler */
	char lacks[160];    /* the topics of these timers, in words; or "" */
} dw_member_row;

/* What a peer knows of all peers. A field is 0 if nothing is known at present. */
typedef struct dw_sharing {
	unsigned members; /* how many there are, this one included */
	unsigned share;   /* how many shards this peer should have */
	unsigned unowned; /* shards that have had no owner for too long */
	unsigned first_unowned;
	dw_usec clock; /* how far the wall clock is ahead of the server's, at least; < 0: behind */
	int has_newer_zones; /* 1: another peer has newer time zone data */
} dw_sharing;

typedef struct dw_store dw_store;

/* A store has at most this many shards. */
#define DW_SHARDS_MAX 256

/* What a shard is to this opening of the store. */
typedef enum dw_shard_state {
	DW_SHARD_OWNED = 1, /* we have its lease, and must read its timers again */
	/* The server refuses operations on it, or a key of it has a wrong type. Operations on it
	 * fail at once with DW_ESTORE, and none of its timers may start. What memory knows of its
	 * timers stays. */
	DW_SHARD_REFUSED,
	DW_SHARD_FOREIGN /* we are its client, and must forget its timers */
} dw_shard_state;

/* A shard whose state has changed. */
typedef struct dw_shard_news {
	unsigned number;
	dw_shard_state state;
	int status;                  /* DW_SHARD_REFUSED: a failure; else DW_OK */
	char words[DW_MESSAGE_SIZE]; /* DW_SHARD_REFUSED: why, perhaps in the server's words */
	unsigned refused;            /* how many shards are refused now */
} dw_shard_news;

/* An event for the program that has the store open. */
typedef struct dw_store_event {
	dw_event_kind kind;
	int status;
	uint64_t count;
	char id[DW_ID_MAX + 1]; /* the timer's id, or "" */
	char words[DW_MESSAGE_SIZE];
} dw_store_event;

/* Names the take that should ask for a message that has come. */
typedef struct dw_take_call {
	uint64_t number; /* the number of a TAKE or AWAIT; 0: all that wait are meant */
	char topic[DW_TOPIC_MAX + 1];
} dw_take_call;

/* Counts of answers that have waited for replicas. */
typedef struct dw_replica_stats {
	uint64_t waited; /* how many answers have waited */
	uint64_t late;   /* how many of them were given before the replicas had the change */
	dw_usec waited_us;
	unsigned replicas; /* how many replicas must have a change; 0: none */
	int is_late;       /* 1: the replicas are late now, so answers do not wait */
} dw_replica_stats;

typedef struct dw_store_class {
	size_t size;
	const char *name;

	/* Required. Takes over a list of operations, linked by next, as one batch. Never blocks. */
	void (*submit)(dw_store *, dw_op *batch);
	/* Required. Returns operations in the order of answers, or NULL. The caller owns them. */
	dw_op *(*collect)(dw_store *);
	/* Required. Begins no further operation: those not begun are answered DW_ECLOSED. It waits
	 * at most patience for the others. DW_OK, or DW_ETIMEOUT: operations not collected
	 * afterwards stay with the store for ever. */
	int (*stop)(dw_store *, dw_usec patience);
	/* Required, after stop. Frees the store. If its thread is still at work, that thread frees
	 * it later. */
	void (*free)(dw_store *);

	/* The rest may be NULL, or beyond size: a store with its own thread needs none of it. The
	 * descriptor is readable when turn() has something to do. It never changes; -1: none. */
	int (*descriptor)(const dw_store *);
	/* Does what is possible now, without blocking. The engine calls it in its thread, at the
	 * beginning of each turn, before collect(). */
	void (*turn)(dw_store *, dw_usec steady);
	/* Returns the steady time at which turn() is needed even if the descriptor is not readable;
	 * or DW_NEVER. */
	dw_usec (*due)(const dw_store *);
	/* Returns the steady time until which the owner may start timers of this shard; INT64_MIN:
	 * the shard is not ours now. Absent: DW_NEVER. */
	dw_usec (*lease)(const dw_store *, unsigned shard);
	/* Returns 1 if the store has lost the part that has the id, because it was emptied or set
	 * back. It waits until the owner has written that part again. Absent: not lost. */
	int (*is_lost)(const dw_store *, const char *id);
	/* How many operations may be under way that firing does not wait for, because a claim waits
	 * behind them. 0 or absent: 2048. */
	size_t window;
	/* Returns the status of a failure because of which nothing can be done now, and writes why,
	 * without secrets. The store knows this by itself, even if nothing was asked. DW_OK: it can
	 * work; then the words say why it has just refused something, or nothing. DW_EUNKNOWN: the
	 * failure may be over at once, like a lost connection, and is not reported yet; due() says
	 * when it is. */
	int (*trouble)(const dw_store *, char *ret_words, size_t size);
	/* How long a caller waits at most for an operation, from dw_op.asked on. Then the answer is
	 * DW_ESTORE or DW_EUNKNOWN. No call waits longer than this behind another one of its id. 0
	 * or absent: no limit. */
	dw_usec patience;
	/* 1: the store knows DW_OP_BY_GENERATION. An owner then loads timers that are due soon by
	 * their deadlines, and all others by their generations. */
	int loads_by_generation;
	/* shards: how many shards the store has, from 1 to DW_SHARDS_MAX. The number stays while a
	 * shard is owned. shard_of: the shard of an id, from 0. Absent: the store has one shard.
	 *
	 * After an OWN is answered with DW_OK, the engine owns each shard whose lease is not
	 * INT64_MIN. take_shard reports all other changes of shards, before or after that, each
	 * once and in their order; 0: there is none. A client hears only of shards that are
	 * refused, and (DW_SHARD_FOREIGN) of shards that are refused no longer.
	 *
	 * Operations on one id are answered in the order of submission, and a read after the
	 * changes that it has seen. An OWN is answered after the changes that were submitted before
	 * it. There is no other order: no shard waits for another shard. */
	unsigned (*shards)(const dw_store *);
	unsigned (*shard_of)(const dw_store *, const char *id);
	int (*take_shard)(dw_store *, dw_shard_news *ret_news);
	/* surplus: how many of its shards a peer should give to others now. The engine does so with
	 * GIVE when they are quiet. After OWN a peer has any number of shards; take_shard says
	 * which it gains, and which it loses otherwise. sharing: what a peer knows of all peers.
	 * leave: a peer ends soon: it should have no shard, and takes none. Absent: no peers. */
	unsigned (*surplus)(const dw_store *);
	void (*sharing)(const dw_store *, dw_sharing *ret_sharing);
	void (*leave)(dw_store *);
	/* A store that knows REPLAY may be away while a journal takes operations instead.
	 *
	 * recall: the store answers DW_ESTORE to all operations that it has not begun, or that may
	 * be repeated. It answers DW_EUNKNOWN to others whose callers have waited for
	 * doubt_patience.
	 * stamp: sets floor and fence of a row about id that is written now, and DW_REPLAY_UNSURE.
	 * origin: returns the server that it is connected with, or was last.
	 * reread: the next INBOX is answered with all that is there now, even if nothing is new.
	 * Its answer has DW_OP_AGAIN. */
	void (*recall)(dw_store *, dw_usec doubt_patience);
	void (*stamp)(dw_store *, const char *id, dw_replay *);
	void (*origin)(const dw_store *, dw_origin *ret_origin);
	void (*reread)(dw_store *);
	/* began: the owner starts the timer that it has claimed; inside its turn. */
	void (*began)(dw_store *, const char *id);
	/* take_event: returns the next event, or 0. journal: returns the state of the journal. */
	int (*take_event)(dw_store *, dw_store_event *ret_event);
	void (*journal)(const dw_store *, dw_journal_stats *ret_stats);
	/* 1: the store keeps topics and their queues. */
	int keeps_topics;
	/* 1: the store knows dw_op.message. */
	int settles_messages;
	/* After this time a TAKE that waits looks again, whatever it has heard. It looks first with
	 * LOOK. 0 or absent: 1 s, and without LOOK. */
	dw_usec look_every;
	/* Returns 1 if a message has come for the TAKE or AWAIT that *ret_call names. Each message
	 * is reported to one of all that wait, in all processes. A store without this does not know
	 * AWAIT. */
	int (*take_call)(dw_store *, dw_take_call *ret_call);
	/* Writes why answers take long now; "": not known. Called when they do. */
	void (*delay)(const dw_store *, char *ret_words, size_t size);
	/* An owner asks this before a DISOWN or its end, in each turn until it is 1. The first call
	 * makes the store ask whether its shards are as this owner left them. 1: all of them are,
	 * or have been written again. The next call then asks anew. Absent: it loses nothing. */
	int (*is_whole)(dw_store *);
	/* Returns how many answers have waited for replicas. Absent: none does. */
	void (*replicas)(const dw_store *, dw_replica_stats *ret_stats);
	/* Returns 1 and a server of the store in *ret_node, whose fields are 0 before; 0 or absent:
	 * there are no more. Numbers begin at 0. */
	int (*node)(const dw_store *, size_t number, dw_node *ret_node);
	int tells_facts; /* 1: the store knows FACTS */
} dw_store_class;

struct dw_store {
	const dw_store_class *type;
};

#ifdef __cplusplus
}
#endif

#endif
