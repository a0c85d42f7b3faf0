/* A rule as text: fields with ';' between them. One table of the fields serves both reading and
 * writing. */
#include "calendar/rule_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "calendar/prepare.h"

enum kind { DURATION, TIME, COUNT, TEXT, MISSED, DATES };

struct text_field {
	const char *name;
	enum kind kind;
	size_t at; /* offset in dw_rule */
};

/* The fields, in the order in which they are written. */
static const struct text_field text_fields[] = {
    {"every", DURATION, offsetof(dw_rule, every)},
    {"cron", TEXT, offsetof(dw_rule, cron)},
    {"zone", TEXT, offsetof(dw_rule, zone)},
    {"start", TIME, offsetof(dw_rule, start)},
    {"end", TIME, offsetof(dw_rule, end)},
    {"count", COUNT, offsetof(dw_rule, count)},
    {"jitter", DURATION, offsetof(dw_rule, jitter_us)},
    {"missed", MISSED, offsetof(dw_rule, missed)},
    {"missed-after", DURATION, offsetof(dw_rule, missed_after_us)},
    {"missed-age", DURATION, offsetof(dw_rule, missed_age_us)},
    {"except", DATES, offsetof(dw_rule, except)},
};
enum { TEXT_FIELDS = sizeof text_fields / sizeof text_fields[0] };

static const char *const missed_names[] = {"once", "skip", "all"};
enum { MISSED_NAMES = sizeof missed_names / sizeof missed_names[0] };

/* The block of a rule that was read: the rule and all that it points to. */
struct rule_block {
	dw_rule rule; /* the first field: dw_rule_free() gets its address */
	unsigned given;
	const char *except[DW_EXCEPT_MAX];
	char text[DW_RULE_TEXT_MAX + 1]; /* the text that was read, with a NUL behind each value */
};

/* cut_at ends *text at the separator, and returns the word before it, without white space around.
 * Then *text is the rest of the text, or NULL if there is no rest. */
static char *cut_at(char **text, char separator)
{
	char *word = *text + strspn(*text, " \t");
	char *end = strchr(word, separator);

	*text = end ? end + 1 : NULL;
	if (!end)
		end = word + strlen(word);
	while (end > word && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	return word;
}

static int read_duration(const char *name, const char *value, dw_usec *ret_duration, char *message)
{
	if (dw_parse_duration(value, ret_duration) == DW_OK && *ret_duration > 0)
		return DW_OK;
	return message_refuse(message, "%s \"%.64s\" is not a duration: write it as 90s or 1h30m",
			      name, value);
}

static int read_time(const char *name, const char *value, dw_usec *ret_time, char *message)
{
	if (dw_parse_time(value, ret_time) == DW_OK && *ret_time > 0)
		return DW_OK;
	return message_refuse(message,
			      "%s \"%.64s\" is not a time after 1970: write it as "
			      "2026-06-01T09:30:00Z",
			      name, value);
}

static int read_count(const char *value, uint64_t *ret_count, char *message)
{
	size_t length = strspn(value, "0123456789");
	uint64_t count = 0;

	for (size_t i = 0; i < length && i < 9; i++)
		count = count * 10 + (uint64_t)(value[i] - '0');
	if (value[length] || length > 9 || count == 0)
		return message_refuse(message, "count \"%.64s\" is wrong: write 1 to %d", value,
				      DW_RULE_COUNT_MAX);
	*ret_count = count;
	return DW_OK;
}

static int read_missed(const char *value, dw_missed *ret_missed, char *message)
{
	for (int i = 0; i < MISSED_NAMES; i++) {
		if (strcmp(value, missed_names[i]) != 0)
			continue;
		*ret_missed = (dw_missed)i;
		return DW_OK;
	}
	return message_refuse(message, "missed \"%.64s\" is unknown: write once, skip or all",
			      value);
}

static int read_except(struct rule_block *block, char *value, char *message)
{
	while (value) {
		if (block->rule.except_count == DW_EXCEPT_MAX)
			return message_refuse(
			    message, "except has too many dates: write at most %d", DW_EXCEPT_MAX);
		block->except[block->rule.except_count++] = cut_at(&value, ',');
	}
	block->rule.except = block->except;
	return DW_OK;
}

static int read_value(struct rule_block *block, const struct text_field *field, char *value,
		      char *message)
{
	void *at = (char *)&block->rule + field->at;

	switch (field->kind) {
	case DURATION:
		return read_duration(field->name, value, at, message);
	case TIME:
		return read_time(field->name, value, at, message);
	case COUNT:
		return read_count(value, at, message);
	case MISSED:
		return read_missed(value, at, message);
	case DATES:
		return read_except(block, value, message);
	case TEXT:
		break;
	}
	*(const char **)at = value;
	return DW_OK;
}

/* read_part reads a field with its name, "zone Europe/London". */
static int read_part(struct rule_block *block, char *part, char *message)
{
	size_t length = strcspn(part, " \t");
	char *value = part + length + strspn(part + length, " \t");

	part[length] = '\0';
	for (unsigned i = 0; i < TEXT_FIELDS; i++) {
		if (strcmp(part, text_fields[i].name) != 0)
			continue;
		if (block->given >> i & 1)
			return message_refuse(message, "%s is given twice", part);
		if (!*value)
			return message_refuse(message, "%s has no value", part);
		block->given |= 1u << i;
		return read_value(block, &text_fields[i], value, message);
	}
	return message_refuse(message,
			      "\"%.32s\" is no field of a rule: write every, cron, zone, start, "
			      "end, count, jitter, missed, missed-after, missed-age or except",
			      part);
}

static int read_parts(struct rule_block *block, char *message)
{
	char *rest = block->text;
	int status = DW_OK;

	block->rule.size = sizeof block->rule;
	while (rest && status == DW_OK)
		status = read_part(block, cut_at(&rest, ';'), message);
	return status;
}

int rule_read(const struct alloc *alloc, const char *text, dw_rule **ret_rule, char *ret_message)
{
	struct rule_block *block;
	size_t size = text ? strnlen(text, DW_RULE_TEXT_MAX + 1) : 0;
	int status;

	if (size == 0 || !ret_rule)
		return message_refuse(ret_message, "the rule is empty: write it as every 90s");
	if (size > DW_RULE_TEXT_MAX)
		return message_refuse(ret_message, "the rule is too long: write at most %d bytes",
				      DW_RULE_TEXT_MAX);
	block = alloc_new(alloc, sizeof *block);
	if (!block)
		return DW_ENOMEM;
	memcpy(block->text, text, size);
	status = read_parts(block, ret_message);
	if (status == DW_OK)
		*ret_rule = &block->rule;
	else
		alloc_free(alloc, block);
	return status;
}

int dw_rule_parse(const char *text, dw_rule **ret_rule, char *ret_message)
{
	char unread[DW_MESSAGE_SIZE];
	char *message = ret_message ? ret_message : unread;
	const struct alloc alloc = alloc_default();
	struct calendar calendar;
	dw_rule *rule = NULL;
	int status = rule_read(&alloc, text, ret_rule ? &rule : NULL, message);

	if (status != DW_OK)
		return status;
	status = calendar_prepare(&alloc, rule, 0, &calendar, message);
	if (status != DW_OK) {
		alloc_free(&alloc, rule);
		return status;
	}
	calendar_release(&alloc, &calendar);
	*ret_rule = rule;
	return DW_OK;
}

void dw_rule_free(dw_rule *rule)
{
	const struct alloc alloc = alloc_default();

	alloc_free(&alloc, rule);
}

/* Text that is being written. Characters that do not fit are only counted. */
struct out {
	char *text;
	size_t size, used;
};

static void write_words(struct out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void write_words(struct out *out, const char *format, ...)
{
	size_t left = out->used < out->size ? out->size - out->used : 0;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(left ? out->text + out->used : NULL, left, format, arguments);
	va_end(arguments);
	out->used += length > 0 ? (size_t)length : 0;
}

/* write_duration uses the largest unit that is exact. */
static void write_duration(struct out *out, dw_usec duration)
{
	static const struct {
		dw_usec size;
		const char *name;
	} units[] = {{DW_DAYS(1), "d"},    {DW_HOURS(1), "h"},         {DW_MINUTES(1), "m"},
		     {DW_SECONDS(1), "s"}, {DW_MILLISECONDS(1), "ms"}, {1, "us"}};
	size_t i = 0;

	while (duration % units[i].size != 0)
		i++;
	write_words(out, "%" PRId64 "%s", duration / units[i].size, units[i].name);
}

static void write_dates(struct out *out, const dw_rule *rule)
{
	for (size_t i = 0; i < rule->except_count; i++)
		write_words(out, i > 0 ? ", %s" : "%s", rule->except[i]);
}

/* write_value writes the value of a field that is set. */
static void write_value(struct out *out, const dw_rule *rule, const struct text_field *field)
{
	const void *at = (const char *)rule + field->at;
	char time[DW_TIME_SIZE];

	switch (field->kind) {
	case DURATION:
		write_duration(out, *(const dw_usec *)at);
		break;
	case TIME:
		dw_format_time(*(const dw_usec *)at, time);
		write_words(out, "%s", time);
		break;
	case COUNT:
		write_words(out, "%" PRIu64, *(const uint64_t *)at);
		break;
	case TEXT:
		write_words(out, "%s", *(const char *const *)at);
		break;
	case MISSED:
		write_words(out, "%s", missed_names[*(const dw_missed *)at]);
		break;
	case DATES:
		write_dates(out, rule);
		break;
	}
}

/* is_set returns true if the field has a value other than its default. */
static bool is_set(const dw_rule *rule, const struct text_field *field)
{
	const void *at = (const char *)rule + field->at;

	switch (field->kind) {
	case DURATION:
	case TIME:
		return *(const dw_usec *)at != 0;
	case COUNT:
		return *(const uint64_t *)at != 0;
	case TEXT:
		return *(const char *const *)at != NULL;
	case MISSED:
		return *(const dw_missed *)at != DW_MISSED_ONCE;
	case DATES:
		break;
	}
	return rule->except_count > 0;
}

size_t rule_write(const dw_rule *rule, char *ret_text, size_t size)
{
	struct out out = {.text = ret_text, .size = size};

	for (size_t i = 0; i < TEXT_FIELDS; i++) {
		if (!is_set(rule, &text_fields[i]))
			continue;
		write_words(&out, out.used > 0 ? "; %s " : "%s ", text_fields[i].name);
		write_value(&out, rule, &text_fields[i]);
	}
	return out.used;
}
