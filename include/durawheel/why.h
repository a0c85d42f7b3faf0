/* What one timer waits for, and what to do about it.
 *
 *	static void told(dw *d, int status, const dw_why *why, void *user)
 *	{
 *		if (status == DW_OK)
 *			printf("%s: %s\n", why->id, dw_describe_waits(why->waits)->cause);
 *	}
 *
 *	dw_why_waiting(d, "order:42", told, NULL);
 *
 * The owner of the timer knows the cause exactly: it looks in its memory, and is_exact is 1. Any
 * other handle asks the store for the timer, for what its owner has reported about the topic, and
 * for who owns what. An owner reports the numbers of its topics every 2 s while it works, and every
 * 10 s while it is idle. So this answer may be as old as that. The answer is worked out when it is
 * asked for, and no put and no start is slower because of it. `durawheel why ID` shows it. */
#ifndef DURAWHEEL_WHY_H
#define DURAWHEEL_WHY_H

#include "durawheel/topic.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dw_why {
	size_t size;
	const char *id;
	const char *topic;
	dw_waits waits;
	dw_usec due; /* as in dw_info */
	/* When the wait ends by itself: the deadline, the end of a batch or of a hold, the next
	 * look at the zone. 0: something else ends it. */
	dw_usec until;
	dw_usec since; /* when its handler started; 0: it does not run, or that is not known */
	/* More about the cause in words: what the last attempt said, why the server refuses, what
	 * is paused. "": nothing. */
	const char *detail;
	/* Who owns the timer, if that is another handle: "HOST pid N". "": this one, or nobody. */
	const char *who;
	int shard;    /* the timer's shard in a namespace of Redis; -1: the store has no shards */
	int is_exact; /* 1: this handle owns the timer */
} dw_why;

/* Called once. The struct is valid until it returns. If status is not DW_OK, it is NULL. */
typedef void (*dw_why_fn)(dw *, int status, const dw_why *, void *user);

/* dw_why_waiting asks what the timer of an id waits for. Any role; also inside a callback. The
 * handle's thread. DW_EINVAL: the id is not valid, or the callback is NULL. DW_ENOMEM, DW_ELIMIT.
 * In the answer:
 *  DW_ENOENT    the id has no timer; dw_ended_get() and dw_dead_list() may know of an earlier one.
 *               If its last end is kept, and it became a message of a queue that has messages, the
 *               answer is DW_OK and DW_WAITS_MESSAGE.
 *  DW_ECORRUPT  the timer is damaged, and does not fire
 *  DW_ESTORE    the store cannot be asked, and this handle does not own the timer */
DW_API int dw_why_waiting(dw *, const char *id, dw_why_fn, void *user);

/* The words for a reason. They are constants. */
typedef struct dw_waits_words {
	const char *name;   /* one word for programs, "handler" and so on; "" for DW_WAITS_NOT */
	const char *cause;  /* what is in the way: "the owner has no handler for the topic" */
	const char *advice; /* one sentence that says what to do */
	/* A command of durawheel that does it, or shows more: "topic resume TOPIC". Put the timer's
	 * topic in the place of TOPIC and its id in that of ID. */
	const char *command;
} dw_waits_words;

/* dw_describe_waits returns the words for a reason. For a reason of a newer durawheel the name is
 * "other". Any thread. */
DW_API const dw_waits_words *dw_describe_waits(dw_waits);

#ifdef __cplusplus
}
#endif

#endif
