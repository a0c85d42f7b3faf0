/* Reads a cron expression. The reader is strict. It refuses forms that cron programs read in
 * different ways, so that nobody is surprised by another time. Therefore a range never wraps,
 * and a step is not larger than its field. (A step of 90 in the minutes would mean once an
 * hour.) */
#include "calendar/cron.h"

#include <string.h>

#include "base/ascii.h"
#include "base/message.h"
#include "durawheel/durawheel.h"

enum { FIELDS_MAX = 6 };

struct field {
	const char *name;
	const char *right; /* what a right field looks like, for the error message */
	const char *words; /* the words of the field, three letters each; NULL: only numbers */
	int least, most;
	int first_word; /* the number that the first word stands for */
};

static const struct field fields[FIELDS_MAX] = {
    {"second", "0 to 59, *, a list, a range or a step", NULL, 0, 59, 0},
    {"minute", "0 to 59, *, a list, a range or a step", NULL, 0, 59, 0},
    {"hour", "0 to 23, *, a list, a range or a step", NULL, 0, 23, 0},
    {"day of month", "1 to 31, *, L or L-2", NULL, 1, 31, 0},
    {"month", "1 to 12, jan to dec, or *", "janfebmaraprmayjunjulaugsepoctnovdec", 1, 12, 1},
    {"day of week", "0 to 7, sun to sat, *, mon#2 or fri#L", "sunmontuewedthufrisat", 0, 7, 0},
};
enum { SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY };

/* One field of the text, and the set of values that was read so far. */
struct cron_field {
	const struct field *field;
	const char *text;
	size_t size, at;
	uint64_t bits;
	struct cron *cron;
	char *message;
};

static int refuse_field(const struct cron_field *scan, const char *why)
{
	return message_refuse(scan->message, "cron: %s \"%.*s\" %s: write %s", scan->field->name,
			      (int)(scan->size > 64 ? 64 : scan->size), scan->text, why,
			      scan->field->right);
}

static char peek(const struct cron_field *scan)
{
	return scan->at < scan->size ? scan->text[scan->at] : '\0';
}

static bool take_char(struct cron_field *scan, char c)
{
	if (scan->at == scan->size || !ascii_is_for(&scan->text[scan->at], &c, 1))
		return false;
	scan->at++;
	return true;
}

static bool is_number(char c)
{
	return c >= '0' && c <= '9';
}

/* take_count reads a number of at most three digits. */
static bool take_count(struct cron_field *scan, int *ret_count)
{
	size_t begin = scan->at;
	int count = 0;

	for (; is_number(peek(scan)) && scan->at - begin < 3; scan->at++)
		count = count * 10 + (peek(scan) - '0');
	*ret_count = count;
	return scan->at > begin;
}

/* take_value reads a number or a word of the field. */
static bool take_value(struct cron_field *scan, int *ret_value)
{
	const char *words = scan->field->words;

	if (is_number(peek(scan)))
		return take_count(scan, ret_value) && *ret_value >= scan->field->least &&
		       *ret_value <= scan->field->most;
	if (!words || scan->size - scan->at < 3)
		return false;
	for (int i = 0; words[3 * i]; i++) {
		if (!ascii_is_for(&scan->text[scan->at], &words[3 * i], 3))
			continue;
		scan->at += 3;
		*ret_value = scan->field->first_word + i;
		return true;
	}
	return false;
}

/* take_step reads the step of the range from first to *last. The step may be missing. A single
 * value with a step is a range to the end of the field. */
static int take_step(struct cron_field *scan, bool single, int *last, int *ret_step)
{
	*ret_step = 1;
	if (!take_char(scan, '/'))
		return DW_OK;
	if (!take_count(scan, ret_step))
		return refuse_field(scan, "has no step after the /");
	if (*ret_step == 0)
		return refuse_field(scan, "has a step of 0");
	if (*ret_step > scan->field->most)
		return refuse_field(scan, "has a step beyond the field (every may say it)");
	if (single)
		*last = scan->field->most;
	return DW_OK;
}

/* take_end reads the end of a range. sun ends a range as day 7. */
static int take_end(struct cron_field *scan, int first, int *ret_last)
{
	bool word = !is_number(peek(scan));

	if (!take_value(scan, ret_last))
		return refuse_field(scan, "has a wrong end of a range");
	if (word && scan->field == &fields[WEEKDAY] && *ret_last == 0)
		*ret_last = 7;
	if (*ret_last < first)
		return refuse_field(scan, "has a range that ends before it begins");
	return DW_OK;
}

/* take_nth reads the number or L that stands after mon#. */
static int take_nth(struct cron_field *scan, int weekday)
{
	int nth = 0;

	if (!take_char(scan, 'L') && (!take_count(scan, &nth) || nth < 1 || nth > 5))
		return refuse_field(scan, "has no week of 1 to 5 or L after the #");
	scan->cron->weekdays_nth[weekday % 7] |= (uint8_t)(1u << nth);
	return DW_OK;
}

/* take_last reads the number that may stand after L. */
static int take_last(struct cron_field *scan)
{
	int days = 0;

	if (take_char(scan, '-') && (!take_count(scan, &days) || days > 30))
		return refuse_field(scan, "has no number of days up to 30 after L-");
	scan->cron->days_before_last |= UINT32_C(1) << days;
	return DW_OK;
}

/* take_item reads one item of the list. */
static int take_item(struct cron_field *scan)
{
	bool any = take_char(scan, '*') || take_char(scan, '?');
	int first = scan->field->least, last = scan->field->most, step;
	bool single = false;
	int status;

	if (!any && scan->field == &fields[DAY] && take_char(scan, 'L'))
		return take_last(scan);
	if (!any) {
		if (!take_value(scan, &first))
			return refuse_field(scan, "is wrong");
		if (scan->field == &fields[WEEKDAY] && take_char(scan, '#'))
			return take_nth(scan, first);
		single = !take_char(scan, '-');
		last = first;
		status = single ? DW_OK : take_end(scan, first, &last);
		if (status != DW_OK)
			return status;
	}
	status = take_step(scan, single, &last, &step);
	for (int value = first; status == DW_OK && value <= last; value += step)
		scan->bits |= UINT64_C(1) << value;
	return status;
}

static int read_field(struct cron_field *scan)
{
	int status = take_item(scan);

	while (status == DW_OK && take_char(scan, ','))
		status = take_item(scan);
	if (status == DW_OK && scan->at < scan->size)
		status = refuse_field(scan, "is wrong");
	return status;
}

static bool begins_with_star(const struct cron_field *scan)
{
	return *scan->text == '*' || *scan->text == '?';
}

/* keep copies the sets of all fields into the cron expression. */
static void keep(struct cron *cron, const struct cron_field *scans)
{
	uint64_t weekdays = scans[WEEKDAY].bits;

	cron->seconds = scans[SECOND].bits;
	cron->minutes = scans[MINUTE].bits;
	cron->hours = (uint32_t)scans[HOUR].bits;
	cron->days = (uint32_t)scans[DAY].bits;
	cron->months = (uint32_t)scans[MONTH].bits;
	cron->weekdays = (uint32_t)((weekdays | weekdays >> 7) & 0x7f);
	cron->either_day = !begins_with_star(&scans[DAY]) && !begins_with_star(&scans[WEEKDAY]);
	cron->interval = begins_with_star(&scans[MINUTE]) || begins_with_star(&scans[HOUR]);
}

/* split_fields finds the words of text. It returns their number; FIELDS_MAX + 1 means too many. */
static int split_fields(const char *text, struct cron_field *scans)
{
	int count = 0;

	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		size_t size = strcspn(text, " \t");

		if (count < FIELDS_MAX)
			scans[count] = (struct cron_field){.text = text, .size = size};
		if (++count > FIELDS_MAX)
			break;
		text += size;
	}
	return count;
}

/* spelled_out returns the five fields that a name like @daily stands for, or the text itself. */
static const char *spelled_out(const char *text)
{
	static const char *const names[][2] = {
	    {"@hourly", "0 * * * *"},   {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
	    {"@weekly", "0 0 * * 0"},   {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"},
	    {"@annually", "0 0 1 1 *"},
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (ascii_is(text, names[i][0]))
			return names[i][1];
	return text;
}

int cron_parse(const char *text, struct cron *ret_cron, char *ret_message)
{
	struct cron_field scans[FIELDS_MAX] = {{0}};
	struct cron cron = {0};
	const char *words = spelled_out(text);
	int count = split_fields(words, scans);
	int status = DW_OK;

	if (*words == '@')
		return message_refuse(ret_message,
				      "cron: %.64s is unknown: write @hourly, @daily, @weekly, "
				      "@monthly, @yearly or five fields",
				      words);
	if (count != 5 && count != 6)
		return message_refuse(ret_message,
				      "cron: %s fields: write 5 (minute hour day month weekday), "
				      "or 6 with seconds first",
				      count > FIELDS_MAX ? "more than 6" : "too few");
	if (count == 5) {
		memmove(&scans[1], &scans[0], 5 * sizeof scans[0]);
		scans[0] = (struct cron_field){.text = "0", .size = 1};
	}
	for (int i = 0; i < FIELDS_MAX && status == DW_OK; i++) {
		scans[i].field = &fields[i];
		scans[i].cron = &cron;
		scans[i].message = ret_message;
		status = read_field(&scans[i]);
	}
	if (status != DW_OK)
		return status;
	keep(&cron, scans);
	if (cron_from(&cron, 0) == INT64_MAX)
		return message_refuse(ret_message,
				      "cron: \"%.64s\" never comes: no month has such a day", text);
	*ret_cron = cron;
	return DW_OK;
}
