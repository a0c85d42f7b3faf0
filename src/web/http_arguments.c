/* Reads the arguments after the '?' of a path. An unknown or repeated argument is refused, because
 * a typing error would otherwise show a different list. */
#include "web/http_inside.h"

#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "cli/out/due.h"
#include "cli/out/durations.h"
#include "cli/out/times.h"
#include "cli/session.h"

/* SCHEDULES_LIMIT is small, because each schedule needs a tenth of a millisecond for its times. */
enum { LIMIT_MAX = 1000, SCHEDULES_LIMIT = 100, SKIP_MAX = 10000 };

#define DUE_WORDS                                                                                  \
	"due-from, due-before: write a time, as 2026-12-01 09:00 or tomorrow 9am, or a duration "  \
	"from now, as 5min"

bool route_name_of(const char *text, size_t most, char *ret_name)
{
	size_t size = strlen(text);
	json_t *string = json_string(text); /* NULL if the text is invalid UTF-8 */

	json_decref(string);
	if (!string || size == 0 || size > most)
		return false;
	memcpy(ret_name, text, size + 1);
	return true;
}

struct arguments {
	struct http_request *request;
	unsigned given; /* one bit for each entry of the table */
	const char *fault;
};

/* read_number reads a number that must end at the character `end`. '\0' means the end of the text.
 * Returns false if the number is invalid or larger than `most`. */
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
	bool is_short = reading->request->route == ROUTE_SCHEDULES;
	unsigned long long limit;

	if (!read_number(&text, '\0', is_short ? SCHEDULES_LIMIT : LIMIT_MAX, &limit) || limit == 0)
		return is_short ? "limit: write 1 to 100" : "limit: write 1 to 1000";
	reading->request->question.limit = (size_t)limit;
	return NULL;
}

/* read_skip reads how many rows or schedules to leave out. Returns what is wrong, or NULL. */
static const char *read_skip(struct arguments *reading, const char *text)
{
	struct http_request *request = reading->request;
	unsigned long long skip;

	if (!read_number(&text, '\0', SKIP_MAX, &skip))
		return "skip: write 0 to 10000";
	if (request->route == ROUTE_SCHEDULES || request->view == PAGE_SCHEDULES)
		request->question.skip = (size_t)skip;
	request->skip = (size_t)skip;
	return NULL;
}

/* read_prefix reads the beginning of ids. An empty field of a form means all ids. Returns what is
 * wrong, or NULL. */
static const char *read_prefix(struct arguments *reading, const char *text)
{
	struct http_request *request = reading->request;

	if ((!*text && request->route == ROUTE_PAGE) || request->wants_timer)
		return NULL;
	return route_name_of(text, DW_ID_MAX, request->question.prefix)
		   ? NULL
		   : "prefix: it is empty, too long, or invalid UTF-8";
}

/* read_after reads the position that an earlier answer contained as "next". Returns what is wrong,
 * or NULL. */
static const char *read_after(struct arguments *reading, const char *text)
{
	dw_cursor *after = &reading->request->question.after;
	unsigned long long due, generation;
	bool is_before_1970 = *text == '-';

	text += is_before_1970;
	if (!read_number(&text, '.', INT64_MAX, &due))
		return "after: write the next of the answer before";
	text++;
	if (!read_number(&text, '\0', UINT64_MAX, &generation))
		return "after: write the next of the answer before";
	*after = (dw_cursor){.due = is_before_1970 ? -(dw_usec)due : (dw_usec)due,
			     .generation = generation,
			     .started = 1};
	return NULL;
}

/* read_topic reads a topic. An empty field of a form means all topics. Returns what is wrong, or
 * NULL. */
static const char *read_topic(struct arguments *reading, const char *text)
{
	struct http_request *request = reading->request;

	if ((!*text && request->route == ROUTE_PAGE) || request->wants_timer)
		return NULL;
	return route_name_of(text, DW_TOPIC_MAX, request->question.name)
		   ? NULL
		   : "topic: it is empty, too long, or invalid UTF-8";
}

static const char *read_id(struct arguments *reading, const char *text)
{
	struct http_request *request = reading->request;

	if (!*text)
		return NULL;
	request->wants_timer = true;
	return route_name_of(text, DW_ID_MAX, request->question.name)
		   ? NULL
		   : "id: it is too long, or invalid UTF-8";
}

/* read_zone reads the zone of the times on a page. An empty field of a form means UTC. Returns what
 * is wrong, or NULL. */
static const char *read_zone(struct arguments *reading, const char *text)
{
	struct http_request *request = reading->request;
	char fault[LOCAL_FAULT_SIZE];
	bool is_local = strcasecmp(text, "local") == 0;

	if (!*text || strcasecmp(text, "UTC") == 0)
		return NULL;
	if (strlen(text) >= sizeof request->zone_argument ||
	    (is_local ? local_zone_of_machine(&request->zone, fault)
		      : local_zone_find(text, &request->zone, fault)) != DW_OK)
		return "zone: write an IANA name, as Europe/London, or local, or UTC";
	memcpy(request->zone_argument, text, strlen(text) + 1);
	return NULL;
}

static const char *keep_due(struct arguments *reading, const char *text, char *ret_kept)
{
	if ((!*text && reading->request->route == ROUTE_PAGE) || reading->request->wants_timer)
		return NULL;
	if (strlen(text) >= DUE_ARGUMENT_SIZE)
		return DUE_WORDS;
	memcpy(ret_kept, text, strlen(text) + 1);
	return *text ? NULL : DUE_WORDS;
}

static const char *read_due_from(struct arguments *reading, const char *text)
{
	return keep_due(reading, text, reading->request->due_from);
}

static const char *read_due_before(struct arguments *reading, const char *text)
{
	return keep_due(reading, text, reading->request->due_before);
}

/* find_due reads a bound of a list. It is called after all arguments were read, because the
 * argument with the zone may follow the bound. A bound that is relative to now is rounded to a
 * whole second, so that all readers within this second share an answer. Returns false if the text
 * is no time. */
static bool find_due(const struct http_request *request, const char *text, dw_usec *ret_due)
{
	bool is_local = strcasecmp(request->zone_argument, "local") == 0;
	struct time_place place = {.now = session_now() / DW_SECONDS(1) * DW_SECONDS(1),
				   .zone = is_local                  ? NULL
					   : *request->zone_argument ? request->zone_argument
								     : "UTC"};
	char fault[TIME_FAULT_SIZE];
	struct time_read read;
	dw_usec delay;

	if (!*text)
		return true;
	if (is_duration(text)) {
		if (duration_of(text, &delay) != DW_OK)
			return false;
		*ret_due = due_after(place.now, delay);
		return true;
	}
	if (time_of(text, &place, &read, fault) != DW_OK)
		return false;
	*ret_due = read.time;
	return true;
}

/* find_bounds returns what is wrong with the bounds of a list, or NULL. In a question 0 means no
 * bound, so that time is refused. */
static const char *find_bounds(struct http_request *request)
{
	struct question *question = &request->question;

	if (!find_due(request, request->due_from, &question->due_from) ||
	    !find_due(request, request->due_before, &question->due_to))
		return DUE_WORDS;
	if ((*request->due_from && question->due_from == 0) ||
	    (*request->due_before && question->due_to == 0))
		return "due-from, due-before: the time 0 means no bound: write another time";
	if (*request->due_from && *request->due_before && question->due_from >= question->due_to)
		return "due-before: it must be later than due-from";
	return NULL;
}

/* The arguments, and the paths that take each of them: lists of the API, and pages with such
 * lists. */
static const struct argument {
	const char *name;
	const char *(*read_value)(struct arguments *, const char *);
	unsigned routes, views;
} table[] = {
    {"topic", read_topic, 1u << ROUTE_TIMERS | 1u << ROUTE_DEAD,
     1u << PAGE_TIMERS | 1u << PAGE_DEAD},
    {"after", read_after, 1u << ROUTE_TIMERS | 1u << ROUTE_DEAD,
     1u << PAGE_TIMERS | 1u << PAGE_DEAD},
    {"limit", read_limit, 1u << ROUTE_TIMERS | 1u << ROUTE_DEAD | 1u << ROUTE_SCHEDULES, 0},
    {"skip", read_skip, 1u << ROUTE_SCHEDULES,
     1u << PAGE_TOPICS | 1u << PAGE_TIMERS | 1u << PAGE_DEAD | 1u << PAGE_SCHEDULES},
    {"prefix", read_prefix, 1u << ROUTE_TIMERS, 1u << PAGE_TIMERS},
    {"due-from", read_due_from, 1u << ROUTE_TIMERS, 1u << PAGE_TIMERS},
    {"due-before", read_due_before, 1u << ROUTE_TIMERS, 1u << PAGE_TIMERS},
    {"id", read_id, 0, 1u << PAGE_TIMERS | 1u << PAGE_DEAD},
    {"zone", read_zone, 0, (1u << PAGE_VIEWS) - 1},
};

/* find_argument returns the argument with this name. Returns NULL if the path does not take it. */
static const struct argument *find_argument(const struct http_request *request, const char *name)
{
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		const struct argument *argument = &table[i];

		if (strcmp(name, argument->name) != 0)
			continue;
		if (request->route == ROUTE_PAGE ? argument->views & 1u << request->view
						 : argument->routes & 1u << request->route)
			return argument;
	}
	return NULL;
}

/* read_once reads an argument. It refuses an argument that is given twice. Returns what is wrong,
 * or NULL. */
static const char *read_once(struct arguments *reading, const struct argument *argument,
			     const char *value)
{
	unsigned bit = 1u << (argument - table);

	if (reading->given & bit || !value)
		return "an argument is given twice, or has no value";
	reading->given |= bit;
	return argument->read_value(reading, value);
}

static enum MHD_Result read_argument(void *user, enum MHD_ValueKind kind, const char *name,
				     const char *value)
{
	struct arguments *reading = user;
	const struct argument *argument = find_argument(reading->request, name);

	(void)kind;
	reading->fault = argument ? read_once(reading, argument, value) : "no such argument here";
	return reading->fault ? MHD_NO : MHD_YES;
}

const char *route_arguments(struct http_request *request)
{
	struct arguments reading = {.request = request};

	(void)MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, read_argument,
					&reading);
	return reading.fault ? reading.fault : find_bounds(request);
}

/* ---- Escapes --------------------------------------------------------------------------------- */

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

size_t http_unescape(void *user, struct MHD_Connection *connection, char *text)
{
	char *end = text;

	(void)user;
	(void)connection;
	for (const char *at = text; *at; at++) {
		int high = at[0] == '%' ? digit_of(at[1]) : -1;
		int low = high >= 0 ? digit_of(at[2]) : -1;

		*end = *at;
		if (low >= 0 && high + low > 0) {
			*end = (char)(high * 16 + low);
			at += 2;
		}
		end++;
	}
	*end = '\0';
	return (size_t)(end - text);
}

/* ---- Too many arguments ---------------------------------------------------------------------- */

enum { ARGUMENTS_MAX = 32 };

/* http_uri_came is called before libmicrohttpd stores the arguments. If they fill its memory,
 * libmicrohttpd closes the connection without a reply. So we refuse such a request here. */
void *http_uri_came(void *user, const char *uri, struct MHD_Connection *connection)
{
	static const char refusal[] = "HTTP/1.1 414 URI Too Long\r\n"
				      "Content-Type: text/plain; charset=utf-8\r\n"
				      "Content-Length: 19\r\n"
				      "Connection: close\r\n\r\n"
				      "too many arguments\n";
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	size_t count = 0;

	(void)user;
	for (const char *at = strchr(uri, '?'); at; at = strchr(at + 1, '&'))
		count++;
	if (count <= ARGUMENTS_MAX)
		return NULL;
	(void)send(info->connect_fd, refusal, sizeof refusal - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	(void)shutdown(info->connect_fd, SHUT_RDWR); /* libmicrohttpd then closes the connection */
	return NULL;
}
