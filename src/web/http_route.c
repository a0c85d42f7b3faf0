#include "web/http_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/out/ending.h"
#include "cli/out/errors.h"
#include "cli/out/refused.h"
#include "cli/session.h"
#include "durawheel/metrics.h"

#define API "/api/v1/"
#define JSON_TYPE "application/json"
#define HTML_TYPE "text/html; charset=utf-8"
#define TEXT_TYPE "text/plain; charset=utf-8"
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define SILENT_AFTER DW_SECONDS(30)

/* ---- Paths ----------------------------------------------------------------------------------- */

static const struct {
	const char *path;
	enum route route;
} routes[] = {
    {API "status", ROUTE_STATUS}, {API "topics", ROUTE_TOPICS}, {API "timers", ROUTE_TIMERS},
    {API "dead", ROUTE_DEAD},     {"/metrics", ROUTE_METRICS},  {"/healthz", ROUTE_HEALTHZ},
    {"/readyz", ROUTE_READYZ},    {"/icon.svg", ROUTE_ICON},    {API "schedules", ROUTE_SCHEDULES},
};

static enum route find_route(struct http_request *request, const char *path)
{
	static const char timer[] = API "timers/";

	for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
		if (strcmp(path, routes[i].path) == 0)
			return routes[i].route;
	for (int i = 0; i < PAGE_VIEWS; i++) {
		request->view = (enum page_view)i;
		if (strcmp(path, page_path(request->view)) == 0)
			return ROUTE_PAGE;
	}
	if (strncmp(path, timer, sizeof timer - 1) == 0 &&
	    route_name_of(path + sizeof timer - 1, DW_ID_MAX, request->question.name))
		return ROUTE_TIMER;
	return ROUTE_NONE;
}

const char *route_path(const char *target, struct MHD_Connection *connection)
{
	static const char scheme[] = "http://";
	const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
	size_t before = strlen(scheme), size = host ? strlen(host) : 0;
	const char *rest;

	if (size == 0 || strncasecmp(target, scheme, before) != 0 ||
	    strncasecmp(target + before, host, size) != 0)
		return target;
	rest = target + before + size;
	return *rest == '/' ? rest : *rest ? target : "/";
}

enum path_kind route_kind(const char *path)
{
	struct http_request request = {.route = ROUTE_NONE};

	switch (find_route(&request, path)) {
	case ROUTE_HEALTHZ:
	case ROUTE_READYZ:
		return PATH_PROBE;
	case ROUTE_PAGE:
		return PATH_PAGE;
	default:
		return PATH_PLAIN;
	}
}

struct refusal route_of(struct http_request *request, const char *path)
{
	const char *fault;

	request->question.limit = ROUTE_LIMIT;
	request->route = find_route(request, path);
	if (request->route == ROUTE_NONE)
		return (struct refusal){404, "no such path"};
	fault = route_arguments(request);
	return (struct refusal){fault ? 400 : 0, fault};
}

/* page_asks returns the number of questions for a page. Each page also asks for the state of the
 * owner. */
static size_t page_asks(const struct http_request *request, struct question *ret_questions)
{
	static const enum ask_kind kinds[PAGE_VIEWS] = {[PAGE_NOW] = ASK_TOPICS,
							[PAGE_TOPICS] = ASK_TOPICS,
							[PAGE_TIMERS] = ASK_TIMERS,
							[PAGE_DEAD] = ASK_DEAD,
							[PAGE_SCHEDULES] = ASK_SCHEDULES};

	ret_questions[0] = (struct question){.kind = ASK_STATUS, .limit = ROUTE_LIMIT};
	ret_questions[1] = request->question;
	ret_questions[1].kind = kinds[request->view];
	if (request->wants_timer)
		ret_questions[1].kind = request->view == PAGE_DEAD ? ASK_LETTER : ASK_TIMER;
	ret_questions[1].leaves_data = true; /* the rows do not show data */
	ret_questions[2] = (struct question){.kind = ASK_COMING, .limit = ROUTE_LIMIT};
	return request->view == PAGE_NOW ? 3 : 2;
}

size_t route_asks(const struct http_request *request, struct question ret_questions[REQUEST_ASKS])
{
	static const enum ask_kind kinds[] = {
	    [ROUTE_STATUS] = ASK_STATUS, [ROUTE_TOPICS] = ASK_TOPICS,
	    [ROUTE_TIMERS] = ASK_TIMERS, [ROUTE_TIMER] = ASK_TIMER,
	    [ROUTE_DEAD] = ASK_DEAD,     [ROUTE_METRICS] = ASK_METRICS,
	    [ROUTE_READYZ] = ASK_STATUS, [ROUTE_SCHEDULES] = ASK_SCHEDULES,
	};

	if (request->route == ROUTE_HEALTHZ || request->route == ROUTE_ICON)
		return 0;
	if (request->route == ROUTE_PAGE)
		return page_asks(request, ret_questions);
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
		(void)snprintf(body, size, "%s\n", words); /* the text always fits */
	return (struct http_reply){.status = status, .type = TEXT_TYPE, .body = body};
}

/* reply_json takes ownership of the value. */
static struct http_reply reply_json(unsigned status, json_t *value)
{
	char *body = value ? json_dumps(value, JSON_COMPACT) : NULL;

	json_decref(value);
	return (struct http_reply){.status = status, .type = JSON_TYPE, .body = body};
}

struct http_reply reply_refusal(struct refusal refusal, const char *path)
{
	struct http_reply reply;

	if (strncmp(path, API, strlen(API)) == 0)
		reply = reply_json(refusal.status, json_pack("{s:s}", "error", refusal.words));
	else
		reply = reply_text(refusal.status, refusal.words);
	reply.is_busy = refusal.status == 503;
	return reply;
}

/* status_of returns the HTTP status for a status of the library. */
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

/* namespace_health returns why the timers of the namespace, or of some shards, do not fire. Returns
 * NULL if all fire. */
static const char *namespace_health(const json_t *status, char refused[REFUSED_LINE_SIZE])
{
	const char *owner = json_string_value(json_object_get(status, "owner"));
	json_int_t seen = json_integer_value(json_object_get(status, "owner_seen"));
	const json_t *report = json_object_get(status, "owner_report");

	if (!owner || !*owner)
		return "no owner: nothing fires until one runs";
	if (session_now() - seen > SILENT_AFTER)
		return "the owner is silent: it hangs, or its machine does";
	refused_line(report, refused);
	if (*refused)
		return refused;
	if (json_integer_value(json_object_get(report, "unowned")) > 0)
		return "no process takes some shards: their timers wait";
	if (json_is_true(json_object_get(report, "recovering")))
		return "the owner loads its timers";
	return NULL;
}

/* reply_standby says that a standby is ready, because waiting is its task. It names the owner if
 * the store has answered. */
static struct http_reply reply_standby(const struct ask *ask)
{
	const char *owner = json_string_value(json_object_get(ask->value, "owner"));
	char words[DW_MESSAGE_SIZE];

	if (ask->status != DW_OK || !owner || !*owner)
		return reply_text(200, "standby: asks for the store");
	(void)snprintf(words, sizeof words, "standby: waits for the store of %s",
		       owner); /* a long text is cut */
	return reply_text(200, words);
}

/* reply_away says why the store has failed. It leaves out the store's address, because this path
 * needs no token. In the message the address contains a slash, and the reason follows it. */
static struct http_reply reply_away(const char *words, const char *away)
{
	const char *place = strrchr(away, '/');
	const char *reason = place ? strstr(place, ": ") : NULL;
	char text[DW_MESSAGE_SIZE];

	/* A long text is cut. */
	(void)snprintf(text, sizeof text, "%s%s", words, reason ? reason : "");
	return reply_text(503, text);
}

static struct http_reply reply_ready(const struct ask *ask, const struct http_facts *facts)
{
	const dw *owner = facts->owner;
	char message[DW_MESSAGE_SIZE], refused[REFUSED_LINE_SIZE];
	const char *why;
	int status;

	if (owner) {
		status = dw_health(owner, message);
		if (status == DW_EOWNED)
			return reply_standby(ask);
		return status == DW_OK ? reply_text(200, "ready") : reply_text(503, message);
	}
	if (ask->status == DW_ESTORE)
		return reply_away("the store does not answer", facts->away);
	if (ask->status != DW_OK)
		return reply_text(503, dw_strerror(ask->status));
	if (*facts->away)
		return reply_away("the store can be read, but fails every change", facts->away);
	why = namespace_health(ask->value, refused);
	return reply_text(why ? 503 : 200, why ? why : "ready");
}

static struct http_reply reply_health(const dw *owner)
{
	char message[DW_MESSAGE_SIZE];
	int status = owner ? dw_health(owner, message) : DW_OK;

	if (status == DW_ETIMEOUT)
		return reply_text(503, message);
	return reply_text(200, status == DW_EOWNED ? "ok, standby" : "ok");
}

/* reply_copy replies with a copy of the text. */
static struct http_reply reply_copy(const char *type, const char *text)
{
	return (struct http_reply){.status = 200, .type = type, .body = strdup(text)};
}

/* words_of returns why the store has failed, or else the text of the status. */
static const char *words_of(int status, const struct http_facts *facts)
{
	return status == DW_ESTORE && *facts->away ? facts->away : dw_strerror(status);
}

static struct http_reply reply_metrics(const struct ask *ask, const struct http_facts *facts)
{
	if (ask->status != DW_OK)
		return reply_text(503, words_of(ask->status, facts));
	return reply_copy(METRICS_TYPE, json_string_value(ask->value));
}

/* show_kept makes a page show the last answers of the store, except in views with a list. */
static void show_kept(struct web_page *page, const struct kept *kept)
{
	if (!kept->status || (page->view != PAGE_NOW && page->view != PAGE_TOPICS))
		return;
	page->old_since = kept->at;
	page->store = kept->status;
	page->part = kept->topics;
	page->coming = page->view == PAGE_NOW ? kept->coming : NULL;
}

/* reply_page also replies with a page if the store has failed. The page then says so. */
static struct http_reply reply_page(const struct http_request *request,
				    const struct http_facts *facts)
{
	const struct ask *store = request->asks[0], *part = request->asks[1];
	const char *name = request->question.name;
	struct web_page page = {.view = request->view,
				.name = facts->name,
				.now = session_now(),
				.status = store->status,
				.away = facts->away,
				.store = store->value,
				.rates = &facts->asks->rates,
				.history = &facts->asks->history,
				.stands_by =
				    facts->owner && dw_health(facts->owner, NULL) == DW_EOWNED,
				.coming = request->ask_count > 2 ? request->asks[2]->value : NULL,
				.skip = request->skip,
				.zone = *request->zone_argument ? &request->zone : NULL,
				.zone_argument = request->zone_argument,
				.after = request->question.after,
				.prefix = request->question.prefix,
				.due_from = request->due_from,
				.due_before = request->due_before,
				.part_status = part->status,
				.part = part->value,
				.id = request->wants_timer ? name : "",
				.topic = request->wants_timer ? "" : name};
	bool is_missing = part->status == DW_ENOENT;

	if (store->status != DW_OK)
		show_kept(&page, &facts->asks->kept);
	return (struct http_reply){.status = store->status != DW_OK ? 503
					     : is_missing           ? 404
								    : 200,
				   .type = HTML_TYPE,
				   .is_page = true,
				   .body = page_write(&page)};
}

/* why_not returns the words for a failed question. Only the API's path of a timer says that there
 * is no timer. */
static const char *why_not(const struct http_request *request, int status,
			   const struct http_facts *facts)
{
	return request->route == ROUTE_TIMER && status == DW_ENOENT ? ENDING_ABSENT
								    : words_of(status, facts);
}

struct http_reply route_reply(const struct http_request *request, const struct http_facts *facts)
{
	const struct ask *ask = request->asks[0];

	switch (request->route) {
	case ROUTE_HEALTHZ:
		return reply_health(facts->owner);
	case ROUTE_READYZ:
		return reply_ready(ask, facts);
	case ROUTE_METRICS:
		return reply_metrics(ask, facts);
	case ROUTE_PAGE:
		return reply_page(request, facts);
	case ROUTE_ICON:
		return reply_copy("image/svg+xml", asset_icon_svg);
	default:
		break;
	}
	if (ask->status != DW_OK)
		return reply_json(
		    status_of(ask->status),
		    json_pack("{s:s}", "error", why_not(request, ask->status, facts)));
	if (request->route == ROUTE_TOPICS)
		return reply_json(200, json_pack("{s:O}", "topics", ask->value));
	return reply_json(200, json_incref(ask->value));
}
