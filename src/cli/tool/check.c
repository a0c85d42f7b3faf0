/* durawheel check: searches the whole store for damage, and for timers whose time zone this machine
 * does not know. It may run beside an owner. */
#include "cli/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/out/errors.h"
#include "cli/out/line.h"
#include "cli/out/nodes.h"
#include "cli/session.h"
#include "cli/out/table.h"
#include "cli/out/text.h"
#include "cli/out/tzdata.h"
#include "durawheel/select.h"

enum { ZONES_MAX = 100 }; /* The largest number of zones that the report shows. */

struct check {
	bool json;
	int code;
	bool is_answered; /* the store has answered */
	json_t *report;   /* the report of --json */
	struct tzdata tzdata;
	json_t *zones;     /* the unknown zones; each name has an object with a count and an id */
	uint64_t zoneless; /* the number of timers with an unknown zone */
	dw_cursor cursor;  /* the end of the page that was read last */
	int page_status;
};

static void print_flaw(const dw_flaw *flaw)
{
	/* session_close() reports failed writes, here and below. */
	(void)fputs("flaw             ", stdout);
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

		/* If out of memory, the flaw is missing, but flaw_count counts it. */
		(void)json_array_append_new(flaws, object);
	}
	return flaws;
}

static json_t *json_of_report(const dw_check_report *report)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "pending", (json_int_t)report->pending,
			 "claimed", (json_int_t)report->claimed, "dead", (json_int_t)report->dead,
			 "inbox", (json_int_t)report->inbox, "flaw_count",
			 (json_int_t)report->flaw_count, "flaws", json_of_flaws(report));
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
	check->is_answered = true;
	if (check->json)
		/* print_json() complains if this is out of memory. */
		check->report = json_of_report(report);
	else
		print(report);
	if (report->flaw_count > 0)
		check->code =
		    complain(EXIT_FAILED, "the store has %" PRIu64 " flaws", report->flaw_count);
}

/* ---- Time zones ------------------------------------------------------------------------------ */

/* note_zone counts a timer with an unknown zone, and keeps the first id for each zone. */
static void note_zone(struct check *check, const char *zone, const char *id)
{
	json_t *found = json_object_get(check->zones, zone);

	check->zoneless++;
	if (!found && json_object_size(check->zones) < ZONES_MAX) {
		found =
		    json_pack("{s:s, s:I, s:s}", "zone", zone, "timers", (json_int_t)0, "id", id);
		/* If out of memory, the zone is missing, but zoneless counts the timer. */
		(void)json_object_set_new(check->zones, zone, found);
	}
	if (found)
		(void)json_object_set_new(
		    found, "timers",
		    json_integer(json_integer_value(json_object_get(found, "timers")) + 1));
}

static void check_zones_answered(dw *d, int status, const dw_info *timers, size_t count,
				 const dw_cursor *next, void *user)
{
	struct check *check = user;

	(void)d;
	check->page_status = status;
	if (status != DW_OK)
		return;
	for (size_t i = 0; i < count; i++) {
		const char *zone = tzdata_lacks(&check->tzdata, &timers[i]);

		if (zone)
			note_zone(check, zone, timers[i].id);
	}
	check->cursor = *next;
}

/* look_at_zones reads all recurring timers, because the store does not interpret zones. If this
 * fails, it warns and returns false. The report is then printed without zones. */
static bool look_at_zones(dw *d, struct check *check)
{
	const dw_select recurring = {.size = sizeof recurring, .recurring = 1};
	int status;

	check->zones = json_object();
	do {
		status = dw_list(d, &recurring, check->cursor.started ? &check->cursor : NULL,
				 DW_LIST_MAX, check_zones_answered, check);
		if (status == DW_OK)
			status = session_try_sync(d);
		if (status == DW_OK)
			status = check->page_status;
	} while (status == DW_OK && !check->cursor.ended);
	if (status != DW_OK)
		warn("the time zones of the timers were not checked: %s", why(d, status));
	return status == DW_OK;
}

static void print_zone(const char *name, const json_t *zone)
{
	json_int_t timers = json_integer_value(json_object_get(zone, "timers"));
	const char *id = json_string_value(json_object_get(zone, "id"));

	(void)fputs("zone             ", stdout);
	text_print(stdout, name, strlen(name), 0);
	(void)printf(timers == 1 ? ": 1 timer, " : ": %lld timers, first ", (long long)timers);
	text_print(stdout, id, strlen(id), 0);
	(void)putchar('\n');
}

static void print_zones(const struct check *check)
{
	const char *name;
	json_t *zone;

	table_row_count("unknown zones", json_object_size(check->zones));
	json_object_foreach(check->zones, name, zone) print_zone(name, zone);
}

/* add_zones adds the zones to the report of --json. If out of memory, a key is missing. */
static void add_zones(struct check *check)
{
	json_t *zones = json_array(), *zone;
	const char *name;

	json_object_foreach(check->zones, name, zone) json_array_append(zones, zone);
	(void)json_object_set_new(check->report, "unknown_zone_timers",
				  json_integer((json_int_t)check->zoneless));
	(void)json_object_set_new(check->report, "unknown_zones", zones);
}

/* ---- The command ----------------------------------------------------------------------------- */

static void print_json(struct check *check)
{
	struct line line = {0};

	if (line_of(&line, json_incref(check->report)))
		/* session_close() reports a failed write. */
		(void)fwrite(line.bytes, 1, line.size, stdout);
	else
		check->code = complain(EXIT_FAILED, "out of memory");
	line_free(&line);
}

/* print_rest prints what check_answered() has not printed. JSON is a single line, so all of it is
 * printed here. */
static void print_rest(const dw *d, struct check *check, bool knows_zones)
{
	if (check->json)
		nodes_add(check->report, d);
	else
		nodes_print(d);
	if (knows_zones && check->json)
		add_zones(check);
	else if (knows_zones)
		print_zones(check);
	if (check->json)
		print_json(check);
	if (knows_zones)
		tzdata_tell(check->zoneless);
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
		(void)session_wait(d); /* on failure check.code stays EXIT_STORE */
	if (check.is_answered)
		print_rest(d, &check, look_at_zones(d, &check));
	status = session_close(d, check.code); /* closing may still answer operations */
	json_decref(check.report);
	json_decref(check.zones);
	tzdata_free(&check.tzdata);
	return status;
}
