#include "redis/connection.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/usec.h"
#include "redis/dial.h"
#include "redis/hello.h"
#include "redis/heartbeat.h"
#include "redis/output.h"
#include "redis/probe.h"

#define PAUSE_FIRST DW_MILLISECONDS(100)
#define PAUSE_MAX DW_SECONDS(2)
#define EAGER DW_MINUTES(1)  /* so long after it was lost a server is asked that often */
#define LASTED DW_SECONDS(1) /* a connection that was up for less ends no outage */

enum {
	INPUT_SIZE = 1 << 16,   /* read at once, and parsed before more is */
	INPUT_BUDGET = 1 << 20, /* read in one link_work() and the takes behind it */
	TROUBLE_SIZE = DW_MESSAGE_SIZE + 2 + sizeof((struct redis_where *)0)->name
};

enum state { RESTING, DIALLING, GREETING, UP };

struct socket_link {
	struct link link; /* first */
	struct socket_options options;
	char name[64];
	char channel[256];
	char probe_key[128];
	pid_t maker;
	struct rng rng;
	int epoll_fd;
	int fd; /* -1: no connection */
	uint32_t watched;
	enum state state;
	struct dial dial;
	struct greeting greeting;
	struct probe probe;
	struct outbox outbox;
	struct heartbeat heart;
	struct reply_reader *reader;
	struct reply *ready; /* the next one for take() */
	dw_usec now;         /* of the last call that told */
	dw_usec deadline;    /* of the pause, the dialling, the greeting */
	dw_usec out_since;   /* of the outage; DW_NEVER: there was none yet */
	dw_usec up_since;
	uint64_t connections;
	bool more; /* the socket may have more to read */
	size_t budget;
	bool fatal;
	char trouble[TROUBLE_SIZE];
	char logged[TROUBLE_SIZE];
	char input[INPUT_SIZE];
};

static struct socket_link *link_of(struct link *link)
{
	return (struct socket_link *)(void *)link;
}

static const struct socket_link *const_link_of(const struct link *link)
{
	return (const struct socket_link *)(const void *)link;
}

static void say(const struct socket_link *link, dw_log_level level, const char *line)
{
	if (link->options.log)
		link->options.log(level, line, link->options.log_user);
}

/* ---- Losing a connection ------------------------------------------------------------------- */

/* close_connection says goodbye by shutdown: a forked child may have the socket, too, and then the
 * server would not see it closed. */
static void close_connection(struct socket_link *link)
{
	if (link->fd >= 0) {
		(void)epoll_ctl(link->epoll_fd, EPOLL_CTL_DEL, link->fd, NULL);
		(void)shutdown(link->fd, SHUT_RDWR); /* ENOTCONN: the better */
		(void)close(link->fd);               /* what it held is given up */
	}
	link->fd = -1;
	dial_stop(&link->dial);
	outbox_clear(&link->outbox);
	reply_reader_free(link->reader);
	reply_free(link->ready);
	link->reader = NULL;
	link->ready = NULL;
}

/* jittered: between 60 and 100 %, so that many who lost the same server do not come back as one. */
static dw_usec jittered(struct socket_link *link, dw_usec pause)
{
	return pause - (dw_usec)rng_below(&link->rng, (uint64_t)(2 * pause / 5) + 1);
}

/* pause_of_now: short for a minute, so that a server that is back soon is found at once; then the
 * longer the outage lasts. */
static dw_usec pause_of_now(const struct socket_link *link)
{
	dw_usec late = usec_sub(usec_sub(link->now, link->out_since), EAGER);

	return usec_min(usec_max(late / 16, PAUSE_FIRST), PAUSE_MAX);
}

/* is_second: a listener loses the same server at the same time as the link beside it. */
static bool is_second(const struct socket_link *link)
{
	return link->options.channel != NULL;
}

/* tell_trouble says it once. */
static void tell_trouble(struct socket_link *link, dw_log_level level)
{
	if (strcmp(link->trouble, link->logged) == 0)
		return;
	memcpy(link->logged, link->trouble, sizeof link->logged);
	say(link, level, link->trouble);
}

/* lose closes what there is, and rests: `refused`: for long, nothing heals by itself. */
static void lose(struct socket_link *link, bool refused, const char *words)
{
	bool lasted = link->state == UP && usec_sub(link->now, link->up_since) >= LASTED;

	if (lasted || link->out_since == DW_NEVER)
		link->out_since = link->now;
	close_connection(link);
	link->state = RESTING;
	link->fatal = refused && link->connections == 0;
	link->deadline =
	    usec_add(link->now, jittered(link, refused ? PAUSE_MAX : pause_of_now(link)));
	(void)snprintf(link->trouble, sizeof link->trouble, "%s: %s", link->options.where->name,
		       words); /* cut if long */
	tell_trouble(link, is_second(link) && !refused ? DW_LOG_INFO : DW_LOG_WARN);
}

/* ---- Replies ------------------------------------------------------------------------------- */

static void come_up(struct socket_link *link)
{
	char line[DW_MESSAGE_SIZE];
	/* Whoever was told that it is lost is told that it is back. */
	bool warned = link->logged[0] && !is_second(link);

	link->state = UP;
	link->connections++;
	link->up_since = link->now;
	heartbeat_begin(&link->heart, link->now);
	link->fatal = false;
	probe_begin(&link->probe);
	link->trouble[0] = link->logged[0] = '\0';
	(void)snprintf(line, sizeof line, "%s: connected%s", link->options.where->name,
		       link->options.channel ? ", listening" : "");
	say(link, warned ? DW_LOG_WARN : DW_LOG_INFO, line);
}

static void note_probe(struct socket_link *link, const struct reply *reply)
{
	char words[DW_MESSAGE_SIZE];
	char line[TROUBLE_SIZE];
	enum probe_news news = probe_take(&link->probe, &link->greeting, reply, words);

	if (news == PROBE_NOTHING)
		return;
	(void)snprintf(line, sizeof line, "%s: %s", link->options.where->name, words);
	if (news == PROBE_TROUBLE) {
		memcpy(link->trouble, line, sizeof line);
		tell_trouble(link, DW_LOG_WARN);
	} else {
		link->trouble[0] = link->logged[0] = '\0';
		say(link, DW_LOG_WARN, line);
	}
}

static void judge(struct socket_link *link, const struct reply *reply)
{
	char words[DW_MESSAGE_SIZE];
	enum greeting_verdict verdict = greeting_judge(&link->greeting, reply, words);

	if (verdict == GREETING_SOON)
		link->out_since = link->now; /* it is there: it is asked often */
	if (verdict == GREETING_DONE) {
		come_up(link);
		note_probe(link, reply);
	} else if (verdict != GREETING_GOES_ON) {
		lose(link, verdict == GREETING_REFUSED, words);
	}
}

/* hear takes what a listener is told: a probe is answered by an array, too, or refused by a server
 * that refuses everything for a while: somebody is there. Any other message is no reply that is
 * due. */
static struct reply *hear(struct socket_link *link, struct reply *reply)
{
	bool array = reply->kind == REPLY_ARRAY && reply->count > 0;
	bool answers = reply->kind == REPLY_ERROR || (array && reply_is(&reply->items[0], "pong"));

	if (array && reply_is(&reply->items[0], "message")) {
		heartbeat_told(&link->heart);
		return reply;
	}
	if (!answers || heartbeat_take(&link->heart) != HEARTBEAT_PROBES)
		lose(link, false, "the server says what no listener can be told");
	reply_free(reply);
	return NULL;
}

/* accept_reply gives back what is the caller's; the link may be lost afterwards. */
static struct reply *accept_reply(struct socket_link *link, struct reply *reply)
{
	if (link->state == UP && link->options.channel)
		return hear(link, reply);
	if (link->state == GREETING) {
		judge(link, reply);
	} else {
		switch (heartbeat_take(&link->heart)) {
		case HEARTBEAT_COMMANDS:
			return reply;
		case HEARTBEAT_PROBES:
			note_probe(link, reply);
			break;
		case HEARTBEAT_NOBODYS:
			lose(link, false, "the server answers what nobody has asked");
			break;
		}
	}
	reply_free(reply);
	return NULL;
}

/* parse until there is a reply for the caller, or nothing complete any more. */
static void parse(struct socket_link *link)
{
	while (link->fd >= 0 && !link->ready) {
		struct reply *reply = NULL;
		int status = reply_next(link->reader, &reply);

		if (status != DW_OK) {
			lose(link, false,
			     status == DW_ENOMEM ? "no memory for a reply"
						 : "what answers there does not speak Redis' "
						   "protocol, or beyond all bounds");
			return;
		}
		if (!reply)
			return;
		link->ready = accept_reply(link, reply);
	}
}

static void read_some(struct socket_link *link)
{
	ssize_t got = recv(link->fd, link->input, sizeof link->input, MSG_DONTWAIT);

	link->more = got == (ssize_t)sizeof link->input || (got < 0 && errno == EINTR);
	if (got > 0) {
		heartbeat_hear(&link->heart, link->now);
		link->budget -= (size_t)got < link->budget ? (size_t)got : link->budget;
		if (!reply_feed(link->reader, link->input, (size_t)got))
			lose(link, false, "no memory for a reply");
	} else if (got == 0) {
		lose(link, false, "the server closed the connection");
	} else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
		lose(link, false, strerror(errno));
	}
}

/* pump reads and parses by turns, so that little is kept unparsed. */
static void pump(struct socket_link *link)
{
	parse(link);
	while (link->fd >= 0 && !link->ready && link->more && link->budget > 0) {
		read_some(link);
		parse(link);
	}
}

/* ---- Commands ------------------------------------------------------------------------------ */

static void watch(struct socket_link *link)
{
	uint32_t events = EPOLLIN | (link->outbox.count > 0 ? EPOLLOUT : 0);
	struct epoll_event event = {.events = events, .data.fd = link->fd};

	if (link->fd < 0 || events == link->watched)
		return;
	if (epoll_ctl(link->epoll_fd, EPOLL_CTL_MOD, link->fd, &event) == 0)
		link->watched = events;
	else
		lose(link, false, strerror(errno));
}

/* flush: a server that has hung up may have said why, so that is read first. */
static void flush(struct socket_link *link)
{
	bool any = false;
	int error = outbox_write(&link->outbox, link->fd, &any);

	heartbeat_written(&link->heart, link->now);
	if (error == 0)
		return;
	pump(link);
	if (link->fd >= 0)
		lose(link, false, strerror(error));
}

static void probe(struct socket_link *link)
{
	if (probe_send(&link->probe, &link->outbox) != DW_OK) {
		lose(link, false, "no memory for a probe");
		return;
	}
	heartbeat_probe(&link->heart, link->now);
	flush(link);
}

/* ---- Work ---------------------------------------------------------------------------------- */

static void greet(struct socket_link *link)
{
	link->fd = dial_take(&link->dial);
	link->watched = EPOLLOUT;
	link->state = GREETING;
	link->more = true;
	link->reader = reply_reader_new(&link->options.alloc);
	if (!link->reader || greeting_send(&link->greeting, &link->outbox) != DW_OK)
		lose(link, false, "no memory for a connection");
}

static void dial(struct socket_link *link)
{
	char words[DW_MESSAGE_SIZE];
	enum dial_verdict verdict;

	if (link->state == RESTING) {
		link->state = DIALLING;
		link->deadline = usec_add(link->now, link->options.connect_patience);
		verdict = dial_begin(&link->dial, link->now, link->deadline, words);
	} else {
		verdict = dial_work(&link->dial, link->now, words);
	}
	if (verdict == DIAL_DONE)
		greet(link);
	else if (verdict == DIAL_FAILED)
		lose(link, false, words);
}

/* announced: 0 also while the caller has not taken the reply before it. */
static size_t announced(const struct socket_link *link)
{
	return link->state == UP && !link->ready ? reply_announced(link->reader) : 0;
}

/* keep_time comes after reading: what has arrived while we were away is not late. */
static void keep_time(struct socket_link *link)
{
	const char *late = NULL;

	if (link->state == GREETING && link->now >= link->deadline)
		late = greeting_hangs(&link->greeting);
	else if (link->state == UP && !link->ready)
		late = heartbeat_late(&link->heart, link->now, announced(link));
	if (late)
		lose(link, false, late);
	else if (link->state == UP && link->now >= heartbeat_probe_at(&link->heart))
		probe(link);
}

static void work(struct link *base, dw_usec now)
{
	struct socket_link *link = link_of(base);

	link->now = now;
	heartbeat_count(&link->heart, now, announced(link));
	link->budget = INPUT_BUDGET;
	link->more = true;
	if ((link->state == RESTING && now >= link->deadline) || link->state == DIALLING)
		dial(link);
	if (link->fd >= 0 && link->outbox.count > 0)
		flush(link);
	if (link->fd >= 0)
		pump(link);
	keep_time(link);
	watch(link);
}

static dw_usec due(const struct link *base)
{
	const struct socket_link *link = const_link_of(base);

	if (link->ready || (link->outbox.count > 0 && !(link->watched & EPOLLOUT)))
		return 0; /* a reply is to be taken, or a command was not tried yet */
	if (link->state == UP)
		return heartbeat_due(&link->heart, announced(link));
	return link->state == DIALLING ? dial_due(&link->dial) : link->deadline;
}

/* ---- What the caller asks ------------------------------------------------------------------ */

static int descriptor(const struct link *base)
{
	return const_link_of(base)->epoll_fd;
}

static uint64_t connection(const struct link *base)
{
	const struct socket_link *link = const_link_of(base);

	return link->state == UP ? link->connections : 0;
}

/* fits: whether there is room for a command in the queue; each word has a head of its own. */
static bool fits(const struct socket_link *link, int count, const size_t *sizes)
{
	const size_t head = 32;
	size_t most = link->options.queue_max;
	size_t room = most > link->outbox.bytes ? most - link->outbox.bytes : 0;

	for (int i = 0; i < count; i++) {
		if (room < head || sizes[i] > room - head)
			return false;
		room -= head + sizes[i];
	}
	return true;
}

static int send_command(struct link *base, int count, const char *const *words, const size_t *sizes,
			dw_usec now)
{
	struct socket_link *link = link_of(base);
	int status;

	(void)now; /* its time counts from when it is written */
	assert(!link->options.channel);
	if (link->state != UP)
		return DW_ESTORE;
	if (!fits(link, count, sizes))
		return DW_ELIMIT;
	status = outbox_add(&link->outbox, count, words, sizes);
	if (status != DW_OK)
		return status;
	heartbeat_ask(&link->heart);
	return DW_OK;
}

static struct reply *take(struct link *base)
{
	struct socket_link *link = link_of(base);
	struct reply *reply = link->ready;

	link->ready = NULL;
	if (reply)
		pump(link);
	return reply;
}

static void drop(struct link *base, const char *why)
{
	struct socket_link *link = link_of(base);

	if (link->state != RESTING)
		lose(link, false, why);
}

static const char *trouble(const struct link *base, bool *ret_fatal)
{
	const struct socket_link *link = const_link_of(base);

	*ret_fatal = link->fatal;
	return link->trouble;
}

/* free_link in a forked child touches neither the connection nor the set: both are the parent's. */
static void free_link(struct link *base)
{
	struct socket_link *link = link_of(base);
	struct alloc alloc = link->options.alloc;
	bool forked = getpid() != link->maker;

	dial_free(&link->dial, forked);
	if (forked && link->fd >= 0)
		(void)close(link->fd); /* the parent's goes on */
	if (forked)
		link->fd = -1;
	link->dial = (struct dial){.fd = -1};
	close_connection(link);
	outbox_free(&link->outbox);
	(void)close(link->epoll_fd); /* it holds nothing */
	alloc_free(&alloc, link);
}

static const struct link_class socket_link_class = {
    .descriptor = descriptor,
    .work = work,
    .due = due,
    .connection = connection,
    .send = send_command,
    .take = take,
    .drop = drop,
    .trouble = trouble,
    .free = free_link,
};

/* ---- Making -------------------------------------------------------------------------------- */

static void set_defaults(struct socket_options *options)
{
	if (options->connect_patience == 0)
		options->connect_patience = DW_SECONDS(2);
	if (options->reply_patience == 0)
		options->reply_patience = DW_SECONDS(1);
	if (options->probe_every == 0)
		options->probe_every = DW_MILLISECONDS(400);
	if (options->queue_max == 0)
		options->queue_max = (size_t)64 << 20;
}

/* copy_words: the caller's strings need not outlive the call. */
static void copy_words(struct socket_link *link)
{
	struct socket_options *options = &link->options;

	if (options->name)
		(void)snprintf(link->name, sizeof link->name, "%s", options->name);
	if (options->channel)
		(void)snprintf(link->channel, sizeof link->channel, "%s", options->channel);
	if (options->probe_key)
		(void)snprintf(link->probe_key, sizeof link->probe_key, "%s", options->probe_key);
	options->probe_key = options->probe_key ? link->probe_key : NULL;
	link->probe.key = options->probe_key;
	options->name = options->name ? link->name : NULL;
	options->channel = options->channel ? link->channel : NULL;
	link->greeting = (struct greeting){.where = options->where,
					   .name = options->name,
					   .channel = options->channel,
					   .probe = options->probe_key,
					   .log = options->log,
					   .log_user = options->log_user};
}

int socket_link_new(struct link **ret_link, const struct socket_options *options)
{
	struct socket_link *link = alloc_new(&options->alloc, sizeof *link);

	assert(!options->channel || strlen(options->channel) < sizeof link->channel);
	assert(!options->probe_key || strlen(options->probe_key) < sizeof link->probe_key);
	if (!link)
		return DW_ENOMEM;
	link->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (link->epoll_fd < 0) {
		alloc_free(&options->alloc, link);
		return DW_ESYS;
	}
	link->link.type = &socket_link_class;
	link->options = *options;
	set_defaults(&link->options);
	copy_words(link);
	link->maker = getpid();
	link->rng.state = options->seed;
	link->fd = -1;
	link->out_since = DW_NEVER;
	link->heart.patience = link->options.reply_patience;
	link->heart.probe_every = link->options.probe_every;
	link->outbox.alloc = options->alloc;
	dial_init(&link->dial, &options->alloc, options->where, link->epoll_fd);
	*ret_link = &link->link;
	return DW_OK;
}
