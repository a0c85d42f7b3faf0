/* The first words to a server, all sent at once, and the judgement on its replies: who we are,
 * which database, and whether this server can keep timers at all. */
#ifndef DW_REDIS_HELLO_H
#define DW_REDIS_HELLO_H

#include "durawheel/durawheel.h"
#include "redis/output.h"
#include "redis/reply.h"
#include "redis/url.h"

enum greeting_step {
	GREETING_AUTH,
	GREETING_NAME,
	GREETING_SELECT,
	GREETING_SERVER,
	GREETING_MEMORY,
	GREETING_ROLE,
	GREETING_SLOTS, /* of a node of a cluster; another server refuses it */
	GREETING_PING,  /* says what INFO does not: LOADING, MASTERDOWN */
	GREETING_PROBE, /* whether the server takes changes; the last step where there is a key */
	GREETING_SUBSCRIBE
};

enum { GREETING_STEPS = 9 };

enum greeting_verdict {
	GREETING_GOES_ON,
	GREETING_DONE,
	GREETING_SOON,   /* this server cannot now, but will by itself: loading, busy */
	GREETING_LATER,  /* another time perhaps: a replica, too many clients, no Redis at all */
	GREETING_REFUSED /* not until somebody changes something */
};

struct greeting {
	const struct redis_where *where;
	const char *name;
	const char *channel;
	const char *probe; /* a key that is not there; NULL: nothing is probed */
	void (*log)(dw_log_level, const char *line, void *user);
	void *log_user;
	bool clustered;  /* the server is a node of a cluster */
	unsigned logged; /* bits of what was said once */
	enum greeting_step steps[GREETING_STEPS];
	unsigned count; /* sent */
	unsigned next;  /* to be answered */
};

/* greeting_evicts: the server, by its INFO of memory, would throw timers or leases away. Then
 * ret_words (DW_MESSAGE_SIZE) say so. */
bool greeting_evicts(const struct reply *, char *ret_words);

/* greeting_send queues all commands: DW_OK, DW_ENOMEM. */
int greeting_send(struct greeting *, struct outbox *);

/* greeting_quote gives an error's words, printable, short, and without the password. */
const char *greeting_quote(const struct greeting *, const struct reply *, char *ret_text,
			   size_t size);

/* greeting_hangs: why the reply that is due does not come, in words. */
const char *greeting_hangs(const struct greeting *);

/* greeting_judge takes the next reply. After SOON, LATER and REFUSED ret_words (DW_MESSAGE_SIZE)
 * say why, without secrets. */
enum greeting_verdict greeting_judge(struct greeting *, const struct reply *, char *ret_words);

#endif
