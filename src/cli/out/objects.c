#include "cli/out/objects.h"

#include "cli/out/line.h"
#include "durawheel/why.h"

/* report_of returns the owner's report as JSON. A text that is not JSON becomes a string. */
static json_t *report_of(const char *text)
{
	json_t *report = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	if (!report)
		report = *text ? json_string(text) : json_null();
	return report ? report : json_null();
}

json_t *object_of_status(const dw_store_status *status)
{
	json_t *next = status->next_due == DW_NEVER ? json_null() : json_integer(status->next_due);

	return json_pack("{s:I, s:I, s:I, s:o, s:I, s:s, s:I, s:I, s:s, s:o}", "pending",
			 (json_int_t)status->pending, "claimed", (json_int_t)status->claimed,
			 "dead", (json_int_t)status->dead, "next_due", next, "inbox",
			 (json_int_t)status->inbox, "owner", status->owner, "owner_since",
			 (json_int_t)status->owner_since, "owner_seen",
			 (json_int_t)status->owner_seen, "standby", status->standby, "owner_report",
			 report_of(status->owner_report));
}

const char *pause_name(unsigned paused)
{
	static const char *const names[] = {"no", "delivery", "intake", "both"};

	return names[paused % 4];
}

/* ---- Objects --------------------------------------------------------------------------------- */

/* add_number adds a number unless it is 0. */
static void add_number(json_t *object, const char *name, int64_t number)
{
	if (number != 0)
		(void)json_object_set_new(object, name,
					  /* If out of memory, the key is missing. */
					  json_integer(number));
}

/* timers_of returns the numbers of the topic's timers. Only an owner counts them, so without an
 * owner the object is empty. */
static json_t *timers_of(const dw_topic_info *info)
{
	if (!info->is_counted)
		return json_object();
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "pending",
			 (json_int_t)info->pending, "due", (json_int_t)info->due, "running",
			 (json_int_t)info->running, "done", (json_int_t)info->done, "retried",
			 (json_int_t)info->retried, "dead", (json_int_t)info->dead, "oldest",
			 (json_int_t)info->oldest);
}

static json_t *queue_of(const dw_topic_info *info)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "waiting", (json_int_t)info->waiting,
			 "taken", (json_int_t)info->taken, "later", (json_int_t)info->later,
			 "dropped", (json_int_t)info->dropped, "expired", (json_int_t)info->expired,
			 "oldest_message", (json_int_t)info->oldest_message);
}

json_t *object_of_topic(const dw_topic_info *info)
{
	const dw_topic_settings *settings = &info->settings;
	json_t *object = json_pack("{s:o, s:b, s:s}", "topic", line_name(info->name), "queue",
				   settings->queue, "paused", pause_name(settings->paused));
	json_t *timers = timers_of(info), *queue = queue_of(info);
	bool is_whole = object && timers && queue && json_object_update(object, timers) == 0 &&
			json_object_update(object, queue) == 0;

	json_decref(timers);
	json_decref(queue);
	if (!is_whole) {
		json_decref(object);
		return NULL;
	}
	if (info->waits)
		(void)json_object_set_new(
		    object, "waits",
		    /* If out of memory, the key is missing. */
		    json_string(dw_describe_waits((dw_waits)info->waits)->name));
	add_number(object, "started", (int64_t)info->started);
	add_number(object, "late", (int64_t)info->late);
	add_number(object, "late_p50_us", info->late_p50_us);
	add_number(object, "late_p99_us", info->late_p99_us);
	add_number(object, "late_max_us", info->late_max_us);
	add_number(object, "took_p50_us", info->took_p50_us);
	add_number(object, "took_p99_us", info->took_p99_us);
	add_number(object, "took_max_us", info->took_max_us);
	add_number(object, "retries_max",
		   settings->retries_max == DW_NO_RETRIES ? -1 : (int64_t)settings->retries_max);
	add_number(object, "backoff_first_us", settings->backoff_first_us);
	add_number(object, "backoff_max_us", settings->backoff_max_us);
	add_number(object, "backoff_factor", settings->backoff_factor);
	add_number(object, "jitter_percent",
		   settings->jitter_percent == DW_NO_JITTER ? -1
							    : (int64_t)settings->jitter_percent);
	add_number(object, "limit_us", settings->limit_us);
	add_number(object, "max", settings->max);
	add_number(object, "overflow", settings->overflow);
	add_number(object, "expire_us", settings->expire_us);
	add_number(object, "hide_us", settings->hide_us);
	add_number(object, "keep_us", settings->keep_us);
	return object;
}
