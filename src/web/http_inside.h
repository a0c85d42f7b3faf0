/* The parts of the web server. http.c handles connections, http_route.c decides what a path shows,
 * and http_arguments.c reads the arguments behind its '?'. */
#ifndef DW_WEB_HTTP_INSIDE_H
#define DW_WEB_HTTP_INSIDE_H

#include <microhttpd.h>

#include "web/asks.h"
#include "web/http_guard.h"
#include "web/page.h"

enum { REQUEST_ASKS = 3, ROUTE_LIMIT = 100 };

enum route {
	ROUTE_STATUS,
	ROUTE_TOPICS,
	ROUTE_TIMERS,
	ROUTE_TIMER,
	ROUTE_DEAD,
	ROUTE_SCHEDULES,
	ROUTE_METRICS,
	ROUTE_HEALTHZ,
	ROUTE_READYZ,
	ROUTE_PAGE,
	ROUTE_ICON,
	ROUTE_NONE
};

enum { DUE_ARGUMENT_SIZE = 64 };

/* A request. It is suspended until all of its asks are answered. */
struct http_request {
	struct http_request *next;
	struct http *http;
	struct MHD_Connection *connection;
	enum route route;
	enum page_view view;      /* for a page: which view it shows */
	struct question question; /* for a list or a timer: the question to the store */
	bool wants_timer;         /* for a page: the question is the id of a timer */
	size_t skip;              /* for a page: the number of rows to leave out */
	struct local_zone zone; /* for a page: the zone of its times, if zone_argument is not "" */
	char zone_argument[LOCAL_NAME_SIZE];
	/* For a list of timers: the bounds as they were written, or "". */
	char due_from[DUE_ARGUMENT_SIZE], due_before[DUE_ARGUMENT_SIZE];
	struct ask *asks[REQUEST_ASKS];
	size_t ask_count;
	bool has_begun;
	bool is_suspended;
};

/* The reply to a request. The function that gets a reply must free its body. */
struct http_reply {
	unsigned status;
	const char *type; /* the content type of the body */
	bool is_page;     /* the reply needs our style and script */
	bool is_busy;     /* the client should ask again in some seconds */
	char *body;       /* NULL if out of memory */
};

/* route_of finds the route of a path and reads its arguments. Returns status 0 if the request is
 * accepted. */
struct refusal route_of(struct http_request *, const char *path);

/* route_path returns the path of a request target. A proxy sends the target as a URL. If this URL
 * has our host, the path follows it. */
const char *route_path(const char *target, struct MHD_Connection *);

/* route_kind returns what the guard must know about the path. */
enum path_kind route_kind(const char *path);

/* route_arguments reads the arguments into the question. Returns what is wrong with them, or
 * NULL. */
const char *route_arguments(struct http_request *);

/* route_name_of copies an id or a topic. Returns false if it is empty, is longer than `most` bytes,
 * or is invalid UTF-8. */
bool route_name_of(const char *text, size_t most, char *ret_name);

/* http_unescape decodes each %XX in place. libmicrohttpd calls it. It leaves %00 and invalid
 * escapes unchanged, because no name contains them. Returns the length. */
size_t http_unescape(void *user, struct MHD_Connection *, char *text);

/* http_uri_came refuses a request with too many arguments. libmicrohttpd would close its connection
 * without a reply. Returns NULL. */
void *http_uri_came(void *user, const char *uri, struct MHD_Connection *);

/* route_asks returns the number of questions that the route asks the store. */
size_t route_asks(const struct http_request *, struct question ret_questions[REQUEST_ASKS]);

/* What a reply needs besides the store's answers. */
struct http_facts {
	const dw *owner;  /* the owner of http_open(), or NULL */
	const char *name; /* the name of the namespace, or of the file */
	const struct asks *asks;
	const char *away; /* why the store fails to read or to write; "" if it works */
};

/* route_reply builds the reply once all asks are answered. */
struct http_reply route_reply(const struct http_request *, const struct http_facts *);

/* reply_refusal builds a reply with these words. Its format depends on the path. */
struct http_reply reply_refusal(struct refusal, const char *path);

#endif
