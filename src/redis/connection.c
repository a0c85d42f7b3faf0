#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/usec.h"
#include "redis/socket_link.h"

static struct socket_link *link_of(struct link *link)
{
	return (struct socket_link *)(void *)link;
}

static const struct socket_link *const_link_of(const struct link *link)
{
	return (const struct socket_link *)(const void *)link;
}

/* ---- Losing a connection ------------------------------------------------------------------- */

static void close_connection(struct socket_link *link)
{
	transport_close(&link->transport, false);
	dial_stop(&link->dial);
	output_clear(&link->output);
	input_end(&link->input);
	reply_free(link->ready);
	link->ready = NULL;
}

static void end_connection(struct socket_link *link, enum loss loss, const char *why)
{
	if (link->state == UP) {
		link->unsent = careful_unsent(&link->careful);
		life_lost(&link->life);
	}
	close_connection(link);
	link->deadline = reconnect_lost(&link->reconnect, link->now, link->state == UP, loss, why);
	link->state = RESTING;
}

/* lose closes the connection and rests until the next attempt. */
static void lose(struct socket_link *link, enum loss loss, const char *why)
{
	if (link->state == UP)
		careful_lost(&link->careful);
	end_connection(link, loss, why);
}

/* hung_up is called when the server has closed the connection. is_sure: the oldest command without
 * a reply is the cause. If the caller has not taken a reply, that reply is lost, too, and the
 * caller's oldest command is not the server's, so none is blamed. If a command is to blame, the
 * server works and others need not wait: the pause counts from the beginning of the connection. */
static void hung_up(struct socket_link *link, bool is_sure, const char *why)
{
	uint64_t connection = link->ready ? 0 : link->reconnect.connections;
	bool was_up = link->state == UP;

	if (was_up)
		careful_closed(&link->careful, connection, is_sure, link->now);
	end_connection(link, LOSS_PLAIN, why);
	if (was_up && link->careful.blamed)
		link->deadline =
		    usec_sub(link->deadline, usec_sub(link->now, link->reconnect.up_since));
}

/* ---- Replies ------------------------------------------------------------------------------- */

static void come_up(struct socket_link *link)
{
	link->state = UP;
	careful_up(&link->careful, link->hello.server);
	life_up(&link->life, &link->hello, link->now);
	heartbeat_begin(&link->heart, link->now);
	probe_begin(&link->probe);
	reconnect_up(&link->reconnect, link->now);
}

static void note_probe(struct socket_link *link, const struct reply *reply)
{
	char words[DW_MESSAGE_SIZE];
	enum probe_news news = probe_take(&link->probe, &link->hello, reply, words);

	if (news == PROBE_TROUBLE)
		reconnect_useless(&link->reconnect, words);
	else if (news == PROBE_TROUBLE_OVER)
		reconnect_useful(&link->reconnect, words);
}

static void judge(struct socket_link *link, const struct reply *reply)
{
	char words[DW_MESSAGE_SIZE];
	enum hello_verdict verdict = hello_judge(&link->hello, reply, words);

	if (verdict == HELLO_SOON)
		reconnect_soon(&link->reconnect, link->now);
	if (verdict == HELLO_DONE) {
		come_up(link);
		note_probe(link, reply);
	} else if (verdict != HELLO_GOES_ON) {
		if (reply_fails(reply, "LOADING"))
			life_loading(&link->life, link->now);
		lose(link, verdict == HELLO_REFUSED ? LOSS_REFUSED : LOSS_PLAIN, words);
	}
}

/* hear takes a reply on a subscriber's connection, and returns it if it is a message of a channel.
 * The answer to a probe is an array, too, or an error if the server refuses everything for a while.
 * Nothing else may arrive. */
static struct reply *hear(struct socket_link *link, struct reply *reply)
{
	bool array = reply->kind == REPLY_ARRAY && reply->count > 0;
	bool answers = reply->kind == REPLY_ERROR || (array && reply_is(&reply->items[0], "pong"));

	if (array && reply_is(&reply->items[0], "message")) {
		heartbeat_told(&link->heart);
		return reply;
	}
	if (!answers || heartbeat_take(&link->heart) != HEARTBEAT_PROBES)
		lose(link, LOSS_NONSENSE, "the server sent a subscriber no message of a channel");
	reply_free(reply);
	return NULL;
}

/* says_last returns true if the server closes the connection after this reply, because it does not
 * accept the command. */
static bool says_last(const struct reply *reply)
{
	return reply_fails(reply, "ERR Protocol error:");
}

/* hear_last takes the server's last reply. The command, which is too large, gets no other reply. */
static void hear_last(struct socket_link *link, const struct reply *reply)
{
	char text[160];

	hung_up(link, true, hello_quote(&link->hello, reply, text, sizeof text));
}

/* accept_reply returns the reply if it belongs to the caller, else handles and frees it. The
 * connection may be lost afterwards. */
static struct reply *accept_reply(struct socket_link *link, struct reply *reply)
{
	if (link->state == UP && link->options.channels)
		return hear(link, reply);
	if (link->state == HELLO) {
		judge(link, reply);
	} else if (says_last(reply)) {
		hear_last(link, reply);
	} else {
		switch (heartbeat_take(&link->heart)) {
		case HEARTBEAT_COMMANDS:
			return reply;
		case HEARTBEAT_PROBES:
			note_probe(link, reply);
			break;
		case HEARTBEAT_NOBODYS:
			lose(link, LOSS_NONSENSE, "the server sent a reply to no command");
			break;
		}
	}
	reply_free(reply);
	return NULL;
}

/* loss_of returns the kind of a loss. LOSS_NONSENSE counts only on a connection that was up. */
static enum loss loss_of(const struct socket_link *link)
{
	return link->transport.refused ? LOSS_REFUSED : LOSS_NONSENSE;
}

/* pump reads until it has a reply for the caller, or there is nothing more to read. */
static void pump(struct socket_link *link)
{
	while (link->transport.fd >= 0 && !link->ready) {
		char words[DW_MESSAGE_SIZE];
		struct reply *reply = NULL;
		bool heard = false;
		const char *failure = input_next(&link->input, &link->transport, &heard, &reply);

		if (heard)
			heartbeat_hear(&link->heart, link->now);
		if (failure && link->state == HELLO)
			failure = hello_explain(&link->hello, &link->transport, &link->input,
						failure, words);
		if (failure && link->input.closed)
			hung_up(link, false, failure);
		else if (failure)
			lose(link, loss_of(link), failure);
		else if (!reply)
			return;
		else
			link->ready = accept_reply(link, reply);
	}
}

/* ---- Commands ------------------------------------------------------------------------------ */

/* room returns how many queued commands may be written now. */
static size_t room(const struct socket_link *link)
{
	if (link->state != UP)
		return link->output.count;
	return careful_room(&link->careful, link->now);
}

static uint32_t wanted(const struct socket_link *link)
{
	return transport_wants(&link->transport, EPOLLIN | (room(link) > 0 ? EPOLLOUT : 0));
}

static void watch(struct socket_link *link)
{
	int error = transport_watch(&link->transport, wanted(link));

	if (error != 0)
		lose(link, LOSS_PLAIN, strerror(error));
}

/* flush writes the queued commands. If the server has closed the connection, its last words may say
 * why, so these are read first. */
static void flush(struct socket_link *link)
{
	int error = output_write(&link->output, &link->transport, room(link));

	heartbeat_written(&link->heart, link->now);
	if (error == 0)
		return;
	pump(link);
	if (link->transport.fd >= 0 && (error == EPIPE || error == ECONNRESET))
		hung_up(link, false, strerror(error));
	else if (link->transport.fd >= 0)
		lose(link, LOSS_PLAIN, strerror(error));
}

static void probe(struct socket_link *link)
{
	if (probe_send(&link->probe, &link->output) != DW_OK) {
		lose(link, LOSS_PLAIN, "no memory for a probe");
		return;
	}
	heartbeat_probe(&link->heart, link->now);
	flush(link);
}

/* ---- Work ---------------------------------------------------------------------------------- */

static void greet(struct socket_link *link)
{
	link->state = HELLO;
	if (!input_begin(&link->input, &link->options.alloc) ||
	    hello_send(&link->hello, &link->output) != DW_OK)
		lose(link, LOSS_PLAIN, "no memory for a connection");
}

static void secure(struct socket_link *link)
{
	enum tls_verdict verdict = transport_secure(&link->transport);

	if (verdict == TLS_DONE)
		greet(link);
	else if (verdict != TLS_GOES_ON)
		lose(link, loss_of(link), link->transport.words);
}

static void connected(struct socket_link *link)
{
	int fd = dial_take(&link->dial);

	link->state = SECURING;
	life_accepted(&link->life);
	if (transport_begin(&link->transport, fd, link->options.url, &link->options.alloc))
		secure(link);
	else
		lose(link, loss_of(link), link->transport.words);
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
		connected(link);
	if (verdict == DIAL_FAILED) {
		life_refused(&link->life, link->dial.is_refused, link->now);
		lose(link, LOSS_PLAIN, words);
	}
}

/* announced returns the least size of the reply that is arriving. It returns 0 if none is arriving,
 * or if the caller has not taken the reply before it. */
static size_t announced(const struct socket_link *link)
{
	return link->state == UP && !link->ready ? input_announced(&link->input) : 0;
}

/* keep_time looks for deadlines that have passed. It is called after reading, so that bytes that
 * arrived while the program was busy do not count as late. */
static void keep_time(struct socket_link *link)
{
	char words[DW_MESSAGE_SIZE];
	const char *late = NULL;

	if (link->state == SECURING && link->now >= link->deadline)
		late = tls_hangs(link->transport.tls, words);
	else if (link->state == HELLO && link->now >= link->deadline)
		late = hello_hangs(&link->hello);
	else if (link->state == UP && !link->ready)
		late = heartbeat_late(&link->heart, link->now, announced(link));
	if (link->state == UP)
		reconnect_lasts(&link->reconnect, link->now);
	if (late)
		lose(link, LOSS_PLAIN, late);
	else if (link->state == UP && link->now >= heartbeat_probe_at(&link->heart))
		probe(link);
}

static void socket_work(struct link *base, dw_usec now)
{
	struct socket_link *link = link_of(base);

	link->now = now;
	heartbeat_count(&link->heart, now, announced(link));
	input_allow(&link->input);
	if ((link->state == RESTING && now >= link->deadline) || link->state == DIALLING)
		dial(link);
	else if (link->state == SECURING)
		secure(link);
	if (link->state >= HELLO && room(link) > 0)
		flush(link);
	if (link->state >= HELLO)
		pump(link);
	keep_time(link);
	watch(link);
}

static dw_usec socket_due(const struct link *base)
{
	const struct socket_link *link = const_link_of(base);

	if (link->ready || (link->transport.fd >= 0 && (wanted(link) & ~link->transport.watched)))
		return 0; /* take() has a reply, or a command is not written yet */
	if (link->state >= HELLO && link->input.more)
		return 0; /* the turn has read its share, and TLS may hold more bytes */
	if (link->state == UP)
		return heartbeat_due(&link->heart, announced(link));
	return link->state == DIALLING ? dial_due(&link->dial) : link->deadline;
}

/* ---- What the caller asks ------------------------------------------------------------------ */

static int socket_descriptor(const struct link *base)
{
	return const_link_of(base)->transport.epoll_fd;
}

static uint64_t socket_connection(const struct link *base)
{
	const struct socket_link *link = const_link_of(base);

	return link->state == UP ? link->reconnect.connections : 0;
}

/* fits returns true if the queue has space for a command. `head` bounds the bytes that each word
 * needs besides its own. */
static bool fits(const struct socket_link *link, int count, const size_t *sizes)
{
	const size_t head = 32;
	size_t most = link->options.queue_max;
	size_t room = most > link->output.bytes ? most - link->output.bytes : 0;

	for (int i = 0; i < count; i++) {
		if (room < head || sizes[i] > room - head)
			return false;
		room -= head + sizes[i];
	}
	return true;
}

static int socket_send(struct link *base, int count, const char *const *words, const size_t *sizes,
		       dw_usec now)
{
	struct socket_link *link = link_of(base);
	int status;

	(void)now; /* the time of a command begins when the command is written */
	assert(!link->options.channels);
	if (link->state != UP)
		return DW_ESTORE;
	if (!fits(link, count, sizes))
		return DW_ELIMIT;
	status = output_add(&link->output, count, words, sizes);
	if (status != DW_OK)
		return status;
	heartbeat_ask(&link->heart);
	return DW_OK;
}

static struct reply *socket_take(struct link *base)
{
	struct socket_link *link = link_of(base);
	struct reply *reply = link->ready;

	link->ready = NULL;
	if (reply)
		pump(link);
	return reply;
}

static void socket_drop(struct link *base, const char *why)
{
	struct socket_link *link = link_of(base);

	if (link->state != RESTING)
		lose(link, LOSS_NONSENSE, why);
}

/* socket_aim also forgets what the link knows of the last server. */
static void socket_aim(struct link *base, dw_usec now)
{
	struct socket_link *link = link_of(base);

	link->now = now;
	if (link->state != RESTING)
		lose(link, LOSS_PLAIN, "another server is named now");
	link->life = (struct life){.is_away = false};
	link->deadline = now;
}

static const char *socket_trouble(const struct link *base, bool *ret_fatal)
{
	const struct socket_link *link = const_link_of(base);

	*ret_fatal = link->reconnect.fatal;
	return link->reconnect.trouble;
}

static void socket_careful(struct link *base, dw_usec now)
{
	careful_begin(&link_of(base)->careful, now);
}

static uint64_t socket_blamed(const struct link *base)
{
	return const_link_of(base)->careful.blamed;
}

static size_t socket_unsent(const struct link *base)
{
	return const_link_of(base)->unsent;
}

static const struct link_server *socket_server(const struct link *base)
{
	return &const_link_of(base)->life.server;
}

/* socket_free in a forked child leaves the connection and the epoll set as they are, because they
 * are the parent's. */
static void socket_free(struct link *base)
{
	struct socket_link *link = link_of(base);
	struct alloc alloc = link->options.alloc;
	bool forked = getpid() != link->maker;

	dial_free(&link->dial, forked);
	if (forked)
		transport_close(&link->transport, true);
	link->dial = (struct dial){.fd = -1};
	close_connection(link);
	output_free(&link->output);
	(void)close(link->transport.epoll_fd); /* nothing can be lost */
	alloc_free(&alloc, link);
}

const struct link_class socket_link_class = {
    .descriptor = socket_descriptor,
    .work = socket_work,
    .due = socket_due,
    .connection = socket_connection,
    .send = socket_send,
    .take = socket_take,
    .drop = socket_drop,
    .aim = socket_aim,
    .trouble = socket_trouble,
    .careful = socket_careful,
    .blamed = socket_blamed,
    .unsent = socket_unsent,
    .server = socket_server,
    .free = socket_free,
};
