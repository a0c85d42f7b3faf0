/* durawheel check: searches the whole store for damage. The owner may be running. */
#include "cli/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/errors.h"
#include "cli/line.h"
#include "cli/session.h"
#include "cli/table.h"
#include "cli/text.h"

struct check {
	bool json;
	int code;
};

static void print_flaw(const dw_flaw *flaw)
{
	(void)fputs("flaw             ", stdout); /* here and below: session_close() checks */
	text_print(stdout, flaw->id, strlen(flaw->id), 0);
	if (flaw->generation > 0)
		(void)printf(", generation %" PRIu64, flaw->generation);
	(void)fputs(*flaw->id || flaw->generation > 0 ? ": " : "", stdout);
	text_print(stdout, flaw->what, strlen(flaw->what), 0);
	(void)putchar('\n');
}

static void print(const dw_check_report *report)
{
	table_row_count("pending", report->pending);
	table_row_count("claimed", report->claimed);
	table_row_count("dead", report->dead);
	table_row_count("inbox", report->inbox);
	table_row_count("flaws", report->flaw_count);
	for (size_t i = 0; i < report->flaws_shown; i++)
		print_flaw(&report->flaws[i]);
}

static json_t *json_of_flaws(const dw_check_report *report)
{
	json_t *flaws = json_array();

	for (size_t i = 0; i < report->flaws_shown; i++) {
		const dw_flaw *flaw = &report->flaws[i];
		json_t *object =
		    json_pack("{s:o, s:I, s:s}", "id", line_name(flaw->id), "generation",
			      (json_int_t)flaw->generation, "what", flaw->what);

		(void)json_array_append_new(flaws, object); /* flaw_count counts all */
	}
	return flaws;
}

static int print_json(const dw_check_report *report)
{
	struct line line = {0};
	json_t *object =
	    json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "pending", (json_int_t)report->pending,
		      "claimed", (json_int_t)report->claimed, "dead", (json_int_t)report->dead,
		      "inbox", (json_int_t)report->inbox, "flaw_count",
		      (json_int_t)report->flaw_count, "flaws", json_of_flaws(report));
	int code = EXIT_DONE;

	if (line_of(&line, object))
		(void)fwrite(line.bytes, 1, line.size, stdout); /* session_close() checks */
	else
		code = complain(EXIT_FAILED, "out of memory");
	line_free(&line);
	return code;
}

static void check_answered(dw *d, int status, const dw_check_report *report, void *user)
{
	struct check *check = user;

	(void)d;
	if (status != DW_OK) {
		check->code = complain(exit_of(status), "%s", dw_strerror(status));
		return;
	}
	check->code = EXIT_DONE;
	if (check->json)
		check->code = print_json(report);
	else
		print(report);
	if (report->flaw_count > 0)
		check->code =
		    complain(EXIT_FAILED, "the store has %" PRIu64 " flaws", report->flaw_count);
}

int command_check(const struct options *options)
{
	struct check check = {.json = options->value[OPT_JSON] != NULL, .code = EXIT_STORE};
	dw *d;
	int status = session_look(options, (dw_options){.role = DW_CLIENT}, &d);

	if (status != EXIT_DONE)
		return status;
	status = dw_check(d, check_answered, &check);
	if (status != DW_OK)
		check.code = complain(exit_of(status), "%s", why(d, status));
	else
		(void)session_wait(d); /* if it complains, check.code stays EXIT_STORE */
	return session_close(d, check.code);
}
