#include "cli/out/rule_keys.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/out/durations.h"
#include "cli/out/rule.h"
#include "cli/out/times.h"

enum key_kind { DURATION, MOMENT, NUMBER, WORDS };

/* The keys of a rule, in the order in which the rule's text has them. */
static const struct rule_key {
	enum option_id id;
	enum key_kind kind;
} fields[] = {
    {OPT_EVERY, DURATION},      {OPT_CRON, WORDS},   {OPT_ZONE, WORDS},
    {OPT_FROM, MOMENT},         {OPT_UNTIL, MOMENT}, {OPT_TIMES, NUMBER},
    {OPT_JITTER, DURATION},     {OPT_MISSED, WORDS}, {OPT_MISSED_AFTER, DURATION},
    {OPT_MISSED_AGE, DURATION}, {OPT_EXCEPT, WORDS},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

/* The text of a rule while it is built, and the message if it is invalid. */
struct rule_lines {
	char text[DW_RULE_TEXT_MAX + 1];
	size_t size; /* may exceed the buffer; the text is then too long */
	char *fault;
	struct time_place place;
};

static bool blame(struct rule_lines *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool blame(struct rule_lines *lines, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(lines->fault, RULE_KEY_FAULT_SIZE, format,
			arguments); /* a long message is cut */
	va_end(arguments);
	return false;
}

/* add_value appends a field to the text. */
static bool add_value(struct rule_lines *lines, const struct rule_key *field, const char *value)
{
	size_t room = lines->size < sizeof lines->text ? sizeof lines->text - lines->size : 0;
	char *at = room > 0 ? lines->text + lines->size : NULL;

	lines->size +=
	    (size_t)snprintf(at, room, "%s%s %s", lines->size > 0 ? "; " : "",
			     rule_field(field->id), value); /* the caller checks the size */
	if (lines->size >= sizeof lines->text)
		return blame(lines, "the rule is too long: write at most %d bytes",
			     DW_RULE_TEXT_MAX);
	return true;
}

static bool add_duration(struct rule_lines *lines, const struct rule_key *field, const char *text)
{
	dw_usec duration;
	char value[32];
	int status = duration_of(text, &duration);

	if (status != DW_OK)
		return blame(lines, "\"%s\":\"%.64s\" %s", options_key(field->id), text,
			     duration_fault(text, status));
	if (duration == 0 && field->id == OPT_EVERY)
		return blame(lines, "\"every\" is out of range: write 1ms to 3660d");
	if (duration == 0)
		return blame(lines, "\"%s\" is 0: write a duration, or leave it out",
			     options_key(field->id));
	/* The text always fits. */
	(void)snprintf(value, sizeof value, "%lldus", (long long)duration);
	return add_value(lines, field, value);
}

static bool add_moment(struct rule_lines *lines, const struct rule_key *field, const char *text)
{
	struct time_read read;
	char value[DW_TIME_SIZE], fault[TIME_FAULT_SIZE];
	int status = time_of(text, &lines->place, &read, fault);

	if (status != DW_OK)
		return blame(lines, "\"%s\":\"%.64s\" %s", options_key(field->id), text, fault);
	dw_format_time(read.time, value);
	return add_value(lines, field, value);
}

/* add_words appends a field with words. It refuses a ';', because that would begin another
 * field. */
static bool add_words(struct rule_lines *lines, const struct rule_key *field, const char *text)
{
	if (strchr(text, ';'))
		return blame(lines, "\"%s\" has a ';' in it: each part of a rule has its own key",
			     options_key(field->id));
	return add_value(lines, field, text);
}

static bool add_key(struct rule_lines *lines, const struct rule_key *field, const json_t *value)
{
	const char *text = json_string_value(value);
	char number[32];

	if (text && strlen(text) != json_string_length(value))
		return blame(lines, "\"%s\" has a NUL in it", options_key(field->id));
	switch (field->kind) {
	case DURATION:
		return add_duration(lines, field, text);
	case MOMENT:
		return add_moment(lines, field, text);
	case NUMBER:
		(void)snprintf(number, sizeof number, "%lld",
			       (long long)json_integer_value(value)); /* the text always fits */
		return add_value(lines, field, number);
	case WORDS:
		break;
	}
	return add_words(lines, field, text);
}

const char *rule_key_given(const json_t *const values[OPTION_COUNT])
{
	for (int i = 0; i < FIELDS; i++)
		if (values[fields[i].id] && fields[i].id != OPT_ZONE)
			return options_key(fields[i].id);
	return NULL;
}

/* has_passed returns true if the rule ends before now. Such a rule has no occurrence. */
static bool has_passed(const dw_rule *rule, dw_usec now)
{
	return rule->end > 0 && rule->end <= now;
}

bool rule_of_keys(const json_t *const values[OPTION_COUNT], const struct time_place *place,
		  dw_rule **ret_rule, char ret_fault[RULE_KEY_FAULT_SIZE])
{
	char message[DW_MESSAGE_SIZE] = "out of memory", fault[RULE_FAULT_SIZE];
	const char *zone = json_string_value(values[OPT_ZONE]);
	struct rule_lines lines = {
	    .fault = ret_fault,
	    .place = {.now = place->now, .zone = zone ? zone : place->zone},
	};
	dw_rule *rule;

	if (values[OPT_EVERY] && values[OPT_CRON])
		return blame(&lines, "has both \"every\" and \"cron\": write one of them");
	if (!values[OPT_EVERY] && !values[OPT_CRON])
		return blame(&lines, "\"%s\" needs \"every\" or \"cron\"", rule_key_given(values));
	for (int i = 0; i < FIELDS; i++)
		if (values[fields[i].id] && !add_key(&lines, &fields[i], values[fields[i].id]))
			return false;
	if (dw_rule_parse(lines.text, &rule, message) != DW_OK) {
		rule_fault(message, RULE_OF_KEYS, fault);
		return blame(&lines, "%.250s", fault);
	}
	if (has_passed(rule, place->now)) {
		dw_rule_free(rule);
		return blame(&lines, "\"until\" has passed: write a later time");
	}
	*ret_rule = rule;
	return true;
}
