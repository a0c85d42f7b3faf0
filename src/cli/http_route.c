#include "cli/http_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/errors.h"
#include "cli/session.h"
#include "durawheel/metrics.h"

#define API "/api/v1/"
#define JSON_TYPE "application/json"
#define TEXT_TYPE "text/plain; charset=utf-8"
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define SILENT_AFTER DW_SECONDS(30)

enum { LIMIT_DEFAULT = 100, LIMIT_MAX = 1000 };

/* ---- Paths ----------------------------------------------------------------------------------- */

static const struct {
	const char *path;
	enum route route;
} routes[] = {
    {API "status", ROUTE_STATUS}, {API "topics", ROUTE_TOPICS}, {API "timers", ROUTE_TIMERS},
    {API "dead", ROUTE_DEAD},     {"/metrics", ROUTE_METRICS},  {"/healthz", ROUTE_HEALTHZ},
    {"/readyz", ROUTE_READYZ},
};

/* name_of copies an id or a topic. False: it is empty or too long. */
static bool name_of(const char *text, size_t most, char *ret_name)
{
	size_t size = strlen(text);

	if (size == 0 || size > most)
		return false;
	memcpy(ret_name, text, size + 1);
	return true;
}

static enum route find_route(struct http_request *request, const char *path)
{
	static const char timer[] = API "timers/";

	for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
		if (strcmp(path, routes[i].path) == 0)
			return routes[i].route;
	if (strncmp(path, timer, sizeof timer - 1) == 0 &&
	    name_of(path + sizeof timer - 1, DW_ID_MAX, request->question.name))
		return ROUTE_TIMER;
	return ROUTE_NONE;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

struct arguments {
	struct http_request *request;
	bool topic, limit, after; /* given */
	const char *fault;
};

/* read_number reads all of text, or up to `end`. */
static bool read_number(const char **text, char end, unsigned long long most,
			unsigned long long *ret_number)
{
	unsigned long long number = 0;
	const char *at = *text;

	for (; *at >= '0' && *at <= '9'; at++) {
		unsigned digit = (unsigned)(*at - '0');

		if (number > (most - digit) / 10)
			return false;
		number = number * 10 + digit;
	}
	if (at == *text || *at != end)
		return false;
	*text = at;
	*ret_number = number;
	return true;
}

static const char *read_limit(struct arguments *reading, const char *text)
{
	unsigned long long limit;

	if (!read_number(&text, '\0', LIMIT_MAX, &limit) || limit == 0)
		return "limit: write 1 to 1000";
	reading->request->question.limit = (size_t)limit;
	return NULL;
}

/* read_after reads what an earlier answer had as "next". */
static const char *read_after(struct arguments *reading, const char *text)
{
	dw_cursor *after = &reading->request->question.after;
	unsigned long long due, generation;

	if (!read_number(&text, '.', INT64_MAX, &due))
		return "after: write the next of the answer before";
	text++;
	if (!read_number(&text, '\0', UINT64_MAX, &generation))
		return "after: write the next of the answer before";
	*after = (dw_cursor){.due = (dw_usec)due, .generation = generation, .started = 1};
	return NULL;
}

static const char *read_topic(struct arguments *reading, const char *text)
{
	return name_of(text, DW_TOPIC_MAX, reading->request->question.name)
		   ? NULL
		   : "topic: it is empty or too long";
}

/* read_once: an argument that is given twice is refused. */
static const char *read_once(struct arguments *reading, bool *given, const char *value,
			     const char *(*read_value)(struct arguments *, const char *))
{
	if (*given || !value)
		return "an argument is given twice, or has no value";
	*given = true;
	return read_value(reading, value);
}

static enum MHD_Result read_argument(void *user, enum MHD_ValueKind kind, const char *name,
				     const char *value)
{
	struct arguments *reading = user;
	bool is_list =
	    reading->request->route == ROUTE_TIMERS || reading->request->route == ROUTE_DEAD;

	(void)kind;
	if (reading->fault)
		return MHD_NO;
	if (is_list && strcmp(name, "topic") == 0)
		reading->fault = read_once(reading, &reading->topic, value, read_topic);
	else if (is_list && strcmp(name, "limit") == 0)
		reading->fault = read_once(reading, &reading->limit, value, read_limit);
	else if (is_list && strcmp(name, "after") == 0)
		reading->fault = read_once(reading, &reading->after, value, read_after);
	else
		reading->fault = "no such argument here";
	return MHD_YES;
}

struct refusal route_of(struct http_request *request, const char *path)
{
	struct arguments reading = {.request = request};

	request->question.limit = LIMIT_DEFAULT;
	request->route = find_route(request, path);
	if (request->route == ROUTE_NONE)
		return (struct refusal){404, "no such path"};
	(void)MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, read_argument,
					&reading);
	return (struct refusal){reading.fault ? 400 : 0, reading.fault};
}

size_t route_asks(const struct http_request *request, struct question ret_questions[REQUEST_ASKS])
{
	static const enum ask_kind kinds[] = {
	    [ROUTE_STATUS] = ASK_STATUS,  [ROUTE_TOPICS] = ASK_TOPICS,
	    [ROUTE_TIMERS] = ASK_TIMERS,  [ROUTE_TIMER] = ASK_TIMER,
	    [ROUTE_DEAD] = ASK_DEAD,      [ROUTE_METRICS] = ASK_METRICS,
	    [ROUTE_HEALTHZ] = ASK_STATUS, [ROUTE_READYZ] = ASK_STATUS,
	};

	if (request->route == ROUTE_HEALTHZ)
		return 0;
	ret_questions[0] = request->question;
	ret_questions[0].kind = kinds[request->route];
	return 1;
}

/* ---- Replies --------------------------------------------------------------------------------- */

static struct http_reply reply_text(unsigned status, const char *words)
{
	size_t size = strlen(words) + 2;
	char *body = malloc(size);

	if (body)
		(void)snprintf(body, size, "%s\n", words); /* fits */
	return (struct http_reply){status, TEXT_TYPE, body};
}

/* reply_json takes the value. */
static struct http_reply reply_json(unsigned status, json_t *value)
{
	char *body = value ? json_dumps(value, JSON_COMPACT) : NULL;

	json_decref(value);
	return (struct http_reply){status, JSON_TYPE, body};
}

struct http_reply reply_refusal(struct refusal refusal, const char *path)
{
	if (strncmp(path, API, strlen(API)) == 0)
		return reply_json(refusal.status, json_pack("{s:s}", "error", refusal.words));
	return reply_text(refusal.status, refusal.words);
}

/* status_of: the HTTP status of a failure of the library. */
static unsigned status_of(int status)
{
	switch (status) {
	case DW_ENOENT:
		return 404;
	case DW_EINVAL:
		return 400;
	default:
		return 503;
	}
}

/* namespace_health: why the namespace does not fire, or NULL. */
static const char *namespace_health(const json_t *status)
{
	const char *owner = json_string_value(json_object_get(status, "owner"));
	json_int_t seen = json_integer_value(json_object_get(status, "owner_seen"));
	const json_t *report = json_object_get(status, "owner_report");

	if (!owner || !*owner)
		return "no owner: nothing fires until one runs";
	if (session_now() - seen > SILENT_AFTER)
		return "the owner is silent: it hangs, or its machine does";
	if (json_is_true(json_object_get(report, "recovering")))
		return "the owner loads its timers";
	return NULL;
}

/* reply_ready: a standby is ready, because it does what it should. */
static struct http_reply reply_ready(const struct ask *ask, const dw *owner)
{
	char message[DW_MESSAGE_SIZE];
	const char *why;
	int status;

	if (owner) {
		status = dw_health(owner, message);
		if (status == DW_OK || status == DW_EOWNED)
			return reply_text(200, status == DW_OK ? "ready" : "standby");
		return reply_text(503, message);
	}
	if (ask->status != DW_OK)
		return reply_text(503, dw_strerror(ask->status));
	why = namespace_health(ask->value);
	return reply_text(why ? 503 : 200, why ? why : "ready");
}

static struct http_reply reply_health(const dw *owner)
{
	char message[DW_MESSAGE_SIZE];

	if (owner && dw_health(owner, message) == DW_ETIMEOUT)
		return reply_text(503, message);
	return reply_text(200, "ok");
}

static struct http_reply reply_metrics(const struct ask *ask)
{
	char *body;

	if (ask->status != DW_OK)
		return reply_text(503, dw_strerror(ask->status));
	body = strdup(json_string_value(ask->value));
	return (struct http_reply){200, METRICS_TYPE, body};
}

struct http_reply route_reply(const struct http_request *request, const dw *owner)
{
	const struct ask *ask = request->asks[0];

	switch (request->route) {
	case ROUTE_HEALTHZ:
		return reply_health(owner);
	case ROUTE_READYZ:
		return reply_ready(ask, owner);
	case ROUTE_METRICS:
		return reply_metrics(ask);
	default:
		break;
	}
	if (ask->status != DW_OK)
		return reply_json(status_of(ask->status),
				  json_pack("{s:s}", "error", dw_strerror(ask->status)));
	if (request->route == ROUTE_TOPICS)
		return reply_json(200, json_pack("{s:O}", "topics", ask->value));
	return reply_json(200, json_incref(ask->value));
}
