#include "script_model/inside.h"

#include <stdlib.h>
#include <string.h>

/* ---- Memory: a test's, which is enough ----------------------------------------------------- */

static void *room_for(struct script_model *model, void *block, size_t size)
{
	void *room = model->alloc.resize(model->alloc.user, block, size);

	if (!room)
		abort();
	return room;
}

static char *copy(struct script_model *model, struct bytes bytes)
{
	char *room = room_for(model, NULL, bytes.size + 1);

	if (bytes.size > 0)
		memcpy(room, bytes.at, bytes.size);
	room[bytes.size] = '\0';
	return room;
}

/* ---- Keys ---------------------------------------------------------------------------------- */

int key_compare(struct bytes a, struct bytes b)
{
	size_t size = a.size < b.size ? a.size : b.size;
	int order = size > 0 ? memcmp(a.at, b.at, size) : 0;

	return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int64_t now_ms(const struct script_model *model)
{
	return model->now / 1000;
}

struct key *key_of(struct script_model *model, const char *name, size_t size)
{
	struct bytes wanted = {name, size};
	size_t at = 0;
	struct key *key;

	for (size_t end = model->key_count; at < end;) {
		size_t middle = at + (end - at) / 2;
		struct bytes found = {model->keys[middle]->name, strlen(model->keys[middle]->name)};
		int order = key_compare(found, wanted);

		if (order == 0) {
			key = model->keys[middle];
			if (key->ends_ms && now_ms(model) > key->ends_ms)
				key_clear(model, key);
			return key;
		}
		if (order < 0)
			at = middle + 1;
		else
			end = middle;
	}
	if (model->key_count == model->key_room) {
		model->key_room = model->key_room ? 2 * model->key_room : 16;
		model->keys = room_for(model, model->keys, model->key_room * sizeof(struct key *));
	}
	memmove(model->keys + at + 1, model->keys + at,
		(model->key_count++ - at) * sizeof *model->keys);
	key = room_for(model, NULL, sizeof *key);
	*key = (struct key){.name = copy(model, wanted)};
	model->keys[at] = key;
	return key;
}

static void free_entry(struct script_model *model, struct entry *entry)
{
	alloc_free(&model->alloc, entry->name);
	alloc_free(&model->alloc, entry->value);
}

void key_clear(struct script_model *model, struct key *key)
{
	for (size_t i = 0; i < key->count; i++)
		free_entry(model, &key->entries[i]);
	key->count = 0;
	key->kind = KIND_NONE;
	key->ends_ms = 0;
}

void key_expire(struct script_model *model, struct key *key, double ttl_ms)
{
	if (key->kind == KIND_NONE)
		return;
	if (ttl_ms <= 0)
		key_clear(model, key);
	else
		key->ends_ms = now_ms(model) + (int64_t)ttl_ms;
}

long long key_ttl(const struct script_model *model, const struct key *key)
{
	if (key->kind == KIND_NONE)
		return -2;
	return key->ends_ms ? key->ends_ms - now_ms(model) : -1;
}

/* ---- Entries ------------------------------------------------------------------------------- */

struct bytes entry_name(const struct entry *entry)
{
	return (struct bytes){entry->name, entry->name_size};
}

struct bytes entry_value(const struct entry *entry)
{
	return (struct bytes){entry->value, entry->value_size};
}

struct entry *key_find(const struct key *key, struct bytes name)
{
	for (size_t i = 0; i < key->count; i++)
		if (key_compare(entry_name(&key->entries[i]), name) == 0)
			return &key->entries[i];
	return NULL;
}

struct bytes key_value(const struct key *key, struct bytes name)
{
	const struct entry *entry = key_find(key, name);

	return entry ? entry_value(entry) : (struct bytes){NULL, 0};
}

struct bytes key_text(const struct key *key, const char *field)
{
	return key_value(key, (struct bytes){field, strlen(field)});
}

struct bytes key_string(const struct key *key)
{
	return key_text(key, "");
}

static bool is_before(enum kind kind, const struct entry *a, const struct entry *b)
{
	if (kind == KIND_SORTED && a->score != b->score)
		return a->score < b->score;
	return key_compare(entry_name(a), entry_name(b)) < 0;
}

/* insert takes the entry's memory over. */
static void insert(struct script_model *model, struct key *key, enum kind kind, struct entry entry)
{
	size_t at = key->count;

	key->kind = kind;
	if (key->count == key->room) {
		key->room = key->room ? 2 * key->room : 8;
		key->entries = room_for(model, key->entries, key->room * sizeof *key->entries);
	}
	for (; at > 0 && is_before(kind, &entry, &key->entries[at - 1]); at--)
		key->entries[at] = key->entries[at - 1];
	key->entries[at] = entry;
	key->count++;
}

static void take_out(struct key *key, struct entry *entry)
{
	size_t at = (size_t)(entry - key->entries);

	key->count--;
	memmove(entry, entry + 1, (key->count - at) * sizeof *entry);
}

void key_set(struct script_model *model, struct key *key, struct bytes name, struct bytes value)
{
	struct entry *entry = key_find(key, name);
	char *fresh = copy(model, value); /* which may be a part of the old one */

	if (entry) {
		alloc_free(&model->alloc, entry->value);
		entry->value = fresh;
		entry->value_size = value.size;
		return;
	}
	insert(model, key, KIND_HASH,
	       (struct entry){.name = copy(model, name),
			      .name_size = name.size,
			      .value = fresh,
			      .value_size = value.size});
}

void key_set_text(struct script_model *model, struct key *key, const char *field,
		  struct bytes value)
{
	key_set(model, key, (struct bytes){field, strlen(field)}, value);
}

void key_set_string(struct script_model *model, struct key *key, struct bytes value)
{
	key_set_text(model, key, "", value);
	key->kind = KIND_STRING;
}

void key_set_score(struct script_model *model, struct key *key, struct bytes name, double score)
{
	struct entry *found = key_find(key, name);
	struct entry entry = {.score = score, .name_size = name.size};

	if (found && found->score == score)
		return;
	if (found) {
		entry.name = found->name;
		take_out(key, found);
	} else {
		entry.name = copy(model, name);
	}
	insert(model, key, KIND_SORTED, entry);
}

bool key_remove(struct script_model *model, struct key *key, struct bytes name)
{
	struct entry *entry = key_find(key, name);

	if (!entry)
		return false;
	free_entry(model, entry);
	take_out(key, entry);
	if (key->count == 0)
		key_clear(model, key);
	return true;
}
