/* What happens to a server's data as a whole: it is copied, set back to a copy, emptied. */
#include "support/twin_inside.h"

#include <stdio.h>
#include <string.h>

static void copy_key(struct twin *to, const struct key *from)
{
	struct key *key = key_of(to, from->name, strlen(from->name));

	for (size_t i = 0; i < from->count; i++) {
		const struct entry *entry = &from->entries[i];

		if (from->kind == KIND_SORTED)
			key_set_score(to, key, entry_name(entry), entry->score);
		else
			key_set(to, key, entry_name(entry), entry_value(entry));
	}
	key->kind = from->kind;
	key->ends_ms = from->ends_ms;
}

struct twin *twin_copy(struct twin *twin)
{
	struct twin *copy = twin_new(&twin->alloc);

	for (size_t i = 0; i < twin->key_count; i++)
		copy_key(copy, twin->keys[i]);
	return copy;
}

void twin_set_back(struct twin *twin, const struct twin *copy)
{
	twin_empty(twin, "");
	for (size_t i = 0; i < copy->key_count; i++)
		copy_key(twin, copy->keys[i]);
}

void twin_empty(struct twin *twin, const char *prefix)
{
	for (size_t i = 0; i < twin->key_count; i++)
		if (strncmp(twin->keys[i]->name, prefix, strlen(prefix)) == 0)
			key_clear(twin, twin->keys[i]);
}

bool twin_score(struct twin *twin, const char *key, const char *id, double *ret_score)
{
	const struct entry *entry = key_find(key_of(twin, key, strlen(key)), text_of(id));

	if (entry)
		*ret_score = entry->score;
	return entry != NULL;
}

static const struct key *key_behind(struct twin *twin, const char *prefix, const char *end)
{
	char name[128];
	int size = snprintf(name, sizeof name, "%s%s", prefix, end);

	return key_of(twin, name, (size_t)size);
}

bool twin_is_even(struct twin *twin, const char *prefix)
{
	const struct key *timers = key_behind(twin, prefix, "z");
	const struct key *values = key_behind(twin, prefix, "h");

	for (size_t i = 0; i < timers->count; i++)
		if (!key_find(values, entry_name(&timers->entries[i])))
			return false;
	return timers->count == values->count;
}
