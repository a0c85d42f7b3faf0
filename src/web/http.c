#include "web/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "cli/out/errors.h"
#include "web/http_inside.h"
#include "web/http_peers.h"
#include "cli/session.h"
#include "durawheel/metrics.h"

enum { MEMORY = 20 * 1024, PATIENCE_S = 5 };

#define OPEN_EVERY DW_SECONDS(5)

struct http {
	struct guard guard;
	struct asks asks;
	dw *look, *lists; /* client handles of this server; `lists` may be busy for long */
	dw *owner;        /* the owner in this process, or NULL */
	const char *name; /* the name of the namespace, or of the file */
	struct options options;
	dw_usec open_at; /* the steady time of the next attempt to open the clients */
	struct MHD_Daemon *daemon;
	int epoll_fd, timer_fd;
	struct http_request *suspended;
	struct peers peers;
};

/* ---- Connections ----------------------------------------------------------------------------- */

static void connection_noted(void *user, struct MHD_Connection *connection, void **ret_peer,
			     enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct http *http = user;

	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		*ret_peer = peers_take(&http->peers, info->connect_fd);
	else if (*ret_peer)
		peers_leave(&http->peers, *ret_peer);
}

/* peer_of returns the peer of a connection. It is never NULL, because libmicrohttpd opens no more
 * connections than there are peers. */
static struct peer *peer_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
	    ->socket_context;
}

/* ---- Replies --------------------------------------------------------------------------------- */

static void add_headers(struct MHD_Response *response, const struct http_reply *reply, bool is_last)
{
	static const char *const headers[][2] = {
	    {"Cache-Control", "no-store"},
	    {"X-Content-Type-Options", "nosniff"},
	    {"Referrer-Policy", "no-referrer"},
	    {"Cross-Origin-Resource-Policy", "same-origin"},
	};
	char policy[512];

	(void)snprintf(policy, sizeof policy,
		       "default-src 'none'; script-src '%s'; style-src '%s'; img-src 'self'; "
		       "connect-src 'self'; form-action 'self'; base-uri 'none'; "
		       "frame-ancestors 'none'",
		       asset_page_js_hash, asset_page_css_hash); /* the text always fits */
	(void)MHD_add_response_header(
	    response, "Content-Security-Policy",
	    reply->is_page ? policy : "default-src 'none'; frame-ancestors 'none'");
	for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
		(void)MHD_add_response_header(response, headers[i][0], headers[i][1]);
	(void)MHD_add_response_header(response, "Content-Type", reply->type);
	if (reply->status == 405)
		(void)MHD_add_response_header(response, "Allow", "GET, HEAD");
	if (reply->is_busy)
		(void)MHD_add_response_header(response, "Retry-After", "5");
	if (is_last)
		(void)MHD_add_response_header(response, "Connection", "close");
	if (reply->status == 401)
		(void)MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
}

/* send_reply takes ownership of the body. */
static enum MHD_Result send_reply(const struct http_request *request, struct http_reply reply)
{
	struct MHD_Response *response;
	enum MHD_Result result;

	if (!reply.body)
		return MHD_NO; /* out of memory; libmicrohttpd closes the connection */
	response =
	    MHD_create_response_from_buffer(strlen(reply.body), reply.body, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(reply.body);
		return MHD_NO;
	}
	add_headers(response, &reply, peers_are_many(&request->http->peers));
	result = MHD_queue_response(request->connection, reply.status, response);
	MHD_destroy_response(response);
	return result;
}

/* ---- Requests -------------------------------------------------------------------------------- */

static bool is_answered(const struct http_request *request)
{
	for (size_t i = 0; i < request->ask_count; i++)
		if (request->asks[i]->state != ASK_ANSWERED)
			return false;
	return true;
}

static void suspend(struct http_request *request)
{
	struct http *http = request->http;

	request->is_suspended = true;
	peer_of(request->connection)->is_held = true;
	request->next = http->suspended;
	http->suspended = request;
	MHD_suspend_connection(request->connection);
}

/* must_wait returns true if the request has no answer yet, its client is still there, and its time
 * is not over. */
static bool must_wait(const struct http_request *request)
{
	const struct peer *peer = peer_of(request->connection);

	return !is_answered(request) && !peer_is_gone(peer) && !peer_is_late(peer);
}

/* resume resumes the requests that need not wait any more. */
static void resume(struct http *http)
{
	struct http_request **at = &http->suspended;

	while (*at) {
		struct http_request *request = *at;

		if (must_wait(request)) {
			at = &request->next;
			continue;
		}
		*at = request->next;
		request->is_suspended = false;
		peer_of(request->connection)->is_held = false;
		MHD_resume_connection(request->connection);
	}
}

/* give_up answers a request that has waited too long. */
static enum MHD_Result give_up(const struct http_request *request, const char *path)
{
	struct refusal refusal = {503, "the store has not answered within 30 s"};
	struct peer *peer = peer_of(request->connection);

	if (peer_is_gone(peer))
		return MHD_NO;
	peer_ended(peer); /* gives the client time to read the reply */
	return send_reply(request, reply_refusal(refusal, path));
}

/* go_on answers the request. If the store has not answered yet, it suspends the request. */
static enum MHD_Result go_on(struct http_request *request, const char *path)
{
	const struct http *http = request->http;
	struct http_facts facts = {
	    .owner = http->owner, .name = http->name, .asks = &http->asks, .away = http->asks.away};

	if (is_answered(request))
		return send_reply(request, route_reply(request, &facts));
	if (!must_wait(request))
		return give_up(request, path);
	if (!request->is_suspended)
		suspend(request);
	return MHD_YES;
}

/* is_spared returns true for paths about the state of the server. They are answered even if the
 * server is busy. */
static bool is_spared(enum route route)
{
	return route == ROUTE_HEALTHZ || route == ROUTE_READYZ || route == ROUTE_METRICS;
}

/* check finds the route of a request, or refuses the request. */
static struct refusal check(struct http_request *request, const char *path, const char *method)
{
	struct refusal refusal =
	    guard_check(&request->http->guard, request->connection, method, route_kind(path));

	if (!refusal.status)
		refusal = route_of(request, path);
	if (!refusal.status && peers_are_busy(&request->http->peers) && !is_spared(request->route))
		refusal = (struct refusal){503, "too many requests are answered: ask again"};
	return refusal;
}

/* begin asks the store for everything that the request shows. */
static enum MHD_Result begin(struct http_request *request, const char *path)
{
	const struct refusal busy = {503, "too many lists are asked for: ask again"};
	struct question questions[REQUEST_ASKS];
	size_t count = route_asks(request, questions);

	for (size_t i = 0; i < count; i++) {
		struct ask *ask = asks_put(&request->http->asks, &questions[i]);

		if (!ask)
			return send_reply(request, reply_refusal(busy, path));
		request->asks[request->ask_count++] = ask;
	}
	request->has_begun = true;
	(void)asks_turn(&request->http->asks); /* http_turn() uses its result */
	return go_on(request, path);
}

/* request_came is called by libmicrohttpd: first with the headers, then with the whole request, and
 * again after each resume. A reply to the first call also ends the connection. */
static enum MHD_Result request_came(void *user, struct MHD_Connection *connection, const char *path,
				    const char *method, const char *version, const char *data,
				    size_t *data_size, void **place)
{
	struct http_request *request = *place;
	struct refusal refusal;

	path = route_path(path, connection);
	(void)version;
	(void)data;
	*data_size = 0; /* a request has no body */
	if (request)
		return request->has_begun ? go_on(request, path) : begin(request, path);
	request = calloc(1, sizeof *request);
	if (!request)
		return MHD_NO;
	*place = request;
	request->http = user;
	request->connection = connection;
	peer_began(peer_of(connection));
	refusal = check(request, path, method);
	return refusal.status ? send_reply(request, reply_refusal(refusal, path)) : MHD_YES;
}

static void request_ended(void *user, struct MHD_Connection *connection, void **place,
			  enum MHD_RequestTerminationCode code)
{
	struct http_request *request = *place;

	(void)user;
	(void)code;
	peer_ended(peer_of(connection));
	if (!request)
		return;
	for (size_t i = 0; i < request->ask_count; i++)
		asks_release(request->asks[i]);
	free(request);
	*place = NULL;
}

/* ---- The clients ----------------------------------------------------------------------------- */

static bool watch(const struct http *http, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data = {.fd = fd}};

	return epoll_ctl(http->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void http_event(dw *d, const dw_event *event, void *user)
{
	struct http *http = user;

	(void)d;
	asks_note(&http->asks, event);
}

static void close_clients(struct http *http)
{
	(void)dw_close(http->look, SESSION_PATIENCE);  /* no operation was requested */
	(void)dw_close(http->lists, SESSION_PATIENCE); /* no operation was requested */
	http->look = http->lists = NULL;
}

static int open_clients(struct http *http)
{
	dw_options look = {.role = DW_CLIENT, .on_event = http_event, .on_event_user = http};
	int code = session_look(&http->options, look, &http->look);

	if (code == EXIT_DONE)
		code = session_look(&http->options, (dw_options){.role = DW_CLIENT}, &http->lists);
	if (code == EXIT_DONE &&
	    (!watch(http, dw_fd(http->look)) || !watch(http, dw_fd(http->lists))))
		code = complain(EXIT_FAILED, "--http: %s", strerror(errno));
	if (code != EXIT_DONE)
		close_clients(http);
	return code;
}

/* is_away returns true if the store is unreachable and the owner works with its journal. An owner
 * that may not use a shard, or whose lease is over, can still reach its store. */
static bool is_away(const dw *owner)
{
	dw_stats stats = {.size = sizeof stats};

	return owner && dw_get_stats(owner, &stats) == DW_OK &&
	       stats.journal.state == DW_JOURNAL_TAKES;
}

/* open_later opens the clients once the owner says that the store is back. */
static void open_later(struct http *http)
{
	dw_usec steady = session_steady();

	if (steady < http->open_at || is_away(http->owner))
		return;
	http->open_at = steady + OPEN_EVERY;
	if (open_clients(http) == EXIT_DONE)
		asks_found(&http->asks, http->look, http->lists);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

dw *http_client(const struct http *http)
{
	return http->asks.d;
}

int http_fd(const struct http *http)
{
	return http->epoll_fd;
}

/* arm_timer makes the descriptor readable at the time `at`, or earlier if libmicrohttpd needs
 * it. */
static void arm_timer(struct http *http, dw_usec at)
{
	dw_usec steady = session_steady();
	struct itimerspec spec = {.it_interval = {0}};
	MHD_UNSIGNED_LONG_LONG left_ms;

	if (MHD_get_timeout(http->daemon, &left_ms) == MHD_YES &&
	    steady + (dw_usec)left_ms * 1000 < at)
		at = steady + (dw_usec)left_ms * 1000;
	at = at > steady ? at : steady;
	spec.it_value =
	    (struct timespec){.tv_sec = at / 1000000, .tv_nsec = at % 1000000 * 1000 + 1};
	(void)timerfd_settime(http->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL); /* cannot fail */
}

void http_turn(struct http *http)
{
	uint64_t count;
	dw_usec asks_at, peers_at;

	/* It fails with EAGAIN before the time. */
	(void)!read(http->timer_fd, &count, sizeof count);
	if (!http->look)
		open_later(http);
	if (http->look) {
		(void)dw_turn(http->look);  /* dw_turn() fails only inside a callback */
		(void)dw_turn(http->lists); /* the same holds here */
	}
	(void)asks_turn(&http->asks); /* sends its answers to the clients below */
	resume(http);
	(void)MHD_run(http->daemon);
	peers_at = peers_turn(&http->peers);
	asks_at = asks_turn(&http->asks);
	arm_timer(http, asks_at < peers_at ? asks_at : peers_at);
}

/* ---- Opening and closing --------------------------------------------------------------------- */

static bool open_daemon(struct http *http)
{
	const union MHD_DaemonInfo *info;

	http->daemon = MHD_start_daemon(
	    MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, request_came, http,
	    MHD_OPTION_LISTEN_SOCKET, http->guard.listen_fd, MHD_OPTION_CONNECTION_LIMIT,
	    (unsigned)PEERS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)PATIENCE_S,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY, MHD_OPTION_NOTIFY_COMPLETED,
	    request_ended, http, MHD_OPTION_NOTIFY_CONNECTION, connection_noted, http,
	    MHD_OPTION_UNESCAPE_CALLBACK, http_unescape, http, MHD_OPTION_URI_LOG_CALLBACK,
	    http_uri_came, http, MHD_OPTION_END);
	if (!http->daemon)
		return false;
	http->guard.listen_fd = -1; /* now the daemon closes it */
	info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	return info && watch(http, info->epoll_fd);
}

static bool open_loop(struct http *http)
{
	http->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	http->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	return http->epoll_fd >= 0 && http->timer_fd >= 0 && watch(http, http->timer_fd);
}

int http_check_address(const struct options *options)
{
	return guard_check_address(options);
}

int http_check_token(const struct options *options)
{
	return guard_check_token(options);
}

int http_check_host(const struct options *options)
{
	return guard_check_host(options);
}

/* open_asks opens the clients. If the store is unreachable, all questions fail until open_later()
 * has opened the clients. */
static int open_asks(struct http *http, const struct options *options)
{
	dw_event away = {.kind = DW_EVENT_STORE_FAILED, .message = "the store is away"};
	bool has_store;
	int code;

	if (http->owner && options->value[OPT_JOURNAL])
		(void)dw_turn(http->owner); /* the owner learns the state of the store */
	has_store = !is_away(http->owner);
	code = has_store ? open_clients(http) : EXIT_DONE;
	asks_open(&http->asks, http->look, http->lists, http->owner);
	http->asks.shows_data = options->value[OPT_SHOW_DATA] != NULL;
	if (!has_store)
		asks_note(&http->asks, &away);
	return code;
}

int http_open(struct http **ret_http, const struct options *options, dw *owner)
{
	struct http *http = calloc(1, sizeof *http);
	int code;

	if (!http)
		return complain(EXIT_FAILED, "out of memory");
	http->owner = owner;
	http->name = session_name(options);
	http->options = *options;
	http->options.value[OPT_JOURNAL] = NULL; /* only the owner may open the journal */
	http->epoll_fd = http->timer_fd = -1;
	peers_open(&http->peers);
	code = guard_open(&http->guard, options);
	if (code == EXIT_DONE && !open_loop(http))
		code = complain(EXIT_FAILED, "--http: %s", strerror(errno));
	if (code == EXIT_DONE)
		code = open_asks(http, options);
	if (code == EXIT_DONE && !open_daemon(http))
		code = complain(EXIT_FAILED, "--http: %s", strerror(errno));
	if (code != EXIT_DONE) {
		http_close(http);
		return code;
	}
	(void)complain(EXIT_DONE, http->guard.is_unix ? "serving unix:%s" : "serving http://%s/",
		       http->guard.is_unix ? http->guard.path : http->guard.host);
	http_turn(http);
	*ret_http = http;
	return EXIT_DONE;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		(void)close(fd); /* nothing was written to it */
}

void http_close(struct http *http)
{
	if (!http)
		return;
	close_clients(http);
	if (http->daemon) {
		resume(http); /* closing the clients has answered all questions */
		for (struct http_request *request = http->suspended; request;
		     request = request->next)
			MHD_resume_connection(request->connection);
		MHD_stop_daemon(http->daemon);
	}
	asks_close(&http->asks);
	guard_close(&http->guard);
	close_fd(http->timer_fd);
	close_fd(http->epoll_fd);
	free(http);
}
