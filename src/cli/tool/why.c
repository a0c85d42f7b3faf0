/* durawheel why: prints everything that is known about a timer in the order of time, what the timer
 * waits for, and what to do. */
#include "cli/commands.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/out/due.h"
#include "cli/out/ending.h"
#include "cli/out/errors.h"
#include "cli/out/line.h"
#include "cli/out/table.h"
#include "cli/out/waiting.h"
#include "cli/session.h"
#include "cli/tool/absent.h"
#include "durawheel/ended.h"
#include "durawheel/why.h"

enum { WORDS_SIZE = 2048 };

/* Everything that is known about one id. The command prints it when all answers have arrived. */
struct story {
	const char *id;
	bool json;
	const struct local_zone *zone;
	int code;
	int status; /* the status of the last answer */
	bool has_timer, has_letter;
	uint64_t ended; /* the generation of the timer whose end is kept; 0: no end is kept */
	bool is_dead;   /* no end is later than the dead letter */
	char topic[DW_TOPIC_MAX + 1];
	const char *state;
	/* What the kept end, the dead letter and the timer say: arrays of objects with "what", "at"
	 * unless it is not known, and "words". */
	json_t *of_end, *of_letter, *of_timer;
	json_t *waiting; /* what the timer waits for; NULL: nothing */
	char waits_for[WAITING_SIZE], command[WAITING_COMMAND_SIZE];
	const char *advice;
	char letter_command[ENDING_COMMAND_SIZE]; /* for the dead letter; "" if there is none */
	char absent[ABSENT_SIZE]; /* where to look for an id about which the store knows nothing */
};

/* note adds an entry to an array. `at` is its time, or NULL if that is unknown. If out of memory,
 * the entry is missing. */
static void note(json_t *entries, const char *what, const dw_usec *at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void note(json_t *entries, const char *what, const dw_usec *at, const char *format, ...)
{
	char words[WORDS_SIZE];
	va_list arguments;
	json_t *entry;

	va_start(arguments, format);
	(void)vsnprintf(words, sizeof words, format, arguments); /* cut if long */
	va_end(arguments);
	entry = json_pack("{s:s, s:o}", "what", what, "words", line_name(words));
	if (entry && at)
		(void)json_object_set_new(entry, "at", json_integer(*at));
	(void)json_array_append_new(entries, entry);
}

/* ---- What was ------------------------------------------------------------------------------ */

static void why_end_answered(dw *d, int status, const dw_ended *ended, void *user)
{
	struct story *story = user;
	char late[TEXT_SPAN_SIZE];

	(void)d;
	story->status = status == DW_ENOENT ? DW_OK : status;
	if (status != DW_OK)
		return;
	story->ended = ended->generation;
	story->state = end_name(ended->end);
	(void)snprintf(story->topic, sizeof story->topic, "%s", ended->topic); /* it fits */
	note(story->of_end, "was due", &ended->due, "%s", "");
	ending_late(ended, late);
	if (ended->started > 0)
		note(story->of_end, "started", &ended->started, "attempt %" PRIu32 ", %s late",
		     ended->attempt, late);
	note(story->of_end, end_name(ended->end), &ended->at,
	     "%s%sclaims: %" PRIu32 ", retries: %" PRIu32 "%s%s",
	     ended->end == DW_END_DEAD ? dw_reason_name(ended->reason) : "",
	     ended->end == DW_END_DEAD ? ", " : "", ended->attempt, ended->retries,
	     *ended->by ? ", by " : "", ended->by);
}

/* why_letter_answered gets the last dead letter. A later generation has ended later. If the letter
 * has the generation of the kept end, it is of that timer. */
static void why_letter_answered(dw *d, int status, const dw_dead *letter, size_t count,
				const dw_cursor *next, void *user)
{
	struct story *story = user;

	(void)d;
	(void)next;
	story->status = status == DW_ENOENT ? DW_OK : status;
	if (status != DW_OK || count == 0)
		return;
	story->has_letter = true;
	story->is_dead = letter->generation >= story->ended;
	if (letter->generation != story->ended)
		note(story->of_letter, "dead", &letter->at,
		     "%s, claims: %" PRIu32 ", retries: %" PRIu32, dw_reason_name(letter->reason),
		     letter->attempt, letter->retries);
	if (letter->why)
		note(story->of_letter, "last said", NULL, "%s", letter->why);
	note(story->of_letter, "dead letter", NULL, "%s", ending_letter_words(letter));
	if (story->is_dead)
		ending_letter_command(letter, story->letter_command);
	if (letter->generation <= story->ended)
		return;
	story->state = end_name(DW_END_DEAD);
	(void)snprintf(story->topic, sizeof story->topic, "%s", letter->topic); /* it fits */
}

/* ---- What is ------------------------------------------------------------------------------- */

/* set_at returns when this generation was made, or 0 if that is unknown. A store numbers a new
 * generation by the time in us, or by the last number plus 1 if that is higher. */
static dw_usec set_at(uint64_t generation)
{
	dw_usec at = generation < INT64_MAX ? (dw_usec)generation : 0;

	return at > DW_DAYS(18262) && at <= session_now() + DW_MINUTES(1) ? at : 0;
}

static void note_present(struct story *story, const dw_info *info)
{
	dw_usec set = set_at(info->generation);

	story->has_timer = true;
	story->state = state_name(info->state);
	(void)snprintf(story->topic, sizeof story->topic, "%s", info->topic); /* it fits */
	if (info->rule)
		note(story->of_timer, "set", set ? &set : NULL,
		     "generation %" PRIu64 ", of the rule %s", info->generation, info->rule);
	else
		note(story->of_timer, "set or moved", set ? &set : NULL, "generation %" PRIu64,
		     info->generation);
	if (info->missed > 0)
		note(story->of_timer, "missed", NULL, "%" PRIu32 " occurrences before this one",
		     info->missed);
	if (info->attempt > 0)
		note(story->of_timer, "tried", NULL, "claims: %" PRIu32 ", retries: %" PRIu32,
		     info->attempt, info->retries);
	if (info->why)
		note(story->of_timer, "last said", NULL, "%s", info->why);
	if (info->state == DW_CLAIMED)
		note(story->of_timer, "claimed", NULL, "its owner has claimed it");
	note(story->of_timer, "due", &info->due, "%s", "");
}

static void why_timer_answered(dw *d, int status, const dw_info *timers, size_t count,
			       const dw_cursor *next, void *user)
{
	struct story *story = user;

	(void)d;
	(void)next;
	story->status = status == DW_ENOENT ? DW_OK : status;
	if (status == DW_OK && count > 0)
		note_present(story, timers);
}

static void why_waiting_answered(dw *d, int status, const dw_why *found, void *user)
{
	struct story *story = user;

	(void)d;
	story->status = status == DW_ENOENT ? DW_OK : status;
	if (status == DW_ENOENT || (status == DW_OK && found->waits == DW_WAITS_MESSAGE)) {
		story->has_timer = false; /* it may have ended after the question before */
		(void)json_array_clear(story->of_timer);
	}
	if (status != DW_OK)
		return;
	story->waiting = waiting_object(found);
	story->advice = dw_describe_waits(found->waits)->advice;
	waiting_words(found, story->zone, story->waits_for);
	waiting_command(found, story->command);
	if (*found->who)
		note(story->of_timer, "owner", NULL, "%s%s", found->who,
		     found->shard >= 0 ? ", of its shard" : "");
}

/* why_topics_answered stores how the topics may be related to an id about which the store knows
 * nothing. */
static void why_topics_answered(dw *d, int status, const dw_topic_info *topics, size_t count,
				void *user)
{
	struct story *story = user;

	(void)d;
	story->status = status;
	if (status == DW_OK)
		absent_words(story->id, topics, count, story->absent);
}

/* ---- Asking -------------------------------------------------------------------------------- */

/* answered waits for the answer to a question. `status` is the return value of the call that asked
 * it. If there is no answer, it complains and returns false. */
static bool answered(dw *d, struct story *story, int status)
{
	if (status != DW_OK) {
		story->code =
		    complain(exit_of(status), "id \"%.300s\": %s", story->id, why(d, status));
		return false;
	}
	story->code = session_sync(d);
	if (story->code != EXIT_DONE)
		return false;
	if (story->status == DW_ECORRUPT)
		story->code = complain(exit_of(DW_ECORRUPT),
				       "%.300s is damaged and does not fire: cancel it or add it "
				       "again",
				       story->id);
	else if (story->status != DW_OK)
		story->code = complain(exit_of(story->status), "%.300s: %s", story->id,
				       dw_strerror(story->status));
	return story->status == DW_OK;
}

static bool is_known(const struct story *story)
{
	return story->has_timer || story->ended > 0 || story->has_letter || story->waiting;
}

/* ask_what_was asks for the end and the dead letter, and forgets earlier answers. */
static bool ask_what_was(dw *d, struct story *story)
{
	const dw_dead_select letter = {.size = sizeof letter, .id = story->id};

	story->ended = 0;
	story->has_letter = story->is_dead = false;
	story->letter_command[0] = '\0';
	(void)json_array_clear(story->of_end);
	(void)json_array_clear(story->of_letter);
	return answered(d, story, dw_ended_get(d, story->id, why_end_answered, story)) &&
	       answered(d, story, dw_dead_list(d, &letter, NULL, 1, why_letter_answered, story));
}

/* ask_all asks in the order of the history. If it finds no timer, the timer may have ended after
 * the first question, so it asks once more how it ended. */
static bool ask_all(dw *d, struct story *story)
{
	if (!ask_what_was(d, story) ||
	    !answered(d, story, dw_get(d, story->id, why_timer_answered, story)) ||
	    !answered(d, story, dw_why_waiting(d, story->id, why_waiting_answered, story)))
		return false;
	if (!story->has_timer && !ask_what_was(d, story))
		return false;
	return is_known(story) ||
	       answered(d, story, dw_topic_list(d, NULL, why_topics_answered, story));
}

/* ---- Printing ------------------------------------------------------------------------------ */

static void print_entry(const struct story *story, const json_t *entry)
{
	char line[WORDS_SIZE + LOCAL_TEXT_SIZE + TEXT_SPAN_SIZE], time[LOCAL_TEXT_SIZE],
	    distance[TEXT_SPAN_SIZE];
	const char *words = json_string_value(json_object_get(entry, "words"));
	const json_t *known = json_object_get(entry, "at");
	dw_usec at = json_integer_value(known);

	words = words ? words : "";
	if (!known) {
		(void)snprintf(line, sizeof line, "%s", words); /* it fits */
	} else {
		local_show(story->zone, at, time);
		text_distance(at, session_now(), distance);
		(void)snprintf(line, sizeof line, "%s%s%s%s%s", time, *distance ? ", " : "",
			       distance, *words ? ": " : "", words); /* it fits */
	}
	table_row_text(json_string_value(json_object_get(entry, "what")), line, strlen(line));
}

static void print_advice(const struct story *story)
{
	const char *command = story->waiting ? story->command : story->letter_command;
	const char *waits_for = story->waiting   ? story->waits_for
				: story->is_dead ? "nothing: it is dead"
						 : "nothing: it has ended";

	table_row_text("waits for", waits_for, strlen(waits_for));
	if (story->waiting)
		table_row_text("to do", story->advice, strlen(story->advice));
	if (*command)
		table_row_text("command", command, strlen(command));
}

/* history_of returns all that is known in the order of time. If out of memory, entries are
 * missing. */
static json_t *history_of(const struct story *story)
{
	json_t *const parts[] = {story->is_dead ? story->of_end : story->of_letter,
				 story->is_dead ? story->of_letter : story->of_end,
				 story->of_timer};
	json_t *history = json_array();

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		(void)json_array_extend(history, parts[i]);
	return history;
}

static void print_text(const struct story *story, const json_t *history)
{
	const json_t *entry;
	size_t i;

	table_row_text("id", story->id, strlen(story->id));
	table_row_text("topic", story->topic, strlen(story->topic));
	json_array_foreach(history, i, entry) print_entry(story, entry);
	print_advice(story);
}

static void print_json(struct story *story, json_t *history)
{
	struct line line = {0};
	json_t *object =
	    json_pack("{s:o, s:o, s:s, s:O}", "id", line_name(story->id), "topic",
		      line_name(story->topic), "state", story->state, "history", history);

	if (object && story->waiting)
		/* If out of memory, the key is missing. */
		(void)json_object_set(object, "waiting", story->waiting);
	if (line_of(&line, object))
		/* session_close() reports a failed write. */
		(void)fwrite(line.bytes, 1, line.size, stdout);
	else
		story->code = complain(EXIT_FAILED, "out of memory");
	line_free(&line);
}

static void print(struct story *story)
{
	json_t *history = history_of(story);

	if (story->json)
		print_json(story, history);
	else
		print_text(story, history);
	json_decref(history);
}

/* tell_story prints everything about one id. Returns an exit code. */
static int tell_story(dw *d, struct story *story)
{
	story->of_end = json_array();
	story->of_letter = json_array();
	story->of_timer = json_array();
	if (!ask_all(d, story)) {
		; /* answered() has complained */
	} else if (!is_known(story)) {
		story->code = complain(EXIT_ABSENT, "%.300s: %s", story->id, story->absent);
	} else {
		story->code = story->waiting ? EXIT_DONE : EXIT_ABSENT;
		print(story);
	}
	json_decref(story->of_end);
	json_decref(story->of_letter);
	json_decref(story->of_timer);
	json_decref(story->waiting);
	return story->code;
}

int command_why(const struct options *options)
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
		struct story story = {.id = options->words[i],
				      .json = options->value[OPT_JSON] != NULL,
				      .zone = shown,
				      .state = ""};
		int code;

		if (i > 1 && !story.json)
			(void)putchar('\n'); /* session_close() reports a failed write */
		code = tell_story(d, &story);
		worst = code > worst ? code : worst;
	}
	return session_close(d, worst);
}
