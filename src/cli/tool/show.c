/* durawheel show: prints all fields of one timer, or how it ended. */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "cli/out/due.h"
#include "cli/out/ending.h"
#include "cli/out/errors.h"
#include "cli/out/line.h"
#include "cli/out/objects.h"
#include "cli/out/rule.h"
#include "cli/session.h"
#include "cli/out/table.h"
#include "cli/out/waiting.h"
#include "cli/tool/absent.h"
#include "durawheel/ended.h"

/* The state of the command for one id. The command reads the last end of the id before the timer,
 * because it prints both together. */
struct show {
	const char *id;
	bool json;
	const struct local_zone *shown; /* the zone of printed times; NULL: UTC */
	int code;
	struct ending ending;
	bool is_due, is_absent;
	struct line line; /* the output of --json */
};

/* print_next prints the occurrence after the pending one, or "none". It prints nothing if the rule
 * cannot be read. */
static void print_next(const dw_info *info, const struct local_zone *zone)
{
	dw_rule *rule;
	dw_usec next;

	if (rule_of_info(info, "show", &rule) != EXIT_DONE)
		return; /* the rule's zone may be unknown here; the other fields are still shown */
	if (dw_rule_next(rule, info->occurrence, &next, 1, NULL) == 1)
		table_row_time("next", next, zone);
	else
		table_row_text("next", "none", strlen("none"));
	dw_rule_free(rule);
}

static void print(const dw_info *info, const struct ending *ending, const struct local_zone *zone)
{
	table_row_text("id", info->id, strlen(info->id));
	table_row_text("topic", info->topic, strlen(info->topic));
	table_row_time("due", info->due, zone);
	if (info->rule) {
		table_row_time("occurrence", info->occurrence, zone);
		table_row_text("rule", info->rule, strlen(info->rule));
		print_next(info, zone);
		if (info->missed > 0)
			table_row_count("missed", info->missed);
	}
	table_row_text("state", state_name(info->state), strlen(state_name(info->state)));
	table_row_count("attempt", info->attempt);
	table_row_count("retries", info->retries);
	table_row_count("generation", info->generation);
	if (info->why)
		table_row_text("why", info->why, strlen(info->why));
	if (info->late_after_us)
		table_row_span("late-after", info->late_after_us);
	if (info->keep_us)
		table_row_span("keep", info->keep_us);
	if (ending->is_known)
		table_row_text("last end", ending->words, strlen(ending->words));
	table_row_count("size", info->data_size);
	table_row_text("data", info->data_size ? info->data : "", info->data_size);
}

/* show_why_answered prints what the timer waits for. It prints nothing if that is unknown. */
static void show_why_answered(dw *d, int status, const dw_why *found, void *user)
{
	struct show *show = user;
	char words[WAITING_SIZE];

	(void)d;
	if (status != DW_OK)
		return;
	if (!show->json) {
		waiting_words(found, show->shown, words);
		table_row_text("waits for", words, strlen(words));
		return;
	}
	if (show->is_due)
		/* If out of memory, the key is missing. */
		(void)line_add_waits(&show->line, dw_describe_waits(found->waits)->name);
}

/* print_end prints how the timer ended. Returns an exit code. */
static int print_end(struct show *show)
{
	struct line line = {0};
	int code = EXIT_ABSENT;

	if (!show->json)
		ending_print(&show->ending);
	else if (line_of(&line, ending_take(&show->ending)))
		(void)fwrite(line.bytes, 1, line.size, stdout);
	else
		code = complain(EXIT_FAILED, "out of memory");
	line_free(&line);
	return code;
}

/* show_topics_answered prints where to look for an id about which the store knows nothing. */
static void show_topics_answered(dw *d, int status, const dw_topic_info *topics, size_t count,
				 void *user)
{
	struct show *show = user;
	char words[ABSENT_SIZE];

	(void)d;
	absent_words(show->id, topics, status == DW_OK ? count : 0, words);
	show->code = complain(EXIT_ABSENT, "%.300s: %s", show->id, words);
}

/* tell_absent prints how the timer ended. If the end is unknown, it asks for the topics, to say
 * where to look for the id. */
static void tell_absent(dw *d, struct show *show)
{
	if (show->ending.is_known)
		show->code = print_end(show);
	else if (dw_topic_list(d, NULL, show_topics_answered, show) != DW_OK)
		show_topics_answered(d, DW_ESTORE, NULL, 0, show);
}

/* show_letter_answered gets the dead letter of an id that has no timer. A kept end is printed even
 * if its letter cannot be read. */
static void show_letter_answered(dw *d, int status, const dw_dead *letter, size_t count,
				 const dw_cursor *next, void *user)
{
	struct show *show = user;

	(void)next;
	if (status == DW_OK && count > 0)
		ending_keep_letter(&show->ending, letter);
	if (status == DW_OK || status == DW_ENOENT || show->ending.is_known)
		tell_absent(d, show);
	else
		show->code = complain(exit_of(status), "%.300s: %s", show->id, dw_strerror(status));
}

/* look_at_absent handles an id that has no timer. It looks for a dead letter even if the kept end
 * says that the timer did not die, because a later timer of the id may have died. */
static void look_at_absent(dw *d, struct show *show)
{
	const dw_dead_select letter = {.size = sizeof letter, .id = show->id};
	int status = dw_dead_list(d, &letter, NULL, 1, show_letter_answered, show);

	if (status != DW_OK)
		show->code = complain(exit_of(status), "%s", why(d, status));
}

static void show_end_answered(dw *d, int status, const dw_ended *ended, void *user);

/* look_again asks for the end once more, because the timer may have ended after the first question.
 * An end that is known already may be that of an earlier timer. */
static void look_again(dw *d, struct show *show)
{
	int status = dw_ended_get(d, show->id, show_end_answered, show);

	show->is_absent = true;
	if (status != DW_OK)
		show->code = complain(exit_of(status), "%s", why(d, status));
}

static void show_answered(dw *d, int status, const dw_info *timers, size_t count,
			  const dw_cursor *next, void *user)
{
	struct show *show = user;

	(void)next;
	if (status == DW_OK && count == 0)
		status = DW_ENOENT;
	if (status == DW_ENOENT)
		look_again(d, show);
	else if (status == DW_ECORRUPT)
		show->code = complain(exit_of(status),
				      "%.300s is damaged and does not fire: cancel it "
				      "or add it again",
				      show->id);
	else if (status != DW_OK)
		show->code = complain(exit_of(status), "%.300s: %s", show->id, dw_strerror(status));
	if (status != DW_OK)
		return;
	show->code = EXIT_DONE;
	if (!show->json)
		print(timers, &show->ending, show->shown);
	else if (!line_of_whole_info(&show->line, timers, ending_take(&show->ending)))
		show->code = complain(EXIT_FAILED, "out of memory");
	show->is_due = timers->due <= session_now();
	if (show->code == EXIT_DONE)
		(void)dw_why_waiting(d, show->id, show_why_answered,
				     show); /* if it fails, the reason is not shown */
}

static void show_end_answered(dw *d, int status, const dw_ended *ended, void *user)
{
	struct show *show = user;

	if (status == DW_OK)
		ending_keep(&show->ending, ended);
	if (show->is_absent) {
		look_at_absent(d, show);
		return;
	}
	/* The timer is shown whether or not an end was found. */
	status = dw_get(d, show->id, show_answered, show);
	if (status != DW_OK)
		show->code = complain(exit_of(status), "%s", why(d, status));
}

/* show_id shows the timer of one id, or how it ended. Returns an exit code. */
static int show_id(dw *d, struct show *show)
{
	int status = dw_ended_get(d, show->id, show_end_answered, show);

	show->code = EXIT_STORE;
	if (status != DW_OK)
		show->code =
		    complain(exit_of(status), "id \"%.300s\": %s", show->id, why(d, status));
	else
		(void)session_sync(d); /* on failure show->code stays EXIT_STORE */
	if (show->line.size > 0)
		(void)fwrite(show->line.bytes, 1, show->line.size,
			     stdout); /* session_close() reports a failed write */
	line_free(&show->line);
	ending_free(&show->ending);
	return show->code;
}

int command_show(const struct options *options)
{
	struct local_zone zone;
	const struct local_zone *shown;
	dw *d;
	int worst = EXIT_DONE;
	int opened = shown_zone(options, &zone, &shown);

	if (opened == EXIT_DONE)
		opened = session_look(options, (dw_options){.role = DW_CLIENT}, &d);
	if (opened != EXIT_DONE)
		return opened;
	for (size_t i = 1; i < options->word_count; i++) {
		struct show show = {.id = options->words[i],
				    .json = options->value[OPT_JSON] != NULL,
				    .shown = shown,
				    .ending = {.zone = shown}};
		int code;

		if (i > 1 && !show.json)
			(void)putchar('\n'); /* session_close() reports a failed write */
		code = show_id(d, &show);
		worst = code > worst ? code : worst;
	}
	return session_close(d, worst);
}
