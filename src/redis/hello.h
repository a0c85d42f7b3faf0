/* The first commands to a server, sent together: who we are and which database we want. The replies
 * tell whether this server can keep timers. */
#ifndef DW_REDIS_HELLO_H
#define DW_REDIS_HELLO_H

#include "durawheel/durawheel.h"
#include "redis/output.h"
#include "redis/reply.h"
#include "redis/url.h"

enum hello_step {
	HELLO_AUTH,
	HELLO_NAME,
	HELLO_SELECT,
	HELLO_SERVER,
	HELLO_MEMORY,
	HELLO_ROLE,
	HELLO_SLOTS, /* of a node of a cluster; another server refuses it */
	HELLO_PING,  /* says what INFO does not: LOADING, MASTERDOWN */
	HELLO_PROBE, /* whether the server takes changes; the last step where there is a key */
	HELLO_SUBSCRIBE
};

enum { HELLO_STEPS = 9 };

/* A script that changes nothing. It needs the same rights as our other scripts. */
#define HELLO_PROBE_SCRIPT "return redis.call('UNLINK',KEYS[1])"

enum hello_verdict {
	HELLO_GOES_ON,
	HELLO_DONE,
	HELLO_SOON,   /* this server cannot now, but will by itself: loading, busy */
	HELLO_LATER,  /* another time perhaps: a replica, too many clients, no Redis at all */
	HELLO_REFUSED /* not until somebody changes something */
};

struct hello {
	const struct redis_url *url;
	const char *name;
	const char *channel;
	const char *probe; /* a key that is not there; NULL: nothing is probed */
	void (*log)(dw_log_level, const char *line, void *user);
	void *log_user;
	bool clustered;  /* the server is a node of a cluster */
	unsigned logged; /* bits of what was said once */
	enum hello_step steps[HELLO_STEPS];
	unsigned count; /* sent */
	unsigned next;  /* to be answered */
};

/* hello_evicts: the server, by its INFO of memory, would throw timers or leases away. Then
 * ret_words (DW_MESSAGE_SIZE) say so. */
bool hello_evicts(const struct reply *, char *ret_words);

/* hello_send queues all commands: DW_OK, DW_ENOMEM. */
int hello_send(struct hello *, struct output *);

/* hello_quote gives an error's words, printable, short, and without the password. */
const char *hello_quote(const struct hello *, const struct reply *, char *ret_text, size_t size);

/* hello_hangs: words that say why the next reply is late. */
const char *hello_hangs(const struct hello *);

/* hello_judge takes the next reply. After SOON, LATER and REFUSED ret_words (DW_MESSAGE_SIZE)
 * say why, without secrets. */
enum hello_verdict hello_judge(struct hello *, const struct reply *, char *ret_words);

#endif
