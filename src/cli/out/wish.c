#include "cli/out/wish.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/base64.h"
#include "cli/out/due.h"
#include "cli/out/durations.h"
#include "cli/out/line.h"
#include "cli/options.h"
#include "cli/out/rule.h"
#include "cli/out/rule_keys.h"
#include "durawheel/ended.h"

/* The keys of a line: some options of add, and the keys below. `list --json` writes the keys from
 * KEY_DUE on. import ignores the state and the attempt, because the new timer starts from the
 * beginning. */
enum key {
	KEY_DATA_BASE64 = OPTION_COUNT,
	KEY_RULE,
	KEY_DUE,
	KEY_STATE,
	KEY_ATTEMPT,
	KEY_OCCURRENCE,
	KEY_RULE_END,
	KEY_MISSED_COUNT,
	KEY_UNKNOWN_ZONE,
	KEYS
};

/* key_name returns the name of a key. Returns NULL for an option that is not a key. */
static const char *key_name(int key)
{
	static const char *const names[] = {"data_base64", "rule",         "due",
					    "state",       "attempt",      "occurrence",
					    "rule_end",    "missed_count", "unknown_zone"};
	enum key_of kind;

	if (key >= OPTION_COUNT)
		return names[key - OPTION_COUNT];
	kind = options_key_of((enum option_id)key);
	return kind == KEY_OF_IMPORT || kind == KEY_OF_RULE ? options_key((enum option_id)key)
							    : NULL;
}

static json_type key_type(int key)
{
	return key == OPT_TIMES || key == KEY_DUE || key == KEY_ATTEMPT || key == KEY_OCCURRENCE ||
		       key == KEY_RULE_END || key == KEY_MISSED_COUNT
		   ? JSON_INTEGER
		   : JSON_STRING;
}

static bool refuse(struct wish *wish, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static bool refuse(struct wish *wish, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(wish->message, sizeof wish->message, format,
			arguments); /* a long message is cut */
	va_end(arguments);
	return false;
}

/* key_of returns the key of a name, or -1. The name "start" means the key "from", because the text
 * of a rule calls it so. */
static int key_of(const char *name)
{
	if (strcmp(name, "start") == 0)
		return OPT_FROM;
	for (int key = 0; key < KEYS; key++)
		if (key_name(key) && strcmp(key_name(key), name) == 0)
			return key;
	return -1;
}

static bool refuse_key(struct wish *wish, const char *name)
{
	char known[256] = "";
	size_t size = 0;

	for (int key = 0; key < KEYS; key++)
		if (key_name(key))
			size += (size_t)snprintf(known + size, sizeof known - size, "%s%s%s",
						 /* The buffer holds all names. */
						 size ? ", " : "", key_name(key),
						 key == OPT_FROM ? " or start" : "");
	return refuse(wish, "unknown key \"%.64s\": known are %s", name, known);
}

/* sort_keys finds the value of each key. Returns false if a key is unknown or its value has a wrong
 * type. */
static bool sort_keys(struct wish *wish, const json_t **values)
{
	void *at = json_object_iter(wish->object);

	for (; at; at = json_object_iter_next(wish->object, at)) {
		const char *name = json_object_iter_key(at);
		int key = key_of(name);

		if (key < 0)
			return refuse_key(wish, name);
		if (json_typeof(json_object_iter_value(at)) != key_type(key))
			return refuse(wish,
				      key_type(key) == JSON_STRING
					  ? "\"%s\" is not a string: write its value in quotes"
					  : "\"%s\" is not a whole number",
				      name);
		if (values[key])
			return refuse(wish, "has both \"from\" and \"start\": write one of them");
		values[key] = json_object_iter_value(at);
	}
	return true;
}

/* text_of returns the string of a key, or NULL if the key is missing. It refuses a string that
 * contains a NUL, because a C string would end there. */
static bool text_of(struct wish *wish, const json_t **values, int key, const char **ret_text)
{
	*ret_text = NULL;
	if (!values[key])
		return true;
	*ret_text = json_string_value(values[key]);
	if (strlen(*ret_text) != json_string_length(values[key]))
		return refuse(wish, "\"%s\" has a NUL in it", key_name(key));
	return true;
}

/* goes_on returns true if the line has a position in the rule, as `list --json` writes it. */
static bool goes_on(const json_t **values)
{
	return values[KEY_OCCURRENCE] || values[KEY_RULE_END] || values[KEY_MISSED_COUNT];
}

/* read_occurrence reads the position in the rule, where the new timer continues. In a line without
 * "occurrence" the rule begins, and "due" is ignored. */
static bool read_occurrence(struct wish *wish, const json_t **values)
{
	/* 0 if the key is missing. */
	json_int_t occurrence = json_integer_value(values[KEY_OCCURRENCE]);
	json_int_t missed = json_integer_value(values[KEY_MISSED_COUNT]);

	if (!values[KEY_OCCURRENCE])
		return values[KEY_RULE_END] || values[KEY_MISSED_COUNT]
			   ? refuse(wish,
				    "\"rule_end\" and \"missed_count\" need an \"occurrence\"")
			   : true;
	if (occurrence <= 0)
		return refuse(wish,
			      "\"occurrence\" is not after 1970: write microseconds since then");
	if (values[KEY_RULE_END] && json_integer_value(values[KEY_RULE_END]) < occurrence)
		return refuse(wish, "\"rule_end\" is before \"occurrence\"");
	if (missed < 0 || missed > UINT32_MAX)
		return refuse(wish, "\"missed_count\" is not a count");
	wish->timer.occurrence = occurrence;
	wish->timer.rule_end = json_integer_value(values[KEY_RULE_END]);
	wish->timer.missed = (uint32_t)missed;
	wish->timer.due =
	    values[KEY_DUE] ? json_integer_value(values[KEY_DUE]) : wish->timer.occurrence;
	return true;
}

static bool read_rule(struct wish *wish, const char *text, const json_t **values)
{
	char message[DW_MESSAGE_SIZE] = "out of memory";

	if (dw_rule_parse(text, &wish->rule, message) != DW_OK)
		return refuse(wish, "\"rule\": %.200s", message);
	wish->timer.rule = wish->rule;
	return read_occurrence(wish, values);
}

/* read_rule_keys reads a rule that has a key for each field, instead of one text. */
static bool read_rule_keys(struct wish *wish, const json_t **values, const struct time_place *place)
{
	char fault[RULE_KEY_FAULT_SIZE];

	if (!rule_of_keys(values, place, &wish->rule, fault))
		return refuse(wish, "%.600s", fault);
	wish->timer.rule = wish->rule;
	return true;
}

/* read_number reads "due". Another program may have written seconds or milliseconds there. A line
 * with a "state" comes from `list --json`, so its "due" is right. */
static bool read_number(struct wish *wish, const json_t **values)
{
	dw_usec due = json_integer_value(values[KEY_DUE]), right;
	const char *unit = values[KEY_STATE] ? NULL : time_resembles(due, &right);

	if (unit)
		return refuse(wish, "\"due\":%lld looks like %s: microseconds are wanted, as %lld",
			      (long long)due, unit, (long long)right);
	wish->timer.due = due;
	return true;
}

static bool read_in(struct wish *wish, const char *in, const struct time_place *place)
{
	dw_usec delay;
	int status = duration_of(in, &delay);

	if (status != DW_OK)
		return refuse(wish, "\"in\":\"%.64s\" %s", in, duration_fault(in, status));
	wish->timer.due = due_after(place->now, delay);
	return true;
}

static bool read_at(struct wish *wish, const char *at, const char *zone,
		    const struct time_place *place)
{
	const struct time_place here = {.now = place->now, .zone = zone ? zone : place->zone};
	char fault[TIME_FAULT_SIZE];
	struct time_read read;

	if (time_of(at, &here, &read, fault) != DW_OK)
		return refuse(wish, "\"at\":\"%.64s\" %s%s", at, fault,
			      is_duration(at) ? "; \"in\" takes durations" : "");
	wish->timer.due = read.time;
	return true;
}

/* read_once reads the deadline of a timer without a rule. */
static bool read_once(struct wish *wish, const json_t **values, const struct time_place *place)
{
	const char *at, *in, *zone;

	if (!text_of(wish, values, OPT_AT, &at) || !text_of(wish, values, OPT_IN, &in) ||
	    !text_of(wish, values, OPT_ZONE, &zone))
		return false;
	if (zone && !at)
		return refuse(wish, "\"zone\" needs \"at\", \"every\" or \"cron\"");
	if ((at != NULL) + (in != NULL) + (values[KEY_DUE] != NULL) != 1)
		return refuse(
		    wish, "needs one of \"at\", \"in\", \"every\", \"cron\", \"rule\" and \"due\"");
	if (goes_on(values))
		return refuse(wish, "has no \"rule\": \"occurrence\", \"rule_end\" and "
				    "\"missed_count\" are those of a recurring timer");
	if (values[KEY_DUE])
		return read_number(wish, values);
	return in ? read_in(wish, in, place) : read_at(wish, at, zone, place);
}

static bool read_due(struct wish *wish, const json_t **values, const struct time_place *place)
{
	const char *part = rule_key_given(values);
	const char *rule;

	if (!text_of(wish, values, KEY_RULE, &rule))
		return false;
	if (rule && !part && values[OPT_ZONE])
		part = options_key(OPT_ZONE);
	if ((rule || part) && (values[OPT_AT] || values[OPT_IN]))
		return refuse(wish, "has \"%s\": it needs no \"at\" and no \"in\"",
			      rule ? "rule" : part);
	if (rule && part)
		return refuse(wish, "has both \"rule\" and \"%s\"", part);
	if (part && (values[KEY_DUE] || goes_on(values)))
		return refuse(wish,
			      "has \"%s\": \"due\", \"occurrence\", \"rule_end\" and "
			      "\"missed_count\" are for \"rule\", as list --json writes it",
			      part);
	if (part)
		return read_rule_keys(wish, values, place);
	return rule ? read_rule(wish, rule, values) : read_once(wish, values, place);
}

static bool read_late_after(struct wish *wish, const json_t **values)
{
	const char *text;
	int status;

	if (!text_of(wish, values, OPT_LATE_AFTER, &text))
		return false;
	if (!text)
		return true;
	if (wish->timer.rule)
		return refuse(wish,
			      "a recurring timer has no \"late_after\": use \"missed_after\" and "
			      "\"missed_age\"");
	status = duration_of(text, &wish->timer.late_after_us);
	if (status != DW_OK)
		return refuse(wish, "\"late_after\":\"%.64s\" %s", text,
			      duration_fault(text, status));
	if (wish->timer.late_after_us == 0)
		return refuse(wish, "\"late_after\" is 0: write a duration, or leave it out");
	return true;
}

static bool read_keep(struct wish *wish, const json_t **values)
{
	const char *text;
	int status;

	if (!text_of(wish, values, OPT_KEEP, &text))
		return false;
	if (!text)
		return true;
	status = duration_of(text, &wish->timer.keep_us);
	if (status != DW_OK)
		return refuse(wish, "\"keep\":\"%.64s\" %s", text, duration_fault(text, status));
	if (wish->timer.keep_us == 0 || wish->timer.keep_us > DW_KEEP_MAX)
		return refuse(wish, "\"keep\" is not 1us to 90d: write that, or leave it out");
	return true;
}

/* read_data checks the size itself, so that the message can name the key. */
static bool read_data(struct wish *wish, const json_t **values, size_t data_max)
{
	const json_t *data = values[OPT_DATA];
	const json_t *encoded = values[KEY_DATA_BASE64];

	if (data && encoded)
		return refuse(wish, "has both \"data\" and \"data_base64\"");
	if (data) {
		wish->timer.data = json_string_value(data);
		wish->timer.data_size = json_string_length(data);
	}
	if (encoded && !base64_decode(json_string_value(encoded), json_string_length(encoded),
				      &wish->decoded, &wish->timer.data_size))
		return refuse(wish, "\"data_base64\" is not base 64");
	if (encoded)
		wish->timer.data = wish->decoded;
	if (wish->timer.data_size > data_max)
		return refuse(wish, "\"%s\" has %zu bytes: at most %zu",
			      encoded ? "data_base64" : "data", wish->timer.data_size, data_max);
	return true;
}

/* read_state refuses a timer that a newer version has written, because this version cannot write
 * all of its fields. */
static bool read_state(struct wish *wish, const json_t **values)
{
	const char *state;

	if (!text_of(wish, values, KEY_STATE, &state))
		return false;
	wish->tried = json_integer_value(values[KEY_ATTEMPT]) > 0; /* 0 if the key is missing */
	if (!state || strcmp(state, state_name(DW_PENDING)) == 0 ||
	    strcmp(state, state_name(DW_CLAIMED)) == 0)
		return true;
	return refuse(wish, strcmp(state, state_name(DW_NEWER)) == 0
				? "is of a newer durawheel: import it with that version"
				: "has a \"state\" that is neither pending nor claimed");
}

bool wish_read(struct wish *ret_wish, const char *line, size_t size, size_t data_max,
	       const struct time_place *place)
{
	const json_t *values[KEYS] = {0};
	json_error_t error;
	struct wish *wish = ret_wish;

	wish->timer = (dw_timer){.size = sizeof wish->timer};
	wish->decoded = NULL;
	wish->rule = NULL;
	wish->tried = false;
	wish->message[0] = '\0';
	wish->object = json_loadb(line, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
	if (!wish->object)
		return refuse(wish, "%.200s, at byte %d", error.text, error.position);
	if (!json_is_object(wish->object))
		return refuse(wish, "is not an object");
	if (!sort_keys(wish, values) || !text_of(wish, values, OPT_ID, &wish->timer.id) ||
	    !text_of(wish, values, OPT_TOPIC, &wish->timer.topic))
		return false;
	if (!wish->timer.topic)
		return refuse(wish, "needs a \"topic\"");
	return read_state(wish, values) && read_due(wish, values, place) &&
	       read_late_after(wish, values) && read_keep(wish, values) &&
	       read_data(wish, values, data_max);
}

static const char *value_of(const struct wish *wish, const char *key)
{
	return json_string_value(json_object_get(wish->object, key));
}

/* blame_never says why the rule has no occurrence. The message uses the names that the line
 * uses. */
static void blame_never(struct wish *wish, enum rule_never never)
{
	bool is_text = value_of(wish, "rule") != NULL;
	const char *key = value_of(wish, "cron") ? "cron" : "every";

	if (never == RULE_NEVER_UNTIL && is_text)
		(void)refuse(wish, "\"rule\": it never comes: end is before its first occurrence");
	else if (never == RULE_NEVER_UNTIL)
		(void)refuse(wish,
			     "it never comes: \"until\":\"%.64s\" is before its first occurrence",
			     value_of(wish, "until"));
	else if (never == RULE_NEVER_TIMES)
		(void)refuse(
		    wish, is_text
			      ? "\"rule\": it never comes: all occurrences of its count have passed"
			      : "it never comes: all of its \"times\" have passed");
	else if (is_text)
		(void)refuse(wish, "\"rule\": it never comes: it has no occurrence");
	else
		(void)refuse(wish, "it never comes: \"%s\":\"%.64s\" has no occurrence", key,
			     value_of(wish, key));
}

bool wish_never(struct wish *wish, dw_usec now)
{
	dw_usec occurrence = wish->timer.occurrence;
	enum rule_never never;
	dw_rule rule;

	if (!wish->rule)
		return false;
	rule = *wish->rule;
	if (wish->timer.rule_end > 0)
		rule.end = wish->timer.rule_end;
	never = rule_never(&rule, occurrence > 0 ? occurrence - 1 : now);
	if (never == RULE_COMES)
		return false;
	if (occurrence > 0)
		(void)refuse(wish, "\"rule\" has no occurrence at \"occurrence\" or later");
	else
		blame_never(wish, never);
	return true;
}

void wish_free(struct wish *wish)
{
	json_decref(wish->object);
	dw_rule_free(wish->rule);
	free(wish->decoded);
}
