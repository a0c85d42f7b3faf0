#include "cli/out/tzdata.h"

#include <inttypes.h>
#include <string.h>

#include "cli/out/errors.h"

/* This exceeds the number of zones in tzdata. Further names are looked up again for each timer. */
enum { ZONES_MAX = 1000 };

/* zone_of copies the zone from the text of a rule. Returns false if the rule has no zone. */
static bool zone_of(const char *rule, char ret_zone[DW_RULE_TEXT_MAX + 1])
{
	static const char field[] = "; zone ";
	const char *at = rule ? strstr(rule, field) : NULL;
	size_t size;

	if (!at)
		return false;
	at += strlen(field);
	size = strcspn(at, ";");
	if (size > DW_RULE_TEXT_MAX)
		return false;
	memcpy(ret_zone, at, size);
	ret_zone[size] = '\0';
	return true;
}

/* is_known returns true if this machine can read rules in the zone. If out of memory, it assumes
 * so. */
static bool is_known(const char *zone)
{
	dw_rule rule = {.size = sizeof rule, .cron = "@daily", .zone = zone};
	dw_usec next;

	return dw_rule_next(&rule, 0, &next, 1, NULL) != DW_EINVAL;
}

const char *tzdata_lacks(struct tzdata *tzdata, const dw_info *info)
{
	const json_t *found;
	bool knows;

	if (!zone_of(info->rule, tzdata->zone))
		return NULL;
	found = json_object_get(tzdata->zones, tzdata->zone);
	if (found)
		return json_is_true(found) ? NULL : tzdata->zone;
	knows = is_known(tzdata->zone);
	if (!tzdata->zones)
		tzdata->zones = json_object();
	if (json_object_size(tzdata->zones) < ZONES_MAX)
		(void)json_object_set_new(tzdata->zones, tzdata->zone,
					  /* If out of memory, the zone is looked up again. */
					  json_boolean(knows));
	return knows ? NULL : tzdata->zone;
}

void tzdata_tell(uint64_t count)
{
	if (count > 0)
		warn("timers that cannot start on this machine, which does not know their time "
		     "zone: %" PRIu64 "; install or update the package tzdata, or let TZDIR name "
		     "its folder; an owner tries again each hour, and when it starts",
		     count);
}

void tzdata_free(struct tzdata *tzdata)
{
	json_decref(tzdata->zones);
}
