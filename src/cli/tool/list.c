/* durawheel list: prints the timers in the order of their deadlines. It reads them page by page, so
 * a million timers need no more memory than a thousand. */
#include "cli/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/out/due.h"
#include "cli/out/errors.h"
#include "cli/out/line.h"
#include "cli/out/select.h"
#include "cli/session.h"
#include "cli/out/table.h"
#include "cli/out/text.h"
#include "cli/out/tzdata.h"
#include "durawheel/select.h"

struct list {
	bool json;
	bool recurring; /* print only timers with a rule */
	size_t left;    /* the number of timers still to print */
	struct line line;
	struct table table;
	struct tzdata tzdata;
	uint64_t zoneless; /* the number of printed timers with an unknown time zone */
	bool headed;       /* the names of the columns are printed */
	dw_cursor cursor;  /* the end of the page that was read last */
	int code;
	bool torn; /* stdout has failed, and this was reported */
	bool damaged;
	bool lacks; /* timers of shards that cannot be read are missing */
};

static void print(const struct list *list, const dw_info *info, const char *unknown_zone)
{
	table_begin(&list->table, info->due, info->id, info->topic);
	(void)printf("%-7s %7" PRIu32 " %8zu", state_name(info->state), info->attempt,
		     info->data_size); /* session_flush() reports failed writes, here and below */
	if (list->recurring)
		(void)printf(" %s", info->rule);
	if (unknown_zone) {
		(void)fputs("  (this machine does not know the zone ", stdout);
		text_print(stdout, unknown_zone, strlen(unknown_zone), 0);
		(void)putchar(')');
	}
	(void)putchar('\n');
}

/* fit widens the columns for a page. Before the first page it prints the names of the columns. */
static void fit(struct list *list, const dw_info *timers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		table_fit(&list->table, timers[i].id, timers[i].topic);
	if (list->headed)
		return;
	list->headed = true;
	table_header(&list->table, "DUE");
	(void)puts(list->recurring ? "STATE   ATTEMPT     SIZE RULE"
				   /* session_flush() reports a failed write. */
				   : "STATE   ATTEMPT     SIZE");
}

/* print_one prints a timer. Returns false if out of memory. */
static bool print_one(struct list *list, const dw_info *info)
{
	const char *unknown_zone = tzdata_lacks(&list->tzdata, info);

	list->zoneless += unknown_zone != NULL;
	if (!list->json) {
		print(list, info, unknown_zone);
		return true;
	}
	if (!line_of_info(&list->line, info, unknown_zone))
		return false;
	/* print_page() reports a failed write. */
	(void)fwrite(list->line.bytes, 1, list->line.size, stdout);
	return true;
}

static void print_page(struct list *list, const dw_info *timers, size_t count)
{
	if (!list->json)
		fit(list, timers, count);
	for (size_t i = 0; i < count && list->left > 0 && list->code == EXIT_DONE; i++) {
		list->left--;
		if (!print_one(list, &timers[i]))
			list->code = complain(EXIT_FAILED, "out of memory");
		list->torn = ferror(stdout) != 0;
		if (list->torn)
			list->code = session_torn(strerror(errno));
	}
}

static void list_command_answered(dw *d, int status, const dw_info *timers, size_t count,
				  const dw_cursor *next, void *user)
{
	struct list *list = user;

	(void)d;
	if (status != DW_OK) {
		list->code = complain(exit_of(status), "%s", dw_strerror(status));
		return;
	}
	list->code = EXIT_DONE;
	list->cursor = *next;
	list->lacks |= next->lacks != 0;
	print_page(list, timers, count);
}

/* on_event reports timers that are missing in a page. A page leaves out damaged timers, so the list
 * is incomplete. The list ends at a timer that is too large for Redis to send. */
static void on_event(dw *d, const dw_event *event, void *user)
{
	struct list *list = user;

	(void)d;
	if (event->kind != DW_EVENT_CORRUPT && event->kind != DW_EVENT_LIMIT)
		return;
	list->damaged = event->kind == DW_EVENT_CORRUPT || list->damaged;
	(void)complain(EXIT_FAILED, "%s", event->message); /* the exit code is set at the end */
}

/* list_page prints the next page, at most `limit` timers. Returns EXIT_DONE, or complains. */
static int list_page(dw *d, struct list *list, const dw_select *select, size_t limit)
{
	int status;

	list->code = EXIT_STORE;
	status = dw_list(d, select, list->cursor.started ? &list->cursor : NULL, limit,
			 list_command_answered, list);
	if (status != DW_OK)
		return complain(exit_of(status), "%s", why(d, status));
	(void)session_sync(d); /* on failure list->code stays EXIT_STORE */
	return list->code;
}

int command_list(const struct options *options)
{
	struct list list = {.json = options->value[OPT_JSON] != NULL,
			    .recurring = options->value[OPT_RECURRING] != NULL,
			    .left = SIZE_MAX};
	struct local_zone zone;
	dw_select select;
	int code = select_of_options(options, "list", &select);
	dw *d;

	if (code == EXIT_DONE)
		code = shown_zone(options, &zone, &list.table.zone);
	select.recurring = list.recurring;
	select.partial = 1;
	if (code == EXIT_DONE && options->value[OPT_LIMIT])
		code = options_count(options, OPT_LIMIT, &list.left);
	if (code == EXIT_DONE)
		code = session_look(
		    options,
		    (dw_options){.role = DW_CLIENT, .on_event = on_event, .on_event_user = &list},
		    &d);
	if (code != EXIT_DONE)
		return code;
	do {
		code =
		    list_page(d, &list, &select, list.left < DW_LIST_MAX ? list.left : DW_LIST_MAX);
	} while (code == EXIT_DONE && !list.cursor.ended && list.left > 0);
	if (code == EXIT_DONE && list.damaged)
		code = EXIT_FAILED;
	if (code == EXIT_DONE && list.lacks)
		code = complain(EXIT_STORE, "the list lacks the timers of shards that cannot be "
					    "read now");
	tzdata_tell(list.zoneless);
	tzdata_free(&list.tzdata);
	line_free(&list.line);
	if (!list.torn)
		return session_close(d, code);
	/* Closing loses nothing, because a list stores nothing. */
	(void)dw_close(d, SESSION_PATIENCE);
	return code;
}
