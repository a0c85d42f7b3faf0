#include "cli/doctor/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/out/members.h"
#include "cli/out/refused.h"
#include "cli/out/text.h"
#include "cli/out/tzdata.h"
#include "cli/session.h"
#include "durawheel/members.h"
#include "durawheel/select.h"
#include "durawheel/why.h"

#define SILENT_AFTER DW_SECONDS(30)
#define LOOKS_MAX 100000u /* how many timers the search for zones, and the check, examine */

/* The state of one question to the store. */
struct look {
	struct findings *findings;
	int status;
	uint64_t stored;   /* the number of timers and dead letters */
	uint64_t settings; /* the number of topics with settings */
	bool is_told;      /* a topic with waiting due timers was reported */
	bool has_owner;    /* an owner counts the timers of the topics */
	struct tzdata tzdata;
	uint64_t zoneless;
	char zone[DW_RULE_TEXT_MAX + 1], zoneless_id[DW_ID_SIZE]; /* the first such timer */
	dw_cursor cursor;
};

static int wait_for(dw *d, struct look *look, int status)
{
	if (status == DW_OK)
		status = session_try_sync(d);
	return status == DW_OK ? look->status : status;
}

/* ---- The owner ----------------------------------------------------------------------------- */

static void judge_no_owner(struct look *look, const dw_store_status *store)
{
	bool is_due = store->next_due <= session_now();

	if (store->pending + store->claimed == 0)
		find(look->findings, (struct finding){FINDING_OK, "owner", ""},
		     "nobody owns the store, and it has no timers%s",
		     *store->standby ? "; a standby waits" : "");
	else
		find(look->findings,
		     (struct finding){is_due ? FINDING_SICK : FINDING_ADVICE, "owner",
				      "durawheel run, or start the program that owns the store"},
		     "nobody owns the store; timers that wait: %" PRIu64 "%s",
		     store->pending + store->claimed, is_due ? ", and some are due" : "");
}

static void judge_owner(struct look *look, const dw_store_status *store)
{
	json_t *report = json_loads(store->owner_report, 0, NULL);
	char refused[REFUSED_LINE_SIZE], span[TEXT_SPAN_SIZE];
	dw_usec silent = session_now() - store->owner_seen;
	/* The text is host and pid of a single owner, or only the number of several owners. */
	const char *own = strchr(store->owner, ',') ? "owns" : "own";

	refused_line(report, refused);
	text_span(silent > 0 ? silent : -silent, 1, span);
	if (store->owner_seen > 0 && silent < -DW_SECONDS(1))
		find(look->findings,
		     (struct finding){FINDING_SICK, "clock", "timedatectl set-ntp true"},
		     "the owner %s has told its numbers %s ahead of the clock of this machine",
		     store->owner, span);
	else if (store->owner_seen > 0 && silent > SILENT_AFTER)
		find(look->findings,
		     (struct finding){FINDING_SICK, "owner", "look into its log, or restart it"},
		     "%s %s the store, and has told nothing for %s", store->owner, own, span);
	else
		find(look->findings, (struct finding){FINDING_OK, "owner", ""}, "%s %s the store",
		     store->owner, own);
	if (*refused)
		find(look->findings, (struct finding){FINDING_SICK, "owner", "durawheel check"},
		     "%s", refused);
	json_decref(report);
}

static void owner_status_answered(dw *d, int status, const dw_store_status *store, void *user)
{
	struct look *look = user;

	(void)d;
	look->status = status;
	if (status == DW_OK && *store->owner)
		judge_owner(look, store);
	else if (status == DW_OK)
		judge_no_owner(look, store);
}

int state_owner(struct findings *findings, dw *d)
{
	struct look look = {.findings = findings};

	return wait_for(d, &look, dw_get_status(d, owner_status_answered, &look));
}

/* ---- Peers --------------------------------------------------------------------------------- */

static void judge_member(struct look *look, const dw_member *member)
{
	char span[TEXT_SPAN_SIZE];

	text_span(member->until > session_now() ? member->until - session_now() : 0, 1, span);
	if (member->is_dead)
		find(look->findings, (struct finding){FINDING_SICK, "peer", "start it again"},
		     "%s has ended; its shards have no owner: %zu", member->who,
		     member->shard_count);
	else if (member->clock_us > DW_MILLISECONDS(100) ||
		 member->clock_us < -DW_MILLISECONDS(100))
		find(look->findings,
		     (struct finding){FINDING_ADVICE, "clock",
				      "timedatectl set-ntp true, on its machine"},
		     "%s has a clock that is %" PRId64 " ms from that of the server", member->who,
		     member->clock_us / DW_MILLISECONDS(1));
	else
		find(look->findings, (struct finding){FINDING_OK, "peer", ""},
		     "%s has shards: %zu; it tells of itself again within %s", member->who,
		     member->shard_count, span);
}

static void state_members_answered(dw *d, int status, const dw_member_list *list, void *user)
{
	struct look *look = user;
	json_t *object, *unowned;
	char numbers[MEMBERS_SHARDS_SIZE];

	(void)d;
	look->status = status;
	if (status != DW_OK || list->count == 0)
		return;
	for (size_t i = 0; i < list->count; i++)
		judge_member(look, &list->members[i]);
	object = members_object(list);
	unowned = json_object_get(object, "unowned");
	if (json_array_size(unowned) > 0) {
		members_shards(unowned, numbers);
		find(look->findings, (struct finding){FINDING_SICK, "shards", "durawheel members"},
		     "shards without an owner: %s", numbers);
	}
	json_decref(object);
}

int state_members(struct findings *findings, dw *d)
{
	struct look look = {.findings = findings};

	return wait_for(d, &look, dw_members(d, state_members_answered, &look));
}

/* ---- Topics -------------------------------------------------------------------------------- */

/* level_of returns how bad it is that due timers wait for this reason. */
static enum finding_level level_of(dw_waits waits)
{
	switch (waits) {
	case DW_WAITS_NOT:
	case DW_WAITS_BATCH:
		return FINDING_OK;
	case DW_WAITS_WORKERS:
	case DW_WAITS_PAUSED:
		return FINDING_ADVICE;
	default:
		return FINDING_SICK;
	}
}

static void judge_topic(struct look *look, const dw_topic_info *topic)
{
	enum finding_level level = level_of((dw_waits)topic->waits);
	char word[TEXT_SHELL_SIZE], change[TEXT_SHELL_SIZE + 64];

	look->settings += topic->is_set != 0;
	look->has_owner = look->has_owner || topic->is_counted;
	if (level == FINDING_OK)
		return;
	look->is_told = true;
	(void)snprintf(change, sizeof change, "durawheel topic %s %s",
		       topic->settings.paused & DW_PAUSE_DELIVERY ? "resume" : "show",
		       text_shell_word(topic->name, word)); /* it fits */
	find(look->findings, (struct finding){level, "topic", change},
	     "%s: due timers that wait: %" PRIu64 ": %s", topic->name, topic->due,
	     dw_describe_waits((dw_waits)topic->waits)->cause);
}

static void state_topics_answered(dw *d, int status, const dw_topic_info *topics, size_t count,
				  void *user)
{
	struct look *look = user;

	(void)d;
	look->status = status;
	for (size_t i = 0; i < count; i++)
		judge_topic(look, &topics[i]);
	if (status != DW_OK)
		return;
	if (look->settings > 0 && !look->has_owner)
		find(look->findings,
		     (struct finding){FINDING_ADVICE, "topic",
				      "durawheel topic list; durawheel topic drop TOPIC"},
		     "no owner acts on the settings of topics: %" PRIu64, look->settings);
	else if (!look->is_told)
		find(look->findings, (struct finding){FINDING_OK, "topic", ""},
		     "topics in which nothing waits: %zu", count);
}

int state_topics(struct findings *findings, dw *d)
{
	struct look look = {.findings = findings};

	return wait_for(d, &look, dw_topic_list(d, NULL, state_topics_answered, &look));
}

/* ---- Time zones of timers ------------------------------------------------------------------ */

static void state_zones_answered(dw *d, int status, const dw_info *timers, size_t count,
				 const dw_cursor *next, void *user)
{
	struct look *look = user;

	(void)d;
	look->status = status;
	for (size_t i = 0; i < count; i++) {
		const char *zone = tzdata_lacks(&look->tzdata, &timers[i]);

		if (!zone || look->zoneless++ > 0)
			continue;
		(void)snprintf(look->zone, sizeof look->zone, "%s", zone); /* it fits */
		(void)snprintf(look->zoneless_id, sizeof look->zoneless_id, "%s",
			       timers[i].id); /* it fits */
	}
	if (status == DW_OK)
		look->cursor = *next;
}

int state_zones(struct findings *findings, dw *d)
{
	const dw_select recurring = {.size = sizeof recurring, .recurring = 1};
	struct look look = {.findings = findings};
	int status;

	do
		status = wait_for(d, &look,
				  dw_list(d, &recurring, look.cursor.started ? &look.cursor : NULL,
					  DW_LIST_MAX, state_zones_answered, &look));
	while (status == DW_OK && !look.cursor.ended && look.cursor.looked < LOOKS_MAX);
	tzdata_free(&look.tzdata);
	if (status != DW_OK)
		return status;
	if (look.zoneless > 0)
		find(
		    findings,
		    (struct finding){FINDING_SICK, "zones", "apt-get install tzdata, or update it"},
		    "this machine does not know the zone %s of %s; such timers: %" PRIu64,
		    look.zone, look.zoneless_id, look.zoneless);
	else
		find(findings, (struct finding){FINDING_OK, "zones", ""},
		     "all zones of recurring timers are known%s",
		     look.cursor.ended ? "" : ", as far as they were looked at");
	return DW_OK;
}

/* ---- Damage -------------------------------------------------------------------------------- */

static void damage_checked(dw *d, int status, const dw_check_report *report, void *user)
{
	struct look *look = user;

	(void)d;
	look->status = status;
	if (status != DW_OK)
		return;
	if (report->flaw_count > 0)
		find(look->findings, (struct finding){FINDING_SICK, "damage", "durawheel check"},
		     "flaws in the store: %" PRIu64 ", first of %s: %s", report->flaw_count,
		     *report->flaws->id ? report->flaws->id : "the store", report->flaws->what);
	else
		find(look->findings, (struct finding){FINDING_OK, "damage", ""},
		     "timers that are sound: %" PRIu64, report->pending + report->claimed);
}

static void damage_counted(dw *d, int status, const dw_store_status *store, void *user)
{
	struct look *look = user;

	(void)d;
	look->status = status;
	if (status == DW_OK)
		look->stored = store->pending + store->claimed + store->dead;
}

int state_damage(struct findings *findings, dw *d)
{
	struct look look = {.findings = findings};
	int status = wait_for(d, &look, dw_get_status(d, damage_counted, &look));

	if (status == DW_OK && look.stored > LOOKS_MAX)
		find(findings, (struct finding){FINDING_ADVICE, "damage", "durawheel check"},
		     "not looked at, because there are many: %" PRIu64, look.stored);
	else if (status == DW_OK)
		status = wait_for(d, &look, dw_check(d, damage_checked, &look));
	return status;
}
