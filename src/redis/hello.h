/* Sends the first commands on a connection, all at once: who we are and which database we want. The
 * replies tell whether this server can keep timers. */
#ifndef DW_REDIS_HELLO_H
#define DW_REDIS_HELLO_H

#include "durawheel/durawheel.h"
#include "redis/careful.h"
#include "redis/input.h"
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
	HELLO_SLOTS, /* CLUSTER NODES; a server without cluster mode refuses it */
	HELLO_PING,  /* finds LOADING and MASTERDOWN, which INFO does not tell */
	/* Asks whether the server accepts changes. It is the last step, if there is a probe key. */
	HELLO_PROBE,
	HELLO_SUBSCRIBE
};

enum { HELLO_STEPS = 9, CHANNELS_MAX = 257 };

/* A script that changes nothing. It needs the same rights as our other scripts. */
#define HELLO_PROBE_SCRIPT "return redis.call('UNLINK',KEYS[1])"

enum hello_verdict {
	HELLO_GOES_ON,
	HELLO_DONE,
	HELLO_SOON, /* the server will be usable soon: it is loading or busy */
	/* The server may be usable later: it is a replica, has too many clients, or is not
	 * Redis. */
	HELLO_LATER,
	HELLO_REFUSED /* the server is not usable until a person changes something */
};

struct hello {
	const struct redis_url *url;
	const char *name;
	const char *channels;  /* as in connection.h; NULL for a link for commands */
	unsigned unsubscribed; /* channels whose reply is still to come */
	const char *probe;     /* a key that never exists; NULL if there is no probe */
	bool to_sentinel;      /* as in connection.h: the server is asked nothing but PING */
	void (*log)(dw_log_level, const char *line, void *user);
	void *log_user;
	bool clustered; /* the server is a node of a cluster */
	/* The server's run_id, which is different for each process; "" if the server does not show
	 * it. */
	char server[SERVER_ID_SIZE];
	char history[SERVER_ID_SIZE]; /* as in link_server.h */
	/* For how many seconds the server has been up; -1 if it does not show this. */
	int64_t uptime;
	unsigned logged; /* one bit for each kind of warning that was logged */
	enum hello_step steps[HELLO_STEPS];
	unsigned count; /* how many commands were sent */
	unsigned next;  /* the number of the command whose reply is next */
};

/* hello_evicts reads the reply to INFO memory. Returns true if the server would evict timers or
 * leases; then it writes a warning to ret_words (DW_MESSAGE_SIZE bytes). */
bool hello_evicts(const struct reply *, char *ret_words);

/* hello_history copies master_replid from the reply to INFO replication. It returns "" in
 * ret_history if the server is not a master or does not show it. */
void hello_history(const struct reply *, char ret_history[SERVER_ID_SIZE]);

/* hello_send queues all commands. Returns DW_OK or DW_ENOMEM. */
int hello_send(struct hello *, struct output *);

/* hello_quote returns the text of an error. The text is printable, short, and without the
 * password. */
const char *hello_quote(const struct hello *, const struct reply *, char *ret_text, size_t size);

/* hello_hangs says why the next reply is late. */
const char *hello_hangs(const struct hello *);

/* hello_explain returns a better explanation of a failure before the first reply, if there is one:
 * perhaps only one side speaks TLS. The result may be in ret_words. */
const char *hello_explain(const struct hello *, const struct transport *, const struct input *,
			  const char *failure, char *ret_words);

/* hello_judge takes the next reply. After HELLO_SOON, HELLO_LATER and HELLO_REFUSED ret_words
 * (DW_MESSAGE_SIZE bytes) say why, without secrets. */
enum hello_verdict hello_judge(struct hello *, const struct reply *, char *ret_words);

#endif
