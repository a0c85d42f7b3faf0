/* The parts of the web server: http.c has the connections, http_route.c says what a path shows, and
 * http_arguments.c reads what is behind its '?'. */
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

/* A request. It is suspended while it waits for its asks. */
struct http_request {
	struct http_request *next;
	struct http *http;
	struct MHD_Connection *connection;
	enum route route;
	enum page_view view;      /* of a page */
	struct question question; /* of a list or a timer */
	bool wants_timer;         /* a page: the question is the id of a timer */
	size_t skip;              /* a page: so many rows of its list are left out */
	struct ask *asks[REQUEST_ASKS];
	size_t ask_count;
	bool has_begun;
	bool is_suspended;
};

/* What a path shows. The body is freed by whoever has it. */
struct http_reply {
	unsigned status;
	const char *type; /* of the body */
	bool is_page;     /* it has our style and script */
	bool is_busy;     /* ask again in some seconds */
	char *body;       /* NULL if out of memory */
};

/* route_of finds the route of a path, and reads its arguments. A status: it is refused, and the
 * words say why. */
struct refusal route_of(struct http_request *, const char *path);

/* route_path: a target in absolute form, as a proxy sends it, is a path of our host. */
const char *route_path(const char *target, struct MHD_Connection *);

/* route_kind: what the guard has to know of a path. */
enum path_kind route_kind(const char *path);

/* route_arguments reads the arguments into the question. Returns what is wrong, or NULL. */
const char *route_arguments(struct http_request *);

/* route_name_of copies an id or a topic. Returns false if it is empty, has more than `most` bytes,
 * or is invalid UTF-8. */
bool route_name_of(const char *text, size_t most, char *ret_name);

/* http_unescape decodes %XX in place, for libmicrohttpd. What is no escape, and %00, stays as it
 * is: no name has it. */
size_t http_unescape(void *user, struct MHD_Connection *, char *text);

/* http_uri_came refuses a request of very many arguments, which libmicrohttpd would close without a
 * word. */
void *http_uri_came(void *user, const char *uri, struct MHD_Connection *);

/* route_asks returns what the route asks of the store. */
size_t route_asks(const struct http_request *, struct question ret_questions[REQUEST_ASKS]);

/* What replies need besides the answers of the store. */
struct http_facts {
	const dw *owner;  /* see http_open() */
	const char *name; /* of the namespace, or the file */
	const struct rates *rates;
	const char *away; /* why the store fails, to read or to write; "": it does not */
};

/* route_reply makes the answer when all asks are answered. */
struct http_reply route_reply(const struct http_request *, const struct http_facts *);

/* reply_refusal: the words in the form that the path has. */
struct http_reply reply_refusal(struct refusal, const char *path);

#endif
