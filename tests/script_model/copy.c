/* What happens to a server's data as a whole: it is copied, set back to a copy, emptied. */
#include "script_model/inside.h"

#include <stdio.h>
#include <string.h>

static void copy_key(struct script_model *to, const struct key *from)
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

struct script_model *model_copy(struct script_model *model)
{
	struct script_model *copy = model_new(&model->alloc);

	for (size_t i = 0; i < model->key_count; i++)
		copy_key(copy, model->keys[i]);
	return copy;
}

void model_set_back(struct script_model *model, const struct script_model *copy)
{
	model_empty(model, "");
	for (size_t i = 0; i < copy->key_count; i++)
		copy_key(model, copy->keys[i]);
}

void model_empty(struct script_model *model, const char *prefix)
{
	for (size_t i = 0; i < model->key_count; i++)
		if (strncmp(model->keys[i]->name, prefix, strlen(prefix)) == 0)
			key_clear(model, model->keys[i]);
}

bool model_score(struct script_model *model, const char *key, const char *id, double *ret_score)
{
	const struct entry *entry = key_find(key_of(model, key, strlen(key)), text_of(id));

	if (entry)
		*ret_score = entry->score;
	return entry != NULL;
}

static const struct key *key_behind(struct script_model *model, const char *prefix, const char *end)
{
	char name[128];
	int size = snprintf(name, sizeof name, "%s%s", prefix, end);

	return key_of(model, name, (size_t)size);
}

bool model_is_even(struct script_model *model, const char *prefix)
{
	const struct key *timers = key_behind(model, prefix, "z");
	const struct key *values = key_behind(model, prefix, "h");

	for (size_t i = 0; i < timers->count; i++)
		if (!key_find(values, entry_name(&timers->entries[i])))
			return false;
	return timers->count == values->count &&
	       members_are_even(key_behind(model, prefix, "k"), values);
}
