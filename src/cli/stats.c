/* durawheel stats: what the store and its owner say of themselves. */
#include "cli/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/errors.h"
#include "cli/line.h"
#include "cli/session.h"
#include "cli/text.h"

struct stats {
	bool json;
	int code;
};

static void print_count(const char *name, uint64_t count)
{
	(void)printf("%-12s%" PRIu64 "\n", name, count); /* session_flush() checks */
}

static void print_time(const char *name, dw_usec time)
{
	char text[DW_TIME_SIZE];

	dw_format_time(time, text);
	(void)printf("%-12s%s\n", name, text); /* session_flush() checks */
}

static void print_text(const char *name, const char *text)
{
	(void)printf("%-12s", name); /* session_flush() checks */
	text_print(stdout, text, strlen(text), 0);
	(void)putchar('\n');
}

static void print(const dw_store_status *status)
{
	print_count("pending", status->pending);
	print_count("claimed", status->claimed);
	print_count("dead", status->dead);
	print_time("next due", status->next_due);
	print_count("inbox", status->inbox);
	print_text("owner", *status->owner ? status->owner : "none");
	if (!*status->owner)
		return;
	print_time("since", status->owner_since);
	print_time("seen", status->owner_seen);
	if (*status->owner_report)
		print_text("report", status->owner_report);
}

/* report_of: the owner's report is JSON; what is not is passed on as a string. */
static json_t *report_of(const char *text)
{
	json_t *report = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	if (!report)
		report = *text ? json_string(text) : json_null();
	return report ? report : json_null();
}

static int print_json(const dw_store_status *status)
{
	json_t *next = status->next_due == DW_NEVER ? json_null() : json_integer(status->next_due);
	json_t *object = json_pack(
	    "{s:I, s:I, s:I, s:o, s:I, s:s, s:I, s:I, s:o}", "pending", (json_int_t)status->pending,
	    "claimed", (json_int_t)status->claimed, "dead", (json_int_t)status->dead, "next_due",
	    next, "inbox", (json_int_t)status->inbox, "owner", status->owner, "owner_since",
	    (json_int_t)status->owner_since, "owner_seen", (json_int_t)status->owner_seen,
	    "owner_report", report_of(status->owner_report));
	struct line line = {0};
	int code = EXIT_DONE;

	if (line_of(&line, object))
		(void)fwrite(line.bytes, 1, line.size, stdout); /* session_flush() checks */
	else
		code = complain(EXIT_FAILED, "out of memory");
	line_free(&line);
	return code;
}

static void answered(dw *d, int status, const dw_store_status *store, void *user)
{
	struct stats *stats = user;

	(void)d;
	if (status != DW_OK) {
		stats->code = complain(exit_of(status), "%s", dw_strerror(status));
		return;
	}
	stats->code = EXIT_DONE;
	if (stats->json)
		stats->code = print_json(store);
	else
		print(store);
}

int command_stats(const struct options *options)
{
	struct stats stats = {.json = options->value[OPT_JSON] != NULL, .code = EXIT_STORE};
	dw *d;
	int status = session_open(options, (dw_options){.role = DW_CLIENT}, &d);

	if (status != EXIT_DONE)
		return status;
	status = dw_get_status(d, answered, &stats);
	if (status != DW_OK)
		stats.code = complain(exit_of(status), "%s", why(d, status));
	else
		(void)session_sync(d); /* has complained, and stats.code says so */
	return session_close(d, stats.code);
}
