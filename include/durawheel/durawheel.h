/* durawheel: durable timers for C programs.
 *
 *	static dw_verdict cancel_order(dw *d, const dw_firing *firing, void *user)
 *	{
 *		... cancel the order firing->id unless it is paid ...
 *		return DW_DONE;
 *	}
 *
 *	dw_options options = {.size = sizeof options, .store = "sqlite:orders.db"};
 *	dw *d;
 *	if (dw_open(&d, &options, NULL) != DW_OK) ...
 *	dw_on(d, "order.timeout", cancel_order, NULL);
 *	dw_after(d, "order.timeout", "order:42", DW_MINUTES(30), NULL, 0);
 *	dw_run(d);
 *
 * A timer has an id, a topic, a deadline and some bytes of data. A store keeps it: a SQLite file,
 * Redis, or memory. So it fires even if the process was killed in the meantime: in this process,
 * microseconds after its deadline, never before it. Linux only.
 *
 * OTHER HEADERS. error.h, rule.h and time.h come with this one. What some programs need stands in
 *	select.h   many timers at once: list, count and cancel those of a selection
 *	topic.h    settings of topics, and queues: push, take, ack
 *	ended.h    what became of a timer
 *	why.h      what a timer waits for, and what to do about it
 *	members.h  several processes that share one store
 *	metrics.h  numbers for a monitoring system, and whether a handle is well
 *	facts.h    what the servers of a store say of themselves
 *	journal.h  tools for the file of options.journal
 *	testing.h  a clock that a test moves
 *	wheel.h    the timing wheel alone, without a store
 *	store.h    a store of your own
 *	durawheel.hpp  all of it for C++
 *
 * TIME is dw_usec (durawheel/time.h): microseconds since the Unix epoch (UTC), or a duration in
 * microseconds. Arithmetic saturates: now + INT64_MAX is "never", not a moment in the past.
 *
 * DELIVERY is at least once. As long as nothing fails, a timer's handler starts exactly once. If
 * the process crashes after the handler's effect and before its verdict is confirmed, the timer is
 * delivered again, with a higher attempt. From outside, that crash looks like one before the
 * effect. So make handlers idempotent; firing->id and firing->attempt help.
 *
 * OWNERSHIP. What you pass in (ids, topics, data, options) is copied before the call returns.
 * Pointers that a callback gets are valid until it returns. On failure, outputs are untouched.
 *
 * ERRORS are negative (durawheel/error.h). dw_last_error() gives the last one of a handle in words.
 * DW_OK from a call means that the call was accepted. Its callback (a dw_done_fn) says later
 * whether it was done: exactly once, and never from inside the call. If a call without a callback
 * fails, options.on_event and the next dw_sync() say so.
 *
 * THREADS. A handle belongs to the thread that opened it. That thread turns its loop, and all
 * callbacks run there, except the handlers of dw_on_worker().
 *  - Any thread may call dw_put, dw_after, dw_after_id, dw_at, dw_cancel, dw_move, dw_settle and
 *    dw_post. The call is checked, copied, and done in the next turn; the calls of one thread keep
 *    their order.
 *  - On another thread a call returns only errors of its arguments, and DW_ELIMIT. DW_ELIMIT:
 *    unanswered calls have more than options.posted_max_bytes; wait for an answer. Errors that the
 *    handle's own thread would get as a return value (DW_ESTALE from dw_settle) go to the callback.
 *  - dw_stop may be called from any thread and from a signal handler. Calls that say "Any thread"
 *    may be made from any thread, but not from a signal handler. All others return DW_ETHREAD.
 *  - A process may have several handles, also of one store, each on its own thread. A store has
 *    one owner, so the others are clients or standbys, or in Redis all are peers.
 *  - dw_last_error() works only on the handle's thread; elsewhere, reasons go to options.on_log.
 *  - When dw_close() returns, no other thread may be inside a call or begin one: stop or join your
 *    threads first. Calls made while it runs are safe; they are answered, or refused with
 *    DW_ECLOSED. Handlers of dw_on_worker() may call until they return.
 *
 * EXCEPTIONS of C++ may leave a callback on the handle's thread: a handler, an answer, on_event, a
 * function of dw_post(). The exception leaves the call that turned, for example dw_run(). The
 * handle turns and closes as before, and no callback is repeated. A handler that threw counts as
 * DW_RETRY. If an exception leaves dw_close(), the handle is not freed: call dw_close() again.
 *  - An exception that leaves a handler of dw_on_worker() ends the program (std::terminate).
 *  - None may leave on_log, on_firing_done, clock or resize, and none may pass through libev
 *    (options.ev_loop).
 *  - longjmp() must not leave any callback.
 *
 * FORK. In a forked child every call returns DW_EFORK, and no timer fires. The child may only
 * dw_close() its copy of the handle, which touches neither the store nor the parent. It may call
 * exec() or _exit() without that: all descriptors close at exec().
 *
 * SIGNALS. durawheel sets no signal handler and causes no SIGPIPE. Its threads block all signals,
 * so yours come to your threads.
 *
 * END. Leave the loop (dw_stop), settle your holds, call dw_sync(), then dw_close(). What is still
 * held is given back and delivered again by the next owner; so is a delivery whose verdict was not
 * stored in the patience of dw_close().
 */
#ifndef DURAWHEEL_H
#define DURAWHEEL_H

#include <stddef.h>
#include <stdint.h>

#include "durawheel/error.h"
#include "durawheel/rule.h"
#include "durawheel/time.h"

#define DW_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Limits ------------------------------------------------------------------------------ */

#define DW_ID_MAX 255               /* bytes of UTF-8 without control characters, at least 1 */
#define DW_ID_SIZE (DW_ID_MAX + 1)  /* bytes of a buffer for an id and its NUL */
#define DW_WHY_MAX 255              /* bytes of a text of dw_set_why() */
#define DW_TOPIC_MAX 63             /* bytes of UTF-8 without control characters, at least 1 */
#define DW_DATA_DEFAULT (64 * 1024) /* bytes of data, unless options.data_max_bytes says more */
#define DW_DATA_MAX (1024 * 1024)   /* the largest options.data_max_bytes */
#define DW_HOLDS_MAX 1024           /* firings in DW_HOLD at one time */
#define DW_RETRIES_MAX 16           /* retries; the next DW_RETRY makes a dead letter */
#define DW_CRASHES_MAX 64           /* claims without a verdict that make a timer a dead letter */
#define DW_SPIN_MAX 1000            /* the largest options.spin_us */
#define DW_BATCH_MAX 1000           /* timers in one call of a dw_batch_fn */
#define DW_LIST_MAX 1000            /* timers on one page of dw_list() or dw_dead_list() */
#define DW_DEAD_MAX 100000          /* dead letters that are kept; the oldest are dropped */
#define DW_DEAD_DAYS 30             /* how many days a dead letter is kept */
#define DW_UNANSWERED_MAX (64 * 1024 * 1024) /* bytes of unanswered calls; more: DW_ELIMIT */

/* ---- A handle ---------------------------------------------------------------------------- */

typedef struct dw dw;
struct ev_loop; /* libev's */

typedef enum dw_role {
	DW_OWNER = 0,   /* starts the timers; a second owner of a store is refused: DW_EOWNED */
	DW_CLIENT = 1,  /* adds, cancels, lists; never fires */
	DW_STANDBY = 2, /* a client until the owner is gone, then the owner */
	/* Shares the shards of the store with the other peers, and is a client in their shards.
	 * Only in Redis. */
	DW_PEER = 3
} dw_role;

/* What happened outside any call. */
typedef enum dw_event_kind {
	DW_EVENT_RECOVERED = 1,  /* every stored timer is loaded; count = how many */
	DW_EVENT_NO_HANDLER = 2, /* the topic of a due timer has no handler: it is kept */
	/* A timer became a dead letter. status: DW_ELIMIT (too many retries or crashes), DW_ELATE
	 * (too late) or DW_ECORRUPT (damaged). */
	DW_EVENT_DEAD = 3,
	DW_EVENT_CLOCK_STEPPED = 4, /* the wall clock was set */
	DW_EVENT_STORE_SLOW = 5,    /* no answer for 50 ms, to puts 500 ms. At most every 10 s */
	/* The store fails or cannot be reached: status and message say why. Once in each outage. */
	DW_EVENT_STORE_FAILED = 6,
	DW_EVENT_STORE_BACK = 7, /* it answers again; if only some calls failed: none for 1 s */
	DW_EVENT_FAILED = 8,     /* an operation without a callback failed: id, status */
	/* A stored timer is damaged, or is stored under another timer's id. It does not fire.
	 * Without an id: an index of the file was damaged and is rebuilt, or a part of the store
	 * cannot be read. */
	DW_EVENT_CORRUPT = 9,
	DW_EVENT_HOLD_EXPIRED = 10, /* a DW_HOLD was not settled in time: it is delivered again */
	/* options.timers_max, DW_HOLDS_MAX or a limit of Redis is exceeded (DW_ELIMIT). */
	DW_EVENT_LIMIT = 11,
	DW_EVENT_DEAD_FORGOTTEN = 12, /* old dead letters were dropped; count = how many */
	DW_EVENT_OWNER = 13,          /* this handle owns the store now, and loads its timers */
	DW_EVENT_OWNER_LOST = 14,     /* no longer the owner; count = timers dropped from memory */
	/* The lease of a shard is over; count = its due timers, which wait for the renewal. */
	DW_EVENT_LEASE = 15,
	/* The store lost data: it was emptied, or restored from an old copy. count = timers that
	 * this owner has written again. */
	DW_EVENT_LOSS = 16,
	/* The store has timers of a newer durawheel, so this handle cannot own it. Once. */
	DW_EVENT_NEWER = 17,
	/* In both, count is the shard's number. FAILED: the shard cannot be used, its timers wait,
	 * and message says why. BACK: it can be used again. Owners and clients get each once. */
	DW_EVENT_SHARD_FAILED = 18,
	DW_EVENT_SHARD_BACK = 19,
	/* Redis is away, and the journal takes the calls. message says why. Once in each outage. */
	DW_EVENT_OUTAGE = 20,
	/* Redis is back. Without an id: Redis has every row of the journal; count = how many rows.
	 * With an id: Redis had something else under this id, and status says what. */
	DW_EVENT_REPLAYED = 21,
	DW_EVENT_QUEUE_FULL = 22, /* a queue is full, so due timers wait. Once a minute */
	/* A handler on a worker runs for longer than the topic's limit_us. */
	DW_EVENT_SLOW_HANDLER = 23,
	/* Occurrences of a recurring timer were missed and left out; count, at most 10,000. */
	DW_EVENT_MISSED = 24,
	/* The zone of recurring timers is not known here: they wait, and are tried again each hour.
	 * Once a zone and hour; count = timers that were loaded or due, id = one of them. */
	DW_EVENT_ZONE = 25,
	/* A peer has gained or lost shards; count = how many it has now. At most once a second.
	 * With status DW_ELIMIT: the namespace has fewer than four shards for each peer. */
	DW_EVENT_SHARDS = 26,
	/* A peer's clock is more than 100 ms from that of the Redis server; count = how many ms.
	 * Reported once, until the clock is right again. */
	DW_EVENT_CLOCK_APART = 27,
	/* With replicas=N in the URL; count = N. LATE: fewer than N replicas had a change within
	 * 1 s, or answered in the 3 s after the handle was opened; message says why. Until BACK,
	 * calls are answered at once, with DW_STORED. Once in each outage. */
	DW_EVENT_REPLICAS_LATE = 28,
	DW_EVENT_REPLICAS_BACK = 29
} dw_event_kind;

/* dw_event_name returns the name of a kind: "RECOVERED" and so on; "UNKNOWN" for a kind of a newer
 * durawheel. Any thread. */
DW_API const char *dw_event_name(dw_event_kind);

typedef struct dw_event {
	size_t size;
	dw_event_kind kind;
	int status;          /* an enum dw_error, or DW_OK */
	const char *id;      /* the timer's id, or NULL */
	const char *topic;   /* the timer's topic, or NULL */
	const char *message; /* one line for people, never NULL */
	uint64_t count;
	const char *why; /* DW_EVENT_DEAD: the text of dw_set_why(), or NULL */
} dw_event;

typedef enum dw_log_level { DW_LOG_ERROR = 0, DW_LOG_WARN = 1, DW_LOG_INFO = 2 } dw_log_level;

/* Which timers an owner with a journal starts while Redis is away. */
typedef enum dw_outage {
	DW_OUTAGE_HOLD = 0, /* only those that it has claimed in Redis, while its lease lasts */
	DW_OUTAGE_FIRE = 1  /* all that come due while its lease lasts */
} dw_outage;

struct dw_firing_done;

/* dw_options: zero means default. Set size to sizeof(dw_options) before anything else. Strings and
 * hooks are copied. A hook, and what its user pointer points to, must live until dw_close()
 * returns. dw_close() waits for hooks on other threads, whatever its patience, and calls none
 * later. After a dw_close() that returned DW_ETIMEOUT, resize must live as long as the process. */
typedef struct dw_options {
	size_t size;

	/* Required. "sqlite:FILE", "memory:" (nothing survives), "unix://[user:password@]PATH" or
	 * "redis://[user:password@]host[:port][/db]"; "rediss://" has TLS, on the
	 * same default port 6379, and may end with ?ca=FILE&cert=FILE&key=FILE&sni=NAME: see
	 * durawheel(7), "TLS". "valkey://" is redis://. ?db=N selects a database. Write % @ / ? :
	 * of a password as %XX. "redis+sentinel://[user:password@]host,host,host/master[/db]"
	 * follows the server that a majority of the Sentinels names, and
	 * "redis+cluster://host,host" is a cluster: see durawheel(7). */
	const char *store;
	dw_role role;

	/* New timers are refused above this number; 0: 2^28. Stored timers are loaded even so. */
	size_t timers_max;
	size_t data_max_bytes;    /* the most data of a timer; 0: DW_DATA_DEFAULT */
	dw_usec open_patience_us; /* how long dw_open waits for the store; 0: 5 s */
	dw_usec hold_us;          /* how long a DW_HOLD lasts; 0: 30 s */

	/* Hooks. Each runs on the handle's thread, unless it says otherwise. on_event may make the
	 * same calls as a handler; the other hooks may call nothing of this handle. */
	void (*on_event)(dw *, const dw_event *, void *user);
	void *on_event_user;
	void (*on_log)(dw_log_level, const char *line, void *user); /* any thread; NULL: silent */
	void *on_log_user;
	/* Replaces CLOCK_REALTIME. Any thread. The handle sees a jump of this clock in its next
	 * turn, which an owner makes within 10 s. */
	dw_usec (*clock)(void *user);
	void *clock_user;
	/* Replaces malloc, realloc and free (size 0 frees), aligned as malloc. Any thread. */
	void *(*resize)(void *user, void *block, size_t size);
	void *resize_user;
	/* The libev loop that drives the handle: of this thread, and of the libev that durawheel is
	 * linked with, on any backend; see "Driving". NULL: dw_run() or dw_fd(). */
	struct ev_loop *ev_loop;
	/* How long before a deadline dw_run() wakes up, to watch the clock instead of sleeping. The
	 * handler then starts a few microseconds late instead of 30 to 60, and a core is busy
	 * meanwhile. 50 is good; at most DW_SPIN_MAX; 0: never. Not with ev_loop. */
	dw_usec spin_us;
	/* How many bytes the unanswered calls of other threads may hold: their data, and about 600
	 * bytes a call. 0: 16 MiB. */
	size_t posted_max_bytes;
	/* Threads for the handlers of dw_on_worker(); 0: none; at most 256. A client has none. */
	unsigned workers;
	/* Redis only, and needed there: the namespace, 1 to 63 characters of A-Z a-z 0-9 . _ -. Two
	 * services with two names share a server, and nothing else. */
	const char *name;
	/* Redis only: the number of shards of a new namespace, 1 to 256. 0: 16 for a new one, and
	 * the number that it has for an old one. */
	unsigned shards;
	/* Redis only: how long an owner may be silent before another process may take the store,
	 * 1 s to 24 h. 0: 5 s, or 60 s with DW_OUTAGE_FIRE. */
	dw_usec lease_us;
	unsigned flags; /* DW_EXISTING; DW_TEST_CLOCK of durawheel/testing.h */
	/* Redis only: the path of a file that takes the calls of this process while Redis is away;
	 * see "When Redis is away". data_max_bytes is then at most 1 MiB - 1 KiB. NULL: no file. */
	const char *journal;
	dw_outage outage; /* only for an owner or a standby with a journal */
	/* Called each time that a handler has ended, before its verdict is stored: for logs,
	 * metrics and traces. No exception may leave this hook. */
	void (*on_firing_done)(dw *, const struct dw_firing_done *, void *user);
	void *on_firing_done_user;
} dw_options;

/* dw_open creates no file: DW_ENOENT if the file is missing or empty. A namespace may be empty. */
#define DW_EXISTING 1u

/* dw_open opens the store. An owner starts to load its timers: overdue timers fire first, in the
 * order of their deadlines, once their topics have handlers and the loop turns. A standby opens
 * whether or not the store has an owner. It asks for the ownership at once and then every second.
 * An owner that died on this machine loses it at once; on another machine, when its lease ends. Two
 * processes never own a store. Until its DW_EVENT_OWNER a standby is a client that may register
 * handlers. An owner that was silent until another process took the store is a standby from
 * DW_EVENT_OWNER_LOST on; its earlier verdicts change nothing (dw_settle: DW_ESTALE).
 * On DW_OK *ret_dw is yours until dw_close(). On failure ret_message (DW_MESSAGE_SIZE bytes, or
 * NULL) says what was wrong and what would be right. DW_EINVAL, DW_ENOMEM, DW_ESYS, and:
 *  DW_ENOENT     there is no store (DW_EXISTING)
 *  DW_EOWNED     another process owns the store
 *  DW_ESTORE     it cannot be opened, is damaged, or did not answer within open_patience_us
 *  DW_ENEWER     it has timers of a newer durawheel
 *  DW_EFULL      the disk is full, and the space kept back for that is spent */
DW_API int dw_open(dw **ret_dw, const dw_options *options, char *ret_message);

/* dw_close closes the handle. No further handler starts, and claims are given back. It waits at
 * most patience for the accepted calls, also of other threads. Then unanswered operations are
 * answered DW_ECLOSED (never sent) or DW_EUNKNOWN (sent), and functions of dw_post() run. The
 * handle is freed whatever it returns, unless that is DW_EBUSY; do not use it again. NULL is
 * accepted. An owner without a connection to Redis waits up to 1 s for one, to give the ownership
 * back; otherwise its lease must run out.
 *  DW_EBUSY      called from inside a callback: nothing is done, the handle stays open
 *  DW_ETIMEOUT   the store did not finish in time; pending operations complete later or not at all.
 *                Its thread keeps the file until the disk answers or the process ends. Until then a
 *                dw_open() as owner, here or elsewhere, may return DW_EOWNED or DW_ESTORE: call it
 *                again. If only a handler of dw_on_worker() was still running, DW_ETIMEOUT is
 *                returned too, but the file is already free. */
DW_API int dw_close(dw *, dw_usec patience);

/* dw_last_error returns the last failure of a call on this handle in words, or "". The text is
 * valid until the next call. On another thread, or in a forked child, it only says that it is the
 * wrong place. */
DW_API const char *dw_last_error(const dw *);

/* dw_strerror returns a few words for an enum dw_error. Any thread. */
DW_API const char *dw_strerror(int error);

DW_API const char *dw_version(void);

/* ---- Handlers ---------------------------------------------------------------------------- */

typedef enum dw_verdict {
	DW_DONE = 0,  /* done: the timer is settled, its id is free again */
	DW_RETRY = 1, /* again, as its topic says: in 1 s, doubled each time; or dw_retry_in() */
	DW_HOLD = 2,  /* not known yet: dw_settle() answers within options.hold_us */
	DW_DEAD = 3,  /* give up now: it becomes a dead letter, and no retry is made */
	DW_HOLD_UNSTARTED = 4 /* as DW_HOLD, but the work begins at dw_start() */
} dw_verdict;

/* A token names one delivery: this attempt of this generation of this id. Copy it to settle. */
typedef struct dw_token {
	uint64_t generation;
	uint32_t attempt;
	char id[DW_ID_SIZE];
} dw_token;

/* attempt counts the claims of the timer. It grows strictly: each delivery has its own. In the
 * first delivery it is mostly 1. It is more if a claim ended before the handler started: in
 * dw_close(), in a crash, when the topic's handler was removed, or when the wall clock was set
 * back. So 1 means that no handler of this timer has ever started; more means that one may have. */
typedef struct dw_firing {
	size_t size;
	const char *id;
	const char *topic;
	dw_usec due;      /* the deadline; after a DW_RETRY or an expired hold, the retry's */
	dw_usec now;      /* the wall clock just before the handler, never below due */
	uint32_t attempt; /* from 1 */
	/* No zero byte follows: print it with %.*s. Valid until the handler ends, even with
	 * DW_HOLD. */
	const void *data;
	size_t data_size;
	const dw_token *token;
	/* In a recurring timer: which occurrence this is, without jitter and retries. 0: the timer
	 * fires once. */
	dw_usec occurrence;
	/* How many occurrences before this one were missed, at most 10,000. An occurrence whose
	 * delivery was cut off by a crash counts if it was not repeated. */
	uint32_t missed;
	int last; /* 1: the rule ends with this occurrence */
} dw_firing;

/* What options.on_firing_done gets when a handler has ended: once for each start, and once for each
 * timer of a batch. It is not called for a handler for which dw_close() no longer waits. */
typedef struct dw_firing_done {
	size_t size;
	const char *id;
	const char *topic;
	dw_usec due;
	uint32_t attempt;
	dw_verdict verdict; /* DW_RETRY also after an exception; DW_HOLD: the delivery goes on */
	dw_usec late_us;    /* how late the handler started, not below 0 */
	dw_usec took_us;    /* how long it ran (steady clock); in a batch, the whole call */
} dw_firing_done;

/* dw_verdict_name returns the name of a verdict: "DONE" and so on; "UNKNOWN" for a verdict of a
 * newer durawheel. Any thread. */
DW_API const char *dw_verdict_name(dw_verdict);

/* A handler. It may make any call except dw_close, dw_run, dw_turn and dw_sync (DW_EBUSY). Keep it
 * short: the timers behind it wait. A return value that is no dw_verdict counts as DW_RETRY, and
 * options.on_log is told (DW_LOG_ERROR). */
typedef dw_verdict (*dw_fire_fn)(dw *, const dw_firing *, void *user);

/* dw_on registers the handler of a topic; "*" is for every topic without one of its own; NULL
 * removes it. A due timer whose topic has no handler is kept, is reported once
 * (DW_EVENT_NO_HANDLER), and fires when a handler is registered. DW_EINVAL, DW_ENOMEM, DW_EROLE. */
DW_API int dw_on(dw *, const char *topic, dw_fire_fn, void *user);

/* dw_on_worker registers a handler that is slow or waits. It runs on one of options.workers threads
 * and delays no other timer. While all workers are busy, further firings stay claimed and are
 * handed out in deadline order. Several handlers may run at once, each with its own dw_firing. A
 * handler calls the handle like any other thread (see THREADS); dw_retry_in() works in it. Its
 * verdict counts after all calls that it made. It may run as long as it likes: options.hold_us
 * begins when it returns DW_HOLD. A put of the same id does not wait for it, and the new timer may
 * start while it runs.
 * dw_close() starts no waiting firing, and waits for running handlers, at most for its patience.
 * Then it returns DW_ETIMEOUT: the delivery ends without a verdict, and the next owner repeats it.
 * The handler may go on calling the handle, which answers DW_ECLOSED and is freed when it returns.
 * So user must live until the handler returns, also after another dw_on() of the topic. DW_EINVAL
 * (also if options.workers is 0), DW_ENOMEM, DW_EROLE. */
DW_API int dw_on_worker(dw *, const char *topic, dw_fire_fn, void *user);

/* Due timers of one topic, for one call of a handler. */
typedef struct dw_batch {
	size_t size;
	const char *topic;
	const dw_firing *firings; /* in the order of (deadline, insertion) */
	size_t count; /* elements of firings, verdicts and retry_in: 1 to dw_batch_options.max */
	/* The handler writes the verdict of firings[i] into verdicts[i]. All are DW_DONE before. */
	dw_verdict *verdicts;
	/* The delay of each DW_RETRY, as in dw_retry_in(). All are -1 before: the default delay. */
	dw_usec *retry_in;
} dw_batch;

/* A handler of a batch. It may make the same calls as a dw_fire_fn, except dw_retry_in(). */
typedef void (*dw_batch_fn)(dw *, dw_batch *, void *user);

/* Zero means default. Set size to sizeof(dw_batch_options) before anything else. */
typedef struct dw_batch_options {
	size_t size;
	size_t max; /* timers in a batch, 1 to DW_BATCH_MAX; 0: 128 */
	/* How long after its deadline a timer waits for more, 0 to 10 s. 0: a batch takes what is
	 * due and claimed at that moment. */
	dw_usec wait_us;
	int on_worker; /* 1: the handler runs on a worker, as with dw_on_worker() */
} dw_batch_options;

/* dw_on_batch registers a handler that gets many due timers of a topic in one call. The call comes
 * when options->max timers are due, or options->wait_us after the first deadline; never before the
 * deadline of any of them. options NULL: the defaults. dw_on, dw_on_worker and dw_on_batch replace
 * each other; fn NULL removes the handler.
 *  - Each timer keeps its own id, attempt, token, verdict and delay. DW_HOLD holds one timer, which
 *    dw_settle() answers; DW_HOLDS_MAX counts timers, not batches.
 *  - A timer that waits for its batch has not started. This handle can still cancel, move or
 *    replace it, and then it is not in the batch. It is claimed in the store, so a client's cancel
 *    gets DW_ELATE. late_after_us is checked again when the batch starts.
 *  - A crash in the handler repeats all timers of the batch, each with a higher attempt, and not
 *    always in the same batch. An exception of C++ counts as DW_RETRY for all of them.
 *  - A handler on a worker gets copies of the data of all timers in one block of memory.
 * DW_EINVAL: max, wait_us or the topic is not valid; a batch has one topic, so "*" is refused.
 * DW_ENOMEM, DW_EROLE. */
DW_API int dw_on_batch(dw *, const char *topic, const dw_batch_options *options, dw_batch_fn fn,
		       void *user);

/* dw_retry_in sets the delay of the DW_RETRY that a handler is about to return. Call it inside the
 * handler. DW_EINVAL: the delay is negative, or no handler is running, or it is the handler of a
 * batch, which has dw_batch.retry_in. */
DW_API int dw_retry_in(dw *, dw_usec delay);

/* dw_set_why says why a timer fails. If the verdict is DW_RETRY or DW_DEAD, the text is stored with
 * it, in the same step: dw_info.why, dw_dead.why and DW_EVENT_DEAD show it. Each such verdict
 * replaces the text of the verdict before, even if it has no text itself. The text is deleted when
 * the timer is done, put again, moved or requeued. The last call counts. The text is copied: at
 * most DW_WHY_MAX bytes, cut at a character; control characters become spaces, and what is not
 * UTF-8 becomes '?'. "" takes an earlier call back. While Redis is away, a text is stored only with
 * a verdict that waits for Redis.
 *
 * token NULL: the text is for the timer whose handler calls this, also on a worker. Else it is for
 * a delivery of a batch, or for a held one before its dw_settle(), on any thread.
 * DW_EINVAL: text is NULL; or token is NULL, and no handler runs here, or a batch's handler runs.
 * DW_ESTALE: the delivery is over; another thread's call does not return this. DW_ENOMEM: the text
 * of an earlier call stays. DW_ETHREAD: token is NULL, and this is neither the handle's thread nor
 * a handler. */
DW_API int dw_set_why(dw *, const dw_token *token, const char *text);

/* dw_pause, dw_resume. Use them when your program already holds as many firings (DW_HOLD) as it can
 * process. A paused handle claims and starts nothing, not even the rest of the turn. No hold times
 * out, and no failed operation is repeated. All else goes on: answers, changes of other processes,
 * dw_settle(). Timers that became due meanwhile start after dw_resume(), in order. Both may be
 * called when there is nothing to change. */
DW_API int dw_pause(dw *);
DW_API int dw_resume(dw *);

/* ---- Timers ------------------------------------------------------------------------------ */

/* Where the outcome of a call is kept. */
typedef enum dw_level {
	DW_NOTHING = 0,
	DW_ACCEPTED = 1,  /* in this process's memory */
	DW_JOURNALED = 2, /* in options.journal: survives a kill and a power cut, not a lost disk */
	DW_STORED = 3,    /* in the store: survives a kill and a power cut (Redis: if set so) */
	/* Also in the memory of N replicas (replicas=N in the Redis URL). It survives the loss of
	 * the server if one of these N is promoted, and no other replica, and no older copy. While
	 * replicas are late, DW_OK comes with DW_STORED. */
	DW_REPLICATED = 4
} dw_level;

typedef struct dw_result {
	size_t size;
	int status; /* DW_OK, or why not */
	/* If status is DW_OK: how safe the change is. DW_EUNKNOWN of a cancel or move may have
	 * DW_JOURNALED: see durawheel(7). Otherwise DW_NOTHING. */
	dw_level level;
	const char *id;
	uint64_t generation; /* 0 unless a timer was stored; so it is 0 with DW_JOURNALED */
	/* 1: a client's put or move has changed a timer that its owner had claimed and not yet
	 * started. That delivery may still start, up to a second later. */
	int earlier_may_start;
	unsigned outcome; /* a put with DW_DUE_... or DW_DATA_FIRST: DW_PUT_...; else 0 */
	dw_usec due;      /* a put that is DW_OK: the deadline that is stored now */
} dw_result;
#define DW_PUT_MADE 1u     /* the id had no timer */
#define DW_PUT_REPLACED 2u /* the timer is changed */
#define DW_PUT_KEPT 3u     /* nothing is changed: generation and due stay */

/* Called exactly once for each accepted operation, from a turn (or from dw_close). It may make the
 * same calls as a handler. */
typedef void (*dw_done_fn)(dw *, const dw_result *, void *user);

/* A put replaces the timer of its id. These flags of dw_timer say otherwise. DW_NEW and DW_ONCE
 * (durawheel/ended.h) are used alone; the others keep a part of the stored timer:
 *  DW_DUE_LATEST, due in 10 min: 10 min after the last event (wait_max_us: or after the first)
 *  DW_DUE_EARLIEST, due in 1 min: once a minute, with the last data
 *  DW_DUE_EARLIEST | DW_DATA_FIRST: the same, with the first data
 * Nothing is kept of a timer that recurs or is being delivered: an event that comes while the
 * handler runs makes the next timer. If the id has a timer, such a put needs two round trips. A
 * journal does not take it (DW_ESTORE). DW_EBUSY: others change the id all the time. */
#define DW_NEW 1u          /* refuse with DW_EEXIST if the id has a timer */
#define DW_DUE_EARLIEST 2u /* the earlier one of the stored and the given deadline counts */
#define DW_DUE_LATEST 4u   /* the later one of the two deadlines counts */
#define DW_DATA_FIRST 8u   /* topic, data, late_after_us and keep_us of the stored timer stay */
#define DW_ONCE 16u        /* as DW_NEW, and also refuse while the id's last end is remembered */

typedef struct dw_timer {
	size_t size;
	const char *id; /* NULL: a unique id is made, which dw_after_id() and the answer name */
	const char *topic;
	dw_usec due; /* a moment already past is due at once */
	const void *data;
	size_t data_size;
	/* A timer that is later than this becomes a dead letter; 0: never. A retry is late by its
	 * own deadline; to limit all retries together, keep the first due in data. */
	dw_usec late_after_us;
	unsigned flags; /* DW_NEW, DW_ONCE, DW_DUE_EARLIEST, DW_DUE_LATEST, DW_DATA_FIRST */
	/* A recurring timer: durawheel/rule.h. due is ignored, late_after_us is 0. NULL: once. */
	const dw_rule *rule;
	dw_usec wait_max_us; /* DW_DUE_LATEST: how long after the first put since the last delivery
			      * or cancel the timer may be due; 0: no limit */
	dw_usec keep_us;     /* how long its end is remembered: durawheel/ended.h */
	dw_usec occurrence, rule_end; /* for a recurring timer that goes on: durawheel/rule.h */
	uint32_t missed;
} dw_timer;

/* dw_after, dw_at put a timer for topic, due in delay from now or at due. id may be NULL; data may
 * be NULL if size is 0. An id names one timer: the same id again replaces the earlier one. Of two
 * processes the one that reaches the store later replaces it, unless it says DW_NEW.
 * DW_EINVAL (also for a negative delay, and too much data), DW_ENOMEM, DW_ELIMIT. */
DW_API int dw_after(dw *, const char *topic, const char *id, dw_usec delay, const void *data,
		    size_t size);
DW_API int dw_at(dw *, const char *topic, const char *id, dw_usec due, const void *data,
		 size_t size);

/* dw_now returns the time of options.clock, or of the wall clock; NULL: of the wall clock. Any
 * thread. */
DW_API dw_usec dw_now(const dw *d);

/* dw_after_id does what dw_after() does, with a dw_timer. timer->due is ignored. done may be NULL.
 * ret_id (DW_ID_SIZE bytes, or NULL) gets the id of the timer, also one that is made because
 * timer->id is NULL. It is written before the call returns; on another thread's call the answer may
 * come before that. Errors as dw_after(). */
DW_API int dw_after_id(dw *, const dw_timer *timer, dw_usec delay, char *ret_id, dw_done_fn done,
		       void *user);

/* dw_put puts a timer. done may be NULL. If a request may be answered only when its timer is safe,
 * answer it in done, when the status is DW_OK and the level is at least DW_STORED.
 * A client's put over a timer that the owner has claimed answers DW_OK, and the earlier timer may
 * still start: see dw_result.earlier_may_start.
 * DW_EFULL in the answer: the store has no space. Nothing was stored, and puts are refused until
 * there is space. Stored timers still fire and can be settled and cancelled, unless a Redis server
 * refuses every write (MISCONF, see durawheel(7)). */
DW_API int dw_put(dw *, const dw_timer *, dw_done_fn done, void *user);

/* dw_cancel cancels the timer of an id, also a damaged one. DW_OK in the answer, which done gets:
 * the timer does not start after this. DW_ENOENT: no such timer; it was never put, has ended, or is
 * a dead letter. DW_ELATE: it is already being delivered; if this handle delivers it, a DW_RETRY or
 * DW_DEAD then only ends it. A client also gets DW_ELATE if the owner has claimed the timer, some
 * milliseconds before its deadline. It gets it, too, if the timer was removed, and an earlier claim
 * of the id may still start. */
DW_API int dw_cancel(dw *, const char *id, dw_done_fn done, void *user);

/* dw_put_many, dw_cancel_many do up to DW_BULK_MAX puts or cancels with one callback, each for
 * itself: if one is refused or fails, the others are still done. The callback is called once,
 * from a turn (or from dw_close), when all are answered; results has them in the order of the
 * array, each as dw_put() or dw_cancel() says, also with DW_EINVAL and DW_ELIMIT. results and the
 * ids in it are valid until the callback returns. A timer without an id gets one. timers is an
 * array of one version of dw_timer: all have the same size. The arrays may go when the call
 * returns. Any thread; the copy of another thread's call counts in options.posted_max_bytes until
 * fn is called. DW_EINVAL, DW_ENOMEM, DW_ELIMIT (other threads' calls have all of
 * options.posted_max_bytes): nothing was begun, and fn is not called. */
#define DW_BULK_MAX 10000
typedef void (*dw_bulk_fn)(dw *, const dw_result *results, size_t count, void *user);
DW_API int dw_put_many(dw *, const dw_timer *timers, size_t count, dw_bulk_fn fn, void *user);
DW_API int dw_cancel_many(dw *, const char *const *ids, size_t count, dw_bulk_fn fn, void *user);

/* dw_move gives a timer another deadline; topic, data and late_after_us stay. A deadline in the
 * past is due at once. It makes the next generation of the id. Retries are counted from zero;
 * attempts go on, so a handler never sees one twice.
 * DW_OK in the answer: the timer does not start at its earlier deadline, unless earlier_may_start;
 * generation is the new one. DW_ENOENT: no such timer. DW_ELATE: it is being delivered or, for a
 * client, claimed. It stays as it is, and its verdict counts: DW_DONE ends it, DW_RETRY brings it
 * back. */
DW_API int dw_move(dw *, const char *id, dw_usec due, dw_done_fn done, void *user);

/* dw_settle answers a DW_HOLD with DW_DONE, DW_DEAD or DW_RETRY (retry_in as in dw_retry_in;
 * negative: the default). DW_ESTALE: the delivery is not held any more; nothing was changed.
 * DW_EUNKNOWN: the store is away; this handle stores the verdict when the store is back. DW_ESTORE:
 * the store is away, and the delivery is still held. With options.journal: DW_OK at level
 * DW_JOURNALED, but a DW_DEAD waits for Redis. */
DW_API int dw_settle(dw *, const dw_token *, dw_verdict, dw_usec retry_in, dw_done_fn done,
		     void *user);

/* dw_start says that the work of a delivery begins now, for a handler that only puts deliveries
 * into a queue of the program and returns DW_HOLD_UNSTARTED. Until then the timer counts as due;
 * its lateness, its start and its handler's time count from here. dw_settle() may also end it
 * without a start. The hold's time-out goes on.
 *
 * DW_ESTALE: the work must not begin. The token names no delivery that waits for its start, or its
 * topic is paused, or the lease is over and another process may have the delivery. If this process
 * still has it, dw_settle() with DW_RETRY makes it due again; this does not count as a retry.
 * DW_EINVAL: token is NULL. The handle's thread; also inside a callback. */
DW_API int dw_start(dw *, const dw_token *token);

/* dw_post calls fn(dw, arg) on the handle's thread, in a later turn; exactly once if it returns
 * DW_OK. If no turn comes, dw_close() calls it, and then calls on the handle return DW_ECLOSED. fn
 * is a callback like a handler. Any thread. DW_ELIMIT, DW_ENOMEM, DW_ECLOSED. */
typedef void (*dw_post_fn)(dw *, void *arg);
DW_API int dw_post(dw *, dw_post_fn fn, void *arg);

/* ---- When Redis is away ------------------------------------------------------------------ */

/* options.journal names a SQLite file. While Redis is away, puts, cancels, moves and verdicts go
 * into the file and are answered from there, with dw_result.level DW_JOURNALED. When Redis is back,
 * it gets the rows of the file, and only then the owner claims timers again. Rows survive the
 * program: the next one that opens the file delivers them. Each process needs a file of its own, on
 * a local disk.
 *
 * The chapter JOURNAL of durawheel(7) says more: when an outage begins (DW_EVENT_OUTAGE), what each
 * status and level of an answer means then, and which timers start (options.outage). It also says
 * what DW_EVENT_REPLAYED reports for a row, and what happens when the file fails. */

typedef enum dw_journal_state {
	DW_JOURNAL_NONE = 0,   /* no options.journal */
	DW_JOURNAL_READY = 1,  /* Redis answers, and the journal is empty */
	DW_JOURNAL_TAKES = 2,  /* Redis is away, and the journal takes calls */
	DW_JOURNAL_REPLAYS = 3 /* Redis is back, and gets the rows of the journal */
} dw_journal_state;

typedef struct dw_journal_stats {
	dw_journal_state state;
	uint64_t rows;  /* one for each timer of which Redis does not know everything yet */
	uint64_t bytes; /* the size of the rows */
	dw_usec oldest; /* when the first row was written; 0: there is none */
} dw_journal_stats;

/* ---- Looking ----------------------------------------------------------------------------- */

typedef enum dw_state {
	DW_PENDING = 0,
	DW_CLAIMED = 1, /* about to fire, firing or held */
	/* A newer durawheel has written it: it does not fire here, and its data is not shown. Calls
	 * that would change it, like a put of its id, answer DW_ENEWER. */
	DW_NEWER = 2
} dw_state;

typedef struct dw_info {
	size_t size;
	const char *id;
	const char *topic;
	dw_state state;
	dw_usec due; /* the deadline; after a DW_RETRY, that of the retry */
	uint64_t generation;
	uint32_t attempt; /* the last delivery's or claim's number; 0: none yet */
	uint32_t retries; /* DW_RETRY verdicts so far */
	dw_usec late_after_us;
	const void *data;
	size_t data_size;
	const char *why;    /* the text of dw_set_why() with the last DW_RETRY; NULL: none */
	const char *rule;   /* as dw_rule_parse() reads it; NULL: the timer fires once */
	dw_usec occurrence; /* as dw_firing.occurrence; 0: no rule */
	dw_usec rule_end; /* no occurrence is later, by the rule's end or count; DW_NEVER: no end */
	uint32_t missed;  /* as dw_firing.missed */
	dw_usec keep_us;  /* as in dw_timer */
} dw_info;

/* Where a page of dw_list() (select.h) ends and the next one begins; all zero is the beginning. */
typedef struct dw_cursor {
	dw_usec due;
	uint64_t generation;
	int started;
	int ended;       /* 1: there is no page after this one */
	uint64_t looked; /* about how many timers the store has looked at since the first page */
	int lacks;       /* 1, in a partial list: timers that cannot be read now may be missing */
} dw_cursor;

/* Called once for a page: count timers in the order of (deadline, insertion). The next page begins
 * at next, unless next->ended, even if this one has fewer than limit timers. A damaged timer is
 * left out, with a DW_EVENT_CORRUPT. On failure timers and next are NULL, and status says why. */
typedef void (*dw_list_fn)(dw *, int status, const dw_info *timers, size_t count,
			   const dw_cursor *next, void *user);

/* dw_get asks for one timer. The answer is a page with this timer, or status DW_ENOENT and count 0.
 * DW_EINVAL: the id is not valid, or the callback is NULL. */
DW_API int dw_get(dw *, const char *id, dw_list_fn, void *user);

/* ---- Dead letters ------------------------------------------------------------------------ */

/* A timer that cannot be delivered is not lost: it becomes a dead letter, with a DW_EVENT_DEAD, and
 * its id is free again. At most DW_DEAD_MAX are kept, for at most DW_DEAD_DAYS days. The oldest are
 * dropped, with a DW_EVENT_DEAD_FORGOTTEN. The same id may be used and die again, so a dead letter
 * is named by id and generation. Owners and clients may make all these calls. */
typedef enum dw_reason {
	DW_REASON_UNKNOWN = 0, /* a reason of a newer durawheel */
	DW_REASON_RETRIES = 1, /* it used up its retries, and its verdict was DW_RETRY again */
	DW_REASON_CRASHED = 2, /* DW_CRASHES_MAX processes died while it was delivered */
	DW_REASON_LATE = 3,    /* it was later than its late_after_us */
	DW_REASON_CORRUPT = 4, /* damaged, or stored under another timer's id: it never fired */
	DW_REASON_GAVE_UP = 5  /* its verdict was DW_DEAD */
} dw_reason;

/* dw_reason_name returns the name of a reason: "RETRIES" and so on. Any thread. */
DW_API const char *dw_reason_name(dw_reason);

typedef struct dw_dead {
	size_t size;
	const char *id;
	uint64_t generation;
	const char *topic; /* "" if it cannot be read */
	dw_reason reason;
	dw_usec at;       /* when it became a dead letter */
	dw_usec due;      /* as in dw_info */
	uint32_t attempt; /* the number of the last attempt */
	uint32_t retries;
	uint32_t crashes;
	dw_usec late_after_us;
	const void *data;
	size_t data_size;
	int damaged;      /* only id and generation can be trusted; it cannot be requeued */
	int newer;        /* as DW_NEWER: only that version can requeue or drop it */
	const char *why;  /* the last verdict's text, as in dw_info */
	const char *rule; /* the rule of an occurrence that died, as in dw_info */
	dw_usec occurrence;
} dw_dead;

/* Called like a dw_list_fn. The letters are in the order in which the timers died. */
typedef void (*dw_dead_fn)(dw *, int status, const dw_dead *letters, size_t count,
			   const dw_cursor *next, void *user);

/* Which dead letters are meant: all, those of a topic, or the last one of an id. */
typedef struct dw_dead_select {
	size_t size;
	const char *topic; /* NULL: any */
	const char *id;    /* NULL: any; a letter is found by its id without a search through all */
	int partial;       /* as in dw_select */
} dw_dead_select;

/* dw_dead_list lists at most limit dead letters, and never more than DW_LIST_MAX, the oldest first.
 * select NULL: all. after, next: as of dw_list(). With select->id DW_ENOENT in the answer: the id
 * has no letter. DW_EINVAL: dw_last_error() says which argument is not valid. */
DW_API int dw_dead_list(dw *, const dw_dead_select *select, const dw_cursor *after, size_t limit,
			dw_dead_fn, void *user);

/* dw_dead_requeue makes a dead letter a timer again, due at due. generation 0: the last dead letter
 * of the id. Topic, data and late_after_us stay, attempts go on, retries and crashes are counted
 * from zero. DW_ENOENT: there is no such dead letter. DW_EEXIST: the id has a timer; timer and
 * letter stay as they are. DW_ECORRUPT: the letter is damaged. */
DW_API int dw_dead_requeue(dw *, const char *id, uint64_t generation, dw_usec due, dw_done_fn done,
			   void *user);

/* dw_dead_drop drops the dead letter of id and generation; with generation 0 every one of id; with
 * id NULL (and generation 0) all. DW_ENOENT: id has no such dead letter. */
DW_API int dw_dead_drop(dw *, const char *id, uint64_t generation, dw_done_fn done, void *user);

/* ---- Counters ---------------------------------------------------------------------------- */

/* The counters of this handle since it was opened, and what it holds now. */
typedef struct dw_stats {
	size_t size;
	uint64_t timers;    /* known and not settled: pending, claimed, firing or held */
	uint64_t unhandled; /* due timers whose topic has no handler */
	uint64_t held;
	uint64_t put, cancelled, fired, settled, retried, dead, late;
	uint64_t duplicates; /* deliveries after a crash of an earlier owner */
	uint64_t corrupt;    /* damaged timers that were read; each read counts */
	uint64_t store_operations, store_failures;
	uint64_t inflight;    /* operations sent to the store and not answered */
	dw_usec store_p99_us; /* round trip to the store */
	dw_usec lead_us;      /* how long before its deadline a timer is claimed */
	dw_usec lag_us;       /* how late the last firing started */
	dw_usec lag_max_us;
	dw_usec next_due; /* DW_NEVER: none; may be early by one slot of the wheel */
	int recovering;   /* 1: not every stored timer is loaded, or a shard cannot be used */
	uint64_t moved;
	uint64_t running; /* handlers on workers */
	dw_journal_stats journal;
	int is_owner; /* 1: this handle owns the store */
} dw_stats;

/* dw_get_stats fills *ret_stats up to its size field. */
DW_API int dw_get_stats(const dw *, dw_stats *ret_stats);

/* What the store says of itself, for the operator. */
typedef struct dw_store_status {
	size_t size;
	uint64_t pending, claimed, dead;
	dw_usec next_due;  /* the earliest deadline of a pending timer; DW_NEVER: there is none */
	uint64_t inbox;    /* changes of clients that the owner has not read yet */
	const char *owner; /* one line: host, pid, version; "" without owner */
	dw_usec owner_since,
	    owner_seen; /* when it began, and when it last wrote its status; or 0 */
	/* The owner's counters as one JSON object; "" without an owner. "refused" names shards that
	 * the server refuses to the owner. */
	const char *owner_report;
	const char *standby; /* a process that waits to own the store: a line like owner, or "" */
} dw_store_status;

typedef void (*dw_status_fn)(dw *, int status, const dw_store_status *, void *user);
DW_API int dw_get_status(dw *, dw_status_fn, void *user);

/* ---- The store as a whole ---------------------------------------------------------------- */

/* dw_purge empties the store: every timer and every dead letter, whoever made them. DW_OK in the
 * answer means that none of them starts; until then nothing starts at all. A running delivery goes
 * on, and its verdict finds nothing. The file keeps its size and uses the space again. The turn
 * that takes the answer forgets all timers at once, and is long when there are many.
 * DW_ENEWER, DW_EUNKNOWN: part of it may be gone. DW_EROLE: the handle is a client. Only the owner
 * knows what is about to fire, so nobody can empty a store behind its owner's back. */
DW_API int dw_purge(dw *, dw_done_fn done, void *user);

#define DW_FLAWS_MAX 100 /* flaws that dw_check() shows */

typedef struct dw_flaw {
	const char *id; /* the id of a timer or dead letter, or a key of Redis; "": the store */
	uint64_t generation; /* of the timer or letter; 0: the store has the flaw */
	const char *what;    /* in words, one line */
} dw_flaw;

typedef struct dw_check_report {
	size_t size;
	uint64_t pending, claimed, dead; /* as counted by the store */
	uint64_t inbox;
	uint64_t flaw_count; /* 0: all is well */
	size_t flaws_shown;  /* at most DW_FLAWS_MAX */
	const dw_flaw *flaws;
} dw_check_report;

/* On failure report is NULL and status says why. */
typedef void (*dw_check_fn)(dw *, int status, const dw_check_report *, void *user);

/* dw_check reads the whole store and looks for damage: in the file itself, in the checksum of every
 * timer and dead letter, in states and counts that contradict each other. It repairs nothing. An
 * owner moves damaged timers to the dead letters when it reads them. A check by a client does not
 * disturb the owner; in the owner itself, timers wait until the check is over. */
DW_API int dw_check(dw *, dw_check_fn, void *user);

/* ---- Driving ----------------------------------------------------------------------------- */

/* A handle works in turns: by dw_run(), by the libev loop of options.ev_loop, or by any other loop
 * with dw_fd() and dw_turn(). A call made outside a turn makes the next turn happen by itself. */

/* dw_run turns until dw_stop(), on a loop of its own. DW_EBUSY inside a callback. DW_EINVAL: the
 * handle is on options.ev_loop, which you run yourself. DW_EFORK: a handler's forked child. */
DW_API int dw_run(dw *);

/* dw_stop ends the current or next dw_run(), no other loop. Any thread, and signal handlers. */
DW_API void dw_stop(dw *);

/* options.ev_loop: dw_open() puts one ev_io on the loop and dw_close() removes it, so the loop must
 * live until then. The watcher counts as active: ev_run() does not return for lack of watchers
 * while the handle is open. In a forked child its copy leaves the loop instead of turning. libev
 * aborts the process when memory runs out; for durawheel it allocates only in dw_open() and a few
 * bytes in dw_close(). */

/* dw_fd and dw_turn are for any other loop. The descriptor is readable when a turn has work. Then
 * call dw_turn(), which does a bounded amount of work and never blocks. Watch the descriptor
 * level-triggered; do not read or close it. dw_turn returns DW_OK; DW_EBUSY inside a callback. */
DW_API int dw_fd(const dw *);
DW_API int dw_turn(dw *);

/* dw_sync turns until every accepted operation is answered, at most for patience; handlers of due
 * timers run meanwhile. It does not wait for a put that was answered DW_EUNKNOWN and is sent again.
 * Returns DW_OK; DW_ETIMEOUT; DW_EBUSY inside a callback; or the first failure of a call that was
 * made without a callback. */
DW_API int dw_sync(dw *, dw_usec patience);

#ifdef __cplusplus
}
#endif

#endif
