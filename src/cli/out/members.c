#include "cli/out/members.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* add_number appends the number. It returns false if out of memory. */
static bool add_number(json_t *numbers, size_t number)
{
	return json_array_append_new(numbers, json_integer((json_int_t)number)) == 0;
}

static json_t *object_of_member(const dw_member *member)
{
	json_t *shards = json_array();
	bool is_whole = shards != NULL;

	for (size_t i = 0; is_whole && i < member->shard_count; i++)
		is_whole = add_number(shards, member->shards[i]);
	if (!is_whole) {
		json_decref(shards);
		return NULL;
	}
	return json_pack(
	    "{s:s, s:s, s:I, s:I, s:I, s:o, s:I, s:b, s:I, s:I, s:s, s:b, s:I, s:s}", "who",
	    member->who, "version", member->version, "since", (json_int_t)member->since, "until",
	    (json_int_t)member->until, "clock_us", (json_int_t)member->clock_us, "shards", shards,
	    "room", (json_int_t)member->room, "dead", member->is_dead, "share",
	    (json_int_t)member->share, "busy_shards", (json_int_t)member->busy_count, "busy_topics",
	    member->busy_topics, "leaving", member->is_leaving, "unhandled",
	    (json_int_t)member->unhandled, "unhandled_topics", member->unhandled_topics);
}

static bool has_shard(const dw_member *member, size_t shard)
{
	for (size_t i = 0; i < member->shard_count; i++)
		if (member->shards[i] == shard)
			return true;
	return false;
}

static bool is_owned(const dw_member_list *list, size_t shard)
{
	for (size_t i = 0; i < list->count; i++)
		if (!list->members[i].is_dead && has_shard(&list->members[i], shard))
			return true;
	return false;
}

json_t *members_object(const dw_member_list *list)
{
	json_t *members = json_array(), *unowned = json_array();
	bool is_whole = members && unowned;

	for (size_t i = 0; is_whole && i < list->count; i++)
		is_whole = json_array_append_new(members, object_of_member(&list->members[i])) == 0;
	for (size_t i = 0; is_whole && i < list->shard_count; i++)
		is_whole = is_owned(list, i) || add_number(unowned, i);
	if (!is_whole) {
		json_decref(members);
		json_decref(unowned);
		return NULL;
	}
	return json_pack("{s:o, s:I, s:o}", "members", members, "shard_count",
			 (json_int_t)list->shard_count, "unowned", unowned);
}

void members_note_owner(json_t *object, const char *owner)
{
	const json_t *member;
	size_t i;

	json_array_foreach(json_object_get(object, "members"), i, member)
	{
		if (!json_is_true(json_object_get(member, "dead")) &&
		    json_array_size(json_object_get(member, "shards")) > 0)
			return;
	}
	if (*owner)
		(void)json_array_clear(json_object_get(object, "unowned"));
}

static json_int_t number_at(const json_t *numbers, size_t i)
{
	return json_integer_value(json_array_get(numbers, i));
}

void members_shards(const json_t *numbers, char ret_text[MEMBERS_SHARDS_SIZE])
{
	size_t count = json_array_size(numbers), used = 0;

	ret_text[0] = '\0';
	for (size_t i = 0; i < count && used + 16 < MEMBERS_SHARDS_SIZE; i++) {
		size_t last = i;

		while (last + 1 < count &&
		       number_at(numbers, last + 1) == number_at(numbers, last) + 1)
			last++;
		used += (size_t)snprintf(ret_text + used, MEMBERS_SHARDS_SIZE - used, "%s%lld",
					 i > 0 ? ", " : "", (long long)number_at(numbers, i));
		if (last > i)
			used += (size_t)snprintf(ret_text + used, MEMBERS_SHARDS_SIZE - used,
						 "-%lld", (long long)number_at(numbers, last));
		i = last;
	}
}

static json_int_t number_of(const json_t *member, const char *key)
{
	return json_integer_value(json_object_get(member, key));
}

static const char *words_of(const json_t *member, const char *key)
{
	const char *words = json_string_value(json_object_get(member, key));

	return words ? words : "";
}

/* write_part describes a problem with the shards of a member. It writes "" if there is no
 * problem. */
static void write_part(const json_t *member, json_int_t shard_count,
		       char ret_text[MEMBERS_STATE_SIZE])
{
	long long held = (long long)json_array_size(json_object_get(member, "shards"));
	long long share = number_of(member, "share"), busy = number_of(member, "busy_shards");
	const char *topics = words_of(member, "busy_topics");

	ret_text[0] = '\0';
	if (json_is_true(json_object_get(member, "dead")))
		(void)snprintf(ret_text, MEMBERS_STATE_SIZE,
			       "dead: it has ended, or tells nothing any more");
	else if (json_is_true(json_object_get(member, "leaving")) && held > 0 && busy > 0)
		(void)snprintf(ret_text, MEMBERS_STATE_SIZE,
			       "is stopping: in %lld of them deliveries run: %s", busy, topics);
	else if (json_is_true(json_object_get(member, "leaving")))
		(void)snprintf(ret_text, MEMBERS_STATE_SIZE, "is stopping");
	else if (number_of(member, "room") < shard_count)
		(void)snprintf(ret_text, MEMBERS_STATE_SIZE, "Redis refuses it others");
	else if (busy > 0 && held > share)
		(void)snprintf(ret_text, MEMBERS_STATE_SIZE,
			       "holds %lld, should hold %lld: in %lld of them deliveries run: %s",
			       held, share, busy, topics); /* fits */
}

void members_state(const json_t *member, json_int_t shard_count, char ret_text[MEMBERS_STATE_SIZE])
{
	long long unhandled = number_of(member, "unhandled");
	size_t used;

	write_part(member, shard_count, ret_text);
	used = strlen(ret_text);
	if (unhandled > 0)
		(void)snprintf(ret_text + used, MEMBERS_STATE_SIZE - used,
			       "%s%lld due without a handler there: %s", used > 0 ? "; " : "",
			       unhandled, words_of(member, "unhandled_topics")); /* fits */
}

void members_who(const json_t *member, char ret_text[MEMBERS_WHO_SIZE])
{
	char *version;

	/* A long text is cut. */
	(void)snprintf(ret_text, MEMBERS_WHO_SIZE, "%s",
		       json_string_value(json_object_get(member, "who")));
	version = strstr(ret_text, ", durawheel ");
	if (version)
		*version = '\0';
}
