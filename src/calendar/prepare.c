#include "calendar/prepare.h"

#include <stdio.h>
#include <string.h>

#include "base/grown.h"
#include "base/message.h"
#include "base/usec.h"

#define EVERY_MIN DW_MILLISECONDS(1)
#define EVERY_MAX DW_DAYS(3660)
#define DAY_US DW_DAYS(1)
enum { DATE_SIZE = 10 };

static int check_form(const dw_rule *rule, char *message)
{
	if (!rule)
		return message_refuse(message, "the rule is NULL");
	if (grown_size_is_wrong(rule->size, sizeof *rule))
		return message_refuse(message, "rule.size is not sizeof(dw_rule)");
	if (grown_is_unknown(rule, sizeof *rule, rule->size))
		return message_refuse(message, "a rule of a newer durawheel than " DW_VERSION);
	if (rule->every != 0 && rule->cron)
		return message_refuse(message, "both every and cron are given: write one of them");
	if (rule->every == 0 && !rule->cron)
		return message_refuse(message, "neither every nor cron is given: write one of "
					       "them");
	if (rule->every != 0 && (rule->every < EVERY_MIN || rule->every > EVERY_MAX))
		return message_refuse(message, "every is out of range: write 1ms to 3660d");
	return DW_OK;
}

static int check_bounds(const dw_rule *rule, char *message)
{
	if (rule->start < 0)
		return message_refuse(message, "start is before 1970");
	if (rule->end < 0 || (rule->end > 0 && rule->end < rule->start))
		return message_refuse(message, "end is before start");
	if (rule->count > DW_RULE_COUNT_MAX)
		return message_refuse(message, "count is too large: write at most %d",
				      DW_RULE_COUNT_MAX);
	if (rule->jitter_us < 0 || (rule->every > 0 && rule->jitter_us > rule->every / 2))
		return message_refuse(message, "jitter is out of range: write at most half of "
					       "every");
	if (rule->missed != DW_MISSED_ONCE && rule->missed != DW_MISSED_SKIP &&
	    rule->missed != DW_MISSED_ALL)
		return message_refuse(message, "missed is unknown: write once, skip or all");
	if (rule->missed_after_us < 0)
		return message_refuse(message, "missed-after is negative");
	if (rule->missed_age_us < 0)
		return message_refuse(message, "missed-age is negative");
	return DW_OK;
}

/* read_date returns the number of a day "2026-12-25", or -1. */
static int64_t read_date(const char *date)
{
	char time[DW_TIME_SIZE];
	dw_usec midnight;

	if (!date || strnlen(date, DATE_SIZE + 1) != DATE_SIZE)
		return -1;
	(void)snprintf(time, sizeof time, "%sT00:00:00Z", date); /* the text fits */
	if (dw_parse_time(time, &midnight) != DW_OK || midnight < 0)
		return -1;
	return midnight / DAY_US;
}

static int read_dates(const dw_rule *rule, struct calendar *calendar, char *message)
{
	if (rule->except_count > DW_EXCEPT_MAX)
		return message_refuse(message, "except has too many dates: write at most %d",
				      DW_EXCEPT_MAX);
	if (rule->except_count > 0 && !rule->except)
		return message_refuse(message, "except is NULL, and except_count is not 0");
	for (size_t i = 0; i < rule->except_count; i++) {
		const char *date = rule->except[i];

		calendar->except[i] = read_date(date);
		if (calendar->except[i] < 0)
			return message_refuse(message,
					      "except: \"%.32s\" is not a date: write it as "
					      "2026-12-25",
					      date ? date : "NULL");
	}
	calendar->except_count = rule->except_count;
	return DW_OK;
}

int calendar_prepare(const struct alloc *alloc, const dw_rule *rule, dw_usec now,
		     struct calendar *ret_calendar, char *ret_message)
{
	int status = check_form(rule, ret_message);

	if (status == DW_OK)
		status = check_bounds(rule, ret_message);
	if (status != DW_OK)
		return status;
	*ret_calendar = (struct calendar){
	    .every = rule->every,
	    .start = rule->start > 0 ? rule->start : usec_max(now, 0),
	    .end = rule->end > 0 ? rule->end : DW_NEVER,
	    .count = rule->count,
	};
	status = read_dates(rule, ret_calendar, ret_message);
	if (status == DW_OK && rule->cron)
		status = cron_parse(rule->cron, &ret_calendar->cron, ret_message);
	if (status == DW_OK)
		status = zone_load(alloc, rule->zone, &ret_calendar->zone, ret_message);
	return status;
}

void calendar_release(const struct alloc *alloc, struct calendar *calendar)
{
	alloc_free(alloc, calendar->zone);
}
