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
 * A timer is an id, a topic, a deadline and some bytes of data. It is kept in a store (a file of
 * SQLite, Redis, or memory), so it fires although the process was killed in between: in this
 * process, microseconds after its deadline, never before it. Linux only.
 *
 * TIME is dw_usec (durawheel/time.h): microseconds since the Unix epoch (UTC), or a duration in
 * microseconds. Arithmetic saturates: now + INT64_MAX is "never", not a moment in the past.
 *
 * DELIVERY is at least once. Without a fault a timer's handler is started exactly once; a crash
 * between the handler's effect and the confirmation of its verdict repeats it with a higher attempt
 * number, because from outside that crash looks like one before the effect. Make handlers
 * idempotent: firing->id and firing->attempt help.
 *
 * OWNERSHIP. What you pass in (ids, topics, data, options) is copied before the call returns. What
 * a callback is given lives until that callback returns. Outputs are untouched on failure.
 *
 * ERRORS are negative (durawheel/error.h). dw_last_error() has the last one of a handle in words.
 * A call that returns DW_OK was accepted; whether it was DONE is told by its callback, exactly once
 * (a dw_done_fn, never from inside the call itself); the forms without a callback report a failure
 * to options.on_event and to the next dw_sync().
 *
 * THREADS. A handle belongs to the thread that opened it: that thread turns its loop, and every
 * callback runs there, but for handlers of dw_on_worker(). Any thread may call dw_put, dw_after,
 * dw_at, dw_cancel, dw_move, dw_settle and dw_post: what they ask for is checked and copied, and
 * done in the next turn, each thread's in its order. Their return value is about the arguments and
 * the room only (DW_ELIMIT: more than options.posted_max_bytes are not answered yet; wait for an
 * answer); what the handle's thread would have been told at once, like a DW_ESTALE of dw_settle,
 * their callback is told. dw_stop may be called from any thread and from a signal handler, and so
 * may what says "Any thread". All else returns DW_ETHREAD. dw_last_error() is the handle's
 * thread's: why a call from another one was refused is said to options.on_log.
 *
 * When dw_close() returns no other thread may be inside a call, nor begin one: stop or join your
 * threads first. Calls made while it still runs are safe, and answered or refused with DW_ECLOSED.
 * Handlers of dw_on_worker() may call until they return.
 *
 * EXCEPTIONS of C++ may leave a callback on the handle's thread: a handler, an answer, on_event, a
 * function of dw_post(). Such an exception leaves the call that turned, for example dw_run(), and
 * the handle turns and closes as before. Nothing is told twice. A handler that threw has said
 * DW_RETRY. dw_close() does not free the handle then: call it again. An exception that leaves a
 * handler of dw_on_worker() ends the program (std::terminate). None may leave on_log, clock or
 * resize, nor pass through libev, which does not expect it: with options.ev_loop catch it in the
 * callback. longjmp() must not leave any callback.
 *
 * FORK. In a forked child every call returns DW_EFORK and no timer fires; the child may only
 * dw_close() its copy of the handle, which touches neither store nor parent.
 */
#ifndef DURAWHEEL_H
#define DURAWHEEL_H

#include <stddef.h>
#include <stdint.h>

#include "durawheel/error.h"
#include "durawheel/time.h"

#define DW_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Limits ------------------------------------------------------------------------------ */

#define DW_ID_MAX 255               /* bytes of UTF-8 without control characters, at least 1 */
#define DW_TOPIC_MAX 63             /* the same */
#define DW_DATA_DEFAULT (64 * 1024) /* bytes of data, unless options.data_max_bytes says more */
#define DW_DATA_MAX (1024 * 1024)   /* the most options.data_max_bytes may say */
#define DW_HOLDS_MAX 1024           /* firings in DW_HOLD at one time */
#define DW_RETRIES_MAX 16           /* DW_RETRY verdicts before a timer is dead */
#define DW_CRASHES_MAX 64           /* claims that ended without a verdict before it is dead */
#define DW_SPIN_MAX 1000            /* the most options.spin_us may say */
#define DW_LIST_MAX 1000            /* timers on one page of dw_list() or dw_dead_list() */
#define DW_DEAD_MAX 100000          /* dead letters kept; the oldest go */
#define DW_DEAD_DAYS 30             /* how long they are kept */
#define DW_UNANSWERED_MAX (64 * 1024 * 1024) /* bytes of calls not answered; then DW_ELIMIT */

/* ---- A handle ---------------------------------------------------------------------------- */

typedef struct dw dw;
struct ev_loop; /* libev's */

typedef enum dw_role {
	DW_OWNER = 0,  /* fires; one per store, a second one is refused with DW_EOWNED */
	DW_CLIENT = 1, /* adds, cancels, lists; never fires */
	DW_STANDBY = 2 /* a client until the owner is gone, then the owner */
} dw_role;

/* What happened outside any call. */
typedef enum dw_event_kind {
	DW_EVENT_RECOVERED = 1,  /* every stored timer is loaded; count = how many */
	DW_EVENT_NO_HANDLER = 2, /* a timer is due and its topic has no handler: it is kept */
	DW_EVENT_DEAD = 3, /* a timer was set aside; status DW_ELIMIT, DW_ELATE, DW_ECORRUPT */
	DW_EVENT_CLOCK_STEPPED = 4, /* the wall clock was set */
	DW_EVENT_STORE_SLOW = 5,    /* no answer for 50 ms; firings may wait. At most every 10 s */
	DW_EVENT_STORE_FAILED = 6,  /* it fails, or is not reached: status, message; once */
	DW_EVENT_STORE_BACK = 7,    /* it answers again */
	DW_EVENT_FAILED = 8,        /* an operation without a callback failed: id, status */
	/* Stored bytes are damaged, or in another one's place: the timer does not fire. Without an
	 * id: an index of the file was damaged and is rebuilt, or a part cannot be read. */
	DW_EVENT_CORRUPT = 9,
	DW_EVENT_HOLD_EXPIRED = 10, /* a DW_HOLD was not answered in time: it is delivered again */
	DW_EVENT_LIMIT = 11, /* over options.timers_max after recovery, or over DW_HOLDS_MAX */
	DW_EVENT_DEAD_FORGOTTEN = 12, /* old dead letters were dropped; count = how many */
	DW_EVENT_OWNER = 13,          /* this handle owns the store now, and loads its timers */
	DW_EVENT_OWNER_LOST = 14,     /* it does not any more; count = timers dropped from memory */
	DW_EVENT_LEASE = 15,          /* what is due waits for the lease to be renewed */
	DW_EVENT_LOSS = 16, /* the store was emptied or set back; count = timers written again */
	DW_EVENT_NEWER = 17 /* the store has a newer durawheel's timers: not owned; once */
} dw_event_kind;

/* dw_event_name: "RECOVERED" and so on; "UNKNOWN" for a kind of a newer durawheel. Any thread. */
DW_API const char *dw_event_name(dw_event_kind);

typedef struct dw_event {
	size_t size;
	dw_event_kind kind;
	int status;          /* an enum dw_error, or DW_OK */
	const char *id;      /* of the timer, or NULL */
	const char *topic;   /* or NULL */
	const char *message; /* in words, one line, never NULL */
	uint64_t count;
} dw_event;

typedef enum dw_log_level { DW_LOG_ERROR = 0, DW_LOG_WARN = 1, DW_LOG_INFO = 2 } dw_log_level;

/* dw_options: zero means default; set size to sizeof(dw_options) before anything else. Strings and
 * hooks are copied. A hook and what its user pointer leads to must live until dw_close() returns:
 * it waits for the hooks that run on other threads, and none is called later. There is one
 * exception: after a dw_close() that returned DW_ETIMEOUT, resize must live as long as the process,
 * because a thread of the store, or a handler, still frees its memory. */
typedef struct dw_options {
	size_t size;

	/* "sqlite:FILE", "redis://[user:password@]host[:port][/db]", "unix://[user:password@]PATH"
	 * (?db=N; a password's % @ / ? : as %XX), or "memory:" (nothing survives). "valkey://" is
	 * "redis://". Required. */
	const char *store;
	dw_role role;

	size_t timers_max; /* refuse new ones beyond; 0: 2^28. Recovery loads all, with an event */
	size_t data_max_bytes;    /* 0: DW_DATA_DEFAULT */
	dw_usec open_patience_us; /* how long dw_open waits for the store; 0: 5 s */
	dw_usec hold_us;          /* how long a DW_HOLD lasts; 0: 30 s */

	/* Hooks. Each runs on the handle's thread, unless it says otherwise. on_event may call what
	 * a handler may; the others, nothing of this handle. */
	void (*on_event)(dw *, const dw_event *, void *user);
	void *on_event_user;
	void (*on_log)(dw_log_level, const char *line, void *user); /* any thread; NULL: silent */
	void *on_log_user;
	/* Instead of CLOCK_REALTIME; any thread. Nothing tells of its jumps: they are seen in the
	 * next turn, by an owner within 10 s. */
	dw_usec (*clock)(void *user);
	void *clock_user;
	/* Instead of malloc, realloc and free (size 0 frees), aligned as malloc. Any thread. */
	void *(*resize)(void *user, void *block, size_t size);
	void *resize_user;
	/* The libev loop that is to drive the handle, of this thread and of the libev that
	 * durawheel is linked with, on any backend; see "Driving". NULL: dw_run() or dw_fd(). */
	struct ev_loop *ev_loop;
	/* dw_run() wakes up so long before a timer is due and watches the clock instead of
	 * sleeping: the handler then starts a few microseconds late instead of 30 to 60. At most
	 * DW_SPIN_MAX; 50 is a good value. The price is a busy core for so long at each moment at
	 * which timers fire. 0: never. Not with ev_loop. */
	dw_usec spin_us;
	/* What other threads have asked for and is not answered may take so many bytes (their data
	 * and about 600 bytes a call); 0: 16 MiB. */
	size_t posted_max_bytes;
	/* Threads for the handlers of dw_on_worker(): 0: none, at most 256. A client has none. */
	unsigned workers;
	/* For a store that several programs share, which a file is not: whose timers these are, 1
	 * to 63 of A-Z a-z 0-9 . _ -; into how many parts a new namespace is divided (0: 16, or as
	 * it is; at most 256); after how long a silent owner has lost it (0: 5 s; 1 s to 5 min). */
	const char *name;
	unsigned shards;
	dw_usec lease_us;
	unsigned flags; /* DW_EXISTING */
} dw_options;

/* The store must exist. dw_open makes no file, and returns DW_ENOENT where there is none, or an
 * empty one. A namespace in Redis without timers is the same as an empty one, so it opens. */
#define DW_EXISTING 1u

/* dw_open opens the store and, as owner, starts to load its timers: those already overdue fire, in
 * the order of their deadlines, once their topics have handlers and the loop turns.
 * A standby opens whether or not the store has an owner, and asks for the ownership at once and
 * then every second. An owner that died on this machine has lost it at once, one of another machine
 * when its lease is over; two never own. Until its DW_EVENT_OWNER it is a client that may register
 * handlers. An owner that was silent for so long that another process has taken the store is like a
 * standby from DW_EVENT_OWNER_LOST on; verdicts of before touch nothing (dw_settle: DW_ESTALE).
 * On DW_OK *ret_dw is yours until dw_close(). On failure ret_message (may be NULL, at least
 * DW_MESSAGE_SIZE bytes) says in words what was wrong and what would be right.
 * DW_EINVAL: options. DW_ENOENT: there is no store (DW_EXISTING). DW_EOWNED: another process owns
 * the store. DW_ESTORE: cannot be opened, is damaged, is of a newer version, or did not answer
 * within open_patience_us. DW_EFULL: the disk is full, and the space kept back for that is spent.
 * DW_ENOMEM, DW_ESYS. */
#define DW_MESSAGE_SIZE 256
DW_API int dw_open(dw **ret_dw, const dw_options *options, char *ret_message);

/* dw_close stops: no handler is started, claims are given back. It waits at most patience for what
 * was accepted, also from other threads; then operations not yet answered are answered with
 * DW_ECLOSED (never sent) or DW_EUNKNOWN (sent), and functions of dw_post() run. The handle is
 * freed whatever it returns, and must not be used again. NULL is accepted.
 * DW_EBUSY: from inside a callback (nothing is done, the handle stays open). DW_ETIMEOUT: the store
 * did not finish in time; what it was asked to do is done later or never. Its thread keeps the file
 * until the disk has answered, or the process has ended: until then a dw_open() as owner, here or
 * elsewhere, may return DW_EOWNED or DW_ESTORE; call it again until it does not. Or it was only a
 * handler of dw_on_worker() that did not: then the file is free. */
DW_API int dw_close(dw *, dw_usec patience);

/* dw_last_error: the last failure of a call on this handle in words, "" if none; valid until the
 * next call. Elsewhere than on the handle's thread, or in a forked child, it says only that. */
DW_API const char *dw_last_error(const dw *);

/* dw_strerror: a few words for an enum dw_error. Any thread. */
DW_API const char *dw_strerror(int error);

DW_API const char *dw_version(void);

/* ---- Handlers ---------------------------------------------------------------------------- */

typedef enum dw_verdict {
	DW_DONE = 0,  /* done: the timer is settled, its id is free again */
	DW_RETRY = 1, /* again in 1 s, doubled each time, at most 5 min, 20 % jitter, and dead after
		       * DW_RETRIES_MAX times. dw_retry_in() sets another delay */
	DW_HOLD = 2   /* not known yet: dw_settle() answers within options.hold_us */
} dw_verdict;

/* A token names one delivery: this attempt of this generation of this id. Copy it to settle. */
typedef struct dw_token {
	uint64_t generation;
	uint32_t attempt;
	char id[DW_ID_MAX + 1];
} dw_token;

/* attempt counts the claims of the timer, and each delivery has one of its own: it grows strictly,
 * and the first delivery mostly says 1. It says more if a claim ended before the handler started:
 * in dw_close(), in a crash, when the topic's handler was taken away or the wall clock was set
 * back. So 1 says that no handler of this timer has ever started; more, that one may have. */
typedef struct dw_firing {
	size_t size;
	const char *id;
	const char *topic;
	dw_usec due;      /* the deadline; of a retry (DW_RETRY, an expired hold), its own */
	dw_usec now;      /* the wall clock just before the handler, never below due */
	uint32_t attempt; /* from 1 */
	const void *data;
	size_t data_size;
	const dw_token *token;
} dw_firing;

/* A handler. It may call anything but dw_close, dw_run, dw_turn and dw_sync (DW_EBUSY), and should
 * be short: the timers behind it wait. If it returns what is no dw_verdict, that counts as DW_RETRY
 * and options.on_log is told (DW_LOG_ERROR). */
typedef dw_verdict (*dw_fire_fn)(dw *, const dw_firing *, void *user);

/* dw_on registers the handler of a topic, "*" for every topic without one of its own; NULL takes it
 * away. A due timer whose topic has no handler is kept, reported once (DW_EVENT_NO_HANDLER) and
 * fires when one is registered. DW_EINVAL, DW_ENOMEM, DW_EROLE: a client fires nothing. */
DW_API int dw_on(dw *, const char *topic, dw_fire_fn, void *user);

/* dw_on_worker: the same for a handler that takes its time, or waits: it runs on one of
 * options.workers threads and delays no timer of the others. What else there is for these threads
 * waits, claimed, and is handed out in the order of the deadlines; so handlers run side by side,
 * each with a firing of its own that lives until it returns. It is given the handle and calls it
 * like any other thread (see THREADS); dw_retry_in() works in it. Its verdict counts after all
 * that it has called. It may run as long as it likes: options.hold_us is for DW_HOLD, and begins
 * when it returns that. A put of the same id does not wait for it, and the new timer may start
 * while it runs.
 * dw_close() starts none that waits, and waits for those that run, at most for its patience. Then
 * it returns DW_ETIMEOUT: the delivery ends without a verdict and is repeated by the next owner;
 * the handler may go on calling the handle, which answers DW_ECLOSED and is freed when it returns.
 * So after dw_on() or another dw_on_worker() of the topic, user must live until it has returned.
 * DW_EINVAL (options.workers is 0, too), DW_ENOMEM, DW_EROLE. */
DW_API int dw_on_worker(dw *, const char *topic, dw_fire_fn, void *user);

/* dw_retry_in: from inside a handler that is about to return DW_RETRY, the delay to use.
 * DW_EINVAL: negative, or not inside a handler. */
DW_API int dw_retry_in(dw *, dw_usec delay);

/* dw_pause, dw_resume: for a program that has as much in DW_HOLD as it can work on. While a handle
 * is paused it claims and starts nothing, not even the rest of the turn when a handler pauses it;
 * no hold times out and no operation that failed is tried again. Everything else goes on: answers,
 * what other processes write, dw_settle(). What became due meanwhile starts after dw_resume(), in
 * order. Both may be called when there is nothing to change. */
DW_API int dw_pause(dw *);
DW_API int dw_resume(dw *);

/* ---- Timers ------------------------------------------------------------------------------ */

/* How sure a confirmation is. */
typedef enum dw_level {
	DW_NOTHING = 0,
	DW_ACCEPTED = 1,  /* in this process's memory */
	DW_JOURNALED = 2, /* in the local journal */
	DW_STORED = 3     /* in the store: survives a kill and a power cut; Redis: as it is set */
} dw_level;

typedef struct dw_result {
	size_t size;
	int status; /* DW_OK, or why not */
	dw_level level;
	const char *id;
	uint64_t generation; /* 0 unless a timer was stored */
	/* 1: an earlier delivery of this id may still start, up to a second later: a client's put
	 * or move has changed a timer that its owner had claimed and not yet started. */
	int earlier_may_start;
} dw_result;

/* Called exactly once for each accepted operation, from a turn (or from dw_close). */
typedef void (*dw_done_fn)(dw *, const dw_result *, void *user);

#define DW_NEW 1u /* refuse with DW_EEXIST if the id has a timer; else a put replaces it */

typedef struct dw_timer {
	size_t size;
	const char *id; /* NULL: a unique one is made, the answer names it */
	const char *topic;
	dw_usec due; /* a moment already past is due at once */
	const void *data;
	size_t data_size;
	/* Later than this after due it is not delivered but dead; 0: never. A retry is due, and
	 * late, by its own time; to limit all of them together keep the first due in data. */
	dw_usec late_after_us;
	unsigned flags; /* DW_NEW */
} dw_timer;

/* dw_after, dw_at: a timer for topic, due in delay from now or at due. id may be NULL, data may be
 * NULL when size is 0. An id names one timer: the same id again replaces the earlier one.
 * DW_EINVAL (a negative delay, too), DW_ENOMEM, DW_ELIMIT. */
DW_API int dw_after(dw *, const char *topic, const char *id, dw_usec delay, const void *data,
		    size_t size);
DW_API int dw_at(dw *, const char *topic, const char *id, dw_usec due, const void *data,
		 size_t size);

/* dw_put: the full form. done may be NULL. A client's put over a timer that the owner has claimed
 * is DW_OK, and the earlier one may still start: see dw_result.earlier_may_start. DW_EFULL in the
 * answer: the store has no space for it; nothing was stored, and puts are refused until there is
 * some. What is stored fires, is settled and cancelled all the same, unless a Redis server refuses
 * every write (MISCONF, see README). */
DW_API int dw_put(dw *, const dw_timer *, dw_done_fn done, void *user);

/* dw_cancel: DW_OK in the answer promises that the timer does not start after it. DW_ENOENT: there
 * is none. DW_ELATE: it is being delivered; if by this handle, a DW_RETRY of that is dropped. For a
 * client also: claimed by the owner, some milliseconds before the deadline; or removed, but damaged
 * or put over one that was claimed, whose start may be under way. Damaged ones are removed, too. */
DW_API int dw_cancel(dw *, const char *id, dw_done_fn done, void *user);

/* dw_move gives the timer another deadline; topic, data and late_after_us stay. It is the next
 * generation of its id: DW_OK in the answer promises that the timer does not start at its earlier
 * deadline (unless earlier_may_start), and names the new generation. Its retries are counted
 * afresh; its attempts go on counting, so that a handler never sees one twice. A moment already
 * past is due at once.
 * DW_ENOENT: there is none. DW_ELATE: it is being delivered, or, for a client, claimed; it is left
 * as it is, and its verdict counts: a DW_DONE ends it, a DW_RETRY brings it back. */
DW_API int dw_move(dw *, const char *id, dw_usec due, dw_done_fn done, void *user);

/* dw_settle answers a DW_HOLD with DW_DONE or DW_RETRY (retry_in as in dw_retry_in, negative: the
 * default). DW_ESTALE: the delivery is not held any more; nothing was changed. DW_EUNKNOWN: the
 * store is away; this handle stores the verdict as soon as the store is back. DW_ESTORE: the store
 * is away, and the delivery is still held. */
DW_API int dw_settle(dw *, const dw_token *, dw_verdict, dw_usec retry_in, dw_done_fn done,
		     void *user);

/* dw_post calls fn(dw, arg) on the handle's thread, in a later turn or, if none comes, in
 * dw_close() (where calls on the handle return DW_ECLOSED): exactly once if it returns DW_OK. fn is
 * a callback like a handler. Any thread. DW_ELIMIT, DW_ENOMEM, DW_ECLOSED. */
typedef void (*dw_post_fn)(dw *, void *arg);
DW_API int dw_post(dw *, dw_post_fn fn, void *arg);

/* ---- Looking ----------------------------------------------------------------------------- */

typedef enum dw_state {
	DW_PENDING = 0,
	DW_CLAIMED = 1, /* about to fire, firing or held */
	/* A newer durawheel's: not fired here, and without its data. What would change it, like a
	 * put of its id, or would change such a dead letter, is not done: DW_ENEWER. */
	DW_NEWER = 2
} dw_state;

typedef struct dw_info {
	size_t size;
	const char *id;
	const char *topic;
	dw_state state;
	dw_usec due; /* as dw_firing.due: after a retry, when that is due */
	uint64_t generation;
	uint32_t attempt; /* of the last delivery, or claim; 0: none yet */
	uint32_t retries; /* DW_RETRY verdicts so far */
	dw_usec late_after_us;
	const void *data;
	size_t data_size;
} dw_info;

/* Where a page of dw_list() ends and the next one begins; all zero is the beginning. */
typedef struct dw_cursor {
	dw_usec due;
	uint64_t generation;
	int started;
	int ended; /* nothing is behind this page */
} dw_cursor;

/* Called once a page: count timers in the order of (deadline, insertion); next is where the next
 * page begins, unless next->ended. A timer whose stored bytes are damaged is left out, with a
 * DW_EVENT_CORRUPT. On failure timers and next are NULL and status says why. */
typedef void (*dw_list_fn)(dw *, int status, const dw_info *timers, size_t count,
			   const dw_cursor *next, void *user);

/* dw_get: the answer is a page of the one timer, or status DW_ENOENT and count 0. DW_EINVAL: the id
 * is none, or the callback is NULL. */
DW_API int dw_get(dw *, const char *id, dw_list_fn, void *user);

/* dw_list: at most limit (DW_LIST_MAX) timers of topic (NULL: all), behind after (NULL: all). */
DW_API int dw_list(dw *, const char *topic, const dw_cursor *after, size_t limit, dw_list_fn,
		   void *user);

/* ---- Dead letters ------------------------------------------------------------------------ */

/* A timer that cannot be delivered is not lost: it is set aside as a dead letter, with a
 * DW_EVENT_DEAD, and its id is free again. At most DW_DEAD_MAX are kept for at most DW_DEAD_DAYS
 * days; the oldest go, with a DW_EVENT_DEAD_FORGOTTEN. The same id may be used again and die again,
 * so a dead letter is named by its id and its generation. Owners and clients may all do this. */
typedef enum dw_reason {
	DW_REASON_UNKNOWN = 0, /* none of these, in a store of a newer durawheel */
	DW_REASON_RETRIES = 1, /* DW_RETRIES_MAX retries, and it still said DW_RETRY */
	DW_REASON_CRASHED = 2, /* DW_CRASHES_MAX processes died while it was delivered */
	DW_REASON_LATE = 3,    /* later than its late_after_us */
	DW_REASON_CORRUPT = 4  /* damaged, or in another one's place: never fired */
} dw_reason;

/* dw_reason_name: "RETRIES" and so on. Any thread. */
DW_API const char *dw_reason_name(dw_reason);

typedef struct dw_dead {
	size_t size;
	const char *id;
	uint64_t generation;
	const char *topic; /* "" if it cannot be read */
	dw_reason reason;
	dw_usec at;       /* when it was set aside */
	dw_usec due;      /* as in dw_info */
	uint32_t attempt; /* the last one */
	uint32_t retries;
	uint32_t crashes;
	dw_usec late_after_us;
	const void *data;
	size_t data_size;
	int damaged; /* only id and generation can be trusted; it cannot be requeued */
	int newer;   /* as DW_NEWER: only that version can requeue or drop it */
} dw_dead;

/* As dw_list_fn, in the order in which the letters were set aside. */
typedef void (*dw_dead_fn)(dw *, int status, const dw_dead *letters, size_t count,
			   const dw_cursor *next, void *user);

/* dw_dead_list: the same of dead letters, from the oldest. */
DW_API int dw_dead_list(dw *, const char *topic, const dw_cursor *after, size_t limit, dw_dead_fn,
			void *user);

/* dw_dead_requeue makes a timer of a dead letter again, due at due, and drops the letter.
 * generation 0: the last one of that id. Topic, data and late_after_us are as they were, the
 * attempts go on counting, retries and crashes are counted afresh. DW_ENOENT: there is no such dead
 * letter. DW_EEXIST: the id has a timer; it is left alone, and so is the letter. DW_ECORRUPT. */
DW_API int dw_dead_requeue(dw *, const char *id, uint64_t generation, dw_usec due, dw_done_fn done,
			   void *user);

/* dw_dead_drop forgets dead letters: those of id with that generation, 0: every one of id; id NULL:
 * all there are (generation is 0 then). DW_ENOENT: there is no such dead letter of id. */
DW_API int dw_dead_drop(dw *, const char *id, uint64_t generation, dw_done_fn done, void *user);

/* ---- Counters ---------------------------------------------------------------------------- */

/* The counters of this handle since it was opened, and what it holds now. */
typedef struct dw_stats {
	size_t size;
	uint64_t timers;    /* known and not settled: pending, claimed, firing or held */
	uint64_t unhandled; /* due, without a handler */
	uint64_t held;
	uint64_t put, cancelled, fired, settled, retried, dead, late;
	uint64_t duplicates; /* deliveries after a crash of an earlier owner */
	uint64_t corrupt;    /* damaged timers met; one that is met again counts again */
	uint64_t store_operations, store_failures;
	uint64_t inflight;    /* operations sent to the store and not answered */
	dw_usec store_p99_us; /* round trip to the store */
	dw_usec lead_us;      /* how long before its deadline a timer is claimed */
	dw_usec lag_us;       /* how late the last firing started */
	dw_usec lag_max_us;
	dw_usec next_due; /* DW_NEVER: none; may be early by one slot of the wheel */
	int recovering;   /* not every stored timer is loaded yet */
	uint64_t moved;
	uint64_t running; /* handlers on workers */
} dw_stats;

/* dw_get_stats fills *ret_stats up to its size field, which you set. */
DW_API int dw_get_stats(const dw *, dw_stats *ret_stats);

/* dw_count: the owner's timers of topic (NULL: all) that are not settled. DW_EROLE for a client. */
DW_API int dw_count(const dw *, const char *topic, uint64_t *ret_count);

/* What the store says of itself, for the operator. */
typedef struct dw_store_status {
	size_t size;
	uint64_t pending, claimed, dead;
	dw_usec next_due;         /* of the earliest pending timer, DW_NEVER: none */
	uint64_t inbox;           /* written by clients, not yet seen by the owner */
	const char *owner;        /* one line: host, pid, version; "" without owner */
	dw_usec owner_since;      /* 0 without owner */
	dw_usec owner_seen;       /* when the owner last wrote its status */
	const char *owner_report; /* the owner's counters as one JSON object, "" without */
} dw_store_status;

typedef void (*dw_status_fn)(dw *, int status, const dw_store_status *, void *user);
DW_API int dw_get_status(dw *, dw_status_fn, void *user);

/* ---- The store as a whole ---------------------------------------------------------------- */

/* dw_purge empties the store: every timer and every dead letter, whoever made them. DW_OK in the
 * answer promises that none of them starts; until it is answered, nothing starts at all. A delivery
 * under way goes on, and its verdict finds nothing. The file keeps its size and uses it again. The
 * turn that takes the answer forgets all timers at once, and is long when they are many.
 * DW_ENEWER, DW_EUNKNOWN: part of it may be gone. DW_EROLE: a client; only the owner knows what
 * is about to fire. So a store that another process owns cannot be emptied behind its back. */
DW_API int dw_purge(dw *, dw_done_fn done, void *user);

#define DW_FLAWS_MAX 100 /* shown by dw_check() */

typedef struct dw_flaw {
	const char *id;      /* of the timer or dead letter, or the key in Redis; "": the store */
	uint64_t generation; /* of it, 0: of the store */
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
 * timer and dead letter, in states and counts that contradict each other. It repairs nothing; an
 * owner sets damaged timers aside when it reads them. As a client it works beside an owner and does
 * not disturb it; in the owner itself the timers wait until it is over. */
DW_API int dw_check(dw *, dw_check_fn, void *user);

/* ---- Driving ----------------------------------------------------------------------------- */

/* A handle does its work in turns, and something must make them: dw_run(), the libev loop of
 * options.ev_loop, or any other loop with dw_fd() and dw_turn(). A call made outside a turn needs
 * no help: it makes the turn follow that carries it out. */

/* dw_run turns until dw_stop(), on a loop of its own. DW_EBUSY inside a callback. DW_EINVAL: the
 * handle is on options.ev_loop, which you run yourself. DW_EFORK: a handler's forked child. */
DW_API int dw_run(dw *);

/* dw_stop ends the current or next dw_run(), no loop of yours. Any thread, signal handlers too. */
DW_API void dw_stop(dw *);

/* options.ev_loop: dw_open() puts one ev_io on the loop and dw_close() takes it off, so the loop
 * must live until then; it turns whenever there is work. The watcher counts as active: ev_run()
 * does not return for want of watchers while the handle is open. A forked child's copy of the
 * watcher leaves the loop instead of turning. libev aborts the process when it has no memory: it
 * allocates in dw_open(), a few bytes at most in dw_close(), and for durawheel nowhere else. */

/* dw_fd, dw_turn: for any other loop. The descriptor is readable when a turn has work; then call
 * dw_turn(), which does a bounded amount and never blocks. Level-triggered, never closed or read by
 * you. dw_turn returns DW_OK, or DW_EBUSY inside a callback. */
DW_API int dw_fd(const dw *);
DW_API int dw_turn(dw *);

/* dw_sync turns until every accepted operation is answered, at most for patience, whatever else
 * drives the handle; handlers of due timers run meanwhile. It does not wait for a put that was
 * answered DW_EUNKNOWN and is sent again. It returns the first failure since the last one of an
 * operation without a callback, DW_ETIMEOUT, or DW_EBUSY inside a callback. */
DW_API int dw_sync(dw *, dw_usec patience);

#ifdef __cplusplus
}
#endif

#endif
